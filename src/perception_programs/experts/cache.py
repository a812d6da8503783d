"""Expert results kept on disk, so that the same picture is not put through the same model twice.

An entry's name is a digest of what determines the result: the pixels of each image, the expert, its
checkpoint and options, and the versions of the libraries. Entries are written under another name and
then renamed, so that several processes can share a folder; what one removes, another makes again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import results
from .._arrays import is_array, to_numpy
from ..errors import InputError
from ..images import is_picture, load_image
from .base import Expert, installed_version

__all__ = ["CachedExpert", "ResultCache", "default_folder"]

_SUFFIX = ".npz"
_MAX_BYTES = 10 * 1024**3
_ABANDONED = 3600  # seconds; no write takes so long
_KINDS = {name: getattr(results, name) for name in results.__all__}


def default_folder() -> Path:
    """Where results are kept: `P2_CACHE` if it is set, else the user's cache folder."""
    if os.environ.get("P2_CACHE"):
        return Path(os.environ["P2_CACHE"])
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "perception-programs"


class ResultCache:
    """A folder of results, limited in size; the least recently used go first.

    Args:
        folder: where; `default_folder()` when not given. It is made when something is first kept.
        max_bytes: the limit.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, *, max_bytes: int = _MAX_BYTES
    ) -> None:
        if max_bytes < 1:
            raise InputError(f"max_bytes: expected at least 1, got {max_bytes!r}")
        self.folder = default_folder() if folder is None else Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"cache: expected a folder, got the file {str(self.folder)!r}")
        self.max_bytes = max_bytes

    def get(self, key: str) -> Any:
        """The result kept under `key`, or None; a damaged entry counts as none and is removed."""
        path = self.folder / (key + _SUFFIX)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                result = _restored(data)
        except FileNotFoundError:
            return None
        except Exception:  # a write that another program cut short, a disk that lost a block
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used now
        return result

    def put(self, key: str, result: Any) -> None:
        """Keep a result under `key`, and drop the least recently used ones past the limit."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, **_stored(result))
            Path(name).replace(self.folder / (key + _SUFFIX))
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
        self._prune()

    def entries(self) -> list[tuple[str, int, float]]:
        """Each entry's key, bytes and time of last use, the latest first."""
        found = []
        for path in self.folder.glob("*" + _SUFFIX):
            with contextlib.suppress(FileNotFoundError):
                stat = path.stat()
                found.append((path.stem, stat.st_size, stat.st_mtime))
        return sorted(found, key=lambda entry: -entry[2])

    def clear(self) -> int:
        """Remove every entry; how many there were."""
        removed = 0
        for path in self.folder.glob("*" + _SUFFIX):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
                removed += 1
        self._sweep()
        return removed

    def _prune(self) -> None:
        kept = 0
        for key, size, _ in self.entries():
            kept += size
            if kept > self.max_bytes:
                with contextlib.suppress(FileNotFoundError):
                    (self.folder / (key + _SUFFIX)).unlink()
        self._sweep()

    def _sweep(self) -> None:
        """Remove what interrupted writes left, but nothing that another process may be writing."""
        for path in self.folder.glob("*.part"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()


class CachedExpert:
    """An expert whose results are kept; it is called like the one it wraps.

    Args:
        expert: what makes the results.
        identity: what it was made with, besides its card: options, number type, weights.
        cache: where results are kept.
    """

    def __init__(self, expert: Expert, identity: Mapping[str, Any], cache: ResultCache) -> None:
        self.expert = expert
        self.card = expert.card
        self.cache = cache
        self._identity = {
            **dict(sorted(identity.items())),
            "expert": self.card.name,
            "checkpoint": self.card.checkpoint,
            "versions": [_version(name) for name in (self.card.library, "perception-programs")],
        }

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """The kept result for these inputs, or a new one."""
        options = _settled(options)
        key = self._key(inputs, options)
        result = self.cache.get(key)
        if result is None:
            result = self.expert(*inputs, **options)
            self.cache.put(key, result)
            result = _restored(_stored(result))  # the same arrays, on the host, as when it is kept
        return result

    def __getattr__(self, name: str) -> Any:
        if name == "expert":  # not yet there while it is being unpickled
            raise AttributeError(name)
        return getattr(self.expert, name)

    def batch(self, *inputs: Any, **options: Any) -> list[Any]:
        """The results of many inputs; only those that are not kept are made, one batch for all."""
        options = _settled(options)
        rows = list(zip(*(list(column) for column in inputs), strict=True))
        keys = [self._key(row, options) for row in rows]
        found = [self.cache.get(key) for key in keys]
        missing = [n for n, result in enumerate(found) if result is None]
        if missing:
            columns = zip(*(rows[n] for n in missing), strict=True)
            made = self.expert.batch(*(list(column) for column in columns), **options)
            for n, result in zip(missing, made, strict=True):
                self.cache.put(keys[n], result)
                found[n] = _restored(_stored(result))
        return found

    def _key(self, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> str:
        digest = hashlib.sha256()
        for part in _parts(list(inputs), pictures=True):
            digest.update(part)
        asked = dict(sorted(options.items()))
        for part in _parts([asked, self._identity], pictures=False):
            digest.update(part)
        return digest.hexdigest()


def _settled(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with every one-time iterator as a list: it is read for the key and for the call."""
    return {k: list(v) if isinstance(v, Iterator) else v for k, v in options.items()}


def _parts(value: Any, *, pictures: bool) -> Iterator[bytes]:
    """What tells `value` apart from any other, as bytes; pictures, where there may be some, by pixels."""
    if isinstance(value, Mapping):
        yield b"{"
        for key in value:  # in its own order, which results follow
            yield from _parts(key, pictures=False)
            yield from _parts(value[key], pictures=pictures)
        yield b"}"
    elif isinstance(value, (list, tuple)):
        yield b"["
        for part in value:
            yield from _parts(part, pictures=pictures)
        yield b"]"
    elif pictures and is_picture(value):
        pixels = load_image(value)
        yield f"image{pixels.shape}".encode()
        yield np.ascontiguousarray(pixels).tobytes()
    elif is_array(value):
        array = to_numpy(value)
        yield f"array{array.shape}{array.dtype}".encode()
        yield np.ascontiguousarray(array).tobytes()
    else:
        yield f"{type(value).__name__}:{value!r};".encode()


def _stored(result: Any) -> dict[str, Any]:
    """The arrays of a result, and its other fields as JSON."""
    kind = type(result).__name__
    if kind not in _KINDS:
        raise InputError(f"cache: expected a result, got {kind}")
    arrays: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        if is_array(value):
            arrays[field.name] = to_numpy(value)
        else:
            plain[field.name] = value
    text = json.dumps({"kind": kind, "fields": plain}, default=dict)
    return {**arrays, "_": np.frombuffer(text.encode(), np.uint8)}


def _restored(data: Any) -> Any:
    about = json.loads(data["_"].tobytes())
    fields = {name: data[name] for name in data if name != "_"}
    return _KINDS[about["kind"]](**about["fields"], **fields)


def _version(library: str) -> str:
    return " ".join(filter(None, (library, installed_version(library))))
