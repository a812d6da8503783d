r"""The style `compact`: every fact of the style `paper` in a fraction of its tokens.

Between the same tags:

- `compact: depth patch 10x10; r in thousandths`: modality, granularity, grid if there is one, and the
  unit of which readings (r) and reliabilities (q) are integers. `places` says how many decimals those
  are; without a unit, numbers are as they are.
- `note: "…"`, word for word.
- Cells of a grid: a matrix with the centres along the edges, first that of the readings, then those of
  labels and reliabilities, if there are some. Words are letters, which the line before explains.
- Other items: one a line, under a heading that names what stands on it. `items 1-20: c r b` are 20
  items of which the first has the p 1, the next 2, …
- Relations: `in_front_of left: 3 6`, each of these cells to the one on its left; or, where items aren't
  neighbours, `in_front_of A:B,C` for [A, in_front_of, B] and [A, in_front_of, C].
- `meta: {…}`, if asked for.

Numbers of one value are joined by commas. What is missing is `null` as a reading and `-` elsewhere.
A string stands between double quotes unless it is a word that nothing else could be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from ..errors import InputError
from ..geometry import Grid
from ..program import DEEPEST, PerceptionProgram
from .build import Path, build, nearest
from .compact_cells import matrix, written_matrix
from .compact_cells_reader import begins_matrix, read_matrix
from .compact_fields import word
from .compact_lines import begins_list, read_list, written_list
from .compact_relations import begins_relations, read_relations, written_relations
from .compact_scale import Scale, places
from .lines import WORD, Line, Lines
from .nodes import read_yaml
from .quoting import quoted
from .source import Source
from .tags import CLOSING, OPENING, block_at, next_tag, opens_compact
from .values import data, data_of, read_plain

__all__ = ["find", "places", "read", "render"]

_T = TypeVar("_T")

_HEAD = re.compile(
    rf"compact[ \t]*:\s*(?P<modality>{WORD})\s+(?P<granularity>{WORD})"
    r"(?:\s+(?P<rows>[0-9]{1,9})x(?P<cols>[0-9]{1,9}))?(?:;\s*(?P<scale>.+))?"
)
_NOTE = re.compile(rf"note:\s*({WORD})")
_META = re.compile(r"meta:\s*")


def render(program: PerceptionProgram, *, meta: bool = False) -> str:
    """`program` between tags; where it came from only when `meta` is true."""
    scale = Scale.of(program)
    head, *rest = _block(program, scale, meta)
    said = f"{head}; {scale}" if str(scale) else head
    return "\n".join([OPENING, said, *rest, CLOSING])


def _block(program: PerceptionProgram, scale: Scale, meta: bool) -> Iterator[str]:
    head = f"compact: {word(program.modality)} {word(program.granularity)}"
    grid = program.grid
    yield head if grid is None else f"{head} {grid.rows}x{grid.cols}"
    if program.note is not None:
        yield f"note: {quoted(program.note)}"
    rest = program.items
    while grid is not None and rest and (cells := matrix(rest, grid)) is not None:
        yield from written_matrix(cells, scale)
        rest = rest[len(cells.items) :]
    if rest or not program.items:
        numbered = not program.relations  # which speak of numbers that a reader must find
        parts = partial(_block, scale=scale, meta=meta)
        yield from written_list(rest, scale, numbered=numbered, parts=parts)
    yield from written_relations(program.relations, grid)
    if meta and program.meta:
        yield f"meta: {data(program.meta)}"


def find(source: Source, start: int) -> int | None:
    """Where the next opening tag is that a block of this style follows."""
    position = next_tag(source, start)
    while position is not None and not opens_compact(source, position):
        position = next_tag(source, position + 1)
    return position


def read(source: Source, start: int) -> tuple[PerceptionProgram, int]:
    """The program whose opening tag is at `start`, and where its closing tag ends.

    Raises:
        InputError: a tag without its other half, a line that is not as this style writes it, or a program
            that the schema refuses; the message names the line.
    """
    inside, end = block_at(source, start)
    program, lines = _program(Lines.of(inside), None)
    where = {path: line.position for path, line in lines.items()}
    return build(program, inside, partial(nearest, where)), end


def _program(
    lines: Lines, scale: Scale | None, level: int = 1
) -> tuple[dict[str, Any], dict[Path, Line]]:
    """A program as plain data, and the line of each of its values.

    The first line of a block says the scale, which then is that of the parts inside.
    """
    first = lines.take("the first line of a program")
    if level > DEEPEST + 1:  # the outermost program is inside no item
        raise first.error(f"expected at most {DEEPEST} levels of programs, got more")
    head = _HEAD.fullmatch(first.text)
    if head is None:
        raise first.error(
            f"expected a line such as compact: depth patch 10x10, got {first.text[:60]!r}"
        )
    program: dict[str, Any] = {
        name: first.string(head[name]) for name in ("modality", "granularity")
    }
    grid = None
    if head["rows"]:
        program["grid"] = {name: int(head[name]) for name in ("rows", "cols")}
        grid = _checked(first, Grid, **program["grid"])
    if scale is None:
        scale = _checked(first, Scale.read, head["scale"] or "")
    where: dict[Path, Line] = {(): first}
    line = lines.peek()
    if line is not None and (note := _NOTE.fullmatch(line.text)):
        where["note",] = lines.take("a note")
        program["note"] = line.string(note[1])
    program["items"] = _items(lines, grid, scale, where, level)
    line = lines.peek()
    if line is not None and begins_relations(line):
        found = read_relations(lines, grid)
        program["relations"] = [triple for triple, _ in found]
        where |= {("relations", n): at for n, (_, at) in enumerate(found)}
    line = lines.peek()
    if line is not None and (meta := _META.match(line.text)):
        where["meta",] = lines.take("meta")
        text = Source(line.text[meta.end() :], line.source.line(line.position))
        program["meta"] = data_of(read_yaml(text), read_plain)
    if (line := lines.peek()) is not None:
        raise line.error(f"expected the end of the program, got {line.text[:60]!r}")
    return program, where


def _checked(line: Line, make: Callable[..., _T], *values: Any, **named: Any) -> _T:
    """What `make` gives; its errors name the line."""
    try:
        return make(*values, **named)
    except InputError as error:
        message = str(error)
    raise line.error(message)


def _items(
    lines: Lines, grid: Grid | None, scale: Scale, where: dict[Path, Line], level: int
) -> list[dict[str, Any]]:
    """The items of a program as plain data; their lines are put to `where`."""
    items: list[dict[str, Any]] = []
    while (line := lines.peek()) is not None and begins_matrix(line):
        if grid is None:
            raise line.error("expected the grid of these cells in the first line, got none")
        for row, at in read_matrix(lines, grid, scale):
            where |= {("items", len(items), name): field_line for name, field_line in at.items()}
            where["items", len(items)] = at["r"]
            items.append(row)
    line = lines.peek()
    if line is not None and begins_list(line):
        for row, line, inner in read_list(lines, scale, _follows):
            where["items", len(items)] = line
            if inner.peek() is not None:
                row["parts"], inside = _program(inner, scale, level + 1)
                where |= {("items", len(items), "parts", *path): at for path, at in inside.items()}
            items.append(row)
    elif not items:
        got = "the end of the block" if line is None else repr(line.text[:60])
        raise (line or lines.end).error(
            f"expected a line that begins items, such as items: p c r, got {got}"
        )
    return items


def _follows(line: Line) -> bool:
    """Whether a line is of what may stand after a list."""
    return begins_relations(line) or _META.match(line.text) is not None
