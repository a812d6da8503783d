"""The cells of a grid in the 0-1000 frame, and their quarters, which may be quartered again.

Column edges are at `floor(1000 i / cols)`, row edges likewise; a cell is cut at `(a + b) // 2` on each axis.
Quarters are numbered 1 upper left, 2 upper right, 3 lower left, 4 lower right: 17.3 is one of cell 17.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ..geometry import FRAME, Grid

__all__ = ["DEEPEST_CUT", "Box", "Cell", "boxes_of", "named_cells", "quarters_of"]

DEEPEST_CUT = 10
"""Cells are cut so often at most; 1000 halved as often is a point."""

Box: TypeAlias = tuple[int, int, int, int]
"""(x0, y0, x1, y1)"""

Cell: TypeAlias = "int | list[Cell]"
"""The position of a whole cell's item among the items, or four of these for its quarters."""


def boxes_of(grid: Grid) -> Iterator[Box]:
    """Each cell's box in the frame."""
    for row in range(grid.rows):
        for col in range(grid.cols):
            x0, x1 = (FRAME * n // grid.cols for n in (col, col + 1))
            y0, y1 = (FRAME * n // grid.rows for n in (row, row + 1))
            yield x0, y0, x1, y1


def quarters_of(box: Box) -> Iterator[Box]:
    """The boxes of a cell's four quarters, in their order."""
    x0, y0, x1, y1 = box
    x, y = (x0 + x1) // 2, (y0 + y1) // 2
    yield from ((x0, y0, x, y), (x, y0, x1, y), (x0, y, x, y1), (x, y, x1, y1))


def named_cells(cell: Cell, p: int | str, box: Box) -> Iterator[tuple[int | str, Box]]:
    """The identifier and box of each item of a cell."""
    if not isinstance(cell, list):
        yield p, box
        return
    for number, (quarter, part) in enumerate(zip(cell, quarters_of(box), strict=True), 1):
        yield from named_cells(quarter, f"{p}.{number}", part)
