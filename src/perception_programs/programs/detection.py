"""Object detection: boxes with their labels and confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from .._arrays import describe
from .._plain import decimals, plain_number
from ..errors import InputError
from ..geometry import Size, normalise_box
from ..images import is_picture
from ..program import Item, PerceptionProgram
from ..results import Detections
from ..results.detections import Names
from ._experts import ExpertLike, check_unused, run_expert
from ._reliability import Levels, Reliability, reliability, reliability_note

__all__ = ["detection_program"]

_LEADS: Levels = (0.2, 0.05)  # between the scores of two labels, which are probabilities


def detection_program(
    source: Any,
    *,
    labels: Sequence[str] | None = None,
    threshold: float | None = None,
    size: Size | None = None,
    names: Names = None,
    expert: ExpertLike = None,
    reliability: Reliability = None,
) -> PerceptionProgram:
    """A program of the objects found (paper, section 3.2: `object-detection`, `bounding-box`).

    Where the detector says which label came second for a box, `meta["runner_up"]` has it, with its score.

    Args:
        source: `Detections`; what supervision, transformers, ultralytics or torchvision return for one
            image, or COCO result dicts; or a picture, which goes through the expert.
        labels: what to look for in a picture; detectors with a vocabulary of their own do without.
        threshold: keep only boxes of at least this confidence; a picture's expert is told too.
        size: `(width, height)` of the image, where a foreign result does not carry it.
        names: what class numbers are called, where a foreign result does not say.
        expert: which detector reads a picture; by default the best that is installed.
        reliability: `number` or `words`: also say how far the confidence is above that in the label that
            came second; not said where the detector names no second label, since r is all it tells.

    Raises:
        InputError: the source is none of these, or `size` or `names` is missing.
        MissingExtraError: a picture came and no detector is installed.

    >>> found = {"boxes": [[10, 20, 50, 80]], "scores": [0.9], "labels": ["cat"]}
    >>> detection_program(found, size=(100, 100)).items
    (Item(p=1, c=(100, 200, 500, 800), r=0.9, b='cat'),)
    """
    if isinstance(source, Detections):
        check_unused("Detections", labels=labels, size=size, names=names, expert=expert)
        found, meta, images = source, dict[str, Any](), tuple[Any, ...]()
    elif is_picture(source):
        check_unused("a picture", size=size, names=names)
        if isinstance(labels, str) or (labels is not None and not labels):
            raise InputError(
                f'labels: expected what to look for, such as ["cat", "dog"], got {describe(labels)}'
            )
        asked: dict[str, Any] = {"labels": None if labels is None else list(labels)}
        if threshold is not None:
            asked["threshold"] = threshold
        found, meta = run_expert("detection", expert, Detections, source, **asked)
        images = (source,)
    else:
        check_unused("a detector's result", labels=labels, expert=expert)
        found, meta, images = Detections.of(source, size=cast(Size, size), names=names), {}, ()
    return _program(found, threshold, meta, images, reliability)


def _program(
    found: Detections,
    threshold: float | None,
    meta: dict[str, Any],
    images: tuple[Any, ...],
    how: Reliability,
) -> PerceptionProgram:
    if threshold is not None:
        threshold = plain_number(threshold, "threshold")
    least = max((t for t in (threshold, found.threshold) if t is not None), default=None)
    keep = np.flatnonzero(
        found.scores >= np.float32(-1 if threshold is None else threshold)
    ).tolist()
    corners = decimals(found.boxes)
    sure = _sure(found, keep, how)
    items = tuple(
        Item(
            p=n,
            c=normalise_box(corners[row], found.size),
            r=found.scores[row],
            b=found.labels[row],
            q=q,
        )
        for n, (row, q) in enumerate(zip(keep, sure, strict=True), 1)
    )
    meta |= {"size": found.size}
    meta |= {} if least is None else {"threshold": least}
    meta |= _runner_up(found, keep)
    meta |= {"below_threshold": len(found) - len(keep)} if len(found) > len(keep) else {}
    return PerceptionProgram(
        modality="object-detection",
        granularity="bounding-box",
        items=items,
        note=_note(bool(items), least) + _sure_note(sure, how),
        meta=meta,
        images=images,
    )


def _runner_up(found: Detections, keep: list[int]) -> dict[str, Any]:
    """For each item the label that scored second and its score, where the detector says so."""
    if found.runner_up_labels is None or found.runner_up_scores is None:
        return {}
    return {
        "runner_up": [
            None
            if found.runner_up_labels[row] is None
            else [found.runner_up_labels[row], found.runner_up_scores[row]]
            for row in keep
        ]
    }


def _sure(found: Detections, keep: list[int], how: Reliability) -> list[float | str | None]:
    """How far each score is above that of the second label, where the detector names one."""
    seconds, scores = found.runner_up_labels, found.runner_up_scores
    ahead: list[float | None] = [
        None
        if seconds is None or seconds[row] is None
        else float(found.scores[row]) - float(scores[row])
        for row in keep
    ]
    return reliability(ahead, how, _LEADS) or [None] * len(keep)


def _sure_note(sure: list[float | str | None], how: Reliability) -> str:
    known = any(q is not None for q in sure)
    return reliability_note(
        "how far r is above the confidence in the label that came second",
        how if known else None,
        _LEADS,
    )


def _note(some: bool, threshold: float | None) -> str:
    if not some:
        least = "" if threshold is None else f" with a confidence of at least {threshold:.4g}"
        return f"No object was detected{least}: none found."
    return (
        "Each item is one detected object. p: number of the detection. c: [x0, y0, x1, y1], the upper "
        "left and lower right corner of its box; x runs right and y runs down, both scaled to 0-1000. "
        "r: confidence from 0 to 1. b: what it is."
    )
