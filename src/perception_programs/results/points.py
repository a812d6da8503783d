"""Labelled points or boxes on an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import describe, is_series, read_only
from .._plain import plain_number
from ..errors import InputError
from ..geometry import Size, to_size
from ._check import UNSET, Result, check_pixels, check_text, coordinates, labels_of

__all__ = ["Points"]


@dataclass(frozen=True, eq=False)
class Points(Result):
    """Points, or boxes, each with the label that names it.

    Attributes:
        points: N×2 float32, (x, y) in pixels, or None when there are boxes.
        boxes: N×4 float32, xyxy in pixels, or None when there are points; corners come sorted.
        labels: N strings.
        image: name of the image they lie on, or None.
        size: `(width, height)` of that image.

    Raises:
        InputError: both or neither of points and boxes, wrong shapes, or one outside the image.
    """

    points: Any = None
    boxes: Any = None
    labels: tuple[str, ...] = ()
    image: str | None = None
    size: Size = UNSET

    def __post_init__(self) -> None:
        if (self.points is None) == (self.boxes is None):
            got = "neither" if self.points is None else "both"
            raise InputError(f"points: expected either points or boxes, got {got}")
        if self.size is None:
            raise InputError("size: expected the image's (width, height), got None")
        size = to_size(self.size)
        set_field = object.__setattr__
        if self.points is not None:
            places = coordinates(self.points, 2, "points")
            set_field(self, "points", places)
        else:
            corners = coordinates(self.boxes, 4, "boxes").reshape(-1, 2, 2)
            places = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
            set_field(self, "boxes", read_only(places))
        check_pixels(places, size, "points")
        set_field(self, "labels", labels_of(self.labels, len(places), "labels"))
        set_field(self, "size", size)
        if self.image is not None:
            check_text(self.image, "image")
        for label, place in zip(self.labels, places.tolist(), strict=True):
            for x, y in zip(place[::2], place[1::2], strict=True):
                if not (0 <= x <= size[0] and 0 <= y <= size[1]):
                    raise InputError(
                        f"points: expected {label!r} within {size[0]}×{size[1]} pixels, got {place}"
                    )

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def from_dict(
        cls, places: Mapping[str, Sequence[float]], size: Size, image: str | None = None
    ) -> Points:
        """From `{"A": (x, y), ...}`, or `{"A": (x0, y0, x1, y1), ...}` for boxes.

        >>> Points.from_dict({"A": (10, 20)}, size=(100, 100)).labels
        ('A',)
        """
        if not isinstance(places, Mapping) or not all(map(is_series, places.values())):
            raise InputError(f"points: expected (x, y) for each letter, got {describe(places)}")
        lengths = {len(place) for place in places.values()}
        if not lengths <= {2} and not lengths <= {4}:
            raise InputError(
                f"points: expected (x, y) or (x0, y0, x1, y1) for each, got {dict(places)!r}"
            )
        rows = [[plain_number(v, f"point {k!r}") for v in place] for k, place in places.items()]
        values = np.array(rows, np.float32)
        if lengths == {4}:
            return cls(boxes=values, labels=tuple(places), image=image, size=size)
        return cls(points=values.reshape(-1, 2), labels=tuple(places), image=image, size=size)
