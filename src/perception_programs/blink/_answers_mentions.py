"""Where a reply speaks of an option: by its letter or in its own words."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from . import _answers_words as words
from ._answers_text import clean

__all__ = ["Mention", "Token", "find_mentions", "tokenise"]

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,]\d+)*|\n\s*|[^\w\s]|_")
_LETTERS = frozenset(string.ascii_letters)
_LONGEST = 64  # tokens of an option's words that may be skipped between them


class Token(NamedTuple):
    """A word, a number, a sign or a line end."""

    text: str
    low: str
    start: int
    end: int


class Mention(NamedTuple):
    """An option spoken of.

    `letter` is None where a letter was named that is no option. `form` is `bracket`, `quoted`,
    `named` (option B), `bare` or `text` (the option's own words). `start` and `stop` count tokens.
    """

    letter: str | None
    form: str
    start: int
    stop: int


def tokenise(text: str) -> list[Token]:
    """The tokens of `text`, in order."""
    return [Token(m[0], m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]


def find_mentions(
    tokens: Sequence[Token], options: Mapping[str, str], starts: Sequence[int]
) -> Iterator[Mention]:
    """The options spoken of, in order, none inside another.

    `starts` has the first token of the sentence of each token.
    """
    depths = _depths(tokens, starts)
    captions = _captions(tokens, options)
    phrases = _phrases(tuple(options.items()))
    place = 0
    while place < len(tokens):
        text = tokens[place].text
        if _word(tokens[place]) not in phrases and not (text in '("' or _single(text)):
            place += 1
            continue
        found = _text_at(tokens, place, phrases)
        # A letter in brackets or after its noun is the letter, whatever the words around it say.
        letter = _letter_at(tokens, place, options, starts[place], depths[place])
        if letter is not None and (found is None or letter.form in ("bracket", "quoted")):
            found = letter
        if found is None:
            place += 1
            continue
        if place not in captions and (found.letter or found.form != "text"):
            yield found
        place = found.stop


def _captions(tokens: Sequence[Token], options: Mapping[str, str]) -> frozenset[int]:
    """Where letters name the pictures and not the options: `the third image (C)` of two options.

    They do if they count the pictures and one of them is no option; then none of them is.
    """
    found = {}
    for n in range(len(tokens) - 4):
        nth = words.ORDINALS.get(tokens[n].low)
        if nth and tokens[n + 1].low in words.PICTURES:
            letter = chr(ord("A") + nth - 1)
            if [token.text for token in tokens[n + 2 : n + 5]] == ["(", letter, ")"]:
                found[n + 2] = letter
    return frozenset(() if set(found.values()) <= set(options) else found)


def _depths(tokens: Sequence[Token], starts: Sequence[int]) -> list[int]:
    """How many parentheses of its sentence are open at each token."""
    depths, depth = [], 0
    for n, token in enumerate(tokens):
        depth = 0 if starts[n] == n else depth
        depths.append(depth)
        depth = max(0, depth + (token.text == "(") - (token.text == ")"))
    return depths


def _letter_at(
    tokens: Sequence[Token], place: int, options: Mapping[str, str], first: int, depth: int
) -> Mention | None:
    """The letter that stands at `place`, with its brackets or quotes."""
    text = tokens[place].text
    around = [tokens[n].text if n < len(tokens) else "\n" for n in range(place, place + 4)]
    before = tokens[place - 1] if place else None
    glued = before is not None and before.end == tokens[place].start and before.text[0] != "\n"
    if text == "(" and _single(around[1]) and around[2] == ")":
        if around[1].islower() and (glued or around[1].upper() not in options):
            return None  # object(s)
        return _mention(around[1], "bracket", place, place + 3, options)
    if text == '"' and _single(around[1]) and '"' in around[2:]:
        stop = place + 2 + around[2:].index('"') + 1
        return _mention(around[1], "quoted", place, stop, options)
    if not _single(text) or (glued and tokens[place - 1].text not in "({[:/=>*'\"⟧-,"):
        return None
    opens = place == first or tokens[place - 1].text == ":"
    if around[1] == ")" and not depth and (text.isupper() or opens):
        return _mention(text, "bracket", place, place + 2, options)
    return _bare(tokens, place, options)


def _bare(tokens: Sequence[Token], place: int, options: Mapping[str, str]) -> Mention | None:
    """A letter without brackets, unless it is an article, a pronoun or a piece of a word."""
    token = tokens[place]
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if following and following.start == token.end and following.text in "-.'’_+&*^":
        beyond = tokens[place + 2] if place + 2 < len(tokens) else None
        if beyond and beyond.start == following.end and beyond.text[0].isalnum():
            return None  # T-shirt, U.S.
    closed = following is None or not following.text[0].isalnum()
    before = tokens[place - 1].low if place else "\n"
    named = before in words.LABELS
    function_word = following is not None and (
        following.low in words.FOLLOWS_A_LETTER
        or [t.low for t in tokens[place + 1 : place + 3]] == ["rather", "than"]
    )
    if token.text.islower():
        clear = closed if token.text in "ai" else closed or function_word
        led = named or (closed and before in (":", "is", "be"))
        if not (led and clear and token.text.upper() in options):
            return None
    elif token.text in "AI" and not closed and (token.text == "I" or not (named or function_word)):
        return None  # the article, the pronoun
    return _mention(token.text, "named" if named else "bare", place, place + 1, options)


def _single(text: str) -> bool:
    return text in _LETTERS


def _mention(text: str, form: str, start: int, stop: int, options: Mapping[str, str]) -> Mention:
    letter = text.upper()
    return Mention(letter if letter in options else None, form, start, stop)


class _Node:
    """Options' words as a tree: the words that may follow, and the option that is complete here."""

    __slots__ = ("letters", "next")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.letters: set[str] = set()


@lru_cache(maxsize=256)
def _phrases(options: tuple[tuple[str, str], ...]) -> dict[str, _Node]:
    """The ways to say each option in words."""
    root = _Node()
    letters = {letter for letter, _ in options}
    for letter, text in options:
        phrase = tuple(_word(token) for token in _content(tokenise(clean(text))))
        alone = phrase[0] if len(phrase) == 1 and _single(phrase[0]) else ""
        if alone.islower() or alone in letters:
            continue  # a letter is not words
        for form in _forms(phrase):
            node = root
            for word in form:
                node = node.next.setdefault(word, _Node())
            node.letters.add(letter)
    return root.next


def _content(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without articles and signs; the letter A is no article."""
    kept = []
    for n, token in enumerate(tokens):
        following = tokens[n + 1].low if n + 1 < len(tokens) else None
        letter = token.text == "A" and (following is None or following in words.FOLLOWS_A_LETTER)
        letter = letter or (token.text == "A" and n > 0)  # Point A
        if letter or (token.low not in words.ARTICLES and (token.text[0].isalnum() or n == 0)):
            kept.append(token)
    return kept


def _word(token: Token) -> str:
    """A token as it is compared: capitals alone as they are."""
    return token.text if _single(token.text) and token.text.isupper() else token.low


def _forms(phrase: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The phrase, and what says the same: `second image`, `image 2`, `second picture`; `2`, `two`."""
    yield phrase
    if len(phrase) == 1 and phrase[0].isdecimal():
        counted = {**words.NUMBERS, **words.TENS}
        yield from ((word,) for word, n in counted.items() if str(n) == phrase[0])
        for ten, its in words.TENS.items():
            for one, more in words.NUMBERS.items():
                if 0 < more < 10 and str(its + more) == phrase[0]:
                    yield ten, one
    if len(phrase) == 2 and phrase[0] in words.ORDINALS and phrase[1] in words.PICTURES:
        ordinal, number = phrase[0], str(words.ORDINALS[phrase[0]])
        ending = {"1": "st", "2": "nd", "3": "rd"}.get(number, "th")
        for noun in words.PICTURES:
            yield from ((ordinal, noun), (noun, number), (number, ending, noun))
            for joint in ("and", "or", "nor"):
                for other, its in words.ORDINALS.items():
                    yield from ((ordinal, joint, other, noun), (other, joint, ordinal, noun))
                    yield from ((noun, number, joint, str(its)), (noun, str(its), joint, number))


def _text_at(tokens: Sequence[Token], place: int, phrases: Mapping[str, _Node]) -> Mention | None:
    """The option whose words stand at `place`, the longest of several.

    What may mean two options has no letter: it is passed over as a whole.
    """
    found, node, n = None, phrases.get(_word(tokens[place])), place + 1
    while node is not None:
        if node.letters and not _another_sense(tokens, place, n):
            letter = min(node.letters) if len(node.letters) == 1 else None
            found = Mention(letter, "text", place, n)
        while n < min(len(tokens), place + _LONGEST) and _skipped(tokens[n]):
            n += 1
        node = node.next.get(_word(tokens[n])) if n < len(tokens) else None
        n += 1
    return found


def _another_sense(tokens: Sequence[Token], place: int, stop: int) -> bool:
    """`no` before a noun, `one` that stands for one and a part of a number are no answers."""
    if _part_of_number(tokens, place, stop):
        return True
    if tokens[place].low == "right" and stop - place == 1:
        return [t.low for t in tokens[stop : stop + 1]] in (["there"], ["here"], ["now"], ["away"])
    if stop - place > 1 or tokens[place].low not in ("no", "one"):
        return False
    following = tokens[stop].low if stop < len(tokens) else "\n"
    if tokens[place].low == "no":
        return following[0].isalpha() and following not in ("because", "since", "as")
    before = tokens[place - 1].low if place else "\n"
    return (
        not following[0].isalpha()
        or following in words.FOLLOWS_A_LETTER
        or following in words.NOT_COUNTED
        or before in words.FITTING
        or before in words.NOT_COUNTING
    )


def _part_of_number(tokens: Sequence[Token], place: int, stop: int) -> bool:
    """Whether a number is a piece of another one or a bound: `-2`, `two hundred`, `3+`, `2nd`."""
    token, last = tokens[place], tokens[stop - 1]
    if not (token.text.isdecimal() or token.low in words.NUMBERS or token.low in words.TENS):
        return False
    before = [t.low for t in tokens[max(0, place - 3) : place]]
    after = list(tokens[stop : stop + 3])
    if before and (before[-1] in "<>≤≥±" or before[-2:] in ([">", "="], ["<", "="])):
        return True
    glued = bool(before) and tokens[place - 1].end == token.start
    if glued and before[-1] in "-–−/+":
        return True
    if before[-2:] in (["at", "least"], ["at", "most"], ["more", "than"], ["fewer", "than"]):
        return True
    tens = [word for word in before[-2:] if word != "-"][-1:]
    if tens and (tens[0] in words.TENS or tens[0] in words.MULTIPLES):
        return stop - place == 1 and token.low in words.NUMBERS
    if [t.low for t in after[:2]] in (["or", "more"], ["or", "fewer"], ["or", "less"]):
        return True
    following = [t.low for t in after if t.low != "-"][:1]
    if following and following[0] in words.MULTIPLES:
        return True
    if token.low in words.TENS and stop - place == 1 and following:
        return following[0] in words.NUMBERS
    if not after or after[0].start != last.end or not token.text.isdecimal():
        return False
    joined = len(after) > 1 and after[1].start == after[0].end and after[1].text[0].isdecimal()
    return (
        after[0].text in "+%"
        or (after[0].text in "-–/" and joined)
        or (stop - place == 1 and after[0].text.isascii() and after[0].text.isalpha())
    )


def _skipped(token: Token) -> bool:
    return token.low in ("the", "an", "a", "-", '"', "'") and token.text != "A"
