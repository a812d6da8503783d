"""Correspondence: pairs of points that show the same spot in two images."""

from __future__ import annotations

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

__all__ = ["correspondence_program"]


def correspondence_program(
    first: Any, second: Any = None, *, limit: int | None = None, expert: ExpertLike = None
) -> PerceptionProgram:
    """A program of matching points (paper, section 3.2: `correspondence`, `keypoint`).

    Each item's c is a point of the first image, its r the same spot in the second, each in the
    0-1000 frame of its own image. Where the matcher checked its pairs (`Matches.inliers`), `meta`
    names the p of those that disagree with the rest.

    Args:
        first: `Matches`, or the first picture.
        second: the second picture.
        limit: keep at most so many matches, the surest (the first ones, where confidence is unknown).
        expert: which matcher reads the pictures; by default the best that is installed.

    Raises:
        InputError: neither matches nor two pictures.

    >>> matches = Matches([[10, 10]], [[20, 10]], size1=(100, 100), size2=(200, 100))
    >>> correspondence_program(matches).items
    (Item(p=1, c=(100, 100), r=(100, 100)),)
    """
    images: tuple[Any, ...] = ()
    if isinstance(first, Matches):
        check_unused("Matches", second=second, expert=expert)
        matches, meta = first, dict[str, Any]()
    elif first is None or second is None:
        raise InputError(
            f"correspondence: expected Matches, or two pictures, got only {describe(first)}"
        )
    else:
        matches, meta = run_expert("correspondence", expert, Matches, first, second)
        images = (first, second)
    kept = _surest(matches, limit)
    pairs = zip(decimals(matches.points1[kept]), decimals(matches.points2[kept]), strict=True)
    items = tuple(
        Item(p=n, c=normalise(x1, y1, matches.size1), r=normalise(x2, y2, matches.size2))
        for n, ((x1, y1), (x2, y2)) in enumerate(pairs, 1)
    )
    return PerceptionProgram(
        modality="correspondence",
        granularity="keypoint",
        items=items,
        note=_note(matches),
        meta={
            **meta,
            "size1": matches.size1,
            "size2": matches.size2,
            **({"matches_cut": len(matches) - len(kept)} if len(kept) < len(matches) else {}),
            **_outliers(matches, kept),
        },
        images=images,
    )


def _surest(matches: Matches, limit: int | None) -> npt.NDArray[np.intp]:
    """The rows to keep, in their own order."""
    rows = np.arange(len(matches))
    if limit is None:
        return rows
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InputError(f"limit: expected at least 1 match, got {limit!r}")
    if matches.confidence is not None:
        rows = np.argsort(-matches.confidence, kind="stable")
    return np.sort(rows[:limit])


def _outliers(matches: Matches, kept: npt.NDArray[np.intp]) -> dict[str, Any]:
    """The p of the matches that the geometry of most others does not bear out, where that is known."""
    if matches.inliers is None:
        return {}
    return {"outliers": [int(n) + 1 for n in np.flatnonzero(~matches.inliers[kept])]}


def _note(matches: Matches) -> str:
    if len(matches) == 0:
        below = (
            ""
            if matches.threshold is None
            else f" with a confidence of at least {matches.threshold:.4g}"
        )
        return f"No matching points were found between the two images{below}: none found."
    return (
        "Each item is a spot seen in both images. p: number of the match. c: [x, y] in the first "
        f"image. r: [x, y] of the same spot in the second image. In each, {FRAME_NOTE} of that image's own "
        "width and height."
    )
