"""A grid whose cells are cut into quarters where one reading says least about them.

**Places.** A base grid of rows × cols lies over the 0-1000 frame; its column edges are at
`floor(1000 i / cols)`, its row edges at `floor(1000 i / rows)`, and its cells are numbered row by row from
1. A cell may be cut in quarters, 1 upper left, 2 upper right, 3 lower left, 4 lower right, at
`(a + b) // 2` on each axis, and a quarter again: "17.3" is the third quarter of cell 17. A pixel belongs to
the cell whose interval holds its own place in the frame, `floor(1000 x / W)`, so every pixel is in one cell.

**Which cells are cut.** A cell may be cut while its range of values exceeds `split` and each quarter keeps
a pixel; the cut that mends most goes first, as long as there are cells left to spend. What a cell gets
wrong is measured by the question that depth is asked for: of four pixels drawn at random, which is nearest?
A pixel that is nearer than a share F of all is the nearest of four with probability F³, and one that reads
like the share G is taken for it with G³, so it counts |F³ - G³|; and 3/2 F² times the cell's share of the
picture, the chance that another of the four lies in the same cell, reads the same, and leaves a tie.
A cell in front thus counts more than one far behind, whose order no such question asks. A cut may pay only
once a quarter is cut too, so cuts are judged two levels deep.

**Which base grid.** Several are tried, the plain grid of as many cells among them. Taken is the one from whose
cells most such questions are answered right, of those whose mean |reading - truth| over the pixels is no
larger than the plain grid's. At last one cut after another is moved elsewhere, as long as that answers more
and keeps that mean. The mean is taken over every pixel, so it is never worse than the plain grid's; cuts
and questions are judged on a sample of a large map.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..geometry import FRAME, Grid, Size
from ..program import Identifier
from ..results import Segmentation

__all__ = [
    "Box",
    "Middle",
    "QuadCell",
    "adaptive_cells",
    "base_boxes",
    "mean_error",
    "names_in",
    "pixels_of",
    "touching",
]

Box = tuple[int, int, int, int]
"""`(x0, y0, x1, y1)`, x1 and y1 exclusive; in the 0-1000 frame unless said otherwise."""

Middle = Callable[[npt.NDArray[Any]], float]
"""What a reader takes a cell's pixels to be: the middle of their range, or their median."""

_Cuts = dict[Box, tuple[Box, Box, Box, Box]]
"""The quarters of every box that is cut."""

_ASKED = 4  # points a question; HardBLINK asks about 3, 4 and 5
_APART = 0.02  # nearness by which the nearest is before the others, as in `blink.ceiling`
_LOOK = 2  # levels of cuts that are judged together
_COARSEST = 16  # times the cells of a base grid are at least all: two levels of quarters
_EFFORT = 1600  # base grids tried times the cells of each; four grids are tried at least
_SEEN, _TRIED = 12, 4  # cuts to take back, and to make: alone; and with each other
_BINS = 128  # shares of the pixels, from the farthest to the nearest, that are told apart
_PLANNED = 250_000  # pixels of a larger map that cuts are planned on


@dataclass(frozen=True)
class QuadCell:
    """A cell: what it is called, and its box in the 0-1000 frame."""

    name: Identifier
    box: Box


@dataclass(frozen=True)
class _Error:
    """What one reading for a cell gets wrong, summed over its pixels, and the range of those."""

    total: float
    spread: float


def base_boxes(grid: Grid) -> list[Box]:
    """Each base cell's box in the frame, row by row.

    >>> base_boxes(Grid(1, 3))
    [(0, 0, 333, 1000), (333, 0, 666, 1000), (666, 0, 1000, 1000)]
    """
    xs = [FRAME * i // grid.cols for i in range(grid.cols + 1)]
    ys = [FRAME * i // grid.rows for i in range(grid.rows + 1)]
    rows, columns = itertools.pairwise(ys), list(itertools.pairwise(xs))
    return [(x0, y0, x1, y1) for y0, y1 in rows for x0, x1 in columns]


def pixels_of(box: Box, size: Size) -> Box:
    """The pixels of a map of `size` that lie in a box of the frame.

    >>> pixels_of((333, 0, 666, 1000), (10, 10))
    (4, 0, 7, 10)
    """
    x0, y0, x1, y1 = (-(-edge * size[n % 2] // FRAME) for n, edge in enumerate(box))
    return x0, y0, x1, y1


def adaptive_cells(
    truth: npt.NDArray[Any], grid: Grid, middle: Middle, split: float
) -> tuple[Grid, list[QuadCell]]:
    """At most `grid.count` cells that say more of a map than the cells of `grid`.

    Args:
        truth: H×W in [0, 1], larger is nearer, NaN where it could not be read.
        grid: the plain grid; its count is the budget.
        middle: from a cell's readable pixels to what is read there.
        split: a cell with no larger range than this is not cut.

    Returns:
        The base grid, and the cells, each base cell's quarters in its place.

    Raises:
        InputError: the grid is finer than the map, or than the frame.
    """
    size = (truth.shape[1], truth.shape[0])
    grid.edges(size)  # raises if it is finer
    if any(x0 == x1 or y0 == y1 for x0, y0, x1, y1 in _pixel_boxes(base_boxes(grid), size)):
        raise InputError(
            f"grid: expected cells of at least a pixel and 1/{FRAME} of the picture's sides, got "
            f"{grid.rows} rows × {grid.cols} columns for {size[0]}×{size[1]} pixels"
        )
    errors = _Errors(truth, middle, split)
    plans = []
    for base in _bases(grid, size):
        cuts = _cuts(base, grid.count, errors)
        if cuts is not None:
            plans.append((errors.answered(_boxes(base, cuts)), base, cuts))
    plain = mean_error(truth, base_boxes(grid), middle)
    for _, base, cuts in sorted(plans, key=lambda plan: -plan[0]):
        if mean_error(truth, _boxes(base, cuts), middle) <= plain:
            moved = _moved(base, cuts, errors)
            fits = mean_error(truth, _boxes(base, moved), middle) <= plain
            return base, list(_cells(base, moved if fits else cuts))
    return grid, list(_cells(grid, {}))


def mean_error(truth: npt.NDArray[Any], boxes: Sequence[Box], middle: Middle) -> float:
    """The mean |reading - truth| over the readable pixels, when each box has one reading."""
    total, count = 0.0, 0
    for x0, y0, x1, y1 in _pixel_boxes(boxes, (truth.shape[1], truth.shape[0])):
        values = truth[y0:y1, x0:x1]
        values = values[~np.isnan(values)]
        if values.size:
            total += float(np.abs(values - middle(values)).sum(dtype=np.float64))
            count += values.size
    return total / max(count, 1)


def touching(boxes: Sequence[Box]) -> Iterator[tuple[int, int]]:
    """The numbers (from 0) of each two boxes that share part of a side, the earlier first.

    >>> list(touching([(0, 0, 5, 5), (5, 0, 10, 10), (0, 5, 5, 10), (5, 10, 9, 20)]))
    [(0, 1), (0, 2), (1, 2), (1, 3)]
    """
    edges = np.array(boxes).reshape(-1, 4)
    for n, (x0, y0, x1, y1) in enumerate(boxes):
        later = edges[n + 1 :]
        across = np.minimum(later[:, 2], x1) - np.maximum(later[:, 0], x0)
        down = np.minimum(later[:, 3], y1) - np.maximum(later[:, 1], y0)
        side = ((across == 0) & (down > 0)) | ((down == 0) & (across > 0))
        yield from ((n, n + 1 + int(k)) for k in np.flatnonzero(side))


def names_in(segmentation: Segmentation, boxes: Sequence[Box]) -> list[str]:
    """The name of the class that covers most of each box; of equals the lowest number."""
    height, width = segmentation.classes.shape
    names = []
    for box in boxes:
        x0, y0, x1, y1 = pixels_of(box, (width, height))
        # A box smaller than a pixel of a coarse segmentation shows what that pixel does.
        x0, y0 = min(x0, width - 1), min(y0, height - 1)
        part = segmentation.classes[y0 : max(y1, y0 + 1), x0 : max(x1, x0 + 1)]
        numbers, counts = np.unique(part, return_counts=True)
        names.append(segmentation.name(int(numbers[np.argmax(counts)])))
    return names


def _pixel_boxes(boxes: Sequence[Box], size: Size) -> list[Box]:
    return [pixels_of(box, size) for box in boxes]


def _bases(grid: Grid, size: Size) -> list[Grid]:
    """The grids to start from: of the plain one's shape, of square numbers, or of square cells."""
    found = set()
    for rows in range(1, grid.count + 1):
        for ratio in (grid.cols / grid.rows, 1, size[0] / size[1]):
            cols = max(1, round(rows * ratio))
            if grid.count <= _COARSEST * rows * cols and rows * cols <= grid.count:
                found.add(Grid(rows, cols))
    ordered = sorted(found, key=lambda base: (base.count, base.rows))
    most = max(4, _EFFORT // grid.count)
    return list(dict.fromkeys([*ordered[:: -(-len(ordered) // most)], grid]))


def _quarters(box: Box) -> tuple[Box, Box, Box, Box]:
    x0, y0, x1, y1 = box
    x, y = (x0 + x1) // 2, (y0 + y1) // 2
    return (x0, y0, x, y), (x, y0, x1, y), (x0, y, x, y1), (x, y, x1, y1)


class _Errors:
    """What one reading gets wrong, box by box; large maps are looked at every few pixels."""

    def __init__(self, truth: npt.NDArray[Any], middle: Middle, split: float) -> None:
        self._size = (truth.shape[1], truth.shape[0])
        self._step = math.ceil(math.sqrt(truth.size / _PLANNED))
        self._truth = truth[:: self._step, :: self._step]
        self._known = ~np.isnan(self._truth)
        if not self._known.any():  # what can be read lies between the pixels looked at
            self._truth, self._known, self._step = truth, ~np.isnan(truth), 1
        self._middle, self._split = middle, split
        self._ordered = np.sort(self._truth[self._known])
        share = np.zeros(self._truth.shape)
        share[self._known] = self._share(self._truth[self._known])
        self._nearest = share ** (_ASKED - 1)
        self._bins = np.minimum(share * _BINS, _BINS - 1).astype(np.intp)
        middles = (np.arange(_BINS) + 0.5) / _BINS * self._ordered.size
        values = self._ordered[middles.astype(np.intp)]
        self._farther = np.searchsorted(values, values - _APART, side="left")  # bins beyond each
        self._tied = (_ASKED - 1) / 2 * share ** (_ASKED - 2) / self._ordered.size
        self._found: dict[Box, _Error | None] = {}
        self._held: dict[Box, tuple[float, npt.NDArray[Any]]] = {}

    def _share(self, values: Any) -> Any:
        """The share of all pixels that are farther, equal ones counting half."""
        below = np.searchsorted(self._ordered, values, side="left")
        return (below + np.searchsorted(self._ordered, values, side="right")) / (
            2 * self._ordered.size
        )

    def of(self, box: Box) -> _Error | None:
        """What is wrong about a box of the frame, or None if it has no pixel."""
        part = self._part(box)
        key = (part[0].start, part[0].stop, part[1].start, part[1].stop)
        if key not in self._found:
            empty = key[0] >= key[1] or key[2] >= key[3]
            self._found[key] = None if empty else self._measured(part)
        return self._found[key]

    def _part(self, box: Box) -> tuple[slice, slice]:
        x0, y0, x1, y1 = (-(-edge // self._step) for edge in pixels_of(box, self._size))
        return slice(y0, y1), slice(x0, x1)

    def __getitem__(self, box: Box) -> _Error:
        """The same for a box that has a pixel."""
        error = self.of(box)
        assert error is not None
        return error

    def _measured(self, part: tuple[slice, slice]) -> _Error:
        known = self._known[part]
        values = self._truth[part][known]
        if not values.size:
            return _Error(0.0, 0.0)
        read = self._share(self._middle(values)) ** (_ASKED - 1)
        wrong = np.abs(self._nearest[part][known] - read).sum()
        tied = self._tied[part][known].sum() * values.size
        return _Error(float(wrong + tied), float(values.max() - values.min()))

    def mended(self, box: Box, levels: int = _LOOK) -> float:
        """What cutting a box mends, a cut: of it alone, or of its quarters too where that is more.

        Minus infinity where it may not be cut.
        """
        quarters = [(quarter, self.of(quarter)) for quarter in _quarters(box)]
        if self[box].spread <= self._split or any(error is None for _, error in quarters):
            return -math.inf
        mended = self[box].total - sum(error.total for _, error in quarters if error)
        if levels == 1:
            return mended
        # No cut mends more than there is, so most quarters need no look.
        below = [
            self.mended(quarter, levels - 1)
            for quarter, error in quarters
            if error and error.total > mended
        ]
        best, cuts = mended, 1
        for gain in sorted(below, reverse=True):
            mended, cuts = mended + gain, cuts + 1
            best = max(best, mended / cuts)
        return best

    def answered(self, boxes: Sequence[Box]) -> float:
        """The share of the questions that are answered right if each box has one reading.

        One is if every other point is clearly farther than the nearest and reads farther; the points
        are random, so that is known from how many pixels do both.
        """
        held = [self._held_in(box) for box in boxes]
        read = np.array([reading for reading, _ in held])
        order = np.argsort(read)
        ordered, counts = read[order], np.array([counts for _, counts in held])[order]
        total = counts.sum()
        # Of the pixels with lower readings (equal ones are ties), those that are farther.
        below = np.vstack([np.zeros(_BINS), np.cumsum(counts, axis=0)])[
            np.searchsorted(ordered, ordered, side="left")
        ]
        farther = np.hstack([np.zeros((len(below), 1)), np.cumsum(below, axis=1)])
        both = farther[:, self._farther] / total
        return float(_ASKED * (counts * both ** (_ASKED - 1)).sum() / total)

    def _held_in(self, box: Box) -> tuple[float, npt.NDArray[Any]]:
        """What is read in a box, and how many of its pixels are in each bin; NaN and none if unread."""
        if box not in self._held:
            part = self._part(box)
            known = self._known[part]
            read = self._middle(self._truth[part][known]) if known.any() else math.nan
            self._held[box] = (read, np.bincount(self._bins[part][known], minlength=_BINS))
        return self._held[box]


def _cuts(base: Grid, budget: int, errors: _Errors) -> _Cuts | None:
    """The cuts of a base grid that mend most; None if one of its cells has no pixel."""
    boxes = base_boxes(base)
    if any(errors.of(box) is None for box in boxes):
        return None
    cuts: _Cuts = {}
    # What a cell gets wrong bounds what its cut mends: that is only worked out when it comes first.
    queue = [(-errors[box].total, False, box) for box in boxes]
    heapq.heapify(queue)
    while queue and base.count + 3 * len(cuts) + 3 <= budget:  # a cut turns one cell into four
        _, known, box = heapq.heappop(queue)
        if not known:
            gain = errors.mended(box)
            if gain > 0:
                heapq.heappush(queue, (-gain, True, box))
            continue
        cuts[box] = _quarters(box)
        for quarter in cuts[box]:
            heapq.heappush(queue, (-errors[quarter].total, False, quarter))
    return cuts


def _moved(base: Grid, cuts: _Cuts, errors: _Errors) -> _Cuts:
    """The cuts after some were moved: the least useful taken back for the most useful that is not made."""

    def gain(box: Box) -> float:
        return errors.mended(box, levels=1)

    answered = errors.answered(_boxes(base, cuts))
    for _ in range(len(cuts)):
        last = [box for box in cuts if not any(quarter in cuts for quarter in cuts[box])]
        open_ = [box for box in _boxes(base, cuts) if gain(box) > -math.inf]
        last, open_ = sorted(last, key=gain)[:_SEEN], sorted(open_, key=gain)[-_SEEN:]
        back = [{cut: cuts[cut] for cut in cuts if cut != box} for box in last]
        more = [{**cuts, box: _quarters(box)} for box in open_]
        made = [next(reversed(plan)) for plan in _best(base, more, errors)]
        tried = [
            {**fewer, box: _quarters(box)}
            for fewer in _best(base, back, errors)
            for box in made
            if box in _boxes(base, fewer)
        ]
        best = next(iter(_best(base, tried, errors)), cuts)
        reached = errors.answered(_boxes(base, best))
        if reached <= answered:
            break
        cuts, answered = best, reached
    return cuts


def _best(base: Grid, plans: list[_Cuts], errors: _Errors) -> list[_Cuts]:
    """The few of `plans` that answer most."""
    return sorted(plans, key=lambda cuts: -errors.answered(_boxes(base, cuts)))[:_TRIED]


def _boxes(base: Grid, cuts: _Cuts) -> list[Box]:
    return [cell.box for cell in _cells(base, cuts)]


def _cells(base: Grid, cuts: _Cuts) -> Iterator[QuadCell]:
    """The cells in order, depth first."""
    for number, box in enumerate(base_boxes(base), 1):
        yield from _leaves(number, box, cuts)


def _leaves(name: Identifier, box: Box, cuts: _Cuts) -> Iterator[QuadCell]:
    if box not in cuts:
        yield QuadCell(name, box)
        return
    for number, quarter in enumerate(cuts[box], 1):
        yield from _leaves(f"{name}.{number}", quarter, cuts)
