"""Similarity: how alike each patch of a reference is to the same patch of each target."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .._arrays import describe, to_field
from ..errors import InputError
from ..geometry import Grid, cell_statistics
from ..program import Item, PerceptionProgram

__all__ = ["similarity_program"]


def similarity_program(targets: Mapping[str, Any], *, grid: Any = 10) -> PerceptionProgram:
    """A program of patch-wise similarity to a reference image (`similarity`, `patch`).

    Args:
        targets: {"A": map, "B": map, …}, each h×w floats: how alike each part of that target is to
            the same part of the reference, bigger is more alike. Each cell reads its mean.
        grid: cells a side, or (rows, cols).

    Raises:
        InputError: no targets, a map that is not h×w, coarser than the grid, or without a finite value.

    >>> import numpy as np
    >>> program = similarity_program({"A": np.ones((4, 4)), "B": np.zeros((4, 4))}, grid=1)
    >>> [(item.p, item.c, item.r) for item in program.items]
    [(1, 'A', 1.0), (1, 'B', 0.0)]
    """
    if not isinstance(targets, Mapping) or not targets:
        raise InputError(f'targets: expected {{"A": map, "B": map}}, got {describe(targets)}')
    cells = Grid.of(grid)
    items: list[Item] = []
    masked: dict[str, int] = {}
    for name, values in targets.items():
        field = to_field(values, 2, f"target {name!r}", "an h×w map")
        statistics = cell_statistics(field, cells)
        valid = int(statistics.count.sum())
        if valid == 0:
            raise InputError(f"target {name!r}: expected at least one finite value, got none")
        missing = int(field.shape[0]) * int(field.shape[1]) - valid
        masked |= {name: missing} if missing else {}
        items += [
            Item(p=n, c=name, r=None if math.isnan(mean) else mean)
            for n, mean in enumerate(statistics.mean.ravel().tolist(), 1)
        ]
    return PerceptionProgram(
        modality="similarity",
        granularity="patch",
        items=tuple(items),
        grid=cells,
        note=_note(any(item.r is None for item in items)),
        meta={"masked_pixels": masked} if masked else {},
    )


def _note(missing: bool) -> str:
    parts = [
        "A grid of cells, numbered row by row from the upper left, is laid over the reference image and "
        "over each target. p: cell number. c: the target. r: how alike that cell of the target is to the "
        "same cell of the reference; larger is more alike."
    ]
    if missing:
        parts.append("null: nothing could be measured there.")
    return " ".join(parts)
