"""What a ladder shows: accuracy, calls, and what each tool changed."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from .._statistics import CONFIDENCE, Comparison, compare, wilson
from ..view.markdown import plain
from .ladder import Ladder, Result
from .settings import RUNGS

__all__ = ["LadderReport", "RungReport", "ladder_report"]

_BASE = "no-tools"
_MINUS = "−"


@dataclass(frozen=True)
class RungReport:
    """One rung.

    Attributes:
        rung: which.
        right: questions answered right.
        n: questions answered.
        failed: questions without an answer, which count for nothing else here.
        interval: Wilson's interval of the accuracy; None without answers.
        calls: tool calls a question.
        engagement: the share of questions with at least one call; None without answers.
        unsupported: questions whose answer names what was never made.
        by_tool: for each tool, its calls by what came of them.
        tokens: of prompts and replies, a question.
        cost: US dollars of all; None where nobody said.
        seconds: a question.
        change: against the same questions without tools; None for that rung itself, or where it is missing.
        change_by_tool: the same, over the questions that used each tool.
    """

    rung: str
    right: int
    n: int
    failed: int
    interval: tuple[float, float] | None
    calls: float | None
    engagement: float | None
    unsupported: int
    by_tool: dict[str, dict[str, int]]
    tokens: float | None
    cost: float | None
    seconds: float | None
    change: Comparison | None
    change_by_tool: dict[str, Comparison]

    @property
    def accuracy(self) -> float | None:
        """The share that is right; None without answers."""
        return self.right / self.n if self.n else None


@dataclass(frozen=True)
class LadderReport:
    """All rungs, in order, and the results that they were counted from."""

    rungs: tuple[RungReport, ...]
    ladder: Ladder

    def to_markdown(self) -> str:
        """Tables."""
        parts = ["# The ladder", _accuracies(self.rungs)]
        tools = list(dict.fromkeys(name for rung in self.rungs for name in rung.by_tool))
        if tools:
            parts += ["## Calls by capability", _calls(self.rungs, tools)]
        if any(rung.change_by_tool for rung in self.rungs):
            parts += [
                "## What changed on the questions that used a capability",
                "Accuracy on those questions against the same ones without tools. Questions that a model takes "
                "up a tool for are not drawn by lot: this describes them, and proves no cause.",
                _changes(self.rungs),
            ]
        if self.ladder.failed:
            parts.append("## Failed")
            failed = (f"{one.rung}, {one.id}: {one.error}" for one in self.ladder.failed)
            parts.append("\n".join(f"- {plain(line)}" for line in failed))
        return "\n\n".join(parts) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        rungs = []
        for rung in self.rungs:
            data = {**asdict(rung), "accuracy": rung.accuracy}
            data["change"] = None if rung.change is None else _told(rung.change)
            data["change_by_tool"] = {k: _told(v) for k, v in rung.change_by_tool.items()}
            rungs.append(data)
        return {
            "confidence": CONFIDENCE,
            "rungs": rungs,
            "failed": [asdict(one) for one in self.ladder.failed],
        }

    def to_csv(self) -> str:
        """A row for each question on each rung."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        head = ("rung", "id", "right", "answer", "calls", "tools", "unsupported", "tokens", "cost")
        writer.writerow([*head, "seconds", "error"])
        for one in self.ladder.results:
            tools = " ".join(name for name, _ in one.calls)
            row = [one.rung, one.id, int(one.right), one.answer, len(one.calls), tools]
            cost = "" if one.cost is None else one.cost
            writer.writerow([*row, " ".join(one.unsupported), one.tokens, cost, one.seconds, ""])
        for failed in self.ladder.failed:
            writer.writerow([failed.rung, failed.id, *[""] * 8, failed.error])
        return file.getvalue()

    def write(self, folder: Path) -> None:
        """Write `report.md`, `report.json` and `results.csv`."""
        data = json.dumps(self.to_dict(), indent=1, ensure_ascii=False)
        files = {
            "report.md": self.to_markdown(),
            "report.json": data + "\n",
            "results.csv": self.to_csv(),
        }
        for name, text in files.items():
            data_of_file = text.encode("utf-8", "backslashreplace")
            (folder / name).write_bytes(data_of_file)


def ladder_report(ladder: Ladder) -> LadderReport:
    """Count a ladder."""
    base = ladder.right(_BASE) if _BASE in ladder.rungs else None
    return LadderReport(tuple(_rung(ladder, rung, base) for rung in ladder.rungs), ladder)


def _rung(ladder: Ladder, rung: str, base: dict[str, bool] | None) -> RungReport:
    results = [one for one in ladder.results if one.rung == rung]
    right, n = sum(one.right for one in results), len(results)
    compared = None if base is None or rung == _BASE else base
    by_tool: dict[str, Counter[str]] = {}
    for name, outcome in (call for one in results for call in one.calls):
        by_tool.setdefault(name, Counter())[outcome] += 1
    costs = [one.cost for one in results if one.cost is not None]
    return RungReport(
        rung,
        right,
        n,
        sum(one.rung == rung for one in ladder.failed),
        wilson(right, n),
        _mean(len(one.calls) for one in results),
        _mean(bool(one.calls) for one in results),
        sum(bool(one.unsupported) for one in results),
        {name: dict(counts) for name, counts in by_tool.items()},
        _mean(one.tokens for one in results),
        sum(costs) if costs else None,
        _mean(one.seconds for one in results),
        None if compared is None else compare(compared, ladder.right(rung)),
        {} if compared is None else {t: _change(results, t, compared) for t in by_tool},
    )


def _change(results: Sequence[Result], tool: str, base: dict[str, bool]) -> Comparison:
    """The questions that asked for a tool, against the same ones without tools."""
    used = {one.id: one.right for one in results if any(name == tool for name, _ in one.calls)}
    return compare(base, used)


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return fmean(listed) if listed else None


def _told(one: Comparison) -> dict[str, Any]:
    return {
        **asdict(one),
        "n": one.n,
        "difference": one.difference,
        "interval": one.interval,
        "p": one.p,
    }


def _accuracies(rungs: Sequence[RungReport]) -> str:
    rows = [
        (
            one.rung,
            _percent(one.accuracy),
            _interval(one.interval),
            f"{one.right}/{one.n}",
            str(one.failed),
            "–" if one.change is None else _points(one.change),
            "–" if one.calls is None else f"{one.calls:.2f}",
            _percent(one.engagement),
            str(one.unsupported),
            "–" if one.tokens is None else f"{one.tokens:,.0f}",
            "–" if one.cost is None else f"${one.cost:.4f}",
            "–" if one.seconds is None else f"{one.seconds:.1f}",
        )
        for one in rungs
    ]
    head = (
        *("rung", "accuracy", "95% interval", "right", "failed", "against no tools"),
        *("calls a question", "engagement", "unsupported", "tokens a question", "cost", "seconds"),
    )
    return _table(head, rows)


def _calls(rungs: Sequence[RungReport], tools: Sequence[str]) -> str:
    rows = []
    for tool in tools:
        cells = []
        for one in (rung for rung in rungs if RUNGS[rung.rung].tools):
            counts = one.by_tool.get(tool, {})
            said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
            cells.append(f"{sum(counts.values())} ({said})" if counts else "0")
        rows.append((tool, *cells))
    names = [rung.rung for rung in rungs if RUNGS[rung.rung].tools]
    return _table(("capability", *names), rows)


def _changes(rungs: Sequence[RungReport]) -> str:
    rows = [
        (one.rung, tool, str(change.n), _points(change), str(change.second), str(change.first))
        for one in rungs
        for tool, change in one.change_by_tool.items()
    ]
    head = ("rung", "capability", "questions", "change", "newly right", "newly wrong")
    return _table(head, rows)


def _points(change: Comparison) -> str:
    """A change in percentage points, with its interval."""
    if change.difference is None or change.interval is None:
        return "–"
    low, high = (f"{100 * end:+.1f}".replace("-", _MINUS) for end in change.interval)
    return f"{100 * change.difference:+.1f}".replace("-", _MINUS) + f" ({low} to {high})"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}%"


def _interval(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else f"{100 * ends[0]:.1f}–{100 * ends[1]:.1f}%"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(map(plain, row))} |" for row in rows]
    return "\n".join(lines)
