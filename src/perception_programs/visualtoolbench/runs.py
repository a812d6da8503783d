"""Running and judging many tasks: nothing done twice, nothing lost."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._plain import check_count
from ..chat import ChatError
from ..chat._tasks import all_or_none
from ..errors import InputError, ToolError
from ..harness.journal import append_line, cut_torn, read_lines
from .judge import Judge, Verdict
from .player import Player
from .plays import Play, folder_of
from .tasks import Criterion, Task

__all__ = [
    "ERRORS",
    "VERDICTS",
    "Tally",
    "judge_plays",
    "met_of",
    "play_tasks",
    "verdict_key",
    "verdicts_of",
]

ERRORS = "errors.jsonl"
"""What failed, one line each; it is tried again next time and never counts as wrong."""

VERDICTS = "verdicts.jsonl"


@dataclass(frozen=True)
class Tally:
    """How a run ended.

    Attributes:
        done: tasks that are played, or verdicts that are there.
        new: of these, those of this time.
        failed: those that failed, to be tried again.
    """

    done: int
    new: int
    failed: int


async def play_tasks(
    player: Player,
    tasks: Sequence[Task],
    out: Path,
    *,
    concurrency: int = 4,
    on_done: Callable[[Task], None] | None = None,
) -> Tally:
    """Play tasks, from where an earlier run in this folder stopped.

    Args:
        player: who plays.
        tasks: which.
        out: the run's folder.
        concurrency: how many at once.
        on_done: called with each task once it is played or has failed.

    Raises:
        InputError: the folder holds a run of another configuration.
    """
    new = 0

    async def one(task: Task) -> bool:
        nonlocal new
        folder = folder_of(out, task.id)
        before = await asyncio.to_thread(Play.read, folder)
        was = before is not None and before.done(len(task.turns))
        try:
            await player.play(task, folder)
        except (ChatError, ToolError) as error:
            await _failed(out, {"task": task.id, "error": str(error)})
            return False
        finally:
            if on_done is not None:
                on_done(task)
        new += not was
        return True

    done = await _all(one, tasks, concurrency)
    return Tally(sum(done), new, len(done) - sum(done))


async def judge_plays(
    judge: Judge,
    tasks: Sequence[Task],
    out: Path,
    *,
    concurrency: int = 4,
    on_done: Callable[[Task], None] | None = None,
) -> Tally:
    """Have the answers of a run judged that have no verdict yet.

    Args:
        judge: who judges.
        tasks: which; those that are not played to their end are passed over.
        out: the run's folder.
        concurrency: how many questions to the judge at once.
        on_done: called with each criterion's task once it is judged or has failed.

    Raises:
        InputError: the folder holds verdicts of another judge.
    """
    file = out / VERDICTS
    if file.exists():
        cut_torn(file)
    settings = dict(judge.settings())
    for line in read_lines(file):
        if line["judge"] != settings:
            raise InputError(f"{file}: holds the verdicts of another judge; move it away first")
    given = verdicts_of(out)
    waiting: list[tuple[Task, int, Criterion, str]] = []
    for task in tasks:
        play = Play.read(folder_of(out, task.id))
        if play is not None and play.done(len(task.turns)):
            for turn, criterion in task.criteria:
                if verdict_key(task, turn, criterion, play) not in given:
                    waiting.append((task, turn, criterion, play.answers[turn]))

    async def one(asked: tuple[Task, int, Criterion, str]) -> bool:
        task, turn, criterion, answer = asked
        try:
            verdict = await judge.verdict(task.turns[turn], criterion, answer)
        except ChatError as error:
            where = {"task": task.id, "turn": turn, "criterion": criterion.id}
            await _failed(out, {**where, "error": f"judge: {error}"})
            return False
        finally:
            if on_done is not None:
                on_done(task)
        line = {
            "task": task.id,
            "turn": turn,
            "criterion": criterion.id,
            "answer": _digest(answer),
            "met": verdict.met,
            "explanation": verdict.explanation,
            "judge": settings,
            "usage": [asdict(usage) for usage in verdict.usage],
        }
        await asyncio.to_thread(append_line, file, line)
        return True

    done = await _all(one, waiting, concurrency)
    return Tally(len(given) + sum(done), sum(done), len(done) - sum(done))


def verdicts_of(out: Path) -> dict[tuple[str, int, str, str], Verdict]:
    """The verdicts of a run, by task, turn, criterion and the answer's digest.

    Raises:
        InputError: the file is not what judging writes.
    """
    found = {}
    for line in read_lines(out / VERDICTS):
        try:
            key = (line["task"], line["turn"], line["criterion"], line["answer"])
            found[key] = Verdict(bool(line["met"]), str(line["explanation"]))
        except KeyError as error:
            raise InputError(f"{out / VERDICTS}: expected the key {error}") from None
    return found


def met_of(
    task: Task, play: Play, given: Mapping[tuple[str, int, str, str], Verdict]
) -> dict[tuple[int, str], bool] | None:
    """For each criterion of a task whether its answer meets it; None where a verdict is missing."""
    met = {}
    for turn, criterion in task.criteria:
        verdict = given.get(verdict_key(task, turn, criterion, play))
        if verdict is None:
            return None
        met[turn, criterion.id] = verdict.met
    return met


def verdict_key(
    task: Task, turn: int, criterion: Criterion, play: Play
) -> tuple[str, int, str, str]:
    """What a verdict is about: the task, the turn, the criterion, and the answer's digest."""
    return task.id, turn, criterion.id, _digest(play.answers[turn])


async def _all(
    one: Callable[[Any], Awaitable[bool]], things: Sequence[Any], concurrency: int
) -> list[bool]:
    """Do one thing after the other, so many at once."""
    room = asyncio.Semaphore(check_count(concurrency, "concurrency"))

    async def held(thing: Any) -> bool:
        async with room:
            return await one(thing)

    return await all_or_none([held(thing) for thing in things])


async def _failed(out: Path, line: Mapping[str, Any]) -> None:
    await asyncio.to_thread(append_line, out / ERRORS, line)


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
