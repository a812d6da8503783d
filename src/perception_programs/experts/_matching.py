"""What the learned matchers share: the size they work at, and the way back to the source pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from ..errors import InputError
from ..geometry import Size
from ..images import RGB, ImageLike, load_image
from ..results import Matches
from ._epipolar import Verification

__all__ = ["View", "at_least", "share", "to_matches"]


@dataclass(frozen=True)
class View:
    """A picture at the size that a network sees it at.

    Attributes:
        image: H×W×3 uint8 RGB, resized.
        source: `(width, height)` of the picture it was made of.
    """

    image: RGB
    source: Size

    @classmethod
    def of(cls, picture: ImageLike, max_side: int, multiple: int = 1, least: int = 1) -> View:
        """A picture with its long side capped and each side a multiple, never enlarged for else.

        Args:
            picture: anything that `load_image` takes.
            max_side: longest side in pixels.
            multiple: what each side is a multiple of; each axis goes to the nearest one.
            least: shortest side in pixels; wins over `max_side`.
        """
        image = load_image(picture)
        height, width = image.shape[:2]
        scale = min(1.0, max_side / max(width, height))
        size = [_side(side * scale, max_side, multiple, least) for side in (width, height)]
        return cls(_resized(image, (size[0], size[1])), (width, height))

    @property
    def size(self) -> Size:
        """`(width, height)` that the network sees."""
        return (self.image.shape[1], self.image.shape[0])


def to_matches(
    points1: Any,
    points2: Any,
    confidence: Any,
    *,
    sources: tuple[Size, Size],
    seen: tuple[Size, Size],
    threshold: float,
    check: Verification,
) -> Matches:
    """Matches in pixels of the source pictures, surest first.

    Args:
        points1: N×2, (x, y) in the first picture as seen; whole numbers are centres of pixels.
        points2: N×2, row by row the partner in the second.
        confidence: N numbers.
        sources: `(width, height)` of the source pictures.
        seen: `(width, height)` of the pictures as the network saw them.
        threshold: confidence below which pairs were dropped.
        check: flags the pairs; it looks at them as seen, the scale that their error is of.
    """
    order = np.argsort(-np.asarray(confidence, np.float32), kind="stable")
    pair = [np.asarray(points, np.float32)[order] for points in (points1, points2)]
    # A cell at the border may be refined to a spot beyond it, which shows nothing.
    inside = np.logical_and(*map(_inside, pair, seen))
    pair = [points[inside] for points in pair]
    here, there = map(_source_pixels, pair, seen, sources)
    return Matches(
        here,
        there,
        np.asarray(confidence, np.float32)[order][inside],
        size1=sources[0],
        size2=sources[1],
        threshold=threshold,
        inliers=check(*pair),
    )


def at_least(value: int, least: int, name: str) -> int:
    """`value` if it is a whole number of at least `least`.

    Raises:
        InputError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name}: expected a whole number of at least {least}, got {value!r}")
    return value


def share(value: float, name: str) -> float:
    """`value` if it is in [0, 1).

    Raises:
        InputError: it is not.
    """
    if not 0 <= value < 1:
        raise InputError(f"{name}: expected a number in [0, 1), got {value!r}")
    return float(value)


def _side(side: float, max_side: int, multiple: int, least: int) -> int:
    steps = min(round(side / multiple), max_side // multiple)
    return max(steps * multiple, least, multiple)


def _resized(image: RGB, size: Size) -> RGB:
    if size == (image.shape[1], image.shape[0]):
        return image
    shrinks = size[0] <= image.shape[1] and size[1] <= image.shape[0]
    method = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, size, interpolation=method), np.uint8)


def _inside(points: Any, size: Size) -> Any:
    return ((points >= -0.5) & (points <= np.subtract(size, 0.5))).all(axis=1)


def _source_pixels(points: Any, seen: Size, source: Size) -> Any:
    """Each axis by its own factor, about the corner of the picture and not the centre of a pixel."""
    factor = np.divide(source, seen).astype(np.float32)
    return (points + np.float32(0.5)) * factor - np.float32(0.5)
