"""Points that are asked about in matches: where each is in the second image, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..geometry import normalise
from ..program import Item
from ..results import Matches
from ._cells import FRAME_NOTE
from ._reliability import Reliability, reliability
from ._transfer import REACH, Transfer, transferred

__all__ = ["match_points", "points_note"]

_OUTSIDE = "outside the second image"
_ALONE = "from one match"


def match_points(
    matches: Matches, places: Mapping[str, tuple[float, float]], how: Reliability
) -> tuple[Item, ...]:
    """Each point as an item: c its place in the first image, r in the second, b the spread."""
    found = transferred(matches, places.values())
    shares = reliability([one.share for one in found], how) or [None] * len(found)
    return tuple(
        _item(letter, place, one, matches, share)
        for (letter, place), one, share in zip(places.items(), found, shares, strict=True)
    )


def _item(
    letter: str,
    place: tuple[float, float],
    found: Transfer,
    matches: Matches,
    share: float | str | None,
) -> Item:
    c = normalise(*place, matches.size1)
    if found.place is None:
        return Item(letter, c, None)
    x, y = (round(at, 3) for at in found.place)  # 300 may come out as 299.9999, which is cut to 299
    r = normalise(x, y, matches.size2)
    if found.spread is None:
        return Item(letter, c, r, _ALONE)
    spread = max(1, math.ceil(found.spread))  # the coordinates are whole numbers too
    label = f"spread {spread}"
    if _outside(found.place, spread, matches):
        return Item(letter, c, None, f"{_OUTSIDE}, {label}", q=share)
    return Item(letter, c, r, label, q=share)


def _outside(place: tuple[float, float], spread: int, matches: Matches) -> bool:
    """Whether a place is not in the second image, by more than its spread."""
    return any(
        not -spread <= 1000 * at / length <= 1000 + spread
        for at, length in zip(place, matches.size2, strict=True)
    )


def points_note(items: Sequence[Item], *, matches: bool) -> str:
    """What the fields of the points mean; after the note on matches if there are `matches`."""
    estimated = (
        "the same spot in the second image, estimated from the nearest matches. b: the spread, how far "
        "half of those matches' own estimates scatter around r, in thousandths of the frame, more where "
        "the point lies beyond them."
    )
    if matches:
        note = (
            "Items with a letter for p are points that were asked about, not matches: c: [x, y] in the "
            f"first image. r: [x, y] of {estimated}"
        )
    else:
        note = (
            "Each item is a point that was asked about. p: its letter. c: [x, y] in the first image. "
            f"r: [x, y] of {estimated} In each image, {FRAME_NOTE} of that image's own width and height."
        )
    if any(item.r is None for item in items):
        note += f" null: it lies outside, or no match is within {1000 * REACH:.0f} of the point."
    return note
