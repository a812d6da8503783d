"""A run of the benchmark: every question of some tasks put to a model, in one or more settings.

What has a record is never asked again, what failed is asked again next time, so that a run can be
killed at any moment and started again with the same call.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from .._arrays import describe
from .._plain import check_count
from ..chat import ChatError, ChatModel, Reply, ask
from ..chat._tasks import all_or_none
from ..errors import InputError, MissingExtraError, WeightsError
from ..prompts import SETTINGS, chosen_cautions, digest
from ._asked_model import check_model, said_of
from ._record import make_record, text_tokens
from .data import Samples
from .examples import Examples
from .questions import Asked, Inquirer, needs_tools
from .reader_model import Reader
from .recipes import Recipe, check_experts, chosen_settings, recipe_of, with_tools
from .records import RecordFile, check_task_name, exclusive, now
from .samples import Sample
from .tools import Tools

__all__ = ["Outcome", "Run", "Tally", "text_tokens"]

_NEVER_ACCEPTED = (401, 402, 403, 404)
"""HTTP statuses that every further request would get too: a wrong key, an account without credit, a
model that is not there."""


@dataclass
class Tally:
    """What became of the samples of one task in one setting.

    Attributes:
        task: the task.
        setting: the setting.
        kept: how many had a record before.
        answered: how many got one now.
        beyond: how many more records the file has, of samples past the run's limit.
        unknown: how many records it has of ids that the task has no sample of.
        scored: how many of all with a record have a published answer.
        correct: how many of those are right.
        unparsed: in how many with a record no answer was found.
        errors: how many failed now, and will be asked again next time.
        cost: US dollars spent now, as far as the provider says.
    """

    task: str
    setting: str
    kept: int = 0
    answered: int = 0
    beyond: int = 0
    unknown: int = 0
    scored: int = 0
    correct: int = 0
    unparsed: int = 0
    errors: int = 0
    cost: float = 0.0

    def count(self, record: Mapping[str, Any]) -> None:
        """Count what a record says of the answer."""
        self.scored += record["correct"] is not None
        self.correct += record["correct"] is True
        self.unparsed += record["parsed"] is None


@dataclass(frozen=True)
class Outcome:
    """Where a run begins, or one sample's end, for whoever shows progress.

    Attributes:
        tally: of its task and setting, this sample counted in.
        error: what went wrong, or None.
    """

    tally: Tally
    error: str | None = None


@dataclass(frozen=True)
class Run:
    """What is asked, of whom, and where the answers go.

    Attributes:
        model: a chat model, or a `Reader`.
        tasks: the samples of each task; the same ones given twice are asked once.
        settings: names of `prompts.SETTINGS`, each asked once.
        out: the run's folder.
        tools: what makes the programs.
        limit: at most so many samples of each task, the first ones; None for all.
        concurrency: at most so many requests at a time.
        attempts: how often a request is tried that may succeed later.
        cautions: names of `prompts.CAUTIONS`.
        examples: worked examples, or None for zero-shot.
        text_only: whether to leave the pictures out, for models that read only text.

    Raises:
        InputError: nothing to ask, an unknown setting, a task that cannot be asked so, or two sets of
            samples of one task, whose records would share a file.
    """

    model: ChatModel | Reader
    tasks: Sequence[Samples]
    settings: Sequence[str]
    out: Path
    tools: Tools = field(default_factory=Tools)
    limit: int | None = None
    concurrency: int = 8
    attempts: int = 6
    cautions: Sequence[str] = ()
    examples: Examples | None = None
    text_only: bool = False

    def __post_init__(self) -> None:
        self._check_types()
        for name in ("concurrency", "attempts", *(("limit",) if self.limit is not None else ())):
            value = getattr(self, name)
            check_count(value, name)
        if not self.tasks or not self.settings:
            raise InputError("run: expected at least one task and one setting")
        object.__setattr__(self, "tasks", _each_once(self.tasks))
        object.__setattr__(self, "settings", chosen_settings(self.settings))
        for name in self.settings:
            if self.text_only and SETTINGS[name].tool:
                raise InputError(f"text_only: expected no setting with tool pictures, got {name!r}")
            if isinstance(self.model, Reader) and SETTINGS[name].style is None:
                readable = " or ".join(repr(n) for n, s in SETTINGS.items() if s.style is not None)
                raise InputError(
                    f"setting: expected {readable} for {self.model.name!r}, which reads programs, "
                    f"got {name!r}"
                )
        chosen_cautions(self.cautions)
        for samples in self.tasks:
            check_task_name(samples.task)
            self._check(recipe_of(samples))
            if self.examples is not None:
                self.examples.check(samples, self.settings)
        if any(map(needs_tools, self.settings)):
            check_experts(self.tools, map(recipe_of, self.tasks))

    def _check_types(self) -> None:
        check_model(self.model)
        if not isinstance(self.out, (str, os.PathLike)) or not os.fspath(self.out):
            raise InputError(f"out: expected a folder, got {describe(self.out)}")
        object.__setattr__(self, "out", Path(self.out))
        for what, kind in (("tasks", Samples), ("settings", str)):
            given = getattr(self, what)
            one = isinstance(given, (str, Samples)) or not isinstance(given, Sequence)
            wrong = [given] if one else [entry for entry in given if not isinstance(entry, kind)]
            if wrong:
                name = "names" if kind is str else "what blink.load returns"
                raise InputError(f"{what}: expected a list of {name}, got {describe(wrong[0])}")

    def _check(self, recipe: Recipe) -> None:
        for name in self.settings:
            if recipe.evidence is None and needs_tools(name):
                apart = [s.task for s in self.tasks if recipe_of(s).evidence is not None]
                raise InputError(
                    f"setting: {recipe.task} has no tools, so only 'standard', got {name!r}; "
                    f"{_apart(apart, name)}"
                )
        if isinstance(self.model, Reader):
            self.model.check(recipe)

    async def go(self, progress: Callable[[Outcome], None] | None = None) -> list[Tally]:
        """Ask what has no record yet.

        Args:
            progress: called for each task and setting when the run begins, and after each sample.

        Raises:
            InputError: the folder holds records of another configuration, or is in use.
            WeightsError: an expert's weights cannot be had.
            ChatError: the server refuses every request, or there is none where it should be; or what
                the model gives first is no reply.
        """
        # All that may be refused comes before a folder is made or a file opened.
        headers = {
            (samples.task, setting): self._header(samples, setting)
            for samples in self.tasks
            for setting in self.settings
        }
        for (task, setting), header in headers.items():
            RecordFile.check(self.out, task, setting, header)
        if any(needs_tools(name) for name in self.settings):
            for samples in self.tasks:
                self.tools.check(recipe_of(samples))
        show = progress or (lambda outcome: None)
        with exclusive(self.out):
            jobs = [job for samples in self.tasks for job in self._jobs(samples, headers)]
            for job in jobs:
                job.count_kept(self.selected(job.samples))
                show(Outcome(job.tally))
            with ThreadPoolExecutor(1, "evidence") as pool:  # experts are asked one at a time
                try:
                    await self._drain(jobs, pool, show)
                finally:
                    pool.shutdown(wait=False, cancel_futures=True)
        return [job.tally for job in jobs]

    def inquirer(self, samples: Samples) -> Inquirer:
        """What makes the prompts of one task in this run."""
        return Inquirer(
            samples,
            self.tools,
            tuple(self.cautions),
            self.examples,
            text_only=self.text_only,
        )

    def selected(self, samples: Samples) -> tuple[Sample, ...]:
        """The samples of a task that this run asks."""
        return samples[: self.limit]

    def _jobs(
        self, samples: Samples, headers: Mapping[tuple[str, str], Mapping[str, Any]]
    ) -> list[_Job]:
        inquirer = self.inquirer(samples)
        return [
            _Job(
                samples,
                inquirer,
                setting,
                RecordFile(self.out, samples.task, setting, headers[samples.task, setting]),
            )
            for setting in self.settings
        ]

    def _header(self, samples: Samples, setting: str) -> dict[str, Any]:
        """Everything that decides the answers; what only decides the pace is left out."""
        examples = None if self.examples is None else self.examples.digest
        return {
            "model": said_of(self.model),
            "source": dict(samples.source),
            "place": samples.place,
            "tools": self.tools.settings(recipe_of(samples)) if needs_tools(setting) else {},
            "prompts": {
                "digest": digest(),
                "cautions": list(chosen_cautions(self.cautions)),
                "examples": examples,
                "text_only": self.text_only,
            },
            "package": __version__,
        }

    async def _drain(
        self, jobs: list[_Job], pool: ThreadPoolExecutor, progress: Callable[[Outcome], None]
    ) -> None:
        queue: asyncio.Queue[_Task | None] = asyncio.Queue(self.concurrency)

        async def produce() -> None:
            loop = asyncio.get_running_loop()
            for samples in self.tasks:
                own = [job for job in jobs if job.samples is samples]
                for sample in self.selected(samples):
                    waiting = [job for job in own if sample.id not in job.file.done]
                    if waiting:
                        for task in await loop.run_in_executor(pool, _prepared, sample, waiting):
                            await queue.put(task)
            for _ in range(self.concurrency):
                await queue.put(None)

        async def consume() -> None:
            while (task := await queue.get()) is not None:
                error = await self._finish(task, jobs)
                progress(Outcome(task.job.tally, error))

        await all_or_none([produce(), *(consume() for _ in range(self.concurrency))])

    async def _finish(self, task: _Task, jobs: Sequence[_Job]) -> str | None:
        """Ask, and write what came; the error, if that is what came."""
        job, tally = task.job, task.job.tally
        if isinstance(task.asked, Exception):
            return _failed(task, "evidence", task.asked, 1)
        started = time.perf_counter()
        try:
            reply, attempts = await self._reply(task, task.asked)
        except InputError as error:  # a picture that cannot be sent
            return _failed(task, "evidence", error, 1)
        except ChatError as error:
            message = _failed(task, "model", error, error.attempts)
            if error.status in _NEVER_ACCEPTED and not error.transient:
                raise
            useless = error.unreachable or error.broken
            if useless and not any(one.tally.answered for one in jobs):
                raise  # nothing ever came of asking: the next would be asked in vain
            return message
        record = make_record(task.sample, task.asked, reply)
        record |= {"seconds": round(time.perf_counter() - started, 3), "attempts": attempts}
        job.file.add({**record, "time": now()})
        tally.answered += 1
        tally.count(record)
        tally.cost += record["usage"]["cost"] or 0.0
        return None

    async def _reply(self, task: _Task, asked: Asked) -> tuple[Reply, int]:
        if isinstance(self.model, Reader):
            letter = self.model.read(task.job.inquirer.recipe, task.sample, asked)
            return Reply(text="" if letter is None else f"Answer: ({letter})"), 1
        return await ask(self.model, asked.messages, attempts=self.attempts)


class _Job:
    """One task in one setting."""

    def __init__(
        self, samples: Samples, inquirer: Inquirer, setting: str, file: RecordFile
    ) -> None:
        self.samples = samples
        self.inquirer = inquirer
        self.setting = setting
        self.file = file
        self.tally = Tally(samples.task, setting)

    def count_kept(self, selected: Iterable[Sample]) -> None:
        """Count the records that were there before, of the samples that this run is about."""
        for sample in selected:
            if sample.id in self.file.done:
                self.tally.kept += 1
                self.tally.count(self.file.done[sample.id])
        known = {sample.id for sample in self.samples}
        self.tally.unknown = sum(name not in known for name in self.file.done)
        self.tally.beyond = len(self.file.done) - self.tally.kept - self.tally.unknown


@dataclass(frozen=True)
class _Task:
    """A sample to be asked about, with its prompt or what went wrong in making it."""

    job: _Job
    sample: Sample
    asked: Asked | Exception


def _prepared(sample: Sample, jobs: Sequence[_Job]) -> list[_Task]:
    """A sample's prompts in each setting; the tools run once for all that show what they found."""
    tasks = []
    for needing in (False, True):  # apart, so that a tool that fails fails no other setting
        group = [job for job in jobs if needs_tools(job.setting) is needing]
        if group:
            found = _asked_or_error(sample, group)
            tasks += [_Task(job, sample, asked) for job, asked in zip(group, found, strict=True)]
    return tasks


def _asked_or_error(sample: Sample, jobs: Sequence[_Job]) -> Sequence[Asked | Exception]:
    try:
        return jobs[0].inquirer.ask(sample, [job.setting for job in jobs])
    except (WeightsError, MissingExtraError):
        raise  # no sample could be asked about
    except Exception as error:  # experts raise of every kind; the other samples may be well
        return [error] * len(jobs)


def _failed(task: _Task, stage: str, error: Exception, attempts: int) -> str:
    message = str(error) if isinstance(error, (InputError, ChatError)) else _named(error)
    row: dict[str, Any] = {"id": task.sample.id, "group": task.sample.group, "stage": stage}
    row |= {"error": message, "attempts": attempts}
    task.job.file.add_error({**row, "time": now()})
    task.job.tally.errors += 1
    return f"{task.sample.id}: {message}"


def _apart(tasks: Sequence[str], setting: str) -> str:
    """What to do instead, for tasks of a run that can be asked so beside one that cannot."""
    if not tasks:
        return f"those with tools are {with_tools()}"
    options = " ".join(f"--task {task}" for task in tasks)
    return f"run what has tools here, {', '.join(tasks)}, apart: {options} --setting {setting}"


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _each_once(tasks: Sequence[Samples]) -> tuple[Samples, ...]:
    """The samples of each task, those given twice once: each task has one file of records a setting."""
    found: dict[str, Samples] = {}
    for samples in tasks:
        before = found.setdefault(samples.task, samples)
        if before is not samples and before.digest != samples.digest:
            raise InputError(
                f"tasks: expected one set of samples of {samples.task}, got those of {before.place!r} "
                f"and of {samples.place!r}"
            )
    return tuple(found.values())
