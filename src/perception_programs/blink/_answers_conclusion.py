"""What a reply concludes without declaring it: the option that its concluding sentence is about."""

from __future__ import annotations

from . import _answers_words as words
from ._answers_camera import of_the_camera, turned
from ._answers_reading import Reading, Target

__all__ = ["conclusions"]


def conclusions(reading: Reading) -> frozenset[str | None]:
    """The letters of what is concluded; none if nothing is, several if it is not one option.

    It is what the last concluding sentence speaks for; without one, what the first sentence claims;
    without that, what all claims agree on, superlatives before others.
    """
    concluding: frozenset[str | None] = frozenset()
    opening, strong, weak = concluding, concluding, concluding
    camera = of_the_camera(reading)
    if not camera and turned(reading):
        return concluding
    for first, stop in reading.sentences:
        said = [reading.low(n) for n in range(first, stop)]
        meant = _spoken_for(reading, first, said)
        concludes = not words.CONCLUDING.isdisjoint(said)
        concludes = concludes or not words.LEADING_IN.isdisjoint(said[:2])
        its_own = frozenset(x for t in camera if first <= t.start < stop for x in t.letters)
        if camera and (its_own or not concludes):
            meant = its_own
        if not meant or reading.asked(first):
            continue
        if concludes:
            concluding = meant
        if (words.CLAIMS.isdisjoint(said) and not camera) or "less" in said:
            continue
        opening = meant if first == 0 and not reading.corrections else opening
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
    meant = list(reading.meant(first + start, first + stop))
    if len({target.letters for target in meant}) > 1:
        meant = [target for target in meant if _superlative(reading, target)] or meant
    if len({target.letters for target in meant}) > 1:
        point, reasons = _point(said)
        meant = [t for t in meant if point <= t.start - first < reasons] or meant
    return frozenset(letter for target in meant for letter in target.letters)


def _superlative(reading: Reading, target: Target) -> bool:
    """Whether the words after it say that it is the most of something: `D is the closest`."""
    after = [reading.low(n) for n in range(target.stop, target.stop + 4)]
    if after[0] not in words.COPULAS | words.AUXILIARIES:
        return False
    return any(words.is_superlative(word) or word in words.STRONG_CLAIMS for word in after[1:])


def _point(said: list[str]) -> tuple[int, int]:
    """The part of a sentence that its reasons are given for.

    It comes after the last `, so`, or after the comma of a reason that leads it, and before a reason
    that follows: `Since the lamp moves left, the camera moves right`.
    """
    start = said.index(",") + 1 if said[0] in words.GIVEN and "," in said else 0
    for n in range(len(said) - 2, 0, -1):
        if said[n] == "so" and said[n - 1] in ",;:" and said[n + 1] not in ("that", "as", "far"):
            start = n
            break
    for n in range(start + 1, len(said)):
        if said[n] in ("because", "since"):
            return start, n
    return start, len(said)


def _main(said: list[str]) -> tuple[int, int]:
    """The part of a sentence that makes its point.

    It comes after the last `therefore` or the like, after the comma of a contrast that leads it, and
    before a contrast that follows.
    """
    start = said.index(",") + 1 if said[0] in words.CONTRAST and "," in said else 0
    for n in range(len(said) - 1, start, -1):
        if said[n] in words.THEREFORE:
            start = n
            break
    for n in range(start + 1, len(said)):
        if said[n] in words.CONTRAST:
            return start, n
    return start, len(said)
