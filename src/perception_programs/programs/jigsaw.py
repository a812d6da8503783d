"""Jigsaw: how well each candidate piece continues the picture across its borders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .._arrays import describe
from ..errors import InputError
from ..geometry import normalise_box
from ..program import Item, PerceptionProgram
from ..results import EdgeScores
from ._experts import ExpertLike, check_unused, run_expert
from ._reliability import LEADS, Reliability, leads, reliability, reliability_note

__all__ = ["jigsaw_program"]

_NOTE = (
    "The image lacks its lower right corner; each item is one border of a candidate piece put there. "
    "i: the candidate. p: which of its borders. c: [x0, y0, x1, y1] of the strip along that border, in "
    "the candidate's own frame; x runs right and y runs down, both scaled to 0-1000. r: how well the "
    "strip continues the image on the other side of the border, the mean of structural, colour and edge "
    "similarity, from 0 (not at all) to 1 (seamlessly)."
)

_APART = "how far the mean of the candidate's r is from that of the best other candidate"


def jigsaw_program(
    source: Any,
    candidates: Mapping[str, Any] | None = None,
    *,
    expert: ExpertLike = None,
    reliability: Reliability = None,
) -> PerceptionProgram:
    """A program of how well candidate pieces fit (paper, section 3.2: `jigsaw`, `border`).

    Args:
        source: `EdgeScores`, or the picture whose lower right corner is missing.
        candidates: {"A": piece, "B": piece, …}, pictures as large as the hole.
        expert: which scorer reads the pictures; by default the best that is installed.
        reliability: `number` or `words`: also say how far the mean over each candidate's borders is
            from that of the best other candidate: near 0, the borders do not tell the two apart.

    Raises:
        InputError: neither scores nor a picture with candidates, or a candidate larger than the picture.
    """
    images: tuple[Any, ...] = ()
    if isinstance(source, EdgeScores):
        check_unused("EdgeScores", candidates=candidates, expert=expert)
        scores, meta = source, dict[str, Any]()
    else:
        if not isinstance(candidates, Mapping) or not candidates:
            raise InputError(
                f'candidates: expected {{"A": piece, "B": piece}}, got {describe(candidates)}'
            )
        scores, meta = run_expert("jigsaw", expert, EdgeScores, source, candidates)
        images = (source, *candidates.values())
    meta |= {"sizes": dict(scores.sizes), "parts": _parts(scores)}
    several = reliability if len(scores.candidates) > 1 else None
    return PerceptionProgram(
        modality="jigsaw",
        granularity="border",
        items=_items(scores, reliability),
        note=_NOTE + reliability_note(_APART, several, LEADS),
        meta=meta,
        images=images,
    )


def _items(scores: EdgeScores, how: Reliability) -> tuple[Item, ...]:
    means = {
        name: math.fsum(scores.mean(name, edge) for edge in borders) / len(borders)
        for name, borders in scores.candidates.items()
    }
    apart = leads(means)
    said = reliability(list(apart.values()), how, LEADS) or [None] * len(apart)
    sure = dict(zip(apart, said, strict=True))
    return tuple(
        Item(
            p=edge,
            c=normalise_box(parts["box"], scores.sizes[name]),
            r=scores.mean(name, edge),
            i=name,
            q=sure[name],
        )
        for name, borders in scores.candidates.items()
        for edge, parts in borders.items()
    )


def _parts(scores: EdgeScores) -> dict[str, Any]:
    return {
        name: {
            edge: {part: value for part, value in parts.items() if part != "box"}
            for edge, parts in borders.items()
        }
        for name, borders in scores.candidates.items()
    }
