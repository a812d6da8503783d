"""The questions of a task, from wherever they are."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .._arrays import describe
from ..errors import InputError
from . import _hub
from ._collection import TASKS, Samples, nearest
from ._hardblink import TASK as HARDBLINK
from ._hardblink import is_hardblink, read_hardblink
from ._parquet import find_files, read_parquet
from .manifest import read_manifest

__all__ = ["TASKS", "Samples", "load", "tasks_in"]

_SPLITS = ("val", "test")
_FILES = (".jsonl", ".parquet")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


def load(
    task: str,
    source: str | os.PathLike[str] | None = None,
    *,
    split: str = "val",
    revision: str | None = None,
) -> Samples:
    """The questions of a task, in the order of their source; no picture is decoded.

    Args:
        task: a subtask as the hub names it (`Multi-view_Reasoning`; spaces do as well), or
            `HardBLINK`: its questions with 3, 4 and 5 points.
        source: None or `hub` for the hub, or the name of a repository there; a parquet file of the
            hub's; a folder with the task's parquet files, or with a folder of them for each task;
            a folder in HardBLINK's layout, or with one named HardBLINK; or a manifest (.jsonl).
            What exists on this machine is never looked for on the hub.
        split: `val` or `test`, whose answers are not published; for the hub and its files.
        revision: a commit, branch or tag of the hub. Without it: what the hub's cache has, or else
            the newest. The full commit is in the `source` of what comes back.

    Raises:
        InputError: no such task or source, or a question that cannot be used; the message names
            the file and the row or line.
        MissingExtraError: pyarrow or huggingface_hub is needed and not installed.
    """
    if not isinstance(task, str) or not task.strip():
        raise InputError(f"task: expected the name of a task, got {describe(task)}")
    if split not in _SPLITS:
        raise InputError(f"split: expected val or test, got {describe(split)}")
    repository = _repository(source)
    if repository is not None:
        return _from_hub(task, repository, split, revision)
    assert source is not None  # None means the hub
    path = Path(source)
    if not path.exists():
        raise InputError(f"source: no file or folder {str(source)!r}")
    if revision is not None:
        raise InputError(f"revision: expected none for {str(source)!r}, which is not on the hub")
    if path.suffix.lower() == ".jsonl":
        _check_no_split(split, path)
        return read_manifest(path, task)
    task = task.replace(" ", "_")
    if task == HARDBLINK:
        _check_no_split(split, path)
        return _from_hardblink(path)
    return _from_parquet(path, task, split)


def _repository(source: object) -> str | None:
    """The repository of the hub that a source names, or None for a path."""
    if source is None or source == "hub":
        return _hub.REPOSITORY
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"source: expected a path or a repository, got {describe(source)}")
    name = os.fspath(source)
    if not isinstance(source, str) or Path(name).exists():
        return None
    return name if _REPOSITORY.fullmatch(name) and Path(name).suffix not in _FILES else None


def _from_hub(task: str, repository: str, split: str, revision: str | None) -> Samples:
    task = task.replace(" ", "_")
    if task == HARDBLINK:
        raise InputError(
            f"{HARDBLINK}: expected the folder of its files (--source {HARDBLINK}=FOLDER, or "
            "source=FOLDER from Python): it is not in BLINK's data set on the hub, and comes as folders "
            "questions, answers and images; see docs/blink-data.md"
        )
    if task not in TASKS:
        raise InputError(
            f"task: expected one of {', '.join(TASKS)}, or one of your own with its manifest as the "
            f"source, got {task!r}{nearest(task, (*TASKS, HARDBLINK))}"
        )
    files, commit = _hub.fetch(repository, task, split, revision)
    return Samples(
        read_parquet(files, task, split),
        task=task,
        kind="hub",
        name=repository,
        place=repository,
        split=split,
        revision=commit,
    )


def _from_parquet(path: Path, task: str, split: str) -> Samples:
    if path.is_dir():
        files = find_files(path / task, split) or find_files(path, split)
    elif path.suffix.lower() == ".parquet":
        files = [path]
    else:
        raise InputError(f"source: expected a folder, .parquet or .jsonl, got {str(path)!r}")
    if not files:
        found = sorted(place.parent.name for place in path.glob(f"*/{split}-*.parquet"))
        have = list(dict.fromkeys(found))
        hint = nearest(task, (*TASKS, HARDBLINK, *have))
        if hint:  # it is not the folder that is wrong
            known = ", ".join(have) or f"none with {split}-*.parquet"
            raise InputError(
                f"task: expected one of those in {str(path)!r}, {known}, got {task!r}{hint}"
            )
        raise InputError(
            f"source: expected {task}/{split}-*.parquet or {split}-*.parquet in {str(path)!r}, which "
            f"has {', '.join(have) or 'neither'}"
        )
    return Samples(
        read_parquet(files, task, split),
        task=task,
        kind="parquet",
        name=path.absolute().name,
        place=str(path.absolute()),
        split=split,
    )


def _from_hardblink(path: Path) -> Samples:
    folder = path if is_hardblink(path) else path / HARDBLINK
    if not is_hardblink(folder):
        raise InputError(
            f"source: expected the folders questions, answers and images of {HARDBLINK} in "
            f"{str(path)!r}, or in a folder {HARDBLINK} there"
        )
    return Samples(
        read_hardblink(folder),
        task=HARDBLINK,
        kind="hardblink",
        name=path.absolute().name,
        place=str(path.absolute()),
    )


def tasks_in(folder: str | os.PathLike[str], split: str = "val") -> tuple[str, ...]:
    """The tasks of BLINK and HardBLINK whose files are in a folder, each in a folder of its name; or the
    one task that the folder itself has the name and the files of, or the layout.

    Args:
        folder: the folder.
        split: `val` or `test`.
    """
    path = Path(folder)
    if is_hardblink(path):
        return (HARDBLINK,)
    name = path.resolve().name
    if name in TASKS and find_files(path, split):
        return (name,)
    found = [task for task in TASKS if find_files(path / task, split)]
    return (*found, *([HARDBLINK] if is_hardblink(path / HARDBLINK) else []))


def _check_no_split(split: str, path: Path) -> None:
    if split != _SPLITS[0]:
        raise InputError(
            f"split: expected none for {str(path)!r}, which is not split, got {split!r}"
        )
