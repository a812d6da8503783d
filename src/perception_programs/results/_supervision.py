"""supervision's `Detections`, read and made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtraError
from ._connect import Names, empty_as, numbered, scored, texts, with_scores

__all__ = ["read_supervision", "to_supervision"]


def read_supervision(found: Any, names: Names, score: float | None) -> dict[str, Any]:
    """The fields of `Detections`, but for the size, which supervision does not keep."""
    boxes = empty_as(found.xyxy, 4)
    if found.confidence is None and score is None and len(boxes):
        raise InputError(
            "scores: expected supervision Detections with a confidence, got None; "
            "score= is given to boxes that come without (1 to what a person drew)"
        )
    scores = found.confidence
    data = getattr(found, "data", None)
    labels = data.get("class_name") if names is None and isinstance(data, Mapping) else None
    if labels is None:
        labels = getattr(found, "class_id", None)
    return {
        "boxes": boxes,
        "scores": with_scores([None] * len(boxes), score) if scores is None else scored(scores),
        "labels": texts(() if labels is None else labels, names),
        "masks": getattr(found, "mask", None),
    }


def to_supervision(found: Any, names: Names) -> Any:
    """Supervision's `Detections` of the fields of ours."""
    try:
        import supervision
    except ImportError as error:
        raise MissingExtraError(
            "supervision is not installed: python -m pip install supervision"
        ) from error
    numbers, _ = numbered(found.labels, names)
    return supervision.Detections(
        xyxy=found.boxes.copy(),
        mask=None if found.masks is None else found.masks.copy(),
        confidence=found.scores.copy(),
        class_id=np.array(numbers, np.int64),
        data={"class_name": np.array(found.labels, np.str_)},
    )
