"""Where two programs of nearness, or the cells and points of one, cannot both be right.

A reading is taken as an interval. A range is one: what can be seen in the cell lies in it, so that a cell
across an edge has a wide one and contradicts little. A median alone says where the larger half of a
cell is, and which half is larger may change with a pixel. So it contradicts another program only if it
lies outside of what that program reads in the cell and around it, and if it is no strip one cell wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..program import Item, PerceptionProgram, numbers_in
from ._checks_base import (
    Floats,
    Limits,
    Outcome,
    Place,
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
    state,
)

__all__ = [
    "common_scale",
    "depth_places",
    "in_metres",
    "intervals",
    "nearness",
    "points_in_cells",
    "two_albedos",
    "two_depths",
]

_MOST = 1500  # places whose orders are compared with each other; more are thinned out evenly


Interval = tuple[float, float]


@dataclass(frozen=True)
class _Shared:
    """A place that both programs read, with what each says of it and what it allows for there.

    `spots` is for cells with medians alone: whether each stands out from the cells around it.
    """

    first: Place
    second: Place
    said: tuple[Interval, Interval]
    allowed: tuple[Interval, Interval]
    spots: tuple[bool, bool] | None = None

    def apart(self) -> float:
        """How far what one says lies outside of what the other allows for."""
        return max(_gap(self.said[0], self.allowed[1]), _gap(self.said[1], self.allowed[0]))

    def solid(self, side: int) -> tuple[Interval, Interval]:
        """What is said and allowed for on one side, where no pixel may change it."""
        if self.spots is None or self.spots[side]:
            return self.said[side], self.said[side] if self.spots else self.allowed[side]
        return self.allowed[side], self.allowed[side]


def _gap(a: Interval, b: Interval) -> float:
    return max(a[0] - b[1], b[0] - a[1])


def in_metres(program: PerceptionProgram) -> bool:
    """Whether a depth program, or one of a scene, reads metres; its note says so where meta is lost."""
    units = program.meta.get("units")
    return units == "m" if units is not None else "in metres" in (program.note or "")


def nearness(numbers: Sequence[float], metres: bool) -> tuple[float, ...]:
    """Numbers on a scale where more is nearer: metres become their negative logarithm, in order."""
    if not metres:
        return tuple(numbers)
    return tuple(sorted(-math.log(max(number, 1e-9)) for number in numbers))


def common_scale(first: PerceptionProgram, second: PerceptionProgram) -> bool:
    """Whether one number means the same in both.

    It does within one program, in metres, among maps that were nearness from the start, and when one
    expert read one picture. Everything else is known up to an unknown scale.
    """
    if first is second:
        return True
    if in_metres(first) or in_metres(second):
        return in_metres(first) and in_metres(second)
    if first.meta.get("kind") == second.meta.get("kind") == "normalised":
        return True
    made = [
        [program.meta.get(key) for key in ("expert", "checkpoint", "kind", "size")]
        for program in (first, second)
    ]
    masked = "masked_pixels" in first.meta or "masked_pixels" in second.meta
    return made[0][0] is not None and made[0] == made[1] and not masked


def depth_places(program: PerceptionProgram) -> list[Place]:
    """The cells and points of a program whose readings are one, two or three numbers."""
    return [place for place in places(program) if len(numbers_in(place.item.r)) in (1, 2, 3)]


def _is_range(item: Item) -> bool:
    return len(numbers_in(item.r)) > 1


def intervals(found: Sequence[Place], metres: bool) -> tuple[Floats, Floats]:
    """N×2 each: what is said of a place (its median, else its range), and the range or the median."""
    values = [nearness(numbers_in(place.item.r), metres) for place in found]
    said = [(v[1], v[1]) if len(v) == 3 else (v[0], v[-1]) for v in values]
    whole = [(v[0], v[-1]) for v in values]
    return np.array(said).reshape(-1, 2), np.array(whole).reshape(-1, 2)


def _hull(whole: Floats, chosen: Floats) -> Interval:
    return float(whole[chosen, 0].min()), float(whole[chosen, 1].max())


class _Reader:
    """The cells or the points of one program, as intervals."""

    def __init__(self, program: PerceptionProgram, *, cells: bool) -> None:
        self.places = [place for place in depth_places(program) if place.is_cell == cells]
        self.said, self.whole = intervals(self.places, in_metres(program))
        self.boxes = boxes_of(self.places)
        self.loose = has_inside(self.boxes)
        self.ranged = bool(self.places) and all(_is_range(place.item) for place in self.places)

    def says(self, n: int) -> Interval:
        """The median, or the range where there is none."""
        return float(self.said[n, 0]), float(self.said[n, 1])

    def allows(self, n: int) -> Interval:
        """The range of the cell; where there are medians only, that of them and their neighbours."""
        if self.is_loose(n):
            return _hull(self.whole, beside(self.boxes, self.places[n].box))
        return float(self.whole[n, 0]), float(self.whole[n, 1])

    def is_loose(self, n: int) -> bool:
        """Whether a place is a cell with its median alone."""
        return self.loose and self.places[n].is_cell and not _is_range(self.places[n].item)

    def is_spot(self, n: int, tau: float, other: Interval) -> bool:
        """Whether a median is outside of all those around it.

        At the border, a sliver between objects may be most of one cell and of no other. There it counts
        only where the other program allows for one surface, and in a corner never.
        """
        box = self.places[n].box
        if at_corner(box) or (at_border(box) and other[1] - other[0] > tau):
            return False
        around = beside(self.boxes, box)
        around[n] = False
        return bool(around.any()) and _gap(self.says(n), _hull(self.whole, around)) > tau


def _same(
    first: _Reader, second: _Reader, kin: Sequence[tuple[int, int]], tau: float
) -> list[_Shared]:
    rows = []
    for n, m in kin:
        allowed = first.allows(n), second.allows(m)
        spots = None
        if first.is_loose(n) or second.is_loose(m):
            spots = first.is_spot(n, tau, allowed[1]), second.is_spot(m, tau, allowed[0])
        said = first.says(n), second.says(m)
        rows.append(_Shared(first.places[n], second.places[m], said, allowed, spots))
    return rows


def _shared_cells(first: _Reader, second: _Reader, tau: float) -> list[_Shared]:
    """Cells that are the same in both; for the rest, those of the finer program with the coarser."""
    kin = kinship(first.places, second.places)
    done = {n for n, _ in kin}, {m for _, m in kin}
    rows = _same(first, second, kin, tau)
    if len(first.places) >= len(second.places):
        return rows + _across(first, second, *done)
    return rows + [_swapped(row) for row in _across(second, first, *done[::-1])]


def _across(
    fine: _Reader, coarse: _Reader, done_fine: Container[int], done_coarse: Container[int]
) -> list[_Shared]:
    """Cells of two sizes. What both hold is the centre of the finer one, if both read ranges.

    The median of a smaller cell is somewhere in the range of the larger; that of a larger cell lies
    between those of the much smaller ones that make it up. Nothing else follows from medians.
    """
    if fine.ranged and coarse.ranged:
        return _meet(fine, coarse, lambda place: holders(coarse.boxes, place), done_fine)
    if coarse.ranged:
        return _meet(fine, coarse, lambda place: overlapping(coarse.boxes, place.box), done_fine)
    return [
        _swapped(row)
        for row in _meet(coarse, fine, lambda place: parts_of(fine.boxes, place.box), done_coarse)
    ]


def _meet(
    one: _Reader, other: _Reader, choose: Callable[[Place], Any], done: Container[int] = ()
) -> list[_Shared]:
    """Each place of one program beside all that the other says of the places chosen for it."""
    rows = []
    for n, place in enumerate(one.places):
        chosen = choose(place)
        if n in done or not chosen.any():
            continue
        hull = _hull(other.whole, chosen)
        centre = chosen & holders(other.boxes, place)
        named = other.places[int(np.argmax(centre if centre.any() else chosen))]
        said = float(one.whole[n, 0]), float(one.whole[n, 1])
        rows.append(_Shared(place, named, (said, hull), (said, hull)))
    return rows


def _swapped(row: _Shared) -> _Shared:
    return _Shared(row.second, row.first, row.said[::-1], row.allowed[::-1])


def _points_with_cells(points: _Reader, cells: _Reader) -> list[_Shared]:
    """Points in cells that read ranges; a median alone says nothing about one point of its cell."""
    if not cells.ranged:
        return []
    return _meet(points, cells, lambda place: holders(cells.boxes, place))


def _shared(first: PerceptionProgram, second: PerceptionProgram, tau: float) -> list[_Shared]:
    cells = _Reader(first, cells=True), _Reader(second, cells=True)
    points = _Reader(first, cells=False), _Reader(second, cells=False)
    kin = kinship(points[0].places, points[1].places)
    rows = _shared_cells(*cells, tau) + _same(*points, kin, tau)
    rows += _points_with_cells(points[0], cells[1])
    return rows + [_swapped(row) for row in _points_with_cells(points[1], cells[0])]


def two_depths(first: Source, second: Source, limits: Limits) -> Outcome:
    """Two depth programs: values where they have one scale, else the order of any two places."""
    rows = _shared(first.program, second.program, limits.tau)
    if common_scale(first.program, second.program):
        return _values(first, second, rows, limits.tau)
    return _orders(first, second, rows, limits.tau)


def two_albedos(first: Source, second: Source, limits: Limits) -> Outcome:
    """Two albedo programs: black and white are the same for both, so that values compare."""
    return _values(first, second, _shared(first.program, second.program, limits.tau), limits.tau)


def points_in_cells(first: Source, second: Source, limits: Limits) -> Outcome:
    """The points of one depth program in the cells of the same program."""
    cells, points = (_Reader(first.program, cells=cells) for cells in (True, False))
    return _values(first, second, _points_with_cells(points, cells), limits.tau)


def _values(first: Source, second: Source, rows: Sequence[_Shared], tau: float) -> Outcome:
    leads = np.array([row.said[0][0] - row.said[1][1] for row in rows])
    leads = np.where(np.array([row.spots is None for row in rows], bool), 0, leads)
    boxes = boxes_of([row.first for row in rows])
    pairs = []
    for n, row in enumerate(rows):
        alike = (np.sign(leads) == np.sign(leads[n])) & (np.abs(leads) > tau)
        sure = row.spots is None or any(row.spots)
        if row.apart() > tau and (sure or in_block(boxes, n, alike)):
            pairs.append((state(first, row.first), state(second, row.second)))
    return Outcome(len(rows), tuple(pairs))


def _orders(first: Source, second: Source, rows: Sequence[_Shared], tau: float) -> Outcome:
    """Pairs of places that both programs put in order, and those that they put in opposite orders.

    Each place in doubt is stated once, the one in most contradictions first, with the place against
    which the order is reversed most clearly.
    """
    if len(rows) > _MOST:
        rows = [rows[n] for n in np.linspace(0, len(rows) - 1, _MOST).astype(int)]
    said, allowed = [], []
    for n in (0, 1):
        solid = [row.solid(n) for row in rows]
        said.append(_leads(np.array([own for own, _ in solid])))
        allowed.append(_leads(np.array([own for _, own in solid])))
    ordered = [leads > tau for leads in said]
    compared = int((ordered[0] & (ordered[1] | ordered[1].T)).sum())
    strength = np.maximum(np.minimum(said[0], allowed[1].T), np.minimum(allowed[0], said[1].T))
    pairs = []
    reversed_ = strength > tau
    counts = reversed_.sum(axis=0) + reversed_.sum(axis=1)
    while counts.any():
        k = int(np.argmax(counts))
        ahead, behind = (
            np.where(reversed_[k], strength[k], 0),
            np.where(reversed_[:, k], strength[:, k], 0),
        )
        front, back = (
            (k, int(np.argmax(ahead)))
            if ahead.max() >= behind.max()
            else (int(np.argmax(behind)), k)
        )
        pairs.append(
            (
                _ordered(first, rows[front].first, rows[back].first),
                _ordered(second, rows[back].second, rows[front].second),
            )
        )
        counts -= reversed_[k].astype(int) + reversed_[:, k].astype(int)
        reversed_[k] = reversed_[:, k] = False
        counts[k] = 0
    return Outcome(compared, tuple(pairs))


def _leads(values: Floats) -> Floats:
    """N×N: by how much the lower end of one interval is above the upper end of another."""
    values = values.reshape(-1, 2)
    return values[:, None, 0] - values[None, :, 1]


def _ordered(source: Source, front: Place, back: Place) -> Statement:
    """That one place is in front of another, with the ends of the readings that show it."""
    metres = in_metres(source.program)
    ahead, behind = numbers_in(front.item.r), numbers_in(back.item.r)
    r = (max(ahead), min(behind)) if metres else (min(ahead), max(behind))
    where = list(back.item.c) if isinstance(back.item.c, tuple) else back.item.c
    return Statement(
        front.item.c,
        r,
        f"{source.name}: {front.about} in front of {back.about} at {where}",
        front.item.q,
    )
