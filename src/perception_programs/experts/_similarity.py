"""How alike a point of one picture is to points of another, by the feature maps of any model.

A cell (row i, column j) of an h×w map stands for its centre, ((j + 0.5)·W/w, (i + 0.5)·H/h) in
pixels of a W×H picture. A point's feature is read between the centres around it, bilinearly, and a
point beyond the outermost centres has the feature of the border cell. So a score changes smoothly
as a point moves, and is highest in the middle of the cell it belongs to, whatever its size.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

from ..errors import InputError, ToolError
from ..geometry import Size
from ..images import RGB, ImageLike, load_image
from ..results import PointScores
from .base import Card

__all__ = ["PointSimilarity"]

Point = tuple[float, float]


class PointSimilarity(ABC):
    """An expert that compares points by the cosine of their features; bigger is more alike."""

    card: Card

    @abstractmethod
    def _features(self, picture: RGB, role: Literal[0, 1]) -> Any:
        """The C×h×w feature map of a picture, on any device, in any floating type.

        `role` is 0 for the picture with the reference point and 1 for the one with the candidates.
        """

    def __call__(
        self,
        first: ImageLike,
        second: ImageLike,
        *,
        reference: Point,
        candidates: Mapping[str, Point],
    ) -> PointScores:
        """How alike each candidate is to the reference, as a cosine in [-1, 1].

        Args:
            first: the picture with the reference point.
            second: the picture with the candidates; any size.
            reference: (x, y) in pixels of the first picture.
            candidates: {"A": (x, y), …} in pixels of the second picture.

        Raises:
            InputError: no candidate, or a point outside its picture.
            ToolError: the model's features are not finite.
        """
        here, there = load_image(first), load_image(second)
        unscored = _unscored(here, there, reference, candidates)
        with torch.inference_mode():
            features = _sample(self._checked(here, 0), [unscored.reference], unscored.size1)
            others = list(unscored.candidates.values())
            among = _sample(self._checked(there, 1), others, unscored.size2)
            scores = _cosines(features, among).tolist()
        return dataclasses.replace(
            unscored, scores=dict(zip(unscored.candidates, scores, strict=True))
        )

    def batch(
        self,
        firsts: Iterable[ImageLike],
        seconds: Iterable[ImageLike],
        references: Iterable[Point],
        candidates: Iterable[Mapping[str, Point]],
    ) -> list[PointScores]:
        """The scores of each pair of pictures with its points."""
        pairs = zip(firsts, seconds, references, candidates, strict=True)
        return [self(a, b, reference=point, candidates=among) for a, b, point, among in pairs]

    def similarity(
        self, first: ImageLike, second: ImageLike, reference: Point
    ) -> npt.NDArray[np.float32]:
        """How alike each cell of the second picture is to the reference: the map before any reading.

        Returns:
            h×w cosines in [-1, 1], one for each cell of the feature map laid over the second picture.

        Raises:
            InputError: the reference is outside the first picture.
            ToolError: the model's features are not finite.
        """
        here, there = load_image(first), load_image(second)
        place = PointScores({}, {}, reference, _size(here), _size(there))
        with torch.inference_mode():
            features = _sample(self._checked(here, 0), [place.reference], place.size1)
            cells = self._checked(there, 1)
            cosines = _cosines(features, cells.flatten(1).T).reshape(cells.shape[1:])
        return np.asarray(cosines.numpy(), np.float32)

    def _checked(self, picture: RGB, role: Literal[0, 1]) -> torch.Tensor:
        """The feature map in float32 on the host, where reading a few points costs nothing."""
        features = self._features(picture, role).detach().to("cpu", torch.float32)
        if not torch.isfinite(features).all():
            raise ToolError(
                f"expert {self.card.name!r}: its features are not finite; "
                "load it with dtype='float32' if it ran in half precision"
            )
        return features


def _unscored(
    here: RGB, there: RGB, reference: Point, candidates: Mapping[str, Point]
) -> PointScores:
    """The result with zeros for scores: checks every point before a model runs."""
    zeros = dict.fromkeys(candidates, 0.0) if isinstance(candidates, Mapping) else {}
    result = PointScores(candidates, zeros, reference, _size(here), _size(there))
    if not result.candidates:
        raise InputError("candidates: expected at least one point, got none")
    return result


def _size(picture: RGB) -> Size:
    return picture.shape[1], picture.shape[0]


def _sample(features: torch.Tensor, points: Sequence[Point], size: Size) -> torch.Tensor:
    """The N×C features at N points of a picture of `size`, between the centres of the cells."""
    # Without align_corners, -1 and 1 are the picture's borders, as in pixels 0 and W are.
    grid = 2 * torch.tensor(points, dtype=torch.float32) / torch.tensor(size) - 1
    sampled = F.grid_sample(
        features[None], grid[None, None], "bilinear", "border", align_corners=False
    )
    return sampled[0, :, 0].T


def _cosines(one: torch.Tensor, many: torch.Tensor) -> torch.Tensor:
    """The cosine of a 1×C feature with each of N×C; 0 with a feature that is all zeros."""
    cosines = F.normalize(many, dim=1) @ F.normalize(one, dim=1)[0]
    return cosines.clamp(-1, 1)
