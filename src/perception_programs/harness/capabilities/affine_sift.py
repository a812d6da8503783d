"""SIFT on slanted copies of each picture, for views that differ too much for SIFT as it is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from ..._plain import check_count, plain_number
from ...errors import InputError
from ...experts.base import Card
from ...images import RGB, ImageLike, load_image
from ...results import Matches

__all__ = ["AffineSIFT"]

_CARD = Card(
    name="affine-sift",
    modality="correspondence",
    library="opencv-python-headless",
    licence="Apache-2.0",
    limits="textured, rigid scenes; wrong pairs stay among its own, to be sorted out by a geometry",
)
_CONTRAST = 0.02  # SIFT's own default is 0.04: indoor walls have little
_NEIGHBOURS = 6  # slanted copies find one spot several times; the second best must be another spot
_SAME_SPOT = 4.0  # pixels of the picture as it is searched
_TREES, _CHECKS = 4, 64
_SEED = 0


class AffineSIFT:
    """SIFT keypoints of a picture and of its slanted copies (ASIFT; Morel and Yu, 2009), with RootSIFT
    descriptors (Arandjelović and Zisserman, 2012) and the ratio test.

    Between two far apart views of one room it finds tens of right pairs where SIFT finds none, beside as many
    wrong ones: nothing is sorted out here. Confidence is 1 minus the ratio of the two nearest descriptors'
    distances.

    Args:
        max_side: long side in pixels that larger pictures are reduced to.
        ratio: largest ratio that the first of two neighbours may have.

    Raises:
        InputError: no positive number of pixels, or a ratio outside (0, 1].

    >>> from skimage.data import coins
    >>> matches = AffineSIFT(max_side=200)(coins(), coins()[:, :300])
    >>> bool(np.median(np.abs(matches.points1 - matches.points2)) < 2)
    True
    """

    card = _CARD

    def __init__(self, *, max_side: int = 800, ratio: float = 0.8) -> None:
        self._max_side = check_count(max_side, "max_side")
        if not 0 < plain_number(ratio, "ratio") <= 1:
            raise InputError(f"ratio: expected a number in (0, 1], got {ratio!r}")
        self._ratio = float(ratio)

    def __call__(self, first: ImageLike, second: ImageLike) -> Matches:
        """The pairs of spots, surest first, each spot in one pair at most."""
        images = [load_image(first), load_image(second)]
        sizes = [(image.shape[1], image.shape[0]) for image in images]
        with ThreadPoolExecutor(2) as threads:
            (here, these), (there, those) = threads.map(self._described, images)
        pairs, confidence = self._paired(these, those, there)
        points1, points2 = here[pairs[:, 0]], there[pairs[:, 1]]
        keep = _once(points1, points2, confidence)
        scale1, scale2 = (min(1.0, self._max_side / max(size)) for size in sizes)
        return Matches(
            _inside(points1[keep] / scale1, sizes[0]),
            _inside(points2[keep] / scale2, sizes[1]),
            confidence[keep],
            size1=sizes[0],
            size2=sizes[1],
        )

    def _described(self, image: RGB) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float32]]:
        """Keypoints in pixels of the reduced picture, and their descriptors."""
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        scale = min(1.0, self._max_side / max(grey.shape))
        if scale < 1:
            grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        finder: Any = cv2.AffineFeature.create(cv2.SIFT_create(contrastThreshold=_CONTRAST))
        keypoints, descriptors = finder.detectAndCompute(grey, None)
        if descriptors is None or not len(keypoints):
            return np.empty((0, 2)), np.empty((0, 128), np.float32)
        total = np.maximum(descriptors.sum(axis=1, keepdims=True), 1e-9)
        points = np.array([keypoint.pt for keypoint in keypoints], np.float64)
        return points, np.sqrt(descriptors / total).astype(np.float32)

    def _paired(
        self,
        these: npt.NDArray[np.float32],
        those: npt.NDArray[np.float32],
        there: npt.NDArray[np.float64],
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]:
        """Each spot's nearest among the others, if the nearest at another place is clearly farther."""
        if not len(these) or len(those) < _NEIGHBOURS:
            return np.empty((0, 2), np.intp), np.empty(0, np.float32)
        cv2.setRNGSeed(_SEED)  # the search trees are random; equal pictures are to give equal pairs
        search = cv2.FlannBasedMatcher(
            {"algorithm": 1, "trees": _TREES}, {"checks": _CHECKS, "sorted": True}
        )
        pairs, confidence = [], []
        for found in search.knnMatch(these, those, k=_NEIGHBOURS):
            best = found[0]
            away = (
                other.distance
                for other in found[1:]
                if np.abs(there[other.trainIdx] - there[best.trainIdx]).max() > _SAME_SPOT
            )
            # where all are at one place, the next place is at least as far as the last of them
            ratio = best.distance / max(next(away, found[-1].distance), 1e-9)
            if ratio < self._ratio:
                pairs.append((best.queryIdx, best.trainIdx))
                confidence.append(1 - ratio)
        return np.array(pairs, np.intp).reshape(-1, 2), np.array(confidence, np.float32)


def _once(here: Any, there: Any, confidence: Any) -> list[int]:
    """Indices, surest first, of pairs whose spots neither picture has in a surer one."""
    seen: set[tuple[int, int, int]] = set()
    kept = []
    for index in np.argsort(-confidence, kind="stable"):
        spots = {
            (side, *(points[index] // _SAME_SPOT).astype(int).tolist())
            for side, points in enumerate((here, there))
        }
        if not spots & seen:
            seen |= spots
            kept.append(int(index))
    return kept


def _inside(points: npt.NDArray[np.float64], size: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Spots found on a border, by rounding outside, moved onto it."""
    return np.clip(points, 0, np.array(size) - 1e-3)
