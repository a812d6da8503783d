"""Questions from parquet files and HardBLINK's layout, real and made."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from blink_questions import grey, hardblink_folder, jigsaw, parquet, png, row
from perception_programs.blink import samples as samples_module
from perception_programs.blink._parquet import _Store, subtask
from perception_programs.blink.data import TASKS, Samples, load
from perception_programs.errors import InputError, MissingExtraError

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three questions of Jigsaw in the hub's layout, in two groups of rows."""
    return jigsaw(tmp_path / "mine")


@pytest.fixture
def hardblink(tmp_path: Path) -> Path:
    """Two questions with 3 points, which say nothing of 4 and 5."""
    return hardblink_folder(tmp_path / "data/HardBLINK")


# ---- real inputs


@pytest.mark.parametrize(
    ("task", "place", "n", "images", "shape"),
    [
        ("Jigsaw", "blink", 75, 3, (220, 400, 3)),
        ("Relative_Depth", "blink", 62, 1, (375, 500, 3)),
        ("HardBLINK", "hardblink", 186, 1, (336, 336, 3)),
    ],
)
def test_real_questions(
    shared_data: Path, task: str, place: str, n: int, images: int, shape: tuple[int, ...]
) -> None:
    found = load(task, shared_data / place)
    assert (len(found), found.task) == (n, task)
    assert {len(sample.images) for sample in found} == {images}
    assert {sample.answer for sample in found} <= set("ABCDE")
    assert found[0].images[0].load().shape == shape
    assert found.source["n"] == n


def test_real_answers_are_the_published_ones(shared_data: Path) -> None:
    key = json.loads((shared_data / "blink_answers/val_answers.json").read_text("utf-8"))
    for task in ("Jigsaw", "Relative_Depth"):
        for sample in load(task, shared_data / "blink"):
            assert key[sample.id] == f"({sample.answer})"


def test_every_published_id_names_a_task_and_all_tasks_are_known(shared_data: Path) -> None:
    key = json.loads((shared_data / "blink_answers/val_answers.json").read_text("utf-8"))
    assert {subtask(idx) for idx in key} == set(TASKS)


def test_hardblink_has_letters_for_its_points_and_a_group_for_each_number(
    shared_data: Path,
) -> None:
    found = load("HardBLINK", shared_data / "hardblink")
    assert Counter(sample.group for sample in found) == {
        "3 points": 62,
        "4 points": 62,
        "5 points": 62,
    }
    assert (found[0].id, found[0].answer) == ("hardblink_3_0", "A")
    assert (found[-1].id, len(found[-1].letters)) == ("hardblink_5_61", 5)
    assert found[62].choices == ("Point A", "Point B", "Point C", "Point D")
    assert found[62].images[0].source.parent.name == "blink4pointscenter"  # type: ignore[attr-defined]


# ---- parquet


def test_images_keep_their_order_in_every_group_of_rows(folder: Path) -> None:
    found = load("Jigsaw", folder)
    assert [[grey(image) for image in sample.images] for sample in found] == [
        [11, 12, 13],
        [21, 22, 23],
        [31, 32, 33],
    ]
    assert [image.name for image in found[1].images] == [f"Jigsaw_2_{k}.png" for k in (1, 2, 3)]
    assert (found[0].answer, found[0].choices) == ("B", ("the second image", "the third image"))
    assert found[0].meta == {"prompt": "Which? (A) …"}


def test_loading_reads_no_picture_and_decodes_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    decoded: list[int] = []
    group, image = _Store._read_group, samples_module.load_image
    monkeypatch.setattr(_Store, "_read_group", lambda self, n: read.append(n) or group(self, n))
    monkeypatch.setattr(
        samples_module, "load_image", lambda source: decoded.append(1) or image(source)
    )
    found = load("Jigsaw", folder)
    assert (read, decoded) == ([], [])
    for sample in found:
        for picture in sample.images:
            picture.load()
    assert (read, len(decoded)) == ([0, 1], 9)  # in order, each group once


def test_threads_may_ask_for_pictures(folder: Path) -> None:
    found = load("Jigsaw", folder)
    pictures = [image for _ in range(8) for sample in found for image in sample.images]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(grey, pictures)) == [11, 12, 13, 21, 22, 23, 31, 32, 33] * 8


def test_all_ways_to_say_where_it_is(folder: Path) -> None:
    file = folder / "Jigsaw/val-00000-of-00001.parquet"
    ways = [load("Jigsaw", place) for place in (folder, str(folder / "Jigsaw"), file)]
    assert [way.source["name"] for way in ways] == ["mine", "Jigsaw", file.name]
    assert {way.digest for way in ways} == {ways[0].digest}
    for way in ways:
        again = load(way.task, way.place, split=way.source["split"])
        assert again.source == way.source


def test_a_source_is_plain_data_without_the_machine(folder: Path, tmp_path: Path) -> None:
    found = load("Jigsaw", folder)
    shutil.copytree(folder, tmp_path / "elsewhere/mine")
    moved = load("Jigsaw", tmp_path / "elsewhere/mine")
    assert found.source == moved.source == json.loads(json.dumps(found.source))
    assert found.place != moved.place
    assert list(found.source) == ["kind", "name", "split", "revision", "digest", "n"]


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Which not?"},
        {"answer": "(A)"},
        {"choices": ["the third image", "the second image"]},
        {"image_2": {"bytes": png(99), "path": "Jigsaw_1_2.png"}},
    ],
)
def test_the_digest_tells_other_questions(folder: Path, change: dict[str, Any]) -> None:
    before = load("Jigsaw", folder).digest
    rows = [row(1, **change), row(2), row(3)]
    parquet(folder / "Jigsaw/val-00000-of-00001.parquet", rows)
    assert load("Jigsaw", folder).digest != before


def test_parts_of_a_split_are_joined_in_order(tmp_path: Path) -> None:
    for part in (1, 0):
        name = f"Jigsaw/val-0000{part}-of-00002.parquet"
        parquet(tmp_path / name, [row(2 * part + n) for n in (1, 2)])
    found = load("Jigsaw", tmp_path)
    assert [sample.id for sample in found] == [f"val_Jigsaw_{n}" for n in (1, 2, 3, 4)]
    assert grey(found[2].images[1]) == 32
    (tmp_path / "Jigsaw/val-00000-of-00002.parquet").unlink()
    with pytest.raises(InputError, match="expected all parts of one val split"):
        load("Jigsaw", tmp_path)


def test_the_test_split_has_no_answers(tmp_path: Path) -> None:
    rows = [row(n, idx=f"test_Jigsaw_{n}", answer="hidden") for n in (1, 2)]
    parquet(tmp_path / "Jigsaw/test-00000-of-00001.parquet", rows)
    parquet(tmp_path / "Jigsaw/val-00000-of-00001.parquet", [row(1)])
    found = load("Jigsaw", tmp_path, split="test")
    assert [sample.answer for sample in found] == [None, None]
    assert found.source["split"] == "test"
    assert load("Jigsaw", tmp_path)[0].id == "val_Jigsaw_1"


def test_a_task_may_have_a_hyphen_and_be_written_with_spaces(tmp_path: Path) -> None:
    task = "Multi-view_Reasoning"
    rows = [row(7, task=task, images=2, choices=["left", "right"])]
    parquet(tmp_path / task / "val-00000-of-00001.parquet", rows)
    assert load("Multi-view Reasoning", tmp_path)[0].task == task


def test_fewer_and_more_images(tmp_path: Path) -> None:
    file = parquet(tmp_path / "val-x.parquet", [row(n, images=n) for n in (1, 2, 3, 4)])
    found = load("Jigsaw", file)
    assert [[grey(image) for image in sample.images] for sample in found] == [
        [10 * n + k for k in range(1, n + 1)] for n in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"image_2": None},
            "row 2: val_Jigsaw_2: expected images without a gap, got image_3, no image_2",
        ),
        (
            {"image_1": None},
            "row 2: val_Jigsaw_2: expected images without a gap, got image_3, no image_1",
        ),
        (
            {f"image_{k}": None for k in (1, 2, 3)},
            "row 2: val_Jigsaw_2: expected at least one image",
        ),
        ({"answer": "(C)"}, "row 2: val_Jigsaw_2: expected an answer among A, B, got 'C'"),
        ({"answer": "(B"}, "row 2: val_Jigsaw_2: expected an answer such as (A), got str '(B'"),
        ({"answer": None}, "row 2: val_Jigsaw_2: expected an answer such as (A), got None"),
        ({"idx": "val_Relative_Depth_2"}, "row 2: idx: expected val_Jigsaw_ and a number"),
        ({"idx": "test_Jigsaw_2"}, "row 2: idx: expected val_Jigsaw_ and a number"),
        ({"idx": None}, "row 2: idx: expected val_Jigsaw_ and a number, got None"),
        ({"choices": ["one"]}, "row 2: val_Jigsaw_2: expected 2 to 26 choices, got 1"),
        ({"choices": None}, "row 2: val_Jigsaw_2: expected 2 to 26 choices, got 0"),
        ({"question": None}, "row 2: question: expected text, got None"),
        ({"idx": "val_Jigsaw_1"}, "expected each id once, got 'val_Jigsaw_1' twice"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    file = parquet(tmp_path / "val-bad.parquet", [row(1), row(2, **change)])
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        load("Jigsaw", file)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("column", ["idx", "choices", "answer", "image_1", "image_4"])
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    file = parquet(tmp_path / "val-bad.parquet", [row(1)], drop=column)
    with pytest.raises(InputError, match=f"val-bad.parquet: expected the column '{column}'"):
        load("Jigsaw", file)


def test_images_in_another_form_are_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "val-bad.parquet"
    pq.write_table(pa.Table.from_pylist([row(1, image_2="2.png")]), file)
    with pytest.raises(InputError, match="expected image_2 to have bytes and a path, got string"):
        load("Jigsaw", file)


def test_a_picture_without_bytes_is_named_when_it_is_asked_for(tmp_path: Path) -> None:
    picture = {"bytes": None, "path": "far/away/lost.png"}
    file = parquet(tmp_path / "val-bad.parquet", [row(1, image_2=picture)])
    found = load("Jigsaw", file)
    with pytest.raises(
        InputError, match=r"val-bad\.parquet: expected the bytes of 'lost\.png', got none"
    ):
        found[0].images[1].load()


def test_what_is_no_parquet_file(tmp_path: Path) -> None:
    file = tmp_path / "val-bad.parquet"
    file.write_bytes(b"no such thing")
    with pytest.raises(InputError, match=r"val-bad\.parquet: cannot be read as parquet"):
        load("Jigsaw", file)


def test_without_pyarrow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=re.escape("'perception-programs[eval]'")):
        load("Jigsaw", folder)


# ---- what `load` refuses


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("jigsaw", {}, "Jigsaw, got 'jigsaw'; did you mean 'Jigsaw'?"),
        ("Relative_Depth", {}, "or val-*.parquet in"),
        ("Jigsaw", {"split": "test"}, "expected Jigsaw/test-*.parquet"),
        ("Jigsaw", {"split": "train"}, "split: expected val or test, got str 'train'"),
        ("Jigsaw", {"revision": COMMIT}, "revision: expected none for"),
        ("HardBLINK", {}, "expected the folders questions, answers and images of HardBLINK"),
        ("", {}, "task: expected the name of a task"),
    ],
)
def test_a_folder_without_what_was_asked_for(
    folder: Path, task: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        load(task, folder, **options)


@pytest.mark.parametrize(
    ("task", "source", "message"),
    [
        ("Jigsaw", "/no/such/folder", "source: no file or folder '/no/such/folder'"),
        ("Jigsaw", "some/file.jsonl", "source: no file or folder 'some/file.jsonl'"),
        ("Jigsaw", Path("owner/name"), "source: no file or folder 'owner/name'"),
        ("Jigsaw", 3, "source: expected a path or a repository, got int 3"),
        ("Jigsaw", __file__, "source: expected a folder, .parquet or .jsonl"),
        ("Relative_Dept", None, "got 'Relative_Dept'; did you mean 'Relative_Depth'?"),
        ("Own", None, "or one of your own with its manifest as the source, got 'Own'"),
        ("hardblink", None, "did you mean 'HardBLINK'?"),
        (
            "HardBLINK",
            "hub",
            "HardBLINK: expected the folder of its files (--source HardBLINK=FOLDER",
        ),
    ],
)
def test_sources_that_are_none(task: str, source: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        load(task, source)


def test_samples_are_a_sequence_of_one_task(folder: Path) -> None:
    found = load("Jigsaw", folder)
    assert found[:2] == (found[0], found[1])
    assert found[-1] is list(found)[2]
    assert found[1] in found
    assert found.index(found[1]) == 1
    assert repr(found).startswith("<Samples: 3 of Jigsaw, parquet ")
    with pytest.raises(TypeError):
        found[0] = found[1]  # type: ignore[index]
    with pytest.raises(InputError, match="expected Other, got 'val_Jigsaw_1' of Jigsaw"):
        Samples(found, task="Other", kind="parquet", name="x", place="x")
    with pytest.raises(InputError, match="expected questions of Jigsaw, got none"):
        Samples([], task="Jigsaw", kind="parquet", name="x", place="x")


# ---- HardBLINK
def test_hardblink_loads_what_is_there(hardblink: Path) -> None:
    for source in (hardblink, hardblink.parent):
        found = load("HardBLINK", source)
        assert [sample.id for sample in found] == ["hardblink_3_0", "hardblink_3_1"]
        assert [grey(sample.images[0]) for sample in found] == [0, 1]
        assert (found.source["kind"], found.source["name"]) == ("hardblink", source.name)
        assert load("HardBLINK", found.place).source == found.source


def test_hardblink_has_no_splits(hardblink: Path) -> None:
    with pytest.raises(InputError, match="split: expected none"):
        load("HardBLINK", hardblink, split="test")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("questions", '"1.png"', '"9.png"', r"line 2: expected a picture, no file '.*9\.png'"),
        (
            "questions",
            '"question_id": 1',
            '"question_id": 7',
            "line 2: expected an answer to question 7",
        ),
        (
            "questions",
            '"question_id": 1',
            '"question_id": 0',
            "expected each id once, got 'hardblink_3_0'",
        ),
        ("questions", '"question_id": 1', '"question_id": "1"', "line 2: expected question_id"),
        ("questions", '"Which?"', '""', "line 1: question: expected text"),
        (
            "answers",
            '"question_id": 0',
            '"question_id": 1',
            "line 2: expected one answer to question 1",
        ),
        (
            "answers",
            "(C)",
            "(D)",
            "line 1: hardblink_3_0: expected an answer among A, B, C, got 'D'",
        ),
        ("answers", "(C)", "C or B", "line 1: expected an answer such as"),
        ("answers", "}", "", "line 1: expected one JSON object"),
    ],
)
def test_a_bad_line_of_hardblink_is_named(
    hardblink: Path, name: str, old: str, new: str, message: str
) -> None:
    file = hardblink / name / f"blink_3pointscenter_{name}.jsonl"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=message):
        load("HardBLINK", hardblink)


def test_hardblink_without_a_file(hardblink: Path) -> None:
    (hardblink / "answers/blink_3pointscenter_answers.jsonl").unlink()
    with pytest.raises(InputError, match=r"no file .*answers\.jsonl"):
        load("HardBLINK", hardblink)
    (hardblink / "questions/blink_3pointscenter_questions.jsonl").unlink()
    with pytest.raises(InputError, match=r"expected blink_3pointscenter_questions\.jsonl"):
        load("HardBLINK", hardblink)
