"""Optical flow: which way each cell of a grid moves."""

from __future__ import annotations

import math
from typing import Any

from .._arrays import describe, is_array, is_floating
from ..errors import InputError
from ..geometry import Grid, cell_statistics
from ..images import is_picture
from ..program import PerceptionProgram, Reading
from ..results import FlowField
from ._cells import LabelsLike, cell_items, cell_labels, cell_meta, grid_note
from ._experts import ExpertLike, check_unused, run_expert

__all__ = ["flow_program"]

_READING_NOTE = (
    "r: left or right, the sign of the mean horizontal motion of what is seen in the cell from the "
    "first image to the second; none at all counts as right."
)


def flow_program(
    first: Any,
    second: Any = None,
    *,
    grid: Any = 10,
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
        labels: a segmentation of the first frame that gives each cell its name.
        expert: which flow expert reads the frames; by default the best that is installed.

    Raises:
        InputError: neither flow nor two pictures, or an option does not fit.

    >>> import numpy as np
    >>> [item.r for item in flow_program(np.full((40, 40, 2), -1.0), grid=(1, 2)).items]
    ['left', 'left']
    """
    flow, meta, images = _flow_field(first, second, expert)
    cells = Grid.of(grid)
    statistics = cell_statistics(flow.uv[..., 0], cells, flow.valid())
    names = cell_labels(labels, cells, flow.size)
    readings: list[Reading] = [
        None if math.isnan(u) else "left" if u < 0 else "right"
        for u in statistics.mean.ravel().tolist()
    ]
    masked = int(flow.size[0] * flow.size[1] - statistics.count.sum())
    return PerceptionProgram(
        modality="flow",
        granularity="patch",
        items=cell_items(cells, flow.size, readings, names),
        grid=cells,
        note=grid_note(_READING_NOTE, readings, names),
        meta={**meta, **cell_meta(flow.size, masked, readings)},
        images=images,
    )


def _flow_field(
    first: Any, second: Any, expert: ExpertLike
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
    return (*run_expert("flow", expert, FlowField, first, second), (first, second))
