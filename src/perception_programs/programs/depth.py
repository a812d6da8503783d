"""Depth: how near each part of an image is, cell by cell or at points that are asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._arrays import describe, is_array, is_floating, to_numpy
from .._plain import plain_number
from ..errors import InputError
from ..geometry import Grid, neighbours
from ..images import is_picture
from ..program import Item, PerceptionProgram, Reading, Relation
from ..results import DepthMap
from ..results.depth import DepthKind
from ._cells import (
    FRAME_NOTE,
    GRID_NOTE,
    LabelsLike,
    cap_relations,
    cell_items,
    cell_labels,
    cell_meta,
    check_tau,
    grid_note,
)
from ._depth_cells import (
    DepthReading,
    DepthUnits,
    check_reading,
    measured_boxes,
    measured_grid,
    middle_of,
    nearness_of,
    reading_note,
    readings_of,
)
from ._depth_points import DepthPoints, depth_points, points_note
from ._experts import ExpertLike, check_unused, run_expert
from ._labels import segmentation_of
from ._points import asked_points, disc_radius
from ._quadtree import adaptive_cells, names_in, touching
from ._reliability import Reliability, reliability, reliability_note

__all__ = ["depth_program"]

_ADAPTIVE_NOTE = (
    "Each item is a cell of a grid, numbered row by row from the upper left, or a quarter: 17.1 to 17.4 "
    "are upper left, upper right, lower left and lower right of 17. "
    f"c: [x0, y0, x1, y1], x1 and y1 excluded; {FRAME_NOTE}."
)


@dataclass(frozen=True)
class _Cells:
    """The items of the cells, their readings, and (difference, relation) of neighbours that are apart."""

    items: tuple[Item, ...]
    readings: list[Reading]
    relations: list[tuple[float, Relation]]
    grid: Grid
    masked: int


def depth_program(
    source: Any,
    *,
    kind: DepthKind | None = None,
    mask: Any = None,
    grid: Any = 10,
    relations: bool | int = True,
    tau: float = 0.15,
    units: DepthUnits = "nearness",
    labels: LabelsLike = None,
    expert: ExpertLike = None,
    reading: DepthReading = "range",
    points: Any = None,
    adaptive: bool = False,
    split: float = 0.05,
    reliability: Reliability = None,
) -> PerceptionProgram:
    """A program of how near each part of an image is (paper, section 3.2: `depth`, `patch`).

    Each cell reads `[lowest, highest]` nearness in it, from 0 (farthest) to 1 (nearest). A metric map
    is inverted (1 / metres) and scaled between its extremes, like a relative one.

    Args:
        source: a `DepthMap`; an H×W float array or tensor; or a picture, which goes through the expert.
        kind: what the numbers of an array are: `normalised` (the default: in [0, 1], 1 is nearest),
            `relative` (bigger is nearer) or `metric` (metres, bigger is farther).
        mask: H×W bool, True where an array can be trusted.
        grid: cells a side, or (rows, cols); None for `points` only.
        relations: whether neighbours whose mean nearness differs by more than `tau` are related by
            `in_front_of`, and so are any two points; a number keeps at most so many, the strongest.
        tau: the difference it takes.
        units: `nearness`, or `m` for distances in metres; for metric maps only. Relations and ranks are
            of nearness all the same.
        labels: a segmentation that gives each cell the name of what covers most of it.
        expert: which depth expert reads a picture; by default the best that is installed.
        reading: what a cell reads: its `range`, its `median`, or `range+median` for
            (lowest, median, highest).
        points: {"A": (x, y)} in pixels of the image, or `Points`: places that are asked about. Each is
            an item of its own after the cells: p its letter, r the median of a small disc of readable
            pixels around it (radius 0.004 of the shorter side, at least 1), b its rank, 1 the nearest;
            None and no rank where none of them could be read.
        adaptive: whether cells of uneven depth are cut in quarters, and even ones left large. There
            are at most as many cells as `grid` has; the program's grid is the one that was cut, and each
            cell says its box. On average over the pixels the readings are no farther from the truth
            than those of a plain grid of as many cells.
        split: an adaptive cell whose nearness spans no more than this is left whole.
        reliability: `number` or `words`: also say which share of a cell's (a disc's) pixels could be
            read.

    Raises:
        InputError: the source cannot be read as depth, or an option does not fit.
        MissingExtraError: a picture came and no depth expert is installed.

    >>> import numpy as np
    >>> ramp = np.tile(np.linspace(1, 9, 64), (64, 1))
    >>> depth_program(ramp, kind="relative", grid=(1, 2)).rounded().items[0].r
    (0.0, 0.4921)
    >>> near = depth_program(ramp, kind="relative", grid=None, points={"A": (8, 9), "B": (50, 9)})
    >>> [(item.p, item.b) for item in near.items], near.relations[0].subject
    ([('A', 'rank 2 of 2'), ('B', 'rank 1 of 2')], 'B')
    """
    depth, meta, images = _depth_map(source, kind, mask, expert)
    check_reading(reading, units, depth)
    limit, span = check_tau(tau), _check_split(split)
    places = None
    if points is not None:
        places = asked_points(points, depth.size, beside_cells=grid is not None)
    if grid is None and adaptive:
        raise InputError("adaptive: expected a grid of cells to cut, got grid=None")
    if grid is None and places is None:
        raise InputError("grid: expected a number or (rows, cols), or points alone, got None")
    cells = None
    if grid is not None:
        options = (Grid.of(grid), reading, units, limit, labels, reliability)
        cells = _adaptive(depth, span, *options) if adaptive else _plain(depth, *options)
    asked = None
    if places is not None:
        asked = depth_points(depth, places, units, limit, labels, reliability)
    found = [*(cells.relations if cells else ()), *(asked.relations if asked else ())]
    kept, cut = cap_relations(found, relations)
    return PerceptionProgram(
        modality="depth",
        granularity="patch" if cells else "point",
        items=(*(cells.items if cells else ()), *(asked.items if asked else ())),
        relations=kept,
        grid=cells.grid if cells else None,
        note=_note(reading, units, cells, asked, labels, _related(kept, asked, limit), reliability),
        meta={
            **meta,
            "kind": depth.kind,
            "units": units,
            **({} if reading == "range" else {"reading": reading}),
            **({"adaptive": {"cells": Grid.of(grid).count, "split": span}} if adaptive else {}),
            **_counts(depth, cells, asked, cut),
        },
        images=images,
    )


def _check_split(split: Any) -> float:
    span = plain_number(split, "split")
    if span < 0:
        raise InputError(f"split: expected a number of at least 0, got {split!r}")
    return span


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


def _plain(
    depth: DepthMap,
    grid: Grid,
    reading: DepthReading,
    units: DepthUnits,
    tau: float,
    labels: LabelsLike,
    how: Reliability,
) -> _Cells:
    """The cells of a plain grid."""
    valid = depth.valid() if depth.kind == "metric" or depth.mask is not None else None
    inverse = measured_grid(depth.inverse(), valid, grid, reading)
    near = nearness_of(depth, inverse)
    shown = near if units == "nearness" else measured_grid(depth.values, valid, grid, reading)
    readings = readings_of(shown, reading)
    names = cell_labels(labels, grid, depth.size)
    pairs = ((a - 1, b - 1) for a, b in neighbours(grid))
    numbers = range(1, grid.count + 1)
    return _Cells(
        cell_items(grid, depth.size, readings, names, reliability(near.share.tolist(), how)),
        readings,
        _in_front(near.mean, pairs, numbers, tau),
        grid,
        inverse.masked,
    )


def _adaptive(
    depth: DepthMap,
    split: float,
    grid: Grid,
    reading: DepthReading,
    units: DepthUnits,
    tau: float,
    labels: LabelsLike,
    how: Reliability,
) -> _Cells:
    """The cells of a grid that is cut where it pays."""
    truth, valid = to_numpy(depth.nearness()), to_numpy(depth.valid())
    base, cells = adaptive_cells(truth, grid, middle_of(reading), split)
    boxes = [cell.box for cell in cells]
    near = measured_boxes(truth, valid, boxes)
    shown = near if units == "nearness" else measured_boxes(to_numpy(depth.values), valid, boxes)
    readings = readings_of(shown, reading)
    known = segmentation_of(labels, depth.size)
    rows = zip(
        cells,
        readings,
        [None] * len(cells) if known is None else names_in(known, boxes),
        reliability(near.share.tolist(), how) or [None] * len(cells),
        strict=True,
    )
    return _Cells(
        tuple(Item(cell.name, cell.box, r, b, q=q) for cell, r, b, q in rows),
        readings,
        _in_front(near.mean, touching(boxes), [cell.name for cell in cells], tau),
        base,
        near.masked,
    )


def _in_front(
    means: Any, pairs: Iterable[tuple[int, int]], names: Sequence[Any], tau: float
) -> list[tuple[float, Relation]]:
    """Relations of the pairs (of positions) whose means differ by more than `tau`; NaN never does."""
    related = []
    for first, second in pairs:
        difference = float(means[first] - means[second])
        if abs(difference) > tau:
            front, back = (first, second) if difference > 0 else (second, first)
            related.append((abs(difference), Relation(names[front], "in_front_of", names[back])))
    return related


def _note(
    reading: DepthReading,
    units: DepthUnits,
    cells: _Cells | None,
    asked: DepthPoints | None,
    labels: object,
    related: str | None,
    how: Reliability,
) -> str:
    parts = []
    if cells:
        read = [*cells.readings, *(item.r for item in asked.items)] if asked else cells.readings
        plain = grid_note(reading_note(reading, units), read, labels, related)
        boxed = any(len(item.c or ()) == 4 for item in cells.items)
        parts.append(_ADAPTIVE_NOTE + plain.removeprefix(GRID_NOTE) if boxed else plain)
    if asked:
        said = points_note(units, asked, labels=labels is not None, cells=cells is not None)
        parts.append(said if cells or not related else f"{said} {related}")
    what = " and ".join(["cell's"] * (cells is not None) + ["point's"] * (asked is not None))
    return " ".join(parts) + reliability_note(f"share of the {what} pixels that could be read", how)


def _related(kept: Sequence[Relation], asked: DepthPoints | None, tau: float) -> str | None:
    """What the relations mean, of cells, of points or of both."""
    letters = {item.p for item in asked.items} if asked else set()
    of_points = any(relation.subject in letters for relation in kept)
    of_cells = any(relation.subject not in letters for relation in kept)
    said = []
    if of_cells:
        said.append(
            f"in_front_of: the first cell's mean nearness is more than {tau:.4g} above that of the "
            "second, its neighbour."
        )
    if of_points:
        lead = "Between points" if of_cells else "in_front_of"
        said.append(f"{lead}: the first's nearness is more than {tau:.4g} above the second's.")
    return " ".join(said) or None


def _counts(
    depth: DepthMap, cells: _Cells | None, asked: DepthPoints | None, cut: int
) -> Mapping[str, Any]:
    """What `meta` says of sizes, and of what was not read or left out."""
    masked = cells.masked if cells else int((~depth.valid()).sum())
    unread = [item.r for item in asked.items].count(None) if asked else 0
    return {
        **cell_meta(depth.size, masked, cells.readings if cells else (), cut),
        **({"disc_radius": disc_radius(depth.size)} if asked else {}),
        **({"unread_points": unread} if unread else {}),
    }
