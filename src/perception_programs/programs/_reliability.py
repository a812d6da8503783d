"""How far a reading can be relied on, as a number or in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from .._arrays import describe
from .._plain import rounded
from ..errors import InputError
from ..geometry import Grid, Size

__all__ = [
    "LEADS",
    "SHARES",
    "Levels",
    "Reliability",
    "leads",
    "reliability",
    "reliability_note",
    "shares_of",
]

Reliability = Literal["number", "words"] | None
"""How an item says how reliable it is: from 0 to 1, in words, or not at all."""

Levels = tuple[float, float]
"""From where `sure` and `fair` are said."""

SHARES: Levels = (0.8, 0.5)
"""Of a share of what was looked at."""

LEADS: Levels = (0.05, 0.02)
"""Of how far apart the scores of two candidates are. On the 75 jigsaws of BLINK with strips of 32 pixels,
which are too wide, the better candidate is right in 59 of 59, 9 of 11 and 2 of 5 cases."""


def reliability(
    measured: Iterable[float | None], how: Reliability, levels: Levels = SHARES
) -> list[float | str | None] | None:
    """`q` of each item from what was measured of it, or None when `how` is.

    Args:
        measured: from 0 to 1 an item, in order; None or NaN where nothing is known.
        how: `number`, `words` or None.
        levels: from where it is `sure` and `fair`.

    Raises:
        InputError: `how` is something else.

    >>> reliability([0.95, 0.6, None], "words")
    ['sure', 'fair', None]
    """
    if how is None:
        return None
    if how not in ("number", "words"):
        raise InputError(f"reliability: expected number, words or None, got {describe(how)}")
    return [_said(value, how, levels) for value in measured]


def _said(value: float | None, how: Reliability, levels: Levels) -> float | str | None:
    if value is None or math.isnan(value):
        return None
    share = min(max(float(value), 0.0), 1.0)
    if how == "number":
        return rounded(share)
    sure, fair = levels
    return "sure" if share >= sure else "fair" if share >= fair else "doubtful"


def shares_of(count: npt.NDArray[np.int64], grid: Grid, size: Size) -> list[float]:
    """Which share of each cell's pixels a count is, for counts of rows × cols cells.

    >>> shares_of(np.array([[1, 2]]), Grid(1, 2), (4, 1))
    [0.5, 1.0]
    """
    xs, ys = grid.edges(size)
    shares: list[float] = (count / np.outer(np.diff(ys), np.diff(xs))).ravel().tolist()
    return shares


def leads(scores: Mapping[str, float]) -> dict[str, float | None]:
    """How far each score is from the best other one; None for a single one.

    >>> leads({"A": 0.75, "B": 0.5, "C": 0.125})
    {'A': 0.25, 'B': 0.25, 'C': 0.625}
    """
    if len(scores) < 2:
        return dict.fromkeys(scores)
    best, second = sorted(scores, key=lambda name: -scores[name])[:2]
    return {
        name: abs(score - scores[second if name == best else best])
        for name, score in scores.items()
    }


def reliability_note(meaning: str, how: Reliability, levels: Levels = SHARES) -> str:
    """What `q` means, for a note, with a space before it; empty when `how` is None.

    >>> reliability_note("share of the cell's pixels that could be read", "words")
    " q: share of the cell's pixels that could be read: sure from 0.8, fair from 0.5, else doubtful."
    """
    if how is None:
        return ""
    if how == "number":
        return f" q: {meaning}, from 0 to 1."
    return f" q: {meaning}: sure from {levels[0]:g}, fair from {levels[1]:g}, else doubtful."
