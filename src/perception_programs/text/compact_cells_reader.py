"""Cells of a grid read back from the matrix that `compact_cells` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..geometry import Grid
from .compact_cells import QUARTERS
from .compact_fields import read_field
from .compact_quarters import DEEPEST_CUT, Cell, boxes_of, named_cells
from .compact_scale import Scale
from .lines import WORD, Line, Lines

__all__ = ["begins_matrix", "read_matrix"]

_LEAD = re.compile(
    rf"(?P<edges>centres y\\x|corners y\\x|cells)(?:, i=(?P<i>{WORD}))?(?:, c=(?P<c>{WORD}))?"
    rf"(?:, {re.escape(QUARTERS)})?:(?P<labels>(?: +[0-9]{{1,4}})*)"
)
_FIELD = re.compile(r"([rbq]):")
_LABEL = re.compile(r"([0-9]{1,4}): ")


def begins_matrix(line: Line) -> bool:
    """Whether a line is the first of a matrix."""
    return _LEAD.fullmatch(line.text) is not None


def read_matrix(
    lines: Lines, grid: Grid, scale: Scale
) -> Iterator[tuple[dict[str, Any], dict[str, Line]]]:
    """Each item of a matrix as plain data, and the lines that its fields stand on, r always among them.

    Raises:
        InputError: the message names the line.
    """
    lead = lines.take("a matrix")
    said = _LEAD.fullmatch(lead.text)
    assert said is not None
    fields: dict[str, _Rows] = {}
    while (line := lines.peek()) is not None and (match := _FIELD.match(line.text)):
        name = match[1]
        if name in fields:
            raise line.error(f"expected each field once, got {name} twice")
        words = _read_letters(lines.take("a field"), match.end())
        rows = fields[name] = _read_rows(lines, grid, labelled=said["edges"] != "cells")
        rows.values = [_value(name, at, chunk, words, scale) for at, chunk in rows.leaves]
        first = next(iter(fields.values()))
        if (rows.cells, rows.sides) != (first.cells, first.sides):
            raise line.error("expected the same cells and edges as in the rows before")
    if "r" not in fields:
        raise lead.error("expected a line r: and the rows of the matrix after it, got none")
    for n, item in enumerate(_read_items(lead, said, grid, fields["r"])):
        item |= {name: rows.values[n] for name, rows in fields.items()}
        yield item, {"c": lead} | {name: rows.leaves[n][0] for name, rows in fields.items()}


@dataclass
class _Rows:
    """The rows of one field.

    Attributes:
        cells: the cells of the grid in order.
        leaves: the line and the word of each item.
        sides: what stands to the left of each row, if anything does.
        values: what the words stand for.
    """

    cells: list[Cell] = field(default_factory=list)
    leaves: list[tuple[Line, str]] = field(default_factory=list)
    sides: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


def _read_rows(lines: Lines, grid: Grid, *, labelled: bool) -> _Rows:
    rows = _Rows()
    for number in range(1, grid.rows + 1):
        line = lines.take(f"row {number} of {grid.rows} of the matrix")
        label = _LABEL.match(line.text) if labelled else None
        if labelled and label is None:
            raise line.error(
                f"expected row {number} of {grid.rows} of the matrix, such as 49: and its cells, "
                f"got {line.text[:60]!r}"
            )
        if label is not None:
            rows.sides.append(int(label[1]))
        cells = _read_cells(line, line.chunks(label.end() if label else 0), rows.leaves)
        if len(cells) != grid.cols:
            raise line.error(f"expected {grid.cols} cells in a row, got {len(cells)}")
        rows.cells += cells
    return rows


def _read_cells(line: Line, chunks: list[str], leaves: list[tuple[Line, str]]) -> list[Cell]:
    """The cells of a row, whose words are put to `leaves`."""
    open_: list[list[Cell]] = [[]]
    for chunk in chunks:
        if chunk == "(":
            open_.append([])
            if len(open_) > DEEPEST_CUT + 1:
                raise line.error(f"expected cells cut at most {DEEPEST_CUT} times, got more")
        elif chunk == ")":
            quarters = open_.pop()
            if len(quarters) != 4 or not open_:
                raise line.error(f"expected ( and four quarters before ), got {len(quarters)}")
            open_[-1].append(quarters)
        else:
            open_[-1].append(len(leaves))
            leaves.append((line, chunk))
    if len(open_) > 1:
        raise line.error("expected ) after four quarters, got the end of the line")
    return open_[0]


def _read_letters(line: Line, start: int) -> dict[str, str]:
    words = {}
    for chunk in line.chunks(start):
        letter, equals, said = chunk.partition("=")
        if len(letter) != 1 or not letter.isalpha() or not equals or letter in words:
            raise line.error(f"expected letters such as L=left, each once, got {chunk[:60]!r}")
        words[letter] = said
    return words


def _value(name: str, line: Line, chunk: str, words: dict[str, str], scale: Scale) -> Any:
    if words and chunk not in ("-", "null"):
        if chunk not in words:
            raise line.error(f"expected one of the letters {', '.join(words)}, got {chunk[:60]!r}")
        chunk = words[chunk]
    return read_field(name, line, chunk, scale)


def _read_items(lead: Line, said: re.Match[str], grid: Grid, rows: _Rows) -> list[dict[str, Any]]:
    """The identifiers and places of the items of a matrix."""
    tops = [int(label) for label in said["labels"].split()]
    common = {name: lead.string(said[name]) for name in ("i", "c") if said[name] is not None}
    boxes = list(boxes_of(grid))
    corners = said["edges"].startswith("corners")
    count = 0 if said["edges"] == "cells" else grid.cols
    if len(tops) != count:
        raise lead.error(f"expected {count} numbers along the upper edge, got {len(tops)}")
    if corners:
        _check_corners(lead, tops, [x for x, *_ in boxes[: grid.cols]])
        _check_corners(rows.leaves[0][0], rows.sides, [y for _, y, *_ in boxes[:: grid.cols]])
    items: list[dict[str, Any]] = []
    for n, (cell, box) in enumerate(zip(rows.cells, boxes, strict=True)):
        centre = (tops[n % grid.cols], rows.sides[n // grid.cols]) if tops else None
        for p, part in named_cells(cell, n + 1, box):
            place = part if corners else centre
            items.append({"p": p, **common} if place is None else {"p": p, **common, "c": place})
    return items


def _check_corners(line: Line, found: list[int], expected: list[int]) -> None:
    if found != expected:
        raise line.error(
            f"expected cells that begin at {', '.join(map(str, expected))}, "
            f"got {', '.join(map(str, found))}"
        )
