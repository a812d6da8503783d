"""A reply as tokens, sentences and the options it names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from . import _answers_words as words
from ._answers_mentions import Mention, Token, find_mentions, tokenise

__all__ = ["Reading", "Target", "read"]

_END = frozenset(".!?。")
_REACH = 6  # tokens before and after a mention in which a denial is looked for
_LONGEST = 32  # options in a list; a longer one names them again
_JOINTS = frozenset({"and", "or", "nor", "/", "&", "to", "through", "y", "et", "und", "oder", "ou"})
_BESIDE = words.ARTICLES | {"option", "choice", "answer"} | frozenset(".,:()-–—\"'=[]{}")


class Target(NamedTuple):
    """What one place of a reply names: an option, or several joined by `and`, `or` and the like.

    Attributes:
        letters: of the options; None stands for a letter that is no option.
        forms: how they are named, as in `Mention`.
        start: the first token.
        stop: the token after the last.
    """

    letters: frozenset[str | None]
    forms: frozenset[str]
    start: int
    stop: int


@dataclass(frozen=True)
class Reading:
    """Everything the rules look at.

    Attributes:
        tokens: of the cleaned text.
        starts: the first token of the sentence of each token.
        sentences: the first token and the one after the last, of each sentence.
        at: the mention that starts at a token, in order.
    """

    tokens: Sequence[Token]
    starts: Sequence[int]
    sentences: Sequence[tuple[int, int]]
    at: Mapping[int, Mention]

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """What the reply names, in order."""
        found: list[Target] = []
        for place in self.at:
            if not found or place >= found[-1].stop:
                target = self.target(place)
                if target is not None:
                    found.append(target)
        return tuple(found)

    @cached_property
    def stops(self) -> Mapping[int, int]:
        """Where the sentence that starts at a token stops."""
        return dict(self.sentences)

    @cached_property
    def paragraph(self) -> int:
        """The first token of the last paragraph."""
        for n in range(len(self.tokens) - 2, -1, -1):
            if self.tokens[n].text.count("\n") > 1:
                return n + 1
        return 0

    def low(self, place: int) -> str:
        """The token at `place` in lower case; a line end outside the text."""
        return self.tokens[place].low if 0 <= place < len(self.tokens) else "\n"

    def ends(self, place: int) -> bool:
        """Whether a sentence or a line ends at `place`."""
        if self.low(place)[0] == "\n":
            return True
        return place + 1 == self.stops[self.starts[place]] and self.low(place) in _END

    def asked(self, place: int) -> bool:
        """Whether the sentence of `place` is a question."""
        stop = self.stops[self.starts[place]]
        return any(self.low(n) == "?" for n in range(max(self.starts[place], stop - 3), stop))

    def meant(self, first: int, stop: int) -> Iterator[Target]:
        """The single options named between two tokens that the reply does not deny."""
        targets = self.targets
        for n in range(bisect_left(targets, first, key=lambda target: target.start), len(targets)):
            if targets[n].start >= stop:
                return
            if len(targets[n].letters) == 1 and not self.denied(targets[n]):
                yield targets[n]

    def target(self, place: int) -> Target | None:
        """What is named at `place`: `(A) the cat`, `A or B`, `A, B and C`."""
        group = self._group(place)
        if group is None:
            return None
        letters, forms, stop = group
        for _ in range(_LONGEST):
            following = self._joined(stop)
            more = None if following is None else self._group(following)
            if more is None:
                break
            letters, forms, stop = letters | more[0], forms | more[1], more[2]
        return Target(letters, forms, place, stop)

    def _group(self, place: int) -> tuple[frozenset[str | None], frozenset[str], int] | None:
        """One option with its letter and its words side by side; the letter counts."""
        mention = self.at.get(place)
        if mention is None:
            return None
        parts = [mention]
        stop = mention.stop
        while (beside := self.at.get(self._skip(stop))) is not None:
            if (beside.form == "text") == (parts[-1].form == "text") or len(parts) > 2:
                break
            parts.append(beside)
            stop = beside.stop
        while self.low(stop) in ")\"']}":
            stop += 1
        named = [part for part in parts if part.form != "text"] or parts
        return frozenset(m.letter for m in named), frozenset(m.form for m in named), stop

    def _skip(self, place: int) -> int:
        """Past what may stand between an option's letter and its words."""
        for n in range(place, min(len(self.tokens), place + 4)):
            if n in self.at or self.low(n) not in _BESIDE:
                return n
        return place

    def _joined(self, place: int) -> int | None:
        """Where the next option of a list starts."""
        n, joint = place, False
        while n not in self.at:
            low = self.low(n)
            if n > place + 6 or not (low in _JOINTS or low in ",()\"'" or low in words.IN_LISTS):
                return None
            joint = joint or low in _JOINTS
            n += 1
        if joint or n == place:
            return n if joint else None
        following = self.at[n]
        listed = self.low(following.stop) in (",", ")", "and", "or") or self.ends(following.stop)
        return n if self.low(place) == "," and following.form != "text" and listed else None

    def denied(self, target: Target) -> bool:
        """Whether the sentence says that this is not meant."""
        return self._denied_before(target.start) or self.denied_after(target, words.DENIED_AFTER)

    def _denied_before(self, start: int) -> bool:
        first = self.starts[start]
        for place in range(start - 1, max(first, start - _REACH) - 1, -1):
            low = self.low(place)
            if low in words.DENIED_BEFORE or low.endswith("n't"):
                return self.low(place + 1) not in ("only", "just")
            if low in ",;:":
                return False
        return False

    def denied_after(self, target: Target, denials: frozenset[str]) -> bool:
        """Whether one of `denials`, in the words after it, says that this is not meant."""
        stop = self.stops[self.starts[target.start]]
        for place in range(target.stop, min(stop, target.stop + _REACH)):
            low = self.low(place)
            if low in denials or low.endswith("n't"):
                return self.low(place + 1) not in ("only", "just")
            if low in ",;:.!(" or low in words.CONTRAST or low == "and" or place in self.at:
                return False
        return False


def read(text: str, options: Mapping[str, str]) -> Reading:
    """The tokens, sentences and mentions of a cleaned reply."""
    tokens = tokenise(text)
    sentences = list(_sentences(tokens))
    starts = [first for first, stop in sentences for _ in range(first, stop)]
    mentions = find_mentions(tokens, options, starts)
    return Reading(tokens, starts, sentences, {m.start: m for m in mentions})


def _sentences(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    first = 0
    for n, token in enumerate(tokens):
        following = tokens[n + 1] if n + 1 < len(tokens) else None
        apart = following is None or following.start > token.end or following.text[0] in "\n\"')”"
        enumerator = token.text == "." and n - first == 1 and len(tokens[first].text) == 1
        if token.text[0] == "\n" or (token.text in _END and apart and not enumerator):
            yield first, n + 1
            first = n + 1
    if first < len(tokens):
        yield first, len(tokens)
