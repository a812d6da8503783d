"""Depth estimators, by way of transformers."""

from __future__ import annotations

from ..base import Card, Entry

__all__ = ["ENTRIES", "POLARITY"]

POLARITY = {
    "relative": "relative: bigger is nearer, scale and shift unknown",
    "metric": "metric: metres from the camera, bigger is farther",
}
"""What a card says of its polarity, by the kind of a depth map."""

_LIBRARIES = ("torch", "torchvision", "transformers")
_APACHE, _NON_COMMERCIAL = "Apache-2.0", "CC-BY-NC-4.0"
_APACHE_UNSEEN = "Apache-2.0, not confirmed for this size: see the model card"
_SEE_CARD = "see the model card"
_THIN = "pictures up to about 70 times as long as wide"
_NO_SCALE = f"{_THIN}; compare depths within one picture only"


def _entry(
    name: str,
    checkpoint: str,
    kind: str,
    licence: str,
    limits: str,
    megabytes: int | None = None,
    **options: object,
) -> Entry:
    card = Card(
        name=name,
        modality="depth",
        library="transformers",
        checkpoint=checkpoint,
        licence=licence,
        extra="models",
        polarity=POLARITY[kind],
        limits=limits,
        megabytes=megabytes,
    )
    return Entry(
        card,
        ".transformers_depth:DepthEstimator",
        requires=_LIBRARIES,
        options={"kind": kind, **options},
        needs_download=True,
    )


def _v2(size: str, licence: str, megabytes: int | None = None) -> Entry:
    checkpoint = f"depth-anything/Depth-Anything-V2-{size.title()}-hf"
    name = f"depth-anything-v2-{size}"
    return _entry(name, checkpoint, "relative", licence, _NO_SCALE, megabytes)


def _v2_metric(place: str, size: str) -> Entry:
    metres = {"indoor": 20, "outdoor": 80}[place]
    return _entry(
        f"depth-anything-v2-metric-{place}-{size}",
        f"depth-anything/Depth-Anything-V2-Metric-{place.title()}-{size.title()}-hf",
        "metric",
        _SEE_CARD,
        f"{_THIN}; {place} scenes, up to {metres} m; other lenses than those it saw scale its metres",
    )


def _v1(size: str, licence: str) -> Entry:
    checkpoint = f"LiheYoung/depth-anything-{size}-hf"
    return _entry(f"depth-anything-{size}", checkpoint, "relative", licence, _NO_SCALE)


# Best first: the first is what `depth_program("street.jpg")` uses.
ENTRIES = (
    _v2("small", _APACHE, 99),
    _v2("base", _NON_COMMERCIAL, 390),
    _v2("large", _NON_COMMERCIAL),
    _v1("small", _APACHE),
    _v1("base", _APACHE_UNSEEN),
    _v1("large", _APACHE_UNSEEN),
    *(
        _v2_metric(place, size)
        for place in ("indoor", "outdoor")
        for size in ("small", "base", "large")
    ),
    _entry(
        "depth-pro",
        "apple/DepthPro-hf",
        "metric",
        "apple-amlr (research only)",
        "squashes every picture to 1536×1536 and reads 35 tiles of it: slow without a GPU",
        batch_size=1,
    ),
    _entry(
        "zoedepth-nyu-kitti",
        "Intel/zoedepth-nyu-kitti",
        "metric",
        "MIT, not confirmed: see the model card",
        "at least 5 pixels a side; rooms up to 10 m and streets up to 80 m, which it tells apart itself",
    ),
    _entry(
        "dpt-large",
        "Intel/dpt-large",
        "relative",
        _APACHE,
        "squashes every picture to 384×384; compare depths within one picture only",
    ),
)
