"""What a reply supposes: `if the reference were the left ear, the answer would be (D)`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from . import _answers_words as words
from ._answers_mentions import Token

__all__ = ["Suppositions"]

_MODALS = frozenset({"would", "could", "might", "may", "wouldn't", "couldn't"})
_INVERTED = frozenset({"were", "had"})  # where they start a sentence that says `would`
_NOT_SO = (["even"], ["as"], ["or"])  # words before `if` with which it supposes nothing
_REACH = 40  # tokens of a sentence, each way, that a supposition reaches


class Suppositions:
    """Where a reply supposes what it does not say.

    `if I had to guess`, `if pressed` and `even if` suppose nothing.
    """

    def __init__(
        self, tokens: Sequence[Token], sentences: Sequence[tuple[int, int]], starts: Sequence[int]
    ) -> None:
        self._low = [token.low for token in tokens]
        self._stops = dict(sentences)
        self._starts = starts
        self._places = [n for n in range(len(tokens)) if self._supposes(n)]

    def supposed(self, place: int) -> bool:
        """Whether the clause of `place` says what is to be supposed: `if B is right`."""
        first, _ = self._clause(place)
        return any(first <= n < place for n in self._around(place))

    def contrary(self, place: int) -> bool:
        """Whether the clause of `place` says what is to be supposed, or what would be then."""
        if not self._around(place):
            return False
        first, stop = self._clause(place)
        said = self._low[first:stop]
        return self.supposed(place) or (any(map(_says_would, said)) and self.conditional(place))

    def conditional(self, place: int) -> bool:
        """Whether what is said at `place` holds on a condition only."""
        if not self._around(place):
            return False
        first, stop = self._clause(place)
        return any(self._linked(n, first, stop) for n in self._around(place))

    def _around(self, place: int) -> Sequence[int]:
        """The last supposition before `place` and the next one, in its sentence.

        What parts these from its clause parts all the others from it.
        """
        start = self._starts[place]
        low = max(start, place - _REACH)
        high = min(self._stops[start], place + _REACH)
        n = bisect_left(self._places, place)
        return [p for p in self._places[max(0, n - 1) : n + 1] if low <= p < high]

    def _linked(self, supposition: int, first: int, stop: int) -> bool:
        """Whether a clause hangs on a supposition: no `so` or `but` parts them."""
        between = self._low[supposition:first] or self._low[stop : supposition + 1]
        return all(low in (",", ":", "then") or low not in words.BREAKS for low in between)

    def _clause(self, place: int) -> tuple[int, int]:
        """The first token of the clause of `place`, and the one after its last."""
        first = stop = place
        start = self._starts[place]
        while first > max(start, place - _REACH) and self._low[first - 1] not in words.BREAKS:
            first -= 1
        end = min(self._stops[start], place + _REACH)
        while stop < end and self._low[stop] not in words.BREAKS:
            stop += 1
        return first, stop

    def _supposes(self, n: int) -> bool:
        """Whether a supposition starts at token `n`."""
        after = self._low[n + 1 : n + 8]
        if self._low[n] in _INVERTED:
            said = self._low[n : min(self._stops[self._starts[n]], n + _REACH)]
            return n == self._starts[n] and any(map(_says_would, said))
        if self._low[n] not in words.HYPOTHETICAL or self._low[n - 1 : n] in _NOT_SO:
            return False
        if not after or after[0] in words.GUESSING or after[0].endswith("ing"):
            return False
        if not words.THEREFORE.isdisjoint(self._low[self._starts[n] : n]):
            return False  # a conclusion, and the supposition is the question's
        guesses = not words.GUESSING.isdisjoint(after) or after[1:3] == ["had", "to"]
        return not (after[0] in words.SPEAKERS and guesses)


def _says_would(low: str) -> bool:
    return low in _MODALS or low.endswith(("'d", "’d"))
