"""Segmentation: what covers each cell of a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..geometry import Grid, neighbours
from ..program import PerceptionProgram, Relation
from ..results import Segmentation
from ._cells import cap_relations, cell_items, cell_meta, dominant_classes, grid_note
from ._experts import check_unused

__all__ = ["segmentation_program"]

_READING_NOTE = "b: what covers most of the cell. r: the share of the cell it covers, up to 1."
_RELATION_NOTE = "adjacent_to: the two cells are neighbours and show different things."


def segmentation_program(
    source: Any,
    names: Mapping[int, str] | Sequence[str] | None = None,
    *,
    grid: Any = 10,
    relations: bool | int = True,
) -> PerceptionProgram:
    """A program of what covers each cell (`segmentation`, `patch`).

    Args:
        source: a `Segmentation`, or an H×W map of class numbers.
        names: {class: name}, or a list that names 0, 1, 2…, for a map; numbers otherwise.
        grid: cells a side, or (rows, cols).
        relations: whether neighbours with different classes are related by `adjacent_to`; a number
            keeps at most so many.

    Raises:
        InputError: the source is neither, or the grid is finer than it.

    >>> import numpy as np
    >>> ground = np.zeros((10, 10), int); ground[:5] = 1
    >>> [(item.b, item.r) for item in segmentation_program(ground, ["grass", "sky"], grid=(2, 1)).items]
    [('sky', 1.0), ('grass', 1.0)]
    """
    if isinstance(source, Segmentation):
        check_unused("a Segmentation", names=names)
        segmentation = source
    else:
        segmentation = Segmentation(source, () if names is None else names)
    cells = Grid.of(grid)
    classes, shares = dominant_classes(segmentation, cells)
    adjacent = [
        (0.0, Relation(a, "adjacent_to", b))
        for a, b in neighbours(cells)
        if classes[a - 1] != classes[b - 1]
    ]
    kept, cut = cap_relations(adjacent, relations)
    labels = [segmentation.name(number) for number in classes]
    return PerceptionProgram(
        modality="segmentation",
        granularity="patch",
        items=cell_items(cells, segmentation.size, shares, labels),
        relations=kept,
        grid=cells,
        note=grid_note(_READING_NOTE, shares, None, _RELATION_NOTE if kept else None),
        meta=cell_meta(segmentation.size, 0, shares, cut),
    )
