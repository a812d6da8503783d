"""Point detection: labelled points or boxes that are marked on pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._arrays import describe
from .._plain import decimals
from ..errors import InputError
from ..geometry import Size, normalise, normalise_box
from ..images import image_name, is_picture
from ..program import Item, PerceptionProgram
from ..results import Points
from ._cells import FRAME_NOTE
from ._experts import ExpertLike, check_unused, run_expert

__all__ = ["points_program"]


def points_program(
    *sources: Any, size: Size | None = None, expert: ExpertLike = None
) -> PerceptionProgram:
    """A program of labelled places on one or more images (paper, 3.2: `point-detection`, `pixels`).

    Args:
        sources: each a `Points`, a dict {"A": (x, y), …} in pixels, or a picture on which circles or
            boxes with letters are drawn, which are then found. Items of several sources say which.
        size: `(width, height)` of the image, for dicts.
        expert: what finds the marks on a picture; by default the best that is installed.

    Raises:
        InputError: none of these, or points and boxes mixed.

    >>> points_program({"A": (10, 20)}, size=(100, 100)).items
    (Item(p=None, c=(100, 200), r=None, b='A'),)
    """
    if not sources:
        raise InputError(
            "points: expected at least one Points, dict of points or picture, got none"
        )
    meta: dict[str, Any] = {}
    images: list[Any] = []
    found: list[Points] = []
    for source in sources:
        points, about = _points(source, size, expert)
        found.append(points)
        meta |= about
        images += [source] if about else []
    shapes = {points.boxes is None for points in found}
    if len(shapes) > 1:
        raise InputError(
            "points: expected points or boxes on all images, got points on one and boxes on another"
        )
    names = _names(found)
    items = tuple(
        item for points, name in zip(found, names, strict=True) for item in _items(points, name)
    )
    sizes = [points.size for points in found]
    meta |= {"size": sizes[0]} if len(sizes) == 1 else {"sizes": sizes}
    boxes = shapes == {False}
    return PerceptionProgram(
        modality="point-detection",
        granularity="bounding-box" if boxes else "pixels",
        items=items,
        note=_note(items, boxes, len(found) > 1),
        meta=meta,
        images=tuple(images) if len(images) == len(found) else (),
    )


def _points(source: Any, size: Size | None, expert: ExpertLike) -> tuple[Points, dict[str, Any]]:
    if isinstance(source, Points):
        check_unused("Points", size=size, expert=expert)
        return source, {}
    if isinstance(source, Mapping):
        if size is None:
            raise InputError(
                "size: expected the image's (width, height) beside a dict of points, got None"
            )
        check_unused("a dict of points", expert=expert)
        return Points.from_dict(source, size), {}
    if not is_picture(source):
        raise InputError(
            f"points: expected Points, a dict of points or a picture, got {describe(source)}"
        )
    check_unused("a picture", size=size)
    return run_expert("points", expert, Points, source, name=image_name(source))


def _names(found: list[Points]) -> list[str | None]:
    """What tells the images apart: their names, or numbers where those are missing or the same."""
    if len(found) == 1:
        return [None]
    names = [points.image for points in found]
    if None in names or len(set(names)) < len(names):
        return [f"image {n}" for n in range(1, len(found) + 1)]
    return names


def _items(points: Points, name: str | None) -> list[Item]:
    places: list[tuple[int, ...]]
    if points.boxes is not None:
        places = [normalise_box(box, points.size) for box in decimals(points.boxes)]
    else:
        places = [normalise(x, y, points.size) for x, y in decimals(points.points)]
    return [Item(c=c, b=label, i=name) for c, label in zip(places, points.labels, strict=True)]


def _note(items: tuple[Item, ...], boxes: bool, several: bool) -> str:
    what = "box" if boxes else "point"
    if not items:
        return f"No marked {what} was found: none found."
    parts = [f"Each item is a {what} marked on the image."]
    if several:
        parts = [f"Each item is a {what} marked on one of the images.", "i: which image."]
    place = "[x0, y0, x1, y1], the upper left and lower right corner" if boxes else "[x, y]"
    own = ", each image by its own width and height" if several else ""
    parts.append(f"c: {place}; {FRAME_NOTE}{own}.")
    parts.append("b: the letter beside it.")
    return " ".join(parts)
