"""Depth at points that are asked about: one item a point, with its rank."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._plain import decimals
from ..geometry import normalise
from ..program import Item, Relation
from ..results import DepthMap
from ._cells import FRAME_NOTE, LabelsLike
from ._depth_cells import DepthUnits, scaled
from ._labels import labels_at
from ._points import disc_pixels, disc_radius, ordered_pairs, ranks, values_at
from ._reliability import Reliability, reliability

__all__ = ["DepthPoints", "depth_points", "points_note"]

_READINGS = {
    "nearness": "nearness there, from 0 (farthest in this image) to 1 (nearest to the camera)",
    "m": "distance from the camera there, in metres",
}


@dataclass(frozen=True)
class DepthPoints:
    """The items of the points, and (difference, relation) of each two that are apart."""

    items: tuple[Item, ...]
    relations: list[tuple[float, Relation]]


def depth_points(
    depth: DepthMap,
    places: Mapping[str, tuple[float, float]],
    units: DepthUnits,
    tau: float,
    labels: LabelsLike,
    how: Reliability,
) -> DepthPoints:
    """Each point with the median of the readable pixels around it; only those pixels are looked at."""
    height, width = (int(n) for n in depth.values.shape)
    radius = disc_radius(depth.size)
    discs = [disc_pixels((height, width), at, depth.size, radius) for at in places.values()]
    known = values_at(depth.valid(), discs)
    inverse = values_at(depth.inverse(), discs)
    limits = depth.limits()
    found = [
        _median(scaled(values.astype(np.float64), limits)[read])
        for values, read in zip(inverse, known, strict=True)
    ]
    nearness = dict(zip(places, found, strict=True))
    if units == "m":
        metres = values_at(depth.values, discs)
        found = [_median(values[read]) for values, read in zip(metres, known, strict=True)]
    order = ranks(nearness)
    shares = reliability([float(read.mean()) for read in known], how) or [None] * len(places)
    names = labels_at(labels, places.values(), depth.size)
    rows = zip(places.items(), found, names, shares, strict=True)
    items = tuple(
        Item(letter, normalise(*at, depth.size), reading, _label(letter, name, order), q=share)
        for (letter, at), reading, name, share in rows
    )
    return DepthPoints(items, ordered_pairs(nearness, tau, "in_front_of"))


def _median(values: np.ndarray) -> float | None:
    if not values.size:
        return None
    number: float = decimals(np.array([np.median(values)], np.float32))[0]
    return None if math.isnan(number) else number


def _label(letter: str, name: str | None, order: Mapping[str, int]) -> str | None:
    """What is at the point, and its rank; None of either may be known."""
    said = [] if name is None else [name]
    if letter in order:
        said.append(f"rank {order[letter]} of {len(order)}")
    return ", ".join(said) or None


def points_note(units: DepthUnits, points: DepthPoints, *, labels: bool, cells: bool) -> str:
    """What the fields of the points mean; after the note on cells if there are `cells`."""
    said = "what is there, and its rank" if labels else "its rank"
    fields = f"r: {_READINGS[units]}. b: {said} among the points, 1 nearest to the camera."
    if cells:
        return f"Items with a letter for p are points that were asked about, not cells: c: [x, y]. {fields}"
    note = f"Each item is a point that was asked about. c: [x, y]; {FRAME_NOTE}. {fields}"
    unread = any(item.r is None for item in points.items)
    return f"{note} null: nothing could be measured there." if unread else note
