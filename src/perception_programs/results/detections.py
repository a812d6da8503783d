"""Boxes around objects, with labels and scores, from any detector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._arrays import describe, read_only, to_numpy
from ..errors import InputError
from ..geometry import Size, to_size
from ._answers import resolve_label
from ._boxes import corners_of, probabilities, runner_ups, sorted_corners
from ._check import UNSET, Result, check_text, check_threshold, coordinates, labels_of
from ._coco import read_coco, to_coco
from ._connect import Names, texts
from ._fiftyone import is_fiftyone, read_fiftyone, to_fiftyone
from ._pipelines import is_pipeline, object_output, read_objects
from ._supervision import read_supervision, to_supervision
from ._transformers import read_transformers, to_transformers
from ._ultralytics import read_ultralytics, to_ultralytics
from .model_boxes import BoxFrame, read_answer

__all__ = ["Detections", "Names"]


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
        boxes = sorted_corners(coordinates(self.boxes, 4, "boxes"), size)
        scores = probabilities(self.scores, len(boxes), "scores")
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
        seconds = runner_ups(self.runner_up_labels, self.runner_up_scores, len(boxes))
        set_field(self, "runner_up_labels", seconds[0])
        set_field(self, "runner_up_scores", seconds[1])

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
        torchvision detector, the list of a transformers pipeline, FiftyOne's detections, or a list of
        COCO result dicts.

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
        if is_pipeline(found) or is_fiftyone(found):
            if names is not None:
                raise InputError("names: have no meaning beside labels that are strings")
            return (cls.from_pipeline if is_pipeline(found) else cls.from_fiftyone)(
                found, size=size
            )
        if isinstance(found, Sequence) and all(
            isinstance(f, Mapping) and "bbox" in f for f in found
        ):
            return cls.from_coco(found, size=size, names=names)
        if isinstance(found, Mapping) and "annotations" in found:
            raise InputError(
                "detections: expected the result of one image, got a COCO annotation file, which has "
                "no scores; Detections.from_coco(file, image=..., score=1) takes one of its images"
            )
        raise InputError(
            "detections: expected Detections, or the result of one image: ultralytics Results, "
            "supervision Detections, a dict with boxes, scores and labels, the list of a transformers "
            f"pipeline, FiftyOne's detections, or a list of COCO result dicts, got {describe(found)}"
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
        return cls(**read_transformers(found, names), size=size)

    from_torchvision = from_transformers

    @classmethod
    def from_pipeline(
        cls, output: Any, *, size: Size = UNSET, score: float | None = None
    ) -> Detections:
        """From a transformers pipeline: `zero-shot-object-detection`, `object-detection`, `image-segmentation`.

        Boxes that reach beyond the image are clipped to it, since OWL's often do, and what lies wholly
        outside or has no area is left out. Spaces around labels are removed. Of `image-segmentation`
        each mask is an object, with the box around it; empty masks are left out.

        Args:
            output: the list of one image.
            size: `(width, height)` of the image; masks bring their own.
            score: the score of objects without one, as segments of semantic models are.
        """
        return cls(**read_objects(output, size=size, score=score))

    @classmethod
    def from_ultralytics(cls, found: Any) -> Detections:
        """From one ultralytics `Results`: its boxes, names, size, and masks of the picture's own size."""
        return cls(**read_ultralytics(found))

    @classmethod
    def from_supervision(
        cls,
        found: Any,
        *,
        size: Size = UNSET,
        names: Names = None,
        score: float | None = None,
    ) -> Detections:
        """From supervision `Detections`; labels are its `class_name` data, unless `names` is given.

        Args:
            found: the detections.
            size: `(width, height)` of the image, which supervision does not keep.
            names: what its `class_id` numbers are called.
            score: the score of boxes without a confidence, such as annotations.
        """
        return cls(**read_supervision(found, names, score), size=size)

    @classmethod
    def from_coco(
        cls,
        found: Iterable[Mapping[str, Any]] | Mapping[str, Any],
        *,
        size: Size = UNSET,
        names: Names = None,
        image: int | str | None = None,
        score: float | None = None,
        masks: bool = False,
    ) -> Detections:
        """From COCO JSON: result dicts (`bbox`, `score`, `category_id`), or a whole annotation file.

        A `category` or `category_name` string is taken where there is one. A box around a crowd
        (`iscrowd`) is labelled so: `person (crowd)`.

        Args:
            found: the list of results, or the file's dict of `images`, `annotations`, `categories`.
            size: `(width, height)` of the image; a file has its own.
            names: what the category numbers are called; a file has its own.
            image: which image: its id, or in a file its `file_name`. Not needed if there is but one.
            score: the score of boxes without one, as annotations are.
            masks: whether to read `segmentation`, polygons or run-length codes.

        Raises:
            InputError: several images and no `image`, a box without a score and no `score`.
        """
        return cls(
            **read_coco(found, size=size, names=names, image=image, score=score, masks=masks)
        )

    @classmethod
    def from_fiftyone(cls, found: Any, *, size: Size, score: float | None = None) -> Detections:
        """From FiftyOne's `Detections`, its dict, or a list of `label`, `bounding_box`, `confidence`.

        Masks are not read.

        Args:
            found: FiftyOne's object, or the same as dicts.
            size: `(width, height)` of the image; `bounding_box` is in fractions of it.
            score: the score of boxes without a confidence, as annotations are.
        """
        return cls(**read_fiftyone(found, size=size, score=score))

    @classmethod
    def from_answer(
        cls,
        answer: Any,
        *,
        size: Size,
        frame: BoxFrame | str,
        label: str | None = None,
        score: float | None = None,
    ) -> Detections:
        """From the boxes that a language model wrote: JSON, in code fences or within prose.

        Reads objects with a box (`box_2d`, `bbox_2d`, `bbox`, `box`…: four numbers, or sides with
        names), a `label` and perhaps a `score`, lists of them, or bare lists of four numbers. An empty
        list is no object. Reversed corners are sorted; other keys are not read. Nothing is repaired.

        Args:
            answer: the text, or the data already parsed.
            size: `(width, height)` of the source image.
            frame: how the model writes boxes, which the numbers do not tell: `gemini`, `qwen3-vl`, or
                a `BoxFrame`, such as `BoxFrame("xyxy", 1024, 768)` for pixels of an image that was
                resized to 1024×768.
            label: the label of boxes without one.
            score: the score of boxes without one. Models seldom write any, and those they do write
                are no measurement.

        Raises:
            InputError: no boxes, JSON that is broken or cut short, or numbers outside the frame.

        >>> answer = 'Here: ```json [{"box_2d": [100, 200, 300, 400], "label": "cat"}] ```'
        >>> found = Detections.from_answer(answer, size=(640, 480), frame="gemini", score=1)
        >>> found.boxes.tolist(), found.labels
        ([[128.0, 48.0, 256.0, 144.0]], ('cat',))
        """
        return cls(**read_answer(answer, size=size, frame=frame, label=label, score=score))

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
        array = corners_of(boxes, form, to_size(size), resized)
        return cls(array, scores, texts(labels, names), size=size)

    def to_supervision(self, *, names: Names = None) -> Any:
        """As supervision `Detections`, with labels as `class_name` data.

        Args:
            names: the `class_id` of each label; 0, 1, 2… in the order in which they first come if None.

        Raises:
            MissingExtraError: supervision is not installed.
        """
        return to_supervision(self, names)

    def to_ultralytics(self, image: Any, *, names: Names = None) -> Any:
        """As ultralytics `Results`, which keep the picture: anything that `load_image` takes.

        Raises:
            InputError: a picture of another size.
            MissingExtraError: ultralytics is not installed.
        """
        return to_ultralytics(self, image, names)

    def to_transformers(self, *, names: Names = None) -> dict[str, Any]:
        """As the dict of tensors of a transformers post-processor, with `text_labels`.

        Raises:
            MissingExtraError: torch is not installed.
        """
        return to_transformers(self, names)

    def to_pipeline(self) -> list[dict[str, Any]]:
        """As the list of transformers' `object-detection`, whose boxes are not cut to integers here.

        >>> Detections([[1, 2, 3.5, 4]], [0.5], ("cat",), size=(9, 9)).to_pipeline()[0]["box"]
        {'xmin': 1.0, 'ymin': 2.0, 'xmax': 3.5, 'ymax': 4.0}
        """
        return object_output(self)

    def to_coco(self, *, image: int | str, names: Names) -> list[dict[str, Any]]:
        """As COCO results of one image; `results.coco_file` makes a whole annotation file.

        Args:
            image: its `image_id`.
            names: the category number of each label.

        Raises:
            InputError: a label that `names` lacks.
        """
        return to_coco(self, image=image, names=names)

    def to_fiftyone(self) -> dict[str, Any]:
        """As the dict of FiftyOne's `Detections`, without masks.

        >>> found = Detections([[10, 20, 40, 60]], [0.5], ("cat",), size=(100, 80))
        >>> found.to_fiftyone()["detections"][0]["bounding_box"]
        [0.1, 0.25, 0.3, 0.5]
        """
        return to_fiftyone(self)
