r"""The style `json`: one JSON object without tags, in ASCII, one item a line, with every digit.

Every `<` is `\u003c`, so that no label can look like the tag of a block, or like any other tag.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

from .._plain import unique_keys
from ..errors import InputError
from ..program import PerceptionProgram
from .build import Path, build, nearest
from .source import Source

__all__ = ["find", "read", "render"]

# What tells a program from the other JSON around it: its first key is a modality in words, its second
# another of its own. A chat message that says {"modality": "text", "content": …} isn't one. Nor is a
# program nested as a string, whose quotes have backslashes, until that string is decoded.
_BEGINS = re.compile(
    r'\{\s*"modality"\s*:\s*"[^"\\\n]*(?:\\.[^"\\\n]*)*"\s*,'
    r'\s*"(?:granularity|grid|note|items|relations|meta)"\s*:'
)
_SPACE = re.compile(r"[ \t\n]*")


def render(program: PerceptionProgram, *, meta: bool = True) -> str:
    """`program` as JSON; where it came from is always in it, as this style leaves nothing out."""
    data = program.to_dict()
    head = ", ".join(
        f'"{key}": {_dumped(data[key])}' for key in ("modality", "granularity", "grid", "note")
    )
    rows = ", ".join(f'"{key}": {_lines(data[key])}' for key in ("items", "relations"))
    return f'{{{head}, {rows}, "meta": {_dumped(data["meta"])}}}'


def _lines(rows: list[Any]) -> str:
    lines = ",\n".join(map(_dumped, rows))
    return f"[\n{lines}\n]" if rows else "[]"


def _dumped(value: Any) -> str:
    text = json.dumps(value, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\x7f", "\\u007f")


def find(source: Source, start: int) -> int | None:
    """Where the next object begins whose first two keys are a program's."""
    match = _BEGINS.search(source.text, start)
    return None if match is None else match.start()


def read(source: Source, start: int) -> tuple[PerceptionProgram, int]:
    """The program that begins at `start`, and where it ends.

    Raises:
        InputError: broken JSON, or not a program; the message names the line.
    """
    data: dict[str, Any] = {}
    places: dict[Path, int] = {(): start}
    position, mark = start, ","
    while mark == ",":
        at = position = _skipped(source, position + 1)
        key, position = _decoded(source, position)
        if not isinstance(key, str) or key in data:
            raise source.error(at, f"expected a key that is new, in double quotes, got {key!r}")
        position, _ = _mark(source, position, ":")
        position = _skipped(source, position + 1)
        places[key,] = at
        if key in ("items", "relations") and source.text.startswith("[", position):
            data[key], position = _rows(source, position, key, places)
        else:
            data[key], position = _decoded(source, position)
        position, mark = _mark(source, position, ",}")
    try:
        return build(data, source, partial(nearest, places)), position + 1
    except RecursionError:
        raise source.error(start, "expected a program, got JSON nested too deeply") from None


def _rows(
    source: Source, position: int, key: str, places: dict[Path, int]
) -> tuple[list[Any], int]:
    """The list that begins at `position`, each row's place noted, and where the list ends."""
    rows: list[Any] = []
    first = _skipped(source, position + 1)
    if source.text.startswith("]", first):
        return rows, first + 1
    mark = ","
    while mark == ",":
        position = places[key, len(rows)] = _skipped(source, position + 1)
        row, position = _decoded(source, position)
        rows.append(row)
        position, mark = _mark(source, position, ",]")
    return rows, position + 1


def _decoded(source: Source, position: int) -> tuple[Any, int]:
    """The JSON value that begins at `position`, and where it ends."""
    try:
        return _DECODER.raw_decode(source.text, position)
    except json.JSONDecodeError as error:
        raise source.error(error.pos, f"expected JSON: {error.msg}") from None
    except RecursionError:
        raise source.error(position, "expected a program, got JSON nested too deeply") from None
    except ValueError as error:  # from the hooks below, or an integer of thousands of digits
        raise source.error(position, str(error)) from None


def _no_number(word: str) -> Any:
    raise InputError(f"expected a finite number, got {word}")


_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys, parse_constant=_no_number)


def _skipped(source: Source, position: int) -> int:
    match = _SPACE.match(source.text, position)
    return position if match is None else match.end()


def _mark(source: Source, position: int, allowed: str) -> tuple[int, str]:
    """Where the next punctuation is, which must be one of `allowed`, and which it is."""
    position = _skipped(source, position)
    mark = source.text[position : position + 1]
    if not mark or mark not in allowed:
        got = repr(mark) if mark else "the end of the text"
        raise source.error(position, f"expected JSON: {' or '.join(allowed)}, got {got}")
    return position, mark
