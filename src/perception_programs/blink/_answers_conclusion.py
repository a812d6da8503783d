"""What a reply concludes without declaring it: the option that its concluding sentence is about."""

from __future__ import annotations

from . import _answers_words as words
from ._answers_reading import Reading

__all__ = ["conclusions"]


def conclusions(reading: Reading) -> frozenset[str | None]:
    """The letters of what is concluded; none if nothing is, several if it is not one option.

    It is what the last concluding sentence speaks for; without one, what the first sentence claims;
    without that, what all claims agree on, superlatives before others.
    """
    concluding: frozenset[str | None] = frozenset()
    opening, strong, weak = concluding, concluding, concluding
    for first, stop in reading.sentences:
        said = [reading.low(n) for n in range(first, stop)]
        meant = _spoken_for(reading, first, said)
        if not meant or reading.asked(first):
            continue
        if not words.CONCLUDING.isdisjoint(said) or not words.LEADING_IN.isdisjoint(said[:2]):
            concluding = meant
        if words.CLAIMS.isdisjoint(said) or "less" in said:
            continue
        opening = meant if first == 0 else opening
        weak |= meant
        strong |= frozenset() if words.STRONG_CLAIMS.isdisjoint(said) else meant
    if concluding:
        return concluding
    together = [t.letters for t in reading.targets if len(t.letters) > 1 and reading.denied(t)]
    claimed = opening if len(opening) == 1 else strong or weak
    return claimed.difference(*together)  # "neither A nor B"


def _spoken_for(reading: Reading, first: int, said: list[str]) -> frozenset[str | None]:
    """The options that a sentence speaks for: not denied, not joined, not in contrast."""
    if "contrast" in said[:2]:
        return frozenset()
    start, stop = _main(said)
    meant = reading.meant(first + start, first + stop)
    return frozenset(letter for target in meant for letter in target.letters)


def _main(said: list[str]) -> tuple[int, int]:
    """The part of a sentence before its contrast, or after the comma that ends a leading one."""
    start = said.index(",") + 1 if said[0] in words.CONTRAST and "," in said else 0
    for n in range(start + 1, len(said)):
        if said[n] in words.CONTRAST:
            return start, n
    return start, len(said)
