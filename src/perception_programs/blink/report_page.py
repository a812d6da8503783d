"""A report as one page of HTML: its tables, and every sample to look at."""

from __future__ import annotations

import html
import importlib.resources
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from ..program import PerceptionProgram
from ..view._document import SEALED, document, page_style
from ..view._type import visible
from .coordinates import Coordinates
from .report_data import Report
from .report_pictures import Album
from .report_redrawn import asked_parts
from .report_tables import Cell, Table, paper_tables, tables
from .report_text import configuration, encodable, files
from .run_tables import RunTable, outcome
from .samples import Sample

__all__ = ["to_html"]

_OUTCOMES = ("right", "wrong", "unparsed", "error", "unanswered")


def to_html(
    report: Report,
    samples: Mapping[str, Sequence[Sample]] | None = None,
    *,
    redraw: bool = False,
    coordinates: Coordinates | None = None,
) -> str:
    """The report as a page that needs nothing but itself: no network, no fonts, no other file.

    What it shows of the samples is chosen by the part of its address behind `#`, which a person
    changes with the filters: `#task=Jigsaw&setting=p2&outcome=wrong`.

    Args:
        report: the report.
        samples: the questions of each task, whose pictures are put into the page, scaled down, each
            with its programs drawn on it; without them the page has no pictures.
        redraw: whether to draw the pictures of the setting `tool`, which a run does not keep, again
            with the experts that the run had, if they are here; their kept results are used. Without
            it, and where they are not, the page says so.
        coordinates: for those pictures, where a run had coordinates from a file: the same.
    """
    album = Album(samples or {}, redraw=redraw, coordinates=coordinates)
    texts = _Texts()
    data = {
        "runs": [
            {"model": _shown(name), "setting": _shown(run.setting), "task": _shown(run.task)}
            for name, run in zip(report.models, report.runs, strict=True)
        ],
        "outcomes": _OUTCOMES,
        "records": [
            entry
            for number, run in enumerate(report.runs)
            for entry in _entries(number, run, album, texts)
        ],
        "withPictures": samples is not None,
        "texts": texts.known,
    }
    sections = [
        *((table.title, _table(table)) for table in tables(report)),
        ("Samples", _template("report.html")),
        *((table.title, _table(table)) for table in paper_tables(report)),
        ("Configuration", _configuration(report)),
    ]
    links = "".join(f'<li><a href="#{_anchor(title)}">{title}</a></li>' for title, _ in sections)
    body = _notes(report) + "".join(section for _, section in sections)
    pictures = "".join(
        f'<script type="text/plain" id="picture-{number}">{address}</script>\n'
        for number, address in enumerate(album.addresses)
    )
    return encodable(
        document(
            "BLINK report",
            page_style() + _template("report.css"),
            f"<header>\n<h1>BLINK report</h1>\n"
            f"<p>Made by perception-programs {_escape(report.package)}.</p>\n"
            f'<nav aria-label="Contents"><ol>{links}</ol></nav>\n</header>\n'
            f'<main>\n{body}</main>\n<script type="application/json" id="data">{_json(data)}</script>\n'
            f"{pictures}<script>\n{_template('report.js')}</script>\n",
            # Nothing is fetched and only the page's own code runs, whatever a model wrote.
            head=SEALED.format("script-src 'unsafe-inline'; "),
        )
    )


class _Texts:
    """Texts by number, each kept once: prompts repeat themselves."""

    def __init__(self) -> None:
        self.known: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.known)
            self.known.append("\n".join(map(_shown, text.split("\n"))))
        return self._numbers[text]


def _entries(number: int, run: RunTable, album: Album, texts: _Texts) -> Iterator[dict[str, Any]]:
    """What the page knows of each sample of a run: its records, then what failed.

    What its filters choose by is as it is shown: no address can hold every text.
    """
    for record in run.records:
        yield {
            "run": number,
            "id": _shown(record["id"]),
            "group": None if record["group"] is None else _shown(record["group"]),
            "outcome": outcome(record),
            "answer": record["answer"],
            "parsed": record["parsed"],
            "how": record["how"],
            "asked": texts.number(_asked(record)),
            "options": {key: texts.number(text) for key, text in record["options"].items()},
            "prompt": [_turn(message, texts) for message in record["messages"]],
            "programs": [
                _program(p, run.task, record["id"], album, texts) for p in record["programs"]
            ],
            "raw": texts.number(record["raw"]),
            "facts": _facts(record),
            "pictures": album.question(run.task, record["id"]),
            "tools": [(texts.number(c), p) for c, p in album.tools(run, record)],
        }
    for key, failed in run.errors.items():
        tries = failed["attempts"]
        question = album.asked(run.task, key)
        yield {
            "run": number,
            "id": _shown(key),
            "group": None,
            "asked": None if question is None else texts.number(question),
            "outcome": "error",
            "raw": texts.number(failed["error"]),
            "facts": [f"stage: {failed['stage']}", f"tries: {tries}"],
            "pictures": album.question(run.task, key),
        }


def _asked(record: Mapping[str, Any]) -> str:
    """The text of the question: its last part of the prompt, without what it is called and its options."""
    parts = [p["text"] for p in asked_parts(record) if p.get("kind") == "question"]
    options = (f"({letter}) {' '.join(text.split())}" for letter, text in record["options"].items())
    asked = parts[-1] if parts else ""
    return asked.removesuffix("\n".join(options)).strip().removeprefix("Question: ")


def _turn(message: Mapping[str, Any], texts: _Texts) -> dict[str, Any]:
    return {
        "role": message["role"],
        "parts": [
            ["picture", texts.number(part["picture"] or "unnamed")]
            if "picture" in part
            else [part["kind"], texts.number(part["text"])]
            for part in message["parts"]
        ],
    }


def _program(
    named: Mapping[str, Any], task: str, key: str, album: Album, texts: _Texts
) -> dict[str, Any]:
    program = PerceptionProgram.from_dict(named["program"])
    return {
        "title": _shown(named["title"]),
        "text": texts.number(program.to_text()),
        "drawing": album.program(task, key, program, named["title"]),
    }


def _facts(record: Mapping[str, Any]) -> list[str]:
    """What is said under an answer."""
    usage, text = record["usage"], record["text_tokens"]
    facts = [f"{record['seconds']:.1f} s"]
    if record["attempts"] > 1:
        facts.append(f"{record['attempts']} tries")
    for name, what in (("prompt_tokens", "read"), ("completion_tokens", "written")):
        if usage.get(name) is not None:
            facts.append(f"{usage[name]:,} tokens {what}")
    if text.get("program"):
        facts.append(f"≈ {text['program']:,} tokens of the program")
    if usage.get("cost") is not None:
        facts.append(f"${usage['cost']:.6f}")
    for name in ("model", "finish"):
        if record.get(name):
            facts.append(f"{name}: {_shown(str(record[name]))}")
    return facts


def _notes(report: Report) -> str:
    if not report.notes:
        return ""
    rows = "".join(f"<li>{_escape(note)}</li>" for note in report.notes)
    return f'<ul class="notes">{rows}</ul>\n'


def _table(table: Table) -> str:
    note = f'<p class="facts">{_escape(table.note)}</p>\n'
    title = f"<h2>{_escape(table.title)}</h2>\n"
    return f'<section id="{_anchor(table.title)}">\n{title}{note}{_table_body(table)}</section>\n'


def _table_body(table: Table) -> str:
    head = "".join(
        f'<th scope="col"{" class=name" if number < table.names else ""}>{_escape(column)}</th>'
        for number, column in enumerate(table.head)
    )
    rows = "".join(
        f"<tr{' class=faint' if number in table.faint else ''}>"
        + "".join(_cell(cell, column < table.names) for column, cell in enumerate(row))
        + "</tr>\n"
        for number, row in enumerate(table.rows)
    )
    label = _escape(table.title)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )


def _cell(cell: Cell, name: bool) -> str:
    text = _escape(cell.text)
    if cell.where is not None:
        where = {name: _shown(value) for name, value in cell.where.items()}
        text = f'<a href="#{html.escape(urlencode(where))}">{text}</a>'
    if cell.detail:
        # Lines break between what is said, not within it.
        parts = (f"<span>{_escape(part)}</span>" for part in cell.detail.split(" · "))
        text += f" <small>{' · '.join(parts)}</small>"
    return f'<th scope="row" class="name">{text}</th>' if name else f"<td>{text}</td>"


def _configuration(report: Report) -> str:
    parts = []
    for title, values in configuration(report):
        parts.append(f"<h3>{_escape(title)}</h3>\n")
        for value, labels in values:
            body = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
            text = "\n".join(map(_escape, body.split("\n")))
            rows = "".join(f"<li>{_escape(label)}</li>" for label in labels)
            parts.append(
                f'<div class="made"><ul>{rows}</ul>\n'
                f'<pre tabindex="0" role="region" aria-label="{_escape(title)}">{text}</pre></div>\n'
            )
    return (
        '<section id="configuration">\n<h2>Configuration</h2>\n'
        f"{_table_body(files(report))}{''.join(parts)}</section>\n"
    )


def _anchor(title: str) -> str:
    """The address of a section within the page; without `=`, so that it asks for no samples."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower())


def _json(data: Any) -> str:
    """Data that may stand in a script: nothing in it ends one."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _template(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text("utf-8")


def _escape(text: str) -> str:
    return html.escape(_shown(text))


def _shown(line: str) -> str:
    """A line with what would hide or reorder text as escapes."""
    return line if line.isprintable() else visible(line)
