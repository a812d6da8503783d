"""Lists with fewer items: which matches, detections and objects say most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..program import Item, PerceptionProgram, numbers_in
from .forms import Forms, aligned_meta, with_sentence

__all__ = ["fewer_detections", "fewer_matches"]

_NEAREST = 4  # so many matches around each place come before any others: they show how it moves


def fewer_matches(
    program: PerceptionProgram, around: Sequence[tuple[float, float]]
) -> Forms | None:
    """Matches fewer and fewer: those nearest to the places asked about stay longest, then the others
    thin out evenly.

    Args:
        program: any; one that is no correspondence program has no forms.
        around: places in the 0-1000 frame of the first image, beside the program's own points.
    """
    rows = [n for n, item in enumerate(program.items) if not isinstance(item.p, str)]
    places = [(n, c) for n in rows if isinstance(c := program.items[n].c, tuple) and len(c) == 2]
    if program.modality != "correspondence" or len(places) < len(rows):
        return None
    own = [item.c for item in program.items if isinstance(item.p, str)]
    asked = [*around, *(c for c in own if isinstance(c, tuple) and len(c) == 2)]
    starts = np.array([c for _, c in places], dtype=float).reshape(-1, 2)
    order = [rows[n] for n in _spread(starts, _near(starts, asked))]
    how = "the nearest to the points asked about, then evenly spread" if asked else "evenly spread"
    return _kept(program, order, "matches", how, least=0 if own else 1)


def fewer_detections(program: PerceptionProgram) -> Forms | None:
    """Detections, or objects of a scene, fewer and fewer: the surest of each label stay longest."""
    if program.modality not in ("object-detection", "scene"):
        return None
    rows = [n for n, item in enumerate(program.items) if not isinstance(item.p, str)]
    sure = sorted(rows, key=lambda n: -_confidence(program.items[n]))
    seen: Counter[str | None] = Counter()
    rank = {}
    for n in sure:
        label = program.items[n].b
        rank[n] = seen[label]
        seen[label] += 1
    order = sorted(sure, key=lambda n: rank[n])  # stable: surest first within a rank
    what = "objects" if program.modality == "scene" else "detections"
    return _kept(program, order, what, "the surest of each label first", least=1)


def _confidence(item: Item) -> float:
    if isinstance(item.q, float | int):
        return float(item.q)
    return float(next(iter(numbers_in(item.r)), 0.0))


def _kept(
    program: PerceptionProgram, order: Sequence[int], what: str, how: str, *, least: int
) -> Forms:
    """The forms that keep the first of `order`, one fewer each time, down to `least`."""
    rest = [n for n, item in enumerate(program.items) if isinstance(item.p, str)]

    def make(cut: int) -> tuple[PerceptionProgram, str]:
        count = len(order) - 1 - cut
        rows = sorted([*order[:count], *rest])
        said = f"Listed: {count} of {len(order)} {what}" + (f", {how}." if count else ".")
        return with_sentence(_of(program, rows), said), f"items: {count} of {len(order)} {what}"

    return Forms(make, max(0, len(order) - least))


def _of(program: PerceptionProgram, rows: Sequence[int]) -> PerceptionProgram:
    """The program with some of its items, and the relations among those."""
    kept = tuple(program.items[n] for n in rows)
    known = {item.p for item in kept}
    relations = tuple(r for r in program.relations if {r.subject, r.object} <= known)
    return replace(program, items=kept, relations=relations, meta=aligned_meta(program, rows))


def _near(points: npt.NDArray[np.float64], asked: Sequence[tuple[float, ...]]) -> list[int]:
    """The rows nearest to each of the places, in turns."""
    ranked = [
        np.argsort(np.hypot(*(points - place).T), kind="stable")[:_NEAREST] for place in asked
    ]
    turns = [int(row) for turn in zip(*ranked, strict=True) for row in turn]
    return list(dict.fromkeys(turns))


def _spread(points: npt.NDArray[np.float64], first: Sequence[int]) -> list[int]:
    """All rows: `first`, then each time the one farthest from all before it, so that any beginning of
    the list is spread as evenly as its length allows (farthest-point sampling).
    """
    if not len(points):
        return []
    # With nothing asked about, the point nearest to the middle of all begins.
    middle = np.hypot(*(points - points.mean(axis=0)).T)
    order = list(first) or [int(middle.argmin())]
    away = np.full(len(points), np.inf)
    for row in order:
        away = np.minimum(away, np.hypot(*(points - points[row]).T))
    away[order] = -1
    while len(order) < len(points):
        row = int(away.argmax())
        order.append(row)
        away = np.minimum(away, np.hypot(*(points - points[row]).T))
        away[row] = -1
    return order
