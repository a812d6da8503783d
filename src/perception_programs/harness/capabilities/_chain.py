"""Motions between neighbouring pictures, put one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..._arrays import to_numpy
from ...results import DepthMap
from ._two_views import Step, Undetermined, rays

__all__ = ["chained", "metric_length"]

Array = npt.NDArray[np.float64]

_COMMON = 8  # spots that carry a scale, at least
_SPREAD = 0.35  # relative; of ratios that differ more no median is taken
_SAME_SPOT = 1 / 400  # of the longest distance between spots: two spots are one


@dataclass(frozen=True, eq=False)
class _Known:
    """Spots of a picture whose distance is known, in the unit of the chain."""

    points: Array
    depths: Array


def metric_length(step: Step, first: DepthMap | None, second: DepthMap | None) -> float | None:
    """Metres that a step is long: the median of measured depth over triangulated depth.

    Returns:
        None where there are too few measurements, or they contradict each other.
    """
    if step.depths1 is None or step.depths2 is None:
        return None
    ratios = [
        measured(depth, points) / far
        for depth, points, far in (
            (first, step.points1, step.depths1),
            (second, step.points2, step.depths2),
        )
        if depth is not None
    ]
    return _median(np.concatenate(ratios)) if ratios else None


def measured(depth: DepthMap, points: Array) -> Array:
    """N metres at spots given in pixels of the picture; NaN where there is none."""
    values = np.where(to_numpy(depth.valid()), to_numpy(depth.values), np.nan).astype(np.float64)
    height, width = values.shape
    places = np.floor(points * np.array([width, height]) / np.array(depth.size)).astype(int)
    x, y = np.clip(places, 0, [width - 1, height - 1]).T
    return values[y, x]  # type: ignore[no-any-return]


def chained(
    steps: Sequence[Step], cameras: Sequence[Array], lengths: Sequence[float | None]
) -> Array:
    """N×4×4: each picture's pose from the first one's coordinates.

    Without metres for all steps that move, the first such step is 1 long, and each next one as long as the spots
    say that both it and the one before have seen.

    Args:
        steps: N-1.
        cameras: N intrinsics.
        lengths: metres of each step; 0 for one that does not move, None where they are not known.

    Raises:
        Undetermined: a step's length against the one before cannot be told.
    """
    metric = all(length is not None for length in lengths)
    poses, known = [np.eye(4)], None
    for number, step in enumerate(steps):
        length = 0.0
        if step.moved:
            given = lengths[number]
            length = given if metric and given is not None else _length(step, known, number)
        poses.append(_motion(step, length) @ poses[-1])
        known = _carried(step, length, known, cameras[number], cameras[number + 1])
    return np.stack(poses)


def _motion(step: Step, length: float) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = step.rotation, step.direction * length
    return pose


def _length(step: Step, known: _Known | None, number: int) -> float:
    """How long a step is in the unit of the chain."""
    if known is None:
        return 1.0
    here, there = _common(step.points1, known.points)
    assert step.depths1 is not None
    length = _median(known.depths[there] / step.depths1[here])
    if length is None:
        raise Undetermined(
            f"how far the camera moved in step {number + 1}, against the steps before it, cannot be told from the "
            f"{len(here)} spots that both show; ask for two pictures at a time"
        )
    return length


def _carried(
    step: Step, length: float, known: _Known | None, first: Array, second: Array
) -> _Known | None:
    """The spots of the second picture whose distance is known now."""
    if step.depths2 is not None:
        return _Known(step.points2, step.depths2 * length)
    if known is None:
        return None
    here, there = _common(step.points1, known.points)  # it turned: what is known stays known
    seen = rays(step.points1[here], first) * known.depths[there, None]
    return _Known(step.points2[here], (seen @ step.rotation.T)[:, 2])


def _common(points: Array, others: Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Indices of the spots of one picture that are in both lists."""
    from scipy.spatial import cKDTree

    if not len(points) or not len(others):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    size = float(np.ptp(others, axis=0).max()) or 1.0
    distances, nearest = cKDTree(others).query(points)
    near = distances <= max(1.0, _SAME_SPOT * size)
    return np.flatnonzero(near), nearest[near]


def _median(ratios: Array) -> float | None:
    good = ratios[np.isfinite(ratios) & (ratios > 0)]
    if len(good) < _COMMON:
        return None
    middle = float(np.median(good))
    spread = 1.4826 * float(np.median(np.abs(good - middle))) / middle
    return middle if spread <= _SPREAD else None
