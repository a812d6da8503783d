"""Where two programs of motion, or matches and motion, cannot both be right.

A reading of a flow cell is taken as the vectors it allows for: `left` is every vector with u below 0,
`still` a small square around none, a mean just itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._plain import plain_number
from ..geometry import FRAME, Size
from ..program import Item, PerceptionProgram, Reading, numbers_in
from ._checks_base import (
    Box,
    Floats,
    Limits,
    Outcome,
    Source,
    Statement,
    at_border,
    at_corner,
    beside,
    boxes_of,
    has_inside,
    holders,
    in_block,
    kinship,
    overlapping,
    parts_of,
    places,
    size_of,
    state,
    touching,
)

__all__ = ["matches_and_flow", "two_flows", "two_matchings"]

_STILL = 0.5  # pixels, where the program does not say
_SHARE = 0.5  # vectors may differ by so much of the longer one: a third of a right angle
_CANCELLED = 0.1  # of their length, by noise and by turns
_MOST = 0.5  # of the matches around; an object that no cell is mostly of covers less
_REACH = 0.3  # cells: what is so near to a match may be of the same thing
_FAR = 200  # thousandths: as far as a match's own thing is looked for among the others
_FEW = 3  # matches that go against the flow side by side are no chance
_NEAR = 5  # thousandths: matches that begin no farther apart begin at one spot
_AROUND, _BESIDE = 100, 50  # thousandths: how far a match's neighbours are looked for


@dataclass(frozen=True)
class _Allowed:
    """The vectors (u, v) in pixels that readings allow for: u0 to u1, v0 to v1."""

    u0: float
    u1: float
    v0: float
    v1: float
    average: float = 0.0
    """Length of the vectors in a cell: more than that of their mean where they cancel out."""

    @property
    def length(self) -> float:
        """Of the longest vector; 0 where there is no longest."""
        ends = [max(abs(a), abs(b)) for a, b in ((self.u0, self.u1), (self.v0, self.v1))]
        longest = math.hypot(*ends)
        return max(longest, self.average) if math.isfinite(longest) else 0.0

    @property
    def side(self) -> int:
        """-1 for the left, 1 for the right, 0 for both."""
        return -1 if self.u1 <= 0 else 1 if self.u0 >= 0 else 0

    def parts_from(self, other: _Allowed, pixels: float) -> bool:
        """Whether no vector of one is within `pixels`, or half its length, of one of the other."""
        across = max(self.u0 - other.u1, other.u0 - self.u1)
        down = max(self.v0 - other.v1, other.v0 - self.v1, 0)
        if not self.length and not other.length:  # left and right touch, and are opposite
            return across >= 0
        longest = max(self.length, other.length)
        return math.hypot(max(across, 0), down) > max(pixels, _SHARE * longest)


def _hull(allowed: Sequence[_Allowed]) -> _Allowed:
    return _Allowed(
        min(a.u0 for a in allowed),
        max(a.u1 for a in allowed),
        min(a.v0 for a in allowed),
        max(a.v1 for a in allowed),
        max(a.average for a in allowed),
    )


class _Flow:
    """What a flow program allows for at each of its places, in pixels of a picture of `size`."""

    def __init__(self, program: PerceptionProgram, size: Size | None) -> None:
        own = size_of(program) or size
        self.scale = (size[0] / own[0], size[1] / own[1]) if size and own else (1.0, 1.0)
        self.still = plain_number(program.meta.get("still", _STILL), 'meta["still"]')
        read = [(place, self._allowed(place.item.r)) for place in places(program)]
        self.places = [place for place, allowed in read if allowed is not None]
        self.allowed = [allowed for _, allowed in read if allowed is not None]
        self.cells = np.array([place.is_cell for place in self.places], dtype=bool)
        self.boxes = boxes_of(self.places)
        self.loose = has_inside(self.boxes[self.cells])
        self.mixed = np.array([_is_mixed(place.item.r) for place in self.places], bool)

    def _allowed(self, reading: Reading) -> _Allowed | None:
        everywhere = (-math.inf, math.inf)
        if reading == "left":
            return _Allowed(-math.inf, 0, *everywhere)
        if reading == "right":
            return _Allowed(0, math.inf, *everywhere)
        if reading == "still":
            u, v = (self.still * scale for scale in self.scale)
            return _Allowed(-u, u, -v, v)
        numbers = numbers_in(reading)
        if len(numbers) < 2:
            return None  # a word of its own, such as `no reliable motion`, contradicts none
        u, v = (n * scale for n, scale in zip(numbers[:2], self.scale, strict=True))
        average = numbers[2] * max(self.scale) if len(numbers) > 2 else 0.0
        if _is_mixed(reading):  # the mean depends on where the cell is cut: half of this is allowed
            average *= 2
        return _Allowed(u, u, v, v, average)

    def is_side(self, n: int) -> bool:
        """Whether a cell among others reads `left` or `right`."""
        return self.loose and bool(self.cells[n]) and not math.isfinite(self.allowed[n].v0)

    def is_spot(self, n: int, pixels: float) -> bool:
        """Whether a cell reads another side than all around it."""
        box = self.places[n].box
        around = self.cells & beside(self.boxes, box)
        around[n] = False
        hull = [self.allowed[m] for m in np.flatnonzero(around)]
        return not at_corner(box) and bool(hull) and self.allowed[n].parts_from(_hull(hull), pixels)

    def around(self, box: Box) -> _Allowed:
        """What a cell and those beside it allow for."""
        chosen = self.cells & beside(self.boxes, box)
        return _hull([self.allowed[n] for n in np.flatnonzero(chosen)])

    def over(self, box: Box) -> _Allowed:
        """What the cells that touch a box allow for at a point: anything, if one holds several motions."""
        chosen = self.cells & touching(self.boxes, box)
        if (chosen & self.mixed).any():
            return _Allowed(-math.inf, math.inf, -math.inf, math.inf)
        return _hull([self.allowed[n] for n in np.flatnonzero(chosen)])


def _is_mixed(reading: Reading) -> bool:
    """Whether motions in a cell cancel out: their mean is much shorter than they are on average."""
    numbers = numbers_in(reading)
    if len(numbers) < 3:
        return False
    u, v, length = numbers[:3]
    return length - math.hypot(u, v) > max(_STILL, _CANCELLED * length)


def two_flows(first: Source, second: Source, limits: Limits) -> Outcome:
    """Two flow programs, cell by cell and point by point."""
    size = size_of(first.program) or size_of(second.program)
    flows = _Flow(first.program, size), _Flow(second.program, size)
    kin = kinship(flows[0].places, flows[1].places)
    rows = _same(*flows, kin, limits.pixels) if kin else _across(*flows, limits.pixels)
    found = [
        (state(first, flows[0].places[n]), state(second, flows[1].places[m]))
        for n, m, parts in rows
        if parts
    ]
    return Outcome(len(rows), tuple(found))


def _same(
    first: _Flow, second: _Flow, kin: Sequence[tuple[int, int]], pixels: float
) -> list[tuple[int, int, bool]]:
    """The same places of both: whether what they read differs and is not within a pixel of agreeing.

    The side that a cell on the border of two motions reads can change with a pixel. That one program
    reads a side that the other does not, in the cell or around it, cannot, unless it is a strip.
    """
    differ = np.array(
        [first.allowed[n].parts_from(second.allowed[m], pixels) for n, m in kin], bool
    )
    sided = np.array([first.is_side(n) or second.is_side(m) for n, m in kin], bool)
    sides = np.array([first.allowed[n].side for n, _ in kin])
    boxes = first.boxes[[n for n, _ in kin]]
    rows = []
    for k, (n, m) in enumerate(kin):
        parts = bool(differ[k])
        if parts and sided[k]:
            block = in_block(boxes, k, differ & sided & (sides == sides[k]))
            both = (first, n, second), (second, m, first)
            parts = any(
                own.allowed[o].parts_from(other.around(own.places[o].box), pixels)
                and (block or own.is_spot(o, pixels))
                for own, o, other in both
            )
        rows.append((n, m, parts))
    return rows


def _across(first: _Flow, second: _Flow, pixels: float) -> list[tuple[int, int, bool]]:
    """Cells of two sizes: the mean of a larger one lies between those of the smaller ones in it.

    Those next to it count too: with a border a pixel off, part of what they hold is in it.
    """
    swap = first.cells.sum() > second.cells.sum()
    coarse, fine = (second, first) if swap else (first, second)
    rows = []
    for n in np.flatnonzero(coarse.cells):
        place = coarse.places[n]
        chosen = fine.cells & parts_of(fine.boxes, place.box)
        near = fine.cells & touching(fine.boxes, place.box)
        if chosen.any():
            hull = _hull([fine.allowed[m] for m in np.flatnonzero(near)])
            centre = chosen & holders(fine.boxes, place)
            m = int(np.argmax(centre if centre.any() else chosen))
            parts = coarse.allowed[n].parts_from(hull, pixels)
            rows.append((m, int(n), parts) if swap else (int(n), m, parts))
    return rows


class _Matches:
    """The matches of a program: where they begin and how far they go, in thousandths."""

    def __init__(self, program: PerceptionProgram) -> None:
        self.places = [
            place
            for place in places(program)
            if not place.is_cell and len(numbers_in(place.item.r)) >= 2
        ]
        self.items = [place.item for place in self.places]
        self.boxes = boxes_of(self.places)
        self.starts = self.boxes[:, :2]
        ends = np.array([numbers_in(item.r)[:2] for item in self.items], float).reshape(-1, 2)
        self.ends, self.moves = ends, ends - self.starts

    def __len__(self) -> int:
        return len(self.items)


def two_matchings(first: Source, second: Source, limits: Limits) -> Outcome:
    """Matches of two programs that begin at one spot and end far apart.

    At the border of two motions both may be right. So either one of the two must be alone with where it
    goes, among all matches around it, or the programs must part at two spots beside each other or more.
    """
    one, other = _Matches(first.program), _Matches(second.program)
    if not len(one) or not len(other):
        return Outcome()
    near = np.abs(one.starts[:, None] - other.starts[None]).max(axis=2) <= _NEAR
    pairs = np.argwhere(near)
    apart = np.array(
        [np.abs(one.moves[n] - other.moves[m]).max() > limits.spread for n, m in pairs], bool
    )
    found = []
    for k, (n, m) in enumerate(pairs):
        if not apart[k]:
            continue
        beside = np.abs(one.starts[pairs[:, 0]] - one.starts[n]).max(axis=1) <= _BESIDE
        regional = beside.sum() > 1 and apart[beside].all()
        if regional or _alone(one, n, other, limits) or _alone(other, m, one, limits):
            found.append((_match(first, one.items[n]), _match(second, other.items[m])))
    return Outcome(len(pairs), tuple(found))


def _alone(own: _Matches, n: int, other: _Matches, limits: Limits) -> bool:
    """Whether no match around, of either program, goes where this one does."""
    start, move = own.starts[n], own.moves[n]
    like = 0
    for matches in (own, other):
        around = np.abs(matches.starts - start).max(axis=1) <= _AROUND
        like += int((around & (np.abs(matches.moves - move).max(axis=1) <= limits.spread)).sum())
    return like == 1  # itself


def _match(source: Source, item: Item, said: str = "") -> Statement:
    what = "point" if isinstance(item.p, str) else "match"  # a place that was asked about
    return Statement(item.c, item.r, f"{source.name}: {what} {item.p}{said}", item.q)


def matches_and_flow(first: Source, second: Source, limits: Limits) -> Outcome:
    """How far matches go against the motion of the cell they begin in and of those they are next to.

    A cell tells little of a small object in it. So a match must be alone with its motion among the
    matches around, or most of those next to it must go against the flow too.
    """
    matches, size = _Matches(first.program), size_of(second.program) or size_of(first.program)
    flow = _Flow(second.program, size)
    moves = _in_pixels(matches, first.program, size)
    pixels = limits.pixels + (size[0] / FRAME if size else 1)  # coordinates are cut to thousandths
    rows: list[tuple[int, int, _Allowed]] = []
    for n, place in enumerate(matches.places):
        chosen = flow.cells & holders(flow.boxes, place)
        if chosen.any():
            m = int(np.argmax(chosen))
            comparable = size or not flow.allowed[m].length  # without a size, only sides are
            window = _explaining(place.box, flow.places[m].box) if flow.loose else place.box
            if comparable and window is not None:
                rows.append((n, m, flow.over(window)))
    against = np.zeros(len(matches), bool)
    for n, _, around in rows:
        u, v = moves[n].tolist()
        against[n] = _Allowed(u, u, v, v).parts_from(around, pixels)
    found = []
    for n, m, _ in rows:
        cell = flow.places[m].box
        sure = not flow.loose or _stands_out(matches, n, cell, against, limits.spread)
        if against[n] and sure:
            u, v = moves[n].tolist()
            said = f", which moves by ({u:.4g}, {v:.4g}) {'pixels' if size else 'thousandths'}"
            found.append((_match(first, matches.items[n], said), state(second, flow.places[m])))
    return Outcome(len(rows), tuple(found))


def _explaining(point: Box, cell: Box) -> Box | None:
    """Where a cell may explain a motion at a point: near it, and at the picture's border farther off.

    None in a corner, where too little is around it to tell.
    """
    if at_corner(cell):
        return None
    return _window(point, cell, 2, _FAR) if at_border(cell) else _window(point, cell, _REACH)


def _window(point: Box, cell: Box, cells: float, least: float = 0) -> Box:
    """A box around a point that reaches so many widths and heights of a cell to each side."""
    across, down = (max(cells * (cell[n + 2] - cell[n]), least) for n in (0, 1))
    return point[0] - across, point[1] - down, point[2] + across, point[3] + down


def _stands_out(matches: _Matches, n: int, cell: Box, against: Any, spread: float) -> bool:
    """Whether a match is alone with its motion, or half of those around go against the flow too.

    At the border only the first, and among more of them: all that is seen beside an object there may be
    a strip too narrow for any cell.
    """
    point = matches.places[n].box
    far = 2 * _FAR if at_border(cell) else _FAR
    wide = overlapping(matches.boxes, _window(point, cell, 2, far), 0)
    like = np.abs(matches.moves[wide] - matches.moves[n]).max(axis=1) <= spread
    if int(like.sum()) == 1:
        return True
    near = against[overlapping(matches.boxes, _window(point, cell, 1.5, _FAR / 2), 0)]
    return not at_border(cell) and near.sum() >= _FEW and float(near.mean()) >= _MOST


def _in_pixels(matches: _Matches, program: PerceptionProgram, size: Size | None) -> Floats:
    """How far each match goes, in pixels of the flow's picture."""
    if size is None:
        return matches.moves
    sizes = [np.array(size_of(program, key) or size, float) for key in ("size1", "size2")]
    moved = (matches.ends * sizes[1] - matches.starts * sizes[0]) / FRAME
    pixels: Floats = moved * np.array(size) / sizes[0]
    return pixels
