"""Where programs of objects, of what covers the picture, and of depth cannot both be right."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program import Identifier, Item, PerceptionProgram, numbers_in
from ._checks_base import (
    Box,
    Limits,
    Outcome,
    Place,
    Source,
    Statement,
    box_of,
    boxes_of,
    holders,
    overlapping,
    places,
    same_label,
)
from ._checks_depth import common_scale, depth_places, in_metres, intervals, nearness

__all__ = ["objects_and_depth", "two_detections", "two_segmentations"]

_OFF = 0.1  # of a cell: so far off may a share be, where borders are a pixel or two off


def two_detections(first: Source, second: Source, limits: Limits) -> Outcome:
    """Boxes of one object under two labels.

    A box with a companion in the other program, as large, at that place and with its label, is what it
    is said to be: what lies over it there is another object.
    """
    one, other = _objects(first.program), _objects(second.program)
    shared = np.array([[_iou(a.box, b.box) for b in other] for a in one]).reshape(
        len(one), len(other)
    )
    overlap = shared >= limits.iou
    alike = np.array([[same_label(a.item.b, b.item.b) for b in other] for a in one], bool)
    named = overlap & alike.reshape(overlap.shape)
    free = ~named.any(axis=1)[:, None] & ~named.any(axis=0)[None]
    pairs = [
        (_labelled(first, one[n].item), _labelled(second, other[m].item))
        for n, m in np.argwhere(overlap & ~named & free)
    ]
    return Outcome(int(overlap.sum()), tuple(pairs))


def _objects(program: PerceptionProgram) -> list[Place]:
    return [
        Place(item, box_of(item.c), True)
        for item in program.items
        if isinstance(item.c, tuple) and len(item.c) == 4
    ]


def _iou(a: Box, b: Box) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b))
    return float(width * height / (areas - width * height))


def _labelled(source: Source, item: Item) -> Statement:
    score = f", confidence {item.r:.4g}" if isinstance(item.r, float | int) else ""
    return Statement(item.c, item.b, f"{source.name}: box {item.p}{score}", item.q)


def two_segmentations(first: Source, second: Source, limits: Limits) -> Outcome:
    """Cells that two programs give to different classes, each more than half of it.

    Two classes may share a cell. What they are both said to cover, where the cells of two programs
    overlap, is at least what the two parts have above the whole.
    """
    one, other = _covering(first.program), _covering(second.program)
    swap = len(one) < len(other)
    fine, coarse = (other, one) if swap else (one, other)
    boxes, pairs, compared = boxes_of(coarse), [], 0
    for place in fine:
        for m in np.flatnonzero(holders(boxes, place))[:1].tolist():
            compared += 1
            if _both_cover(place, coarse[m]):
                a, b = (coarse[m], place) if swap else (place, coarse[m])
                pairs.append((_covered(first, a), _covered(second, b)))
    return Outcome(compared, tuple(pairs))


def _covering(program: PerceptionProgram) -> list[Place]:
    """The cells that say how much of them is covered; a word there says nothing that can be compared."""
    return [place for place in places(program) if numbers_in(place.item.r)]


def _both_cover(a: Place, b: Place) -> bool:
    shares = [numbers_in(place.item.r)[0] for place in (a, b)]
    if same_label(a.item.b, b.item.b) or min(shares) <= 0.5:
        return False
    sides = [min(a.box[n + 2], b.box[n + 2]) - max(a.box[n], b.box[n]) for n in (0, 1)]
    common = max(sides[0], 0) * max(sides[1], 0)
    least = 0.0
    for place, share in zip((a, b), shares, strict=True):
        x0, y0, x1, y1 = place.box
        least += common - (1 - share + _OFF) * (x1 - x0) * (y1 - y0)
    return least > common


def _covered(source: Source, place: Place) -> Statement:
    item = place.item
    share = numbers_in(item.r)[0]
    return Statement(
        item.c, item.b, f"{source.name}: {place.about}, of which it covers {share:.4g}", item.q
    )


class _Depth:
    """A depth program, asked about boxes."""

    def __init__(self, program: PerceptionProgram) -> None:
        self.places = depth_places(program)
        self.metres = in_metres(program)
        _, self.whole = intervals(self.places, self.metres)
        self.boxes = boxes_of(self.places)

    def at_centre(self, box: Box) -> tuple[float, float] | None:
        """From the farthest to the nearest reading at the centre of a box."""
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return self._of(overlapping(self.boxes, (x, y, x, y), 0))

    def in_middle(self, box: Box) -> tuple[float, float] | None:
        """The same of all cells with their centres in the middle half too: an object may have a hole."""
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        reach = np.array([box[2] - box[0], box[3] - box[1]]) / 4
        centres = (self.boxes[:, :2] + self.boxes[:, 2:]) / 2
        middle = (np.abs(centres - (x, y)) <= reach).all(axis=1)
        return self._of(middle | overlapping(self.boxes, (x, y, x, y), 0))

    def _of(self, chosen: Any) -> tuple[float, float] | None:
        if not chosen.any():
            return None
        return float(self.whole[chosen, 0].min()), float(self.whole[chosen, 1].max())

    def in_own_units(self, value: float) -> float:
        """A number of the scale on which more is nearer, as the program says it."""
        return float(np.exp(-value)) if self.metres else value


def objects_and_depth(first: Source, second: Source, limits: Limits) -> Outcome:
    """What is said of boxes, which is in front and how near each is, against a depth program."""
    depth = _Depth(second.program)
    objects = {it.item.p: it for it in _objects(first.program) if it.item.p is not None}
    orders = _order(first, objects, second, depth, limits.tau)
    values = _nearness(first, objects, second, depth, limits.tau)
    return Outcome(orders.compared + values.compared, orders.pairs + values.pairs)


def _order(
    first: Source, objects: dict[Identifier, Place], second: Source, depth: _Depth, tau: float
) -> Outcome:
    related = [
        (relation.subject, relation.object)
        for relation in first.program.relations
        if relation.predicate == "in_front_of"
        and relation.subject in objects
        and relation.object in objects
    ]
    pairs, compared = [], 0
    for a, b in related:
        front, back = objects[a], objects[b]
        near, far = depth.in_middle(front.box), depth.at_centre(back.box)
        if near is None or far is None or _hidden(b, a, objects, set(related)):
            continue
        compared += 1
        if far[0] - near[1] > tau:
            names = _called(front.item), _called(back.item)
            r = _near_numbers(front.item) + _near_numbers(back.item)
            claim = f"{first.name}: {names[0]} in front of {names[1]}"
            denial = f"{second.name}: {names[1]} nearer than {names[0]}"
            ends = depth.in_own_units(far[0]), depth.in_own_units(near[1])
            pairs.append(
                (
                    Statement(front.item.c, r if len(r) == 2 else None, claim, front.item.q),
                    Statement(back.item.c, ends, denial),
                )
            )
    return Outcome(compared, tuple(pairs))


def _called(item: Item) -> str:
    return f"box {item.p}" + (f" ({item.b})" if item.b else "")


def _hidden(
    back: Identifier,
    front: Identifier,
    objects: dict[Identifier, Place],
    related: set[tuple[Identifier, Identifier]],
) -> bool:
    """Whether a third box may cover the centre of `back`, so that its depth is not seen there."""
    x0, y0, x1, y1 = objects[back].box
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    for p, other in objects.items():
        a0, b0, a1, b1 = other.box
        inside = a0 <= x <= a1 and b0 <= y <= b1
        if inside and p not in (front, back) and (back, p) not in related:
            return True
    return False


def _near_numbers(item: Item) -> tuple[float, ...]:
    """The nearness of an object of a scene, the first of its readings."""
    r = item.r
    return (r[0],) if isinstance(r, tuple) and r[0] is not None else ()


def _nearness(
    first: Source, objects: dict[Identifier, Place], second: Source, depth: _Depth, tau: float
) -> Outcome:
    scene = first.program
    if scene.modality != "scene" or not common_scale(scene, second.program):
        return Outcome()
    pairs, compared = [], 0
    for place in objects.values():
        item, seen = place.item, depth.in_middle(place.box)
        numbers = _near_numbers(item)
        if not numbers or seen is None:
            continue
        compared += 1
        value = nearness(numbers, depth.metres)[0]
        if max(seen[0] - value, value - seen[1]) > tau:
            ends = tuple(sorted(map(depth.in_own_units, seen)))
            about = f"{second.name}: cells in the middle of {_called(item)}"
            pairs.append(
                (
                    Statement(item.c, numbers[0], f"{first.name}: {_called(item)}", item.q),
                    Statement(item.c, ends, about),
                )
            )
    return Outcome(compared, tuple(pairs))
