"""Plain data to a program, with the line of whatever is wrong with it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from ..errors import InputError
from ..program import PerceptionProgram, item_from, relation_from
from .source import Source

__all__ = ["Path", "build", "nearest"]

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a program's data: keys, and positions in lists from 0."""

_EMPTY = {"modality": "none", "granularity": "none", "items": ()}


def build(
    data: dict[str, Any], source: Source, position_of: Callable[[Path], int]
) -> PerceptionProgram:
    """The program of `data`.

    Args:
        data: as `PerceptionProgram.to_dict` gives it.
        source: the text that it was read from.
        position_of: where in that text a value stands; for a path that leads nowhere, the last place
            on the way.

    Raises:
        InputError: the schema refuses it; the message names the line.
    """
    try:
        return PerceptionProgram.from_dict(data)
    except InputError as error:
        message = str(error)
    raise source.error(position_of(_culprit(data, message)), message)


def nearest(places: Mapping[Path, int], path: Path) -> int:
    """The place of the value at `path`, or of the last one on the way that has a place."""
    return next(places[path[:n]] for n in range(len(path), -1, -1) if path[:n] in places)


def _culprit(data: dict[str, Any], message: str) -> Path:
    """The value that `PerceptionProgram.from_dict` refused with `message`.

    The schema knows nothing of lines, so each part is tried alone until one is refused likewise.
    """
    if not _EMPTY.keys() <= data.keys():
        return ()
    for path, attempt in _parts(data):
        if _refusal(attempt) == message:
            return path + _inside(data, path, message)
    return _misfit(data)


def _inside(data: dict[str, Any], path: Path, message: str) -> Path:
    """Where in the parts of an item the culprit is, if `path` leads to parts."""
    match path:
        case "items", int(n), "parts":
            parts = data["items"][n]["parts"]
            refused = message.removeprefix(f"item {n + 1}: parts: ")
            return _culprit(parts, refused) if isinstance(parts, dict) else ()
    return ()


def _parts(data: dict[str, Any]) -> Iterator[tuple[Path, Callable[[], object]]]:
    """The values that can be refused on their own, each with what tries it."""
    for key, value in data.items():
        if key not in ("items", "relations") or not isinstance(value, (list, tuple)):
            yield (key,), partial(PerceptionProgram.from_dict, {**_EMPTY, key: value})
            continue
        for n, row in enumerate(value):
            name = f"{key[:-1]} {n + 1}"
            attempt = partial(item_from if key == "items" else relation_from, row, name)
            if isinstance(row, Mapping) and _refusal(attempt) is not None:
                for field in row:
                    yield (key, n, field), partial(item_from, {field: row[field]}, name)
            yield (key, n), attempt


def _misfit(data: dict[str, Any]) -> Path:
    """What is right alone and wrong together: the first item, or relation, that may not be added."""
    empty = PerceptionProgram.from_dict({**data, "items": (), "relations": ()})
    items = [item_from(row, "item") for row in data["items"]]
    relations = [relation_from(row, "relation") for row in data.get("relations") or ()]

    def is_too_many_items(count: int) -> bool:
        return _refusal(partial(replace, empty, items=items[:count])) is not None

    def is_too_many_relations(count: int) -> bool:
        attempt = partial(replace, empty, items=items, relations=relations[:count])
        return _refusal(attempt) is not None

    if is_too_many_items(len(items)):
        return "items", bisect_left(range(1, len(items)), True, key=is_too_many_items), "p"
    return "relations", bisect_left(range(1, len(relations)), True, key=is_too_many_relations)


def _refusal(attempt: Callable[[], object]) -> str | None:
    try:
        attempt()
    except InputError as error:
        return str(error)
    return None
