"""Marks with smooth borders: dots and arrows."""

from __future__ import annotations

import functools

from PIL import Image, ImageDraw

from ._colour import DARK, WHITE, Colour

__all__ = ["arrow", "disc", "paste_centred"]

_FINE = 4  # marks are drawn this many times larger and reduced: Pillow's shapes have hard edges


@functools.lru_cache(maxsize=256)
def disc(radius: int, fill: Colour, ring: Colour = WHITE) -> Image.Image:
    """A dot with a ring and a dark edge, with smooth borders."""
    half = radius + 1
    image = Image.new("RGBA", (2 * half * _FINE, 2 * half * _FINE), (*DARK, 0))
    draw = ImageDraw.Draw(image)
    middle, edge, band = half * _FINE, radius * _FINE, max(1.0, radius * 0.28) * _FINE
    for reach, colour in ((edge, DARK), (edge - 0.4 * band, ring), (edge - 1.3 * band, fill)):
        reach = max(reach, 1)
        draw.ellipse(
            (middle - reach, middle - reach, middle + reach, middle + reach), fill=(*colour, 255)
        )
    return image.reduce(_FINE)


@functools.lru_cache(maxsize=64)
def arrow(length: int, thickness: int, direction: str, fill: Colour) -> Image.Image:
    """A block arrow with a dark edge: `left`, `right`, `up` or `down`."""
    edge = max(1, thickness // 13)
    w, h = length + 2 * edge, thickness + 2 * edge
    head = min(0.62 * thickness, 0.55 * length)
    points = [
        (0, thickness / 2), (head, 0), (head, 0.29 * thickness), (length, 0.29 * thickness),
        (length, 0.71 * thickness), (head, 0.71 * thickness), (head, thickness),
    ]  # fmt: skip
    image = Image.new("RGBA", (w * _FINE, h * _FINE), (*DARK, 0))
    shape = [((x + edge) * _FINE, (y + edge) * _FINE) for x, y in points]
    draw = ImageDraw.Draw(image)
    draw.line([*shape, shape[0], shape[1]], (*DARK, 255), 2 * edge * _FINE, joint="curve")
    draw.polygon(shape, (*fill, 255))
    image = image.reduce(_FINE)
    turns = {
        "right": Image.Transpose.ROTATE_180,
        "up": Image.Transpose.ROTATE_270,
        "down": Image.Transpose.ROTATE_90,
    }
    return image.transpose(turns[direction]) if direction in turns else image


def paste_centred(image: Image.Image, mark: Image.Image, place: tuple[float, float]) -> None:
    """Puts a mark with its middle at `place`."""
    corner = round(place[0] - mark.width / 2), round(place[1] - mark.height / 2)
    image.paste(mark, corner, mark if mark.mode == "RGBA" else None)
