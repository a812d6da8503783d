"""Lines through what is read over time, and the order of several readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ._segments import Segment, merged

__all__ = ["Series", "misfit", "order_of", "rate_segments", "trend", "trend_segments"]

Series = Sequence[tuple[float, float]]
"""(time, value) of the frames that could be read, in order."""

_LEAST = 1e-9  # metres: a line may run below


def _line(points: Series) -> tuple[float, npt.NDArray[np.float64]]:
    """The change of the least-squares line from the first time to the last, and its values."""
    times, values = np.array(points, float).T
    if len(points) < 3:
        return float(values[-1] - values[0]), values
    slope, level = np.polyfit(times - times[0], values, 1)
    return float(slope * (times[-1] - times[0])), level + slope * (times - times[0])


def _part(series: Series, segment: Segment) -> Series:
    return series[segment.first : segment.last + 1]


def misfit(series: Series, segment: Segment, *, ratio: bool = False) -> float:
    """How far the readings of a segment are from a straight line, at most.

    Args:
        series: what the segment is of.
        segment: which readings.
        ratio: whether readings and line are compared by their logarithm, as metres are.
    """
    part = _part(series, segment)
    read, line = np.array(part, float)[:, 1], _line(part)[1]
    if ratio:
        read, line = (np.log(np.maximum(values, _LEAST)) for values in (read, line))
    return float(np.abs(read - line).max())


def trend(series: Series, segment: Segment, tau: float) -> str:
    """`nearer` or `farther` when the line through the readings, of which more is nearer, changes by more
    than `tau`, or `steady`.
    """
    change = _line(_part(series, segment))[0]
    return "nearer" if change > tau else "farther" if change < -tau else "steady"


def rate_segments(target: str, series: Series, tau: float, *, ratio: bool = False) -> list[Segment]:
    """Frames of one rate of change: segments share the frame at which they meet.

    Neighbours are joined as long as no reading is more than half of `tau` from a line through them
    (bottom-up segmentation: Keogh et al., An online algorithm for segmenting time series, 2001), by the
    logarithm if `ratio`.
    """
    steps = [Segment(target, n, n + 1) for n in range(len(series) - 1)]
    return merged(steps, lambda segment: misfit(series, segment, ratio=ratio), limit=tau / 2)


def trend_segments(target: str, series: Series, tau: float) -> list[Segment]:
    """Frames from turn to turn: segments of one rate, then those with one trend as one."""
    joined: list[Segment] = []
    for segment in rate_segments(target, series, tau):
        if joined:
            both = joined[-1].joined(segment)
            trends = {trend(series, part, tau) for part in (joined[-1], segment, both)}
            if len(trends) == 1:
                joined[-1] = both
                continue
        joined.append(segment)
    return joined


def order_of(values: Mapping[str, float], before: Sequence[str], tau: float) -> tuple[str, ...]:
    """Names from the largest value down; those within `tau` of each other stay in the order they had.

    >>> order_of({"A": 0.5, "B": 0.55, "C": 0.9}, ["A", "B", "C"], 0.1)
    ('C', 'A', 'B')
    """
    order = [name for name in before if name in values]
    order += [name for name in values if name not in order]
    for _ in order:
        for n in range(len(order) - 1):
            if values[order[n + 1]] - values[order[n]] > tau:
                order[n : n + 2] = [order[n + 1], order[n]]
    return tuple(order)
