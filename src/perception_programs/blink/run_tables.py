"""The files of runs, read back: one table of records and errors a task and setting."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .._arrays import describe
from ..errors import InputError
from ._header import check_header
from ._record import ERROR, check_record, check_types
from .records import whole_lines

__all__ = ["Outcome", "RunTable", "natural", "outcome", "read_runs"]

Outcome: TypeAlias = Literal["right", "wrong", "unparsed", "unanswered"]

_ERRORS = ".errors.jsonl"


@dataclass(frozen=True, eq=False)
class RunTable:
    """One task in one setting, answered by one model.

    Attributes:
        path: the file of records.
        header: the configuration that made them.
        records: one a sample, in the order of their ids.
        errors: the last failed try of each sample that has no record, by id.
        notes: what a reader of the numbers should know, such as a torn last line.
    """

    path: Path
    header: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]
    errors: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self.path.parent

    @property
    def task(self) -> str:
        """The task."""
        return str(self.header["task"])

    @property
    def setting(self) -> str:
        """The setting."""
        return str(self.header["setting"])

    @property
    def model(self) -> str:
        """What the model is called."""
        return str(self.header["model"]["name"])

    def __repr__(self) -> str:
        counts = f"{len(self.records)} records, {len(self.errors)} errors"
        return f"RunTable({self.model!r}, {self.task!r}, {self.setting!r}: {counts})"

    def _repr_html_(self) -> str:
        from ..view._inline import fact_rows

        return fact_rows(self._facts())

    def _repr_markdown_(self) -> str:
        from ..view.markdown import fact_list

        return fact_list(self._facts())

    def _facts(self) -> dict[str, str]:
        counts = Counter(map(outcome, self.records))
        return {
            "model": self.model,
            "task": self.task,
            "setting": self.setting,
            "records": str(len(self.records)),
            **{name: str(count) for name, count in counts.items()},
            "errors": str(len(self.errors)),
            "file": str(self.path),
        }


def outcome(record: Mapping[str, Any]) -> Outcome:
    """What became of a sample: `unanswered` where the right answer is not published.

    >>> outcome({"answer": "A", "parsed": None}), outcome({"answer": "A", "parsed": "A"})
    ('unparsed', 'right')
    """
    if record["answer"] is None:
        return "unanswered"
    if record["parsed"] is None:
        return "unparsed"
    return "right" if record["parsed"] == record["answer"] else "wrong"


def read_runs(folders: Iterable[str | Path]) -> list[RunTable]:
    """Every run in some folders, a folder given twice counted once.

    What a run would go on from is read, and what it would refuse is refused. A torn last line, which a
    run that was killed leaves behind, is left out and noted.

    Args:
        folders: folders of runs.

    Raises:
        InputError: no such folder, or one without runs; a line that is no record (with its file and
            number); an id that has two records; errors without their file of records.
    """
    if isinstance(folders, (str, Path)):
        raise InputError(f"folders: expected several, got {describe(folders)}")
    known = {Path(folder).resolve(): Path(folder) for folder in folders}
    if not known:
        raise InputError("folders: expected at least one, got none")
    return [run for folder in known.values() for run in _read_folder(folder)]


def _read_folder(folder: Path) -> list[RunTable]:
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "does not exist"
        raise InputError(f"folder: expected the folder of a run, got {str(folder)!r}, which {what}")
    found = sorted(folder.glob("*.jsonl"))
    records = [path for path in found if not path.name.endswith(_ERRORS)]
    for path in found:
        if path not in records and _records_of(path) not in records:
            raise InputError(f"{path}: expected {_records_of(path).name!r} beside it")
    runs = [run for path in records if (run := _read_run(path)) is not None]
    if not runs:
        raise InputError(
            f"{folder}: expected at least one <task>.<setting>.jsonl, got none{_runs_below(folder)}"
        )
    return runs


def _runs_below(folder: Path) -> str:
    """Which folders in one without runs have some, for the end of a message."""
    below = sorted({str(path.parent) for path in folder.glob("*/*.*.jsonl")}, key=natural)
    return f"; these in it have some: {' '.join(below)}" if below else ""


def _records_of(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(_ERRORS) + ".jsonl")


def _read_run(path: Path) -> RunTable | None:
    """A run, or None when it was killed before its header was written."""
    notes: list[str] = []
    lines = _lines(path, notes)
    first = next(lines, None)
    if first is None:
        return None
    header = _header(first[1], path)
    records: dict[str, Mapping[str, Any]] = {}
    for number, row in lines:
        where = f"{path}, line {number}"
        check_record(row, where)
        if row["id"] in records:
            raise InputError(f"{where}: expected one record a sample, got {row['id']!r} twice")
        records[row["id"]] = row
    errors = _read_errors(path.with_name(path.name.removesuffix(".jsonl") + _ERRORS), notes)
    return RunTable(
        path=path,
        header=header,
        records=tuple(records[key] for key in sorted(records, key=natural)),
        errors={key: errors[key] for key in sorted(errors, key=natural) if key not in records},
        notes=tuple(notes),
    )


def _read_errors(path: Path, notes: list[str]) -> dict[str, Mapping[str, Any]]:
    errors: dict[str, Mapping[str, Any]] = {}
    if path.exists():
        for number, row in _lines(path, notes):
            check_types(row, ERROR, f"{path}, line {number}")
            errors[row["id"]] = row
    return errors


def _lines(path: Path, notes: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line and its number, as a run that goes on from the file reads it."""
    try:
        yield from whole_lines(path, str(path), notes)
    except OSError as error:
        raise InputError(f"{path}: expected a file that can be read: {error}") from error


def _header(row: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    header = check_header(row, str(path))
    expected = f"{header['task']}.{header['setting']}.jsonl"
    if path.name != expected:
        raise InputError(f"{path}: expected the name {expected!r}, which its header says")
    return header


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts names with numbers as people do: 9 before 10.

    >>> sorted(["val_10", "val_9"], key=natural)
    ['val_9', 'val_10']
    """
    # Without leading zeros the longer number is the larger one, of however many digits.
    parts = [(part, part.lstrip("0")) for part in re.split(r"(\d+)", name)]
    return [(len(n), n) if part.isdecimal() else (-1, part) for part, n in parts]
