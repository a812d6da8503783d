"""What a report says of some runs, in numbers."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from .paper_table import PAPER_TASKS, paper_model, paper_questions, paper_value
from .run_tables import RunTable, natural, outcome, read_runs
from .statistics import Comparison, compare, wilson

__all__ = [
    "Effort",
    "Line",
    "Pair",
    "Report",
    "Score",
    "build_report",
    "of_blink",
    "setting_order",
    "task_order",
]

_SETTINGS = ("standard", "tool", "p2", "p2-compact")
_TEXT_PARTS = ("question", "program", "example", "instructions")


@dataclass(frozen=True)
class Score:
    """How many samples are right.

    Attributes:
        right: answered right.
        n: all that count: right, wrong and unparsed.
        unparsed: of those, the ones in whose answer no option was found; they are not right.
        errors: samples without a record, because every try failed; they do not count.
        unanswered: samples whose right answer is not published; they do not count.
    """

    right: int
    n: int
    unparsed: int = 0
    errors: int = 0
    unanswered: int = 0

    @property
    def accuracy(self) -> float | None:
        """The share that is right, from 0 to 1; None without samples."""
        return self.right / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval of the accuracy, from 0 to 1; None without samples."""
        return wilson(self.right, self.n)


@dataclass(frozen=True)
class Effort:
    """What answers took, on average a sample.

    Attributes:
        records: of how many records.
        text: estimated tokens of each part of the prompt's text, by its name.
        images: tokens of the pictures: what the provider says it read less the estimate of the text,
            never below 0; None where no provider says.
        answer: tokens written; those the provider says, or else the estimate of the visible text.
        answer_estimated: whether any of those is an estimate.
        cost: US dollars together, as far as providers say; None where none does.
        priced: how many records have a cost.
        seconds: time of an answer; None without records.
    """

    records: int
    text: Mapping[str, float]
    images: float | None
    answer: float | None
    answer_estimated: bool
    cost: float | None
    priced: int
    seconds: float | None


@dataclass(frozen=True)
class Line:
    """One model in one setting on one task, or on one group of its samples.

    Attributes:
        model: what the report calls the model: its name, with the folder where that is needed to
            tell runs apart.
        setting: the setting.
        task: the task.
        group: the group of samples, or None for all.
        score: how many are right.
        effort: what it took.
        run: where the numbers come from.
        paper_model: the same model in the paper's Table 1, or None.
        paper: the paper's accuracy in percent; None where it has none, or has it of other questions.
        paper_n: how many questions of the paper's this is a run of, whatever the model; None where
            the questions are others, as a manifest's are.
    """

    model: str
    setting: str
    task: str
    group: str | None
    score: Score
    effort: Effort
    run: RunTable
    paper_model: str | None
    paper: float | None
    paper_n: int | None


@dataclass(frozen=True)
class Pair:
    """Two settings of one model on the samples of a task that both have answered.

    Attributes:
        model: what the report calls the model.
        task: the task.
        first: the setting that is compared with.
        second: the setting that is compared; the difference is its accuracy less the first's.
        comparison: the counts and the test.
    """

    model: str
    task: str
    first: str
    second: str
    comparison: Comparison


@dataclass(frozen=True, eq=False)
class Report:
    """What some runs show.

    Attributes:
        runs: the runs, ordered by model, setting and task.
        models: what each run's model is called, in the order of the runs.
        lines: the numbers of each run, and after those of a task the ones of its groups.
        pairs: every two settings of one model on one task.
        notes: what a reader of the numbers should know.
        package: the version that made the report.
    """

    runs: tuple[RunTable, ...]
    models: tuple[str, ...]
    lines: tuple[Line, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    package: str = __version__

    def __repr__(self) -> str:
        return f"Report(runs={list(self.runs)!r})"

    def _repr_html_(self) -> str:
        from .report_notebook import to_html

        return to_html(self)

    def _repr_markdown_(self) -> str:
        from .report_notebook import to_markdown

        return to_markdown(self)


def build_report(folders: Iterable[str | Path]) -> Report:
    """Read runs and count.

    Runs of one model, setting and task in two folders are never put together: all of that model's
    runs are then named with their folder, as they are when its settings differ between folders.

    Args:
        folders: folders of runs.

    Raises:
        InputError: what `read_runs` refuses.
    """
    runs = read_runs(folders)
    names = _names(runs)
    named = sorted(
        zip(names, runs, strict=True),
        key=lambda pair: (pair[0], setting_order(pair[1].setting), task_order(pair[1].task)),
    )
    groups = _groups(runs)
    pairs, notes = _pairs(named)
    return Report(
        runs=tuple(run for _, run in named),
        models=tuple(name for name, _ in named),
        lines=tuple(line for name, run in named for line in _lines(name, run, groups[run.task])),
        pairs=tuple(pairs),
        notes=(
            *(note for _, run in named for note in run.notes),
            *_other_questions(runs),
            *_differing(named),
            *notes,
        ),
    )


def of_blink(run: RunTable) -> bool:
    """Whether a run is about questions of BLINK's, as far as its header says."""
    if run.task in PAPER_TASKS:
        return paper_questions(run.task, None, run.header["source"]) is not None
    return bool(run.header["source"]["kind"] != "manifest")


def setting_order(setting: str) -> tuple[int, str]:
    """A key that sorts the paper's settings first, in its order."""
    return _place(_SETTINGS, setting), setting


def task_order(task: str) -> tuple[int, str]:
    """A key that sorts the paper's tasks first, in the order of its columns."""
    return _place(PAPER_TASKS, task), task


def _place(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def _names(runs: Sequence[RunTable]) -> list[str]:
    """What to call each run's model: with the folder where its name alone would mix runs."""
    mixed = set()
    for model in {run.model for run in runs}:
        own = [run for run in runs if run.model == model]
        places = Counter((run.setting, run.task) for run in own)
        settings = {_dump(run.header["model"]) for run in own}
        folders = {run.folder for run in own}
        if max(places.values()) > 1 or (len(settings) > 1 and len(folders) > 1):
            mixed.add(model)
    return [f"{run.model} ({run.folder})" if run.model in mixed else run.model for run in runs]


def _differing(named: Sequence[tuple[str, RunTable]]) -> list[str]:
    """A note on each model whose runs were not all made alike."""
    notes = []
    for name in dict.fromkeys(name for name, _ in named):
        own = [run for other, run in named if other == name]
        for key in ("model", "prompts", "package"):
            if len({_dump(run.header.get(key)) for run in own}) > 1:
                what = "settings of the model" if key == "model" else key
                notes.append(f"{name}: its runs differ in the {what}; see the configuration")
    return notes


def _other_questions(runs: Sequence[RunTable]) -> list[str]:
    """A note on each task of the paper's whose questions are not the paper's."""
    folders: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        source = run.header["source"]
        if run.task in PAPER_TASKS and not of_blink(run):
            about = [str(source[key]) for key in ("name", "split") if source.get(key) is not None]
            count = "" if source.get("n") is None else f", {source['n']} in all"
            questions = (
                f"its questions ({' '.join([source['kind'], *about])}{count}) are not "
                "known to be BLINK's, which the paper's numbers are about; they are in no mean, and no "
                "number of the paper stands beside them"
            )
            folders.setdefault((run.task, questions), []).append(str(run.folder))
    return [
        f"{task} in {', '.join(dict.fromkeys(places))}: {questions}"
        for (task, questions), places in folders.items()
    ]


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _groups(runs: Sequence[RunTable]) -> dict[str, dict[str, str]]:
    """The group of each sample that has one, by task: failed tries do not say theirs."""
    groups: dict[str, dict[str, str]] = {run.task: {} for run in runs}
    for run in runs:
        groups[run.task] |= {r["id"]: r["group"] for r in run.records if r["group"] is not None}
    return groups


def _lines(name: str, run: RunTable, groups: Mapping[str, str]) -> list[Line]:
    split = sorted({r["group"] for r in run.records if r["group"] is not None}, key=natural)
    return [_line(name, run, None, groups), *(_line(name, run, group, groups) for group in split)]


def _line(name: str, run: RunTable, group: str | None, groups: Mapping[str, str]) -> Line:
    records = [r for r in run.records if group is None or r["group"] == group]
    counts = Counter(map(outcome, records))
    known, asked = paper_model(run.model), paper_questions(run.task, group, run.header["source"])
    value = None if known is None else paper_value(known, run.setting, run.task, group)
    return Line(
        model=name,
        setting=run.setting,
        task=run.task,
        group=group,
        score=Score(
            right=counts["right"],
            n=len(records) - counts["unanswered"],
            unparsed=counts["unparsed"],
            errors=sum(group is None or groups.get(key) == group for key in run.errors),
            unanswered=counts["unanswered"],
        ),
        effort=_effort(records),
        run=run,
        paper_model=known,
        paper=None if asked is None else value,
        paper_n=asked,
    )


def _effort(records: Sequence[Mapping[str, Any]]) -> Effort:
    images = [tokens for record in records if (tokens := _image_tokens(record)) is not None]
    written = [record["usage"].get("completion_tokens") for record in records]
    answers = [
        record["text_tokens"].get("answer", 0) if count is None else count
        for record, count in zip(records, written, strict=True)
    ]
    costs = [c for record in records if (c := record["usage"].get("cost")) is not None]
    return Effort(
        records=len(records),
        text={
            part: _mean([record["text_tokens"].get(part, 0) for record in records]) or 0.0
            for part in _TEXT_PARTS
        },
        images=_mean(images),
        answer=_mean(answers),
        answer_estimated=None in written,
        cost=math.fsum(costs) if costs else None,
        priced=len(costs),
        seconds=_mean([record["seconds"] for record in records]),
    )


def _image_tokens(record: Mapping[str, Any]) -> float | None:
    """What the provider read less the estimate of the text; None where it does not say."""
    if not any("picture" in part for message in record["messages"] for part in message["parts"]):
        return 0.0
    read = record["usage"].get("prompt_tokens")
    text = sum(count for part, count in record["text_tokens"].items() if part != "answer")
    return None if read is None else max(0.0, float(read - text))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _pairs(named: Sequence[tuple[str, RunTable]]) -> tuple[list[Pair], list[str]]:
    """Every two settings of a model on a task; samples whose key differs are left out and noted."""
    pairs, notes = [], []
    for (name, first), (other, second) in itertools.combinations(named, 2):
        if name != other or first.task != second.task:
            continue
        keys = {r["id"]: r["answer"] for r in second.records}
        changed = {r["id"] for r in first.records if keys.get(r["id"], r["answer"]) != r["answer"]}
        if changed:
            notes.append(
                f"{name}, {first.task}, {first.setting} and {second.setting}: samples whose right "
                f"answer differs between the two are not compared: {len(changed)}"
            )
        right = [
            {r["id"]: outcome(r) == "right" for r in run.records if outcome(r) != "unanswered"}
            for run in (first, second)
        ]
        kept = {key: value for key, value in right[0].items() if key not in changed}
        pairs.append(Pair(name, first.task, first.setting, second.setting, compare(kept, right[1])))
    return sorted(pairs, key=lambda p: (p.model, task_order(p.task))), notes
