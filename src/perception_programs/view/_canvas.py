"""Pictures at a size that can be read, to draw on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from PIL import Image, ImageDraw

from ..errors import InputError
from ..geometry import FRAME, Grid, Size, to_size
from ..images import ImageLike, to_pil
from ._colour import DARK, WHITE, Colour

__all__ = [
    "LONGEST",
    "SHORTEST",
    "Box",
    "Canvas",
    "Pictures",
    "Point",
    "as_box",
    "as_point",
    "fitted_size",
    "gutter",
    "open_row",
]

SHORTEST = 480
"""Pictures with a shorter side than this are enlarged to it, so that text on them can be read."""
LONGEST = 2000
"""No picture, and no row of them, is drawn longer than this."""

Point: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[float, float, float, float]


def as_point(value: object) -> Point | None:
    """`value` as (x, y), or None when it is something else."""
    if not isinstance(value, tuple) or len(value) != 2 or None in value:
        return None
    # A reading may hold any number; what lies outside the frame is drawn at its edge.
    x, y = (min(max(v, 0), FRAME) for v in value)
    return x, y


def as_box(value: object) -> Box | None:
    """`value` as (x0, y0, x1, y1), or None when it is something else."""
    if isinstance(value, tuple) and len(value) == 4:
        return value[0], value[1], value[2], value[3]
    return None


def fitted_size(size: Size, longest: int = LONGEST, shortest: int = SHORTEST) -> Size:
    """The size at which a picture of `size` is drawn: its short side at least `shortest` pixels, but
    its long side at most `longest`.

    >>> fitted_size((64, 64)), fitted_size((6000, 4000)), fitted_size((1920, 1080))
    ((480, 480), (2000, 1333), (1920, 1080))
    """
    factor = min(max(1.0, shortest / min(size)), longest / max(size))
    return max(1, round(size[0] * factor)), max(1, round(size[1] * factor))


class Canvas:
    """A picture to draw on.

    Attributes:
        image: the picture, in RGB, at the size it is drawn.
        source: the size of the picture it was made from.
        text: the size of ordinary text on it, in pixels.
        line: the width of an ordinary line.
    """

    def __init__(self, picture: Image.Image, size: Size, text: int) -> None:
        self.source: Size = picture.size
        # `reducing_gap` averages whole blocks first: quick, and no worse to look at.
        self.image = (
            picture.copy()
            if picture.size == size
            else picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
        )
        self.text = text
        self.line = max(1, round(text / 7))
        self._draw = ImageDraw.Draw(self.image)

    @property
    def size(self) -> Size:
        """Width and height in pixels."""
        return self.image.size

    @property
    def draw(self) -> ImageDraw.ImageDraw:
        """Draws on the picture as it is now."""
        if self._draw.im is not self.image.im:
            self._draw = ImageDraw.Draw(self.image)
        return self._draw

    def at(self, place: Sequence[float]) -> tuple[float, float]:
        """The pixel of a point of the 0-1000 frame."""
        return place[0] * self.size[0] / FRAME, place[1] * self.size[1] / FRAME

    def box(self, corners: Sequence[float]) -> Box:
        """The pixels of a box of the 0-1000 frame."""
        return (*self.at(corners[:2]), *self.at(corners[2:]))

    def cells(self, grid: Grid) -> list[tuple[int, int, int, int]]:
        """The pixels of each cell, where the cells of the source picture come to lie."""
        lines = []
        for count, source, length in zip(
            (grid.cols, grid.rows), self.source, self.size, strict=True
        ):
            edges = np.linspace(0, source, count + 1)
            # A grid finer than the picture has no whole pixels to cut to.
            edges = np.floor(edges) if count <= source else edges
            lines.append(np.rint(edges * length / source).astype(int).tolist())
        xs, ys = lines
        return [
            (x0, y0, x1, y1)
            for y0, y1 in itertools.pairwise(ys)
            for x0, x1 in itertools.pairwise(xs)
        ]

    def mute(self, colour: float = 0.0, contrast: float = 0.6) -> None:
        """Takes colour and contrast from the picture, so that what is drawn on it stands out."""
        grey = self.image.convert("L").convert("RGB")
        image = Image.blend(grey, self.image, colour)
        flat = Image.new("RGB", self.size, (128, 128, 128))
        self.image = Image.blend(flat, image, contrast)

    def tint(
        self,
        boxes: Iterable[tuple[int, int, int, int]],
        colours: Iterable[Colour | None],
        strength: float,
    ) -> None:
        """Washes each box with its colour, and hatches those without one."""
        layer = np.zeros((self.size[1], self.size[0], 3), np.uint8)
        alpha = np.zeros((self.size[1], self.size[0]), np.uint8)
        blank = []
        for box, colour in zip(boxes, colours, strict=True):
            x0, y0, x1, y1 = box
            if colour is None:
                blank.append(box)
            else:
                layer[y0:y1, x0:x1] = colour
                alpha[y0:y1, x0:x1] = round(255 * strength)
        self.image.paste(Image.fromarray(layer), (0, 0), Image.fromarray(alpha))
        self._hatch(blank)

    def _hatch(self, boxes: Sequence[tuple[int, int, int, int]]) -> None:
        if not boxes:
            return
        width, height = self.size
        xs, ys = np.arange(width)[None, :], np.arange(height)[:, None]
        pitch = max(6, round(self.text * 0.6))
        stripes = (xs + ys) % pitch < max(1, pitch // 6)
        inside = np.zeros((height, width), bool)
        for x0, y0, x1, y1 in boxes:
            inside[y0:y1, x0:x1] = True
        mask = ((stripes & inside) * 150).astype(np.uint8)
        self.image.paste(WHITE, (0, 0, width, height), Image.fromarray(mask))

    def shade(self, box: Box, colour: Colour, strength: float) -> None:
        """Washes one box."""
        x0, y0, x1, y1 = (round(v) for v in box)
        if x1 > x0 and y1 > y0:
            mask = Image.new("L", (x1 - x0, y1 - y0), round(255 * strength))
            self.image.paste(colour, (x0, y0, x1, y1), mask)

    def chip(self, box: tuple[int, int, int, int], colour: Colour) -> None:
        """A plain patch with a light and a dark edge, to show on any ground."""
        x0, y0, x1, y1 = box
        if x1 - x0 > 4 and y1 - y0 > 4:
            self.draw.rectangle((x0, y0, x1 - 1, y1 - 1), WHITE, DARK)
            self.draw.rectangle((x0 + 2, y0 + 2, x1 - 3, y1 - 3), colour)

    def rule(self, boxes: Iterable[tuple[int, int, int, int]]) -> None:
        """Hairlines between cells."""
        width = max(1, self.line // 2)
        mask = Image.new("L", self.size)
        pen = ImageDraw.Draw(mask)
        for x0, y0, x1, y1 in boxes:
            if x0:
                pen.line((x0, y0, x0, y1), 120, width)
            if y0:
                pen.line((x0, y0, x1, y0), 120, width)
        self.image.paste(DARK, (0, 0, *self.size), mask)

    def outline(self, box: Box, colour: Colour, width: int | None = None) -> None:
        """A rectangle inside `box`, with a dark line around and within it to show on any ground."""
        width = self.line if width is None else width
        x0, y0, x1, y1 = self._pixels(box)
        edge = max(1, width // 3)
        outer = (x0 - edge, y0 - edge, x1 + edge, y1 + edge)
        self.draw.rectangle(outer, outline=DARK, width=width + 2 * edge)
        self.draw.rectangle((x0, y0, x1, y1), outline=colour, width=width)

    def hairline(self, box: Box, colour: Colour) -> None:
        """A rectangle of one pixel's width, for what is too narrow for a wider one."""
        self.draw.rectangle(self._pixels(box), outline=colour)

    def _pixels(self, box: Box) -> tuple[int, int, int, int]:
        """The first and last pixels of a box, on the picture and at least one each way."""
        x0, y0 = (min(max(round(box[i]), 0), self.size[i] - 1) for i in (0, 1))
        x1, y1 = (min(round(box[i + 2]), self.size[i] - 1) for i in (0, 1))
        return x0, y0, max(x0, x1), max(y0, y1)


def open_row(
    pictures: Sequence[ImageLike], longest: int = LONGEST, shortest: int = SHORTEST
) -> list[Canvas]:
    """Pictures to be shown side by side, at one height; a single one at its fitted size."""
    opened = [to_pil(picture) for picture in pictures]
    fitted = [fitted_size(picture.size, longest, shortest) for picture in opened]
    height = max(size[1] for size in fitted)
    aspects = [picture.width / picture.height for picture in opened]
    room = longest - gutter(longest) * (len(opened) - 1)
    height = max(1, min(height, int(room / sum(aspects))))
    sizes = fitted if len(opened) == 1 else [(max(1, round(a * height)), height) for a in aspects]
    width = sum(size[0] for size in sizes)
    long = max(width, sizes[0][1])
    text = max(15, round(math.sqrt(width * sizes[0][1]) / 44), round(long / 72))
    return [Canvas(p, size, text) for p, size in zip(opened, sizes, strict=True)]


def gutter(width: int) -> int:
    return max(8, width // 125)


def _same_shape(size: tuple[int, int], other: Sequence[int]) -> bool:
    """Whether two sizes have one aspect, but for what rounding to pixels does to a thumbnail."""
    scale = max(size) / max(other)
    return all(abs(a - b * scale) <= max(1.5, 0.01 * a) for a, b in zip(size, other, strict=True))


class Pictures:
    """The pictures a program is drawn on; those that are not known are None."""

    def __init__(
        self, modality: str, known: Sequence[ImageLike], sizes: Sequence[Any] = ()
    ) -> None:
        self.modality = modality
        self.known = list(known)
        self.sizes = sizes

    def get(self, number: int) -> ImageLike:
        """The picture with this number, counted from 0, or None.

        Raises:
            InputError: it has another shape than the picture the program was made from, or what is said
                of that shape is none.
        """
        if number >= len(self.known) or self.known[number] is None:
            return None
        picture = self.known[number] = to_pil(self.known[number])
        said = self.sizes[number] if number < len(self.sizes) else None
        size = None if said is None else to_size(said, f"size in meta of a {self.modality} program")
        if size is not None and not _same_shape(picture.size, size):
            raise InputError(
                f"{self.modality} program: expected a picture of the shape {size[0]}×{size[1]}, which it "
                f"was made from, got {picture.width}×{picture.height}"
            )
        return picture

    def need(self, number: int, what: str = "picture") -> ImageLike:
        """The same, which must be known.

        Raises:
            InputError: it is not; the message says how to give it.
        """
        picture = self.get(number)
        if picture is None:
            name = ("image", "second")[number] if number < 2 else None
            give = f"pass {name}=, or " if name else ""
            raise InputError(
                f"{self.modality} program: the {what} to draw on is not known; {give}give the program "
                "its pictures with program.with_images(...)"
            )
        return picture
