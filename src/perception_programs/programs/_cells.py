"""What the programs of grid cells share."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._plain import plain_number
from ..errors import InputError
from ..geometry import Grid, Size, neighbours
from ..program import Item, Reading, Relation
from ..results import Segmentation
from ._labels import segmentation_of

__all__ = [
    "FRAME_NOTE",
    "GRID_NOTE",
    "cap_relations",
    "cell_items",
    "cell_labels",
    "cell_meta",
    "check_tau",
    "dominant_classes",
    "grid_note",
    "neighbour_pairs",
]

FRAME_NOTE = "x runs right and y runs down, both scaled to 0-1000"
GRID_NOTE = (
    "Each item is one cell of a grid over the image, numbered row by row from the upper left. "
    f"p: cell number. c: [x, y] of the cell's centre; {FRAME_NOTE}."
)

LabelsLike = Any
"""A `Segmentation` of the same image, an H×W map of integers, or None."""


def cell_items(
    grid: Grid,
    size: Size,
    readings: Iterable[Reading],
    labels: Sequence[str | None] | None,
    reliability: Sequence[float | str | None] | None = None,
) -> tuple[Item, ...]:
    """One item a cell, in order."""
    none = [None] * grid.count
    rows = zip(grid.centres(size), readings, labels or none, reliability or none, strict=True)
    return tuple(Item(n, c, r, b, q=q) for n, (c, r, b, q) in enumerate(rows, 1))


def cell_meta(size: Size, masked: int, readings: Sequence[Reading], cut: int = 0) -> dict[str, Any]:
    """What `meta` says of a grid: the image's size, and what was not read or left out, if anything."""
    counts = {
        "masked_pixels": masked,
        "empty_cells": list(readings).count(None),
        "relations_cut": cut,
    }
    return {"size": size} | {name: count for name, count in counts.items() if count}


def grid_note(
    reading: str, readings: Sequence[Reading], labels: object, relations: str | None = None
) -> str:
    """The note of a grid program: the cells, what r means, and what else occurs in it."""
    parts = [GRID_NOTE, reading]
    if None in readings:
        parts.append("null: nothing could be measured there.")
    if labels is not None:
        parts.append("b: what covers most of the cell.")
    if relations is not None:
        parts.append(relations)
    return " ".join(parts)


def dominant_classes(segmentation: Segmentation, grid: Grid) -> tuple[list[int], list[float]]:
    """The class that covers most of each cell, and its share; of equals the lowest number."""
    classes, shares = [], []
    height, width = segmentation.classes.shape
    for x0, y0, x1, y1 in grid.boxes((width, height)):
        numbers, counts = np.unique(segmentation.classes[y0:y1, x0:x1], return_counts=True)
        most = int(np.argmax(counts))
        classes.append(int(numbers[most]))
        shares.append(float(counts[most] / counts.sum()))
    return classes, shares


def cell_labels(labels: LabelsLike, grid: Grid, size: Size) -> list[str | None] | None:
    """The name of each cell's dominant class, or None when there is no segmentation.

    Raises:
        InputError: the segmentation is of an image of another size.
    """
    segmentation = segmentation_of(labels, size)
    if segmentation is None:
        return None
    return [segmentation.name(number) for number in dominant_classes(segmentation, grid)[0]]


def check_tau(tau: float) -> float:
    """`tau` if it is a threshold."""
    number = float(plain_number(tau, "tau"))
    if number < 0:
        raise InputError(f"tau: expected a number of at least 0, got {tau!r}")
    return number


def neighbour_pairs(grid: Grid, values: npt.NDArray[Any]) -> Iterable[tuple[int, int, float]]:
    """Neighbouring cells and the first's value minus the second's; unread cells have no neighbours."""
    flat = values.ravel()
    for first, second in neighbours(grid):
        difference = float(flat[first - 1] - flat[second - 1])
        if math.isfinite(difference):
            yield first, second, difference


def cap_relations(
    relations: Sequence[tuple[float, Relation]], limit: bool | int
) -> tuple[tuple[Relation, ...], int]:
    """At most `limit` relations (True: all), the strongest, in their own order; and how many were cut.

    Raises:
        InputError: `limit` is negative or no number.
    """
    try:
        most = operator.index(limit)
    except TypeError:
        most = -1
    if most < 0:
        raise InputError(f"relations: expected True, False or how many at most, got {limit!r}")
    if limit is True:
        return tuple(relation for _, relation in relations), 0
    if limit is False:
        return (), 0
    strongest = sorted(range(len(relations)), key=lambda i: -relations[i][0])[:most]
    kept = tuple(relations[i][1] for i in sorted(strongest))
    return kept, len(relations) - len(kept)
