"""Expert results kept on disk."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

import perception_programs as pp
from perception_programs import DepthMap, Detections, EdgeScores, InputError, Matches, PointScores
from perception_programs.experts import Card, load
from perception_programs.experts.cache import CachedExpert, ResultCache, default_folder


class Counting:
    """A depth expert that counts how often it is asked."""

    card = Card(name="counting", modality="depth", library="numpy")

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, image: object, **options: object) -> DepthMap:
        self.calls += 1
        pixels = pp.load_image(image)
        return DepthMap(pixels.mean(axis=2), "relative")

    def batch(self, images: list[object], **options: object) -> list[DepthMap]:
        return [self(image, **options) for image in images]


PICTURES = np.random.default_rng(0).integers(0, 256, (4, 20, 30, 3), dtype=np.uint8)


def test_the_same_picture_is_read_once_however_it_is_given(tmp_path: Path) -> None:
    from PIL import Image

    inner = Counting()
    expert = CachedExpert(inner, {}, ResultCache(tmp_path / "cache"))
    Image.fromarray(PICTURES[0]).save(tmp_path / "a.png")
    first = expert(PICTURES[0])
    for same in (
        PICTURES[0].copy(),
        tmp_path / "a.png",
        str(tmp_path / "a.png"),
        PICTURES[0] / 255,
    ):
        again = expert(same)
        assert np.array_equal(again.values, first.values) and again.kind == "relative"
    assert inner.calls == 1
    expert(PICTURES[1])
    expert(PICTURES[0], side=3)
    assert inner.calls == 3


def test_another_expert_or_option_is_another_entry(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    inner = Counting()
    for identity in ({}, {"dtype": "float16"}, {"dtype": "float32"}, {"weights": "x"}):
        CachedExpert(inner, identity, cache)(PICTURES[0])
    assert inner.calls == 4 and len(cache.entries()) == 4


def test_a_batch_makes_only_what_is_missing(tmp_path: Path) -> None:
    inner = Counting()
    expert = CachedExpert(inner, {}, ResultCache(tmp_path))
    expert(PICTURES[1])
    results = expert.batch(list(PICTURES))
    assert inner.calls == 4
    for result, picture in zip(results, PICTURES, strict=True):
        assert np.allclose(result.values, picture.mean(axis=2))


@pytest.mark.parametrize(
    "result",
    [
        DepthMap(np.full((3, 4), 0.5), mask=np.ones((3, 4), bool), size=(8, 6)),
        pp.FlowField(np.ones((3, 4, 2)), np.ones((3, 4))),
        Matches([[1, 2]], [[3, 4]], [0.5], size1=(9, 9), threshold=0.1),
        Matches([], [], size1=(9, 9)),
        Detections([[1, 2, 3, 4]], [0.5], ("a\n",), np.ones((1, 9, 9), bool), (9, 9)),
        pp.Points(boxes=[[1, 2, 3, 4]], labels=("A",), image="x", size=(9, 9)),
        PointScores({"A": (1, 2)}, {"A": 0.5}, (3, 4), (9, 9)),
        EdgeScores(
            {"A": {"left": {"structural": 0.1, "colour": 1, "edge": 0, "box": (0, 0, 1, 2)}}},
            {"A": (9, 9)},
        ),
        pp.Segmentation(np.eye(3, dtype=int), {1: "one"}),
    ],
)
def test_every_result_comes_back_whole(tmp_path: Path, result: object) -> None:
    import dataclasses

    cache = ResultCache(tmp_path)
    cache.put("k", result)
    back = cache.get("k")
    assert type(back) is type(result)
    for field in dataclasses.fields(result):
        ours, theirs = getattr(back, field.name), getattr(result, field.name)
        if isinstance(theirs, np.ndarray):
            assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
        else:
            assert ours == theirs


def test_damaged_entries_are_made_again(tmp_path: Path) -> None:
    inner = Counting()
    cache = ResultCache(tmp_path)
    expert = CachedExpert(inner, {}, cache)
    expert(PICTURES[0])
    path = next(tmp_path.glob("*.npz"))
    path.write_bytes(path.read_bytes()[:50])
    assert expert(PICTURES[0]).size == (30, 20)
    assert inner.calls == 2


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    import os

    cache = ResultCache(tmp_path)
    depth = DepthMap(np.random.default_rng(0).random((64, 64)))
    for n, key in enumerate("abc"):
        cache.put(key, depth)
        os.utime(tmp_path / f"{key}.npz", (1000 + n, 1000 + n))
    size = cache.entries()[0][1]
    cache.get("a")
    ResultCache(tmp_path, max_bytes=3 * size + 10).put("d", depth)
    assert {key for key, _, _ in cache.entries()} == {"a", "c", "d"}
    assert cache.clear() == 3 and cache.entries() == []
    with pytest.raises(InputError, match="max_bytes"):
        ResultCache(tmp_path, max_bytes=0)


def _hammer(folder: str, seed: int) -> None:
    cache = ResultCache(folder, max_bytes=200_000)
    expert = CachedExpert(Counting(), {}, cache)
    rng = np.random.default_rng(seed)
    for n in rng.integers(0, 4, 60):
        assert np.allclose(expert(PICTURES[n]).values, PICTURES[n].mean(axis=2))
        if n == 3 and rng.random() < 0.2:
            cache.clear()


def test_several_processes_share_a_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_hammer, args=(str(tmp_path), n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert not list(tmp_path.glob("*.part"))


def test_load_with_a_cache(tmp_path: Path) -> None:
    expert = load("dis", preset="fast", cache=tmp_path)
    program = pp.flow_program(PICTURES[0], PICTURES[1], expert=expert, grid=2)
    assert program.meta["expert"] == "dis"
    assert pp.flow_program(PICTURES[0], PICTURES[1], expert=expert, grid=2) == program
    assert len(ResultCache(tmp_path).entries()) == 1


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("P2_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("P2_CACHE")
    assert default_folder().name == "perception-programs"


def test_options_tell_calls_apart_and_attributes_show_through(tmp_path: Path) -> None:
    class Labelled(Counting):
        names = ("cat", "dog")

        def __call__(self, image: object, **options: object) -> DepthMap:
            assert list(options["labels"]) == list(options["labels"])  # not a used-up generator
            return super().__call__(image)

    inner = Labelled()
    expert = CachedExpert(inner, {}, ResultCache(tmp_path))
    for word in ("cat", "dog", "cat"):
        expert(PICTURES[0], labels=(x for x in [word]))
    assert inner.calls == 2 and expert.names == ("cat", "dog")
    expert(PICTURES[0], labels={"A": 1, "B": 2})
    expert(PICTURES[0], labels={"B": 2, "A": 1})  # results follow the order
    assert inner.calls == 4
    with pytest.raises(AttributeError):
        expert.nothing_like_it  # noqa: B018


def test_what_is_no_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="a folder, got the file"):
        load("dis", cache=tmp_path / "file")
    with pytest.raises(InputError, match="cache: expected"):
        load("dis", cache=1)
    assert not isinstance(load("dis", cache=None), CachedExpert)
