"""The files of a run: one record a sample, appended as it arrives, and what failed, apart.

Each task and setting has a file of records that begins with a header, the configuration that made
them, and a file of errors. A record is one line, written in one call, so that a run that is killed
leaves whole lines and at most one torn one at the end, which the next run cuts off and asks again. A
file that a run refuses stays as it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .._arrays import describe
from .._plain import unique_keys
from ..chat._files import check_file
from ..errors import InputError, MissingExtraError, install_command
from ._header import FORMAT, check_forms
from ._record import ERROR, check_record, check_types

__all__ = [
    "STARTS",
    "RecordFile",
    "check_task_name",
    "exclusive",
    "held",
    "is_torn",
    "mend_end",
    "now",
    "parse_line",
    "whole_lines",
]

STARTS = (b'{"header": {', b'{"id": ')
"""How their lines begin."""

# Of where the samples are only their digest counts: the same ones may have moved.
_NOT_COMPARED = (
    "created",
    "place",
    *(f"source.{k}" for k in ("kind", "name", "split", "revision")),
)


def now() -> str:
    """The time, as records have it: UTC, to the second, ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@contextlib.contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold a run's folder, which is made if need be.

    Raises:
        InputError: another process holds it.
        MissingExtraError: `filelock` is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder / ".lock", f"another run is writing to {str(folder)!r}"):
        yield


@contextlib.contextmanager
def held(lock_file: Path, otherwise: str) -> Iterator[None]:
    """Hold a lock; the system lets go of it if the process dies.

    Args:
        lock_file: stands for what is held.
        otherwise: what is said where another process holds it.

    Raises:
        InputError: another process holds it.
        MissingExtraError: `filelock` is not installed.
    """
    try:
        import filelock
    except ModuleNotFoundError:
        raise MissingExtraError(f"a run needs filelock: {install_command('eval')}") from None
    lock = filelock.FileLock(lock_file, timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise InputError(f"out: {otherwise}") from None
    try:
        yield
    finally:
        lock.release()


class RecordFile:
    """The records and errors of one task in one setting, to be appended to.

    Nothing in the files changes before all of them is found good. Then a torn last line is cut off,
    and one that is whole but for its end gets it.

    Args:
        folder: the run's folder; held with `exclusive` by whoever appends.
        task: the task.
        setting: the setting.
        header: the configuration, plain data. A file that is there must have the same one.

    Attributes:
        done: what each id that has a record was answered: its `parsed` and `correct`.

    Raises:
        InputError: the file was made with another configuration (the message names what differs),
            or is no file of records; or the task is no name for a file.
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, task: str, setting: str, header: Mapping[str, Any]) -> None:
        check_task_name(task)
        self.path, self._errors = _paths(folder, task, setting)
        header = _complete(task, setting, header)
        self.done: dict[str, dict[str, Any]] = {}
        for number, row in whole_lines(self.path):
            if number == 1:
                _compare(row, header, self.path)
                continue
            where = f"{self.path.name}, line {number}"
            check_record(row, where)
            name, kept = self._kept(row, where)
            self.done[name] = kept
        for number, row in whole_lines(self._errors):
            check_types(row, ERROR, f"{self._errors.name}, line {number}")
        for path in (self.path, self._errors):
            mend_end(path)
        if not self.path.exists() or not self.path.stat().st_size:
            _append(self.path, {"header": header | {"created": now()}})

    @staticmethod
    def check(folder: Path, task: str, setting: str, header: Mapping[str, Any]) -> None:
        """Refuse what opening it would refuse for its name or its header; nothing is made.

        Raises:
            InputError: the file was made with another configuration, or is none; or the task names no
                file.
        """
        check_task_name(task)
        path, errors = _paths(folder, task, setting)
        check_file(errors)
        for _, row in whole_lines(path):
            _compare(row, _complete(task, setting, header), path)
            break

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record.

        Raises:
            InputError: its id has one already.
        """
        name, kept = self._kept(record, self.path.name)
        _append(self.path, record)
        self.done[name] = kept

    def _kept(self, record: Mapping[str, Any], place: str) -> tuple[str, dict[str, Any]]:
        """A record's id, and what `done` says of it."""
        try:
            name, kept = record["id"], {key: record[key] for key in ("parsed", "correct")}
        except KeyError as error:
            raise InputError(f"{place}: expected a record with {error}") from None
        if name in self.done:
            raise InputError(f"{place}: {name!r} has a record already")
        return name, kept

    def add_error(self, row: Mapping[str, Any]) -> None:
        """Append what went wrong with a sample, which stays to be done."""
        _append(self._errors, row)


def _append(path: Path, row: Mapping[str, Any]) -> None:
    """One line in one write, so that nothing but a full disk or a crash in mid-write tears it."""
    # In ASCII, for the sake of readers that take every line separator of Unicode for a new line.
    line = json.dumps(row, allow_nan=False).encode("ascii")
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        view = memoryview(line + b"\n")
        while view:
            view = view[os.write(handle, view) :]
    finally:
        os.close(handle)


def check_task_name(task: str) -> None:
    """Refuse a task whose name is none for a file.

    Raises:
        InputError: it is none.
    """
    if not re.fullmatch(r"[\w.-]+", task):
        raise InputError(
            f"task: expected letters, digits, '_', '.' and '-', which make a file's name, got {task!r}"
        )


def _paths(folder: Path, task: str, setting: str) -> tuple[Path, Path]:
    """The file of records, and that of errors."""
    return folder / f"{task}.{setting}.jsonl", folder / f"{task}.{setting}.errors.jsonl"


def _complete(task: str, setting: str, header: Mapping[str, Any]) -> dict[str, Any]:
    return {"format": FORMAT, "task": task, "setting": setting, **header}


def whole_lines(
    path: Path, name: str | None = None, notes: list[str] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number and the object of each line that is whole, whether or not it has its end.

    None where there is no file. A torn last line is passed over.

    Args:
        path: the file.
        name: what messages call it; by default its name without the folder.
        notes: a line is added to these where the last line is torn.

    Raises:
        InputError: a line that is no object, or no file but a pipe or the like.
        OSError: it cannot be read.
    """
    check_file(path)
    if not path.exists():
        return
    name = path.name if name is None else name
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not is_torn(line):
                yield number, parse_line(line, f"{name}, line {number}")
            elif notes is not None:
                notes.append(
                    f"{name}: the last line is torn, as a run that was killed leaves it; left out"
                )


def is_torn(line: bytes, starts: Sequence[bytes] = STARTS) -> bool:
    """Whether it is the beginning of a line of these files, as a run that was killed leaves it.

    Anything else without an end is somebody's, and no run's to cut off.
    """
    if line.endswith(b"\n"):
        return False
    said = line.rstrip(b"\0")  # which a power cut may leave where the line was to be
    if not any(start.startswith(said) or said.startswith(start) for start in starts):
        return False
    if said != line:
        return True
    try:
        json.JSONDecoder().raw_decode(said.decode("utf-8", "replace"))
    except json.JSONDecodeError:
        return True
    except (ValueError, RecursionError):  # whole, and refused when it is read
        return False
    return False  # an object at least stands there, whatever follows it


def mend_end(path: Path, starts: Sequence[bytes] = STARTS) -> None:
    """Cut a torn last line off, and end one that is whole; nothing where there is no file."""
    if not path.exists():
        return
    with path.open("r+b") as file:  # also where nothing is to be done: it must be writable
        last = b""
        for line in file:
            last = line
        if is_torn(last, starts):
            file.truncate(file.seek(0, os.SEEK_END) - len(last))
        elif last and not last.endswith(b"\n"):
            file.write(b"\n")


def parse_line(line: bytes, where: str) -> dict[str, Any]:
    """The object on one line of a run's files.

    Raises:
        InputError: it is none; the message starts with `where`.
    """
    try:
        row = json.loads(line.decode("utf-8"), object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: expected JSON: {error}") from None
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected an object, got {describe(row)}")
    return row


def _compare(row: Mapping[str, Any], wanted: Mapping[str, Any], path: Path) -> None:
    """Refuse a first line that is no header, or the header of another configuration."""
    found, where = row.get("header"), f"{path.name}, line 1"
    if not isinstance(found, dict):
        raise InputError(f"{where}: expected the header of a run, got keys {', '.join(row)[:80]}")
    check_forms(found, where)
    # Through JSON, so that tuples and lists compare alike.
    before, after = _flat(found), _flat(json.loads(json.dumps(wanted)))
    changed = [
        f"{key} {_short(before.get(key))} -> {_short(after.get(key))}"
        for key in sorted(before.keys() | after.keys())
        if key not in _NOT_COMPARED and before.get(key) != after.get(key)
    ]
    if changed:
        raise InputError(
            f"{path.name} was made with another configuration: {'; '.join(changed)}. "
            "Choose another folder, or run it as it was"
        )


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            rows |= _flat(value, f"{prefix}{key}.")
        else:
            rows[f"{prefix}{key}"] = value
    return rows


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
