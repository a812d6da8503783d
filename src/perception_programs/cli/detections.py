"""Detections from a file of JSON: those of one image, with a size and names from elsewhere."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..geometry import Size
from ..results import Detections
from .inputs import Json, result_of

__all__ = ["read_detections"]


def read_detections(
    given: Json, names: dict[int, str] | None, size: Size | None, image_id: str | None
) -> Detections:
    """The detections of a file.

    Args:
        given: COCO results, or the fields of `Detections`.
        names: what class numbers are called.
        size: the picture's, where the file lacks it.
        image_id: which image of COCO results of several.

    Raises:
        InputError: the file holds something else, or one of these is missing.
    """
    if not isinstance(given.data, list):
        if image_id is not None:
            raise InputError("--image-id: has no meaning beside a result of one image")
        found: Detections = result_of(Detections, given, names=names, size=size)
        return found
    rows = _of_one_image(given, image_id)
    if size is None:
        raise InputError(
            "size: expected the size of the picture, which COCO results lack; "
            "say --size WIDTHxHEIGHT or --image PICTURE"
        )
    found = result_of(Detections, Json(given.name, rows), names=names, size=size)
    return found


def _of_one_image(given: Json, image_id: str | None) -> list[Any]:
    """The COCO results of one image of a file."""
    rows: list[Any] = given.data
    ids = list(
        dict.fromkeys(str(r["image_id"]) for r in rows if isinstance(r, dict) and "image_id" in r)
    )
    listed = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
    if image_id is None:
        if len(ids) > 1:
            raise InputError(
                f"{given.name!r} holds results of {len(ids)} images, {listed}; say --image-id"
            )
        return rows
    if image_id not in ids:
        raise InputError(f"--image-id: expected one of {listed or 'none'}, got {image_id!r}")
    return [r for r in rows if isinstance(r, dict) and str(r.get("image_id")) == image_id]
