"""Optical flow: which way each cell of a grid moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._arrays import describe, is_array, is_floating
from ..errors import InputError
from ..geometry import Grid, normalise
from ..images import is_picture
from ..program import Item, PerceptionProgram
from ..results import FlowField
from ._cells import FRAME_NOTE, LabelsLike, cell_items, cell_labels, cell_meta, grid_note
from ._experts import ExpertLike, check_unused, run_expert
from ._labels import labels_at
from ._motion import (
    NO_MOTION,
    FlowReading,
    How,
    Motion,
    cell_motion,
    check_note,
    expert_options,
    how_to_read,
    point_motion,
    points_note,
    reading_note,
)
from ._points import asked_points, disc_radius
from ._reliability import Reliability, reliability, reliability_note

__all__ = ["NO_MOTION", "flow_program"]


def flow_program(
    first: Any,
    second: Any = None,
    *,
    grid: Any = 10,
    check: bool = False,
    labels: LabelsLike = None,
    expert: ExpertLike = None,
    reading: FlowReading = "direction",
    still: float = 0.5,
    points: Any = None,
    reliability: Reliability = None,
) -> PerceptionProgram:
    """A program of which way the parts of an image move (paper, section 3.2: `flow`, `patch`).

    Each cell reads `left` if its mean horizontal motion is below 0, else `right`.

    Args:
        first: a `FlowField` or an H×W×2 array (pixels to the second frame, u right, v down); or the
            first frame, a picture.
        second: the second frame, of the same size.
        grid: cells a side, or (rows, cols); None for `points` only.
        check: whether a cell must earn its reading: where fewer than half of its pixels move sideways
            by half a pixel or more in a way that the reverse direction confirms, it reads
            `no reliable motion`; a mean is taken over the confirmed pixels, whether they move or not, if
            they are at least half. Frames are put through the expert both ways; a `FlowField` needs
            its `confidence`.
        labels: a segmentation of the first frame that gives each cell, and each point, its name.
        expert: which flow expert reads the frames; by default the best that is installed.
        reading: what a cell reads: its `direction`, or its `mean`: (u, v, magnitude) in pixels of the
            first frame, u right and v down, each the mean over the cell's valid pixels. Where parts of a
            cell move against each other, the magnitude is larger than the length of (u, v).
        still: a mean of a smaller magnitude, in pixels, reads `still`.
        points: {"A": (x, y)} in pixels of the first frame, or `Points`: places that are asked about.
            Each is an item of its own after the cells: p its letter, r the reading of the median vector
            of a small disc around it (radius 0.004 of the shorter side, at least 1).
        reliability: `number` or `words`: also say which share of a cell's (a disc's) pixels the reverse
            direction confirms, or, of a flow without confidence, could be read. Frames are put
            through the expert both ways.

    Raises:
        InputError: neither flow nor two pictures, or an option does not fit.

    >>> import numpy as np
    >>> [item.r for item in flow_program(np.full((40, 40, 2), -1.0), grid=(1, 2)).items]
    ['left', 'left']
    >>> field = np.full((40, 40, 2), [-3.0, 4.0])
    >>> flow_program(field, reading="mean", grid=None, points={"A": (20, 10)}).items
    (Item(p='A', c=(500, 250), r=(-3.0, 4.0, 5.0)),)
    """
    flow, meta, images = _flow_field(first, second, expert, expert_options(check, reliability))
    how = how_to_read(reading, still, check, flow)
    places = None
    if points is not None:
        places = asked_points(points, flow.size, beside_cells=grid is not None)
    if grid is None and places is None:
        raise InputError("grid: expected a number or (rows, cols), or points alone, got None")
    cells = None if grid is None else Grid.of(grid)
    moving = None if cells is None else cell_motion(flow, cells, how)
    asked = None if places is None else point_motion(flow, list(places.values()), how)
    items: tuple[Item, ...] = ()
    if cells and moving:
        items += _cell_items(cells, moving, flow, labels, reliability)
    if places and asked:
        items += _point_items(places, asked, flow, labels, reliability)
    return PerceptionProgram(
        modality="flow",
        granularity="patch" if cells else "point",
        items=items,
        grid=cells,
        note=_note(how, flow, moving, asked, labels, reliability),
        meta={
            **meta,
            **({"consistent": moving.consistent} if moving and check else {}),
            **({} if reading == "direction" else {"reading": reading, "still": how.still}),
            **_counts(flow, moving, asked),
        },
        images=images,
    )


def _cell_items(
    cells: Grid, moving: Motion, flow: FlowField, labels: LabelsLike, how: Reliability
) -> tuple[Item, ...]:
    names = cell_labels(labels, cells, flow.size)
    shares = reliability(moving.shares, how)
    return cell_items(cells, flow.size, moving.readings, names, shares)


def _point_items(
    places: Mapping[str, tuple[float, float]],
    asked: Motion,
    flow: FlowField,
    labels: LabelsLike,
    how: Reliability,
) -> tuple[Item, ...]:
    names = labels_at(labels, places.values(), flow.size)
    shares = reliability(asked.shares, how) or [None] * len(places)
    rows = zip(places.items(), asked.readings, names, shares, strict=True)
    return tuple(
        Item(letter, normalise(*place, flow.size), r, b, q=q) for (letter, place), r, b, q in rows
    )


def _note(
    how: How,
    flow: FlowField,
    moving: Motion | None,
    asked: Motion | None,
    labels: LabelsLike,
    q: Reliability,
) -> str:
    read = [*(moving.readings if moving else ()), *(asked.readings if asked else ())]
    if moving:
        note = grid_note(
            reading_note(how, flow) + check_note(how, "the cell's pixels"), read, labels
        )
        note += f" {points_note(how, flow, cells=True)}" if asked else ""
    else:
        note = (
            "Each item is a point that was asked about. p: its letter. c: [x, y] in the first image; "
            f"{FRAME_NOTE}. {points_note(how, flow, cells=False)}{check_note(how, 'the pixels there')}"
        )
        note += " null: nothing could be measured there." if None in read else ""
        note += " b: what is there." if labels is not None else ""
    whose = " and ".join(["cell's"] * bool(moving) + ["point's"] * bool(asked))
    shown = "could be read" if flow.confidence is None else "the reverse direction confirms"
    return note + reliability_note(f"share of the {whose} pixels that {shown}", q)


def _counts(flow: FlowField, moving: Motion | None, asked: Motion | None) -> dict[str, Any]:
    """What `meta` says of sizes, and of what was not read."""
    masked = moving.masked if moving else int((~flow.valid()).sum())
    unread = asked.readings.count(None) if asked else 0
    return {
        **cell_meta(flow.size, masked, moving.readings if moving else ()),
        **({"disc_radius": disc_radius(flow.size)} if asked else {}),
        **({"unread_points": unread} if unread else {}),
    }


def _flow_field(
    first: Any, second: Any, expert: ExpertLike, made_with: Mapping[str, Any]
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
    found = run_expert("flow", expert, FlowField, first, second, made_with=made_with)
    return (*found, (first, second))
