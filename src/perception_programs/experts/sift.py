"""Sparse matching with SIFT, which needs no learned model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..geometry import Size
from ..images import RGB, ImageLike, load_image
from ..results import Matches
from ._epipolar import agreeing
from .catalogue import card

__all__ = ["SIFT"]


class SIFT:
    """SIFT keypoints, the ratio test both ways, and a check by epipolar geometry (MAGSAC).

    Confidence is 1 minus the ratio of the nearest to the second-nearest descriptor's distance.

    Args:
        ratio: largest ratio that the first of two neighbours may have (Lowe, 2004).
        tolerance: pixels a pair may lie off the epipolar geometry that most pairs agree on.
        max_keypoints: strongest keypoints kept in each image.
    """

    card = card("sift")

    def __init__(
        self, *, ratio: float = 0.75, tolerance: float = 2.0, max_keypoints: int = 8000
    ) -> None:
        if not 0 < ratio <= 1:
            raise InputError(f"ratio: expected a number in (0, 1], got {ratio!r}")
        if not tolerance > 0:
            raise InputError(f"tolerance: expected a positive number of pixels, got {tolerance!r}")
        if not max_keypoints >= 1:
            raise InputError(f"max_keypoints: expected at least 1, got {max_keypoints!r}")
        self._ratio, self._tolerance = ratio, tolerance
        self._max_keypoints = int(max_keypoints)

    def __call__(self, first: ImageLike, second: ImageLike) -> Matches:
        """The pairs of points that agree, surest first; none is a result too."""
        images = [load_image(first), load_image(second)]
        sizes: list[Size] = [(image.shape[1], image.shape[0]) for image in images]
        points, descriptors = zip(*(self._describe(image) for image in images), strict=True)
        pairs, confidence = self._mutual(*descriptors)
        here, there = points[0][pairs[:, 0]], points[1][pairs[:, 1]]
        keep = _distinct(here, there, confidence)
        here, there, confidence = here[keep], there[keep], confidence[keep]
        agree = agreeing(here, there, tolerance=self._tolerance)
        return Matches(
            here[agree],
            there[agree],
            confidence[agree],
            size1=sizes[0],
            size2=sizes[1],
            inliers=agree[agree],
        )

    def batch(self, firsts: Iterable[ImageLike], seconds: Iterable[ImageLike]) -> list[Matches]:
        """The matches of each pair of images."""
        return [self(a, b) for a, b in zip(firsts, seconds, strict=True)]

    def _describe(self, image: RGB) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        detector = cv2.SIFT_create(nfeatures=self._max_keypoints)
        keypoints, descriptors = detector.detectAndCompute(grey, None)
        if descriptors is None or len(keypoints) == 0:
            return np.empty((0, 2), np.float32), np.empty((0, 128), np.float32)
        return np.array([k.pt for k in keypoints], np.float32), np.asarray(descriptors, np.float32)

    def _mutual(self, here: Any, there: Any) -> tuple[Any, npt.NDArray[np.float32]]:
        """Pairs that are each other's nearest and pass the ratio test, with their confidence."""
        if len(here) < 2 or len(there) < 2:
            return np.empty((0, 2), np.intp), np.empty(0, np.float32)
        matcher = cv2.BFMatcher(cv2.NORM_L2)
        back = {m.queryIdx: m.trainIdx for (m, *_) in matcher.knnMatch(there, here, k=1)}
        pairs, confidence = [], []
        for best, other in matcher.knnMatch(here, there, k=2):
            ratio = best.distance / other.distance if other.distance > 0 else 1.0
            if ratio < self._ratio and back.get(best.trainIdx) == best.queryIdx:
                pairs.append((best.queryIdx, best.trainIdx))
                confidence.append(1 - ratio)
        return np.array(pairs, np.intp).reshape(-1, 2), np.array(confidence, np.float32)


def _distinct(here: Any, there: Any, confidence: Any) -> Any:
    """Indices, surest first, without pairs that stand at one spot (SIFT gives one for each angle)."""
    order = np.argsort(-confidence, kind="stable")
    spots = np.round(np.concatenate([here, there], axis=1)[order], 1)
    _, first = np.unique(spots, axis=0, return_index=True)
    return order[np.sort(first)]
