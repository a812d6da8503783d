"""Albedo: how light the surface in each cell is, shading taken out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import describe, is_array, is_floating, to_field
from ..errors import InputError
from ..geometry import Grid, cell_medians
from ..program import PerceptionProgram, Reading, Relation
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

__all__ = ["albedo_program"]

_READING_NOTE = (
    "r: median albedo of the cell, the lightness of its surface without shading, from 0 (black) to 1 "
    "(white)."
)


def albedo_program(
    albedo: Any,
    *,
    grid: Any = 10,
    relations: bool | int = True,
    tau: float = 0.1,
    labels: LabelsLike = None,
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

    Raises:
        InputError: not an H×W map, or no finite value.

    >>> import numpy as np
    >>> surface = np.tile([0.2] * 5 + [0.8] * 5, (10, 1))
    >>> albedo_program(surface, grid=(1, 2)).relations
    (Relation(subject=1, predicate='is darker than', object=2),)
    """
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
    readings: list[Reading] = [None if math.isnan(m) else m for m in medians.ravel().tolist()]
    limit = check_tau(tau)
    kept, cut = cap_relations(_relations(cells, medians, limit), relations)
    names = cell_labels(labels, cells, (width, height))
    masked = int(width * height - count.sum())
    return PerceptionProgram(
        modality="albedo",
        granularity="patch",
        items=cell_items(cells, (width, height), readings, names),
        relations=kept,
        grid=cells,
        note=grid_note(_READING_NOTE, readings, names, _relation_note(limit) if kept else None),
        meta=cell_meta((width, height), masked, readings, cut),
    )


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


def _relation_note(tau: float) -> str:
    return (
        f"is darker than: the first cell's albedo is more than {tau:.4g} below that of its "
        "neighbour; about the same as: they differ by no more."
    )
