"""Coordinates of points and boxes, given by a user."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from blink_questions import lines
from perception_programs.blink.coordinates import Coordinates
from perception_programs.errors import InputError


def test_coordinates_round_trip(tmp_path: Path) -> None:
    given = Coordinates(
        points={("val_X_2", 1): {"REF": (1, 2.5)}, ("val_X_1", 2): {"B": (3, 4), "A": (0, 0)}},
        boxes={("val_X_1", 1): {"A": (30, 40, 10, 20)}},
    )
    assert given.boxes("val_X_1", 1) == {"A": (10, 20, 30, 40)}  # corners come sorted
    assert given.points("val_X_1", 1) is None
    assert given.boxes("val_X_1", 2) is None
    assert len(given) == 3
    given.write(tmp_path / "found.jsonl")
    back = Coordinates.read(tmp_path / "found.jsonl")
    assert back.digest == given.digest
    assert back.points("val_X_1", 2) == {"A": (0, 0), "B": (3, 4)}
    assert back.points("val_X_2", 1) == {"REF": (1, 2.5)}
    assert back.boxes("val_X_1", 1) == given.boxes("val_X_1", 1)
    first = (tmp_path / "found.jsonl").read_text().splitlines()[0]
    assert json.loads(first) == {"id": "val_X_1", "image": 1, "boxes": {"A": [10, 20, 30, 40]}}


def test_the_digest_is_of_what_is_said(tmp_path: Path) -> None:
    one = {"id": "x", "image": 1, "points": {"A": [1, 2], "B": [3, 4]}}
    two = {"id": "y", "image": 1, "points": {"A": [1, 2]}}
    same = {"image": 1, "points": {"B": [3.0, 4.0], "A": [1, 2]}, "id": "x"}
    other = {"id": "x", "image": 1, "points": {"A": [1, 2], "B": [3, 4.5]}}
    digests = [
        Coordinates.read(lines(tmp_path / "c.jsonl", *records)).digest
        for records in ([one, two], [two, same], [other, two], [one])
    ]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_coordinates_cannot_be_changed() -> None:
    given = Coordinates({("x", 1): {"A": (1, 2)}})
    found = given.points("x", 1)
    assert found is not None
    found["B"] = (0, 0)
    assert given.points("x", 1) == {"A": (1, 2)}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('"points": {"A": [1, 2, 3]}', "points: A: expected x, y, got list [1, 2, 3]"),
        ('"boxes": {"A": [1, 2]}', "boxes: A: expected x0, y0, x1, y1, got list [1, 2]"),
        ('"points": {"A": [1, "2"]}', "points: A: expected a number, got str '2'"),
        ('"points": {"A": [1, true]}', "points: A: expected a number, got bool True"),
        ('"points": {"A": [1, -2]}', "points: A: expected pixels from 0, got -2"),
        ('"points": {"A": [1, NaN]}', "expected one JSON object: NaN is no JSON"),
        ('"points": {"A": [1, 1e999]}', "points: A: expected a finite number, got inf"),
        ('"boxes": {"A": [1, 2, 1, 9]}', "boxes: A: expected a box with an area"),
        ('"points": {"A": [1, 2], "A": [3, 4]}', "expected each key once, got 'A' twice"),
        ('"points": {" ": [1, 2]}', "points: expected labels with something in them, got ' '"),
        ('"points": {}', "points: expected them by label"),
        ('"points": [[1, 2]]', "points: expected them by label, got list [[1, 2]]"),
        (
            '"points": {"A": [1, 2]}, "boxes": {"A": [1, 2, 3, 4]}',
            "expected points or boxes, got both",
        ),
        ('"point": {"A": [1, 2]}', "expected points or boxes, got neither"),
        (
            '"points": {"A": [1, 2]}, "size": [3, 4]',
            "expected no keys but id, image, points, got 'size'",
        ),
        ('"points": {"A": [1, 2]}, "image": 0', "expected each key once, got 'image' twice"),
    ],
)
def test_bad_coordinates_are_named(tmp_path: Path, record: str, message: str) -> None:
    path = tmp_path / "c.jsonl"
    good = '{"id": "good", "image": 1, "points": {"A": [1, 2]}}'
    path.write_text(f'{good}\n{{"id": "x", "image": 1, {record}}}\n')
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        Coordinates.read(path)
    assert f"{path}, line 2: " in str(caught.value)


@pytest.mark.parametrize("image", [0, -1, "1", 1.0, True, None])
def test_a_picture_has_a_number_from_one(tmp_path: Path, image: Any) -> None:
    record = {"id": "x", "image": image, "points": {"A": [1, 2]}}
    with pytest.raises(
        InputError, match=r"line 1: image: expected the number of a picture, from 1"
    ):
        Coordinates.read(lines(tmp_path / "c.jsonl", record))


def test_a_picture_has_one_line(tmp_path: Path) -> None:
    record = {"id": "x", "image": 1}
    points, boxes = record | {"points": {"A": [1, 2]}}, record | {"boxes": {"A": [1, 2, 3, 4]}}
    with pytest.raises(InputError, match="line 2: expected one line an image"):
        Coordinates.read(lines(tmp_path / "c.jsonl", points, boxes))
    with pytest.raises(InputError, match="x, image 1: expected points or boxes, got both"):
        Coordinates({("x", 1): {"A": (1, 2)}}, {("x", 1): {"A": (1, 2, 3, 4)}})
    with pytest.raises(InputError, match="no file"):
        Coordinates.read(tmp_path / "none.jsonl")
