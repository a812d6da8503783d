"""Manifests: questions of a user's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blink_questions import grey, hardblink_folder, jigsaw, lines, png
from perception_programs.blink.data import load
from perception_programs.blink.manifest import manifest_tasks, read_manifest, write_manifest
from perception_programs.blink.samples import Sample, SampleImage
from perception_programs.errors import InputError

LINE: dict[str, Any] = {
    "id": "shelf 1",
    "task": "Jigsaw",
    "question": "Which piece\u2028fits?",
    "choices": ["the second", "the third"],
    "images": ["pictures/a.png", "pictures/b.png"],
    "answer": "B",
}


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """The file of a manifest beside two pictures; the lines are the test's."""
    (tmp_path / "set/pictures").mkdir(parents=True)
    for n, name in enumerate("ab"):
        (tmp_path / f"set/pictures/{name}.png").write_bytes(png(n + 1))
    return tmp_path / "set/mine.jsonl"


def test_a_manifest_is_read(manifest: Path) -> None:
    more = {"group": "easy", "labels": ["st. bernard"], "meta": {"from": [1, 2]}, "answer": None}
    found = read_manifest(lines(manifest, LINE, LINE | {"id": "2"} | more))
    first, second = found
    assert first.question == LINE["question"]
    assert [grey(image) for image in first.images] == [1, 2]
    assert [image.name for image in first.images] == ["a.png", "b.png"]
    assert (first.answer, first.group, first.labels, first.meta) == ("B", None, (), {})
    assert (second.answer, second.group, second.labels) == (None, "easy", ("st. bernard",))
    assert second.meta == {"from": (1, 2)}
    assert found.source == {
        "kind": "manifest",
        "name": "mine.jsonl",
        "split": None,
        "revision": None,
        "digest": found.digest,
        "n": 2,
    }
    assert load("Jigsaw", found.place).source == found.source


def test_a_manifest_may_have_several_tasks(manifest: Path) -> None:
    lines(manifest, LINE, LINE | {"task": "My own"}, LINE | {"id": "2"})
    assert [sample.id for sample in load("Jigsaw", manifest)] == ["shelf 1", "2"]
    assert [sample.id for sample in load("My own", str(manifest))] == ["shelf 1"]
    assert manifest_tasks(manifest) == ("Jigsaw", "My own")
    with pytest.raises(InputError, match="has several, expected one of Jigsaw, My own"):
        read_manifest(manifest)
    with pytest.raises(
        InputError, match=r"expected one of those in .*, Jigsaw, My own, got 'Other'"
    ):
        load("Other", manifest)
    with pytest.raises(InputError, match=r"got 'jigsaw'; did you mean 'Jigsaw'\?"):
        load("jigsaw", manifest)
    with pytest.raises(InputError, match="split: expected none"):
        load("Jigsaw", manifest, split="test")
    lines(manifest, LINE | {"task": "Visual_Similarity"})
    assert load("Visual Similarity", manifest).task == "Visual_Similarity"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "C"}, "line 3: shelf 1: expected an answer among A, B, got 'C'"),
        ({"answer": "the second"}, "line 3: answer: expected an answer such as (A)"),
        ({"answer": 1}, "line 3: answer: expected an answer such as (A), got int 1"),
        ({"choices": "AB"}, "line 3: choices: expected a list of strings, got str 'AB'"),
        ({"choices": ["one", ""]}, "line 3: choices: expected strings with something in them"),
        ({"choices": ["one"]}, "line 3: shelf 1: expected 2 to 26 choices, got 1"),
        ({"images": []}, "line 3: shelf 1: expected at least one image"),
        ({"images": "pictures/a.png"}, "line 3: images: expected a list of strings"),
        ({"images": ["pictures/c.png"]}, "line 3: images: no file"),
        ({"images": ["https://example.org/c.png"]}, "line 3: images: no file"),
        ({"id": 3}, "line 3: id: expected text, got int 3"),
        ({"group": 3}, "line 3: group: expected a string or null, got int 3"),
        ({"labels": [3]}, "line 3: labels: expected strings"),
        ({"meta": [3]}, "line 3: meta: expected a mapping"),
        (
            {"anwser": "A"},
            "line 3: expected no keys but id, task, question, choices, images, answer, ",
        ),
    ],
)
def test_a_bad_line_is_named(manifest: Path, change: dict[str, Any], message: str) -> None:
    good = json.dumps(LINE | {"id": "good"})
    manifest.write_text(f"{good}\n\n{json.dumps(LINE | change)}\n")
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_manifest(manifest)
    assert str(manifest) in str(caught.value)


@pytest.mark.parametrize("key", ["id", "task", "question", "choices", "images", "answer"])
def test_a_missing_key_is_named(manifest: Path, key: str) -> None:
    lines(manifest, {name: value for name, value in LINE.items() if name != key})
    with pytest.raises(InputError, match=f"line 1: expected the key '{key}', got"):
        read_manifest(manifest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "line 1: expected one JSON object, got list [1, 2]"),
        ("{", "line 1: expected one JSON object: "),
        ('{"id": "1", "id": "2"}', "line 1: expected one JSON object: expected each key once"),
        ('{"meta": {"x": NaN}}', "line 1: expected one JSON object: NaN is no JSON"),
        ("[" * 100_000, "line 1: expected one JSON object: "),
        ("", "expected one question a line, got none"),
    ],
)
def test_what_is_no_manifest(manifest: Path, text: str, message: str) -> None:
    manifest.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)):
        read_manifest(manifest)


def test_a_manifest_in_another_encoding(manifest: Path) -> None:
    manifest.write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(InputError, match="expected UTF-8 text"):
        read_manifest(manifest)
    manifest.write_bytes(b"\xef\xbb\xbf" + json.dumps(LINE).encode())  # with a byte order mark
    assert len(read_manifest(manifest)) == 1


def test_the_same_id_twice(manifest: Path) -> None:
    with pytest.raises(
        InputError, match=r"line 2: expected each id once .* 'shelf 1' again; .* line 1$"
    ):
        read_manifest(lines(manifest, LINE, LINE))


@pytest.mark.parametrize("name", ["Jigsaw", "HardBLINK", "manifest"])
def test_a_round_trip_keeps_everything(tmp_path: Path, manifest: Path, name: str) -> None:
    if name == "manifest":
        more = {"labels": ["a", "b"], "meta": {"deep": {"x": [1.5, None, "é"]}}, "group": "g"}
        found = read_manifest(lines(manifest, LINE, LINE | {"id": "../../2"} | more))
    else:
        make = {"Jigsaw": jigsaw, "HardBLINK": hardblink_folder}[name]
        found = load(name, make(tmp_path / "from"))
    path = tmp_path / "new/place/written.jsonl"
    write_manifest(found, path)
    back = read_manifest(path)
    assert back.digest == found.digest
    for old, new in zip(found, back, strict=True):
        for field in ("id", "task", "question", "choices", "answer", "group", "labels", "meta"):
            assert getattr(old, field) == getattr(new, field)
        for one, other in zip(old.images, new.images, strict=True):
            assert np.array_equal(one.load(), other.load())
    assert {file.parent.parent.name for file in path.parent.rglob("*.png")} == {"written_images"}


def test_pictures_below_the_manifest_stay_where_they_are(manifest: Path) -> None:
    found = read_manifest(lines(manifest, LINE))
    before = sorted(manifest.parent.rglob("*"))
    write_manifest(found, manifest)
    assert sorted(manifest.parent.rglob("*")) == before
    assert json.loads(manifest.read_text("utf-8")) == LINE


def test_writing_what_cannot_be_written(tmp_path: Path) -> None:
    def sample(source: Any) -> Sample:
        return Sample("1", "Jigsaw", "Which?", ("a", "b"), (SampleImage(source, "one.png"),))

    path = tmp_path / "new.jsonl"
    with pytest.raises(InputError, match="expected each id once, got '1' twice"):
        write_manifest([sample(png(1)), sample(png(2))], path)
    with pytest.raises(InputError, match=r"one\.png: expected an image file"):
        write_manifest([sample(b"no picture")], path)
    with pytest.raises(InputError, match=r"one\.png: expected a path or the bytes"):
        write_manifest([sample(np.zeros((4, 4), np.uint8))], path)
    with pytest.raises(InputError, match=r"one\.png: cannot be read"):
        write_manifest([sample("/no/such/one.png")], path)
    assert not path.exists()
