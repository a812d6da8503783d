"""Semantic correspondence: which candidate point resembles a reference point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._arrays import describe
from ..errors import InputError
from ..geometry import normalise
from ..program import Item, PerceptionProgram
from ..results import PointScores
from ._cells import FRAME_NOTE
from ._experts import ExpertLike, check_unused, run_expert
from ._reliability import LEADS, Reliability, leads, reliability, reliability_note

__all__ = ["semantic_program"]


def semantic_program(
    first: Any,
    second: Any = None,
    *,
    reference: tuple[float, float] | None = None,
    candidates: Mapping[str, tuple[float, float]] | None = None,
    expert: ExpertLike = None,
    reliability: Reliability = None,
) -> PerceptionProgram:
    """A program of how alike candidate points are to a reference (paper, section 3.2: `semantic`, `point`).

    With two candidates or more, `meta` has the `margin` by which the best leads the second: near 0, the
    scores do not tell them apart.

    Args:
        first: `PointScores`, or the picture with the reference point.
        second: the picture with the candidates.
        reference: (x, y) in pixels of the first picture.
        candidates: {"A": (x, y), …} in pixels of the second picture.
        expert: whose features are compared; by default the best that is installed.
        reliability: `number` or `words`: also say how far each candidate's score is from the best other
            one: near 0, the scores do not tell the two apart.

    Raises:
        InputError: neither scores nor two pictures with points.
        MissingExtraError: pictures came and no semantic expert is installed.

    >>> scores = PointScores({"A": (50, 50)}, {"A": 0.8}, reference=(10, 10), size1=(100, 100))
    >>> semantic_program(scores).items
    (Item(p='A', c=(500, 500), r=0.8),)
    """
    images: tuple[Any, ...] = ()
    if isinstance(first, PointScores):
        check_unused(
            "PointScores", second=second, reference=reference, candidates=candidates, expert=expert
        )
        scores, meta = first, dict[str, Any]()
    else:
        needed = {"second": second, "reference": reference, "candidates": candidates}
        for name, value in needed.items():
            if value is None:
                raise InputError(
                    "semantic: expected PointScores, or two pictures with reference= and candidates=, "
                    f"got {describe(first)} without {name}"
                )
        scores, meta = run_expert(
            "semantic",
            expert,
            PointScores,
            first,
            second,
            reference=reference,
            candidates=candidates,
        )
        images = (first, second)
    where = normalise(*scores.reference, scores.size1)
    meta |= {"size1": scores.size1, "size2": scores.size2, "reference": where}
    if len(scores.scores) > 1:
        best, second = sorted(scores.scores.values(), reverse=True)[:2]
        meta["margin"] = best - second
    return PerceptionProgram(
        modality="semantic",
        granularity="point",
        items=_items(scores, reliability),
        note=_note(where, len(scores.scores) > 1, reliability),
        meta=meta,
        images=images,
    )


def _items(scores: PointScores, how: Reliability) -> tuple[Item, ...]:
    apart = leads(scores.scores)
    said = reliability(list(apart.values()), how, LEADS) or [None] * len(apart)
    sure = dict(zip(apart, said, strict=True))
    return tuple(
        Item(letter, normalise(*place, scores.size2), scores.scores[letter], q=sure[letter])
        for letter, place in scores.candidates.items()
    )


def _note(reference: tuple[int, int], several: bool, how: Reliability) -> str:
    note = (
        "Each item is a candidate point of the second image. p: its letter. c: [x, y] of the candidate; "
        f"{FRAME_NOTE}. r: how alike what is seen there is to the reference point at {list(reference)} "
        "of the first image; larger is more alike."
    )
    return note + reliability_note(
        "how far r is from that of the best other candidate", how if several else None, LEADS
    )
