"""Correspondence: pairs of points that show the same spot in two images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import describe
from .._plain import decimals
from ..errors import InputError
from ..geometry import normalise
from ..program import Item, PerceptionProgram
from ..results import Matches
from ._cells import FRAME_NOTE
from ._experts import ExpertLike, check_unused, run_expert
from ._match_points import match_points, points_note
from ._points import asked_points
from ._reliability import Reliability, reliability, reliability_note

__all__ = ["correspondence_program"]

_OUTLIER = "outlier"


def correspondence_program(
    first: Any,
    second: Any = None,
    *,
    limit: int | None = None,
    expert: ExpertLike = None,
    around: Any = None,
    reliability: Reliability = None,
) -> PerceptionProgram:
    """A program of matching points (paper, section 3.2: `correspondence`, `keypoint`).

    Each item's c is a point of the first image, its r the same spot in the second, each in the
    0-1000 frame of its own image. Where the matcher checked its pairs (`Matches.inliers`), `meta`
    names the p of those that disagree with the rest.

    Args:
        first: `Matches`, or the first picture.
        second: the second picture.
        limit: keep at most so many matches, the surest (the first ones, where confidence is unknown);
            with `around` those nearest to a point that is asked about, nearest first and known outliers
            last, and 0 keeps none.
        expert: which matcher reads the pictures; by default the best that is installed.
        around: {"REF": (x, y)} in pixels of the first image, or `Points`: places that are asked about.
            Each is an item of its own after the matches: p its letter, c its place, r where that is in
            the second image, estimated from all the nearest matches, wrong ones left out; b the spread,
            how far half of their own estimates scatter around r, in thousandths of the frame. r is None
            where no match is near (within a quarter of the longer side) or the spot lies outside.
        reliability: `number` or `words`: also say the matcher's confidence in a match, 1 where it has
            none but checked the pair, and 0 (`outlier`) where it disagrees with the rest; of a point,
            which share of the nearest matches agree.

    Raises:
        InputError: neither matches nor two pictures, or an option does not fit.

    >>> matches = Matches([[10, 10]], [[20, 10]], size1=(100, 100), size2=(200, 100))
    >>> correspondence_program(matches).items
    (Item(p=1, c=(100, 100), r=(100, 100)),)
    >>> correspondence_program(matches, around={"REF": (12, 11)}, limit=0).items
    (Item(p='REF', c=(120, 110), r=(110, 110), b='from one match'),)
    """
    matches, meta, images = _matches(first, second, expert)
    places = None if around is None else asked_points(around, matches.size1, name="around")
    if places is None:
        kept = _surest(matches, limit)
    else:
        kept = _nearest(matches, list(places.values()), limit)
    items = _match_items(matches, kept, reliability)
    asked = () if places is None else match_points(matches, places, reliability)
    unread = sum(item.r is None for item in asked)
    return PerceptionProgram(
        modality="correspondence",
        granularity="point" if asked and not items else "keypoint",
        items=(*items, *asked),
        note=_note(matches, items, asked, reliability),
        meta={
            **meta,
            "size1": matches.size1,
            "size2": matches.size2,
            **({"matches_cut": len(matches) - len(kept)} if len(kept) < len(matches) else {}),
            **_outliers(matches, kept),
            **({"unread_points": unread} if unread else {}),
        },
        images=images,
    )


def _matches(
    first: Any, second: Any, expert: ExpertLike
) -> tuple[Matches, dict[str, Any], tuple[Any, ...]]:
    if isinstance(first, Matches):
        check_unused("Matches", second=second, expert=expert)
        return first, {}, ()
    if first is None or second is None:
        raise InputError(
            f"correspondence: expected Matches, or two pictures, got only {describe(first)}"
        )
    return (*run_expert("correspondence", expert, Matches, first, second), (first, second))


def _surest(matches: Matches, limit: int | None) -> npt.NDArray[np.intp]:
    """The rows to keep, in their own order."""
    rows = np.arange(len(matches))
    if limit is None:
        return rows
    _check_limit(limit, 1)
    if matches.confidence is not None:
        rows = np.argsort(-matches.confidence, kind="stable")
    return np.sort(rows[:limit])


def _nearest(
    matches: Matches, places: Sequence[tuple[float, float]], limit: int | None
) -> npt.NDArray[np.intp]:
    """All rows in their own order; with a limit those nearest to any of the places, nearest first."""
    if limit is None:
        return np.arange(len(matches))
    _check_limit(limit, 0)
    away = np.min([np.hypot(*(matches.points1 - place).T) for place in places], axis=0)
    wrong = _wrong(matches)
    return np.lexsort((away, wrong))[:limit]


def _check_limit(limit: Any, least: int) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < least:
        raise InputError(
            f"limit: expected at least {least} match{'es' * (not least)}, got {limit!r}"
        )


def _checked(matches: Matches) -> bool:
    """Whether it is known which matches agree with most: somebody looked and could tell."""
    return matches.inliers is not None and bool(matches.inliers.any())


def _wrong(matches: Matches) -> npt.NDArray[np.bool_]:
    """Which matches are known to disagree with most."""
    if not _checked(matches):
        return np.zeros(len(matches), bool)
    wrong: npt.NDArray[np.bool_] = ~matches.inliers
    return wrong


def _match_items(
    matches: Matches, kept: npt.NDArray[np.intp], how: Reliability
) -> tuple[Item, ...]:
    pairs = zip(decimals(matches.points1[kept]), decimals(matches.points2[kept]), strict=True)
    sure = _sure(matches, kept, how)
    return tuple(
        Item(p=n, c=normalise(x1, y1, matches.size1), r=normalise(x2, y2, matches.size2), q=q)
        for n, (((x1, y1), (x2, y2)), q) in enumerate(zip(pairs, sure, strict=True), 1)
    )


def _sure(
    matches: Matches, kept: npt.NDArray[np.intp], how: Reliability
) -> list[float | str | None]:
    """`q` of each match that is kept."""
    confidence, wrong = _confidence(matches), _wrong(matches)
    agreed = 1.0 if _checked(matches) else None
    measured = [agreed] * len(matches) if confidence is None else confidence.tolist()
    said = reliability([0.0 if wrong[n] else measured[n] for n in kept], how) or [None] * len(kept)
    if how == "words":
        return [_OUTLIER if wrong[n] else q for n, q in zip(kept, said, strict=True)]
    return said


def _confidence(matches: Matches) -> npt.NDArray[Any] | None:
    """The matcher's confidence, if it is one from 0 to 1."""
    known = matches.confidence
    if known is None or not ((known >= 0) & (known <= 1)).all():
        return None
    confidence: npt.NDArray[Any] = known
    return confidence


def _outliers(matches: Matches, kept: npt.NDArray[np.intp]) -> dict[str, Any]:
    """The p of the matches that the geometry of most others does not bear out, where that is known."""
    if matches.inliers is None:
        return {}
    return {"outliers": [int(n) + 1 for n in np.flatnonzero(~matches.inliers[kept])]}


def _note(matches: Matches, items: Sequence[Item], asked: Sequence[Item], how: Reliability) -> str:
    parts = []
    if not len(matches):
        below = (
            ""
            if matches.threshold is None
            else f" with a confidence of at least {matches.threshold:.4g}"
        )
        parts.append(f"No matching points were found between the two images{below}: none found.")
    elif items:
        parts.append(
            "Each item is a spot seen in both images. p: number of the match. c: [x, y] in the first "
            f"image. r: [x, y] of the same spot in the second image. In each, {FRAME_NOTE} of that image's "
            "own width and height."
        )
    if asked:
        parts.append(points_note(asked, matches=bool(items)))
    meaning = _meaning(matches, items, asked, how)
    return " ".join(parts) + reliability_note(meaning, how if meaning else None)


def _meaning(
    matches: Matches, items: Sequence[Item], asked: Sequence[Item], how: Reliability
) -> str:
    """What q is, of matches and of points; nothing where it says nothing."""
    said = []
    confidence = _confidence(matches) is not None
    if items and (confidence or _checked(matches)):
        zero, one = (_OUTLIER, "sure") if how == "words" else ("0", "1")
        wrong = f"{zero}: it disagrees with most matches"
        if not confidence:
            means = f"whether it agrees with most matches ({one}) or not ({zero})"
        else:
            means = "the matcher's confidence" + (f" ({wrong})" if _wrong(matches).any() else "")
        said.append(f"of a match, {means}" if asked else means)
    if any(item.q is not None for item in asked):
        share = "share of the nearest matches that agree"
        said.append(f"of a point, {share}" if items else share)
    return "; ".join(said)
