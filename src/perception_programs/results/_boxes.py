"""Boxes, their scores and runner-ups: what is checked of them, and the forms they come in."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import read_only
from ..errors import InputError
from ..geometry import Size, to_size
from ._check import check_pixels, coordinates, labels_of, vector

__all__ = ["corners_of", "probabilities", "runner_ups", "sorted_corners"]

_EDGE_SLACK = 1.0  # detectors overshoot the border by fractions of a pixel


def sorted_corners(boxes: Any, size: Size) -> Any:
    """N×4 xyxy within an image of `size`, with sorted corners and overshoot clipped.

    Raises:
        InputError: a box reaches outside by more than a pixel, or all are fractions of the image.
    """
    check_pixels(boxes, size, "boxes")
    corners = boxes.reshape(-1, 2, 2)
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    limit = np.array([*size] * 2, np.float32)
    outside = ((boxes < -_EDGE_SLACK) | (boxes > limit + _EDGE_SLACK)).any(axis=1)
    if outside.any():
        row = int(outside.argmax())
        raise InputError(
            f"boxes: expected xyxy within {size[0]}×{size[1]} pixels, got {boxes[row].tolist()} in "
            f"row {row}; boxes of a resized or padded image must be mapped back first"
        )
    return read_only(np.clip(boxes, 0, limit))


def probabilities(value: Any, length: int, name: str) -> Any:
    """`value` as `length` float32 in [0, 1]."""
    scores = vector(value, length, name)
    if len(scores) and not (scores.min() >= 0 and scores.max() <= 1):
        raise InputError(
            f"{name}: expected numbers in [0, 1], got {scores.min():g} to {scores.max():g}; "
            "put logits through a sigmoid first"
        )
    return scores


def runner_ups(labels: Any, scores: Any, length: int) -> tuple[Any, Any]:
    """The labels that scored second, and their scores; None and None if the detector says only one.

    Raises:
        InputError: one of the two is missing, they are not `length`, or a score has no label.
    """
    if (labels is None) != (scores is None):
        there, lacking = ("scores", "labels") if labels is None else ("labels", "scores")
        raise InputError(f"runner_up_{lacking}: expected them beside runner_up_{there}, got None")
    if labels is None:
        return None, None
    if isinstance(labels, str):
        labels_of(labels, length, "runner_up_labels")
    given = tuple(labels)
    filled = ("" if label is None else label for label in given)
    texts = labels_of(filled, length, "runner_up_labels")
    numbers = probabilities(scores, length, "runner_up_scores")
    named = tuple(None if label is None else text for label, text in zip(given, texts, strict=True))
    for row, label in enumerate(named):
        if label is None and numbers[row] != 0:
            raise InputError(
                f"runner_up_scores: expected 0 where there is no second label, got "
                f"{numbers[row]:g} in row {row}"
            )
    return named, numbers


def corners_of(boxes: Any, form: str, size: Size, resized: Size | None) -> Any:
    """N×4 in another form as xyxy in pixels of the image, as `Detections.from_boxes` says."""
    array = coordinates(boxes, 4, "boxes")
    if form == "xywh":
        array = np.concatenate([array[:, :2], array[:, :2] + array[:, 2:]], axis=1)
    elif form == "cxcywh":
        if len(array) and (array.min() < 0 or array.max() > 1):
            raise InputError("boxes: expected cxcywh as fractions in [0, 1], got numbers outside")
        half = array[:, 2:] / 2
        array = np.concatenate([array[:, :2] - half, array[:, :2] + half], axis=1)
        array = array * np.array([*size] * 2, np.float32)
    elif form != "xyxy":
        raise InputError(f"form: expected xyxy, xywh or cxcywh, got {form!r}")
    if resized is not None:
        if form == "cxcywh":
            raise InputError("resized: has no meaning beside fractions of the image")
        factor = np.divide(size, to_size(resized, "resized")).astype(np.float32)
        array = array * factor[[0, 1, 0, 1]]
    return array
