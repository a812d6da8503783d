"""Which requested label a detector's text answer means.

Grounding models answer with the words of the prompt that they fired on: two labels run together, a
piece of one, another spelling, nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Answer", "resolve_label"]


class Answer(NamedTuple):
    """What a text answer means.

    Attributes:
        labels: the requested labels it may stand for: one, several if it is ambiguous, or none.
        exact: whether it is the label itself, spelling of capitals, dots and spaces aside.
    """

    labels: tuple[str, ...]
    exact: bool

    def __str__(self) -> str:
        """One string for a box: the label, or a visible mark of what is wrong with it."""
        if not self.labels:
            return "unknown"
        if len(self.labels) > 1:
            return f"{' | '.join(self.labels)} (ambiguous)"
        return self.labels[0] if self.exact else f"{self.labels[0]} (inexact)"


def resolve_label(answer: str, labels: Iterable[str]) -> Answer:
    """Which of the requested labels a text answer means.

    Args:
        answer: a detector's text; `##` marks pieces of words, as in BERT's vocabulary.
        labels: what was asked for.

    >>> [str(resolve_label(a, ["car", "taxi", "van"])) for a in ("car taxi", "", "##van", "Car")]
    ['car | taxi (ambiguous)', 'unknown', 'van (inexact)', 'car']
    """
    asked = {label: _words(label) for label in labels}
    said = _words(answer.replace("##", ""))
    same = [label for label, words in asked.items() if words == said]
    if not said:
        return Answer((), exact=False)
    if same:
        return Answer((same[0],), exact="##" not in answer)
    inside = {label: words for label, words in asked.items() if words and _within(words, said)}
    # "red car" says "car" too, but not a second thing.
    inside = {
        label: words
        for label, words in inside.items()
        if not any(_within(words, longer) for longer in inside.values() if longer != words)
    }
    if inside:
        return Answer(tuple(inside), exact=False)
    text = "".join(said)
    pieces = [label for label, words in asked.items() if text in "".join(words)]
    return Answer(tuple(pieces), exact=False)


def _words(text: str) -> list[str]:
    return text.casefold().replace(".", " ").split()


def _within(words: list[str], text: list[str]) -> bool:
    """Whether `words` stand in `text` in a row."""
    starts = range(len(text) - len(words) + 1)
    return any(text[start : start + len(words)] == words for start in starts)
