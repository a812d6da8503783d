"""Optical flow: which way each cell of a grid moves."""

from __future__ import annotations

import math
from typing import Any

from .._arrays import describe, is_array, is_floating
from .._plain import rounded
from ..errors import InputError
from ..geometry import CellStatistics, Grid, cell_statistics
from ..images import is_picture
from ..program import PerceptionProgram, Reading
from ..results import FlowField
from ._cells import LabelsLike, cell_items, cell_labels, cell_meta, grid_note
from ._experts import ExpertLike, check_unused, run_expert

__all__ = ["NO_MOTION", "flow_program"]

NO_MOTION = "no reliable motion"
"""What a cell reads when too few of its pixels can be trusted to move."""

_CONSISTENT = 0.5  # confidence from which a vector counts as confirmed
_STILL = 0.5  # pixels: less is within what estimators are off where nothing moves
_ENOUGH = 0.5  # share of a cell's pixels that must move reliably
_CHECK_NOTE = (
    f" {NO_MOTION}: fewer than half of the cell's pixels move sideways by half a pixel or more in a "
    "way that the reverse direction confirms."
)

_READING_NOTE = (
    "r: left or right, the sign of the mean horizontal motion of what is seen in the cell from the "
    "first image to the second; none at all counts as right."
)


def flow_program(
    first: Any,
    second: Any = None,
    *,
    grid: Any = 10,
    check: bool = False,
    labels: LabelsLike = None,
    expert: ExpertLike = None,
) -> PerceptionProgram:
    """A program of which way the parts of an image move (paper, section 3.2: `flow`, `patch`).

    Each cell reads `left` if its mean horizontal motion is below 0, else `right`.

    Args:
        first: a `FlowField` or an H×W×2 array (pixels to the second frame, u right, v down); or the
            first frame, a picture.
        second: the second frame, of the same size.
        grid: cells a side, or (rows, cols).
        check: whether a cell must earn its reading: where fewer than half of its pixels move sideways
            by half a pixel or more in a way that the reverse direction confirms, it reads
            `no reliable motion`. Frames are put through the expert both ways; a `FlowField` needs
            its `confidence`.
        labels: a segmentation of the first frame that gives each cell its name.
        expert: which flow expert reads the frames; by default the best that is installed.

    Raises:
        InputError: neither flow nor two pictures, or an option does not fit.

    >>> import numpy as np
    >>> [item.r for item in flow_program(np.full((40, 40, 2), -1.0), grid=(1, 2)).items]
    ['left', 'left']
    """
    flow, meta, images = _flow_field(first, second, expert, check)
    cells = Grid.of(grid)
    u, valid = flow.uv[..., 0], flow.valid()
    statistics = cell_statistics(u, cells, valid)
    names = cell_labels(labels, cells, flow.size)
    readings = [_side(mean) for mean in statistics.mean.ravel().tolist()]
    if check:
        readings, shares = _reliable(flow, cells, statistics)
        meta |= {"consistent": shares}
    masked = int(flow.size[0] * flow.size[1] - statistics.count.sum())
    return PerceptionProgram(
        modality="flow",
        granularity="patch",
        items=cell_items(cells, flow.size, readings, names),
        grid=cells,
        note=grid_note(_READING_NOTE + (_CHECK_NOTE if check else ""), readings, names),
        meta={**meta, **cell_meta(flow.size, masked, readings)},
        images=images,
    )


def _side(u: float) -> Reading:
    return None if math.isnan(u) else "left" if u < 0 else "right"


def _reliable(
    flow: FlowField, grid: Grid, cells: CellStatistics
) -> tuple[list[Reading], list[float | None]]:
    """Each cell's reading from its reliable pixels, and the share of its pixels that are consistent."""
    if flow.confidence is None:
        raise InputError(
            "check: expected a flow with its confidence, got one without; load the expert with "
            "check=True, or give the FlowField its confidence"
        )
    u, valid = flow.uv[..., 0], flow.valid()
    consistent = valid & (flow.confidence >= _CONSISTENT)
    moving = cell_statistics(u, grid, consistent & (abs(u) >= _STILL))
    total = cells.count.ravel().tolist()
    agree = cell_statistics(u, grid, consistent).count.ravel().tolist()
    means = zip(moving.mean.ravel().tolist(), moving.count.ravel().tolist(), total, strict=True)
    readings: list[Reading] = [
        None if n == 0 else _side(u) if count >= _ENOUGH * n else NO_MOTION for u, count, n in means
    ]
    shares = [None if n == 0 else rounded(a / n) for a, n in zip(agree, total, strict=True)]
    return readings, shares


def _flow_field(
    first: Any, second: Any, expert: ExpertLike, check: bool
) -> tuple[FlowField, dict[str, Any], tuple[Any, ...]]:
    if isinstance(first, FlowField):
        check_unused("a FlowField", second=second, expert=expert)
        return first, {}, ()
    if is_array(first) and len(first.shape) == 3 and 2 in (first.shape[0], first.shape[-1]):
        check_unused("a flow field", second=second, expert=expert)
        if not is_floating(first):
            raise InputError(f"flow: expected an H×W×2 field of floats, got {describe(first)}")
        return FlowField(first), {}, ()
    if second is None:
        raise InputError(
            "flow: expected a FlowField, an H×W×2 array, or two pictures, "
            f"got only {describe(first)}"
        )
    for name, frame in (("first", first), ("second", second)):
        if not is_picture(frame) and not (is_array(frame) and len(frame.shape) == 2):
            raise InputError(f"{name}: expected a picture, got {describe(frame)}")
    made_with = {"check": True} if check else {}
    found = run_expert("flow", expert, FlowField, first, second, made_with=made_with)
    return (*found, (first, second))
