"""Answers read from programs by rule, without a language model: a test of the evidence.

Each rule is a pure function from programs to an option letter, or None where the programs do not
decide: an exact tie, or a reading that is missing, is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError
from ..geometry import FRAME
from ..program import Item, PerceptionProgram, numbers_in

__all__ = [
    "jigsaw",
    "localisation",
    "multi_view",
    "naive_correspondence",
    "relative_depth",
    "semantic",
    "visual_correspondence",
]

_LEFT_RIGHT = {"left": "A", "right": "B"}


def relative_depth(points: PerceptionProgram, depth: PerceptionProgram) -> str | None:
    """The letter of the point nearest the camera.

    Each point takes the item of `depth` that has its letter for p, if there is one; else the smallest
    cell whose box holds it; else the cell whose centre is nearest to it. A cell says the middle of its
    range, or its median where it has one; the largest is nearest the camera.
    """
    _expect(points, "point-detection")
    _expect(depth, "depth")
    asked = {item.p: item for item in depth.items if _is_point(item)}
    cells = [item for item in depth.items if not _is_point(item)]
    nearness: dict[str, float | None] = {}
    for letter, place in _lettered(points).items():
        found = asked.get(letter) or _holding(cells, place) or _nearest(cells, place)
        nearness[letter] = None if found is None else _middle(found)
    return _largest(nearness)


def multi_view(flow: PerceptionProgram, options: Mapping[str, str] = _LEFT_RIGHT) -> str | None:
    """The option of the direction that most cells read; `options` maps left and right to letters.

    Points that were asked about have no vote beside cells; a mean motion votes by the sign of its u.
    """
    _expect(flow, "flow")
    cells = [item for item in flow.items if flow.grid is None or not _is_point(item)]
    read = [_side(item) for item in cells]
    votes = {side: read.count(side) for side in ("left", "right")}
    side = _largest(votes)
    return None if side is None or not votes[side] else options.get(side)


def jigsaw(program: PerceptionProgram) -> str | None:
    """The candidate whose borders fit better, by the mean of their readings."""
    _expect(program, "jigsaw")
    readings: dict[str, list[Any]] = {}
    for item in program.items:
        if item.i is not None:
            readings.setdefault(item.i, []).append(item.r)
    means = {name: _mean(values) for name, values in readings.items()}
    return _largest(means)


def semantic(program: PerceptionProgram) -> str | None:
    """The candidate with the largest similarity."""
    _expect(program, "semantic")
    return _largest({str(item.p): _number(item.r) for item in program.items})


def visual_correspondence(
    reference: PerceptionProgram, matches: PerceptionProgram, options: PerceptionProgram
) -> str | None:
    """The option where the match nearest to the reference point lands.

    Args:
        reference: the one point of the first image.
        matches: the correspondence program of the two images.
        options: the lettered points of the second image.
    """
    _expect(matches, "correspondence")
    place = _only_point(reference)
    pairs = [
        (item.c, end)
        for item in matches.items
        if isinstance(item.c, tuple) and len(end := numbers_in(item.r)) == 2
    ]
    nearest = min((math.dist(c, place) for c, _ in pairs), default=None)
    landings = {_nearest_option(options, r) for c, r in pairs if math.dist(c, place) == nearest}
    # Matches that start equally near must agree.
    return landings.pop() if len(landings) == 1 else None


def naive_correspondence(reference: PerceptionProgram, options: PerceptionProgram) -> str | None:
    """The option whose coordinate is nearest to the reference point's own: right if nothing moved."""
    return _nearest_option(options, _only_point(reference))


def localisation(boxes: PerceptionProgram, detections: PerceptionProgram, label: str) -> str | None:
    """The lettered box that overlaps most (IoU) with the surest detection of what is asked for."""
    _expect(boxes, "point-detection")
    _expect(detections, "object-detection")
    if not isinstance(label, str):
        raise InputError(f"label: expected a string, got {label!r}")
    options = _lettered(boxes, 4)
    asked = label.strip().casefold()
    found = [item for item in detections.items if (item.b or "").strip().casefold() == asked]
    surest = _largest({str(n): _number(item.r) for n, item in enumerate(found)})
    if surest is None:
        return None
    target = found[int(surest)].c
    if not isinstance(target, tuple) or len(target) != 4:
        raise InputError(f"reader: expected detections with boxes, got c {target!r}")
    overlaps = {letter: _iou(place, target) for letter, place in options.items()}
    return None if not any(overlaps.values()) else _largest(overlaps)


def _expect(program: PerceptionProgram, modality: str) -> None:
    if program.modality != modality:
        raise InputError(f"reader: expected a {modality} program, got {program.modality!r}")


def _lettered(program: PerceptionProgram, numbers: int = 2) -> dict[str, tuple[int, ...]]:
    """Each letter's point, or its box when `numbers` is 4."""
    places: dict[str, tuple[int, ...]] = {}
    for item in program.items:
        if item.b is None or not isinstance(item.c, tuple):
            continue
        if item.b in places:
            raise InputError(f"reader: expected each letter once, got {item.b!r} twice")
        if len(item.c) != numbers:
            what = "boxes" if numbers == 4 else "points"
            raise InputError(f"reader: expected {what}, got c {list(item.c)} for {item.b!r}")
        places[item.b] = item.c
    return places


def _only_point(program: PerceptionProgram) -> tuple[int, ...]:
    _expect(program, "point-detection")
    places = [item.c for item in program.items if isinstance(item.c, tuple)]
    if len(places) != 1 or len(places[0]) != 2:
        raise InputError(f"reader: expected one reference point, got {len(places)}: {places}")
    return places[0]


def _nearest_option(options: PerceptionProgram, place: Sequence[float]) -> str | None:
    _expect(options, "point-detection")
    return _largest(
        {letter: -math.dist(place, where) for letter, where in _lettered(options).items()}
    )


def _nearest(items: Sequence[Item], place: Sequence[float]) -> Item | None:
    """The item nearest to `place`; of equally near ones the first, cells being named in order."""
    placed = [item for item in items if isinstance(item.c, tuple) and len(item.c) == len(place)]
    return min(placed, key=lambda item: math.dist(item.c, place), default=None)  # type: ignore[arg-type]


def _is_point(item: Item) -> bool:
    """Whether an item is a point that was asked about, and no cell."""
    return isinstance(item.p, str) and isinstance(item.c, tuple) and len(item.c) == 2


def _holding(cells: Sequence[Item], place: Sequence[int]) -> Item | None:
    """The smallest cell whose box holds `place`: its upper and left side do, the others only at 1000."""
    x, y = place
    holding = {}
    for cell in cells:
        if not isinstance(cell.c, tuple) or len(cell.c) != 4:
            continue
        x0, y0, x1, y1 = cell.c
        if x0 <= x < x1 + (x1 == FRAME) and y0 <= y < y1 + (y1 == FRAME):
            holding[(x1 - x0) * (y1 - y0)] = cell
    return holding[min(holding)] if holding else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _side(cell: Item) -> str | None:
    if isinstance(cell.r, str):
        return cell.r
    motion = numbers_in(cell.r)
    return None if not motion else "left" if motion[0] < 0 else "right"


def _middle(cell: Item) -> float | None:
    if not isinstance(cell.r, tuple):
        return _number(cell.r)
    return _number(cell.r[1]) if len(cell.r) == 3 else _mean(cell.r)  # lowest, median, highest


def _mean(values: Sequence[Any]) -> float | None:
    numbers = [_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(numbers) else None


def _iou(first: Any, second: Any) -> float:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (first, second))
    return float(width * height / (areas - width * height))


def _largest(values: Mapping[str, float | None]) -> str | None:
    """The key of the largest value; None on a tie, a missing value, or nothing at all."""
    if not values or any(value is None for value in values.values()):
        return None
    ranked = sorted(values, key=lambda key: values[key] or 0.0, reverse=True)
    if len(ranked) > 1 and values[ranked[0]] == values[ranked[1]]:
        return None
    return ranked[0]
