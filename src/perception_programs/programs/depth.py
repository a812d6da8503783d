"""Depth: the range of nearness in each cell of a grid."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from .._arrays import describe, is_array, is_floating
from .._plain import decimals
from ..errors import InputError
from ..geometry import CellStatistics, Grid, cell_statistics
from ..images import is_picture
from ..program import PerceptionProgram, Reading, Relation
from ..results import DepthMap
from ..results.depth import DepthKind
from ._cells import (
    LabelsLike,
    cap_relations,
    cell_items,
    cell_labels,
    cell_meta,
    check_tau,
    grid_note,
    neighbour_pairs,
)
from ._experts import ExpertLike, check_unused, run_expert

__all__ = ["depth_program"]

_READING_NOTES = {
    "nearness": "r: [lowest, highest] nearness in the cell, from 0 (farthest in this image) to 1 "
    "(nearest to the camera).",
    "m": "r: [smallest, largest] distance from the camera in the cell, in metres.",
}


def depth_program(
    source: Any,
    *,
    kind: DepthKind | None = None,
    mask: Any = None,
    grid: Any = 10,
    relations: bool | int = True,
    tau: float = 0.15,
    units: Literal["nearness", "m"] = "nearness",
    labels: LabelsLike = None,
    expert: ExpertLike = None,
) -> PerceptionProgram:
    """A program of how near each part of an image is (paper, section 3.2: `depth`, `patch`).

    Each cell reads `[lowest, highest]` nearness in it, from 0 (farthest) to 1 (nearest). A metric map
    is inverted (1 / metres) and scaled between its extremes, like a relative one.

    Args:
        source: a `DepthMap`; an H×W float array or tensor; or a picture, which goes through the expert.
        kind: what the numbers of an array are: `normalised` (the default: in [0, 1], 1 is nearest),
            `relative` (bigger is nearer) or `metric` (metres, bigger is farther).
        mask: H×W bool, True where an array can be trusted.
        grid: cells a side, or (rows, cols).
        relations: whether neighbours whose mean nearness differs by more than `tau` are related by
            `in_front_of`; a number keeps at most so many, the strongest.
        tau: the difference it takes.
        units: `nearness`, or `m` for the smallest and largest distance in each cell, in metres; for
            metric maps only. Relations are of nearness all the same.
        labels: a segmentation that gives each cell the name of what covers most of it.
        expert: which depth expert reads a picture; by default the best that is installed.

    Raises:
        InputError: the source cannot be read as depth, or an option does not fit.
        MissingExtraError: a picture came and no depth expert is installed.

    >>> import numpy as np
    >>> ramp = np.tile(np.linspace(1, 9, 64), (64, 1))
    >>> depth_program(ramp, kind="relative", grid=(1, 2)).rounded().items[0].r
    (0.0, 0.4921)
    """
    depth, meta, images = _depth_map(source, kind, mask, expert)
    cells, limit = Grid.of(grid), check_tau(tau)
    statistics = _nearness(depth, cells)
    names = cell_labels(labels, cells, depth.size)
    found, cut = cap_relations(_relations(cells, statistics, limit), relations)
    if units not in _READING_NOTES:
        raise InputError(f"units: expected nearness or m, got {units!r}")
    if units == "m" and depth.kind != "metric":
        raise InputError(
            f"units: expected a metric map for readings in metres, got a {depth.kind} one"
        )
    readings = _readings(
        statistics if units == "nearness" else cell_statistics(depth.values, cells, depth.valid())
    )
    height, width = depth.values.shape
    masked = int(height * width - statistics.count.sum())
    return PerceptionProgram(
        modality="depth",
        granularity="patch",
        items=cell_items(cells, depth.size, readings, names),
        relations=found,
        grid=cells,
        note=grid_note(
            _READING_NOTES[units], readings, names, _relation_note(limit) if found else None
        ),
        meta={
            **meta,
            "kind": depth.kind,
            "units": units,
            **cell_meta(depth.size, masked, readings, cut),
        },
        images=images,
    )


def _depth_map(
    source: Any, kind: DepthKind | None, mask: Any, expert: ExpertLike
) -> tuple[DepthMap, dict[str, Any], tuple[Any, ...]]:
    if isinstance(source, DepthMap):
        check_unused("a DepthMap", kind=kind, mask=mask, expert=expert)
        return source, {}, ()
    if is_array(source) and len(source.shape) == 2:
        if kind is None and not is_floating(source):
            raise InputError(
                f"depth: {describe(source)} may be a depth map or a grey picture; say kind= "
                "for depth, or load_image(values) for a picture"
            )
        check_unused("a depth map", expert=expert)
        return DepthMap(source, kind or "normalised", mask), {}, ()
    if is_array(source) and len(source.shape) == 3 and 1 in (source.shape[0], source.shape[-1]):
        raise InputError(
            f"depth: {describe(source)} may be a depth map or a grey picture; drop its axis of "
            "length 1 for depth, or say load_image(values) for a picture"
        )
    if not is_picture(source):
        raise InputError(
            "depth: expected a DepthMap, an H×W array of floats or a picture (path, bytes, PIL image "
            f"or H×W×3 array), got {describe(source)}"
        )
    check_unused(
        "a picture, which goes through an expert (DepthMap.open reads a file of depths)",
        kind=kind,
        mask=mask,
    )
    return (*run_expert("depth", expert, DepthMap, source), (source,))


def _nearness(depth: DepthMap, grid: Grid) -> CellStatistics:
    """Cell statistics of nearness.

    Nearness is an affine function of the inverse map, so the map itself is read once and only its
    cells are scaled.
    """
    plain = depth.kind != "metric" and depth.mask is None
    cells = cell_statistics(depth.inverse(), grid, None if plain else depth.valid())
    low, high = depth.limits()
    if high == low:
        flat = np.where(cells.count > 0, 0.5, np.nan)
        return CellStatistics(flat, flat, flat, cells.count)
    least, most, mean = (
        np.clip((v - low) / (high - low), 0, 1) for v in (cells.min, cells.max, cells.mean)
    )
    return CellStatistics(least, most, mean, cells.count)


def _readings(statistics: CellStatistics) -> list[Reading]:
    # The map is single precision: its shortest decimals say all there is.
    lows, highs = (decimals(v.ravel().astype(np.float32)) for v in (statistics.min, statistics.max))
    pairs = zip(lows, highs, strict=True)
    return [None if math.isnan(low) else (low, high) for low, high in pairs]


def _relations(grid: Grid, statistics: CellStatistics, tau: float) -> list[tuple[float, Relation]]:
    related = []
    for first, second, difference in neighbour_pairs(grid, statistics.mean):
        if abs(difference) > tau:
            front, back = (first, second) if difference > 0 else (second, first)
            related.append((abs(difference), Relation(front, "in_front_of", back)))
    return related


def _relation_note(tau: float) -> str:
    return (
        f"in_front_of: the first cell's mean nearness is more than {tau:.4g} above that of the "
        "second, its neighbour."
    )
