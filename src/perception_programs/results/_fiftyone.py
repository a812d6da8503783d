"""FiftyOne's detections, read and made: boxes are `[x, y, width, height]` as fractions of the image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import describe
from ..errors import InputError
from ..geometry import Size, to_size
from ._check import check_text, coordinates
from ._connect import with_scores

__all__ = ["is_fiftyone", "read_fiftyone", "to_fiftyone"]

_BEYOND = 1.5  # a box may overshoot the image; what reaches this far is in pixels


def _field(found: Any, name: str) -> Any:
    """A field of FiftyOne's object, or of the dict that it is in JSON."""
    return found.get(name) if isinstance(found, Mapping) else getattr(found, name, None)


def is_fiftyone(found: Any) -> bool:
    """Whether it is FiftyOne's `Detections`, its dict, or a list of such boxes."""
    if isinstance(found, (list, tuple)):
        return bool(found) and all(_field(one, "bounding_box") is not None for one in found)
    return isinstance(_field(found, "detections"), (list, tuple))


def read_fiftyone(found: Any, *, size: Size, score: float | None) -> dict[str, Any]:
    """The fields of `Detections`."""
    rows = found if isinstance(found, Sequence) else _field(found, "detections")
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise InputError(
            f"detections: expected FiftyOne's detections, or a list of them, got {describe(found)}"
        )
    for row in rows:
        if _field(row, "bounding_box") is None:
            raise InputError(
                f"detections: expected 'label', 'bounding_box' and 'confidence', got {describe(row)}"
            )
    coordinates([_field(row, "bounding_box") for row in rows], 4, "bounding_box")
    values = np.array([_field(row, "bounding_box") for row in rows], np.float64).reshape(-1, 4)
    corners = np.concatenate([values[:, :2], values[:, :2] + values[:, 2:]], axis=1)
    beyond = np.abs(corners - 0.5).max(axis=1, initial=0) > _BEYOND - 0.5
    if beyond.any():
        raise InputError(
            "bounding_box: expected [x, y, width, height] as fractions of the image, "
            f"got {values[beyond.argmax()].tolist()}"
        )
    return {
        "boxes": corners * np.array([*to_size(size)] * 2),
        "scores": with_scores([_field(row, "confidence") for row in rows], score),
        "labels": tuple(check_text(_field(row, "label"), "label") for row in rows),
        "size": size,
    }


def to_fiftyone(found: Any) -> dict[str, Any]:
    """The dict of FiftyOne's `Detections`."""
    corners = found.boxes.astype(np.float64)
    pixels = np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1)
    boxes = (pixels / np.array([*found.size] * 2)).tolist()
    rows = [
        {"_cls": "Detection", "label": label, "bounding_box": box, "confidence": score}
        for label, box, score in zip(found.labels, boxes, found.scores.tolist(), strict=True)
    ]
    return {"_cls": "Detections", "detections": rows}
