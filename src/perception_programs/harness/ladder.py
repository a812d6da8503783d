"""The ablation ladder: a set of questions, put to a model with more and more of the harness."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._plain import check_count
from ..chat import ChatError, ChatModel
from ..errors import InputError
from .agent import Agent
from .capability import Capability
from .questions import Judge, Question, is_right
from .rendering import Templates
from .settings import RUNGS, Settings
from .trajectory import Trajectory

__all__ = ["Failed", "Ladder", "Result", "ask_all", "run_ladder"]

HEADER = "ladder.json"
_NEVER_ACCEPTED = (401, 402, 403, 404)


@dataclass(frozen=True)
class Result:
    """One question on one rung, answered.

    Attributes:
        id: of the question.
        rung: one of `RUNGS`.
        answer: what was answered.
        right: whether that is right.
        calls: of each tool that was asked for, its name and what came of it.
        unsupported: handles that the answer names and that were never made.
        tokens: of prompts and replies together.
        cost: US dollars; None where nobody said.
        seconds: it took.
    """

    id: str
    rung: str
    answer: str
    right: bool
    calls: tuple[tuple[str, str], ...]
    unsupported: tuple[str, ...]
    tokens: int
    cost: float | None
    seconds: float


@dataclass(frozen=True)
class Failed:
    """A question on a rung that got no answer; it is tried again the next time.

    Attributes:
        id: of the question.
        rung: one of `RUNGS`.
        error: why.
    """

    id: str
    rung: str
    error: str


@dataclass(frozen=True)
class Ladder:
    """What came of a ladder.

    Attributes:
        rungs: that were climbed, in order.
        results: of every question that was answered.
        failed: those that were not.
    """

    rungs: tuple[str, ...]
    results: tuple[Result, ...]
    failed: tuple[Failed, ...]

    def right(self, rung: str) -> dict[str, bool]:
        """Whether each question that was answered on a rung is right, by its id."""
        return {one.id: one.right for one in self.results if one.rung == rung}


async def run_ladder(
    model: ChatModel,
    questions: Iterable[Question],
    capabilities: Iterable[Capability],
    folder: str | os.PathLike[str],
    *,
    rungs: Sequence[str] = tuple(RUNGS),
    concurrency: int = 8,
    settings: Settings | None = None,
    templates: Templates | None = None,
    judge: Judge = is_right,
    on_done: Callable[[Result | Failed], None] | None = None,
) -> Ladder:
    """Put a set of questions to a model on every rung.

    Each question has a folder of its own, `folder/RUNG/ID`, with its trajectory. A question that is answered
    there is not asked again; one that was stopped goes on; one that failed is tried again.

    Args:
        model: who is asked.
        questions: with their answers.
        capabilities: the tools, of all rungs that have some.
        folder: where all of it is kept.
        rungs: which, of `RUNGS`.
        concurrency: how many questions at a time.
        settings: budgets; their rung counts for nothing.
        templates: the wording.
        judge: whether an answer is right.
        on_done: told of each question when it is over.

    Raises:
        InputError: no such rung, a rung or an id that is there twice, or a folder of another configuration.
        ChatError: the model accepts nothing that is asked, such as for want of a key.
    """
    listed, place = list(questions), Path(folder)
    check_count(concurrency, "concurrency")
    unknown = [rung for rung in rungs if rung not in RUNGS]
    if unknown or len(set(rungs)) < len(rungs) or not rungs:
        raise InputError(f"rungs: expected some of {', '.join(RUNGS)}, each once, got {rungs!r}")
    tools, base = list(capabilities), settings or Settings()
    agents = {
        rung: Agent(model, tools, settings=replace(base, rung=rung), templates=templates)
        for rung in rungs
    }
    place.mkdir(parents=True, exist_ok=True)
    _check_header(
        place, Agent(model, tools, settings=replace(base, rung="full"), templates=templates)
    )
    jobs = [(agents[rung], question, place / rung) for rung in rungs for question in listed]
    done = await ask_all(jobs, concurrency=concurrency, judge=judge, on_done=on_done)
    return Ladder(
        tuple(rungs),
        tuple(one for one in done if isinstance(one, Result)),
        tuple(one for one in done if isinstance(one, Failed)),
    )


async def ask_all(
    jobs: Sequence[tuple[Agent, Question, Path]],
    *,
    concurrency: int = 8,
    judge: Judge = is_right,
    on_done: Callable[[Result | Failed], None] | None = None,
) -> list[Result | Failed]:
    """Put questions to agents, several at a time.

    Args:
        jobs: an agent, a question, and the folder in which the question's own is.
        concurrency: how many at a time.
        judge: whether an answer is right.
        on_done: told of each when it is over.

    Returns:
        What came of each, in order.

    Raises:
        ChatError: the model accepts nothing that is asked.
    """
    _check_ids(jobs)
    room = asyncio.Semaphore(concurrency)

    async def one(job: tuple[Agent, Question, Path]) -> Result | Failed:
        async with room:
            came = await _asked(*job, judge)
        if on_done is not None:
            on_done(came)
        return came

    tasks = [asyncio.create_task(one(job)) for job in jobs]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _asked(agent: Agent, question: Question, folder: Path, judge: Judge) -> Result | Failed:
    rung = agent.settings.rung
    try:
        done = await agent.run(question.prompt, question.images, folder / folder_name(question.id))
    except ChatError as error:
        if error.unreachable or (error.status in _NEVER_ACCEPTED and not error.transient):
            raise  # the next would be asked in vain
        return Failed(question.id, rung, str(error))
    except (InputError, OSError) as error:
        return Failed(question.id, rung, str(error))
    return result_of(done, question, judge)


def result_of(done: Trajectory, question: Question, judge: Judge = is_right) -> Result:
    """What came of a question, from its trajectory."""
    end = done.end or {}
    uses = [use for line in (*done.turns, end) for use in line.get("usage", ())]
    costs = [use["cost"] for use in uses if use.get("cost") is not None]
    return Result(
        question.id,
        str(done.start["settings"]["rung"]),
        str(end.get("answer", "")),
        bool(judge(question, str(end.get("answer", "")))),
        tuple((call["name"], call["outcome"]) for call in done.calls),
        tuple(end.get("unsupported", ())),
        int(done.used("prompt_tokens") + done.used("completion_tokens")),
        sum(costs) if costs else None,
        round(done.seconds, 3),
    )


def folder_name(key: str) -> str:
    """A folder's name for an id, unlike that of any other, whatever the id holds.

    >>> folder_name("q1"), folder_name("../x")
    ('q1', '.._x-d6b96a97')
    """
    plain = re.sub(r"[^\w.-]", "_", key)[:60]
    if plain == key and key not in ("", ".", "..") and key == key.lower():
        return key
    return f"{plain}-{hashlib.sha256(key.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def _check_ids(jobs: Sequence[tuple[Agent, Question, Path]]) -> None:
    """Refuse two questions in one folder."""
    seen = set[Path]()
    for _, question, folder in jobs:
        place = folder / folder_name(question.id)
        if place in seen:
            raise InputError(f"questions: the id {question.id!r} is there twice")
        seen.add(place)


def _check_header(folder: Path, agent: Agent) -> None:
    """Refuse a folder in which the questions were asked otherwise, before anything is asked."""
    file = folder / HEADER
    now: dict[str, Any] = json.loads(json.dumps(agent.configuration()))
    if not file.exists():
        file.write_text(json.dumps(now, indent=1), encoding="utf-8")
        return
    try:
        before: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{file}: expected JSON: {error}") from None
    different = [key for key in now if before.get(key) != now[key]]
    if different:
        raise InputError(
            f"{file}: began with another {different[0]}; give another folder, or the same as before"
        )
