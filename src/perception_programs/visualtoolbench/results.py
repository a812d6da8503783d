"""What came of a run: each task with its answers, verdicts and calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..harness.journal import read_lines
from .judge import Verdict
from .plays import Play, folder_of
from .runs import ERRORS, met_of, verdict_key, verdicts_of
from .scores import Judged, passes, score
from .tasks import Criterion, Task

__all__ = ["Result", "Run", "read_run"]


@dataclass(frozen=True, eq=False)
class Result:
    """One task that was played and judged.

    Attributes:
        play: what was done.
        judged: its verdicts and calls.
        verdicts: by turn and id of the criterion.
    """

    play: Play
    judged: Judged
    verdicts: Mapping[tuple[int, str], Verdict]

    @property
    def task(self) -> Task:
        """Which."""
        return self.judged.task

    @property
    def answers(self) -> tuple[str, ...]:
        """One a turn."""
        return self.play.answers

    @property
    def passed(self) -> bool:
        """Whether every criterion of weight 4 or 5 is met."""
        return passes(self.judged)

    @property
    def score(self) -> float:
        """The met weight over the whole."""
        return score(self.judged)

    @property
    def digest(self) -> str:
        """What tells its answers from others."""
        return hashlib.sha256(json.dumps(list(self.answers)).encode()).hexdigest()

    @property
    def first_failure(self) -> tuple[int, list[Criterion]]:
        """The first turn in which a criterion is not met, and those criteria; the last turn where none is."""
        for turn, one in enumerate(self.task.turns):
            unmet = [each for each in one.rubric if not self.judged.met[turn, each.id]]
            if any(each.heavy for each in unmet):
                return turn, unmet
        return len(self.task.turns) - 1, []


@dataclass(frozen=True, eq=False)
class Run:
    """What came of a run.

    Attributes:
        folder: of the run.
        name: the model and the setting.
        results: the tasks that are played and judged.
        unplayed: ids of tasks that are not played to their end.
        unjudged: ids of tasks that lack a verdict.
        errors: how often something failed, to be tried again.
    """

    folder: Path
    name: str
    results: tuple[Result, ...]
    unplayed: tuple[str, ...]
    unjudged: tuple[str, ...]
    errors: int


def read_run(tasks: Sequence[Task], folder: Path) -> Run:
    """A run's results.

    Raises:
        InputError: nothing was played there, or by several configurations.
    """
    given = verdicts_of(folder)
    results, unplayed, unjudged = [], [], []
    starts: dict[str, Mapping[str, Any]] = {}
    for task in tasks:
        play = Play.read(folder_of(folder, task.id))
        if play is not None:
            told = {key: value for key, value in play.start.items() if key != "task"}
            starts[json.dumps(told, sort_keys=True)] = told
        if play is None or not play.done(len(task.turns)):
            unplayed.append(task.id)
            continue
        met = met_of(task, play, given)
        if met is None:
            unjudged.append(task.id)
            continue
        verdicts = {
            (turn, one.id): given[verdict_key(task, turn, one, play)] for turn, one in task.criteria
        }
        judged = Judged(task, met, tuple(bool(call["valid"]) for call in play.calls))
        results.append(Result(play, judged, verdicts))
    if not starts:
        raise InputError(f"{folder}: expected a run of these tasks, got none")
    if len(starts) > 1:
        raise InputError(f"{folder}: expected one configuration, got {len(starts)}")
    errors = len(read_lines(folder / ERRORS))
    name = _name(next(iter(starts.values())))
    return Run(folder, name, tuple(results), tuple(unplayed), tuple(unjudged), errors)


def _name(start: Mapping[str, Any]) -> str:
    model = start.get("model", {})
    named = model.get("model") or model.get("place") or model.get("kind") or "model"
    history = ", golden history" if start.get("golden_history") else ""
    return f"{named}, {start.get('setting')}{history}"
