"""Segments of time: which steps go together, and as many as a budget of tokens has room for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .._arrays import describe
from .._plain import check_count, plain_number
from ..errors import InputError
from ..program import PerceptionProgram
from ..tokens import estimate_tokens

__all__ = ["Count", "Segment", "check_times", "fitting", "in_seconds", "merged", "span"]

Count = Callable[[str], int]
"""How many tokens a text is."""

_DIGITS, _EXACT = 6, 17  # significant ones of a time: as a rule, and where it is exact


@dataclass(frozen=True)
class Segment:
    """Steps `first` to `last`, both included, of what is known of one target."""

    target: str
    first: int
    last: int

    def joined(self, following: Segment) -> Segment:
        """This segment and the one that follows it as one."""
        return Segment(self.target, self.first, following.last)


def merged(
    segments: Sequence[Segment],
    cost: Callable[[Segment], float],
    *,
    keep: int = 1,
    limit: float = float("inf"),
) -> list[Segment]:
    """The segments with neighbours of one target joined, those first whose joint cost is the least.

    Args:
        segments: in order, those of a target one after the other.
        cost: of a segment: how much of what it holds it does not say.
        keep: how many to stop at; there are more where targets are.
        limit: the largest cost of a segment.
    """
    found = list(segments)
    prices = [_price(a, b, cost) for a, b in pairwise(found)]
    while len(found) > keep and prices:
        n = min(range(len(prices)), key=prices.__getitem__)
        if prices[n] == float("inf") or prices[n] > limit:
            break
        found[n : n + 2] = [found[n].joined(found[n + 1])]
        del prices[n]
        for m in (n - 1, n):
            if 0 <= m < len(prices):
                prices[m] = _price(found[m], found[m + 1], cost)
    return found


def _price(a: Segment, b: Segment, cost: Callable[[Segment], float]) -> float:
    return cost(a.joined(b)) if a.target == b.target else float("inf")


def fitting(
    segments: Sequence[Segment],
    cost: Callable[[Segment], float],
    say: Callable[[Sequence[Segment]], PerceptionProgram],
    max_tokens: int | None,
    count: Count | None,
) -> PerceptionProgram:
    """What `say` makes of the segments, or of as many merged ones as `max_tokens` has room for.

    Raises:
        InputError: the budget or `count` is no such thing, or not even one segment a target fits.
    """
    program = say(segments)
    if max_tokens is None:
        return program
    most, measure = check_count(max_tokens, "max_tokens"), count or estimate_tokens
    if _tokens(program, measure) <= most:
        return program
    fewest = merged(segments, cost)
    best = say(fewest)
    if _tokens(best, measure) > most:
        raise InputError(
            f"max_tokens: expected at least {_tokens(best, measure)}, which {len(fewest)} "
            f"segment{'s' * (len(fewest) > 1)} take, got {most}"
        )
    low, high = len(fewest), len(segments)  # so many fit, so many do not
    while high - low > 1:
        middle = (low + high) // 2
        program = say(merged(segments, cost, keep=middle))
        if _tokens(program, measure) <= most:
            low, best = middle, program
        else:
            high = middle
    return best


def _tokens(program: PerceptionProgram, count: Count) -> int:
    found = count(program.to_text())
    try:
        if isinstance(found, bool):
            raise TypeError
        return operator.index(found)
    except TypeError:
        raise InputError(
            f"count: expected a function to a number of tokens, got {describe(found)}"
        ) from None


def check_times(times: Sequence[float] | None, expected: int) -> tuple[float, ...] | None:
    """Times in seconds that increase, one for each of `expected` frames.

    Raises:
        InputError: they are no such thing.
    """
    if times is None:
        return None
    try:
        found = tuple(float(plain_number(time, "times")) for time in times)
    except TypeError:
        raise InputError(f"times: expected seconds, got {describe(times)}") from None
    if len(found) != expected:
        raise InputError(f"times: expected one for each of {expected} frames, got {len(found)}")
    if any(b <= a for a, b in pairwise(found)):
        raise InputError(f"times: expected seconds that increase, got {describe(found)}")
    return found


def in_seconds(times: Sequence[float] | None) -> tuple[str, ...] | None:
    """Times as texts: six digits, and more where the steps between the times are that much shorter.

    None of them is off by more than a hundredth of the shortest step, so that they keep their order and
    their distances. A single one is told exactly.

    >>> in_seconds((0, 1 / 30, 0.5)), in_seconds((1.7e9, 1.7e9 + 0.04))
    (('0', '0.0333333', '0.5'), ('1700000000', '1700000000.04'))
    """
    if times is None:
        return None
    off = min((b - a for a, b in pairwise(times)), default=0.0) / 100
    for digits in range(_DIGITS, _EXACT + 1):
        short = [float(f"{time:.{digits}g}") for time in times]
        if all(abs(a - b) <= off for a, b in zip(short, times, strict=True)):
            break
    return tuple(np.format_float_positional(time, trim="-") for time in short)


def span(first: int, last: int, times: Sequence[str] | None, what: str = "frame") -> str:
    """From when to when, in seconds as `in_seconds` has them or, where they are unknown, in numbers
    from 1.

    >>> span(0, 3, ("0", "0.5", "1", "1.5")), span(0, 3, None), span(2, 2, None, "step")
    ('0-1.5 s', 'frames 1-4', 'step 3')
    """
    if times is not None:
        return f"{times[first]}-{times[last]} s"
    return f"{what} {first + 1}" if first == last else f"{what}s {first + 1}-{last + 1}"
