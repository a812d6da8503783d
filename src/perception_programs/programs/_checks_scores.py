"""Where two programs that score candidates choose different ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..program import Item, PerceptionProgram
from ._checks_base import Limits, Outcome, Source, Statement

__all__ = ["two_choices"]


def two_choices(first: Source, second: Source, limits: Limits) -> Outcome:
    """Semantic, jigsaw or similarity programs over the same candidates whose best ones differ.

    Scores of two experts have no common scale: only what each prefers, clearly, is compared.
    """
    scores = _scores(first.program), _scores(second.program)
    if set(scores[0]) != set(scores[1]) or len(scores[0]) < 2:
        return Outcome()
    if _asked(first.program) != _asked(second.program):
        return Outcome()
    best = [max(own, key=lambda name: own[name]) for own in scores]
    if best[0] == best[1] or any(_lead(own) <= limits.margin for own in scores):
        return Outcome(1)
    said = [
        _choice(source, name, own)
        for source, name, own in zip((first, second), best, scores, strict=True)
    ]
    return Outcome(1, ((said[0], said[1]),))


def _candidate(item: Item, modality: str) -> str | None:
    name = {"semantic": item.p, "jigsaw": item.i, "similarity": item.c}[modality]
    return None if name is None else str(name)


def _scores(program: PerceptionProgram) -> dict[str, float]:
    """Each candidate's score: the mean of its readings, as many as it has."""
    readings: dict[str, list[float]] = {}
    for item in program.items:
        name = _candidate(item, program.modality)
        if name is not None and isinstance(item.r, float | int):
            readings.setdefault(name, []).append(item.r)
    return {name: sum(values) / len(values) for name, values in readings.items()}


def _asked(program: PerceptionProgram) -> Any:
    """What the candidates of a semantic program are: another reference asks another question."""
    if program.modality != "semantic":
        return None
    return [(item.p, item.c) for item in program.items], program.meta.get("reference")


def _lead(scores: Mapping[str, float]) -> float:
    best, second = sorted(scores.values(), reverse=True)[:2]
    return best - second


def _choice(source: Source, name: str, scores: Mapping[str, float]) -> Statement:
    place = None
    if source.program.modality == "semantic":
        place = next(item.c for item in source.program.items if str(item.p) == name)
    rest = sorted(set(scores) - {name}, key=lambda other: -scores[other])[0]
    about = f"best candidate, {scores[name]:.4g}, before {rest}, {scores[rest]:.4g}"
    return Statement(place, name, f"{source.name}: {about}")
