"""What a reply declares by how its lines are set: an option alone on the last one, or ticked."""

from __future__ import annotations

from collections.abc import Iterator

from ._answers_reading import Reading, Target

__all__ = ["SIGNS", "last_line", "last_sentence", "ticked"]

SIGNS = frozenset("\"'{}[]():=-–—→>.,*#⟧") | {"\n"}
"""Tokens that may stand around an option without saying anything."""


def last_line(reading: Reading) -> Target | None:
    """An option that has the last of several lines to itself, and is not the end of a list."""
    lines = [line for line in _lines(reading) if any(map(reading.word, range(*line)))]
    if len(lines) < 2:
        return None
    alone = _alone(reading, *lines[-1])
    before = _leading(reading, *lines[-2])
    return None if alone is None or (before and before.letters != alone.letters) else alone


def last_sentence(reading: Reading) -> Target | None:
    """An option that is all of the last of several sentences: `… D lies on the ear. D`.

    An A or I without an end may be the start of another one that was cut off.
    """
    if (
        len(reading.sentences) < 2
        or reading.tokens[reading.sentences[-2][1] - 1].text not in ".!。"
    ):
        return None
    first, stop = reading.sentences[-1]
    alone = _alone(reading, first, stop)
    if alone is None or reading.asked(first):
        return None
    ended = alone.stop < len(reading.tokens) or alone.stop - alone.start > 1
    return alone if ended or alone.letters.isdisjoint("AI") else None


def ticked(reading: Reading) -> Target | None:
    """The only option with a tick, none of whose marks is a cross: `(A) ✗ a seam`, `(B) ✓`."""
    ticks: dict[str | None, Target] = {}
    crossed: set[str | None] = set()
    for mark, target in _marked(reading):
        if mark == "✗":
            crossed |= target.letters
        else:
            ticks |= dict.fromkeys(target.letters, target)
    kept = [target for letter, target in ticks.items() if letter not in crossed]
    return kept[0] if len(kept) == 1 else None


def _marked(reading: Reading) -> Iterator[tuple[str, Target]]:
    """The marks with what each is about: what comes before it, or after, where it leads its line."""
    if not any(token.text in "✓✗" for token in reading.tokens):
        return
    at = {target.start: target for target in reading.targets}
    for first, stop in _lines(reading):
        leads, mark, target = False, "", None
        for n in range(first, stop):
            target = at.get(n, target)
            if reading.low(n) in "✓✗":
                leads = leads or target is None
                mark = reading.low(n)
                if target is not None and not leads:
                    yield mark, target
            elif leads and n in at:
                yield mark, at[n]


def _lines(reading: Reading) -> list[tuple[int, int]]:
    lines, first = [], 0
    for n, token in enumerate(reading.tokens):
        if token.text[0] == "\n":
            lines.append((first, n))
            first = n + 1
    return [*lines, (first, len(reading.tokens))]


def _leading(reading: Reading, first: int, last: int) -> Target | None:
    while first < last and reading.low(first) in SIGNS:
        if first in reading.at:
            break
        first += 1
    return reading.target(first)


def _alone(reading: Reading, first: int, last: int) -> Target | None:
    target = _leading(reading, first, last)
    if target is None or any(reading.low(n) not in ".!\"'})]" for n in range(target.stop, last)):
        return None
    return target
