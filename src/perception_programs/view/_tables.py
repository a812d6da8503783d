"""Tables as text, as HTML and as Markdown.

Each takes the names of the columns and rows of as many cells. The first `names` columns are text, those
after them numbers, which stand on the right, and the last `words` columns text again.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._inline import CELL, FAINT, FONT, escape
from ._type import visible
from .markdown import plain

__all__ = ["table_html", "table_markdown", "table_text"]

_SHORT = 32  # characters


def table_text(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1, words: int = 0
) -> str:
    """A table in columns two spaces apart, with what hides or reorders text as escapes.

    >>> print(table_text(["name", "n"], [["a", "1"], ["bcdef", "10"]]))
    name    n
    a       1
    bcdef  10
    """
    table = [[" ".join(visible(cell).split()) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    numbers = range(names, len(head) - words)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if n in numbers else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )


def table_html(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    names: int = 1,
    words: int = 0,
    faint: frozenset[int] = frozenset(),
) -> str:
    """A table that scrolls where it is too wide; the rows numbered in `faint` are there to compare with."""
    last = len(head) - words

    def cell(column: int, text: str, tag: str, more: str = "") -> str:
        number = names <= column < last
        side = ";text-align:right;font-variant-numeric:tabular-nums" if number else ""
        # Short ones stay on their line, long ones may break anywhere, or the table would be too wide.
        breaks = "white-space:nowrap" if len(text) <= _SHORT else "overflow-wrap:anywhere"
        start, end = f"<{tag}", f"</{tag.split()[0]}>"
        return f'{start} dir="auto" style="{CELL}{side};{breaks}{more}">{escape(text)}{end}'

    top = "".join(
        cell(n, name, 'th scope="col"', f";{FAINT};font-weight:normal")
        for n, name in enumerate(head)
    )
    body = "".join(
        f'<tr style="background:none{";" + FAINT if n in faint else ""}">'
        + "".join(cell(column, text, "td") for column, text in enumerate(row))
        + "</tr>"
        for n, row in enumerate(rows)
    )
    return (
        '<div style="overflow-x:auto">'
        f'<table style="border-collapse:collapse;margin:0;{FONT}"><thead>'
        f'<tr style="background:none">{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def table_markdown(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1, words: int = 0
) -> str:
    """A table in the dialect of Markdown that has them."""
    last = len(head) - words
    rule = ["---:" if names <= n < last else "---" for n in range(len(head))]
    lines = [list(map(plain, head)), rule, *(list(map(plain, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
