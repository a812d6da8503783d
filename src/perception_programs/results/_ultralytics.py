"""ultralytics' `Results`, read and made."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import describe, to_numpy
from ..errors import InputError, MissingExtraError
from ..geometry import to_size
from ._connect import Names, empty_as, numbered, scored, texts

__all__ = ["read_ultralytics", "to_ultralytics"]


def read_ultralytics(found: Any) -> dict[str, Any]:
    """The fields of `Detections`."""
    width, height = to_size(tuple(found.orig_shape or ())[::-1], "orig_shape")
    if found.boxes is None and getattr(found, "obb", None) is not None:
        raise InputError(
            "detections: expected upright boxes, got the oriented ones of ultralytics; those around "
            "them are Detections.from_boxes(r.obb.xyxy, r.obb.conf, r.obb.cls, names=r.names, size=…)"
        )
    if found.boxes is None:
        raise InputError(
            "detections: expected ultralytics Results with boxes, got none (no detector?)"
        )
    masks = getattr(found, "masks", None)
    data = None if masks is None else to_numpy(masks.data)
    if data is not None and data.shape[1:] != (height, width):
        raise InputError(
            f"masks: expected {height}×{width} like the image, got {describe(data)}; "
            "predict with retina_masks=True"
        )
    return {
        "boxes": empty_as(found.boxes.xyxy, 4),
        "scores": scored(found.boxes.conf),
        "labels": texts(found.boxes.cls, found.names),
        "masks": data,
        "size": (width, height),
    }


def to_ultralytics(found: Any, image: Any, names: Names) -> Any:
    """Ultralytics' `Results` of the fields of ours and the picture, which it keeps blue first."""
    try:
        import torch
        from ultralytics.engine.results import Results
    except ImportError as error:
        raise MissingExtraError(
            "ultralytics is not installed: python -m pip install ultralytics"
        ) from error
    from ..images import image_name, load_image

    picture = np.ascontiguousarray(load_image(image)[..., ::-1])
    if picture.shape[1::-1] != found.size:
        raise InputError(
            f"image: expected the picture of {found.size[0]}×{found.size[1]} pixels that the boxes "
            f"are of, got {picture.shape[1]}×{picture.shape[0]}"
        )
    numbers, known = numbered(found.labels, names)
    columns = [found.boxes, found.scores[:, None], np.array(numbers, np.float32)[:, None]]
    return Results(
        picture,
        path=image_name(image) or "image",
        names=known,
        boxes=torch.from_numpy(np.concatenate(columns, axis=1)),
        masks=None if found.masks is None else torch.from_numpy(found.masks.copy()),
    )
