"""Where points and boxes are on the pictures of questions, for a user who knows better than a finder.

JSON lines, one a picture, in the picture's own pixels; `image` counts from 1.

    {"id": "val_Relative_Depth_1", "image": 1, "points": {"A": [218, 339], "B": [282, 339]}}
    {"id": "val_Object_Localization_1", "image": 1, "boxes": {"A": [10, 20, 110, 80]}}
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from .._arrays import describe, is_series
from .._plain import plain_number
from ..errors import InputError
from ._jsonl import check_keys, read_lines

__all__ = ["Box", "Coordinates", "Place", "Point"]

Place: TypeAlias = tuple[str, int]
"""A picture: the id of its question and its number in it, from 1."""

Point: TypeAlias = tuple[float, float]
"""(x, y) in pixels."""

Box: TypeAlias = tuple[float, float, float, float]
"""xyxy in pixels."""

_KINDS = {"points": 2, "boxes": 4}


class Coordinates:
    """Points and boxes by picture; immutable.

    Args:
        points: of each picture, points by label.
        boxes: of each picture, boxes by label; corners come sorted. A picture has points or boxes.

    Raises:
        InputError: a picture with both or with none, or one that is no number, negative, infinite,
            or a box without area.

    >>> found = Coordinates({("val_Relative_Depth_1", 1): {"A": (218, 339), "B": (282, 339)}})
    >>> found.points("val_Relative_Depth_1", 1)
    {'A': (218, 339), 'B': (282, 339)}
    """

    def __init__(
        self,
        points: Mapping[Place, Mapping[str, Any]] | None = None,
        boxes: Mapping[Place, Mapping[str, Any]] | None = None,
    ) -> None:
        self._points = _checked(points or {}, "points")
        self._boxes = _checked(boxes or {}, "boxes")
        for sample_id, image in self._points:
            if (sample_id, image) in self._boxes:
                raise InputError(f"{sample_id}, image {image}: expected points or boxes, got both")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Coordinates:
        """The coordinates in a file of JSON lines.

        Raises:
            InputError: a line that is none, or a picture that has two; the message names the line.
        """
        lines: dict[str, dict[Place, Any]] = {kind: {} for kind in _KINDS}
        seen: set[Place] = set()
        for where, record in read_lines(Path(path)):
            kinds = [kind for kind in _KINDS if kind in record]
            if len(kinds) != 1:
                got = "both" if kinds else "neither"
                raise InputError(f"{where}: expected points or boxes, got {got}")
            check_keys(record, where, ("id", "image", *kinds))
            try:
                place = _place((record["id"], record["image"]))
                if place in seen:
                    raise InputError(f"expected one line an image, got {place} again")
                seen.add(place)
                lines[kinds[0]][place] = _labelled(record[kinds[0]], kinds[0])
            except InputError as error:
                raise InputError(f"{where}: {error}") from None
        return cls(lines["points"], lines["boxes"])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write them as JSON lines that `read` reads, sorted by id; a file that is there is lost."""
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in self._records())
        Path(path).write_text(text, encoding="utf-8")

    def points(self, sample_id: str, image: int) -> dict[str, Point] | None:
        """The points on a picture by label, or None where there are none.

        Args:
            sample_id: the id of the question.
            image: the number of the picture in it, from 1.
        """
        found = self._points.get((sample_id, image))
        return None if found is None else dict(found)

    def boxes(self, sample_id: str, image: int) -> dict[str, Box] | None:
        """The boxes on a picture by label, or None where there are none; as `points`."""
        found = self._boxes.get((sample_id, image))
        return None if found is None else dict(found)

    @property
    def digest(self) -> str:
        """SHA-256 of what they say, whatever the order of lines: 64 hexadecimal digits."""
        return hashlib.sha256(json.dumps(list(self._records())).encode()).hexdigest()

    def __len__(self) -> int:
        """How many pictures have some."""
        return len(self._points) + len(self._boxes)

    def __repr__(self) -> str:
        return f"<Coordinates: {len(self)} images>"

    def _records(self) -> list[dict[str, Any]]:
        records = [
            {"id": place[0], "image": place[1], kind: dict(sorted(labelled.items()))}
            for kind, table in (("points", self._points), ("boxes", self._boxes))
            for place, labelled in table.items()
        ]
        return sorted(records, key=lambda record: (record["id"], record["image"]))


def _checked(table: Mapping[Any, Any], kind: str) -> Mapping[Place, dict[str, Any]]:
    checked = {}
    for key, labelled in table.items():
        place = _place(key)
        try:
            checked[place] = _labelled(labelled, kind)
        except InputError as error:
            raise InputError(f"{place[0]}, image {place[1]}: {error}") from None
    return MappingProxyType(checked)


def _place(key: Any) -> Place:
    sample_id, image = key if isinstance(key, tuple) and len(key) == 2 else (None, None)
    if not isinstance(sample_id, str) or not sample_id:
        raise InputError(f"id: expected the id of a question, got {describe(sample_id)}")
    if not isinstance(image, int) or isinstance(image, bool) or image < 1:
        raise InputError(f"image: expected the number of a picture, from 1, got {describe(image)}")
    return sample_id, image


def _labelled(labelled: Any, kind: str) -> dict[str, Any]:
    if not isinstance(labelled, Mapping) or not labelled:
        raise InputError(f"{kind}: expected them by label, got {describe(labelled)}")
    checked = {}
    for label, numbers in labelled.items():
        if not isinstance(label, str) or not label.strip():
            raise InputError(f"{kind}: expected labels with something in them, got {label!r}")
        checked[label] = _numbers(numbers, f"{kind}: {label}", _KINDS[kind])
    return checked


def _numbers(value: Any, name: str, count: int) -> tuple[float, ...]:
    form = "x, y" if count == 2 else "x0, y0, x1, y1"
    if not is_series(value) or len(value) != count:
        raise InputError(f"{name}: expected {form}, got {describe(value)}")
    exact = (plain_number(number, name) for number in value)
    numbers = tuple(int(number) if number == int(number) else number for number in exact)
    if min(numbers) < 0:
        raise InputError(f"{name}: expected pixels from 0, got {min(numbers)}")
    if count == 2:
        return numbers
    x0, x1 = sorted(numbers[::2])
    y0, y1 = sorted(numbers[1::2])
    if x0 == x1 or y0 == y1:
        raise InputError(f"{name}: expected a box with an area, got {describe(value)}")
    return x0, y0, x1, y1
