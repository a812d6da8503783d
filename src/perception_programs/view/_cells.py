"""The cells of a grid on a canvas: scales of colour, and lettering that fits every cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..geometry import FRAME, Grid
from ..images import ImageLike
from ..program import Item, PerceptionProgram, Reading, numbers_in
from ._canvas import SHORTEST, Canvas, as_box, as_point, open_row
from ._colour import DARK, WHITE, Colour, Ramp, heat, ink_on
from ._sheet import Part, ramp_bar
from ._type import LEADING, fit, short, write

__all__ = [
    "WASH",
    "Cell",
    "Scale",
    "Tiers",
    "asked_points",
    "boxed_cells",
    "cells_of",
    "inner",
    "middle",
    "open_grids",
    "regions",
    "write_cells",
]

Cell: TypeAlias = tuple[int, int, int, int]
"""Its pixels: x0, y0, x1, y1."""
Tiers: TypeAlias = Sequence[Sequence[Sequence[str]]]
"""What a cell may say, the fullest first; each tier the same content in several layouts of lines."""

WASH = 0.58
"""How strongly cells are washed: the picture's shapes stay visible beneath."""
_CELL = 40  # pixels a side that lettering needs; finer grids have their picture enlarged
_MOST_ENLARGED = 1200


_LARGEST = 1e300


@dataclass(frozen=True)
class Scale:
    """How numbers become colours."""

    low: float
    high: float
    ramp: Ramp

    @classmethod
    def of(cls, values: Iterable[float | None], ramp: Ramp = heat) -> Scale:
        """The scale [0, 1] where it holds all values, so that pictures compare; else their range."""
        known = [v for v in values if v is not None]
        if all(0 <= v <= 1 for v in known):
            return cls(0.0, 1.0, ramp)
        # Numbers so large that their difference overflows are drawn as the largest that do not.
        low, high = (min(max(v, -_LARGEST), _LARGEST) for v in (min(known), max(known)))
        return cls(low, high, ramp)

    @property
    def digits(self) -> int:
        """The decimals that tell a hundredth of the scale."""
        span = self.high - self.low
        return min(max(2 - math.floor(math.log10(span)), 0), 6) if span else 2

    def colour(self, value: float | None) -> Colour | None:
        """The colour of a number; of none, none."""
        if value is None:
            return None
        span = self.high - self.low
        return self.ramp((value - self.low) / span if span else 0.5)

    def legend(self, text: int, low: str, high: str, wash: float = 1.0) -> list[Part]:
        """The ends of the scale in words and numbers, and the ramp between them."""
        ends = [
            f"{word} {int(value) if value in (0, 1) else short(value, self.digits)}".strip()
            for word, value in ((low, self.low), (high, self.high))
        ]
        return [ends[0], ramp_bar(self.ramp, text, wash), ends[1]]


def open_grids(
    program: PerceptionProgram, pictures: Sequence[ImageLike], longest: int
) -> list[Canvas]:
    """Pictures large enough for the program's cells to be lettered, where that can be had."""
    grid = program.grid or Grid(1, 1)
    boxes = [box for item in program.items if (box := as_box(item.c))]
    finest = [FRAME / max(min(x1 - x0, y1 - y0), 1) for x0, y0, x1, y1 in boxes]
    wanted = min(_CELL * max(grid.rows, grid.cols, *finest), _MOST_ENLARGED)
    return open_row(pictures, longest, max(SHORTEST, round(wanted)))


def cells_of(
    canvas: Canvas, program: PerceptionProgram, items: Sequence[Item] | None = None
) -> tuple[list[Cell], list[Item | None]]:
    """Each cell's pixels, and the item about it."""
    about = program.items if items is None else items
    found = {item.p: item for item in about if isinstance(item.p, int)}
    boxes = canvas.cells(program.grid or Grid(1, 1))
    return boxes, [found.get(number) for number in range(1, len(boxes) + 1)]


def boxed_cells(canvas: Canvas, items: Sequence[Item]) -> tuple[list[Cell], list[Item]]:
    """The pixels of those cells that say their own boxes, as cells of several sizes do; and the cells."""
    boxed = [item for item in items if as_box(item.c)]
    corners = [canvas.box(as_box(item.c) or (0, 0, 0, 0)) for item in boxed]
    return [(round(a), round(b), round(c), round(d)) for a, b, c, d in corners], boxed


def asked_points(program: PerceptionProgram) -> list[Item]:
    """The points of a program that are items beside its cells: those with a letter and a place."""
    return [i for i in program.items if isinstance(i.p, str) and as_point(i.c) is not None]


def middle(reading: Reading) -> float | None:
    """The number that stands for a reading: itself, the median of three, or the middle of a range."""
    numbers = numbers_in(reading)
    if len(numbers) == 3:
        return sorted(numbers)[1]
    return (min(numbers) + max(numbers)) / 2 if numbers else None


def inner(box: Cell, left: float, top: float, right: float, bottom: float) -> Cell:
    """A part of a cell, each edge as a fraction of its width or height."""
    width, height = box[2] - box[0], box[3] - box[1]
    return (
        round(box[0] + left * width),
        round(box[1] + top * height),
        round(box[0] + right * width),
        round(box[1] + bottom * height),
    )


def write_cells(
    canvas: Canvas,
    boxes: Sequence[Cell],
    tiers: Sequence[Tiers],
    grounds: Sequence[Colour | None] | None = None,
) -> None:
    """Letters all cells alike: the fullest tier that fits in every one, at one size.

    Args:
        canvas: what to write on.
        boxes: the cells.
        tiers: what each may say; an empty one says nothing.
        grounds: the colours of cells that are plain; lettering has a halo on any other.
    """
    grounds = grounds or [None] * len(boxes)
    written = [row for row in zip(boxes, tiers, grounds, strict=True) if row[1]]
    if not written:
        return
    width, height = (min(box[i + 2] - box[i] for box, _, _ in written) for i in (0, 1))
    space = 0.76 * width, 0.76 * height  # some air, or the picture drowns in letters
    chosen = _choose([row[1] for row in written], space, max(12, round(0.92 * canvas.text)))
    if chosen is None:
        return
    layouts, size = chosen
    for (box, _, ground), lines in zip(written, layouts, strict=True):
        _write_lines(canvas, box, lines, size, ground)


def _choose(
    tiers: Sequence[Tiers], space: tuple[float, float], largest: int
) -> tuple[list[Sequence[str]], int] | None:
    """Every cell's lines and the font size; None when nothing fits everywhere."""
    smallest = max(10, round(0.5 * largest))
    for level in range(max(len(t) for t in tiers)):
        options = [t[min(level, len(t) - 1)] for t in tiers]
        best: tuple[list[Sequence[str]], int] | None = None
        for number in range(max(len(o) for o in options)):
            layouts = [o[min(number, len(o) - 1)] for o in options]
            size = min(fit(lines, space, largest, smallest) for lines in layouts)
            if size and (best is None or size > best[1]):
                best = layouts, size
        if best is not None:
            return best
    return None


def _write_lines(
    canvas: Canvas, box: Cell, lines: Sequence[str], size: int, ground: Colour | None
) -> None:
    pitch = LEADING * size
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2 - pitch * (len(lines) - 1) / 2
    ink, halo = (WHITE, DARK) if ground is None else (ink_on(ground), None)
    for number, line in enumerate(lines):
        if line == "-":  # the font's hyphen is too small to be seen alone
            half, thick = 0.45 * size, max(1, size // 8)
            bar = (x - half, y - thick, x + half, y + thick)
            canvas.draw.rectangle(bar, ink, halo)
        else:
            write(canvas.draw, (x, y + pitch * number), line, size, ink=ink, halo=halo)


def regions(names: Sequence[str | None], grid: Grid) -> list[list[int]]:
    """Cells with one name that hang together by their sides, as lists of places from 0."""
    left = {n for n, name in enumerate(names) if name is not None}
    found = []
    for start in range(len(names)):
        if start not in left:
            continue
        left.discard(start)
        region, front = [], [start]
        while front:
            place = front.pop()
            region.append(place)
            col = place % grid.cols
            beside = [place - 1] * (col > 0) + [place + 1] * (col < grid.cols - 1)
            for other in (*beside, place - grid.cols, place + grid.cols):
                if other in left and names[other] == names[start]:
                    left.discard(other)
                    front.append(other)
        found.append(region)
    return found
