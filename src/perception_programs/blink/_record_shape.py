"""The shape of what a record holds: its numbers, messages, options and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._arrays import describe
from ..errors import InputError
from ..program import PerceptionProgram

__all__ = ["MOST", "check_number", "check_shape", "check_text", "value_of"]

MOST = 10**12
"""More tokens, seconds or dollars than any answer takes; sums and means of less are always finite."""


def check_shape(row: Mapping[str, Any], where: str) -> None:
    """Check what stands within a record whose keys have values of the right types.

    Raises:
        InputError: something is not as a run writes it; the message starts with `where` and names
            the field, counted from 1 where it is one of several.
    """
    check_number(row["seconds"], f"{where}: seconds")
    if row["attempts"] < 1:
        raise InputError(f"{where}: attempts: expected at least 1, got {row['attempts']}")
    check_number(row["attempts"], f"{where}: attempts")
    for name in ("usage", "text_tokens"):
        for part, count in row[name].items():
            if count is not None or name == "text_tokens":  # no provider says everything
                check_number(count, f"{where}: {name}: {part}")
    for letter, text in row["options"].items():
        check_text(text, f"{where}: options: {letter}")
    for place, message in _objects(row["messages"], f"{where}: messages"):
        check_text(value_of(message, "role", place), f"{place}: role")
        for part_place, part in _objects(value_of(message, "parts", place), f"{place}: parts"):
            _check_part(part, part_place)
    for place, program in _objects(row["programs"], f"{where}: programs"):
        check_text(value_of(program, "name", place), f"{place}: name")
        check_text(value_of(program, "title", place), f"{place}: title")
        try:
            PerceptionProgram.from_dict(value_of(program, "program", place))
        except InputError as error:
            raise InputError(f"{place}: program: {error}") from None


def _check_part(part: Mapping[str, Any], where: str) -> None:
    """A text, which has a kind, or a picture, which may lack a name."""
    if "picture" in part:
        if part["picture"] is not None:
            check_text(part["picture"], f"{where}: picture")
        return
    for key in ("text", "kind"):
        check_text(value_of(part, key, where), f"{where}: {key}")


def _objects(rows: Any, where: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Each object of a list, and its place."""
    if not isinstance(rows, list):
        raise InputError(f"{where}: expected a list, got {describe(rows)}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise InputError(f"{where}: {number}: expected an object, got {describe(row)}")
    return [(f"{where}: {number}", row) for number, row in enumerate(rows, 1)]


def value_of(row: Mapping[str, Any], key: str, where: str) -> Any:
    """The value of a key.

    Raises:
        InputError: there is none; the message starts with `where`.
    """
    if key not in row:
        keys = ", ".join(row)[:80] or "no key"
        raise InputError(f"{where}: expected the key {key!r}, got {keys}")
    return row[key]


def check_text(value: Any, where: str) -> None:
    """Refuse what is no text.

    Raises:
        InputError: it is none; the message starts with `where`.
    """
    if not isinstance(value, str):
        raise InputError(f"{where}: expected text, got {describe(value)}")


def check_number(value: Any, where: str) -> None:
    """Refuse what is no number from 0 to `MOST`.

    Raises:
        InputError: it is none; the message starts with `where`.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{where}: expected a number, got {describe(value)}")
    if not 0 <= value <= MOST:  # so is NaN, which JSON readers let through
        raise InputError(f"{where}: expected a number from 0 to {MOST:.0e}, got {describe(value)}")
