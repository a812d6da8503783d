"""What an analysis leaves in its folder: tables as CSV, records as JSON lines."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import InputError

__all__ = ["open_folder", "write_csv", "write_jsonl"]


def open_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder, made if need be.

    Raises:
        InputError: its place is taken by a file.
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise InputError(f"folder: expected a folder to write to, got the file {str(target)!r}")
    target.mkdir(parents=True, exist_ok=True)
    return target


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as CSV: a line of names, numbers with every digit, nothing for None."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    """Write records as JSON, one a line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(record, allow_nan=False) + "\n" for record in records)
    return path
