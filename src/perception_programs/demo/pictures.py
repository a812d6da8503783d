"""The pictures of the demo: those that scikit-image ships, and what is drawn on or cut from them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from ..errors import ToolError
from ..images import RGB, load_image

__all__ = [
    "Pair",
    "grey_levels",
    "marked",
    "motorcycle",
    "shipped",
    "shipped_path",
    "without_corner",
]

Place = tuple[float, float]

_RING_RADIUS = 9
_RING_WIDTH = 4


def shipped_path(name: str) -> Path:
    """A data file of the installed scikit-image.

    Not `skimage.data`, which would download what a build lacks.

    Raises:
        ToolError: this scikit-image lacks it.
    """
    import skimage

    file = Path(skimage.__file__).parent / "data" / name
    if not file.is_file():
        raise ToolError(f"demo: the installed scikit-image comes without {name!r}")
    return file


@functools.lru_cache(maxsize=8)
def shipped(name: str) -> RGB:
    """A picture of the installed scikit-image."""
    return load_image(shipped_path(name))


@dataclass(frozen=True, eq=False)
class Pair:
    """A rectified stereo pair with its measured disparity: a pixel (x, y) of the left picture is at
    (x - disparity, y) in the right one.
    """

    left: RGB
    right: RGB
    disparity: npt.NDArray[np.float32]
    """NaN where it was not measured."""

    @property
    def size(self) -> tuple[int, int]:
        """`(width, height)` of both pictures."""
        return self.left.shape[1], self.left.shape[0]

    def partner(self, x: float, y: float) -> Place | None:
        """Where a pixel of the left picture is in the right one, if that was measured."""
        column, row = (min(max(round(v), 0), n - 1) for v, n in zip((x, y), self.size, strict=True))
        shift = float(self.disparity[row, column])
        return (x - shift, y) if np.isfinite(shift) else None


@functools.lru_cache(maxsize=1)
def motorcycle() -> Pair:
    """The motorcycle of the Middlebury stereo benchmark of 2014."""
    with np.load(shipped_path("motorcycle_disp.npz")) as data:
        disparity = data["arr_0"].astype(np.float32)
    disparity[~np.isfinite(disparity)] = np.nan
    return Pair(shipped("motorcycle_left.png"), shipped("motorcycle_right.png"), disparity)


def grey_levels(values: npt.NDArray[Any]) -> RGB:
    """A map as a picture, from its lowest (black) to its highest value; what is unknown is black."""
    low, high = np.nanmin(values), np.nanmax(values)
    levels = np.nan_to_num((values - low) / (high - low))
    return load_image(np.rint(255 * levels).astype(np.uint8))


def without_corner(picture: RGB, side: int) -> tuple[RGB, RGB]:
    """The picture with its lower right corner, a square, blackened; and that corner."""
    holed = picture.copy()
    holed[-side:, -side:] = 0
    return holed, picture[-side:, -side:].copy()


def marked(picture: RGB, places: dict[str, Place]) -> RGB:
    """The picture with a red ring at each place and its letter, white on a black tag, above it."""
    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=18)
    for letter, (x, y) in places.items():
        reach = _RING_RADIUS + _RING_WIDTH / 2
        draw.ellipse((x - reach, y - reach, x + reach, y + reach), outline="red", width=_RING_WIDTH)
        x0, y0, x1, y1 = draw.textbbox((x, y - reach - 4), letter, font=font, anchor="mb")
        draw.rectangle((x0 - 4, y0 - 4, x1 + 3, y1 + 3), fill="black")
        draw.text((x, y - reach - 4), letter, fill="white", font=font, anchor="mb")
    return np.asarray(image)
