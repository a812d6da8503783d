"""What a segmentation of the same image shows at a place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import InputError
from ..geometry import Size
from ..results import Segmentation
from ._points import disc_pixels

__all__ = ["labels_at", "segmentation_of"]


def segmentation_of(labels: Any, size: Size) -> Segmentation | None:
    """The segmentation that labels are, or None where there are none.

    Args:
        labels: a `Segmentation`, an H×W map of class numbers, or None.
        size: `(width, height)` of the image.

    Raises:
        InputError: the segmentation is of an image of another size.

    >>> segmentation_of([[0, 1]], (2, 1)).size
    (2, 1)
    """
    if labels is None:
        return None
    known = labels if isinstance(labels, Segmentation) else Segmentation(labels)
    if known.size != size:
        raise InputError(f"labels: expected a segmentation of {size}, got one of {known.size}")
    return known


def labels_at(labels: Any, places: Iterable[tuple[float, float]], size: Size) -> list[str | None]:
    """The name of what is at each place, or None throughout where there are no labels.

    Args:
        labels: as `segmentation_of` takes them.
        places: (x, y) in pixels of the image.
        size: `(width, height)` of the image.

    Raises:
        InputError: the segmentation is of an image of another size.

    >>> labels_at(Segmentation([[0, 1]], ["sky", "tree"]), [(1, 0)], (2, 1))
    ['tree']
    """
    known = segmentation_of(labels, size)
    if known is None:
        return [None for _ in places]
    names: list[str | None] = []
    for place in places:
        rows, columns = disc_pixels(known.classes.shape, place, size, 0)
        names.append(known.name(int(known.classes[rows[0], columns[0]])))
    return names
