"""BLINK's data set on the Hugging Face hub, by way of its own library and cache."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import InputError, MissingExtraError, install_command
from ._parquet import find_files

__all__ = ["REPOSITORY", "fetch"]

REPOSITORY = "BLINK-Benchmark/BLINK"
"""The repository of the benchmark's authors."""

_COMMIT = re.compile(r"[0-9a-f]{40}")


def fetch(repository: str, task: str, split: str, revision: str | None) -> tuple[list[Path], str]:
    """The files of a task and split, downloaded if need be, and the commit that they are of.

    Without a revision, what is in the hub's cache is taken, and the network is asked only for what
    is not there: a later commit does not change a run half way. A full commit that is in the cache
    needs no network either.

    Args:
        repository: a data set in BLINK's layout.
        task: a subtask as the folders are named.
        split: `val` or `test`.
        revision: a commit, branch or tag, or None.

    Raises:
        InputError: it cannot be had; the message says why, and what to do without a network.
        MissingExtraError: huggingface_hub is not installed.
    """
    if revision is None or _COMMIT.fullmatch(revision):
        cached = _cached(repository, task, split, revision)
        if cached is not None:
            return cached
    try:
        folder = _snapshot(repository, task, split, revision, local=False)
        files = find_files(folder / task, split)
    except MissingExtraError:
        raise
    except Exception as error:  # of many libraries: the network's, the hub's, the file system's
        reason = str(error).strip(" .\n").splitlines() or [type(error).__name__]
        raise _error(repository, task, split, revision, reason[0]) from error
    if not files:
        raise _error(repository, task, split, revision, f"it has no {task}/{split}-*.parquet")
    return files, folder.name


def _cached(
    repository: str, task: str, split: str, revision: str | None
) -> tuple[list[Path], str] | None:
    """The files and commit, if all of them are in the hub's cache."""
    try:
        folder = _snapshot(repository, task, split, revision, local=True)
        files = find_files(folder / task, split)
    except (FileNotFoundError, InputError):  # not there, or only a part of it
        return None
    return (files, folder.name) if files else None


def _snapshot(repository: str, task: str, split: str, revision: str | None, *, local: bool) -> Path:
    """The hub cache's folder of a commit, named by it."""
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"the hub needs huggingface_hub: {install_command('eval')}; "
            "without it, source=FOLDER loads files that are on this machine"
        ) from None
    return Path(
        snapshot_download(
            repository,
            repo_type="dataset",
            revision=revision,
            allow_patterns=[f"{task}/{split}-*.parquet"],
            local_files_only=local,
        )
    )


def _error(repository: str, task: str, split: str, revision: str | None, reason: str) -> InputError:
    here = "" if repository == REPOSITORY else " (and no folder of that name is here)"
    at = "" if revision is None else f" at {revision}"
    return InputError(
        f"source: cannot get {task} ({split}) of the hub's data set {repository}{at}{here}: {reason}. "
        f"Without a network: copy {task}/{split}-*.parquet of https://huggingface.co/datasets/"
        f"{repository} into FOLDER/{task}/ and pass source=FOLDER"
    )
