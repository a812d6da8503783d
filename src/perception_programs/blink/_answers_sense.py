"""In which sense something is declared, and which of several declarations is the answer.

A declaration with a quality of its own (`the farthest point is D`), one on a condition and one that
only may hold give way to a plain one (`the answer is B`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from . import _answers_words as words
from ._answers_reading import Reading, Target

__all__ = ["IF", "MAYBE", "Declaration", "another_place", "conceded", "decided", "sense"]

IF, MAYBE = "if", "maybe"
_BETWEEN = frozenset({"-", "–", "most", "very", "best", "likely"}) | words.FITTING
_CLAUSE = 8  # tokens of its clause before it that tell how sure it is
_BEFORE = 3  # tokens before an announcing word that tell its sense: `the closest option is`


class Declaration(NamedTuple):
    """An answer declared at a token: a letter, or None for several, for a denial, for no option.

    `sense` is empty for a plain one; else `IF`, where it holds on a condition, `MAYBE`, or the
    quality that was declared, such as `near` for closest.
    """

    letter: str | None
    place: int
    sense: str = ""


def decided(reading: Reading, found: Iterable[Declaration]) -> Declaration | None:
    """The last declaration that is plain, or else the last, if no other contradicts it.

    After a correction such as `wait`, what is declared counts as plain. Where a quality of another
    option is concluded behind a plain one, either may be meant.
    """
    ordered = sorted(found, key=lambda d: (d.place, not d.sense))
    if not ordered:
        return None
    last = ordered[-1]
    corrected = _last_correction(reading, last.place)
    plain = [n for n, d in enumerate(ordered) if not d.sense and d.letter]
    concluded = _concluded(reading, last.place)
    if not last.sense:
        return last
    if plain and ordered[plain[-1]].place > corrected:
        found_plain = ordered[plain[-1]]
        clash = concluded and last.sense not in (IF, MAYBE) and last.letter != found_plain.letter
        return Declaration(None, last.place) if clash else found_plain
    since = plain[-1] + 1 if plain else 0
    rivals = [d for d in ordered[since:] if d.letter != last.letter and d.place > corrected]
    rivals = [d for d in rivals if _rivals(d, last, concluded)]
    return Declaration(None, last.place) if rivals else last


def _rivals(one: Declaration, last: Declaration, concluded: bool) -> bool:
    """Whether two declarations of different options are neither a correction nor a conclusion."""
    if last.sense in (IF, MAYBE) or one.sense in (IF, MAYBE) or one.sense == last.sense:
        return last.sense in (IF, MAYBE)
    return not concluded or {one.sense, last.sense} in ({"near", "far"}, {"dark", "light"})


def _concluded(reading: Reading, place: int) -> bool:
    """Whether a `so` or the like leads to it."""
    said = {reading.low(n) for n in range(max(reading.starts[place], place - 20), place)}
    return not said.isdisjoint(words.CONCLUDING)


def _last_correction(reading: Reading, before: int) -> int:
    places = reading.corrections
    n = bisect_left(places, before)
    return places[n - 1] if n else -1


def sense(reading: Reading, place: int, target: Target) -> str:
    """The sense in which the word at `place` announces an option."""
    first = place
    while first > max(reading.starts[place], place - _CLAUSE):
        if reading.low(first - 1) in words.BREAKS:
            break
        first -= 1
    said = [reading.low(n) for n in range(first, target.start)]
    spoken = reading.low(place) in words.CHOOSE or reading.low(place) == "say"
    if reading.suppositions.conditional(target.start):
        return IF
    if not words.MAYBE.isdisjoint(said) or ("would" in said and not spoken):
        return MAYBE
    said = said[max(0, place - first - _BEFORE) :]
    if reading.low(place) in words.ANSWER or spoken:
        return ""
    for low in said:
        if low in words.POLES or (words.is_superlative(low) and low != "best"):
            return words.POLES.get(low, low)
    return ""


def another_place(reading: Reading, place: int, target: Target) -> bool:
    """Whether the runner-up is announced: `the second-best choice`, `the next closest`."""
    ranked = False
    for n in range(target.start - 1, max(reading.starts[place], place - 2 * _BEFORE) - 1, -1):
        low = reading.low(n)
        if ranked and low in words.RUNNERS_UP:
            return True
        if n < place and low in ",;":
            return False  # `B is the second closest, leaving A`
        if low not in ("-", "–", "most", "very"):
            ranked = low in _BETWEEN or words.is_superlative(low)
    return False


def conceded(reading: Reading, target: Target) -> bool:
    """Whether the words after an option say that it is another good one, and not more."""
    if reading.low(target.stop) not in words.COPULAS | words.AUXILIARIES:
        return False
    for n in range(target.stop + 1, target.stop + 5):
        low = reading.low(n)
        if low in words.CONCEDED:
            return reading.low(n - 1) not in ("most", "more", "only")
        if low in words.BREAKS or reading.ends(n):
            return False
    return False
