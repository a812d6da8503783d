"""The benchmark's data: the hub's parquet files, from the hub or from a folder."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any

from .._arrays import describe
from ..errors import InputError, MissingExtraError, install_command
from .tasks import Criterion, Task, Turn, criteria_from

__all__ = ["REPOSITORY", "load_tasks"]

REPOSITORY = "ScaleAI/VisualToolBench"
"""The data set of the benchmark's authors on the Hugging Face hub."""

_TEXTS = ("id", "prompt_category", "eval_focus")
_LISTS = ("turn_prompts", "turn_golden_answers", "rubrics_by_turn")
_PICTURES = "images_by_turn"


def load_tasks(
    source: str | os.PathLike[str] = REPOSITORY, *, split: str = "test", revision: str | None = None
) -> tuple[list[Task], str]:
    """The tasks of the benchmark, in the data's order. Pictures are read when they are asked for.

    Args:
        source: a parquet file, a folder with such files (`SPLIT-*.parquet`, or any), or the name of a
            data set on the hub.
        split: of the data set.
        revision: a commit, branch or tag of the hub's data set.

    Returns:
        The tasks, and where they are from: the folder or file, or the hub's data set and commit.

    Raises:
        InputError: it cannot be had, or a task of it is malformed; the message names the task.
        MissingExtraError: pyarrow or huggingface_hub is not installed.
    """
    place = Path(source)
    if place.is_file():
        files, origin = [place], str(place)
    elif place.is_dir():
        files = _files(place, split)
        origin = str(place)
        if not files:
            raise InputError(f"source: expected parquet files in {str(place)!r}, got none")
    else:
        files, origin = _from_hub(str(source), split, revision)
    tasks = [task for file in files for task in _read(file)]
    twice = {task.id for task in tasks if sum(other.id == task.id for other in tasks) > 1}
    if twice:
        raise InputError(f"source: the task {sorted(twice)[0]!r} is there twice")
    return tasks, origin


def _files(folder: Path, split: str) -> list[Path]:
    inner = [folder, folder / "data"]
    found = [file for place in inner for file in sorted(place.glob(f"{split}-*.parquet"))]
    return found or [file for place in inner for file in sorted(place.glob("*.parquet"))]


def _from_hub(repository: str, split: str, revision: str | None) -> tuple[list[Path], str]:
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"the hub needs huggingface_hub: {install_command('eval')}; "
            "without it, source=FOLDER loads files that are on this machine"
        ) from None
    patterns = [f"{split}-*.parquet", f"data/{split}-*.parquet"]
    try:
        folder = Path(
            snapshot_download(
                repository, repo_type="dataset", revision=revision, allow_patterns=patterns
            )
        )
        files = _files(folder, split)
        reason = f"it has no {split}-*.parquet"
    except Exception as error:  # of many libraries: the network's, the hub's, the file system's
        files, reason = [], (str(error).strip(" .\n").splitlines() or [type(error).__name__])[0]
    if not files:
        raise InputError(
            f"source: cannot get {split} of the hub's data set {repository} (and no file or folder of "
            f"that name is here): {reason}. Without a network: copy its parquet files into a folder "
            "and pass source=FOLDER"
        )
    return files, f"{repository}@{folder.name}"


def _read(file: Path) -> Iterator[Task]:
    store = _Store(file)
    for number, row in enumerate(store.rows()):
        name = row.get("id")
        if not isinstance(name, str) or not name:
            raise InputError(f"{file}, row {number + 1}: id: expected a text, got {describe(name)}")
        yield _task(row, store, number, f"task {name}")


def _task(row: Mapping[str, Any], store: _Store, number: int, where: str) -> Task:
    for key in _TEXTS:
        if not isinstance(row[key], str):
            raise InputError(f"{where}: {key}: expected a text, got {describe(row[key])}")
    lists = {key: list(row[key] or ()) for key in _LISTS}
    count = len(lists["turn_prompts"])
    if any(len(values) != count for values in lists.values()):
        sizes = ", ".join(f"{len(values)} {key}" for key, values in lists.items())
        raise InputError(f"{where}: expected as many of each a turn, got {sizes}")
    stated = row.get("num_turns")
    if stated is not None and stated != count:
        raise InputError(
            f"{where}: num_turns: expected {count}, as there are prompts, got {stated}"
        )
    shown = store.pictures_of(number)
    if len(shown) > count:
        raise InputError(f"{where}: {_PICTURES}: expected {count} turns, got {len(shown)}")
    turns = []
    for n in range(count):
        for key in _LISTS[:2]:
            if not isinstance(lists[key][n], str):
                found = describe(lists[key][n])
                raise InputError(f"{where}, turn {n + 1}: {key}: expected a text, got {found}")
        rubric: tuple[Criterion, ...] = criteria_from(
            lists["rubrics_by_turn"][n], f"{where}, turn {n + 1}"
        )
        images = shown[n] if n < len(shown) else ()
        turns.append(
            Turn(lists["turn_prompts"][n], lists["turn_golden_answers"][n], rubric, images)
        )
    return Task(row["id"], tuple(turns), row["prompt_category"], row["eval_focus"])


class _Store:
    """One parquet file; the pictures of the last group of rows asked for stay in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._group = lru_cache(maxsize=1)(self._read_group)
        self._starts = [0]
        self._counts: list[list[int]] = []

    def rows(self) -> list[dict[str, Any]]:
        """All columns but pictures."""
        with self._open() as file:
            names = file.schema_arrow.names
            missing = [key for key in (*_TEXTS, *_LISTS, _PICTURES) if key not in names]
            if missing:
                raise InputError(
                    f"{self.path}: expected the column {missing[0]!r}, got {', '.join(names)}"
                )
            groups = range(file.num_row_groups)
            sizes = [file.metadata.row_group(n).num_rows for n in groups]
            self._starts = list(accumulate(sizes[:-1], initial=0))
            optional = [key for key in ("num_turns",) if key in names]
            leaves = [file.schema.column(n).path for n in range(len(file.schema))]
            pictures = [path for path in leaves if path.split(".")[0] == _PICTURES]
            light = [path for path in pictures if path.endswith(".path")] or pictures
            rows: list[dict[str, Any]] = file.read(
                [*_TEXTS, *_LISTS, *optional, *light]
            ).to_pylist()
            for row in rows:  # how many pictures there are can be told without their bytes
                self._counts.append([len(turn or ()) for turn in row.pop(_PICTURES) or ()])
            return rows

    def pictures_of(self, row: int) -> list[tuple[Callable[[], bytes], ...]]:
        """For each turn of a row its pictures, to be read when they are asked for."""
        return [
            tuple(partial(self.picture, row, turn, n) for n in range(count))
            for turn, count in enumerate(self._counts[row])
        ]

    def picture(self, row: int, turn: int, number: int) -> bytes:
        """The bytes of a picture's file."""
        value = self._turns(row)[turn][number]
        data = value.get("bytes") if isinstance(value, Mapping) else value
        if not isinstance(data, bytes):
            raise InputError(
                f"{self.path}, row {row + 1}: expected a picture's bytes, got {describe(value)}"
            )
        return data

    def _turns(self, row: int) -> Sequence[Any]:
        n = bisect_right(self._starts, row) - 1
        with self._lock:
            group = self._group(n)
        return group[row - self._starts[n]] or ()

    def _read_group(self, n: int) -> list[Any]:
        with self._open() as file:
            column: list[Any] = file.read_row_group(n, [_PICTURES]).column(0).to_pylist()
            return column

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
