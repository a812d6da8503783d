"""Which of the matched points agree with one geometry of the two views."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from ..errors import InputError

__all__ = ["GEOMETRIES", "Verification", "agreeing"]

GEOMETRIES = ("epipolar", "homography")
"""A fundamental matrix, for a scene with depth seen from two places; a homography, for a flat scene
or a camera that only turned, where a fundamental matrix is not determined."""

_MINIMUM = 8  # fewer pairs agree with some geometry whatever they are
_CONFIDENCE, _ROUNDS = 0.999, 10_000


def agreeing(
    points1: Any, points2: Any, *, tolerance: float, geometry: str = "epipolar"
) -> npt.NDArray[np.bool_]:
    """Which pairs agree with the one geometry that most agree on (MAGSAC++, Barath et al., 2020).

    Args:
        points1: N×2, (x, y) in pixels.
        points2: N×2, row by row the partner.
        tolerance: pixels that a pair may lie off.
        geometry: one of `GEOMETRIES`.

    Returns:
        N bool; none when there are too few pairs to tell, or no geometry is found.
    """
    here, there = np.asarray(points1, np.float32), np.asarray(points2, np.float32)
    none = np.zeros(len(here), bool)
    if len(here) < _MINIMUM:
        return none
    if geometry == "homography":
        _, inliers = cv2.findHomography(
            here,
            there,
            cv2.USAC_MAGSAC,
            tolerance,
            maxIters=_ROUNDS,
            confidence=_CONFIDENCE,
        )
    else:
        _, inliers = cv2.findFundamentalMat(
            here, there, cv2.USAC_MAGSAC, tolerance, _CONFIDENCE, _ROUNDS
        )
    return none if inliers is None else np.asarray(inliers).ravel() != 0


class Verification:
    """The two options by which a matcher flags its pairs, checked; call it with the points.

    Args:
        verify: one of `GEOMETRIES`, or None not to look.
        tolerance: pixels that a pair may lie off.

    Raises:
        InputError: no such geometry, or no positive tolerance.
    """

    def __init__(self, verify: str | None, tolerance: float) -> None:
        if verify is not None and verify not in GEOMETRIES:
            raise InputError(
                f"verify: expected {', '.join(map(repr, GEOMETRIES))} or None, got {verify!r}"
            )
        if not tolerance > 0:
            raise InputError(f"tolerance: expected a positive number of pixels, got {tolerance!r}")
        self._verify, self._tolerance = verify, float(tolerance)

    def __call__(self, points1: Any, points2: Any) -> npt.NDArray[np.bool_] | None:
        """N bool, or None when it is not to look."""
        if self._verify is None:
            return None
        return agreeing(points1, points2, tolerance=self._tolerance, geometry=self._verify)
