"""Files of JSON lines that grow by a line at a time and survive a kill."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._arrays import describe
from .._plain import unique_keys
from ..errors import InputError

__all__ = ["append_line", "cut_torn", "read_lines"]


def append_line(path: Path, line: Mapping[str, Any]) -> None:
    """Write a line whole, or, when the process dies, not at all but for a torn piece."""
    text = json.dumps(line, ensure_ascii=False, allow_nan=False)
    # Half of a surrogate pair has no UTF-8; written as \ud800 it is JSON, and the same when read.
    data = text.encode("utf-8", "backslashreplace") + b"\n"
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def cut_torn(path: Path) -> None:
    """Take away what a kill left of a line at the end."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines, without a torn one at the end; none where there is no file.

    Raises:
        InputError: a whole line is no JSON object; the message names it.
    """
    if not path.is_file():
        return []
    found = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            record = json.loads(line, object_pairs_hook=unique_keys)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: expected JSON: {error}") from None
        if not isinstance(record, dict):
            raise InputError(f"{path}, line {number}: expected an object, got {describe(record)}")
        found.append(record)
    return found
