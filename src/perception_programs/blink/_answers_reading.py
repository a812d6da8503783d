"""A reply as tokens, sentences and the options it names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from . import _answers_words as words
from ._answers_asides import asides
from ._answers_mentions import Mention, Token, find_mentions, tokenise
from ._answers_supposed import Suppositions

__all__ = ["Reading", "Target", "read"]

_END = frozenset(".!?。")
_REACH = 6  # tokens before and after a mention in which a denial is looked for
_LONGEST = 32  # options in a list; a longer one names them again
_DISTANCES = frozenset({"from", "away", "than", "back", "behind", "off"}) | frozenset(".,:;\n")
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
        opposed: words for the opposite of what the options ask for: `farther`, where one is
            `A is closer`.
        sides: whether the options are left and right. Then the question is where the camera goes, as
            in BLINK's Multi-view_Reasoning, and what is seen to move goes the other way.
    """

    tokens: Sequence[Token]
    starts: Sequence[int]
    sentences: Sequence[tuple[int, int]]
    at: Mapping[int, Mention]
    opposed: frozenset[str] = frozenset()
    sides: bool = False

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
    def suppositions(self) -> Suppositions:
        """What the reply only supposes."""
        return Suppositions(self.tokens, self.sentences, self.starts)

    @cached_property
    def corrections(self) -> Sequence[int]:
        """Where words such as `wait` take back what was said."""
        return [n for n in range(len(self.tokens)) if self.corrects(n)]

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

    def corrects(self, n: int) -> bool:
        """Whether a word such as `wait` starts a clause at `n`."""
        low = self.low(n)
        if low not in words.CORRECTING or (low == "no" and self.low(n + 1)[0].isalpha()):
            return False  # there is no seam
        return n == self.starts[n] or self.low(n - 1) in words.CORRECTED_AFTER

    def word(self, place: int) -> bool:
        """Whether a word or a number stands at `place`."""
        return self.tokens[place].text.isalnum()

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
        """The single options named between two tokens that the reply does not deny.

        What it only supposes counts where there is nothing else.
        """
        found = self._undenied
        for n in range(bisect_left(found, first, key=lambda target: target.start), len(found)):
            if found[n].start >= stop:
                return
            yield found[n]

    @cached_property
    def _undenied(self) -> Sequence[Target]:
        found = [t for t in self.targets if len(t.letters) == 1 and not self.denied(t)]
        return [t for t in found if not self.suppositions.contrary(t.start)] or found

    def target(self, place: int) -> Target | None:
        """What is named at `place`: `(A) the cat`, `A or B`, `A, B and C`."""
        group = self._group(place)
        if group is None:
            return None
        letters, forms, stop = group
        for _ in range(_LONGEST):
            joined = any(self.low(n) in words.JOINTS for n in range(place, stop))
            following = self._joined(stop, several=len(letters) > 1 and not joined)
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

    def _joined(self, place: int, *, several: bool) -> int | None:
        """Where the next option of a list starts; `several` have been named in it."""
        n, joint = place, False
        while n not in self.at:
            low = self.low(n)
            if n > place + 6 or not (
                low in words.JOINTS or low in ",()\"'" or low in words.IN_LISTS
            ):
                return None
            joint = joint or low in words.JOINTS
            n += 1
        if joint or n == place:
            return n if joint and not self._less_liked(n) else None
        following = self.at[n]
        listed = self.low(following.stop) in (",", ")", "and", "or") or self.ends(following.stop)
        listed = listed or several
        return n if self.low(place) == "," and following.form != "text" and listed else None

    def denied(self, target: Target) -> bool:
        """Whether the sentence says that this is not meant."""
        return (
            self._denied_before(target.start)
            or self._less_liked(target.start)
            or self.denied_after(target, words.DENIED_AFTER)
        )

    def _denied_before(self, start: int) -> bool:
        first = self.starts[start]
        for place in range(start - 1, max(first, start - _REACH) - 1, -1):
            low, following = self.low(place), self.low(place + 1)
            if self.against(place) and not any(n in self.at for n in range(place, start)):
                return True  # the farther point is B
            if low in words.DENIED_BEFORE or low.endswith("n't"):
                return following not in ("only", "just")
            if low == "opposite" and following in ("of", "to", "from"):
                return not any(n in self.at for n in range(place, start))
            if low in ("rule", "ruled", "ruling") and following == "out":
                return True
            if low == "but":
                return self.low(place - 1) == "anything"
            if low in ",;" or (low == ":" and not self.against(place - 1)):
                return False
        return False

    def against(self, place: int) -> bool:
        """Whether the word at `place` says the opposite of what is asked for."""
        low, following = self.low(place), self.low(place + 1)
        if low in self.opposed and self.low(place - 1) not in ("by", "so", "as"):
            led = following in _DISTANCES or following in words.LABELS or following in words.COPULAS
            return low not in ("further", "far") or led  # `is further supported by`
        return False

    def _less_liked(self, start: int) -> bool:
        """Whether it is what another is preferred to."""
        before = [self.low(n) for n in range(max(self.starts[start], start - _REACH), start)]
        return "to" in before[-3:] and not words.PREFER.isdisjoint(before)

    def denied_after(self, target: Target, denials: frozenset[str]) -> bool:
        """Whether one of `denials`, in the words after it, says that this is not meant."""
        stop = self.stops[self.starts[target.start]]
        for place in range(target.stop, min(stop, target.stop + _REACH)):
            low = self.low(place)
            if low == "only" and (
                self.low(place - 1) == "the" or self.low(place + 1) == "slightly"
            ):
                continue  # the only one that fits
            if low in denials or self.against(place) or low.endswith("n't"):
                return self.low(place + 1) not in ("only", "just")
            if low in words.FLAWS and denials is words.DENIED_AFTER:
                said = {self.low(n) for n in range(target.stop, place)}
                return said.isdisjoint(words.DENIALS)  # no seam
            if low in ",;:.!(" or low in words.CONTRAST or low == "and" or place in self.at:
                return False
        return False


def read(text: str, options: Mapping[str, str]) -> Reading:
    """The tokens, sentences and mentions of a cleaned reply."""
    tokens = tokenise(text)
    sentences = list(_sentences(tokens))
    starts = [first for first, stop in sentences for _ in range(first, stop)]
    mentions = {m.start: m for m in find_mentions(tokens, options, starts)}
    for place in {*_prompts(tokens, mentions), *asides(tokens, starts, mentions)}:
        del mentions[place]
    sides = {text.casefold() for text in options.values()} == set(words.SIDES)
    return Reading(tokens, starts, sentences, mentions, _opposed(options), sides)


def _prompts(tokens: Sequence[Token], mentions: Mapping[int, Mention]) -> list[int]:
    """Where a reply starts with what names no option: `A:` for answer, `Right, so`."""
    first = next(iter(mentions), len(tokens))
    if any(token.text[0].isalnum() for token in tokens[:first]):
        return []
    after = [token.low for token in tokens[first + 1 : first + 3]]
    if after[0:1] == [","] and tokens[first].low == "right" and after[1:] in (["so"], ["then"]):
        return [first]
    if tokens[first : first + 1] and tokens[first].text == "A" and after[0:1] == [":"]:
        others = [m for m in mentions.values() if m.start > first]
        if others and others[0].start <= first + 4 and others[0].letter != "A":
            listed = any(tokens[m.start - 1].text[0] == "\n" for m in others)
            return [] if listed else [first]
    return []


_FARTHER = frozenset({"farther", "further"})  # of two; alone they don't tell what was asked


def _opposed(options: Mapping[str, str]) -> frozenset[str]:
    """Words for the opposite of what the options that name a quality have in common."""
    said = {token.low for text in options.values() for token in tokenise(text)}
    asked = {words.POLES[low] for low in said & words.POLES.keys()}
    if not asked:
        return _FARTHER
    opposite = {"near": "far", "far": "near", "dark": "light", "light": "dark"}
    against = {opposite[pole] for pole in asked} - asked
    return frozenset(low for low, pole in words.POLES.items() if pole in against)


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
