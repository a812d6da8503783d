"""Cells of a grid as a matrix, in the style `compact`: a row of words for each row of cells.

The centres stand along the edges, x above and y to the left. A cell that is cut in quarters is four in
parentheses, which may be cut again; then the upper left corners of the whole cells stand along the
edges, as the boxes follow from them. Cells without a place of their own, as those that read one
target, have nothing there.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..geometry import Grid
from ..program import Item
from .compact_fields import field_text, word
from .compact_quarters import DEEPEST_CUT, Box, Cell, boxes_of, quarters_of
from .compact_scale import Scale
from .quoting import capped

__all__ = ["QUARTERS", "Matrix", "matrix", "written_matrix"]

QUARTERS = "(upper-left upper-right lower-left lower-right) in quarters"
"""What is said above a matrix in which cells are cut."""

_MATRIX_FIELDS = ("r", "b", "q")


@dataclass(frozen=True)
class Matrix:
    """Items that can be printed as a matrix.

    Attributes:
        items: these items, row by row, quarters in their order.
        cells: the cells of the grid in order.
        grid: the grid.
        edges: `centres`, `corners` or `cells`, if there is nothing along the edges.
    """

    items: Sequence[Item]
    cells: list[Cell]
    grid: Grid
    edges: str


def matrix(items: Sequence[Item], grid: Grid) -> Matrix | None:
    """The matrix that the first of `items` are, or None if they are none."""
    cells: list[Cell] = []
    boxes: list[Box] = []
    for p, box in enumerate(boxes_of(grid), 1):
        cell = _cell(items, len(boxes), p, box, boxes)
        if cell is None:
            return None
        cells.append(cell)
    items = items[: len(boxes)]
    if any(item.parts is not None for item in items) or len({item.i for item in items}) > 1:
        return None
    edges = _edges(items, cells, boxes, grid)
    return None if edges is None else Matrix(items, cells, grid, edges)


def _cell(items: Sequence[Item], at: int, p: int | str, box: Box, boxes: list[Box]) -> Cell | None:
    """The cell called `p` that begins with item `at`; the boxes of its items are put to `boxes`."""
    if at == len(items):
        return None
    if items[at].p == p:
        boxes.append(box)
        return at
    if not str(items[at].p).startswith(f"{p}.") or str(p).count(".") == DEEPEST_CUT:
        return None
    quarters = []
    for number, part in enumerate(quarters_of(box), 1):
        quarter = _cell(items, len(boxes), f"{p}.{number}", part, boxes)
        if quarter is None:
            return None
        quarters.append(quarter)
    return quarters


def _edges(
    items: Sequence[Item], cells: Sequence[Cell], boxes: Sequence[Box], grid: Grid
) -> str | None:
    """What can stand along the edges so that every c follows from it."""
    places = [item.c for item in items]
    if places == boxes:
        return "corners"
    if not isinstance(places[0], tuple):
        return "cells" if len(set(places)) == 1 else None
    if len(cells) < len(items):
        return None
    firsts = places[: grid.cols], places[:: grid.cols]
    if not all(isinstance(place, tuple) and len(place) == 2 for line in firsts for place in line):
        return None
    centres = [(top[0], side[1]) for side in firsts[1] for top in firsts[0]]  # type: ignore[index]
    return "centres" if places == centres else None


def written_matrix(made: Matrix, scale: Scale) -> Iterator[str]:
    """The lines of a matrix: what stands along the upper edge, then the rows of each field."""
    first, grid = made.items[0], made.grid
    common = [("i", first.i), ("c", first.c if made.edges == "cells" else None)]
    said = [made.edges if made.edges == "cells" else f"{made.edges} y\\x"]
    said += [
        f"{name}={word(capped(value) if name == 'i' else value)}"
        for name, value in common
        if isinstance(value, str)
    ]
    if len(made.cells) < len(made.items):
        said.append(QUARTERS)
    tops, sides = _labels(made)
    yield " ".join([f"{', '.join(said)}:", *tops])
    for name in _MATRIX_FIELDS:
        if name != "r" and all(getattr(item, name) is None for item in made.items):
            continue
        texts = [field_text(name, item, scale) for item in made.items]
        letters = _letters([getattr(item, name) for item in made.items], texts)
        yield " ".join([f"{name}:", *(f"{letter}={text}" for text, letter in letters.items())])
        texts = [letters.get(text, text) for text in texts]
        for row, side in enumerate(sides):
            cells = made.cells[row * grid.cols : (row + 1) * grid.cols]
            yield side + " ".join(_shown(cell, texts) for cell in cells)


def _labels(made: Matrix) -> tuple[list[str], list[str]]:
    """What stands above the matrix, and what before each row."""
    grid = made.grid
    if made.edges == "cells":
        return [], [""] * grid.rows
    places = list(boxes_of(grid)) if made.edges == "corners" else [item.c for item in made.items]
    tops = [str(place[0]) for place in places[: grid.cols]]  # type: ignore[index]
    return tops, [f"{place[1]}: " for place in places[:: grid.cols]]  # type: ignore[index]


def _letters(values: Sequence[Any], texts: Sequence[str]) -> dict[str, str]:
    """A letter for each word, its own first one where that is free; none if there are numbers."""
    letters: dict[str, str] = {}
    free = list(string.ascii_uppercase + string.ascii_lowercase)
    for value, text in zip(values, texts, strict=True):
        if value is None or text in letters:
            continue
        if not isinstance(value, str) or not free:
            return {}
        wanted = [value, *value.upper()]
        letter = next((char for char in wanted if char in free), free[0])
        free.remove(letter)
        letters[text] = letter
    return letters


def _shown(cell: Cell, texts: Sequence[str]) -> str:
    if isinstance(cell, list):
        return f"({' '.join(_shown(quarter, texts) for quarter in cell)})"
    return texts[cell]
