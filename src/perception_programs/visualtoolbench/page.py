"""A run as one page of HTML: each task with its pictures, calls, transformed pictures and verdicts."""

from __future__ import annotations

import html
import importlib.resources
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..images import to_pil
from ..view._document import SEALED, document, page_style
from ..view._inline import THUMBNAIL_BYTES, data_uri
from ..view._type import visible_lines
from .report import tables
from .results import Result, Run

__all__ = ["to_html"]

_PICTURE = 900  # pixels of the longer side
_LONGEST = 6000  # characters of one text


def to_html(runs: Sequence[Run]) -> str:
    """Some runs as a page that needs nothing but itself: no network and no other file.

    Tasks can be chosen by run, domain, number of turns, focus and outcome. Each shows its questions with
    their pictures, what was called and what came of it, the answers, and each criterion's verdict.

    Args:
        runs: what to show.
    """
    results = [(run, result) for run in runs for result in run.results]
    body = (
        "<header><h1>VisualToolBench</h1></header>\n<main>\n"
        f"{_report(runs)}"
        f"{_choices(results)}"
        f"{''.join(_task(run, result) for run, result in results)}</main>\n"
        f"<script>\n{_file('page.js')}</script>\n"
    )
    style = page_style() + _file("page.css")
    head = SEALED.format("script-src 'unsafe-inline'; ")
    page = document("VisualToolBench", style, body, head=head)
    return page.encode("utf-8", "backslashreplace").decode("utf-8")


def _file(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text("utf-8")


def _report(runs: Sequence[Run]) -> str:
    parts = []
    for table in tables(runs):
        head = "".join(f"<th>{_e(cell)}</th>" for cell in table.head)
        lines = "".join(
            f"<tr>{''.join(f'<td>{_e(cell)}</td>' for cell in line)}</tr>" for line in table.lines
        )
        notes = "".join(f"<p>{_e(note)}</p>" for note in table.notes)
        parts.append(
            f'<h2>{_e(table.title)}</h2>{notes}<div class="wide"><table><tr>{head}</tr>{lines}</table></div>'
        )
    return f'<details open class="report"><summary>Tables</summary>{"".join(parts)}</details>\n'


def _marks(run: Run, result: Result) -> dict[str, str]:
    """By what a task can be chosen."""
    task = result.task
    return {
        "run": run.name,
        "domain": task.domain,
        "turns": "multi" if task.multi else "single",
        "focus": task.focus,
        "outcome": "passed" if result.passed else "failed",
    }


def _choices(results: Sequence[tuple[Run, Result]]) -> str:
    marks = [_marks(run, result) for run, result in results]
    fields = []
    for name in ("run", "domain", "turns", "focus", "outcome"):
        values = sorted({mark[name] for mark in marks})
        options = "".join(f'<option value="{_e(value)}">{_e(value)}</option>' for value in values)
        fields.append(
            f'<label>{name} <select data-of="{name}"><option value="">all</option>{options}</select></label>'
        )
    return f'<form class="choices">{"".join(fields)}<output id="count"></output></form>\n'


def _task(run: Run, result: Result) -> str:
    marks = _marks(run, result)
    data = " ".join(f'data-{name}="{_e(value)}"' for name, value in marks.items())
    title = (
        f"{_e(result.task.id)} · {_e(marks['domain'])} · {_e(marks['focus'])} · "
        f"{100 * result.score:.0f} % of the weight · {_e(run.name)}"
    )
    turns = "".join(_turn(result, turn) for turn in range(len(result.task.turns)))
    return f'<details class="task {marks["outcome"]}" {data}><summary>{title}</summary>{turns}</details>\n'


def _turn(result: Result, turn: int) -> str:
    task = result.task.turns[turn]
    lines = [line for line in result.play.lines if line["turn"] == turn]
    before = sum(len(earlier.images) for earlier in result.task.turns[:turn])
    given = [f"image_{before + n}.png" for n in range(len(task.images))]
    calls = [call for line in lines for call in line.get("calls", ())]
    said = [
        part["text"]
        for line in lines
        for message in line["messages"]
        if message["role"] == "tool"
        for part in message["parts"]
    ]
    folder = result.play.folder / "pictures"
    shown = "".join(
        _call(call, text, folder)
        for call, text in zip(calls, [*said, *[""] * len(calls)], strict=False)
    )
    return (
        f'<section class="turn"><h3>Turn {turn + 1}</h3><p class="words">{_text(task.prompt)}</p>'
        f"{_pictures(folder, given)}{shown}"
        f'<h4>Answer</h4><p class="words">{_text(result.answers[turn])}</p>'
        f'<h4>Reference</h4><p class="words">{_text(task.golden_answer)}</p>'
        f"{_verdicts(result, turn)}</section>"
    )


def _call(call: Mapping[str, Any], said: str, folder: Path) -> str:
    arguments = call["arguments"]
    code = arguments.get("code") if isinstance(arguments, dict) else None
    asked = code if isinstance(code, str) else json.dumps(arguments, ensure_ascii=False)
    outcome = "refused" if call["refused"] else "valid" if call["valid"] else "invalid"
    return (
        f'<div class="call {outcome}"><h4>{_e(str(call["name"]))} <span>{outcome}</span></h4>'
        f"<pre>{_text(asked)}</pre><pre>{_text(said)}</pre>{_pictures(folder, call['pictures'])}</div>"
    )


def _verdicts(result: Result, turn: int) -> str:
    rows = []
    for criterion in result.task.turns[turn].rubric:
        verdict = result.verdicts[turn, criterion.id]
        word = "met" if verdict.met else "not met"
        critical = ", critical" if criterion.critical else ""
        rows.append(
            f'<tr class="{word.replace(" ", "-")}"><td>{word}</td><td>{criterion.weight}{critical}</td>'
            f"<td>{_text(criterion.description)}</td><td>{_text(verdict.explanation)}</td></tr>"
        )
    head = "<tr><th>verdict</th><th>weight</th><th>criterion</th><th>why</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _pictures(folder: Path, names: Sequence[str]) -> str:
    figures = []
    for name in names:
        try:
            picture = to_pil(str(folder / name))
        except InputError as error:
            figures.append(f'<p class="gone">{_e(name)}: {_e(str(error))}</p>')
            continue
        picture.thumbnail((_PICTURE, _PICTURE))
        address = data_uri(picture, THUMBNAIL_BYTES)
        figures.append(
            f'<figure><img src="{address}" alt="{_e(name)}" width="{picture.width}" '
            f'height="{picture.height}" loading="lazy"><figcaption>{_e(name)}</figcaption></figure>'
        )
    return f'<div class="pictures">{"".join(figures)}</div>' if figures else ""


def _text(text: str) -> str:
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return _e(visible_lines(cut))


def _e(text: str) -> str:
    return html.escape(text, quote=True)
