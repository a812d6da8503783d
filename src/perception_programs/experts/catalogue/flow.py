"""Learned optical flow, by way of torchvision."""

from __future__ import annotations

from ..base import Card, Entry

__all__ = ["ENTRIES"]

_HOST = "https://download.pytorch.org/models"
_LIMITS = (
    "two frames of one size; sides beyond 1280 pixels are read smaller (max_side), below 128 larger"
)


def _entry(network: str, file: str, megabytes: int) -> Entry:
    card = Card(
        name=f"raft-{network}",
        modality="flow",
        library="torchvision",
        checkpoint=f"{_HOST}/{file}",
        licence="BSD-3-Clause (code)",
        extra="models",
        polarity="pixels from the first frame to the second; u right, v down",
        limits=_LIMITS,
        megabytes=megabytes,
    )
    return Entry(
        card,
        ".raft:RAFT",
        requires=("torch", "torchvision"),
        options={"network": network},
        needs_download=True,
    )


# The file names are those of torchvision's C_T_SKHT_V2 and C_T_V2.
ENTRIES = (
    _entry("large", "raft_large_C_T_SKHT_V2-ff5fadd5.pth", 21),
    _entry("small", "raft_small_C_T_V2-01064c6d.pth", 4),
)
