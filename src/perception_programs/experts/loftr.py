"""LoFTR, by way of kornia: semi-dense matches without keypoints."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import cv2
import torch
from kornia.feature import LoFTR as Network
from kornia.feature.loftr.loftr import default_cfg

from ..errors import InputError
from ..images import ImageLike
from ..results import Matches
from ._epipolar import Verification
from ._matching import View, at_least, share, to_matches
from ._torch import choose_device, choose_dtype
from ._weights import PathLike, hub_file, named
from .base import Card

__all__ = ["FILES", "LoFTR"]

FILES = {"outdoor": "loftr_outdoor.ckpt", "indoor": "loftr_indoor_ds_new.ckpt"}
"""The file of each variant in the hub repository; `indoor` is what kornia calls `indoor_new`."""

_STRIDE = 8  # pixels a coarse cell


class LoFTR:
    """LoFTR (Sun et al., 2021): matches on a grid of 8 pixels in the first picture, refined in the second.

    It works on grey pictures whose sides are multiples of 8; each axis goes to the nearest one. A match
    stands on a cell of the first picture, at least two cells from its border. Confidence is the coarse
    matching score, in [0, 1].

    Args:
        card: what it is.
        device: `auto`, or where it shall run.
        dtype: `auto` is single precision; half is for those who want it. Coordinates are float32 in any
            case.
        weights: the checkpoint, or a folder with it. A file may hold a kornia `config` beside its
            `state_dict`, if it is of another shape than the published ones.
        variant: `outdoor` (trained on MegaDepth) or `indoor` (on ScanNet).
        max_side: long side in pixels that larger pictures are reduced to; smaller ones are not enlarged.
            Memory grows with its fourth power.
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
        variant: Literal["outdoor", "indoor"] = "outdoor",
        max_side: int = 840,
        min_confidence: float = 0.2,
        verify: str | None = None,
        tolerance: float = 2.0,
    ) -> None:
        if variant not in FILES:
            raise InputError(f"variant: expected one of {', '.join(FILES)}, got {variant!r}")
        self.card = card
        self._max_side = at_least(max_side, _STRIDE, "max_side")
        self._min_confidence = share(min_confidence, "min_confidence")
        self._check = Verification(verify, tolerance)
        self._device = choose_device(device)
        # Its scores are products of two softmaxes over thousands of cells: too fine for half precision.
        self._dtype = choose_dtype(dtype, self._device, half=None)
        path = hub_file(card, FILES[variant], weights)
        # Forked, because networks start from random weights and would use up the caller's generator.
        with named(card), torch.random.fork_rng(devices=[]):
            network = _network(path, variant, self._min_confidence)
        self._network = network.to(self._device, self._dtype).eval()

    def __call__(self, first: ImageLike, second: ImageLike) -> Matches:
        """The pairs of points, surest first; none is a result too.

        Raises:
            InputError: no pictures.
        """
        views = [View.of(picture, self._max_side, multiple=_STRIDE) for picture in (first, second)]
        with torch.inference_mode():
            out = self._network({"image0": self._grey(views[0]), "image1": self._grey(views[1])})
        # In LoFTR's frame the centre of the first pixel is at 0.5 (see kornia's docstring), here at 0.
        here, there = (out[f"keypoints{n}"].float().cpu().numpy() - 0.5 for n in (0, 1))
        return to_matches(
            here,
            there,
            out["confidence"].float().cpu().numpy(),
            sources=(views[0].source, views[1].source),
            seen=(views[0].size, views[1].size),
            threshold=self._min_confidence,
            check=self._check,
        )

    def batch(self, firsts: Iterable[ImageLike], seconds: Iterable[ImageLike]) -> list[Matches]:
        """The matches of each pair of pictures, one pair at a time: one may fill the memory."""
        return [self(a, b) for a, b in zip(firsts, seconds, strict=True)]

    def _grey(self, view: View) -> Any:
        """1×1×H×W in [0, 1]."""
        grey = cv2.cvtColor(view.image, cv2.COLOR_RGB2GRAY)
        return (torch.tensor(grey, device=self._device).float() / 255)[None, None].to(self._dtype)


def _network(path: Path, variant: str, min_confidence: float) -> Any:
    loaded = torch.load(path, map_location="cpu", weights_only=True)
    config = copy.deepcopy(loaded.get("config", default_cfg))
    if "config" not in loaded:
        config["coarse"]["temp_bug_fix"] = variant == "indoor"  # as it was trained
    config["match_coarse"]["thr"] = min_confidence
    network = Network(pretrained=None, config=config)
    network.load_state_dict(loaded.get("state_dict", loaded))
    return network
