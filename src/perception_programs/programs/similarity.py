"""Similarity: how alike each patch of a reference is to the same patch of each target."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._arrays import Field, describe, to_field
from ..errors import InputError
from ..geometry import Grid, cell_medians, cell_statistics
from ..program import Item, PerceptionProgram
from ._reliability import Reliability, reliability, reliability_note, shares_of

__all__ = ["similarity_program"]

SimilarityReading = Literal["mean", "median"]
"""What a cell says of its similarity."""


def similarity_program(
    targets: Mapping[str, Any],
    *,
    grid: Any = 10,
    reading: SimilarityReading = "mean",
    reliability: Reliability = None,
) -> PerceptionProgram:
    """A program of patch-wise similarity to a reference image (`similarity`, `patch`).

    Args:
        targets: {"A": map, "B": map, …}, each h×w floats: how alike each part of that target is to
            the same part of the reference, bigger is more alike.
        grid: cells a side, or (rows, cols).
        reading: what a cell reads: its `mean`, or its `median`, which a few stray values do not move.
        reliability: `number` or `words`: also say which share of a cell's values could be read.

    Raises:
        InputError: no targets, a map that is not h×w, coarser than the grid, or without a finite value;
            or an option does not fit.

    >>> import numpy as np
    >>> program = similarity_program({"A": np.ones((4, 4)), "B": np.zeros((4, 4))}, grid=1)
    >>> [(item.p, item.c, item.r) for item in program.items]
    [(1, 'A', 1.0), (1, 'B', 0.0)]
    """
    if not isinstance(targets, Mapping) or not targets:
        raise InputError(f'targets: expected {{"A": map, "B": map}}, got {describe(targets)}')
    if reading not in ("mean", "median"):
        raise InputError(f"reading: expected mean or median, got {describe(reading)}")
    cells = Grid.of(grid)
    items: list[Item] = []
    masked: dict[str, int] = {}
    for name, values in targets.items():
        field = to_field(values, 2, f"target {name!r}", "an h×w map")
        middles, count = _measured(field, cells, reading)
        valid = int(count.sum())
        if valid == 0:
            raise InputError(f"target {name!r}: expected at least one finite value, got none")
        height, width = (int(n) for n in field.shape)
        missing = width * height - valid
        masked |= {name: missing} if missing else {}
        items += _items(name, middles, shares_of(count, cells, (width, height)), reliability)
    return PerceptionProgram(
        modality="similarity",
        granularity="patch",
        items=tuple(items),
        grid=cells,
        note=_note(any(item.r is None for item in items), reading)
        + reliability_note("share of the cell's values that could be read", reliability),
        meta=({"masked_pixels": masked} if masked else {})
        | ({} if reading == "mean" else {"reading": reading}),
    )


def _measured(
    field: Field, grid: Grid, reading: SimilarityReading
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The middle of each cell, NaN where nothing could be read, and how many values could be."""
    if reading == "median":
        return cell_medians(field, grid)
    found = cell_statistics(field, grid)
    return found.mean, found.count


def _items(
    name: str, middles: npt.NDArray[np.float64], shares: list[float], how: Reliability
) -> list[Item]:
    sure = reliability(shares, how) or [None] * len(shares)
    return [
        Item(p=n, c=name, r=None if math.isnan(middle) else middle, q=q)
        for n, (middle, q) in enumerate(zip(middles.ravel().tolist(), sure, strict=True), 1)
    ]


def _note(missing: bool, reading: SimilarityReading) -> str:
    parts = [
        "A grid of cells, numbered row by row from the upper left, is laid over the reference image and "
        "over each target. p: cell number. c: the target. r: how alike that cell of the target is to the "
        "same cell of the reference; larger is more alike."
    ]
    if reading == "median":
        parts.append("It is the median over the cell.")
    if missing:
        parts.append("null: nothing could be measured there.")
    return " ".join(parts)
