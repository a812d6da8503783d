"""The tables of a report, whatever they are printed as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .paper_table import PAPER_TASKS, paper_cells, paper_value
from .report_data import Effort, Line, Report, Score, of_blink, task_order
from .run_tables import natural

__all__ = ["NONE", "Cell", "Table", "paper_tables", "tables"]

NONE = "–"
"""What stands where there is nothing to say."""

OWN = "own questions"
"""What marks numbers about questions that are not the benchmark's, beside others that are."""

_INTERVAL = "the brackets are Wilson's 95% interval"


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table.

    Attributes:
        text: the number or name.
        detail: what is said beside it, smaller.
        where: what it counts, by the names of the page's filters; None where it counts no samples.
    """

    text: str
    detail: str = ""
    where: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes:
        title: its heading.
        head: the names of its columns.
        rows: its cells; the first `names` of a row say what it is about.
        note: how to read it.
        names: how many columns are names.
        faint: the numbers of the rows that are there to compare with.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str
    names: int = 2
    faint: frozenset[int] = frozenset()


def tables(report: Report) -> list[Table]:
    """The tables of what a report counts, in order; those that would be empty are left out."""
    found = [_accuracy(report), _pairs(report), _tokens(report)]
    return [table for table in found if table.rows]


def paper_tables(report: Report) -> list[Table]:
    """The paper's own table to compare with; none where every run is about questions of one's own."""
    return [_paper()] if any(map(of_blink, report.runs)) else []


def _accuracy(report: Report) -> Table:
    """The paper's Table 1 for the runs at hand, the paper's own numbers under each row."""
    columns = list(dict.fromkeys((line.task, line.group) for line in _in_columns(report)))
    lines = {(line.model, line.setting, line.task, line.group): line for line in report.lines}
    rows: list[tuple[Cell, ...]] = []
    faint = set()
    for model, setting in dict.fromkeys((line.model, line.setting) for line in report.lines):
        found = [lines.get((model, setting, *column)) for column in columns]
        present = [
            line for line in found if line and line.group is None and line.paper_n is not None
        ]
        mean = _mean_cell([line.score.accuracy for line in present], 100, 1)
        rows.append((Cell(model), Cell(setting), mean, *map(_score_cell, found)))
        papers = [line.paper for line in found if line is not None and line.paper is not None]
        if papers:
            faint.add(len(rows))
            name = next(line.paper_model for line in found if line is not None)
            rows.append(
                (
                    Cell(f"paper: {name}"),
                    Cell(setting),
                    _mean_cell([line.paper for line in present], 1, 2),
                    *map(_paper_cell, found),
                )
            )
    return Table(
        title="Accuracy",
        head=("model", "setting", "mean", *(_column(*column) for column in columns)),
        rows=tuple(rows),
        note=f"Percent of n samples; {_INTERVAL}. Answers without an option that could be read are "
        "unparsed and count as wrong. Errors are samples that got no answer; they don't count in n. "
        "The mean is over the tasks of the paper that were run; HardBLINK counts once. The paper's "
        "numbers are on all questions of a task, however few of them a run is about.",
        faint=frozenset(faint),
    )


def _in_columns(report: Report) -> list[Line]:
    """The lines in the order of the table's columns."""
    tasks = sorted({line.task for line in report.lines}, key=task_order)
    groups = {line.group for line in report.lines if line.group is not None}
    split = [None, *sorted(groups, key=natural)]
    return sorted(report.lines, key=lambda ln: (tasks.index(ln.task), split.index(ln.group)))


def _column(task: str, group: str | None) -> str:
    name = task.replace("_", " ")
    return name if group is None else f"{name}, {group}"


def _score_cell(line: Line | None) -> Cell:
    if line is None:
        return Cell(NONE)
    score = line.score
    where = {"model": line.model, "setting": line.setting, "task": line.task}
    if line.group is not None:
        where["group"] = line.group
    detail = " · ".join([*_own(line), _score_detail(score)])
    return Cell(_percent(score.accuracy, 100, 1), detail, where)


def _own(line: Line) -> list[str]:
    """What marks numbers under a task's name of the paper's that are about other questions."""
    return [OWN] if line.task in PAPER_TASKS and not of_blink(line.run) else []


def _paper_cell(line: Line | None) -> Cell:
    if line is None or line.paper is None:
        return Cell(NONE)
    return Cell(_percent(line.paper, 1, 2), f"n {line.paper_n}")


def _score_detail(score: Score) -> str:
    parts = [] if score.interval is None else [_interval(score.interval, 100)]
    parts.append(f"n {score.n}")
    counts = {"unparsed": score.unparsed, "error": score.errors, "without key": score.unanswered}
    for what, count in counts.items():
        if count:
            parts.append(f"{count} {what}" + ("s" if what == "error" and count > 1 else ""))
    return " · ".join(parts)


def _mean_cell(values: Sequence[float | None], factor: float, digits: int) -> Cell:
    """The mean of the values that there are, and over how many tasks it is."""
    known = [value for value in values if value is not None]
    if not known:
        return Cell(NONE)
    count = f"over {len(known)} task" + ("" if len(known) == 1 else "s")
    return Cell(_percent(sum(known) / len(known), factor, digits), count)


def _percent(value: float | None, factor: float, digits: int) -> str:
    return NONE if value is None else f"{value * factor:.{digits}f}"


def _interval(limits: tuple[float, float], factor: float, sign: str = "") -> str:
    low, high = (f"{limit * factor:{sign}.1f}" for limit in limits)
    return f"[{low}, {high}]"


def _pairs(report: Report) -> Table:
    rows = []
    for pair in report.pairs:
        found = pair.comparison
        difference, limits = found.difference, found.interval
        rows.append(
            (
                Cell(pair.model),
                Cell(pair.task.replace("_", " ")),
                Cell(pair.first),
                Cell(pair.second),
                Cell(str(found.n)),
                Cell(NONE)
                if difference is None or limits is None
                else Cell(f"{difference * 100:+.1f}", _interval(limits, 100, "+")),
                *(Cell(str(n)) for n in (found.both, found.first, found.second, found.neither)),
                Cell("< 0.0001" if found.p < 0.0001 else f"{found.p:.4f}"),
            )
        )
    return Table(
        title="Settings compared",
        head=(
            "model",
            "task",
            "A",
            "B",
            "n",
            "B – A",
            "both right",
            "only A",
            "only B",
            "neither",
            "p",
        ),
        rows=tuple(rows),
        note="On the samples that both settings have answered: percentage points with Newcombe's 95% "
        "interval for paired proportions, and the p of McNemar's exact test, two-sided. The "
        "comparisons are not adjusted for their number.",
        names=4,
    )


def _tokens(report: Report) -> Table:
    rows = []
    for line in report.lines:
        if line.group is not None:
            continue
        effort = line.effort
        rows.append(
            (
                Cell(line.model),
                Cell(line.setting),
                Cell(line.task.replace("_", " "), "".join(_own(line))),
                *(Cell(_tokens_text(count, True)) for count in effort.text.values()),
                Cell(_tokens_text(effort.images, True)),
                Cell(_tokens_text(effort.answer, effort.answer_estimated)),
                *_cost_cells(effort),
                Cell(NONE if effort.seconds is None else f"{effort.seconds:.1f}"),
            )
        )
    return Table(
        title="Tokens, cost and time",
        head=(
            *("model", "setting", "task", "question", "program", "example", "instructions"),
            *("images", "answer", "cost, $", "a sample, $", "seconds"),
        ),
        rows=tuple(rows),
        note="Means a sample. ≈ marks estimates: of the parts of the text by a rule that needs no "
        "tokenizer, of the images by what the provider says it read less the text. Answers are what "
        "the provider says, hidden reasoning included, or else an estimate of what could be seen.",
        names=3,
    )


def _tokens_text(count: float | None, estimated: bool) -> str:
    if count is None:
        return NONE
    return f"≈ {count:,.0f}" if estimated and count else f"{count:,.0f}"


def _cost_cells(effort: Effort) -> tuple[Cell, Cell]:
    if effort.cost is None:
        return Cell(NONE), Cell(NONE)
    known = "" if effort.priced == effort.records else f"{effort.priced} of {effort.records} known"
    return Cell(f"{effort.cost:.4f}", known), Cell(f"{effort.cost / effort.priced:.6f}")


def _paper() -> Table:
    """The whole Table 1 of the paper."""
    groups = ("3 points", "4 points", "5 points")
    columns: list[tuple[str, str | None]] = []
    for task in PAPER_TASKS:
        columns.append((task, None))
        columns += [(task, group) for group in groups] if task == "HardBLINK" else []
    rows = []
    for model, setting in dict.fromkeys((cell.model, cell.setting) for cell in paper_cells()):
        values = [paper_value(model, setting, *column) for column in columns]
        own = [paper_value(model, setting, task, None) for task in PAPER_TASKS]
        rows.append(
            (
                Cell(model),
                Cell(setting or NONE),
                _mean_cell(own, 1, 2),
                *(Cell(_percent(value, 1, 2)) for value in values),
            )
        )
    return Table(
        title="The paper's Table 1",
        head=("model", "setting", "mean", *(_column(*column) for column in columns)),
        rows=tuple(rows),
        note="Percent, as published; the means are ours, over the tasks that have a number.",
        faint=frozenset(range(len(rows))),
    )
