"""The fields of an item as single words of a line, in the style `compact`."""

from __future__ import annotations

import re
from typing import Any

from ..errors import InputError
from ..program import Item
from .compact_scale import Scale, read, written
from .lines import WORD, Line
from .quoting import capped, quoted

__all__ = [
    "FIELDS",
    "field_text",
    "identifier",
    "read_field",
    "read_identifier",
    "read_word",
    "word",
]

FIELDS = ("i", "p", "c", "r", "b", "q")
"""The fields that are printed as words, in their order on a line."""

_WORD = re.compile(WORD)
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_QUARTER = re.compile(r"[0-9]+(?:\.[0-9]+)+")  # the p of a cell in quarters: 17.3
_NONE = ("-", "null")


def word(value: str) -> str:
    """A string as it is where nothing else could be read, else between double quotes.

    >>> word("wall"), word("fire hydrant"), word("12"), word("null")
    ('wall', '"fire hydrant"', '"12"', '"null"')
    """
    return (
        value if _WORD.fullmatch(value) and value[0] != '"' and value != "null" else quoted(value)
    )


def identifier(value: int | str) -> str:
    """The p of an item, or an end of a relation."""
    if isinstance(value, int):
        return str(value)
    return value if _QUARTER.fullmatch(value) else word(value)


def field_text(name: str, item: Item, scale: Scale) -> str:
    """The field called `name` of an item."""
    value = getattr(item, name)
    if value is None:
        return "null" if name == "r" else "-"  # notes speak of null where nothing could be read
    if name == "p":
        return identifier(value)
    if isinstance(value, str):
        return word(capped(value) if name in ("i", "b", "q") else value)
    if name == "q":
        return written(value, scale.q)
    decimals = scale.r if name == "r" else None
    if not isinstance(value, tuple):
        return written(value, decimals)
    numbers = ",".join("null" if n is None else written(n, decimals) for n in value)
    return numbers if len(value) > 1 else f"{numbers},"


def read_identifier(line: Line, chunk: str) -> int | str:
    """What `identifier` printed.

    Raises:
        InputError: the message names the line.
    """
    if _INTEGER.fullmatch(chunk):
        return int(chunk)
    return chunk if _QUARTER.fullmatch(chunk) else read_word(line, chunk)


def read_word(line: Line, chunk: str) -> str:
    """What `word` printed.

    Raises:
        InputError: the message names the line.
    """
    if not _WORD.fullmatch(chunk):
        raise line.error(f"expected a word, a number or a string in quotes, got {chunk[:60]!r}")
    return line.string(chunk)


def read_field(name: str, line: Line, chunk: str, scale: Scale) -> Any:
    """What `field_text` printed, as plain data.

    Raises:
        InputError: the message names the line.
    """
    if chunk in _NONE:
        return None
    if name == "p":
        return read_identifier(line, chunk)
    if name in ("i", "b") or _WORD.fullmatch(chunk):
        return read_word(line, chunk)
    decimals = {"r": scale.r, "q": scale.q}.get(name)
    *numbers, last = chunk.split(",")
    if last or not numbers:
        numbers.append(last)
    values = [None if n in _NONE else _number(name, line, n, decimals) for n in numbers]
    return values if "," in chunk else values[0]


def _number(name: str, line: Line, text: str, decimals: int | None) -> float | int:
    try:
        return read(text, decimals)
    except InputError as error:
        message = f"{name}: {error}"
    raise line.error(message)
