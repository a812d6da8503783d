"""What a reply declares to be its answer.

A declaration announces (`the correct answer is`, `I choose`, `So:`) and then names options; or it
names one and then says that it is right (`B is the best choice`); or it is a last line that holds
an option and nothing else; or it ticks one.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import _answers_words as words
from ._answers_lines import SIGNS, last_line, last_sentence, ticked
from ._answers_reading import Reading, Target
from ._answers_sense import IF, MAYBE, Declaration, another_place, conceded, sense

__all__ = ["declarations"]

_WINDOW = 18  # tokens between an announcing noun and its verb: "the answer to the question … is"
_VERBS = 3  # of a noun, that are tried
_SENTENCE = 80  # tokens of a concluding sentence that are looked at
_SELECTED = frozenset({"selected", "predicted", "the"})
_CONNECTING = frozenset({":", "=", "-", "–", "—", "→", "\n", ">"})
_PLURALS = frozenset({"choices", "options", "choice", "option", "key", "sheet", "format"})
_STRONG = words.FITTING - {"right", "final", "true", "my", "our", "similar", "missing", "proper"}
_WITH: dict[str, str] = {
    "go": "with",
    "going": "with",
    "opt": "for",
    "opting": "for",
    "settle": "on",
}
_DENYING = frozenset({"isn't", "isn’t", "wasn't", "wasn’t"})
_RIGHT = frozenset({"correct", "right", "best", "better"})
_KEYS = frozenset({"final", "result", "output"})  # with a colon they announce
_REFUSED = frozenset({"no", "wrong", "incorrect", "false"})
_COMPARING = frozenset("<>≈≤≥")
_INSTEAD = words.CORRECTING - {"hmm", "hold", "reflection"}
_SO = words.CONCLUDING | _INSTEAD | {"say", "it's", "→", "⇒"}
_LEAVES = frozenset({"leaves", "leaving", "leave"})
_GUESSERS = frozenset({"i", "i'd", "i'll", "would", "to", "must"})
_ANNOUNCING = (
    {"meant"}
    | _KEYS
    | words.ANSWER
    | words.OPTION
    | words.LABELS
    | words.CHOOSE
    | _STRONG
    | _SO
    | _LEAVES
)


def declarations(reading: Reading) -> Iterator[Declaration]:
    """All declarations, not in order."""
    for place, token in enumerate(reading.tokens):
        if not (
            token.low in _ANNOUNCING
            or token.low in _WITH.values()
            or words.is_superlative(token.low)
        ):
            continue
        target = _announced(reading, place)
        if target is not None and not _withdrawn(reading, place, target):
            yield _declare(target, sense(reading, place, target))
        if _declines(reading, place):
            yield Declaration(None, place)
    yield from _called_right(reading)
    alone, marked = last_line(reading) or last_sentence(reading), ticked(reading)
    if alone is not None:
        yield _declare(alone)
    if marked is not None:
        yield _declare(marked, "ticked")


def _declare(target: Target, meaning: str = "") -> Declaration:
    letter = next(iter(target.letters)) if len(target.letters) == 1 else None
    return Declaration(letter, target.start, meaning)


def _announced(reading: Reading, place: int) -> Target | None:
    """What is named by an announcement whose word stands at `place`."""
    low, before = reading.low(place), reading.low(place - 1)
    guessed = (low == "guess" and before in _GUESSERS) or (low == "meant" and before == "i")
    if low in words.CHOOSE or _WITH.get(before) == low or guessed:
        passed = _negated(reading, place) or before in words.RUNNERS_UP  # my second pick
        return None if passed else _target(reading, place + 1)
    if low in words.ANSWER:
        if reading.low(place + 1) in _PLURALS or _faulty(reading, place):
            return None
        return _after_noun(reading, place, immediate=True, listed=True)
    if low in words.LABELS and reading.low(place + 1) in ("that", "which"):
        return _after_noun(reading, place, immediate=False, listed=False)
    if low in _KEYS:
        return _after_label(reading, place)
    if low in words.OPTION and not _faulty(reading, place):
        nearby = {reading.low(n) for n in range(place - 3, place)}
        if nearby & words.FITTING or any(words.is_superlative(word) for word in nearby):
            return _after_noun(reading, place, immediate=True, listed=True)
        return _after_label(reading, place)
    if (low in _STRONG or words.is_superlative(low)) and before not in (
        "not",
        "less",
        "least",
        "in",
    ):
        return _after_noun(reading, place, immediate=False, listed=False)
    if low in _LEAVES:
        return _left_over(reading, place)
    return _concluded(reading, place) if low in _SO else None


def _left_over(reading: Reading, place: int) -> Target | None:
    """What `That leaves B.` and `…, leaving us with option B.` name."""
    while reading.low(place + 1) in ("us", "me", "with", "just"):
        place += 1
    target = _target(reading, place + 1)
    following = "" if target is None else reading.low(target.stop)
    ends = target is not None and (reading.ends(target.stop) or following in (",", ";", "as"))
    return target if ends else None


def _concluded(reading: Reading, place: int) -> Target | None:
    """What `So, B.` and `Therefore the one that fits is (B).` name: it ends their sentence."""
    if reading.low(place) in _INSTEAD and not reading.corrects(place):
        return None
    before = [reading.at[n].stop for n in range(place - 3, place) if n in reading.at]
    if reading.low(place) in "→⇒" and place in before:
        return None  # `from A → B`
    after = place + 2 if reading.low(place + 1) in ",:" else place + 1
    target = _target(reading, after)
    if target is not None and reading.ends(target.stop):
        return target
    if place == reading.starts[place]:
        stop = min(reading.stops[place], place + _SENTENCE)
        for n in range(after, stop):
            if reading.low(n) not in words.COPULAS or reading.low(n - 1) in ("which", "who"):
                continue
            target = _target(reading, n + 1)
            if target is not None and reading.ends(target.stop):
                return target
    return None


def _after_label(reading: Reading, place: int) -> Target | None:
    """What `Option: B` names; `let us look at each option:` and `Alternative: B` name nothing."""
    if reading.low(place) == "alternative":
        return None
    quote = reading.low(place - 1)
    if quote in ("'", '"') and (quote, ":") == (reading.low(place + 1), reading.low(place + 2)):
        return _target(reading, place + 3)  # a key of JSON, whatever comes before
    first = reading.starts[place]
    before = {reading.low(n) for n in range(max(first, place - _WINDOW), place)}
    if before - words.ANSWER - words.FITTING - SIGNS - _SELECTED:
        return None
    colon = next((n for n in (1, 2, 3) if reading.low(place + n) not in '"()⟧'), 1)
    return _target(reading, place + colon + 1) if reading.low(place + colon) == ":" else None


def _after_noun(reading: Reading, place: int, *, immediate: bool, listed: bool) -> Target | None:
    """What is named after the verb or the colon that follows the noun at `place`."""
    if immediate:
        target = _target(reading, place + 1)
        if target is not None:
            return target
    tried = 0
    for n in range(place + 1, min(len(reading.tokens), place + _WINDOW)):
        low = reading.low(n)
        if low in _DENYING or (low in words.COPULAS and reading.low(n + 1) == "not"):
            target = _but(reading, n + (low not in _DENYING) + 1)
            if target is not None:
                return target
        if low in words.COPULAS or low[0] in ":=→" or (low in "-–—" and n == place + 1):
            target = _target(reading, n + 1)
            tried += 1
            if target is not None or tried == _VERBS:
                return target
            if listed and (denial := _denial(reading, n + 1)) is not None:
                return denial
        if not listed and (n in reading.at or low == ","):
            return None
        if reading.ends(n) or low in _CONNECTING - {"-"}:
            return None
    return None


def _but(reading: Reading, place: int) -> Target | None:
    """B of `not A but B`, from A on."""
    denied = _target(reading, place)
    if denied is None:
        return None
    n = denied.stop
    while reading.low(n) in (",", ";", "it", "rather", "instead"):
        n += 1
    linked = reading.low(n) in ("but", "it's") or (
        n > denied.stop and reading.low(n - 1) in ("it", "rather", "instead")
    )
    while linked and reading.low(n) in ("but", "rather", "instead", "it"):
        n += 1
    return _target(reading, n) if linked else None


def _denial(reading: Reading, place: int) -> Target | None:
    """None of the options, announced as the answer."""
    for _ in range(_WINDOW):
        place += reading.low(place) in SIGNS
    said = [reading.low(n) for n in range(place, place + 4)]
    absent = said[0] in ("none", "neither", "unknown") or said == ["that", "there", "is", "no"]
    if absent or (said[0] == "not" and said[1] in words.NOT_THERE):
        return Target(frozenset({None}), frozenset(), place, place + 1)
    return None


def _target(reading: Reading, place: int) -> Target | None:
    """The options named from `place` on, after words that only lead up to them."""
    lines = 0
    for n in range(place, min(len(reading.tokens), place + _WINDOW)):
        if n in reading.at:
            return reading.target(n)
        low = reading.low(n)
        if low[0] == "\n":
            lines += 1
            if lines > 1:
                return None
        elif low == "." or not (low in SIGNS or low in words.FILLERS):
            return None
    return None


def _faulty(reading: Reading, place: int) -> bool:
    return any(reading.low(n) in words.FAULTY for n in range(place - 2, place))


def _negated(reading: Reading, place: int) -> bool:
    nearby = [reading.low(n) for n in range(place - 4, place)]
    return any(word in words.DENIALS or word.endswith("n't") for word in nearby)


def _withdrawn(reading: Reading, place: int, target: Target) -> bool:
    """Asked, supposed or denied, conceded or the opposite of what is asked for, not declared."""
    said = {reading.low(n) for n in range(place, target.start)}
    if reading.asked(target.start) or "also" in said:
        return True
    if any(reading.against(n) for n in range(place, target.start)):
        return True
    if conceded(reading, target) or another_place(reading, place, target):
        return True
    if reading.suppositions.supposed(target.start) or _doubted(reading, place):
        return True
    if reading.low(target.stop) == ":" and reading.low(target.stop + 1) in _REFUSED:
        return True  # `Answer. A: no, B: yes`
    if reading.low(target.stop) in _COMPARING and target.stop + 1 in reading.at:
        return True  # `Answer: A > B`
    return reading.denied_after(target, words.REFUTED)


def _doubted(reading: Reading, place: int) -> bool:
    """Whether the clause before an announcement denies it: `I don't think that …`."""
    for n in range(place - 1, max(reading.starts[place], place - 6) - 1, -1):
        low = reading.low(n)
        if low in ("whether", "not", "never", "cannot") or low.endswith("n't"):
            return True
        if low in ",;:" or low in words.CONTRAST or low == "but":
            return False
    return False


def _called_right(reading: Reading) -> Iterator[Declaration]:
    """What is said to be the right one; another that is right, too, leaves no single answer."""
    for target in reading.targets:
        if _is_right(reading, target):
            said = {reading.low(n) for n in range(target.stop, target.stop + 4)}
            maybe = MAYBE if said & words.MAYBE or "would" in said else ""
            conditional = reading.suppositions.conditional(target.start)
            meant = _declare(target, IF if conditional else maybe)
            yield meant._replace(letter=None) if "also" in said else meant


def _is_right(reading: Reading, target: Target) -> bool:
    """Whether the words after the target say that it is the right one: `B is correct`, `B it is`."""
    n = target.stop
    if (reading.low(n), reading.low(n + 1)) == ("it", "is"):
        return reading.ends(n + 2)
    if reading.low(n) not in words.COPULAS | words.AUXILIARIES | {"are"}:
        return False
    for n in range(target.stop + 1, target.stop + 6):
        low = reading.low(n)
        if low in _RIGHT:
            break
        if low in words.ANSWER and reading.low(n - 1) in ("the", "my", "our", "final"):
            return not reading.denied(target) and not reading.asked(target.start)
        if low not in words.FILLERS and low not in words.COPULAS and low not in ("more", "also"):
            return False
    else:
        return False
    following = [reading.low(n + 1), reading.low(n + 2)]
    noun = any(word in words.ANSWER or word in words.OPTION for word in following)
    closed = reading.ends(n + 1) or following[0] in ("because", "as", "since", ",", ";", "and")
    right = noun or (closed and reading.low(n) in ("correct", "right"))
    return right and not reading.denied(target) and not reading.asked(target.start)


def _declines(reading: Reading, place: int) -> bool:
    """The answer cannot be told."""
    if reading.low(place) not in words.ANSWER or reading.low(place - 1) == "to":
        return False
    after = [reading.low(n) for n in range(place + 1, place + 6)]
    return "cannot" in after[:3] or "can't" in after[:3] or "unclear" in after[:3]
