"""Points that are asked about: which they are, the pixels around them, their ranks and their order."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import describe, to_numpy
from .._plain import decimals
from ..errors import InputError
from ..geometry import Size
from ..program import Relation
from ..results import Points

__all__ = ["asked_points", "disc_pixels", "disc_radius", "ordered_pairs", "ranks", "values_at"]

_QUARTER = re.compile(r"[0-9]+(\.[0-9]+)+")  # what a quarter of a cell is called: 17.3
_RADIUS = 0.004  # of the shorter side: 2 pixels at 500, 4 at 1080


def asked_points(
    points: Any, size: Size, *, name: str = "points", beside_cells: bool = False
) -> dict[str, tuple[float, float]]:
    """Each letter's place in pixels of an image of `size`, in the order given.

    Args:
        points: {"A": (x, y)} in pixels, or a `Points` of points.
        size: `(width, height)` of the image.
        name: of the argument, which errors begin with.
        beside_cells: whether the points stand in one program with cells, some of which are named.

    Raises:
        InputError: something else, boxes, no point at all, a letter that is empty or occurs twice or,
            beside cells, is what a quarter of one is called, a point outside the image, or `Points`
            of an image of another size.

    >>> asked_points({"A": (10, 20.5)}, (100, 50))
    {'A': (10.0, 20.5)}
    """
    if isinstance(points, Mapping):
        points = Points.from_dict(points, size)
    if not isinstance(points, Points):
        raise InputError(
            f"{name}: expected {{letter: (x, y)}} in pixels or Points, got {describe(points)}"
        )
    if points.points is None:
        raise InputError(f"{name}: expected points (x, y), got boxes")
    if points.size != size:
        raise InputError(
            f"{name}: expected points of an image of {size[0]}×{size[1]}, "
            f"got those of one of {points.size[0]}×{points.size[1]}"
        )
    if not len(points):
        raise InputError(f"{name}: expected at least one point, got none")
    places: dict[str, tuple[float, float]] = {}
    for letter, (x, y) in zip(points.labels, decimals(points.points), strict=True):
        if not letter.strip() or letter in places:
            raise InputError(f"{name}: expected each letter once, got {list(points.labels)}")
        if beside_cells and _QUARTER.fullmatch(letter):
            raise InputError(
                f"{name}: expected a letter beside cells, got {letter!r}, which is what a quarter of a "
                "cell is called; grid=None leaves the cells out"
            )
        places[letter] = (x, y)
    return places


def disc_radius(size: Size) -> float:
    """The radius in pixels of the disc that stands for a point: 0.004 of the shorter side, at least 1."""
    return max(1.0, float(round(_RADIUS * min(size))))


def disc_pixels(
    shape: tuple[int, int], place: tuple[float, float], size: Size, radius: float
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The pixels of a map whose centres lie within `radius` of a place, and at least the nearest one.

    Pixel (0, 0) of an image has its centre at (0, 0), as everywhere here; a map of another size covers
    the same picture, so that its pixel i has its centre at (i + 0.5) W / w - 0.5.

    Args:
        shape: (rows, columns) of the map.
        place: (x, y) in pixels of the image.
        size: `(width, height)` of the image.
        radius: in pixels of the image.

    Returns:
        The rows and the columns of those pixels, integers, for `field[rows, columns]`.

    >>> disc_pixels((50, 100), (10, 20), (100, 50), 1)
    (array([19, 20, 20, 20, 21]), array([10,  9, 10, 11, 10]))
    """
    columns, across = _within(shape[1], place[0], size[0], radius)
    rows, down = _within(shape[0], place[1], size[1], radius)
    squares = down[:, None] ** 2 + across**2
    y, x = np.nonzero(squares <= max(radius**2, float(squares.min())))
    return rows[y], columns[x]


def _within(
    count: int, place: float, length: int, radius: float
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """The pixels of one axis within `radius` of `place`, or the nearest; and how far off each is."""
    scale = length / count
    first, last = ((edge + 0.5) / scale - 0.5 for edge in (place - radius, place + radius))
    nearest = min(max(math.ceil((place + 0.5) / scale - 1), 0), count - 1)
    chosen = np.arange(
        max(min(math.ceil(first), nearest), 0), min(max(math.floor(last), nearest), count - 1) + 1
    )
    return chosen, np.asarray((chosen + 0.5) * scale - 0.5 - place, np.float64)


def values_at(field: Any, pixels: Iterable[tuple[Any, Any]]) -> list[npt.NDArray[Any]]:
    """What an H×W array or tensor holds at each set of (rows, columns); only those come to the host."""
    sets = list(pixels)
    rows, columns = (np.concatenate([pair[axis] for pair in sets]) for axis in (0, 1))
    ends = np.cumsum([len(pair[0]) for pair in sets])[:-1]
    return np.split(to_numpy(field[rows, columns]), ends)


def ranks(values: Mapping[str, float | None]) -> dict[str, int]:
    """1 for the largest value, and so on; equal ones share a rank, and None has none.

    >>> ranks({"A": 0.5, "B": 0.9, "C": None, "D": 0.5, "E": 0.1})
    {'A': 2, 'B': 1, 'D': 2, 'E': 4}
    """
    known = {letter: value for letter, value in values.items() if value is not None}
    return {
        letter: 1 + sum(other > value for other in known.values())
        for letter, value in known.items()
    }


def ordered_pairs(
    values: Mapping[str, float | None], tau: float, predicate: str
) -> list[tuple[float, Relation]]:
    """A relation from the larger to the smaller of each two values that differ by more than `tau`.

    Returns:
        (difference, relation), the largest value's first, then in the order of `values`.
    """
    known = {letter: value for letter, value in values.items() if value is not None}
    order = sorted(known, key=lambda letter: -known[letter])
    return [
        (known[first] - known[second], Relation(first, predicate, second))
        for n, first in enumerate(order)
        for second in order[n + 1 :]
        if known[first] - known[second] > tau
    ]
