"""What the checks of `reconcile` share: sources, statements, and where in the picture an item is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry import FRAME, Grid, Size, to_size
from ..program import Identifier, Item, PerceptionProgram

__all__ = [
    "Box",
    "Floats",
    "Limits",
    "Outcome",
    "Place",
    "Source",
    "Statement",
    "at_border",
    "at_corner",
    "beside",
    "box_of",
    "boxes_of",
    "has_inside",
    "holders",
    "in_block",
    "kinship",
    "overlapping",
    "parts_of",
    "places",
    "same_label",
    "size_of",
    "state",
    "touching",
]

Floats = npt.NDArray[np.float64]
Box = tuple[float, float, float, float]
"""(x0, y0, x1, y1) in the 0-1000 frame."""

_ROUNDING = 3  # thousandths: coordinates are cut to whole ones, cells' edges to whole pixels
_PART = 0.3  # of the area of a cell: what is no larger is a part of it


@dataclass(frozen=True)
class Limits:
    """How far two statements may be apart before they disagree; see `reconcile`."""

    tau: float
    pixels: float
    spread: float
    iou: float
    margin: float


@dataclass(frozen=True)
class Source:
    """One of the programs, and what it is called among them."""

    name: str
    program: PerceptionProgram


@dataclass(frozen=True)
class Statement:
    """What one program says about one thing."""

    c: Any
    r: Any
    b: str
    q: float | str | None = None


@dataclass(frozen=True)
class Outcome:
    """How many comparisons a check made, and the pairs of statements that disagree."""

    compared: int = 0
    pairs: tuple[tuple[Statement, Statement], ...] = ()


@dataclass(frozen=True)
class Place:
    """An item with a place: a cell with its box, or a point, whose box has no extent."""

    item: Item
    box: Box
    is_cell: bool

    @property
    def about(self) -> str:
        """What the item is called in a statement."""
        return f"{'cell' if self.is_cell else 'point'} {self.item.p}"


def state(source: Source, place: Place) -> Statement:
    """The statement that an item is, in its own words."""
    item = place.item
    return Statement(item.c, item.r, f"{source.name}: {place.about}", item.q)


def places(program: PerceptionProgram) -> list[Place]:
    """The items of a program that have a place in the picture and something to say."""
    found = []
    for item in program.items:
        if item.r is None or not isinstance(item.c, tuple):
            continue
        cell = box_of(item.c) if len(item.c) == 4 else _cell_box(item.p, program.grid)
        found.append(Place(item, cell or box_of(item.c * 2), cell is not None))
    return found


def size_of(program: PerceptionProgram, *keys: str) -> Size | None:
    """`(width, height)` of the picture that a program is of, as its `meta` has it; None without one.

    Args:
        program: any program.
        keys: where `meta` may have it, the first that does; by default `size`, then `size1`.

    Raises:
        InputError: what is there is no size, as may be in a program made by hand.
    """
    key = next(
        (key for key in keys or ("size", "size1") if program.meta.get(key) is not None), None
    )
    if key is None:
        return None
    return to_size(program.meta[key], f'meta["{key}"] of a {program.modality} program')


def box_of(numbers: Sequence[float]) -> Box:
    """Four numbers as a box."""
    x0, y0, x1, y1 = map(float, numbers)
    return x0, y0, x1, y1


def _cell_box(p: Identifier | None, grid: Grid | None) -> Box | None:
    """The box of cell 17, or of "17.3", the third quarter of it; None where p names no cell.

    Quarters are numbered as cells are: upper left, upper right, lower left, lower right.
    """
    if grid is None or p is None:
        return None
    number, *quarters = str(p).split(".")
    if isinstance(p, str) and not quarters:
        return None  # a point that is called "7"
    if not number.isdecimal() or not 1 <= int(number) <= grid.count:
        return None
    row, col = divmod(int(number) - 1, grid.cols)
    width, height = FRAME / grid.cols, FRAME / grid.rows
    x, y = col * width, row * height
    for quarter in quarters:
        if quarter not in ("1", "2", "3", "4"):
            return None
        width, height = width / 2, height / 2
        x += width * ((int(quarter) - 1) % 2)
        y += height * ((int(quarter) - 1) // 2)
    return x, y, x + width, y + height


def boxes_of(found: Sequence[Place]) -> Floats:
    """N×4: the boxes of places."""
    return np.array([place.box for place in found], dtype=float).reshape(-1, 4)


def overlapping(boxes: Floats, box: Box, slack: float = -_ROUNDING) -> Any:
    """Which of `boxes` share more than a rounding error with `box` (with a `slack`: come so near)."""
    x0, y0, x1, y1 = box
    return (
        (boxes[:, 0] <= x1 + slack)
        & (boxes[:, 2] >= x0 - slack)
        & (boxes[:, 1] <= y1 + slack)
        & (boxes[:, 3] >= y0 - slack)
    )


def touching(boxes: Floats, box: Box) -> Any:
    """Which of `boxes` touch `box`, itself included: of a grid, the cell and its eight neighbours."""
    return overlapping(boxes, box, _ROUNDING)


def beside(boxes: Floats, box: Box) -> Any:
    """The cells whose content a cell may share: those that touch it, and one more at the border.

    What shows between an object and the border of the picture may be too narrow to be most of any cell.
    """
    x0, y0, x1, y1 = box
    if not at_border(box):
        return touching(boxes, box)
    return touching(boxes, (2 * x0 - x1, 2 * y0 - y1, 2 * x1 - x0, 2 * y1 - y0))


def parts_of(boxes: Floats, box: Box) -> Any:
    """Which of `boxes` make up `box`; none where one of them is no small part of it."""
    chosen = overlapping(boxes, box)
    small = _areas(boxes[chosen]) <= _PART * _areas(np.array([box]))
    return chosen if small.all() else np.zeros_like(chosen)


def _areas(boxes: Floats) -> Floats:
    areas: Floats = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def at_border(box: Box) -> bool:
    """Whether a cell is at the border of the picture."""
    return min(box) <= _ROUNDING or max(box) >= FRAME - _ROUNDING


def at_corner(box: Box) -> bool:
    """Whether a cell is in a corner of the picture, where too little is around it to tell."""
    x0, y0, x1, y1 = box
    sides = min(x0, FRAME - x1) <= _ROUNDING, min(y0, FRAME - y1) <= _ROUNDING
    return all(sides)


def has_inside(boxes: Floats) -> bool:
    """Whether cells are three or more a side: of fewer, none has others all around."""
    return all(len(np.unique(boxes[:, axis])) >= 3 for axis in (0, 1))


def in_block(boxes: Floats, n: int, differing: Any) -> bool:
    """Whether cell n differs together with all that meet it at one of its corners.

    A strip or a thin thing may cover about half of each cell that it passes through, so that two
    programs may take it or leave it: a row of cells that differ, one cell wide, proves nothing.
    """
    x0, y0, x1, y1 = boxes[n]
    for x in (x0, x1):
        for y in (y0, y1):
            meeting = overlapping(boxes, (x, y, x, y), _ROUNDING)
            if meeting.sum() > 2 and differing[meeting].all():
                return True
    return False


def holders(boxes: Floats, place: Place) -> Any:
    """Which of `boxes` may hold the point or the centre of a cell, given that both are rounded."""
    x, y = ((a + b) / 2 for a, b in (place.box[::2], place.box[1::2]))
    return overlapping(boxes, (x, y, x, y), _ROUNDING)


def kinship(first: Sequence[Place], second: Sequence[Place]) -> list[tuple[int, int]]:
    """The pairs (index, index) of places that are the same in both."""
    boxes = boxes_of(second)
    pairs = []
    for n, place in enumerate(first):
        near = np.flatnonzero(np.abs(boxes - place.box).max(axis=1, initial=0) <= _ROUNDING)
        pairs += [(n, m) for m in near.tolist() if second[m].is_cell == place.is_cell]
    return pairs


def same_label(first: str | None, second: str | None) -> bool:
    """Whether two labels can be of one thing: equal words, or all of one among those of the other.

    >>> same_label("Yellow motorcycle", "motorcycle"), same_label("cat", "dog")
    (True, False)
    """
    if first is None or second is None:
        return True  # what has no name contradicts none
    a, b = set(first.casefold().split()), set(second.casefold().split())
    return a <= b or b <= a
