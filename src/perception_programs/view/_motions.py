"""Motion as arrows of its own direction and length."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from PIL import Image, ImageDraw

from ..program import Item, PerceptionProgram, Reading
from ._canvas import Box, Canvas, Pictures
from ._cells import Tiers, asked_points, cells_of, inner, open_grids, write_cells
from ._colour import DARK, LEFT, RIGHT, Colour, category
from ._marks import disc, paste_centred
from ._places import mark_asked
from ._sheet import Part, sheet
from ._type import printable, short

__all__ = ["DIRECTIONS", "Arrows", "Vector", "draw_motion", "vector_of"]

Vector: TypeAlias = tuple[float, float]
"""To the right and down, in pixels of the source image."""

DIRECTIONS: dict[str, Colour] = {
    "left": LEFT,
    "right": RIGHT,
    "up": category(2),
    "down": category(5),
}
"""The colour of each direction."""

_FINE = 4  # arrows are drawn this many times larger and reduced: Pillow's lines have hard edges
_STILL = "still"
_PLAIN: Colour = (160, 160, 160)
_SHORTEST = 0.25  # of the longest arrow: a shorter one would be all head


def vector_of(reading: Reading) -> Vector | None:
    """The motion in a flow reading (u, v, magnitude), or None."""
    if not isinstance(reading, tuple) or len(reading) != 3:
        return None
    u, v, _ = reading
    return None if u is None or v is None else (float(u), float(v))


@dataclass(frozen=True)
class Arrows:
    """Arrows that are all to one scale.

    Attributes:
        longest: the longest motion, in pixels of the source image.
        reach: how long it is drawn.
        thick: how thick its line is.
    """

    longest: float
    reach: float
    thick: int

    @classmethod
    def of(cls, vectors: Iterable[Vector], reach: float) -> Arrows:
        """Arrows of which the longest is `reach` pixels long."""
        # Numbers so large that their squares overflow are drawn as the largest that do not.
        longest = max((min(math.hypot(*v), 1e150) for v in vectors), default=0.0)
        return cls(longest, reach, max(2, round(reach / 12)))

    def draw(self, image: Image.Image, middle: tuple[float, float], vector: Vector) -> None:
        """The arrow of a motion, with its middle at a place; a dot where nothing moves."""
        drawn = self._length(vector)
        if drawn:
            paste_centred(image, _arrow(drawn, self.thick, vector, _colour(vector)), middle)
        else:
            paste_centred(image, disc(max(3, self.thick), _PLAIN), middle)

    def draw_from(self, image: Image.Image, start: tuple[float, float], vector: Vector) -> Box:
        """The arrow of a motion that begins at a place, and where it lies; none where nothing moves."""
        (x, y), drawn = start, self._length(vector)
        if not drawn:
            return x, y, x, y
        dx, dy = (drawn * v / math.hypot(*vector) for v in vector)
        mark = _arrow(drawn, self.thick, vector, _colour(vector))
        paste_centred(image, mark, (x + dx / 2, y + dy / 2))
        half = 1.5 * self.thick
        return (
            *(min(x, x + dx) - half, min(y, y + dy) - half),
            *(max(x, x + dx) + half, max(y, y + dy) + half),
        )

    def _length(self, vector: Vector) -> float:
        length = math.hypot(*vector)
        if length == 0 or self.longest == 0 or self.reach < 6:
            return 0.0
        return self.reach * max(min(length / self.longest, 1.0), _SHORTEST)

    def legend(self) -> list[Part]:
        """The longest arrow and what it stands for."""
        mark = _arrow(self.reach, self.thick, (1.0, 0.0), _PLAIN)
        return [mark, f"{short(self.longest)} px, the longest motion"]


def _colour(vector: Vector) -> Colour:
    u, v = vector
    if abs(u) >= abs(v):
        return DIRECTIONS["left" if u < 0 else "right"]
    return DIRECTIONS["up" if v < 0 else "down"]


def _arrow(length: float, thick: int, vector: Vector, colour: Colour) -> Image.Image:
    """An arrow with a dark edge on a transparent ground, with smooth borders."""
    size = math.hypot(*vector)
    along = vector[0] / size, vector[1] / size
    across = -along[1], along[0]
    head = min(3.2 * thick, 0.6 * length)
    side = 2 * (math.ceil(length / 2) + 3 * thick)
    image = Image.new("RGBA", (side * _FINE, side * _FINE), (*DARK, 0))
    pen = ImageDraw.Draw(image)

    def at(forward: float, aside: float) -> tuple[float, float]:
        x, y = (side / 2 + forward * a + aside * b for a, b in zip(along, across, strict=True))
        return x * _FINE, y * _FINE

    tip, neck, tail = length / 2, length / 2 - head, -length / 2
    half, wing = thick / 2, 0.55 * head
    shape = [
        *(at(tail, half), at(neck, half), at(neck, wing), at(tip, 0.0)),
        *(at(neck, -wing), at(neck, -half), at(tail, -half)),
    ]
    edge = max(1, round(thick / 3)) * 2 * _FINE
    pen.line([*shape, shape[0], shape[1]], (*DARK, 255), edge, joint="curve")
    pen.polygon(shape, (*colour, 255))
    return image.reduce(_FINE)


def draw_motion(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """An arrow in each cell, as it moves, and a dot where it is still; points with how far they go."""
    canvas = open_grids(program, [pictures.need(0)], longest)[0]
    points = asked_points(program)
    vectors = {id(item): v for item in program.items if (v := vector_of(item.r)) is not None}
    reach, counts = 4.0 * canvas.text, Counter[str]()
    if program.grid is not None:
        canvas.mute(colour=0.25, contrast=0.75)
        reach, counts = _draw_cells(canvas, program, vectors)
    arrows = Arrows.of(vectors.values(), reach)
    drawn = []
    if program.grid is None:  # where there are cells, theirs show what moves at the points
        drawn = [
            arrows.draw_from(canvas.image, _start(canvas, item), vectors[id(item)])
            for item in points
            if id(item) in vectors
        ]
    mark_asked(canvas, [replace(item, r=_far(item.r)) for item in points], drawn)
    legend: list[Sequence[Part]] = [arrows.legend()]
    legend += [[f"{name} {count}"] for name, count in counts.most_common()]
    return sheet([canvas], legend=legend)[0]


def _draw_cells(
    canvas: Canvas, program: PerceptionProgram, vectors: dict[int, Vector]
) -> tuple[float, Counter[str]]:
    """The cells' arrows; how long the longest is, and how many cells have none, by what they read."""
    boxes, items = cells_of(canvas, program)
    moving = [None if item is None else vectors.get(id(item)) for item in items]
    known = [item is not None and item.r is not None for item in items]
    canvas.tint(boxes, [(128, 128, 128) if k else None for k in known], 0.0)
    canvas.rule(boxes)
    width, height = (min(box[i + 2] - box[i] for box in boxes) for i in (0, 1))
    named = any(item is not None and item.b for item in items)
    part = 0.6 if named else 1.0  # a label goes beneath
    reach = min(0.82 * min(width, part * height), 8.0 * canvas.text)
    arrows = Arrows.of(vectors.values(), reach)
    words: list[Tiers] = []
    counts = Counter[str]()
    for box, item, vector in zip(boxes, items, moving, strict=True):
        spot = (box[0] + box[2]) / 2, box[1] + part * (box[3] - box[1]) / 2
        reading = None if item is None else item.r
        if vector is not None or reading == _STILL:
            arrows.draw(canvas.image, spot, vector or (0.0, 0.0))
        if item is not None and vector is None:
            counts["not read" if reading is None else printable(str(reading))] += 1
        words.append(
            [[[printable(reading)]]] if isinstance(reading, str) and reading != _STILL else []
        )
    write_cells(canvas, boxes, words)
    labels = [[[[printable(i.b, 14)]], [[printable(i.b, 7)]]] if i and i.b else [] for i in items]
    write_cells(canvas, [inner(box, 0, 0.56, 1, 1) for box in boxes], labels)
    return reach, counts


def _start(canvas: Canvas, item: Item) -> tuple[float, float]:
    c = item.c
    return canvas.at(c) if isinstance(c, tuple) else (0.0, 0.0)


def _far(reading: Reading) -> Reading:
    """How far something moves, in words."""
    vector = vector_of(reading)
    return reading if vector is None else f"{short(math.hypot(*vector))} px"
