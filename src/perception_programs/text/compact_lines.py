"""Items a line each, in the style `compact`, under a heading that names what stands on a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..program import Item, PerceptionProgram
from .compact_fields import FIELDS, field_text, read_field
from .compact_scale import Scale
from .lines import Line, Lines

__all__ = ["ListRow", "begins_list", "read_list", "written_list"]

_NONE = "items: none"
_HEADING = re.compile(r"items(?: 1-(?P<count>[0-9]{1,9}))?:(?P<names>(?: [ipcrbq])+)")


def written_list(
    items: Sequence[Item],
    scale: Scale,
    *,
    numbered: bool,
    parts: Callable[[PerceptionProgram], Iterator[str]],
) -> Iterator[str]:
    """The lines of a list of items.

    Args:
        items: the items.
        scale: the unit of their numbers.
        numbered: whether p may be left out where it is 1, 2, … in order.
        parts: the lines of a program of parts, which stand indented after its item.
    """
    if not items:
        yield _NONE
        return
    names = [name for name in FIELDS if any(getattr(item, name) is not None for item in items)]
    heading = "items:"
    if numbered and names != ["p"] and [item.p for item in items] == list(range(1, len(items) + 1)):
        names.remove("p")
        heading = f"items 1-{len(items)}:"
    names = names or ["r"]
    yield f"{heading} {' '.join(names)}"
    for item in items:
        yield " ".join(field_text(name, item, scale) for name in names)
        if item.parts is not None:
            yield from (f"  {line}" for line in parts(item.parts))


def begins_list(line: Line) -> bool:
    """Whether a line is the heading of a list."""
    return line.text == _NONE or _HEADING.fullmatch(line.text) is not None


ListRow = tuple[dict[str, Any], Line, Lines]
"""An item as plain data, its line, and the lines of its parts."""


def read_list(lines: Lines, scale: Scale, ends: Callable[[Line], bool]) -> list[ListRow]:
    """The items of a list.

    Args:
        lines: they begin with its heading.
        scale: the unit of their numbers.
        ends: whether a line is the first of what may follow a list.

    Raises:
        InputError: the message names the line.
    """
    heading = lines.take("a list")
    match = _HEADING.fullmatch(heading.text)
    names = match["names"].split() if match else []
    if len(set(names)) < len(names) or (match and match["count"] and "p" in names):
        raise heading.error(f"expected each field once, got {' '.join(names)}")
    rows: list[ListRow] = []
    while names and (line := lines.peek()) is not None and not ends(line):
        lines.take("an item")
        chunks = line.chunks()
        if len(chunks) != len(names):
            raise line.error(f"expected {len(names)} fields, {' '.join(names)}, got {len(chunks)}")
        values = zip(names, chunks, strict=True)
        row = {name: read_field(name, line, chunk, scale) for name, chunk in values}
        rows.append((row, line, lines.deeper(line)))
    if match and match["count"]:
        if int(match["count"]) != len(rows):
            raise heading.error(f"expected {match['count']} items, got {len(rows)}")
        for number, (row, _, _) in enumerate(rows, 1):
            row["p"] = number
    return rows
