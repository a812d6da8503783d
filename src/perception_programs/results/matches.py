"""Point correspondences between two images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import describe, read_only, to_numpy
from ..errors import InputError
from ..geometry import Size, to_size
from ._check import UNSET, Result, check_threshold, coordinates, vector
from ._pipelines import match_output, read_matches

__all__ = ["Matches"]


@dataclass(frozen=True, eq=False)
class Matches(Result):
    """Pairs of points that show the same spot in two images.

    Attributes:
        points1: N×2 float32, (x, y) in pixels of the first image.
        points2: N×2 float32, (x, y) in pixels of the second image, row by row the partner.
        confidence: N float32, bigger is surer, or None.
        size1: `(width, height)` of the first image.
        size2: `(width, height)` of the second image; that of the first when not given.
        threshold: confidence below which the matcher dropped pairs, if known.
        inliers: N bool, whether a pair agrees with the one geometry of the two views (an epipolar
            geometry, or a homography) that most pairs agree on; None when nobody looked. All False
            when there were too few pairs to tell.

    Raises:
        InputError: wrong shapes, different lengths, a point outside its image, or `inliers` that are
            not booleans.
    """

    points1: Any
    points2: Any
    confidence: Any = None
    size1: Size = UNSET
    size2: Size = UNSET
    threshold: float | None = None
    inliers: Any = None

    def __post_init__(self) -> None:
        points1 = coordinates(self.points1, 2, "points1")
        points2 = coordinates(self.points2, 2, "points2")
        if len(points1) != len(points2):
            raise InputError(
                f"matches: expected as many points in both images, got {len(points1)} and {len(points2)}"
            )
        if self.size1 is None:
            raise InputError("size1: expected the (width, height) of the first image, got None")
        size1 = to_size(self.size1, "size1")
        size2 = size1 if self.size2 is None else to_size(self.size2, "size2")
        for name, points, size in (("points1", points1, size1), ("points2", points2, size2)):
            _check_inside(name, points, size)
        set_field = object.__setattr__
        set_field(self, "threshold", check_threshold(self.threshold))
        set_field(self, "points1", points1)
        set_field(self, "points2", points2)
        set_field(self, "size1", size1)
        set_field(self, "size2", size2)
        if self.confidence is not None:
            set_field(self, "confidence", vector(self.confidence, len(points1), "confidence"))
        if self.inliers is not None:
            set_field(self, "inliers", _flags(self.inliers, len(points1)))

    def __len__(self) -> int:
        return len(self.points1)

    @classmethod
    def from_pipeline(
        cls,
        output: Any,
        *,
        size1: Size,
        size2: Size = UNSET,
        threshold: float | None = None,
        swapped: bool | None = None,
    ) -> Matches:
        """From transformers' `keypoint-matching`, whose coordinates are wrong unless images are square.

        The pipeline (of transformers 5.24, for one) multiplies x by the height of the image and y by
        its width. That is undone here, within the pixel that it cuts off.

        Args:
            output: the list of one pair of images.
            size1: `(width, height)` of the first image.
            size2: that of the second; that of the first when not given.
            threshold: the score below which the pipeline dropped pairs, if known.
            swapped: whether the sides are swapped. None asks the transformers that is in use in this
                process; where the output came from elsewhere, say it.

        Raises:
            InputError: something else, or `swapped` cannot be found out.

        >>> pair = {"keypoint_image_0": {"x": 50, "y": 20}, "keypoint_image_1": {"x": 10, "y": 80},
        ...     "score": 0.9}
        >>> Matches.from_pipeline([pair], size1=(200, 100), swapped=True).points1.tolist()
        [[100.0, 10.0]]
        """
        fields = read_matches(output, size1=size1, size2=size2, swapped=swapped)
        return cls(**fields, threshold=threshold)

    def to_pipeline(self) -> list[dict[str, Any]]:
        """As the list of `keypoint-matching`, but in pixels of each image: sides not swapped, nothing cut.

        Which pairs are inliers has no place in it.
        """
        return match_output(self)


def _flags(value: Any, length: int) -> npt.NDArray[np.bool_]:
    flags = np.empty(0, bool) if isinstance(value, (list, tuple)) and not value else to_numpy(value)
    if flags.dtype != np.bool_ or flags.shape != (length,):
        raise InputError(f"inliers: expected {length} booleans, got {describe(value)}")
    return read_only(flags)


def _check_inside(name: str, points: Any, size: Size) -> None:
    width, height = size
    # Half a pixel beyond the border is where sub-pixel keypoints of pixel-centre conventions lie.
    outside = (points < -0.5).any(axis=1) | (points[:, 0] > width) | (points[:, 1] > height)
    if outside.any():
        row = int(outside.argmax())
        raise InputError(
            f"{name}: expected points within {width}×{height} pixels, "
            f"got {points[row].tolist()} in row {row}; coordinates are pixels of the source image"
        )
