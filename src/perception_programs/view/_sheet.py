"""Sheets: canvases side by side, with captions and a legend beneath."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw

from ._canvas import Canvas, gutter
from ._colour import Colour, Ramp
from ._marks import paste_centred
from ._type import measure, printable, write

__all__ = ["Part", "cut", "ramp_bar", "sheet", "swatch"]

Part: TypeAlias = str | Image.Image
"""A word or a mark of a legend."""

_PAPER: Colour = (255, 255, 255)
_INK: Colour = (32, 36, 42)
_MOST_LINES = 4


def sheet(
    canvases: Sequence[Canvas], captions: Sequence[str] = (), legend: Sequence[Sequence[Part]] = ()
) -> tuple[Image.Image, list[int]]:
    """Canvases side by side, each with its caption beneath, and a legend under all.

    Returns:
        The sheet, and the x at which each canvas begins; they all begin at y = 0.
    """
    text = canvases[0].text
    gap = gutter(sum(c.size[0] for c in canvases)) if len(canvases) > 1 else 0
    width = sum(c.size[0] for c in canvases) + gap * (len(canvases) - 1)
    strip = _legend(legend, width, text)
    below = round(1.7 * text) if any(captions) else 0
    top = max(c.size[1] for c in canvases)
    image = Image.new("RGB", (width, top + below + (strip.height if strip else 0)), _PAPER)
    draw, starts, x = ImageDraw.Draw(image), [], 0
    for number, canvas in enumerate(canvases):
        image.paste(canvas.image, (x, 0))
        caption = captions[number] if number < len(captions) else ""
        place = (x + text / 2, top + below / 2)
        write(
            draw, place, cut(caption, text, canvas.size[0]), text, anchor="lm", ink=_INK, halo=None
        )
        starts.append(x)
        x += canvas.size[0] + gap
    if strip:
        image.paste(strip, (0, top + below))
    return image, starts


def cut(text: str, size: int, width: float) -> str:
    """The text as one printable line that is no wider than `width`."""
    line = printable(text, 200)
    while line and measure(line, size)[0] > width - size:
        line = line[:-2].rstrip() + "…" if len(line) > 2 else ""
    return line


def _legend(groups: Sequence[Sequence[Part]], width: int, text: int) -> Image.Image | None:
    """Groups of words and swatches in as many lines as they need, a group never broken."""
    lines: list[list[Sequence[Part]]] = [[]]
    used = 0.0
    for number, group in enumerate(groups):
        length, last = _length(group, text), len(lines) == _MOST_LINES
        # The last line keeps room to say how much is left out.
        room = width - text - (8 * text if last and number < len(groups) - 1 else 0)
        if lines[-1] and used + length > room:
            if last:
                lines[-1].append([f"… {len(groups) - number} more"])
                break
            lines.append([])
            used = 0.0
        lines[-1].append(group)
        used += length + 1.4 * text
    if not lines[0]:
        return None
    pitch = round(1.7 * text)
    strip = Image.new("RGB", (width, pitch * len(lines) + text // 3), _PAPER)
    draw = ImageDraw.Draw(strip)
    for row, line in enumerate(lines):
        x, y = text / 2, (row + 0.5) * pitch
        for group in line:
            for part in group:
                if isinstance(part, str):
                    words = cut(part, text, max(width - x, 0))
                    write(draw, (x, y), words, text, anchor="lm", ink=_INK, halo=None)
                    x += measure(words, text)[0] + text / 2
                else:
                    paste_centred(strip, part, (x + part.width / 2, y))
                    x += part.width + text / 2
            x += 0.9 * text
    return strip


def _length(group: Sequence[Part], text: int) -> float:
    widths = (measure(printable(p, 200), text)[0] if isinstance(p, str) else p.width for p in group)
    return sum(w + text / 2 for w in widths)


def swatch(colour: Colour, text: int) -> Image.Image:
    """A square of colour for a legend."""
    side = max(8, round(0.85 * text))
    image = Image.new("RGB", (side, side), _INK)
    image.paste(colour, (1, 1, side - 1, side - 1))
    return image


def ramp_bar(ramp: Ramp, text: int, wash: float = 1.0) -> Image.Image:
    """A ramp for a legend, low to high, as strong as it is washed over a grey picture."""
    width, height = 8 * text, max(8, round(0.85 * text))
    levels = np.array([ramp(x / (width - 1)) for x in range(width)], np.float64)
    levels = wash * levels + (1 - wash) * 128
    return Image.fromarray(np.repeat(levels[None].astype(np.uint8), height, axis=0))
