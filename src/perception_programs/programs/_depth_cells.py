"""What the cells of a depth map hold, plain or adaptive, and what each of them reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._arrays import Field, describe, to_numpy
from .._plain import decimals
from ..errors import InputError
from ..geometry import Grid, cell_medians, cell_statistics
from ..program import Reading
from ..results import DepthMap
from ._quadtree import Box, Middle, pixels_of
from ._reliability import shares_of

__all__ = [
    "DepthReading",
    "DepthUnits",
    "Measured",
    "check_reading",
    "measured_boxes",
    "measured_grid",
    "middle_of",
    "nearness_of",
    "reading_note",
    "readings_of",
]

DepthReading = Literal["range", "median", "range+median"]
"""What a cell says of its depth."""

DepthUnits = Literal["nearness", "m"]
"""From 0 (farthest) to 1 (nearest), or metres."""

_NOTES = {
    ("range", "nearness"): "r: [lowest, highest] nearness in the cell",
    ("median", "nearness"): "r: median nearness of the cell",
    ("range+median", "nearness"): "r: [lowest, median, highest] nearness in the cell",
    ("range", "m"): "r: [smallest, largest] distance from the camera in the cell",
    ("median", "m"): "r: median distance from the camera in the cell",
    ("range+median", "m"): "r: [smallest, median, largest] distance from the camera in the cell",
}
_SCALES = {
    "nearness": "from 0 (farthest in this image) to 1 (nearest to the camera)",
    "m": "in metres",
}


@dataclass(frozen=True)
class Measured:
    """What each cell holds, one value a cell; NaN where nothing could be read.

    Attributes:
        low: the least value.
        median: the median; NaN throughout where only ranges were wanted.
        high: the largest value.
        mean: the mean.
        share: the share of the cell's pixels that could be read.
        masked: how many pixels of the whole map could not be.
    """

    low: npt.NDArray[np.float64]
    median: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    mean: npt.NDArray[np.float64]
    share: npt.NDArray[np.float64]
    masked: int


def check_reading(reading: Any, units: Any, depth: DepthMap) -> None:
    """Refuse a reading or a unit that there is not, or that the map does not have."""
    if not isinstance(units, str) or units not in _SCALES:
        raise InputError(f"units: expected nearness or m, got {units!r}")
    if units == "m" and depth.kind != "metric":
        raise InputError(
            f"units: expected a metric map for readings in metres, got a {depth.kind} one"
        )
    if not isinstance(reading, str) or (reading, units) not in _NOTES:
        raise InputError(
            f"reading: expected range, median or range+median, got {describe(reading)}"
        )


def reading_note(reading: DepthReading, units: DepthUnits) -> str:
    """What r means, as a sentence."""
    return f"{_NOTES[reading, units]}, {_SCALES[units]}."


def middle_of(reading: DepthReading) -> Middle:
    """What a reader takes a cell to be: the middle of its range, or its median where that is said."""
    return _middle_of_range if reading == "range" else _median


def _middle_of_range(values: npt.NDArray[Any]) -> float:
    return (float(values.min()) + float(values.max())) / 2


def _median(values: npt.NDArray[Any]) -> float:
    upper = len(values) // 2
    lower = (len(values) - 1) // 2
    ordered = np.partition(values, (lower, upper))  # several times faster than np.median
    return (float(ordered[lower]) + float(ordered[upper])) / 2


def measured_grid(field: Field, valid: Field | None, grid: Grid, reading: DepthReading) -> Measured:
    """The cells of a plain grid; a tensor is reduced on its own device."""
    found = cell_statistics(field, grid, valid)
    if reading == "range":
        medians = np.full(found.mean.shape, np.nan)
    else:
        medians = cell_medians(field, grid, valid)[0]
    height, width = (int(n) for n in field.shape)
    share = np.array(shares_of(found.count, grid, (width, height)))
    masked = height * width - int(found.count.sum())
    low, high, mean = found.min.ravel(), found.max.ravel(), found.mean.ravel()
    return Measured(low, medians.ravel(), high, mean, share, masked)


def measured_boxes(field: Field, valid: Field, boxes: Sequence[Box]) -> Measured:
    """The same of boxes in the 0-1000 frame; a tensor is copied to the host."""
    values, known = to_numpy(field), to_numpy(valid)
    rows = []
    for box in boxes:
        x0, y0, x1, y1 = pixels_of(box, (values.shape[1], values.shape[0]))
        cell, read = values[y0:y1, x0:x1], known[y0:y1, x0:x1]
        held = cell[read]
        if held.size:
            mean = held.mean(dtype=np.float64)
            rows.append((held.min(), _median(held), held.max(), mean, held.size / cell.size))
        else:
            rows.append((math.nan, math.nan, math.nan, math.nan, 0.0))
    low, median, high, mean, share = np.array(rows, np.float64).T
    return Measured(low, median, high, mean, share, known.size - int(known.sum()))


def nearness_of(depth: DepthMap, inverse: Measured) -> Measured:
    """Nearness, from what the cells of `depth.inverse()` hold.

    Nearness is an affine function of the inverse map, so the map itself is read once and only its
    cells are scaled.
    """
    limits = depth.limits()
    values = (inverse.low, inverse.median, inverse.high, inverse.mean)
    low, median, high, mean = (scaled(v, limits) for v in values)
    return Measured(low, median, high, mean, inverse.share, inverse.masked)


def scaled(values: npt.NDArray[Any], limits: tuple[float, float]) -> npt.NDArray[np.float64]:
    """Values of an inverse map as nearness; 0.5 throughout where its limits are one."""
    low, high = limits
    if high == low:
        return np.where(np.isnan(values), np.nan, 0.5)
    return np.asarray(np.clip((values - low) / (high - low), 0, 1), np.float64)


def readings_of(cells: Measured, reading: DepthReading) -> list[Reading]:
    """What each cell reads; None where nothing in it could be read."""
    wanted = {
        "range": (cells.low, cells.high),
        "median": (cells.median,),
        "range+median": (cells.low, cells.median, cells.high),
    }[reading]
    # The map is single precision: its shortest decimals say all there is.
    columns = [decimals(v.astype(np.float32)) for v in wanted]
    rows = zip(*columns, strict=True)
    return [None if math.isnan(row[0]) else row if len(row) > 1 else row[0] for row in rows]
