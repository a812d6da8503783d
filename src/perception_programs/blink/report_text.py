"""Reports as text: Markdown, and CSV with one row a number."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

from .report_data import Line, Report
from .report_tables import NONE, Cell, Table, paper_tables, tables

__all__ = ["configuration", "encodable", "files", "to_csv", "to_markdown"]

_CONFIGURATION = {
    "model": "Models",
    "source": "Questions",
    "tools": "Tools",
    "prompts": "Prompts",
    "package": "Version of the package that ran them",
}


def encodable(text: str) -> str:
    r"""Text that any file takes: half of a surrogate pair, which a model may write and a name may
    have, has no UTF-8 and becomes an escape.

    >>> encodable("half \ud83d")
    'half \\ud83d'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def configuration(report: Report) -> list[tuple[str, list[tuple[Any, list[str]]]]]:
    """What made the numbers: each part of the configuration with its different values and the runs
    that had each of them.
    """
    parts = []
    for key, title in _CONFIGURATION.items():
        values: dict[str, tuple[Any, list[str]]] = {}
        for name, run in zip(report.models, report.runs, strict=True):
            value = run.header.get(key)
            label = f"{name} · {run.task} · {run.setting}"
            values.setdefault(json.dumps(value, sort_keys=True), (value, []))[1].append(label)
        if len(values) == 1:
            values = {key: (value, ["all runs"]) for key, (value, _) in values.items()}
        parts.append((title, list(values.values())))
    return parts


def files(report: Report) -> Table:
    """The files that the numbers come from."""
    return Table(
        title="Files",
        head=("model", "setting", "task", "records", "begun", "file"),
        rows=tuple(
            (
                Cell(name),
                Cell(run.setting),
                Cell(run.task.replace("_", " ")),
                Cell(str(len(run.records))),
                Cell(str(run.header.get("created", NONE))),
                Cell(str(run.path)),
            )
            for name, run in zip(report.models, report.runs, strict=True)
        ),
        note="",
        names=6,
    )


def to_markdown(report: Report) -> str:
    """The report as Markdown, in the dialect that has tables."""
    parts = ["# BLINK report", f"Made by perception-programs {report.package}."]
    if report.notes:
        parts.append("\n".join(f"- {_plain(note)}" for note in report.notes))
    parts += [_markdown_table(table) for table in (*tables(report), *paper_tables(report))]
    parts += ["## Configuration", _markdown_body(files(report))]
    for title, values in configuration(report):
        parts.append(f"### {title}")
        for value, labels in values:
            body = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
            parts += ["\n".join(f"- {_plain(label)}" for label in labels), f"```json\n{body}\n```"]
    return encodable("\n\n".join(parts) + "\n")


def to_csv(report: Report) -> str:
    """The report as CSV: a row for each model, setting, task, and group of its samples.

    Accuracies are in percent, costs in US dollars; an empty field is a number that is not known.
    """
    file = io.StringIO()
    rows = [_csv_row(line) for line in report.lines]
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return encodable(file.getvalue())


def _csv_row(line: Line) -> dict[str, Any]:
    score, effort = line.score, line.effort
    low, high = score.interval or (None, None)
    return {
        "model": line.model,
        "setting": line.setting,
        "task": line.task,
        "group": line.group or "",
        "accuracy": _number(score.accuracy, 100, 2),
        "low": _number(low, 100, 2),
        "high": _number(high, 100, 2),
        "n": score.n,
        "right": score.right,
        "unparsed": score.unparsed,
        "errors": score.errors,
        "unanswered": score.unanswered,
        "paper_model": line.paper_model or "",
        "paper_accuracy": _number(line.paper, 1, 2),
        **{f"tokens_{part}": _number(count, 1, 1) for part, count in effort.text.items()},
        "tokens_images": _number(effort.images, 1, 1),
        "tokens_answer": _number(effort.answer, 1, 1),
        "answer_estimated": str(effort.answer_estimated).lower(),
        "cost": _number(effort.cost, 1, 6),
        "cost_samples": effort.priced,
        "seconds": _number(effort.seconds, 1, 3),
        "file": str(line.run.path),
        **{
            "model_settings" if key == "model" else key: json.dumps(
                line.run.header.get(key), sort_keys=True
            )
            for key in _CONFIGURATION
        },
    }


def _number(value: float | None, factor: float, digits: int) -> str:
    return "" if value is None else f"{value * factor:.{digits}f}"


def _markdown_table(table: Table) -> str:
    return f"## {table.title}\n\n{table.note}\n\n{_markdown_body(table)}"


def _markdown_body(table: Table) -> str:
    rule = ["---"] * table.names + ["---:"] * (len(table.head) - table.names)
    head = list(map(_plain, table.head))
    rows = [head, rule, *([_markdown_cell(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _markdown_cell(cell: Cell) -> str:
    return _plain(cell.text) + (f" {_plain(cell.detail)}" if cell.detail else "")


def _plain(text: str) -> str:
    r"""Text as Markdown that stands for itself, on one line.

    >>> _plain("a|b <i> *c*")
    'a\\|b &lt;i> \\*c\\*'
    """
    line = " ".join(text.split())
    return re.sub(r"([\\`*|])", r"\\\1", line.replace("&", "&amp;").replace("<", "&lt;"))
