"""Where a reply names options that aren't its answer: wrong, earlier or somebody else's answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from . import _answers_words as words
from ._answers_mentions import Token

__all__ = ["asides"]

_NOUNS = words.ANSWER | words.OPTION | {"match", "idea", "thought", "impression", "instinct"}
_NOT_IT = frozenset(
    [
        "incorrect",
        "wrong",
        "false",
        "worst",
        "initial",
        "previous",
        "earlier",
        "prior",
        "original",
        "secondary",
        "fallback",
        "backup",
        "naive",
        "naïve",
        "example",
        "sample",
    ]
)
_POSSESSIVES = frozenset({"your", "their", "his", "her"})
_NO_OWNERS = frozenset({"it's", "that's", "here's", "what's", "let's", "there's", "question's"})
_UNTRUE = frozenset({"false", "untrue", "wrong", "incorrect", "mistake", "doubtful"})
_ENDS = frozenset({";", "but", "so", "whereas", "while", "however", "now"})
_REACH = 24  # tokens after a marker that an aside may take
_BETWEEN = words.ANSWER | frozenset("\"'()[]:") | {"the", "is", "option", "or"}


def asides(tokens: Sequence[Token], starts: Sequence[int], places: Iterable[int]) -> set[int]:
    """Those of `places`, where options are named, at which the reply doesn't speak for itself."""
    named = sorted(places)
    low = [token.low for token in tokens]
    passed: set[int] = set()
    for n in _markers(low, starts):
        stop = _stop(low, starts, n, frozenset(named))
        passed.update(p for p in named if n < p < stop)
    return passed | set(_offered(low, named))


def _markers(low: Sequence[str], starts: Sequence[int]) -> Iterator[int]:
    """The words with which an aside starts."""
    own = [n for n, word in enumerate(low) if word in words.ANSWER and not _owned(low, n)]
    for n, word in enumerate(low):
        before, after = low[max(0, n - 3) : n], low[n + 1 : n + 3]
        if word in _NOUNS and _says(low, n + 1):
            if (not _NOT_IT.isdisjoint(before[-1:]) and "not" not in before) or (
                own and word in words.ANSWER and _owned(low, n)
            ):
                yield n
        elif (word in _UNTRUE and after[:1] in (["that"], ["to"])) or (
            word == "doubt" and before[-1:] in (["i"], ["we"])
        ):
            if not any(b in words.DENIALS or b.endswith("n't") for b in before):
                yield n
        elif (
            (word in ("nearly", "almost") and after[:1] and after[0] in words.CHOOSE)
            or (word == "at" and after[:1] == ["first"] and after[1:] != ["glance"])
            or (word == "contrary" and after[:1] == ["to"])
            or (word == "alone" and "from" in before)
            or (word == "example" and low[starts[n]] == "in" and n - starts[n] < 5)
        ):
            yield n


def _owned(low: Sequence[str], n: int) -> bool:
    """Whether the answer at `n` is somebody else's: `your answer`, `the tool's answer`."""
    owner = low[n - 1] if n else ""
    return owner in _POSSESSIVES or (owner.endswith(("'s", "’s")) and _plain(owner))


def _plain(owner: str) -> bool:
    return owner.replace("’", "'") not in _NO_OWNERS


def _says(low: Sequence[str], n: int) -> bool:
    """Whether a colon or a verb follows, at once or after a short remark in brackets."""
    if n >= len(low):
        return False
    return low[n] in words.COPULAS or low[n] in words.AUXILIARIES or low[n] in ":=-–—("


def _stop(low: Sequence[str], starts: Sequence[int], n: int, named: frozenset[int]) -> int:
    """Where the aside that starts at `n` ends: with its clause."""
    for place in range(n + 1, min(len(low), n + _REACH)):
        if starts[place] != starts[n] or low[place] in _ENDS:
            return place
        if low[place] == "," and not any(p in named for p in range(place + 1, place + 3)):
            return place
    return min(len(low), n + _REACH)


def _offered(low: Sequence[str], named: Sequence[int]) -> Iterator[int]:
    """Options in a choice of whole answers: `"Answer: (A)" or "Answer: (B)"`."""
    for one, other in itertools.pairwise(named):
        between = low[one + 1 : other]
        said = {word for word in between if len(word) > 1}
        if "or" in between and not words.ANSWER.isdisjoint(said) and said <= _BETWEEN:
            yield from (one, other)
