"""Patch features of DINOv2 and DINOv3, as timm has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import timm
import torch
from PIL import Image
from timm.data import create_transform, resolve_model_data_config

from ..errors import InputError
from ..images import RGB
from ._similarity import PointSimilarity
from ._torch import choose_device, choose_dtype
from ._weights import PathLike, hub_file, hub_source, named
from .base import Card

__all__ = ["TimmFeatures"]


class TimmFeatures(PointSimilarity):
    """The patch tokens of a vision transformer's last block, after its final norm.

    The picture is resized, up or down, so that its long side is `side` and the short side the nearest
    whole number of patches; nothing is cropped or padded. A larger `side` tells finer places
    apart and costs time and memory.

    In half precision the products run in it, and the weights and what is added up stay in float32
    (autocast): so a position is never rounded.

    Args:
        card: which checkpoint.
        device: where the model runs.
        dtype: what its products are computed in; `auto` is float32 on a CPU, else float16.
        weights: a folder as timm saves it for the hub (`config.json` and the weights), or one file of
            weights for the card's architecture.
        side: the long side in pixels that the network sees, a multiple of its patch.

    Raises:
        InputError: a side that does not fit the patch, or weights that are not there.
        WeightsError: the weights cannot be had, or do not fit.
    """

    def __init__(
        self,
        *,
        card: Card,
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        side: int = 518,
    ) -> None:
        self.card = card
        self._device = choose_device(device)
        self._dtype = choose_dtype(dtype, self._device)
        # timm draws its first weights from the global random stream, which is not ours to move on.
        with named(card), torch.random.fork_rng(devices=[]):
            self._model = _create(card, weights).to(self._device).eval()
            self._patch: tuple[int, int] = self._model.patch_embed.patch_size
            self._config = resolve_model_data_config(self._model)
        self._side = _checked_side(side, max(self._patch))

    def _features(self, picture: RGB, role: Literal[0, 1]) -> Any:
        pixels = self._pixels(picture)[None].to(self._device)
        half = self._dtype != torch.float32
        with torch.autocast(self._device.type, self._dtype, enabled=half):
            # One block from the end is the last; the class token and the registers are left out.
            maps = self._model.forward_intermediates(
                pixels, indices=1, norm=True, output_fmt="NCHW", intermediates_only=True
            )
        return maps[0][0]

    def _pixels(self, picture: RGB) -> torch.Tensor:
        """The 3×H×W input of the network, by timm's own evaluation transform."""
        scale = self._side / max(picture.shape[:2])
        height, width = (
            max(1, round(length * scale / patch)) * patch
            for length, patch in zip(picture.shape[:2], self._patch, strict=True)
        )
        # `squash` resizes each axis by its own factor; with all of the picture kept it crops nothing.
        whole = {"input_size": (3, height, width), "crop_pct": 1.0, "crop_mode": "squash"}
        pixels: torch.Tensor = create_transform(**{**self._config, **whole})(
            Image.fromarray(picture)
        )
        return pixels


def _create(card: Card, weights: PathLike) -> Any:
    """The model with its weights; `dynamic_img_size` lets it take pictures of any shape."""
    if weights is not None and Path(weights).is_file():
        architecture = str(card.checkpoint).rpartition("/")[2]
        return timm.create_model(
            architecture,
            pretrained=True,
            pretrained_cfg_overlay={"file": str(weights)},
            dynamic_img_size=True,
        )
    if weights is None:
        hub_file(card, "config.json", None)
        folder = hub_file(card, "model.safetensors", None).parent
    else:
        folder = Path(hub_source(card, weights).place)
    return timm.create_model(f"local-dir:{folder}", pretrained=True, dynamic_img_size=True)


def _checked_side(side: int, patch: int) -> int:
    if not isinstance(side, int) or isinstance(side, bool) or side < patch or side % patch:
        raise InputError(f"side: expected a multiple of {patch}, the network's patch, got {side!r}")
    return side
