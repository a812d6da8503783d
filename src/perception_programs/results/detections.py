"""Boxes around objects, with labels and scores, from any detector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._arrays import describe, is_array, read_only, to_numpy
from ..errors import InputError
from ..geometry import Size, to_size
from ._answers import resolve_label
from ._check import (
    UNSET,
    Result,
    check_pixels,
    check_text,
    check_threshold,
    class_names,
    class_number,
    coordinates,
    labels_of,
    vector,
)

__all__ = ["Detections", "Names"]

Names = Mapping[int, str] | Sequence[str] | Sequence[Mapping[str, Any]] | None
"""What class numbers are called: {number: name}, a list that names 0, 1, 2…, or COCO's categories."""

_EDGE_SLACK = 1.0  # detectors overshoot the border by fractions of a pixel


@dataclass(frozen=True, eq=False)
class Detections(Result):
    """Objects found in an image.

    Attributes:
        boxes: N×4 float32, xyxy in pixels of the source image; corners come sorted, and what
            overshoots the border by less than a pixel is clipped to it.
        scores: N float32 in [0, 1].
        labels: N strings.
        masks: N×H×W bool, or None.
        size: `(width, height)` of the source image.
        threshold: score below which the detector dropped boxes, if known.
        runner_up_labels: for each box the label that scored second, None for a box without a second;
            or None if the detector says only one.
        runner_up_scores: N float32 in [0, 1], the scores of those labels, 0 where there is none; or
            None. A box whose runner-up is close is one whose label is in doubt.

    Raises:
        InputError: wrong shapes, different lengths, scores outside [0, 1], boxes outside the image,
            runner-ups without their scores.
    """

    boxes: Any
    scores: Any
    labels: tuple[str, ...]
    masks: Any = None
    size: Size = UNSET
    threshold: float | None = None
    runner_up_labels: tuple[str | None, ...] | None = None
    runner_up_scores: Any = None

    def __post_init__(self) -> None:
        if self.size is None:
            raise InputError("size: expected the image's (width, height), got None")
        size = to_size(self.size)
        boxes = _sorted_corners(coordinates(self.boxes, 4, "boxes"), size)
        scores = _probabilities(self.scores, len(boxes), "scores")
        set_field = object.__setattr__
        set_field(self, "threshold", check_threshold(self.threshold))
        set_field(self, "size", size)
        set_field(self, "boxes", boxes)
        set_field(self, "scores", scores)
        set_field(self, "labels", labels_of(self.labels, len(boxes), "labels"))
        if self.masks is not None:
            masks = to_numpy(self.masks)
            if masks.shape != (len(boxes), size[1], size[0]):
                expected = f"{len(boxes)}×{size[1]}×{size[0]}"
                raise InputError(
                    f"masks: expected {expected} like the boxes, got {describe(masks)}"
                )
            set_field(self, "masks", read_only(masks != 0))
        self._check_runner_ups()

    def _check_runner_ups(self) -> None:
        labels, scores = self.runner_up_labels, self.runner_up_scores
        if (labels is None) != (scores is None):
            there, lacking = ("scores", "labels") if labels is None else ("labels", "scores")
            raise InputError(
                f"runner_up_{lacking}: expected them beside runner_up_{there}, got None"
            )
        if labels is None:
            return
        if isinstance(labels, str):
            labels_of(labels, len(self), "runner_up_labels")
        given = tuple(labels)
        texts = labels_of(
            ("" if label is None else label for label in given), len(self), "runner_up_labels"
        )
        numbers = _probabilities(scores, len(self), "runner_up_scores")
        named = tuple(
            None if label is None else text for label, text in zip(given, texts, strict=True)
        )
        for row, label in enumerate(named):
            if label is None and numbers[row] != 0:
                raise InputError(
                    f"runner_up_scores: expected 0 where there is no second label, got "
                    f"{numbers[row]:g} in row {row}"
                )
        object.__setattr__(self, "runner_up_labels", named)
        object.__setattr__(self, "runner_up_scores", numbers)

    def __len__(self) -> int:
        return len(self.boxes)

    def resolved(self, labels: Iterable[str]) -> Detections:
        """The same boxes, each under one of the labels that were asked for, or visibly marked.

        For detectors that answer in text: `Car` becomes `car`, `car taxi` becomes
        `car | taxi (ambiguous)`, `##van` becomes `van (inexact)`, and what is none of them `unknown`.

        Args:
            labels: what the detector was asked for.

        >>> found = Detections([[0, 0, 9, 9]], [0.5], ("Car",), size=(9, 9))
        >>> found.resolved(["car", "van"]).labels
        ('car',)
        """
        if isinstance(labels, str):
            raise InputError(f"labels: expected a list of strings, got the string {labels!r}")
        asked = [check_text(label, "labels") for label in labels]
        answers = tuple(str(resolve_label(label, asked)) for label in self.labels)
        return replace(self, labels=answers)

    @classmethod
    def of(cls, found: Any, *, size: Size = UNSET, names: Names = None) -> Detections:
        """From what another library returns, told apart by its attributes or keys.

        Takes ultralytics `Results`, supervision `Detections`, the dict of a transformers or
        torchvision detector, or a list of COCO result dicts.

        Args:
            found: the result of one image.
            size: `(width, height)` of the image; needed wherever the result does not carry it.
            names: what class numbers are called; needed wherever labels are numbers.

        Raises:
            InputError: none of these, or `size` or `names` is missing.
        """
        if isinstance(found, Detections):
            return found
        if hasattr(found, "xyxy") and hasattr(found, "confidence"):
            return cls.from_supervision(found, size=size, names=names)
        if hasattr(found, "boxes") and hasattr(found, "orig_shape"):
            if size is not UNSET or names is not None:
                raise InputError("size, names: have no meaning beside ultralytics Results")
            return cls.from_ultralytics(found)
        if isinstance(found, Mapping) and "boxes" in found:
            return cls.from_transformers(found, size=size, names=names)
        if isinstance(found, Sequence) and all(
            isinstance(f, Mapping) and "bbox" in f for f in found
        ):
            return cls.from_coco(found, size=size, names=names)
        if isinstance(found, Mapping) and "annotations" in found:
            raise InputError(
                "detections: expected COCO results, a list of dicts with 'bbox' and 'score', "
                "got a COCO annotation file, which has no scores"
            )
        raise InputError(
            "detections: expected Detections, ultralytics Results, supervision Detections, a dict "
            f"with boxes, scores and labels, or a list of COCO result dicts, got {describe(found)}"
        )

    @classmethod
    def from_transformers(
        cls, found: Mapping[str, Any], *, size: Size = UNSET, names: Names = None
    ) -> Detections:
        """From one dict of a transformers post-processor, or of a torchvision detector.

        Reads `boxes` (xyxy pixels), `scores`, `text_labels` or else `labels`, and `masks`
        (torchvision's N×1×H×W probabilities count from one half). Normalised boxes cannot be told
        from pixels: give the post-processor its `target_sizes`.
        """
        boxes = _empty_as(found["boxes"], 4)
        if "scores" not in found:
            raise InputError(f"detections: expected 'scores' beside 'boxes', got {sorted(found)}")
        texts = found.get("text_labels")
        labels = found.get("labels", ()) if texts is None else texts
        masks = found.get("masks")
        if masks is not None:
            masks = to_numpy(masks)
            masks = masks[:, 0] if masks.ndim == 4 and masks.shape[1] == 1 else masks
            masks = masks >= 0.5 if masks.dtype.kind == "f" else masks != 0
        return cls(
            boxes,
            _scores(found["scores"]),
            _named(labels, names),
            masks,
            size,
            runner_up_labels=found.get("runner_up_labels"),
            runner_up_scores=found.get("runner_up_scores"),
        )

    from_torchvision = from_transformers

    @classmethod
    def from_ultralytics(cls, found: Any) -> Detections:
        """From one ultralytics `Results`: its boxes, names, size, and masks of the picture's own size."""
        width, height = to_size(tuple(found.orig_shape or ())[::-1], "orig_shape")
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
        boxes = _empty_as(found.boxes.xyxy, 4)
        labels = _named(found.boxes.cls, found.names)
        return cls(boxes, _scores(found.boxes.conf), labels, data, (width, height))

    @classmethod
    def from_supervision(cls, found: Any, *, size: Size = UNSET, names: Names = None) -> Detections:
        """From supervision `Detections`; names come from its `class_name` data unless given."""
        boxes = _empty_as(found.xyxy, 4)
        if found.confidence is None and len(boxes):
            raise InputError("scores: expected supervision Detections with a confidence, got None")
        data = getattr(found, "data", None)
        labels = data.get("class_name") if names is None and isinstance(data, Mapping) else None
        if labels is None:
            labels = getattr(found, "class_id", None)
        masks = getattr(found, "mask", None)
        scores = _scores(() if found.confidence is None else found.confidence)
        return cls(boxes, scores, _named(() if labels is None else labels, names), masks, size)

    @classmethod
    def from_coco(
        cls, found: Iterable[Mapping[str, Any]], *, size: Size = UNSET, names: Names = None
    ) -> Detections:
        """From COCO result dicts of one image: `bbox` (x, y, width, height), `score`, `category_id`.

        A `category` or `category_name` string is taken where there is one. Dicts of several images
        are refused.
        """
        rows = list(found)
        for row in rows:
            if not isinstance(row, Mapping) or not {"bbox", "score"} <= set(row):
                raise InputError(
                    f"detections: expected COCO results with 'bbox' and 'score', got {describe(row)}"
                )
        images = {str(row["image_id"]) for row in rows if "image_id" in row}
        if len(images) > 1:
            raise InputError(
                f"detections: expected results of one image, got image_id {sorted(images)[:5]}"
            )
        corners = coordinates([row["bbox"] for row in rows], 4, "bbox")
        labels = [
            row.get("category", row.get("category_name", row.get("category_id"))) for row in rows
        ]
        boxes = np.concatenate([corners[:, :2], corners[:, :2] + corners[:, 2:]], axis=1)
        return cls(
            boxes,
            _scores([row["score"] for row in rows]),
            _named(labels, names),
            size=size,
        )

    @classmethod
    def from_boxes(
        cls,
        boxes: Any,
        scores: Any,
        labels: Iterable[str] | Iterable[int],
        *,
        size: Size,
        form: str = "xyxy",
        names: Names = None,
        resized: Size | None = None,
    ) -> Detections:
        """From boxes in another form, such as the rows of a YOLO label file (`cxcywh`).

        Args:
            boxes: N×4.
            scores: N.
            labels: N strings, or N class numbers beside `names`.
            size: `(width, height)` of the image.
            names: what class numbers are called.
            resized: `(width, height)` that the detector saw, if it was given a resized image: boxes
                in pixels are mapped back, each axis by its own factor.
            form: `xyxy` or `xywh` in pixels, or `cxcywh` as fractions of the image (DETR, YOLO).

        >>> Detections.from_boxes([[0.3, 0.2, 0.2, 0.2]], [1], ["cat"], size=(1000, 500),
        ...     form="cxcywh").boxes.round().tolist()
        [[200.0, 50.0, 400.0, 150.0]]
        """
        array = coordinates(boxes, 4, "boxes")
        if form == "xywh":
            array = np.concatenate([array[:, :2], array[:, :2] + array[:, 2:]], axis=1)
        elif form == "cxcywh":
            if len(array) and (array.min() < 0 or array.max() > 1):
                raise InputError(
                    "boxes: expected cxcywh as fractions in [0, 1], got numbers outside"
                )
            half = array[:, 2:] / 2
            array = np.concatenate([array[:, :2] - half, array[:, :2] + half], axis=1)
            array = array * np.array([*to_size(size)] * 2, np.float32)
        elif form != "xyxy":
            raise InputError(f"form: expected xyxy, xywh or cxcywh, got {form!r}")
        if resized is not None:
            if form == "cxcywh":
                raise InputError("resized: has no meaning beside fractions of the image")
            factor = np.divide(to_size(size), to_size(resized, "resized")).astype(np.float32)
            array = array * factor[[0, 1, 0, 1]]
        return cls(array, scores, _named(labels, names), size=size)


def _probabilities(value: Any, length: int, name: str) -> Any:
    scores = vector(value, length, name)
    if len(scores) and not (scores.min() >= 0 and scores.max() <= 1):
        raise InputError(
            f"{name}: expected numbers in [0, 1], got {scores.min():g} to {scores.max():g}; "
            "put logits through a sigmoid first"
        )
    return scores


def _sorted_corners(boxes: Any, size: Size) -> Any:
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


def _empty_as(boxes: Any, columns: int) -> Any:
    """An empty result, which libraries give as shape (0,), as (0, columns)."""
    empty = not is_array(boxes) and isinstance(boxes, Sized) and len(boxes) == 0
    if empty or (is_array(boxes) and 0 in tuple(boxes.shape)):
        return np.empty((0, columns), np.float32)
    return boxes


def _scores(scores: Any) -> Any:
    """Scores as they are, but for an empty list, which has no type of its own."""
    return np.empty(0, np.float32) if isinstance(scores, Sized) and len(scores) == 0 else scores


def _named(labels: Any, names: Names) -> tuple[str, ...]:
    values = to_numpy(labels) if is_array(labels) else labels
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"labels: expected one an object, got {describe(labels)}")
    known = None if names is None else class_names(names)
    return tuple(value if isinstance(value, str) else _name(value, known) for value in values)


def _name(value: Any, names: dict[int, str] | None) -> str:
    if names is None:
        raise InputError(
            f"labels: expected strings, or names= for class numbers, got {describe(value)}"
        )
    number = class_number(value, "labels")
    if number not in names:
        raise InputError(f"names: expected a name for class {number}, got {len(names)} others")
    return names[number]
