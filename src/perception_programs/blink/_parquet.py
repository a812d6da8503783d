"""Questions in the parquet files of BLINK's data set on the hub.

A file of a task is mostly pictures. Loading reads everything else; the bytes of a picture are read
when it is asked for, and none is decoded before that. A parquet file is read by groups of rows
(files of pictures often have 100 in each), so the encoded pictures of the last group asked for stay
in memory: going through the questions in order reads each of them once.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any

from .._arrays import describe
from .._plain import Meta
from ..chat._files import check_file
from ..errors import InputError, MissingExtraError, install_command
from ._collection import answer_letter
from .samples import Sample, SampleImage, subtask

__all__ = ["find_files", "read_parquet"]

IMAGES = ("image_1", "image_2", "image_3", "image_4")

_REQUIRED = ("idx", "question", "choices", "answer")
_META = ("prompt", "explanation")
_HIDDEN = "hidden"  # what the hub has in place of an answer of the test split
_SHARD = re.compile(r"-(\d{5})-of-(\d{5})\.parquet")


def find_files(folder: Path, split: str) -> list[Path]:
    """The files of a split in the folder of one task, in order; empty if there are none.

    Raises:
        InputError: some of the files that the split was cut into are missing.
    """
    files = sorted(folder.glob(f"{split}-*.parquet"))
    parts = [_SHARD.search(file.name) for file in files]
    numbers = [(int(part[1]), int(part[2])) for part in parts if part]
    if numbers and numbers != [(n, len(files)) for n in range(len(files))]:
        names = ", ".join(file.name for file in files)
        raise InputError(f"{folder}: expected all parts of one {split} split, got {names}")
    return files


def read_parquet(files: Sequence[Path], task: str, split: str) -> list[Sample]:
    """The questions in the files of one task and split, in order.

    Raises:
        InputError: a file is not in the hub's schema, or a row cannot be used; the message names
            the file and the row, which is counted from 1.
        MissingExtraError: pyarrow is not installed.
    """
    samples = []
    for file in files:
        check_file(file)
        store = _Store(file)
        for number, row in enumerate(store.rows()):
            where = f"{file}, row {number + 1}"
            try:
                samples.append(_sample(row, number, store, task, split))
            except InputError as error:
                raise InputError(f"{where}: {error}") from None
    return samples


def _sample(row: dict[str, Any], number: int, store: _Store, task: str, split: str) -> Sample:
    idx = row["idx"]
    if not isinstance(idx, str) or subtask(idx) != task or not idx.startswith(f"{split}_"):
        raise InputError(f"idx: expected {split}_{task}_ and a number, got {describe(idx)}")
    present = [column for column in IMAGES if row[column] is not None]
    if present != list(IMAGES[: len(present)]):
        missing = next(column for column in IMAGES if column not in present)
        raise InputError(f"{idx}: expected images without a gap, got {present[-1]}, no {missing}")
    answer = row["answer"]
    return Sample(
        id=idx,
        task=task,
        question=row["question"],
        choices=tuple(row["choices"] or ()),
        images=tuple(
            _StoredImage(store, number, n, PurePosixPath(row[column]["path"] or f"{idx}_{n}").name)
            for n, column in enumerate(present, 1)
        ),
        answer=None if answer == _HIDDEN else answer_letter(answer, idx),
        meta=Meta({name: row[name] for name in _META if row.get(name)}),
    )


class _StoredImage(SampleImage):
    """A picture whose bytes stay in the file of its question until they are asked for."""

    _store: _Store
    _row: int
    _number: int

    def __init__(self, store: _Store, row: int, number: int, name: str) -> None:
        for field, value in {"_store": store, "_row": row, "_number": number, "name": name}.items():
            object.__setattr__(self, field, value)

    @property
    def source(self) -> bytes:
        """The bytes of the image file, read now."""
        data: bytes | None = self._store.picture(self._row, self._number)
        if data is None:
            raise InputError(f"{self._store.path}: expected the bytes of {self.name!r}, got none")
        return data


class _Store:
    """One parquet file. It is open only while something is read; any thread may ask it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()  # threads that want the same group wait for one reading
        self._group = lru_cache(maxsize=1)(self._read_group)
        self._starts = [0]  # the first row of each group

    def rows(self) -> list[dict[str, Any]]:
        """All columns but the bytes of pictures; of those, which are there and their names.

        Raises:
            InputError: it is no parquet file, or lacks a column.
        """
        with self._open() as file:
            _check_columns(file.schema_arrow, self.path)
            groups = range(file.num_row_groups - 1)
            sizes = (file.metadata.row_group(n).num_rows for n in groups)
            self._starts = list(accumulate(sizes, initial=0))
            names = [*_REQUIRED, *(name for name in _META if name in file.schema_arrow.names)]
            rows: list[dict[str, Any]] = file.read(
                [*names, *(f"{name}.path" for name in IMAGES)]
            ).to_pylist()
            return rows

    def picture(self, row: int, number: int) -> bytes | None:
        """The bytes of picture `number`, from 1, of a row, from 0."""
        n = bisect_right(self._starts, row) - 1
        with self._lock:
            group = self._group(n)
        column = group.column(IMAGES[number - 1])
        data: bytes | None = column[row - self._starts[n]]["bytes"].as_py()
        return data

    def _read_group(self, n: int) -> Any:
        """The pictures of a group of rows, encoded, as a table."""
        with self._open() as file:
            return file.read_row_group(n, [f"{name}.bytes" for name in IMAGES])

    @contextmanager
    def _open(self) -> Iterator[Any]:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ModuleNotFoundError:
            raise MissingExtraError(
                f"parquet files need pyarrow: {install_command('eval')}"
            ) from None
        try:
            with pq.ParquetFile(self.path, memory_map=True) as file:
                yield file
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.path}: cannot be read as parquet: {error}") from error


def _check_columns(schema: Any, path: Path) -> None:
    for name in (*_REQUIRED, *IMAGES):
        if name not in schema.names:
            have = ", ".join(schema.names)
            raise InputError(f"{path}: expected the column {name!r}, got {have}")
    for name in IMAGES:
        kind = schema.field(name).type
        fields = {kind.field(n).name for n in range(kind.num_fields)}
        if not {"bytes", "path"} <= fields:
            raise InputError(f"{path}: expected {name} to have bytes and a path, got {kind}")
