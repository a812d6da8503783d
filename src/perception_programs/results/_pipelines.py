"""What transformers' pipelines return, read and made, with what is known to go wrong on the way.

- Boxes are cut to integers, may reach beyond the image (OWL sees it in a padded square), and carry
  the spaces of `"cat, dog"`, which is split at the commas only.
- An image without a segment gives no mask at all, or one filled with zeros.
- Keypoints of `keypoint-matching` are multiplied by the wrong side: x by the height, y by the width.
- A list of images gives a list of outputs, which is not that of one image.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import describe, to_numpy
from .._plain import decimals, plain_number
from ..errors import InputError
from ..geometry import Size, to_size
from ._check import UNSET, check_text, coordinates
from ._connect import with_scores

__all__ = [
    "is_pipeline",
    "match_output",
    "object_output",
    "read_matches",
    "read_objects",
    "read_segments",
    "segment_output",
]

_SIDES = ("xmin", "ymin", "xmax", "ymax")
_KEYPOINTS = ("keypoint_image_0", "keypoint_image_1")
_NOTHING = "unlabelled"


def is_pipeline(found: Any) -> bool:
    """Whether it is what a pipeline found in one image, boxes or masks, and at least one."""
    return (
        isinstance(found, Sequence)
        and bool(found)
        and (
            all(isinstance(row, Mapping) and {"label", "score"} <= set(row) for row in found)
            and all("box" in row or "mask" in row for row in found)
        )
    )


def _rows(output: Any, keys: set[str], task: str) -> list[Mapping[str, Any]]:
    if not isinstance(output, Sequence) or isinstance(output, str):
        raise InputError(f"{task}: expected the pipeline's list of dicts, got {describe(output)}")
    if any(isinstance(row, Sequence) and not isinstance(row, str) for row in output):
        raise InputError(
            f"{task}: expected the output for one image, got a list of such; pass output[0]"
        )
    for row in output:
        if not isinstance(row, Mapping) or not keys <= set(row):
            got = describe(sorted(map(str, row))) if isinstance(row, Mapping) else describe(row)
            raise InputError(f"{task}: expected dicts with {', '.join(sorted(keys))}, got {got}")
    return list(output)


def _label(row: Mapping[str, Any]) -> str:
    return check_text(row["label"], "label").strip()


def read_objects(output: Any, *, size: Size, score: float | None) -> dict[str, Any]:
    """The fields of `Detections` from boxes, or from the masks of `image-segmentation`."""
    if isinstance(output, Sequence) and any(isinstance(r, Mapping) and "mask" in r for r in output):
        return _masked(output, size, score)
    rows = _rows(output, {"box", "label", "score"}, "zero-shot-object-detection")
    for row in rows:
        if not isinstance(row["box"], Mapping) or not set(_SIDES) <= set(row["box"]):
            raise InputError(f"box: expected {', '.join(_SIDES)}, got {describe(row['box'])}")
    boxes = coordinates([[row["box"][side] for side in _SIDES] for row in rows], 4, "box")
    limit = np.array([*to_size(size)] * 2, np.float32)
    boxes = np.clip(boxes, 0, limit)
    keep = np.flatnonzero((boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])).tolist()
    return {
        "boxes": boxes[keep],
        "scores": with_scores([rows[i]["score"] for i in keep], score),
        "labels": tuple(_label(rows[i]) for i in keep),
        "size": size,
    }


def object_output(found: Any) -> list[dict[str, Any]]:
    """The list of `object-detection`, but with the boxes' own numbers, not cut to integers."""
    return [
        {"score": score, "label": label, "box": dict(zip(_SIDES, box, strict=True))}
        for score, label, box in zip(
            found.scores.tolist(), found.labels, decimals(found.boxes), strict=True
        )
    ]


def _masked(output: Sequence[Any], size: Size, score: float | None) -> dict[str, Any]:
    rows, masks = _segments(output)
    height, width = masks.shape[1:]
    if size is not UNSET and to_size(size) != (width, height):
        raise InputError(
            f"size: expected that of the masks, {width}×{height}, got {describe(size)}"
        )
    keep = np.flatnonzero(masks.any(axis=(1, 2))).tolist()
    return {
        "boxes": np.array([_around(masks[i]) for i in keep], np.float32).reshape(-1, 4),
        "scores": with_scores([rows[i]["score"] for i in keep], score),
        "labels": tuple(_label(rows[i]) for i in keep),
        "masks": masks[keep],
        "size": (width, height),
    }


def _around(mask: Any) -> list[int]:
    """The box around a mask: its last column and row are within."""
    xs, ys = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    return [int(xs[0]), int(ys[0]), int(xs[-1]) + 1, int(ys[-1]) + 1]


def _segments(output: Any) -> tuple[list[Mapping[str, Any]], Any]:
    """The dicts, and their masks as N×H×W bool."""
    rows = _rows(output, {"label", "mask", "score"}, "image-segmentation")
    masks = [_mask(row["mask"]) for row in rows]
    if len({mask.shape for mask in masks}) > 1:
        raise InputError("mask: expected masks of one size, got several sizes")
    return rows, np.stack(masks)


def _mask(value: Any) -> Any:
    mask = to_numpy(value)
    if mask.ndim != 2 or mask.dtype.kind not in "biu" or not mask.size:
        raise InputError(f"mask: expected an H×W picture of two values, got {describe(value)}")
    top = int(mask.max())
    if top not in (0, 1, 255) or not ((mask == 0) | (mask == top)).all():
        raise InputError(f"mask: expected 0 and 255 only, got others up to {top}")
    return mask != 0


def read_segments(output: Any, *, size: Size) -> tuple[Any, dict[int, str]]:
    """A class map of what `image-segmentation` returned, and what the classes are called.

    Labels are numbered from 1 in the order in which they come; 0 is what no mask covers. Where masks
    of two labels overlap, the higher score counts, and of equal ones the first.
    """
    if isinstance(output, Sequence) and not output:
        width, height = to_size(size)
        return np.zeros((height, width), np.int64), {0: _NOTHING}
    rows, masks = _segments(output)
    scores = [row["score"] for row in rows]
    if any(score is None for score in scores):
        _refuse_overlaps(rows, masks)
        scores = [0] * len(rows)
    numbers = {label: n for n, label in enumerate(dict.fromkeys(map(_label, rows)), 1)}
    classes = np.zeros(masks.shape[1:], np.int64)
    order = sorted(range(len(rows)), key=lambda row: -plain_number(scores[row], "score"))
    for row in order:
        classes[masks[row] & (classes == 0)] = numbers[_label(rows[row])]
    names = {number: label for label, number in numbers.items()}
    return classes, names if classes.all() else {0: _NOTHING, **names}


def _refuse_overlaps(rows: Sequence[Mapping[str, Any]], masks: Any) -> None:
    """Masks without scores do not say which of two is in front."""
    merged: dict[str, Any] = {}
    for row, mask in zip(rows, masks, strict=True):
        label = _label(row)
        merged[label] = merged[label] | mask if label in merged else mask
    if (np.sum(list(merged.values()), axis=0) > 1).any():
        raise InputError(
            "mask: expected scores beside masks of different labels that overlap, got None"
        )


def segment_output(found: Any) -> list[dict[str, Any]]:
    """The list of `image-segmentation`: one mask a class, of the size of the image, without scores."""
    from PIL import Image

    rows, columns = (
        ((np.arange(length) + 0.5) * cells / length).astype(np.intp)
        for length, cells in zip(found.size[::-1], found.classes.shape, strict=True)
    )
    classes = found.classes[rows][:, columns]
    return [
        {
            "score": None,
            "label": found.name(number),
            "mask": Image.fromarray(np.where(classes == number, 255, 0).astype(np.uint8)),
        }
        for number in np.unique(classes).tolist()
    ]


def read_matches(output: Any, *, size1: Size, size2: Size, swapped: bool | None) -> dict[str, Any]:
    """The fields of `Matches`."""
    rows = _rows(output, {*_KEYPOINTS, "score"}, "keypoint-matching")
    size1 = to_size(size1, "size1")
    size2 = size1 if size2 is None else to_size(size2, "size2")
    points = []
    for key, (width, height) in zip(_KEYPOINTS, (size1, size2), strict=True):
        for row in rows:
            if not isinstance(row[key], Mapping) or not {"x", "y"} <= set(row[key]):
                raise InputError(f"{key}: expected x and y, got {describe(row[key])}")
        places = coordinates([[row[key]["x"], row[key]["y"]] for row in rows], 2, key)
        if width != height and len(rows) and (_swaps_sides() if swapped is None else swapped):
            places = places * np.array([width / height, height / width], np.float32)
        points.append(places)
    scores = [row["score"] for row in rows]
    unscored = all(score is None for score in scores)
    return {
        "points1": points[0],
        "points2": points[1],
        "confidence": None if unscored and rows else with_scores(scores, None),
        "size1": size1,
        "size2": size2,
    }


def _swaps_sides() -> bool:
    """Whether the pipeline of the transformers that this process runs takes the sides in the wrong order.

    Its `preprocess` notes the sizes of the images, which the post-processing reads as (height, width).

    Raises:
        InputError: transformers is not in use here, or has another form.
    """
    module = sys.modules.get("transformers.pipelines.keypoint_matching")
    if module is None:
        raise InputError(
            "swapped: expected True if the pipeline multiplies x by the height (transformers does, at "
            "least up to 5.24) or False, since transformers is not in use here to be asked"
        )
    from PIL import Image

    try:
        noted = module.KeypointMatchingPipeline.preprocess(_Stub(), [Image.new("L", (3, 2))] * 2)
        first = tuple(int(side) for side in noted["target_sizes"][0])
    except Exception as error:  # a form that is not known here
        raise InputError(
            f"swapped: expected True or False for this transformers: {error}"
        ) from error
    return first == (3, 2)


class _Stub:
    """Stands for a pipeline and its image processor."""

    dtype = None

    def image_processor(self, **_: Any) -> _Stub:
        return self

    def to(self, _: Any) -> _Stub:
        return self


def match_output(found: Any) -> list[dict[str, Any]]:
    """The list of `keypoint-matching`, in pixels of each image."""
    scores = [None] * len(found) if found.confidence is None else found.confidence.tolist()
    return [
        {_KEYPOINTS[0]: {"x": x1, "y": y1}, _KEYPOINTS[1]: {"x": x2, "y": y2}, "score": score}
        for (x1, y1), (x2, y2), score in zip(
            decimals(found.points1), decimals(found.points2), scores, strict=True
        )
    ]
