"""The dict of a transformers post-processor or a torchvision detector, read and made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays import to_numpy
from ..errors import InputError, MissingExtraError, install_command
from ._connect import Names, empty_as, numbered, scored, texts

__all__ = ["read_transformers", "to_transformers"]


def read_transformers(found: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """The fields of `Detections`, but for the size, which the dict does not keep."""
    boxes = empty_as(found["boxes"], 4)
    if "scores" not in found:
        raise InputError(f"detections: expected 'scores' beside 'boxes', got {sorted(found)}")
    strings = found.get("text_labels")
    masks = found.get("masks")
    if masks is not None:
        masks = to_numpy(masks)
        masks = masks[:, 0] if masks.ndim == 4 and masks.shape[1] == 1 else masks
        masks = masks >= 0.5 if masks.dtype.kind == "f" else masks != 0
    return {
        "boxes": boxes,
        "scores": scored(found["scores"]),
        "labels": texts(found.get("labels", ()) if strings is None else strings, names),
        "masks": masks,
        "runner_up_labels": found.get("runner_up_labels"),
        "runner_up_scores": found.get("runner_up_scores"),
    }


def to_transformers(found: Any, names: Names) -> dict[str, Any]:
    """The dict of tensors that `post_process_object_detection` gives."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(f"torch is not installed: {install_command('models')}") from error
    numbers, _ = numbered(found.labels, names)
    made = {
        "scores": torch.from_numpy(found.scores.copy()),
        "labels": torch.from_numpy(np.array(numbers, np.int64)),
        "boxes": torch.from_numpy(found.boxes.copy()),
        "text_labels": list(found.labels),
    }
    return made if found.masks is None else {**made, "masks": torch.from_numpy(found.masks.copy())}
