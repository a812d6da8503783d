"""How the objects of a scene stand to each other, from their boxes, nearness and motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..geometry import FRAME
from ..program import Relation

__all__ = ["BACKGROUND", "Layout", "holders", "relation_notes"]

BACKGROUND = "background"
"""The identifier of what lies in no box."""

_ORDERS = ("in_front_of", "left_of", "above")
_INSIDE = 0.9
_OVERLAPS = 0.1
_MOVES = 0.5  # pixels: less is within what estimators are off where nothing moves
_DIRECTIONS = (("moving_left", "moving_right"), ("moving_up", "moving_down"))

Matrix: TypeAlias = npt.NDArray[np.bool_]
Related: TypeAlias = list[tuple[float, Relation]]


@dataclass(frozen=True)
class Layout:
    """What relations are taken from.

    Attributes:
        corners: N×4 integers, boxes in the 0-1000 frame, as the program says them, so that a reader
            can check what is said of them.
        near: N, nearness, NaN where unknown; or None.
        motion: N×2, u and v against the background in pixels, NaN where unknown; or None.
        tau: how much nearer is in front.
    """

    corners: npt.NDArray[np.int64]
    near: npt.NDArray[np.float64] | None
    motion: npt.NDArray[np.float64] | None
    tau: float

    def among(self, rows: Sequence[int], *, moving: bool) -> Related:
        """The relations among the objects in `rows`, object n being called n + 1, each with its
        strength from 0 to 1; with or without how they move against the background.
        """
        keep = np.array(rows, np.intp)
        corners = self.corners[keep]
        found: Related = []
        if self.near is not None:
            difference = self.near[keep][:, None] - self.near[keep][None]
            found += _listed("in_front_of", keep, _reduced(difference > self.tau), difference)
        for axis, predicate in enumerate(("left_of", "above")):
            before, apart = _before(corners, axis)
            found += _listed(predicate, keep, _reduced(before), apart)
        inside, overlaps, shared = _shared(corners)
        found += _listed("inside", keep, inside, shared)
        found += _listed("overlaps", keep, np.triu(overlaps), shared)
        if moving and self.motion is not None:
            found += _moving(keep, self.motion[keep])
        return found


def _listed(predicate: str, rows: npt.NDArray[np.intp], holds: Matrix, strength: object) -> Related:
    strengths = np.asarray(strength, np.float64)
    return [
        (float(strengths[a, b]), Relation(int(rows[a]) + 1, predicate, int(rows[b]) + 1))
        for a, b in np.argwhere(holds).tolist()
    ]


def _reduced(order: Matrix) -> Matrix:
    """A strict order without what follows from two others (its transitive reduction)."""
    steps = order.astype(np.float32)
    return np.asarray(order & ~(steps @ steps > 0))


def _before(corners: npt.NDArray[np.int64], axis: int) -> tuple[Matrix, npt.NDArray[np.float64]]:
    """Which box comes before which along an axis, and how far their centres are apart.

    The first's centre comes before the other's box, and the first's box ends before the other's centre,
    so that boxes may overlap a little. Both hold along chains, which makes it an order.
    """
    start, end = corners[:, axis], corners[:, axis + 2]
    twice = start + end  # the centre, in halves
    before = (twice[:, None] < 2 * start[None]) & (2 * end[:, None] < twice[None])
    return before, (twice[None] - twice[:, None]) / (2 * FRAME)


def _shared(
    corners: npt.NDArray[np.int64],
) -> tuple[Matrix, Matrix, npt.NDArray[np.float64]]:
    """Which box is inside which, which overlap, and the shared part of the smaller of each two."""
    low = np.maximum(corners[:, None, :2], corners[None, :, :2])
    high = np.minimum(corners[:, None, 2:], corners[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(axis=-1)
    area = (corners[:, 2:] - corners[:, :2]).prod(axis=-1)
    smaller = np.minimum(area[:, None], area[None])
    shared = common / np.maximum(smaller, 1)
    inside = (shared >= _INSIDE) & (area[:, None] < area[None])
    overlaps = (shared >= _OVERLAPS) & ~inside & ~inside.T & ~np.eye(len(area), dtype=bool)
    return inside, overlaps, shared


def holders(corners: npt.NDArray[np.int64]) -> list[int | None]:
    """For each box the smallest that it is inside of, or None."""
    inside, _, _ = _shared(corners)
    area = (corners[:, 2:] - corners[:, :2]).prod(axis=-1)
    sizes = np.where(inside, area[None], np.inf)
    return [int(np.argmin(row)) if np.isfinite(row).any() else None for row in sizes]


def _moving(rows: npt.NDArray[np.intp], motion: npt.NDArray[np.float64]) -> Related:
    """Which way objects move against the background; along both axes where neither prevails."""
    found: Related = []
    for row, vector in zip(rows.tolist(), motion, strict=True):
        length = np.abs(vector)
        for axis, (less, more) in enumerate(_DIRECTIONS):
            if length[axis] > _MOVES and 2 * length[axis] >= length[1 - axis]:
                predicate = more if vector[axis] > 0 else less
                # Few and said of one object each, these stay when others are cut.
                found.append((1.0, Relation(row + 1, predicate, BACKGROUND)))
    return found


def relation_notes(predicates: set[str], tau: float, *, metres: bool) -> list[str]:
    """A phrase on each predicate that occurs, with its formula."""
    scaled = " (1 / metres, scaled to 0-1 in this image)" if metres else ""
    phrases = {
        "in_front_of": f"in_front_of: its nearness{scaled} is more than {tau:.4g} above the other's.",
        "left_of": "left_of: its centre is left of the other's box, and its box left of the other's "
        "centre.",
        "above": "above: its centre is higher up than the other's box, and its box than the other's "
        "centre.",
        "inside": f"inside: at least {_INSIDE:g} of its box's area is in the other's larger box.",
        "overlaps": f"overlaps: the boxes share at least {_OVERLAPS:g} of the smaller one's area, and "
        "neither is inside the other.",
    }
    said = [phrase for name, phrase in phrases.items() if name in predicates]
    orders = [name for name in _ORDERS if name in predicates]
    if orders:
        said.append(f"Of {' and '.join(orders)}, what follows from two others is left out.")
    moving = [name for pair in _DIRECTIONS for name in pair if name in predicates]
    if moving:
        said.append(
            f"{', '.join(moving)}: its motion less that of the background is more than {_MOVES:g} pixels "
            "that way, and at least half as much as along the other axis."
        )
    return said
