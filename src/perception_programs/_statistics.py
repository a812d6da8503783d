"""How sure an accuracy is, and whether two of them differ on the same samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import InputError, MissingExtraError, install_command

__all__ = ["CONFIDENCE", "Comparison", "compare", "wilson"]

CONFIDENCE = 0.95
"""The level of every interval."""


def wilson(right: int, n: int) -> tuple[float, float] | None:
    """Wilson's score interval of a proportion (Wilson 1927), at `CONFIDENCE`; None without samples.

    Args:
        right: how many are right.
        n: of how many.

    Returns:
        Lower and upper limit, from 0 to 1.

    Raises:
        InputError: fewer than none right, or more than there are.

    >>> low, high = wilson(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if not 0 <= right <= n:
        raise InputError(f"right: expected 0 to {n}, got {right}")
    if n == 0:
        return None
    interval = _stats().binomtest(right, n).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


@dataclass(frozen=True)
class Comparison:
    """Two ways of answering, on the samples that both have answered.

    Attributes:
        both: samples that both have right.
        first: samples that only the first has right.
        second: samples that only the second has right.
        neither: samples that both have wrong.
    """

    both: int
    first: int
    second: int
    neither: int

    @property
    def n(self) -> int:
        """How many samples are compared."""
        return self.both + self.first + self.second + self.neither

    @property
    def difference(self) -> float | None:
        """Accuracy of the second less that of the first, from -1 to 1; None without samples.

        >>> Comparison(both=5, first=1, second=3, neither=1).difference
        0.2
        """
        return (self.second - self.first) / self.n if self.n else None

    @property
    def p(self) -> float:
        """McNemar's exact test, two-sided: how likely so unequal a split of the samples that only
        one has right would be, were both as good; 1 when there are none.

        >>> Comparison(both=5, first=1, second=8, neither=1).p
        0.0390625
        """
        unequal = self.first + self.second
        return float(_stats().binomtest(self.second, unequal).pvalue) if unequal else 1.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """Limits of the difference at `CONFIDENCE`; None without samples.

        Newcombe's square-and-add of the two Wilson intervals, with the correlation of the pairs and
        its continuity correction (Newcombe 1998, Statistics in Medicine 17, 2635-2650, method 10).
        """
        if not self.n:
            return None
        after, before = self.both + self.second, self.both + self.first
        p, q = after / self.n, before / self.n
        (p_low, p_high), (q_low, q_high) = wilson(after, self.n), wilson(before, self.n)  # type: ignore[misc]
        phi = self._correlation()

        def reach(a: float, b: float) -> float:
            return math.sqrt(max(a * a - 2 * phi * a * b + b * b, 0.0))

        return p - q - reach(p - p_low, q_high - q), p - q + reach(p_high - p, q - q_low)

    def _correlation(self) -> float:
        """The correlation of right answers, drawn towards 0 when it is positive."""
        margins = math.prod(
            (
                self.both + self.second,
                self.first + self.neither,
                self.both + self.first,
                self.second + self.neither,
            )
        )
        if not margins:
            return 0.0
        product = self.both * self.neither - self.first * self.second
        return (max(product - self.n / 2, 0.0) if product > 0 else product) / math.sqrt(margins)


def compare(first: Mapping[str, bool], second: Mapping[str, bool]) -> Comparison:
    """Compare two ways of answering on the ids that both have.

    Args:
        first: whether each sample is right, by id.
        second: the same of the other.

    >>> compare({"a": True, "b": False, "c": True}, {"a": True, "b": True, "d": True})
    Comparison(both=1, first=0, second=1, neither=0)
    """
    pairs = [(right, second[key]) for key, right in first.items() if key in second]
    return Comparison(
        both=pairs.count((True, True)),
        first=pairs.count((True, False)),
        second=pairs.count((False, True)),
        neither=pairs.count((False, False)),
    )


def _stats() -> Any:
    try:
        import scipy.stats
    except ModuleNotFoundError:
        raise MissingExtraError(f"statistics need scipy: {install_command('eval')}") from None
    return scipy.stats
