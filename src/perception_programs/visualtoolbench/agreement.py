"""How far a judge agrees with people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from ..harness.journal import read_lines
from .runs import verdicts_of

__all__ = ["Agreement", "agreement", "with_people"]


@dataclass(frozen=True)
class Agreement:
    """Two ways of saying met or not met, over the same criteria; None where a number is not defined.

    Attributes:
        n: how many criteria.
        accuracy: the share in which both say the same.
        f1: of the judge's "met", with the people's as the truth.
        kappa: Cohen's: the agreement beyond what chance would give, 1 at most.
    """

    n: int
    accuracy: float | None
    f1: float | None
    kappa: float | None


def agreement(people: Sequence[bool], judge: Sequence[bool]) -> Agreement:
    """How far a judge agrees with people on the same criteria.

    Raises:
        InputError: not as many of each.

    >>> told = agreement([True, True, False, False], [True, False, False, False])
    >>> told.accuracy, round(told.f1, 3), told.kappa
    (0.75, 0.667, 0.5)
    """
    if len(people) != len(judge):
        raise InputError(f"labels: expected as many of each, got {len(people)} and {len(judge)}")
    n = len(people)
    if n == 0:
        return Agreement(0, None, None, None)
    pairs = list(zip(people, judge, strict=True))
    both = sum(a and b for a, b in pairs)
    same = sum(a == b for a, b in pairs) / n
    first, second = sum(people) / n, sum(judge) / n
    chance = first * second + (1 - first) * (1 - second)
    met = sum(people) + sum(judge)
    return Agreement(
        n,
        same,
        2 * both / met if met else None,
        (same - chance) / (1 - chance) if chance < 1 else None,
    )


def with_people(out: Path, labels: Path) -> Agreement:
    """How far the verdicts of a run agree with a file of people's.

    Args:
        out: the run's folder.
        labels: JSON lines, each with `task`, `turn` (from 1), `criterion` and `met` (true or false).
            Criteria without a verdict are passed over.

    Raises:
        InputError: a line is not of that form, or one criterion is there twice.
    """
    if not labels.is_file():
        raise InputError(f"labels: no file {str(labels)!r}")
    said: dict[tuple[str, int, str], bool] = {}
    for number, line in enumerate(read_lines(labels), 1):
        match line:
            case {"task": str(task), "turn": int(turn), "criterion": str(one), "met": bool(met)}:
                key = (task, turn - 1, one)
            case _:
                raise InputError(
                    f"{labels}, line {number}: expected task, turn, criterion and met, got "
                    f"{', '.join(map(str, line))}"
                )
        if key in said:
            raise InputError(f"{labels}, line {number}: {task}, {turn}, {one} is there twice")
        said[key] = met
    judged = {key[:3]: verdict.met for key, verdict in verdicts_of(out).items()}
    keys = [key for key in said if key in judged]
    return agreement([said[key] for key in keys], [judged[key] for key in keys])
