"""How far a reading can be relied on, as a number or in words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from .._arrays import describe
from .._plain import rounded
from ..errors import InputError

__all__ = ["Reliability", "reliability", "reliability_note"]

Reliability = Literal["number", "words"] | None
"""How an item says how reliable it is: from 0 to 1, in words, or not at all."""

_WORDS = ((0.8, "sure"), (0.5, "fair"), (0.0, "doubtful"))


def reliability(
    measured: Iterable[float | None], how: Reliability
) -> list[float | str | None] | None:
    """`q` of each item from what was measured of it, or None when `how` is.

    Args:
        measured: from 0 to 1 an item, in order; None or NaN where nothing is known.
        how: `number`, `words` or None.

    Raises:
        InputError: `how` is something else.

    >>> reliability([0.95, 0.6, None], "words")
    ['sure', 'fair', None]
    """
    if how is None:
        return None
    if how not in ("number", "words"):
        raise InputError(f"reliability: expected number, words or None, got {describe(how)}")
    return [_said(value, how) for value in measured]


def _said(value: float | None, how: Reliability) -> float | str | None:
    if value is None or math.isnan(value):
        return None
    share = min(max(float(value), 0.0), 1.0)
    if how == "number":
        return rounded(share)
    return next(word for least, word in _WORDS if share >= least)


def reliability_note(meaning: str, how: Reliability) -> str:
    """What `q` means, for a note, with a space before it; empty when `how` is None.

    >>> reliability_note("share of the cell's pixels that could be read", "words")
    " q: share of the cell's pixels that could be read: sure from 0.8, fair from 0.5, else doubtful."
    """
    if how is None:
        return ""
    if how == "number":
        return f" q: {meaning}, from 0 to 1."
    return f" q: {meaning}: sure from 0.8, fair from 0.5, else doubtful."
