"""Name tags that keep off each other and inside the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ._canvas import Box, Canvas
from ._colour import Colour, ink_on
from ._type import measure, write

__all__ = ["Tag", "draw_tags"]


@dataclass(frozen=True)
class Tag:
    """A tag for the thing at `anchor`: its text, a shorter one for crowded places, and its colour."""

    anchor: Box
    text: str
    brief: str
    colour: Colour
    inside: bool = True
    """Whether the tag may lie on the thing itself, as on a box but not on a dot."""


def draw_tags(
    canvas: Canvas, tags: Sequence[Tag], size: int, obstacles: Sequence[Box] = ()
) -> None:
    """Draws the tags, the first ones where they like best and the others where there is room.

    Each avoids the tags before it and the `obstacles`. One that finds no room with its full text
    takes its brief one, and if that has none either, the place where it hides least.
    """
    taken = [*obstacles]
    for tag in tags:
        spot, text = _place(canvas, tag, size, taken)
        taken.append(spot)
        x0, y0, x1, y1 = spot
        canvas.draw.rectangle((x0, y0, x1 - 1, y1 - 1), fill=tag.colour)
        middle = ((x0 + x1) / 2, (y0 + y1) / 2)
        write(canvas.draw, middle, text, size, ink=ink_on(tag.colour), halo=None)


def _place(canvas: Canvas, tag: Tag, size: int, taken: Sequence[Box]) -> tuple[Box, str]:
    best: tuple[float, Box, str] | None = None
    blocks = np.array(taken, np.float64).reshape(-1, 4)
    for text in dict.fromkeys((tag.text, tag.brief)):
        width = measure(text, size)[0] + round(0.6 * size)
        height = round(1.3 * size)
        spots = _spots(tag, width, height, canvas.size)
        hidden = _overlap(spots, blocks) / (width * height)
        # The order of the spots is the order of liking; it breaks ties between free ones.
        order = hidden + np.arange(len(spots)) * 1e-6
        number = int(np.argmin(order))
        x0, y0, x1, y1 = spots[number].tolist()
        if hidden[number] < 0.02:
            return (x0, y0, x1, y1), text
        if best is None or hidden[number] < best[0]:
            best = (float(hidden[number]), (x0, y0, x1, y1), text)
    assert best is not None
    return best[1], best[2]


def _spots(tag: Tag, width: int, height: int, limits: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Places for a tag around its anchor, best first, moved into the picture."""
    x0, y0, x1, y1 = (round(v) for v in tag.anchor)
    rows = [y0 - height, y0, y1 - height, y1] if tag.inside else [y0 - height, y1]
    slides = [x0, x1 - width, (x0 + x1 - width) // 2]
    corners = [(x, y) for y in rows for x in slides]
    if not tag.inside:  # a dot's name reads best beside it
        middle = (y0 + y1 - height) // 2
        corners = [(x1, middle), (x0 - width, middle), *corners]
        corners += [(x, y) for y in rows for x in (x1, x0 - width)]
    step = max(2, height // 3)
    corners += [(x, y) for y in range(y0, y1 - height, step) for x in slides[:2]][:60]
    corners += [(x, y0 - height) for x in range(x0, x1 - width, 2 * step)][:60]
    for ring in (1, 2, 3):  # a little way off is better than on top of another
        reach_x, reach_y = ring * width // 2, ring * height
        corners += [
            (slides[2] + dx, (y0 + y1 - height) // 2 + dy)
            for dy in (-reach_y, 0, reach_y)
            for dx in (reach_x, -reach_x, 0)
        ]
    spots = np.array(corners, np.float64)
    spots[:, 0] = np.clip(spots[:, 0], 0, max(limits[0] - width, 0))
    spots[:, 1] = np.clip(spots[:, 1], 0, max(limits[1] - height, 0))
    return np.hstack([spots, spots + np.array([width, height])])


def _overlap(
    spots: npt.NDArray[np.float64], blocks: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """How much of each spot the blocks cover, in square pixels."""
    if not len(blocks):
        return np.zeros(len(spots))
    low = np.maximum(spots[:, None, :2], blocks[None, :, :2])
    high = np.minimum(spots[:, None, 2:], blocks[None, :, 2:])
    sides = np.clip(high - low, 0, None)
    return np.asarray((sides[..., 0] * sides[..., 1]).sum(axis=1))
