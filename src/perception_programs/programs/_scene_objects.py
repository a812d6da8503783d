"""The objects of a scene: their boxes, and the pixels of a map that show each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ..geometry import Size
from ..results import Detections, Segmentation

__all__ = ["EXTENTS", "Extent", "Objects", "Window", "of_detections", "of_regions"]

Window: TypeAlias = tuple[slice, slice]
"""Rows and columns of a map."""

EXTENTS = {
    "mask": "over its mask",
    "segmentation": "over the pixels of its class in its box",
    "region": "over its region",
    "middle": "over the middle half of its box's width and height, less other boxes",
}
"""The pixels that show an object, by what tells which they are."""

_SMALLEST = 0.001  # of the picture; smaller regions are specks along the edges of others
_ENOUGH = 0.05  # of the middle of a box must lie outside of other boxes for those to be left out
_GROUND = "background"  # a class of this name is what is around the objects


@dataclass(frozen=True)
class Extent:
    """Which pixels show an object.

    Attributes:
        how: a key of `EXTENTS`.
        layer: a map of the picture, at any resolution, or None for the middle of the box.
        values: what that map holds where the object is.
    """

    how: str
    layer: Any = None
    values: tuple[int, ...] = ()

    def within(self, shape: tuple[int, int], window: Window) -> npt.NDArray[np.bool_] | None:
        """Where in a window of a map of `shape` the object is, or None if nothing tells."""
        if self.layer is None:
            return None
        rows, cols = (
            (np.arange(part.start, part.stop) * 2 + 1) * there // (2 * here)
            for part, here, there in zip(window, shape, self.layer.shape, strict=True)
        )
        layer = self.layer[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]
        if layer.shape != (len(rows), len(cols)):
            layer = self.layer[np.ix_(rows, cols)]
        found = np.zeros(layer.shape, np.bool_)
        for value in self.values:
            found |= layer == value
        return found


@dataclass(frozen=True)
class Objects:
    """Objects of a picture.

    Attributes:
        boxes: N×4, xyxy in pixels.
        labels: N.
        scores: N, or None where nothing says how sure they are.
        extents: N.
        size: `(width, height)` of the picture.
    """

    boxes: npt.NDArray[Any]
    labels: tuple[str, ...]
    scores: npt.NDArray[Any] | None
    extents: tuple[Extent, ...]
    size: Size

    def __len__(self) -> int:
        return len(self.boxes)

    def medians(self, field: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The median of a map over each object's pixels, N; NaN where none of them could be read."""
        medians = np.full(len(self), np.nan, field.dtype)
        for n in range(len(self)):
            pixels = self._pixels(field, n)
            read = pixels[np.isfinite(pixels)]
            if len(read):
                medians[n] = np.median(read)
        return medians

    def _pixels(self, field: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
        window = self.window(n, field.shape)
        there = self.extents[n].within(field.shape, window)
        if there is not None and there.any():
            pixels: npt.NDArray[Any] = field[window][there]
            return pixels
        return self._middle(field, n)

    def _middle(self, field: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
        """The middle half of a box's width and height, less other boxes, of which the one or the other
        may lie in front; where hardly anything is left of that, the whole box less other boxes.
        """
        for part in (0.5, 1.0):
            window = self.window(n, field.shape, part)
            free = self._free(n, window, field.shape)
            if np.count_nonzero(free) >= _ENOUGH * free.size:
                pixels: npt.NDArray[Any] = field[window][free]
                return pixels
        return field[self.window(n, field.shape, 0.5)].ravel()

    def _free(self, n: int, window: Window, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Where in a window no other box lies, but for those that hold all of the box: of those it
        may be a part.
        """
        free = np.ones([part.stop - part.start for part in window], np.bool_)
        low, high = self.boxes[n, :2], self.boxes[n, 2:]
        beside = (self.boxes[:, :2] < high).all(axis=1) & (self.boxes[:, 2:] > low).all(axis=1)
        around = (self.boxes[:, :2] <= low).all(axis=1) & (self.boxes[:, 2:] >= high).all(axis=1)
        for m in np.flatnonzero(beside & ~around).tolist():
            free[_within(self.window(m, shape), window)] = False
        return free

    def window(self, n: int, shape: tuple[int, ...], part: float = 1.0) -> Window:
        """The pixels of a map of `shape` in an object's box, or the middle `part` of its sides."""
        return _window(self.boxes[n], shape, self.size, part)

    def around(self, field: npt.NDArray[Any]) -> float:
        """The median of a map over what lies in no box; NaN where that could not be read."""
        free = np.isfinite(field)
        for n in range(len(self)):
            free[self.window(n, field.shape)] = False
        return float(np.median(field[free])) if free.any() else math.nan


def _within(part: Window, whole: Window) -> Window:
    """Where the first window lies in the second, counted from its corner."""
    rows, cols = (
        slice(max(p.start - w.start, 0), max(min(p.stop, w.stop) - w.start, 0))
        for p, w in zip(part, whole, strict=True)
    )
    return rows, cols


def _window(box: Any, shape: tuple[int, ...], size: Size, part: float = 1.0) -> Window:
    """The pixels of a map whose middles lie in a box, and at least the one at the box's own middle."""
    spans = []
    for axis, length in ((1, shape[0]), (0, shape[1])):
        low, high = (float(box[axis + 2 * end]) * length / size[axis] for end in (0, 1))
        middle, half = (low + high) / 2, (high - low) / 2 * part
        first, last = math.ceil(middle - half - 0.5), math.ceil(middle + half - 0.5)
        if last <= first:
            first = min(math.floor(middle), length - 1)
            last = first + 1
        spans.append(slice(first, last))
    return spans[0], spans[1]


def of_detections(
    found: Detections, rows: Sequence[int], segmentation: Segmentation | None
) -> Objects:
    """The detections in `rows`, each shown by its mask, else by the pixels of its class, else by the
    middle of its box: corners of a box mostly show what is around the object.
    """
    extents = tuple(_extent(found, row, segmentation) for row in rows)
    keep = list(rows)
    labels = tuple(found.labels[row] for row in keep)
    return Objects(found.boxes[keep], labels, found.scores[keep], extents, found.size)


def _extent(found: Detections, row: int, segmentation: Segmentation | None) -> Extent:
    known = [] if found.masks is None else [Extent("mask", found.masks[row], (1,))]
    if segmentation is not None:
        name = _plain(found.labels[row])
        names = cast("Mapping[int, str]", segmentation.names)
        alike = tuple(number for number in names if _plain(names[number]) == name)
        known.append(Extent("segmentation", segmentation.classes, alike))
    for extent in known:
        shape = extent.layer.shape
        there = extent.within(shape, _window(found.boxes[row], shape, found.size))
        if there is not None and there.any():
            return extent
    return Extent("middle")


def _plain(label: str) -> str:
    return " ".join(label.casefold().split())


def of_regions(segmentation: Segmentation) -> tuple[Objects, int]:
    """The connected regions of each class, the largest first, and how many were too small to count."""
    import skimage.measure

    measure: Any = skimage.measure  # some of its functions have no types
    classes = segmentation.classes
    numbers, inverse = np.unique(classes, return_inverse=True)
    named = [segmentation.name(int(number)) for number in numbers]
    ground = np.array([_plain(name) == _GROUND for name in named])
    values = np.where(ground, 0, np.arange(1, len(numbers) + 1))[inverse].reshape(classes.shape)
    found = measure.label(values, background=0, connectivity=1)
    areas = np.bincount(found.ravel())
    areas[0] = 0
    order = np.argsort(-areas, kind="stable")
    large = order[areas[order] >= max(_SMALLEST * classes.size, 1)]
    renumbered = np.zeros(len(areas), np.int64)
    renumbered[large] = np.arange(1, len(large) + 1)
    regions = renumbered[found]
    properties = measure.regionprops(regions)
    factors = np.divide(segmentation.size, classes.shape[::-1])[[0, 1, 0, 1]]
    boxes = [np.array(region.bbox)[[1, 0, 3, 2]] * factors for region in properties]
    first = [tuple(region.coords[0]) for region in properties]
    objects = Objects(
        boxes=np.array(boxes).reshape(-1, 4),
        labels=tuple(segmentation.name(int(classes[place])) for place in first),
        scores=None,
        extents=tuple(Extent("region", regions, (n,)) for n in range(1, len(large) + 1)),
        size=segmentation.size,
    )
    return objects, int(np.count_nonzero(areas)) - len(large)
