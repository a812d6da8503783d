"""Reports as a notebook shows them: their tables; the page of `report_page` has every sample too."""

from __future__ import annotations

from collections.abc import Sequence

from ..view._inline import FAINT, FONT, escape
from ..view._tables import table_html, table_markdown
from ..view.markdown import plain
from .report_data import Report
from .report_tables import Cell, Table, tables

__all__ = ["to_html", "to_markdown"]


def to_html(report: Report) -> str:
    """The notes and the tables of what a report counts, inline."""
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
    parts = [f'<ul style="margin:4px 0">{notes}</ul>'] if notes else []
    for table in tables(report):
        parts += [
            f'<p style="margin:10px 0 2px"><b>{escape(table.title)}</b></p>',
            table_html(table.head, _rows(table), names=table.names, faint=table.faint),
            f'<p style="margin:2px 0;max-width:70em;{FAINT}">{escape(table.note)}</p>',
        ]
    return f'<div style="{FONT};margin:6px 0">{"".join(parts)}</div>'


def to_markdown(report: Report) -> str:
    """The notes and the tables of what a report counts."""
    notes = "\n".join(f"- {plain(note)}" for note in report.notes)
    parts = [notes] if notes else []
    for table in tables(report):
        parts += [
            f"**{plain(table.title)}**",
            table_markdown(table.head, _rows(table), names=table.names),
            plain(table.note),
        ]
    return "\n\n".join(parts)


def _rows(table: Table) -> Sequence[Sequence[str]]:
    return [[_text(cell) for cell in row] for row in table.rows]


def _text(cell: Cell) -> str:
    return f"{cell.text} {cell.detail}".rstrip()
