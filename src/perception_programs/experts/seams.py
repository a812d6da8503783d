"""The jigsaw scorer: how well a piece continues the picture across its borders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..images import RGB, ImageLike, load_image
from ..results import EdgeScores
from .catalogue import card

__all__ = ["Seams", "colour_similarity", "edge_similarity", "structural_similarity"]

_BINS = (30, 32, 32)  # hue, saturation, value
_FLAT = 1e-6  # gradient variance below which a strip has no edges to compare


class Seams:
    """Structural, colour and edge similarity across the left and top border of a candidate piece.

    The hole is the lower right corner of the image, as large as the candidate. The strip along the
    candidate's left border is compared with the strip left of the hole, that along its top border with
    the strip above.

    Args:
        strip: width of the strips in pixels. Over a few pixels a picture hardly changes; wide strips
            compare things that need not be alike.
    """

    card = card("seams")

    def __init__(self, *, strip: int = 4) -> None:
        if not isinstance(strip, int) or isinstance(strip, bool) or strip < 1:
            raise InputError(f"strip: expected a width of at least 1 pixel, got {strip!r}")
        self._strip = strip

    def __call__(self, image: ImageLike, candidates: Mapping[str, ImageLike]) -> EdgeScores:
        """The three similarities of each candidate's two borders.

        Raises:
            InputError: a candidate that leaves no picture beside the hole, or is thinner than a strip.
        """
        picture = load_image(image)
        scores, sizes = {}, {}
        for name, candidate in candidates.items():
            piece = load_image(candidate)
            self._check(name, picture, piece)
            scores[name] = {edge: self._border(edge, picture, piece) for edge in ("left", "top")}
            sizes[name] = (piece.shape[1], piece.shape[0])
        return EdgeScores(scores, sizes)

    def batch(
        self, images: Iterable[ImageLike], candidates: Iterable[Mapping[str, ImageLike]]
    ) -> list[EdgeScores]:
        """The scores of each image with its candidates."""
        return [self(image, pieces) for image, pieces in zip(images, candidates, strict=True)]

    def _check(self, name: str, picture: RGB, piece: RGB) -> None:
        height, width = picture.shape[:2]
        rows, cols = piece.shape[:2]
        if rows + self._strip > height or cols + self._strip > width:
            raise InputError(
                f"candidate {name!r}: expected a piece that leaves a strip of {self._strip} pixels of the "
                f"{width}×{height} picture on two sides, got {cols}×{rows}"
            )
        if min(rows, cols) < self._strip:
            raise InputError(
                f"candidate {name!r}: expected at least {self._strip} pixels a side, the width of a "
                f"strip, got {cols}×{rows}"
            )

    def _border(self, edge: str, picture: RGB, piece: RGB) -> dict[str, Any]:
        height, width = picture.shape[:2]
        rows, cols = piece.shape[:2]
        top, left, strip = height - rows, width - cols, self._strip
        if edge == "left":
            # Mirrored, so that pixels at the same distance from the border are compared.
            outside, inside = picture[top:, left - strip : left][:, ::-1], piece[:, :strip]
            box = (0, 0, strip, rows)
        else:
            outside, inside = picture[top - strip : top, left:][::-1], piece[:strip]
            box = (0, 0, cols, strip)
        return {
            "structural": structural_similarity(outside, inside),
            "colour": colour_similarity(outside, inside),
            "edge": edge_similarity(outside, inside),
            "box": box,
        }


def structural_similarity(first: RGB, second: RGB) -> float:
    """SSIM of two strips in grey, negative values cut to 0; strips too thin for a window are widened.

    Grey levels are 0-255 throughout, so two strips that are each flat differ by their level alone.
    """
    from skimage import metrics

    ssim: Any = metrics.structural_similarity

    grey = [_grey(strip) for strip in (first, second)]
    window = 3
    pad = [(0, max(0, window - n)) for n in grey[0].shape]
    grey = [np.pad(strip, pad, mode="edge") for strip in grey]
    value = ssim(grey[0], grey[1], data_range=255.0, win_size=window)
    return float(np.clip(value, 0, 1))


def colour_similarity(first: RGB, second: RGB) -> float:
    """1 minus the χ² distance of two HSV histograms: half the sum of (a - b)² / (a + b), in [0, 1]."""
    a, b = (_histogram(strip) for strip in (first, second))
    total = a + b
    difference = np.divide((a - b) ** 2, total, out=np.zeros_like(total), where=total > 0)
    return float(np.clip(1 - difference.sum() / 2, 0, 1))


def edge_similarity(first: RGB, second: RGB) -> float:
    """Normalised cross-correlation of gradient magnitudes, mapped from [-1, 1] to [0, 1].

    Two strips without any edge are alike (1); one with and one without are unrelated (0.5).
    """
    a, b = (_gradient(strip) for strip in (first, second))
    a, b = a - a.mean(), b - b.mean()
    flat = [float((strip**2).mean()) < _FLAT for strip in (a, b)]
    if any(flat):
        return 1.0 if all(flat) else 0.5
    correlation = float((a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum()))
    return float(np.clip((correlation + 1) / 2, 0, 1))


def _grey(strip: RGB) -> npt.NDArray[np.float64]:
    grey = cv2.cvtColor(np.ascontiguousarray(strip), cv2.COLOR_RGB2GRAY)
    return np.asarray(grey, np.float64)


def _histogram(strip: RGB) -> npt.NDArray[np.float64]:
    hsv = cv2.cvtColor(np.ascontiguousarray(strip), cv2.COLOR_RGB2HSV)
    parts = []
    for channel, (bins, top) in enumerate(zip(_BINS, (180, 256, 256), strict=True)):
        counts = cv2.calcHist([hsv], [channel], None, [bins], [0, top]).ravel()
        parts.append(counts / counts.sum() / len(_BINS))
    return np.concatenate(parts).astype(np.float64)


def _gradient(strip: RGB) -> npt.NDArray[np.float64]:
    grey = _grey(strip)
    dx = cv2.Sobel(grey, cv2.CV_64F, 1, 0, borderType=cv2.BORDER_REPLICATE)
    dy = cv2.Sobel(grey, cv2.CV_64F, 0, 1, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(np.hypot(dx, dy))
