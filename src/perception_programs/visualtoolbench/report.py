"""The report: the benchmark's tables for the runs at hand, beside the published ones."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation

from .failures import FAILURE_KINDS, failures_of
from .operations import OPERATIONS
from .results import Result, Run
from .scores import Summary, interval, passes, score, summarise
from .tasks import DOMAINS

__all__ = ["PUBLISHED", "Row", "Table", "rows", "tables", "to_csv", "to_markdown"]

PUBLISHED: Mapping[str, float] = {
    "GPT-5-think": 18.68,
    "GPT-5": 16.96,
    "o3": 13.74,
    "Gemini-2.5-pro": 11.75,
    "o4-mini": 11.12,
    "Claude-sonnet-4.5-think": 6.20,
}
"""APR in percent over all tasks, as the benchmark's authors publish it."""

_FEWEST = 3  # of runs, for a correlation over them


@dataclass(frozen=True)
class Row:
    """The numbers of some tasks of a run.

    Attributes:
        run: its name.
        group: `all`, `domain`, `turns` or `focus`.
        value: which of the group.
        summary: the numbers.
        apr: the bootstrap's interval of APR at 95%, or None without tasks.
        ars: that of ARS.
    """

    run: str
    group: str
    value: str
    summary: Summary
    apr: tuple[float, float] | None
    ars: tuple[float, float] | None


def rows(run: Run) -> list[Row]:
    """The numbers of a run: of all tasks, and by domain, number of turns and focus."""

    def row(group: str, value: str, results: Sequence[Result]) -> Row:
        judged = [result.judged for result in results]
        return Row(
            run.name,
            group,
            value,
            summarise(judged),
            interval(judged, passes),
            interval(judged, score),
        )

    def grouped(group: str, of: Callable[[Result], str], order: Sequence[str] = ()) -> list[Row]:
        values = list(dict.fromkeys([*order, *sorted({of(result) for result in run.results})]))
        return [
            row(group, value, chosen)
            for value in values
            if (chosen := [result for result in run.results if of(result) == value])
        ]

    return [
        row("all", "all", run.results),
        *grouped("domain", lambda result: result.task.domain, DOMAINS),
        *grouped("turns", lambda result: "multi" if result.task.multi else "single"),
        *grouped("focus", lambda result: result.task.focus),
    ]


def to_csv(runs: Sequence[Run]) -> str:
    """The numbers of some runs as CSV: one row a run and group of tasks."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        [
            "run",
            "group",
            "value",
            "n",
            "apr",
            "apr_low",
            "apr_high",
            "apr_flag",
            "ars",
            "ars_low",
            "ars_high",
            "proactivity",
            "success",
            "volume",
        ]
    )
    for row in (one for run in runs for one in rows(run)):
        told = row.summary
        writer.writerow(
            [
                *(row.run, row.group, row.value, told.n, told.apr, *(row.apr or ("", ""))),
                *(told.apr_flag, told.ars, *(row.ars or ("", "")), told.proactivity),
                *(told.success, told.volume),
            ]
        )
    return file.getvalue()


@dataclass(frozen=True)
class Table:
    """One table of the report.

    Attributes:
        title: what it is about.
        head: its columns.
        lines: its rows, as text.
        notes: what is said before it, a paragraph each.
    """

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def tables(runs: Sequence[Run]) -> list[Table]:
    """The tables of some runs."""
    return [
        _overall(runs),
        *(_groups(runs, group) for group in ("domain", "turns", "focus")),
        _operations(runs),
        _failures(runs),
        _correlations(runs),
    ]


def to_markdown(runs: Sequence[Run]) -> str:
    """The report of some runs as Markdown."""
    parts = ["# VisualToolBench"]
    for table in tables(runs):
        parts += [f"## {table.title}", *table.notes, _markdown(table)]
    return "\n\n".join(parts) + "\n"


def _overall(runs: Sequence[Run]) -> Table:
    lines = []
    for run in runs:
        row = rows(run)[0]
        told = row.summary
        lines.append(
            (
                run.name,
                str(told.n),
                _percent(told.apr, row.apr),
                _percent(told.apr_flag),
                _percent(told.ars, row.ars),
                _percent(told.proactivity),
                _percent(told.success),
                "–" if told.volume is None else f"{told.volume:.2f}",
            )
        )
    for name, apr in PUBLISHED.items():
        lines.append((f"{name} (published)", "1204", f"{apr:.2f}", "–", "–", "–", "–", "–"))
    head = ("", "n", "APR % (weight ≥ 4)", "APR % (marked critical)", "ARS %")
    notes = [
        f"{run.name}: {len(run.unplayed)} tasks not played, {len(run.unjudged)} without a verdict, "
        f"{run.errors} errors; none of these is in the table."
        for run in runs
    ]
    return Table(
        "All tasks",
        (*head, "proactivity %", "valid calls %", "calls a task"),
        tuple(lines),
        ("Intervals are the bootstrap's over tasks, at 95%.", *notes),
    )


def _groups(runs: Sequence[Run], group: str) -> Table:
    lines = tuple(
        (
            row.run,
            row.value,
            str(row.summary.n),
            _percent(row.summary.apr, row.apr),
            _percent(row.summary.ars, row.ars),
        )
        for run in runs
        for row in rows(run)
        if row.group == group
    )
    return Table(f"By {group}", ("", group, "n", "APR %", "ARS %"), lines)


def _operations(runs: Sequence[Run]) -> Table:
    lines = []
    for run in runs:
        found: Counter[str] = Counter()
        for result in run.results:
            for call in result.play.calls:
                found.update(call["operations"])
        lines.append((run.name, *(str(found[name]) for name in OPERATIONS)))
    return Table("What was done to pictures", ("", *OPERATIONS), tuple(lines))


def _failures(runs: Sequence[Run]) -> Table:
    lines = []
    kinds = (*FAILURE_KINDS, "not sorted")
    for run in runs:
        known = failures_of(run.folder)
        failed = [result for result in run.results if not result.passed]
        found = Counter(known.get((one.task.id, one.digest), "not sorted") for one in failed)
        lines.append((run.name, str(len(failed)), *(str(found[kind]) for kind in kinds)))
    return Table("Failures", ("", "failed", *kinds), tuple(lines))


def _correlations(runs: Sequence[Run]) -> Table:
    lines = [
        (
            run.name,
            _r([(float(one.passed), float(bool(one.judged.calls))) for one in run.results]),
            _r([(float(one.passed), float(len(one.judged.calls))) for one in run.results]),
        )
        for run in runs
    ]
    told = [rows(run)[0].summary for run in runs]
    full = [one for one in told if None not in (one.apr, one.proactivity, one.volume)]
    if len(full) >= _FEWEST:
        pairs = [(one.apr or 0.0, one.proactivity or 0.0) for one in full]
        more = [(one.apr or 0.0, one.volume or 0.0) for one in full]
        lines.append((f"over {len(full)} runs", _r(pairs), _r(more)))
    note = "Pearson's r, over tasks; – where one of the two does not vary."
    head = ("", "passing and calling at all", "passing and number of calls")
    return Table("Passing and calling", head, tuple(lines), (note,))


def _r(pairs: Sequence[tuple[float, float]]) -> str:
    try:
        r = correlation(*zip(*pairs, strict=True)) if len(pairs) > 1 else math.nan
    except StatisticsError:
        r = math.nan
    return "–" if math.isnan(r) else f"{r:.2f}"


def _percent(value: float | None, bounds: tuple[float, float] | None = None) -> str:
    if value is None:
        return "–"
    shown = f"{100 * value:.2f}"
    return shown if bounds is None else f"{shown} ({100 * bounds[0]:.1f}–{100 * bounds[1]:.1f})"


def _markdown(table: Table) -> str:
    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    ruled = "|" + "|".join(["---", *["---:"] * (len(table.head) - 1)]) + "|"
    return "\n".join([row(table.head), ruled, *map(row, table.lines)])
