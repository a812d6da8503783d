"""Sizes, the 0-1000 frame, grids of cells, and statistics of each cell.

Pixels are `(x, y)`: x to the right, y down, the origin at the top left. Sizes are
`(width, height)`. Nothing here knows what the numbers of a field mean.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import Field, describe, is_series, is_tensor, to_numpy
from .errors import InputError

__all__ = [
    "FRAME",
    "CellStatistics",
    "Grid",
    "Size",
    "cell_medians",
    "cell_statistics",
    "denormalise",
    "feature_peak",
    "inside",
    "neighbours",
    "normalise",
    "normalise_box",
    "to_size",
]

FRAME = 1000
"""Normalised coordinates are integers from 0 to this number, on both axes."""

Size = tuple[int, int]
"""`(width, height)` in pixels."""

_BAND_BYTES = 1 << 18  # a strip this small stays in a core's cache while it is read three times
_BAND_ROWS = 64  # float32 sums of no more rows than this keep the mean within 1e-6


def to_size(value: Any, name: str = "size") -> Size:
    """`value` as a `(width, height)` pair of positive integers.

    Raises:
        InputError: it is not one.
    """
    try:
        width, height = (operator.index(n) for n in value)
    except (TypeError, ValueError):
        raise InputError(
            f"{name}: expected (width, height) in pixels, got {describe(value)}"
        ) from None
    if width < 1 or height < 1:
        raise InputError(
            f"{name}: expected a width and a height of at least 1 pixel, got {width}×{height}"
        )
    return width, height


def normalise(x: float, y: float, size: Size) -> tuple[int, int]:
    """A pixel as integers in the 0-1000 frame: `floor(1000 x / W)`, clamped (paper, section 3.1).

    >>> normalise(168, 335, (336, 336))
    (500, 997)
    """
    return _fraction(x, size[0]), _fraction(y, size[1])


def _fraction(position: float, length: int) -> int:
    if not math.isfinite(position):
        raise InputError(f"coordinate: expected a finite number, got {position}")
    return min(max(math.floor(FRAME * position / length), 0), FRAME)


def normalise_box(box: Sequence[float], size: Size) -> tuple[int, int, int, int]:
    """An xyxy box in pixels as integers in the 0-1000 frame, each corner as in `normalise`."""
    x0, y0, x1, y1 = (float(v) for v in box)
    return (*normalise(x0, y0, size), *normalise(x1, y1, size))


def denormalise(x: float, y: float, size: Size) -> tuple[float, float]:
    """A point of the 0-1000 frame in pixels: `x W / 1000`, `y H / 1000`.

    >>> denormalise(500, 250, (640, 480))
    (320.0, 120.0)
    """
    return x * size[0] / FRAME, y * size[1] / FRAME


def inside(x: float, y: float, size: Size) -> bool:
    """Whether a point lies on the picture: `0 <= x <= W` and `0 <= y <= H`."""
    return 0 <= x <= size[0] and 0 <= y <= size[1]


@dataclass(frozen=True)
class Grid:
    """A partition of an image into `rows` × `cols` cells, numbered row by row from the upper left."""

    rows: int
    cols: int

    def __post_init__(self) -> None:
        for name in ("rows", "cols"):
            value = getattr(self, name)
            if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
                raise InputError(
                    f"grid: expected {name} to be an integer of at least 1, got {describe(value)}"
                )
            object.__setattr__(self, name, operator.index(value))

    @classmethod
    def of(cls, value: Any) -> Grid:
        """A grid from itself, from one number (square) or from `(rows, cols)`.

        >>> Grid.of(10), Grid.of((6, 8))
        (Grid(rows=10, cols=10), Grid(rows=6, cols=8))
        """
        if isinstance(value, Grid):
            return value
        try:
            if not isinstance(value, bool) and not is_series(value) and hasattr(value, "__index__"):
                n = operator.index(value)
                return cls(n, n)
            rows, cols = (operator.index(n) for n in value)
        except (TypeError, ValueError):
            raise InputError(
                f"grid: expected a number or (rows, cols), got {describe(value)}"
            ) from None
        return cls(rows, cols)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return self.rows * self.cols

    def edges(self, size: Size) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The column edges (cols + 1) and the row edges (rows + 1), in pixels: linspace cut to integers.

        Raises:
            InputError: the grid is finer than the image, so that a cell would be empty.
        """
        width, height = size
        if self.cols > width or self.rows > height:
            raise InputError(
                f"grid: expected at most one cell a pixel, got {self.rows} rows × {self.cols} columns "
                f"for an image of {width}×{height} pixels (width × height)"
            )
        xs = np.linspace(0, width, self.cols + 1).astype(np.intp)
        ys = np.linspace(0, height, self.rows + 1).astype(np.intp)
        return xs, ys

    def boxes(self, size: Size) -> Iterator[tuple[int, int, int, int]]:
        """Each cell's pixels as `(x0, y0, x1, y1)`, x1 and y1 exclusive, row by row."""
        xs, ys = (edges.tolist() for edges in self.edges(size))
        for y0, y1 in itertools.pairwise(ys):
            for x0, x1 in itertools.pairwise(xs):
                yield x0, y0, x1, y1

    def centres(self, size: Size) -> list[tuple[int, int]]:
        """Each cell's centre in the 0-1000 frame: the pixel `(x0 + x1 - 1) // 2`, then normalised.

        >>> Grid(1, 10).centres((336, 336))[0]
        (47, 497)
        """
        return [
            normalise((x0 + x1 - 1) // 2, (y0 + y1 - 1) // 2, size)
            for x0, y0, x1, y1 in self.boxes(size)
        ]


def neighbours(grid: Grid) -> Iterator[tuple[int, int]]:
    """Pairs of cell numbers that share a side, row by row: each cell with its right, then its lower one.

    >>> list(neighbours(Grid(2, 2)))
    [(1, 2), (1, 3), (2, 4), (3, 4)]
    """
    for row in range(grid.rows):
        for col in range(grid.cols):
            cell = row * grid.cols + col + 1
            if col + 1 < grid.cols:
                yield cell, cell + 1
            if row + 1 < grid.rows:
                yield cell, cell + grid.cols


@dataclass(frozen=True)
class CellStatistics:
    """What each cell of a grid holds: four host arrays of shape rows × cols.

    A cell without a valid pixel has `count` 0 and NaN elsewhere.
    """

    min: npt.NDArray[np.float64]
    max: npt.NDArray[np.float64]
    mean: npt.NDArray[np.float64]
    count: npt.NDArray[np.int64]


def cell_statistics(field: Field, grid: Grid, valid: Field | None = None) -> CellStatistics:
    """Minimum, maximum, mean and number of valid pixels of each cell, in one pass over `field`.

    Args:
        field: H×W float32, numpy or a torch tensor; a tensor is reduced on its own device and only
            the statistics come to the host.
        grid: how to cut it.
        valid: H×W bool on the same side, or None. Non-finite pixels are never valid.

    Raises:
        InputError: the grid is finer than the field.
    """
    height, width = (int(n) for n in field.shape)
    xs, ys = grid.edges((width, height))
    cells = None
    if valid is None:
        cells = _cells(field, None, xs, ys, exact=False)
        if not np.isfinite(cells.min).all() or not np.isfinite(cells.max).all():
            cells = None  # not every pixel is finite
    if cells is None:
        valid = _finite(field, valid)
        cells = _cells(field, valid, xs, ys, exact=False)
    return _cells(field, valid, xs, ys, exact=True) if _is_delicate(cells) else cells


def _is_delicate(cells: CellStatistics) -> bool:
    """Whether single precision is too coarse for the sums: a small range far from 0, or an overflow."""
    read = cells.count > 0
    if not read.any():
        return False
    low, high = float(cells.min[read].min()), float(cells.max[read].max())
    return high - low < max(abs(low), abs(high)) / 2 or not np.isfinite(cells.mean[read]).all()


def _finite(field: Field, valid: Field | None) -> Field:
    finite = field.isfinite() if is_tensor(field) else np.isfinite(field)
    return finite if valid is None else finite & valid


def _strips(top: int, bottom: int, width: int) -> Iterator[tuple[int, int]]:
    """Equal parts of a band of rows, each small enough for the cache and for exact sums."""
    height = bottom - top
    parts = -(-height // max(1, min(_BAND_ROWS, _BAND_BYTES // (4 * width))))
    for part in range(parts):
        yield top + part * height // parts, top + (part + 1) * height // parts


def _array_bands(field: Any, valid: Any, ys: Any, exact: bool) -> tuple[npt.NDArray[Any], ...]:
    """Each row band of the grid reduced along y: arrays of rows × W (low, high, sum[, count])."""
    shape = (len(ys) - 1, field.shape[1])
    low, high = np.empty(shape, np.float32), np.empty(shape, np.float32)
    total, count = np.empty(shape), np.zeros(shape if valid is not None else 0, np.int64)
    precision = np.float64 if exact else None
    for row, (top, bottom) in enumerate(zip(ys[:-1].tolist(), ys[1:].tolist(), strict=True)):
        for start, stop in _strips(top, bottom, shape[1]):
            above = below = part = field[start:stop]
            if valid is not None:
                keep = valid[start:stop]
                above, below = np.where(keep, part, np.inf), np.where(keep, part, -np.inf)
                part = np.where(keep, part, 0)
                count[row] += keep.sum(axis=0)
            least, most = np.minimum.reduce(above, axis=0), np.maximum.reduce(below, axis=0)
            added = np.add.reduce(part, axis=0, dtype=precision)
            if start == top:
                low[row], high[row], total[row] = least, most, added
            else:
                np.minimum(low[row], least, out=low[row])
                np.maximum(high[row], most, out=high[row])
                total[row] += added
    return (low, high, total) if valid is None else (low, high, total, count)


def _tensor_bands(field: Any, valid: Any, ys: Any, exact: bool) -> tuple[npt.NDArray[Any], ...]:
    """As `_array_bands`, on the tensor's device; rows × W values a statistic come back."""
    above, below, part = field, field, field
    if valid is not None:
        above = field.masked_fill(~valid, math.inf)
        below = field.masked_fill(~valid, -math.inf)
        part = field.masked_fill(~valid, 0)
    if exact and field.device.type != "mps":  # which has no double precision
        part = part.double()
    bands = list(zip(ys[:-1].tolist(), ys[1:].tolist(), strict=True))
    low = [above[a:b].amin(0) for a, b in bands]
    high = [below[a:b].amax(0) for a, b in bands]
    total = [part[a:b].sum(0) for a, b in bands]
    stacked = [np.stack([to_numpy(line) for line in lines]) for lines in (low, high, total)]
    stacked[2] = stacked[2].astype(np.float64)
    if valid is not None:
        stacked.append(np.stack([to_numpy(valid[a:b].sum(0)) for a, b in bands]))
    return tuple(stacked)


def _cells(field: Field, valid: Any, xs: Any, ys: Any, *, exact: bool) -> CellStatistics:
    """The bands' rows reduced along x; short rows, where `reduceat` is quick."""
    bands = _tensor_bands if is_tensor(field) else _array_bands
    with np.errstate(invalid="ignore", over="ignore"):  # what comes of them is looked at
        low, high, total, *counts = bands(field, valid, ys, exact)
        starts = xs[:-1]
        if counts:
            count = np.add.reduceat(counts[0], starts, axis=1)
        else:
            count = np.outer(np.diff(ys), np.diff(xs))
        empty = count == 0
        mean = np.add.reduceat(total, starts, axis=1) / np.where(empty, 1, count)
        least = np.minimum.reduceat(low, starts, axis=1).astype(np.float64)
        most = np.maximum.reduceat(high, starts, axis=1).astype(np.float64)
    for values in (mean, least, most):
        values[empty] = np.nan
    return CellStatistics(least, most, mean, count)


def cell_medians(
    field: Field, grid: Grid, valid: Field | None = None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The median of each cell's valid pixels and how many there are, each rows × cols.

    Args:
        field: H×W float32, numpy or a torch tensor, which is reduced on its own device.
        grid: how to cut it.
        valid: H×W bool on the same side, or None. Non-finite pixels are never valid.

    A cell without a valid pixel has NaN and 0.
    """
    height, width = (int(n) for n in field.shape)
    medians, count = np.full(grid.count, np.nan), np.zeros(grid.count, np.int64)
    for i, (x0, y0, x1, y1) in enumerate(grid.boxes((width, height))):
        cell = field[y0:y1, x0:x1]
        finite = cell[_finite(cell, None if valid is None else valid[y0:y1, x0:x1])]
        count[i] = len(finite)
        if len(finite):
            medians[i] = _median(finite)
    return medians.reshape(grid.rows, grid.cols), count.reshape(grid.rows, grid.cols)


def _median(values: Field) -> float:
    if not is_tensor(values):
        return float(np.median(values))
    ordered, n = values.sort().values, len(values)  # torch's own quantile ends at 2²⁴ values
    return float((ordered[(n - 1) // 2] + ordered[n // 2]) / 2)


def feature_peak(
    similarity: Any, size: Size, *, tolerance: float = 1e-6
) -> tuple[float, float] | None:
    """Where a coarse similarity map is highest, in pixels of the image it was computed from.

    Args:
        similarity: h×w map over an image of `size`; each value stands for one cell of the image, and
            a position is that cell's **centre**, not its corner.
        size: `(width, height)` of the image.
        tolerance: a peak that is not higher than every other value by more than this is no peak.

    Returns:
        `(x, y)` of the peak, or None when the map has no distinct one.

    >>> import numpy as np
    >>> row = np.zeros((32, 32)); row[0, 5] = 1
    >>> feature_peak(row, (512, 512))
    (88.0, 8.0)
    """
    values = to_numpy(similarity)
    if values.ndim != 2 or values.size == 0:
        raise InputError(f"similarity: expected an h×w map, got {describe(similarity)}")
    if not np.isfinite(values).all():
        raise InputError("similarity: expected finite numbers, got NaN or infinity among them")
    row, col = divmod(int(np.argmax(values)), values.shape[1])
    peak = values[row, col]
    if np.count_nonzero(values >= peak - tolerance) > 1:
        return None
    height, width = values.shape
    return (col + 0.5) * size[0] / width, (row + 0.5) * size[1] / height
