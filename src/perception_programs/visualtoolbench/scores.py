"""The benchmark's numbers, from verdicts and calls.

With w the weight of a criterion and m whether it is met, over the rubrics of all turns of a task: the
task's score is Σ w·m / Σ w, ARS the mean score, APR the share of tasks in which every critical criterion is
met. Proactivity is the share of tasks with at least one tool call, the success rate the share of calls that
were valid, the volume the mean number of calls a task.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from ..errors import InputError
from .tasks import Criterion, Task

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Critical", "Judged", "Summary", "interval", "passes", "score", "summarise"]

Critical = Literal["weight", "flag"]
"""Which criteria are critical: those of weight 4 and 5, as in the paper, or those the data calls so."""

_LEVEL = 0.95
_DRAWS = 2000


@dataclass(frozen=True)
class Judged:
    """One task that was played and judged.

    Attributes:
        task: which.
        met: for each turn and id of its criteria whether it is met.
        calls: for each tool call, in order, whether it was valid.
    """

    task: Task
    met: Mapping[tuple[int, str], bool]
    calls: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        expected = {(turn, one.id) for turn, one in self.task.criteria}
        if set(self.met) != expected:
            missing = sorted(expected ^ set(self.met))[0]
            raise InputError(
                f"task {self.task.id}: expected a verdict for each criterion and no others, see "
                f"{missing[1]!r} of turn {missing[0] + 1}"
            )


@dataclass(frozen=True)
class Summary:
    """The numbers of some tasks; None where there is nothing to divide by.

    Attributes:
        n: how many tasks.
        ars: the mean score.
        apr: the share that passes, critical by weight as in the paper.
        apr_flag: the share that passes, critical by the data's own flag.
        proactivity: the share with at least one call.
        success: the share of calls that were valid.
        volume: calls a task.
    """

    n: int
    ars: float | None
    apr: float | None
    apr_flag: float | None
    proactivity: float | None
    success: float | None
    volume: float | None


def score(judged: Judged) -> float:
    """The met weight over the whole weight, from 0 to 1."""
    weights = [(one.weight, judged.met[turn, one.id]) for turn, one in judged.task.criteria]
    return sum(weight for weight, met in weights if met) / sum(weight for weight, _ in weights)


def passes(judged: Judged, critical: Critical = "weight") -> bool:
    """Whether every critical criterion is met; a task without one passes."""

    def counts(one: Criterion) -> bool:
        return one.heavy if critical == "weight" else one.critical

    return all(judged.met[turn, one.id] for turn, one in judged.task.criteria if counts(one))


def summarise(tasks: Iterable[Judged]) -> Summary:
    """The numbers of some tasks."""
    judged = list(tasks)
    calls = [valid for one in judged for valid in one.calls]
    return Summary(
        len(judged),
        _mean(score(one) for one in judged),
        _mean(passes(one) for one in judged),
        _mean(passes(one, "flag") for one in judged),
        _mean(bool(one.calls) for one in judged),
        _mean(calls),
        _mean(len(one.calls) for one in judged),
    )


def interval(
    tasks: Sequence[Judged], of: Callable[[Judged], float], *, seed: int = 0, draws: int = _DRAWS
) -> tuple[float, float] | None:
    """The bootstrap's percentile interval of a mean over tasks, at 95%; None without tasks.

    Args:
        tasks: what is drawn from, with replacement.
        of: a task's number: `score`, or whether it passes.
        seed: of the draws.
        draws: how many.
    """
    values = [float(of(task)) for task in tasks]
    if not values:
        return None
    drawn = random.Random(seed)
    means = sorted(fmean(drawn.choices(values, k=len(values))) for _ in range(draws))
    tail = (1 - _LEVEL) / 2
    return means[int(tail * draws)], means[min(draws - 1, int((1 - tail) * draws))]


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
