r"""The option that a model's raw reply means.

Models answer a multiple-choice question in many ways: `(B)`, `**B. the third image**`, `Final
Answer: $\boxed{B}$`, 答案是B, `{"answer": "B"}`, or a page of reasoning in which every letter
occurs. `extract` reads them by a fixed order of rules, and never guesses: what names no option, or
several, is no answer.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass

from .._arrays import describe
from .._plain import plain_text
from ..errors import InputError
from . import _answers_words as words
from ._answers_camera import turned
from ._answers_conclusion import conclusions
from ._answers_declared import declarations
from ._answers_json import plain_json
from ._answers_reading import Reading, read
from ._answers_sense import IF, Declaration, decided
from ._answers_text import clean

__all__ = ["Answer", "extract"]

_SHORT = 30  # tokens; shorter replies often lack a full stop
_FIRST = re.compile(r"\s*(\w+)(?=[,.!;:、])")
_SIDES = {side: re.compile(pattern, re.IGNORECASE) for side, pattern in words.SIDES.items()}
_UNDECIDED = "?"  # a rule has nothing to say; None is a decision: there is no answer


@dataclass(frozen=True)
class Answer:
    """What was read from a reply.

    Attributes:
        letter: an option's letter, or None.
        how: the rule that decided: `whole`, `declared`, `bracketed`, `leading`, `conclusion`,
            `text`, or `none` where no rule did. A rule may decide that there is no answer:
            `declared` and no letter is a declaration of several options, or of none of them.
    """

    letter: str | None
    how: str


def extract(text: str, options: Mapping[str, str]) -> Answer:
    """The option that `text` means.

    The first of these rules that decides:

    1. `whole`: the reply is a letter, an option's words, or both;
    2. `declared`: the last explicit declaration, in one of many languages;
    3. `bracketed`: the only letter in brackets or bold in the last paragraph, else in the reply;
    4. `leading`: the letter that the reply starts with, by itself;
    5. `conclusion`: the last concluding sentence, else the first claim, else what all claims say;
    6. `text`: the only option named at all and not denied.

    Hidden reasoning, special tokens and markup go first. Letters count before an option's words.

    Args:
        text: what the model wrote, whole.
        options: the text of each option by its letter, as in `Sample.options`.

    Raises:
        InputError: `text` is not a string, or the options are not texts by capital letters.

    >>> options = {"A": "the second image", "B": "the third image"}
    >>> extract("The second image is darker. So the answer is **(B)**.", options)
    Answer(letter='B', how='declared')
    >>> extract("The image fits either way.", options)
    Answer(letter=None, how='none')
    """
    text = clean(plain_text(text, "text"))
    text = plain_json(_in_english(text, _checked(options)), options)
    reading = read(text, options)
    if reading.tokens:
        for how, rule in _RULES.items():
            found = rule(reading)
            if found != _UNDECIDED:
                return Answer(found if found in options else None, how)
    return Answer(None, "none")


def _checked(options: Mapping[str, str]) -> Mapping[str, str]:
    for letter, text in options.items():
        if letter not in string.ascii_uppercase or len(letter) != 1 or not isinstance(text, str):
            raise InputError(
                f"options: expected texts by the letters A to Z, got {letter!r}: {describe(text)}"
            )
    return options


def _in_english(text: str, options: Mapping[str, str]) -> str:
    """`text`; an option in lower case or in another language that is all of it, or its start, in English.

    Sides are put into English wherever they stand, if they are the options.
    """
    alone = text.strip(" .!。\n").casefold()
    known = {option.casefold() for option in options.values()}
    same = [option for option in options.values() if option.casefold() == alone]
    if same or alone in words.ANSWER_WORDS:
        return same[0] if len(same) == 1 else words.ANSWER_WORDS.get(alone, text)
    first = _FIRST.match(text)
    said = words.ANSWER_WORDS.get(first[1].casefold()) if first else None
    if first and said in known:
        text = f"{said}{text[first.end(1) :]}"
    if known == set(words.SIDES):
        for side, pattern in _SIDES.items():
            text = pattern.sub(f" {side} ", text)
    return text


def _whole(reading: Reading) -> str | None:
    """The reply is an option and nothing else; a lone letter counts in lower case, too."""
    kept = [n for n, token in enumerate(reading.tokens) if token.text.isalnum()]
    alone = reading.tokens[kept[0]].text if len(kept) == 1 else ""
    if len(alone) == 1 and alone.isalpha():
        return alone.upper()
    target = reading.targets[0] if reading.targets else None
    if target is None or kept[0] < target.start or kept[-1] >= target.stop:
        return _UNDECIDED
    return _only(target.letters)


def _only(letters: frozenset[str | None]) -> str | None:
    return next(iter(letters)) if len(letters) == 1 else None


def _declared(reading: Reading) -> str | None:
    found = decided(reading, declarations(reading))
    if found is None:
        return _UNDECIDED
    if found.sense and not reading.corrections:
        leading = _leading(reading)
        if leading not in (None, _UNDECIDED) and reading.low(reading.targets[0].stop)[0] in ".,;\n":
            return leading  # "B. The farthest point is D."
    return None if found.sense == IF and _claimed_before(reading, found) else found.letter


def _claimed_before(reading: Reading, found: Declaration) -> bool:
    """Whether another option was claimed, or named first, before anything was supposed."""
    others = conclusions(reading) - {found.letter}
    first = {letter for t in reading.meant(*reading.sentences[0]) for letter in t.letters}
    others |= first if found.letter not in first else set()
    return any(target.letters <= others for target in reading.meant(0, found.place))


def _bracketed(reading: Reading) -> str | None:
    for first in (reading.paragraph, 0):
        meant = reading.meant(first, len(reading.tokens))
        letters = {letter for t in meant if "bracket" in t.forms for letter in t.letters}
        if len(letters) == 1:
            return letters.pop()
    return _UNDECIDED


def _leading(reading: Reading) -> str | None:
    """The letter that the reply starts with, unless it starts a list, or a sentence about it."""
    target = reading.targets[0] if reading.targets else None
    if target is None or "text" in target.forms or reading.denied(target):
        return _UNDECIDED
    before = reading.tokens[: target.start]
    if any(token.text.isalnum() and token.low not in words.FILLERS for token in before):
        return _UNDECIDED
    lines = [n + 1 for n, token in enumerate(reading.tokens) if token.text[0] == "\n"]
    starts = [_past_nouns(reading, n) for n in lines]
    later = reading.sentences[1:]
    starts += [n for n in (_past_nouns(reading, first) for first, _ in later) if _led(reading, n)]
    listed = {reading.at[n].letter for n in starts if n in reading.at} - target.letters
    following = reading.low(target.stop)
    compared = following in "<>=≈≤≥" or (following.isalpha() and following not in words.REASONS)
    value = reading.low(target.stop + 1) if following == ":" else "\n"
    compared |= following == "→" and target.stop + 1 in reading.at
    compared |= value[0].isdecimal() or value in ("no", "wrong", "incorrect")
    corrected = any(place >= target.stop for place in reading.corrections)
    if listed or compared or corrected or reading.asked(target.start) or len(target.letters) > 1:
        return _UNDECIDED
    return _only(target.letters)


def _led(reading: Reading, place: int) -> bool:
    """Whether an item of a list starts with the option at `place`: `B.`, `(B) –`, `Option B:`."""
    return place in reading.at and reading.low(reading.at[place].stop) in ".):–—-"


def _past_nouns(reading: Reading, place: int) -> int:
    """The first token from `place` on that is not `option`, a bullet or the like."""
    last = min(len(reading.tokens), place + _SHORT)
    while place < last and place not in reading.at:
        token = reading.tokens[place]
        if token.text[0] == "\n" or (token.text.isalnum() and token.low not in words.FILLERS):
            break
        place += 1
    return place


def _concluded(reading: Reading) -> str | None:
    first = {reading.low(n) for n in range(*reading.sentences[0])}
    if first & words.REFUSALS and first & {"i", "i'm", "we", "sorry", "unfortunately"}:
        return None
    if _cut_off(reading):
        return None
    letters = conclusions(reading)
    return _only(letters) if letters else _UNDECIDED


def _cut_off(reading: Reading) -> bool:
    """Whether a reply of some length stops in a sentence: what it would have concluded is open."""
    if len(reading.tokens) <= _SHORT or not reading.tokens[-1].text.isalnum():
        return False
    return not reading.targets or reading.targets[-1].stop < len(reading.tokens)


def _by_text(reading: Reading) -> str | None:
    if turned(reading):
        return _UNDECIDED
    meant = reading.meant(0, len(reading.tokens))
    letters = {letter for t in meant if not reading.asked(t.start) for letter in t.letters}
    letters -= {letter for t in reading.targets if reading.denied(t) for letter in t.letters}
    return letters.pop() if len(letters) == 1 else _UNDECIDED


_RULES = {
    "whole": _whole,
    "declared": _declared,
    "bracketed": _bracketed,
    "leading": _leading,
    "conclusion": _concluded,
    "text": _by_text,
}
