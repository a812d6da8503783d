"""Detectors, by way of transformers."""

from __future__ import annotations

from ..base import Card, Entry

__all__ = ["ENTRIES"]

_NEEDS = ("torch", "torchvision", "transformers")
_WORDS = "any labels in plain English, as nouns; sides of a ratio up to 40 to 1"
_CLOSED = "the 80 classes of COCO and nothing else"


def _grounded(
    name: str, checkpoint: str, *, licence: str = "Apache-2.0", **options: float
) -> Entry:
    target = ".grounded_detection:GroundedDetection"
    return _entry(name, checkpoint, target, _WORDS, options, licence=licence)


def _closed(name: str, checkpoint: str, megabytes: int | None = None) -> Entry:
    return _entry(
        name, checkpoint, ".closed_detection:ClosedDetection", _CLOSED, megabytes=megabytes
    )


def _entry(
    name: str,
    checkpoint: str,
    target: str,
    limits: str,
    options: dict[str, float] | None = None,
    *,
    licence: str = "Apache-2.0",
    megabytes: int | None = None,
) -> Entry:
    card = Card(
        name=name,
        modality="detection",
        library="transformers",
        checkpoint=checkpoint,
        licence=licence,
        extra="models",
        limits=limits,
        megabytes=megabytes,
    )
    return Entry(card, target, _NEEDS, options or {}, needs_download=True)


ENTRIES: tuple[Entry, ...] = (
    # The smallest of the paper's detector comes first: its sizes differ in the backbone alone, and
    # this one is bearable without a GPU.
    _grounded("llmdet-tiny", "iSEE-Laboratory/llmdet_tiny"),
    _grounded("llmdet-base", "iSEE-Laboratory/llmdet_base"),
    _grounded("llmdet-large", "iSEE-Laboratory/llmdet_large"),
    _grounded(
        "mm-grounding-dino-tiny",
        "openmmlab-community/mm_grounding_dino_tiny_o365v1_goldg_v3det",
        licence="Apache-2.0 (not confirmed for the weights)",
    ),
    _grounded("grounding-dino-tiny", "IDEA-Research/grounding-dino-tiny", threshold=0.25),
    _grounded("grounding-dino-base", "IDEA-Research/grounding-dino-base", threshold=0.25),
    _entry(
        "owlv2-base",
        "google/owlv2-base-patch16-ensemble",
        ".owlv2:OWLv2",
        "any labels in plain English of up to some 10 words; low scores by nature",
    ),
    _entry(
        "sam3",
        "facebook/sam3",
        ".sam3:SAM3",
        "any short noun phrases, one run of the decoder each; boxes and masks; needs transformers 5, "
        "and its licence accepted at the hub",
        licence="SAM License",
    ),
    _closed("rt-detr-v2", "PekingU/rtdetr_v2_r18vd"),
    _closed("rt-detr-v2-r50", "PekingU/rtdetr_v2_r50vd"),
    _closed("d-fine", "ustc-community/dfine-medium-coco", 79),
    _closed("d-fine-nano", "ustc-community/dfine-nano-coco", 15),
    _closed("d-fine-small", "ustc-community/dfine-small-coco", 42),
    _closed("d-fine-large", "ustc-community/dfine-large-coco", 126),
    _closed("d-fine-xlarge", "ustc-community/dfine-xlarge-coco", 252),
)
