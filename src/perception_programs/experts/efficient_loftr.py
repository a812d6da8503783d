"""Efficient LoFTR, by way of transformers: semi-dense matches without keypoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from transformers import EfficientLoFTRForKeypointMatching, EfficientLoFTRImageProcessor

from ..errors import InputError
from ..geometry import Size
from ..images import ImageLike, to_pil
from ..results import Matches
from ._epipolar import Verification
from ._matching import share, to_matches
from ._torch import choose_device, choose_dtype
from ._weights import PathLike, hub_source, named, pretrained
from .base import Card

__all__ = ["EfficientLoFTR"]

_STRIDE = 32  # a coarse cell is 8 pixels, and attention works on blocks of 4 cells
_FINE = 256  # steps a pixel that the processor's whole numbers are made to count


class EfficientLoFTR:
    """Efficient LoFTR (Wang et al., 2024): LoFTR's successor, several times as fast.

    Both pictures are resized to one size, each axis by its own factor. Confidence is the coarse matching
    score, in [0, 1].

    Args:
        card: what it is.
        device: `auto`, or where it shall run.
        dtype: `auto` is single precision; half is for those who want it. Coordinates are float32 in any
            case.
        weights: a folder that takes the checkpoint's place.
        size: `(width, height)` that pictures are resized to, multiples of 32; by default the
            checkpoint's own, 640×480. Memory grows with the square of its area.
        min_confidence: pairs of a lower score are dropped.
        verify: `epipolar` or `homography` fills `Matches.inliers` with whether a pair agrees with the one
            geometry that most agree on; no pair is dropped. None does not look.
        tolerance: pixels, of the picture as the network sees it, that an agreeing pair may lie off.
    """

    def __init__(
        self,
        *,
        card: Card,
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        size: Size | None = None,
        min_confidence: float = 0.2,
        verify: str | None = None,
        tolerance: float = 2.0,
    ) -> None:
        self.card = card
        self._resize = {} if size is None else {"size": _checked(size)}
        self._min_confidence = share(min_confidence, "min_confidence")
        self._check = Verification(verify, tolerance)
        self._device = choose_device(device)
        # Its scores are products of two softmaxes over thousands of cells: too fine for half precision.
        self._dtype = choose_dtype(dtype, self._device, half=None)
        source = hub_source(card, weights)
        with named(card):
            self._processor = EfficientLoFTRImageProcessor.from_pretrained(
                source.place, local_files_only=source.local
            )
            network = pretrained(
                _Paired,
                source.place,
                local_files_only=source.local,
                dtype=self._dtype,
                coarse_matching_threshold=self._min_confidence,
            )
        self._network = network.to(self._device).eval()

    def __call__(self, first: ImageLike, second: ImageLike) -> Matches:
        """The pairs of points, surest first; none is a result too.

        Raises:
            InputError: no pictures.
        """
        pictures = [to_pil(first), to_pil(second)]
        inputs = self._processor(pictures, return_tensors="pt", **self._resize)
        pixels = inputs["pixel_values"].to(self._device, self._dtype)
        height, width = pixels.shape[-2:]
        with torch.inference_mode():
            out = self._network(pixel_values=pixels)
            out.keypoints = out.keypoints.float()
            # The processor cuts coordinates to whole numbers, so it is asked for a larger picture.
            target = torch.tensor([[[height * _FINE, width * _FINE]] * 2], device=self._device)
            (found,) = self._processor.post_process_keypoint_matching(
                out, target, threshold=self._min_confidence
            )
        # As with LoFTR, the centre of the first pixel is at 0.5; the cut then gives its number.
        here, there = (found[f"keypoints{n}"].cpu().numpy() / _FINE - 0.5 for n in (0, 1))
        return to_matches(
            here,
            there,
            found["matching_scores"].float().cpu().numpy(),
            sources=(pictures[0].size, pictures[1].size),
            seen=((width, height), (width, height)),
            threshold=self._min_confidence,
            check=self._check,
        )

    def batch(self, firsts: Iterable[ImageLike], seconds: Iterable[ImageLike]) -> list[Matches]:
        """The matches of each pair of pictures.

        One pair at a time: transformers refines every pair of a batch by what it found in the first.
        """
        return [self(a, b) for a, b in zip(firsts, seconds, strict=True)]


class _Paired(EfficientLoFTRForKeypointMatching):  # type: ignore[misc]
    """The network with both sides of a match in one row.

    transformers (5.24) lists the partners of the second picture's cells beside the partners of the first
    picture's cells. Row by row these are different matches unless the order of the cells is the same in
    both pictures, and the fine stage then compares windows that do not belong together.
    """

    def _get_matches_from_scores(self, scores: Any) -> tuple[Any, Any]:
        """Cells of the first picture, beside their partners in the second; -1 where there is none."""
        indices, confidence = super()._get_matches_from_scores(scores)
        partners = indices[:, 1]
        cells = torch.arange(partners.shape[1], device=partners.device)
        own = torch.where(partners >= 0, cells, -1)
        return torch.stack([own, partners], dim=1), confidence[:, [1, 1]]


def _checked(size: Any) -> dict[str, int]:
    try:
        width, height = (int(side) for side in size)
    except (TypeError, ValueError):
        width = height = 0
    if min(width, height) < _STRIDE or width % _STRIDE or height % _STRIDE:
        raise InputError(
            f"size: expected (width, height) in multiples of {_STRIDE} pixels, got {size!r}"
        )
    return {"height": height, "width": width}
