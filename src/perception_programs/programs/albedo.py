"""Albedo: how light the surface in each cell is, shading taken out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._arrays import Field, describe, is_array, is_floating, to_field
from ..errors import InputError
from ..geometry import Grid, Size, cell_medians, cell_statistics
from ..program import Item, PerceptionProgram, Reading, Relation
from ._cells import (
    LabelsLike,
    cap_relations,
    cell_items,
    cell_labels,
    cell_meta,
    check_tau,
    grid_note,
    neighbour_pairs,
)
from ._reliability import Reliability, reliability, reliability_note, shares_of

__all__ = ["albedo_program"]

AlbedoReading = Literal["median", "range", "range+median"]
"""What a cell says of its albedo."""

_READINGS = {
    "median": "median albedo of the cell",
    "range": "[lowest, highest] albedo in the cell",
    "range+median": "[lowest, median, highest] albedo in the cell",
}
_SCALE = "the lightness of its surface without shading, from 0 (black) to 1 (white)."


def albedo_program(
    albedo: Any,
    *,
    grid: Any = 10,
    relations: bool | int = True,
    tau: float = 0.1,
    labels: LabelsLike = None,
    reading: AlbedoReading = "median",
    reliability: Reliability = None,
) -> PerceptionProgram:
    """A program of surface lightness (`albedo`, `patch`).

    Each cell reads the median albedo of its pixels, clipped to [0, 1].

    Args:
        albedo: H×W floats, 0 black to 1 white; NaN and infinity count as not measured.
        grid: cells a side, or (rows, cols).
        relations: whether neighbours are related: `is darker than` when the medians differ by more
            than `tau`, else `about the same as`; a number keeps at most so many, the strongest.
        tau: the difference it takes.
        labels: a segmentation that gives each cell its name.
        reading: what a cell reads: its `median`, its `range`, or `range+median` for (lowest, median,
            highest). Relations are between medians all the same.
        reliability: `number` or `words`: also say which share of a cell's pixels could be read.

    Raises:
        InputError: not an H×W map, no finite value, or an option does not fit.

    >>> import numpy as np
    >>> surface = np.tile([0.2] * 5 + [0.8] * 5, (10, 1))
    >>> albedo_program(surface, grid=(1, 2)).relations
    (Relation(subject=1, predicate='is darker than', object=2),)
    """
    if reading not in _READINGS:
        raise InputError(
            f"reading: expected median, range or range+median, got {describe(reading)}"
        )
    if is_array(albedo) and not is_floating(albedo):
        raise InputError(
            f"albedo: expected floats, 0 black to 1 white, got {describe(albedo)}; "
            "divide a picture's levels by 255 first"
        )
    field = to_field(albedo, 2, "albedo", "an H×W map")
    height, width = (int(n) for n in field.shape)
    cells = Grid.of(grid)
    medians, count = cell_medians(field, cells)
    if not count.any():
        raise InputError(
            f"albedo: expected at least one finite value, got none in {width}×{height}"
        )
    medians = np.clip(medians, 0, 1)
    readings = _readings(field, cells, medians, reading)
    limit = check_tau(tau)
    kept, cut = cap_relations(_relations(cells, medians, limit), relations)
    names = cell_labels(labels, cells, (width, height))
    masked = int(width * height - count.sum())
    return PerceptionProgram(
        modality="albedo",
        granularity="patch",
        items=_items(cells, (width, height), readings, names, count, reliability),
        relations=kept,
        grid=cells,
        note=grid_note(
            f"r: {_READINGS[reading]}, {_SCALE}",
            readings,
            names,
            _relation_note(limit, reading) if kept else None,
        )
        + reliability_note("share of the cell's pixels that could be read", reliability),
        meta=cell_meta((width, height), masked, readings, cut)
        | ({} if reading == "median" else {"reading": reading}),
    )


def _readings(
    field: Field, grid: Grid, medians: npt.NDArray[np.float64], reading: AlbedoReading
) -> list[Reading]:
    """What each cell reads; None where nothing in it could be read."""
    if reading == "median":
        return [None if math.isnan(m) else m for m in medians.ravel().tolist()]
    found = cell_statistics(field, grid)
    low, high = np.clip(found.min, 0, 1), np.clip(found.max, 0, 1)
    columns = [low, high] if reading == "range" else [low, medians, high]
    rows = np.stack([column.ravel() for column in columns], axis=1)
    return [None if math.isnan(row[0]) else tuple(row) for row in rows.tolist()]


def _items(
    grid: Grid,
    size: Size,
    readings: list[Reading],
    names: Sequence[str | None] | None,
    count: npt.NDArray[np.int64],
    how: Reliability,
) -> tuple[Item, ...]:
    return cell_items(grid, size, readings, names, reliability(shares_of(count, grid, size), how))


def _relations(grid: Grid, medians: Any, tau: float) -> list[tuple[float, Relation]]:
    related = []
    for first, second, difference in neighbour_pairs(grid, medians):
        if abs(difference) <= tau:
            relation = Relation(first, "about the same as", second)
        elif difference < 0:
            relation = Relation(first, "is darker than", second)
        else:
            relation = Relation(second, "is darker than", first)
        related.append((abs(difference), relation))
    return related


def _relation_note(tau: float, reading: AlbedoReading) -> str:
    albedo = "albedo" if reading == "median" else "median albedo"
    return (
        f"is darker than: the first cell's {albedo} is more than {tau:.4g} below that of its "
        "neighbour; about the same as: they differ by no more."
    )
