"""Files of JSON lines: one object a line."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from .._arrays import describe
from .._plain import refuse_constant, unique_keys
from ..chat._files import check_file
from ..errors import InputError

__all__ = ["check_keys", "read_lines"]


def read_lines(path: Path, data: bytes | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file, each with where it stands (`questions.jsonl, line 3`).

    Empty lines are passed over.

    Args:
        path: the file.
        data: what of it is read; by default all.

    Raises:
        InputError: the file cannot be read, or a line is not one JSON object; the message names it.
    """
    check_file(path)
    try:
        with _opened(path, data) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    where = f"{path}, line {number}"
                    yield where, _object(line, where)
    except FileNotFoundError:
        raise InputError(f"no file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: expected UTF-8 text that can be read: {reason}") from error


def _opened(path: Path, data: bytes | None) -> TextIO:
    if data is None:
        return path.open(encoding="utf-8-sig")
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig")


def check_keys(
    record: Mapping[str, Any], where: str, required: Collection[str], optional: Collection[str] = ()
) -> None:
    """Check that an object has all keys that it needs and none that nothing would read.

    Raises:
        InputError: one is missing or unknown; the message starts with `where`.
    """
    missing = [key for key in required if key not in record]
    if missing:
        raise InputError(f"{where}: expected the key {missing[0]!r}, got {', '.join(record)}")
    unknown = [key for key in record if key not in required and key not in optional]
    if unknown:
        known = ", ".join((*required, *optional))
        raise InputError(f"{where}: expected no keys but {known}, got {unknown[0][:60]!r}")


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line, object_pairs_hook=unique_keys, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: expected one JSON object: {error}") from None
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected one JSON object, got {describe(record)}")
    return record
