"""What a cell or a point of a flow field reads, and how much of it the reverse direction confirms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._arrays import describe, is_tensor
from .._plain import decimals, plain_number, rounded
from ..errors import InputError
from ..geometry import CellStatistics, Grid, cell_statistics
from ..program import Reading
from ..results import FlowField
from ._points import disc_pixels, disc_radius, values_at
from ._reliability import shares_of

__all__ = [
    "NO_MOTION",
    "STILL",
    "FlowReading",
    "How",
    "Motion",
    "cell_motion",
    "check_note",
    "expert_options",
    "how_to_read",
    "point_motion",
    "points_note",
    "reading_note",
]

FlowReading = Literal["direction", "mean"]
"""What a cell says of its motion."""

NO_MOTION = "no reliable motion"
"""What a cell reads when too few of its pixels can be trusted to move."""

STILL = "still"
"""What a cell that reads means reads when it hardly moves."""

_CONSISTENT = 0.5  # confidence from which a vector counts as confirmed
_LEAST = 0.5  # pixels: less is within what estimators are off where nothing moves
_ENOUGH = 0.5  # share of a cell's pixels that must move reliably


@dataclass(frozen=True)
class How:
    """How motion is read.

    Attributes:
        reading: `direction` or `mean`.
        still: the magnitude in pixels below which a mean is `still`.
        check: whether a reading must be confirmed by the reverse direction.
    """

    reading: FlowReading
    still: float
    check: bool

    def says(self, u: float, v: float, magnitude: float) -> Reading:
        """A motion in pixels as a reading; None where it is NaN."""
        if math.isnan(u) or math.isnan(magnitude):
            return None
        if self.reading == "direction":
            return "left" if u < 0 else "right"
        if magnitude < self.still:
            return STILL
        # The field is single precision: its shortest decimals say all there is; and no -0.0.
        return tuple(decimals(np.array([u, v, magnitude], np.float32) + np.float32(0)))


@dataclass(frozen=True)
class Motion:
    """What cells or points read.

    Attributes:
        readings: one each; None where nothing could be read.
        shares: how many of the pixels the reverse direction confirms, or, where the flow has no
            confidence, could be read; from 0 to 1.
        consistent: the same of those pixels that could be read; None where there are none or no
            confidence.
        masked: how many pixels of the whole field could not be read.
    """

    readings: list[Reading]
    shares: list[float]
    consistent: list[float | None]
    masked: int = 0


def expert_options(check: bool, reliability: Any) -> dict[str, Any]:
    """What a flow expert is loaded with: whatever asks for confidence needs the way back too.

    >>> expert_options(False, "words"), expert_options(False, None)
    ({'check': True}, {})
    """
    return {"check": True} if check or reliability is not None else {}


def how_to_read(reading: Any, still: Any, check: bool, flow: FlowField) -> How:
    """The options of a reading, checked.

    Raises:
        InputError: there is no such reading, `still` is no length, or a check of a flow without
            confidence.
    """
    if reading not in ("direction", "mean"):
        raise InputError(f"reading: expected direction or mean, got {describe(reading)}")
    limit = float(plain_number(still, "still"))
    if limit < 0:
        raise InputError(f"still: expected a number of pixels of at least 0, got {still!r}")
    if check and flow.confidence is None:
        raise InputError(
            "check: expected a flow with its confidence, got one without; load the expert with "
            "check=True, or give the FlowField its confidence"
        )
    return How(reading, limit, bool(check))


def cell_motion(flow: FlowField, grid: Grid, how: How) -> Motion:
    """The cells of a grid; a tensor is reduced on its own device."""
    u, valid = flow.uv[..., 0], flow.valid()
    cells = cell_statistics(u, grid, valid)
    agree = None
    if flow.confidence is not None:
        confirmed = valid & (flow.confidence >= _CONSISTENT)
        agree = cell_statistics(u, grid, confirmed).count
    total = cells.count.ravel()
    if how.check:
        moving = confirmed & (abs(u) >= _LEAST) if how.reading == "direction" else confirmed
        means = _means(flow, grid, moving, how)
        enough = means.count >= _ENOUGH * total
    else:
        means, enough = _means(flow, grid, valid, how, cells), total >= 0
    table = np.stack([total, enough, means.u, means.v, means.magnitude], axis=1)
    width, height = flow.size
    return Motion(
        [
            None if not n else how.says(*mean) if trusted else NO_MOTION
            for n, trusted, *mean in table.tolist()
        ],
        shares_of(cells.count if agree is None else agree, grid, flow.size),
        [] if agree is None else _shares(agree.ravel(), total),
        width * height - int(total.sum()),
    )


@dataclass(frozen=True)
class _Means:
    """The mean motion of the chosen pixels of each cell, and how many those are."""

    u: npt.NDArray[np.float64]
    v: npt.NDArray[np.float64]
    magnitude: npt.NDArray[np.float64]
    count: npt.NDArray[np.int64]


def _means(
    flow: FlowField, grid: Grid, chosen: Any, how: How, known: CellStatistics | None = None
) -> _Means:
    """Means of `chosen` pixels; of u alone where only the side is read. `known` is u's, if at hand."""
    u, v = flow.uv[..., 0], flow.uv[..., 1]
    across = cell_statistics(u, grid, chosen) if known is None else known
    mean, count = across.mean.ravel(), across.count.ravel()
    if how.reading == "direction":
        return _Means(mean, mean, mean, count)
    with np.errstate(over="ignore"):  # infinite, so not read
        magnitude = u.hypot(v) if is_tensor(u) else np.hypot(u, v)
    down, length = (cell_statistics(field, grid, chosen).mean.ravel() for field in (v, magnitude))
    return _Means(mean, down, length, count)


def _shares(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> list[float | None]:
    pairs = zip(part.tolist(), whole.tolist(), strict=True)
    return [None if n == 0 else rounded(k / n) for k, n in pairs]


def point_motion(flow: FlowField, places: Sequence[tuple[float, float]], how: How) -> Motion:
    """Points, each by the median motion of a small disc; only those pixels are looked at."""
    width, height = flow.size
    radius = disc_radius(flow.size)
    discs = [disc_pixels((height, width), place, flow.size, radius) for place in places]
    vectors = [uv.astype(np.float64) for uv in values_at(flow.uv, discs)]
    known = [np.isfinite(uv).all(axis=1) for uv in vectors]
    confirmed = known
    if flow.confidence is not None:
        surest = values_at(flow.confidence, discs)
        confirmed = [k & (sure >= _CONSISTENT) for k, sure in zip(known, surest, strict=True)]
    rows = zip(vectors, known, confirmed, strict=True)
    return Motion(
        [_of_disc(uv, read, trusted, how) for uv, read, trusted in rows],
        [float(trusted.mean()) for trusted in confirmed],
        [],
    )


def _of_disc(uv: Any, read: Any, trusted: Any, how: How) -> Reading:
    if not read.any():
        return None
    chosen = read
    if how.check:
        chosen = trusted & (abs(uv[:, 0]) >= _LEAST) if how.reading == "direction" else trusted
        if chosen.sum() < _ENOUGH * read.sum():
            return NO_MOTION
    u, v = np.median(uv[chosen], axis=0).tolist()
    return how.says(u, v, math.hypot(u, v))


def reading_note(how: How, flow: FlowField) -> str:
    """What r means, of cells."""
    if how.reading == "direction":
        return (
            "r: left or right, the sign of the mean horizontal motion of what is seen in the cell from "
            "the first image to the second; none at all counts as right."
        )
    return (
        "r: [u, v, magnitude] of the motion of what is seen in the cell from the first image to the "
        f"second, each the mean over the cell, {_units(how, flow)}"
    )


def points_note(how: How, flow: FlowField, *, cells: bool) -> str:
    """What the items of points say; after the note on cells if there are `cells`."""
    if cells:
        return (
            "Items with a letter for p are points that were asked about, not cells: c: [x, y]. r: the same "
            "of the median motion close around the point."
        )
    if how.reading == "direction":
        return (
            "r: left or right, the sign of the median horizontal motion close around the point from the "
            "first image to the second; none at all counts as right."
        )
    return (
        "r: [u, v, magnitude] of the median motion close around the point from the first image to the "
        f"second, {_units(how, flow)}"
    )


def _units(how: How, flow: FlowField) -> str:
    width, height = flow.size
    return (
        f"in pixels of the image, which is {width} wide and {height} high; u runs right, v down. "
        f"{STILL}: the magnitude is below {how.still:.4g}."
    )


def check_note(how: How, pixels: str) -> str:
    """What the check makes of readings, with a space before it; empty without one.

    Args:
        how: how motion is read.
        pixels: of which it is said, such as `the cell's pixels`.
    """
    if not how.check:
        return ""
    if how.reading == "direction":
        return (
            f" {NO_MOTION}: fewer than half of {pixels} move sideways by half a pixel or more in a way "
            "that the reverse direction confirms."
        )
    return (
        f" {NO_MOTION}: the reverse direction confirms fewer than half of {pixels}; those it does not "
        "confirm are left out of r."
    )
