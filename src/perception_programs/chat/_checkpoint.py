"""Where a local language model's files are, and what tells one checkpoint from another."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._arrays import describe
from ..errors import InputError, MissingExtraError, WeightsError, install_command
from ..experts._weights import (
    WEIGHT_FILES,
    Source,
    cached_revision,
    is_cached,
    reachable,
)

__all__ = ["digest", "identity", "locate", "named"]

_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_WEIGHTS = {".safetensors", ".bin", ".pth", ".ckpt", ".pt"}
_DECIDING = {".json", ".jinja", ".txt", ".model", *_WEIGHTS}
"""Files of a checkpoint that decide answers: configurations, template, tokenizer, weights."""

_WHOLE = 32 * 1024**2  # bytes; files up to this size are digested whole
_SAMPLES, _SAMPLE = 64, 64 * 1024  # of larger ones so many blocks, and bytes of each


def locate(place: Any) -> Source:
    """Where a model is to be loaded from: a folder, the hub's cache, or the hub.

    Raises:
        InputError: it is neither a folder nor a name that the hub could know.
        WeightsError: it is not on this machine and the hub cannot be reached.
    """
    if not isinstance(place, (str, os.PathLike)) or not os.fspath(place):
        raise InputError(f"model: expected a folder or a name on the hub, got {describe(place)}")
    text = os.fspath(place)
    folder = Path(text).expanduser()
    if folder.is_dir():
        return Source(str(folder), local=True)
    if not isinstance(place, str) or not _HUB_NAME.fullmatch(text):
        raise InputError(
            f"model: expected a folder or a name on the hub (OWNER/NAME), got {text!r}"
        )
    if _is_complete(text):
        return Source(text, local=True)
    _check_hub(text)
    return Source(text, local=False)


def _is_complete(repository: str) -> bool:
    """Whether the cache has the weights of a repository, all files of them: downloads may be cut."""
    from huggingface_hub import try_to_load_from_cache

    for name in WEIGHT_FILES:
        file = try_to_load_from_cache(repository, name)
        if not isinstance(file, str):
            continue
        if not name.endswith(".json"):
            return True
        shards = set(json.loads(Path(file).read_text(encoding="utf-8"))["weight_map"].values())
        return all(is_cached(repository, [shard]) for shard in shards)
    return False


def _check_hub(repository: str) -> None:
    """Find out within seconds whether the hub answers; the libraries try for the better part of a minute."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        raise _weights_error(repository, "are not on this machine, and HF_HUB_OFFLINE is set")
    if not reachable(constants.ENDPOINT):
        raise _weights_error(
            repository, f"are not on this machine, and {constants.ENDPOINT} cannot be reached"
        )


@contextmanager
def named(place: str) -> Iterator[None]:
    """Turn what loading may raise into a `WeightsError` that says which model and what to do.

    Raises:
        MissingExtraError: a library is missing, rather than a file.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except ImportError as error:  # what its processor needs besides
        raise MissingExtraError(
            f"model {place!r}: {_reason(error)}; {install_command('models')}"
        ) from error
    except Exception as error:  # libraries raise many kinds for a folder that lacks a file
        raise _weights_error(place, f"cannot be loaded: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _weights_error(place: str, what: str) -> WeightsError:
    return WeightsError(
        f"model {place!r}: its files {what}. Download it where there is a connection "
        f"(hf download OWNER/NAME --local-dir FOLDER) and give the folder in its place."
    )


def identity(source: Source) -> dict[str, Any]:
    """Plain data that tells a checkpoint: a folder's name and digest, or a repository's commit."""
    folder = Path(source.place)
    if folder.is_dir():
        return {"place": f"local:{folder.resolve().name}", "digest": digest(folder)}
    return {"place": source.place, "revision": cached_revision(source.place)}


def digest(place: str | os.PathLike[str]) -> str:
    """A digest that tells one checkpoint from another without reading all of its gigabytes.

    Args:
        place: its one file, or its folder, of which the files that decide answers count, also those
            in folders of it.
    """
    home = Path(place)
    if home.is_dir():
        names = (path.relative_to(home) for path in home.rglob("*") if path.suffix in _DECIDING)
        found = sorted(name.as_posix() for name in names if not _is_hidden(name))
        files = [(name, home / name) for name in found if (home / name).is_file()]
    else:
        files = [(home.name, home)]
    total = hashlib.sha256()
    for name, path in files:
        size = path.stat().st_size
        total.update(f"{name}\0{size}\0".encode())
        with path.open("rb") as file:
            if size <= _WHOLE:
                total.update(file.read())
                continue
            for index in range(_SAMPLES):
                file.seek(index * (size - _SAMPLE) // (_SAMPLES - 1))
                total.update(file.read(_SAMPLE))
    return total.hexdigest()[:16]


def _is_hidden(name: Path) -> bool:
    """Whether it is a download's or a repository's own, such as `.cache` or `.git`."""
    return any(part.startswith(".") for part in name.parts)
