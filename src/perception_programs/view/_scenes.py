"""Scenes: the boxes of objects, how near each is and how it moves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from PIL import Image

from ..program import Item, PerceptionProgram, Reading
from ._canvas import Box, Canvas, Pictures, as_box, open_row
from ._motions import Arrows, Vector
from ._places import colours_of, name_of, paint
from ._sheet import Part, sheet
from ._type import printable, short

__all__ = ["draw_scene"]

_REACH = 5.0  # the longest arrow, in heights of text
_LEAST = 0.5  # pixels: less is within what estimators are off where nothing moves


def draw_scene(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """Boxes with label, number and nearness, an arrow in the middle of each that moves, and beneath what
    the background does. Objects that are parts of others are drawn with them, cells are not.
    """
    canvas = open_row([pictures.need(0)], longest)[0]
    listed = list(_objects(program))
    colours = colours_of(listed)
    named = [replace(item, b=_title(item), r=_near(item.r, program)) for item in listed]
    paint(canvas, named, {_title(item): colours[name_of(item)] for item in listed})
    moving = [(box, v) for item in listed if (box := as_box(item.c)) and (v := _motion(item.r))]
    moving = [(box, v) for box, v in moving if math.hypot(*v) >= _LEAST]
    arrows = Arrows.of((vector for _, vector in moving), _REACH * canvas.text)
    for box, vector in moving:
        arrows.draw(canvas.image, _middle(canvas, box), vector)
    legend: list[Sequence[Part]] = [arrows.legend()] if moving else []
    rest = [item for item in program.items if as_box(item.c) is None]
    legend += [[_told(item, program)] for item in rest]
    return sheet([canvas], [] if program.items else ["no items"], legend)[0]


def _objects(program: PerceptionProgram) -> Iterator[Item]:
    """The objects that have a box, with those that are parts of them."""
    for item in program.items:
        if as_box(item.c):
            yield item
        if item.parts is not None and item.parts.modality == program.modality:
            yield from _objects(item.parts)


def _title(item: Item) -> str:
    """Number and label, since relations name objects by number."""
    return " ".join(str(part) for part in (item.p, item.b) if part is not None)


def _near(reading: Reading, program: PerceptionProgram) -> Reading:
    """What stands for nearness in a reading of `[nearness, u, v]`, or of part of it."""
    if not isinstance(reading, tuple) or len(reading) == 2:
        return None if isinstance(reading, tuple) else reading
    near = reading[0]
    return f"{short(near)} m" if near is not None and program.meta.get("units") == "m" else near


def _motion(reading: Reading) -> Vector | None:
    if not isinstance(reading, tuple) or len(reading) < 2 or None in reading[-2:]:
        return None
    u, v = reading[-2:]
    return float(u or 0), float(v or 0)


def _middle(canvas: Canvas, box: Box) -> tuple[float, float]:
    x0, y0, x1, y1 = canvas.box(box)
    return (x0 + x1) / 2, (y0 + y1) / 2


def _told(item: Item, program: PerceptionProgram) -> str:
    """An item without a box, such as the background, in words."""
    name = printable(item.b if item.b is not None else str(item.p))
    near, vector = _near(item.r, program), _motion(item.r)
    said = [name] if near is None else [f"{name} {short(near)}"]
    return ", ".join(said + ([] if vector is None else [_way(vector)]))


def _way(vector: Vector) -> str:
    """A motion as how far it goes along each axis."""
    words = (("left", "right"), ("up", "down"))
    pairs = zip(vector, words, strict=True)
    said = [f"{short(abs(v))} px {pair[v > 0]}" for v, pair in pairs if abs(v) >= _LEAST]
    return " and ".join(said) or "still"
