"""COCO JSON, read and made: lists of results, and annotation files (images, annotations, categories).

Boxes are `[x, y, width, height]` in pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import describe, is_series
from ..errors import InputError
from ..geometry import Size, to_size
from ._check import UNSET, class_names, coordinates
from ._coco_masks import encode_mask, mask_of
from ._connect import Names, numbered, texts, with_scores

__all__ = ["coco_file", "read_coco", "to_coco"]

Rows = Iterable[Mapping[str, Any]]


def read_coco(
    found: Rows | Mapping[str, Any],
    *,
    size: Size,
    names: Names,
    image: int | str | None,
    score: float | None,
    masks: bool,
) -> dict[str, Any]:
    """The fields of `Detections`, of one image."""
    if isinstance(found, Mapping):
        rows, size, names = _of_file(found, size, names, image)
    else:
        rows = _of_results(found, image)
    for row in rows:
        if not isinstance(row, Mapping) or not {"bbox"} <= set(row):
            raise InputError(f"detections: expected COCO rows with 'bbox', got {describe(row)}")
        if "score" not in row and score is None:
            raise InputError(
                "detections: expected COCO results with 'score', got a row without; score= is given "
                "to boxes that come without (1 to what a person drew)"
            )
    labels = texts([_label(row) for row in rows], names)
    return {
        "boxes": _corners([row["bbox"] for row in rows]),
        "scores": with_scores([row.get("score") for row in rows], score),
        "labels": tuple(
            f"{label} (crowd)" if row.get("iscrowd") else label
            for label, row in zip(labels, rows, strict=True)
        ),
        "masks": _masks(rows, to_size(size)) if masks else None,
        "size": size,
    }


def _of_results(found: Rows, image: int | str | None) -> list[Mapping[str, Any]]:
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise InputError(f"detections: expected a list of COCO results, got {describe(found)}")
    rows = list(found)
    images = {
        str(row["image_id"]) for row in rows if isinstance(row, Mapping) and "image_id" in row
    }
    if image is None:
        if len(images) > 1:
            raise InputError(
                f"detections: expected results of one image, got image_id {sorted(images)[:5]}; "
                "image= says which"
            )
        return rows
    return [row for row in rows if isinstance(row, Mapping) and _same(row.get("image_id"), image)]


def _same(number: Any, image: int | str) -> bool:
    return number is not None and str(number) == str(image)


def _of_file(
    data: Mapping[str, Any], size: Size, names: Names, image: int | str | None
) -> tuple[list[Mapping[str, Any]], Size, Names]:
    """The rows of one image of an annotation file, with its size and what its classes are called."""
    for key in ("images", "annotations", "categories"):
        if not is_series(data.get(key)) or not all(isinstance(row, Mapping) for row in data[key]):
            raise InputError(f"COCO file: expected a list of objects under {key!r}")
    if size is not UNSET or names is not None:
        raise InputError("size, names: have no meaning beside a COCO file, which has its own")
    images = data["images"]
    if image is not None:
        images = [i for i in images if _same(i.get("id"), image) or i.get("file_name") == image]
    if len(images) != 1 or not {"id", "width", "height"} <= set(images[0]):
        raise InputError(
            f"image: expected the id or file_name of one image with its width and height, got "
            f"{describe(image)}, which is that of {len(images)} of {len(data['images'])}"
        )
    (entry,) = images
    rows = [row for row in data["annotations"] if _same(row.get("image_id"), entry["id"])]
    return rows, to_size((entry["width"], entry["height"])), list(data["categories"])


def _label(row: Mapping[str, Any]) -> Any:
    return row.get("category", row.get("category_name", row.get("category_id")))


def _corners(boxes: Sequence[Any]) -> Any:
    coordinates(boxes, 4, "bbox")
    values = np.array(boxes, np.float64).reshape(
        -1, 4
    )  # so that x + width is the x1 it was made of
    return np.concatenate([values[:, :2], values[:, :2] + values[:, 2:]], axis=1)


def _masks(rows: Sequence[Mapping[str, Any]], size: Size) -> Any:
    masks = np.zeros((len(rows), size[1], size[0]), bool)
    for number, row in enumerate(rows):
        masks[number] = mask_of(row.get("segmentation"), size, f"segmentation of object {number}")
    return masks


def to_coco(found: Any, *, image: int | str, names: Names) -> list[dict[str, Any]]:
    """Result rows of one image."""
    numbers, _ = numbered(found.labels, names)
    boxes = found.boxes.astype(np.float64)
    rows = []
    for row, (box, number) in enumerate(zip(boxes, numbers, strict=True)):
        made: dict[str, Any] = {
            "image_id": image,
            "category_id": number,
            "bbox": [*box[:2].tolist(), *(box[2:] - box[:2]).tolist()],
            "score": float(found.scores[row]),
        }
        if found.masks is not None:
            made["segmentation"] = encode_mask(found.masks[row])
        rows.append(made)
    return rows


def coco_file(found: Mapping[str, Any], names: Names = None) -> dict[str, Any]:
    """A COCO annotation file, as the dict that `json.dump` writes, of the detections of some pictures.

    Args:
        found: {file name: `Detections`}.
        names: the categories' numbers; None numbers the labels 1, 2, 3… in the order in which they
            first come.

    Raises:
        InputError: a label that `names` lacks.

    >>> from perception_programs import Detections
    >>> cat = Detections([[10, 20, 40, 60]], [0.5], ("cat",), size=(100, 80))
    >>> data = coco_file({"a.jpg": cat})
    >>> data["annotations"][0]["bbox"], data["categories"]
    ([10.0, 20.0, 30.0, 40.0], [{'id': 1, 'name': 'cat'}])
    >>> Detections.from_coco(data, image="a.jpg").labels
    ('cat',)
    """
    if not isinstance(found, Mapping):
        raise InputError(f"found: expected {{file name: Detections}}, got {describe(found)}")
    if names is None:
        labels = dict.fromkeys(label for one in found.values() for label in one.labels)
        names = dict(enumerate(labels, 1))
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number, (file, one) in enumerate(found.items(), 1):
        width, height = one.size
        images.append({"id": number, "file_name": file, "width": width, "height": height})
        for n, row in enumerate(to_coco(one, image=number, names=names)):
            area = row["bbox"][2] * row["bbox"][3]
            if one.masks is not None:
                area = int(one.masks[n].sum())
            annotations.append({"id": len(annotations) + 1, **row, "area": area, "iscrowd": 0})
    categories = [{"id": n, "name": name} for n, name in class_names(names).items()]
    return {"images": images, "annotations": annotations, "categories": categories}
