"""Files under one folder, and no others."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..errors import InputError
from ._limits import RefusedError

__all__ = ["Root", "shown"]

_SHOWN = 80


def shown(text: str) -> str:
    """What a caller sent, short enough to be said back."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


class Root:
    """A folder whose files may be read.

    What lies outside is answered like what does not exist, whether it exists or not, so that nothing
    can be learnt of it. A symbolic link is followed only to places inside.

    Args:
        folder: the folder.

    Raises:
        InputError: there is no such folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).resolve()
        if not self.folder.is_dir():
            raise InputError(f"root: expected a folder, got {os.fspath(folder)!r}")

    def find(self, name: str) -> Path | None:
        """The regular file that `name` means, relative to the folder or absolute; else None."""
        try:
            file = (self.folder / name).resolve()
            if not file.is_relative_to(self.folder):
                return None
            # A pipe or a device would block whoever reads it.
            return file if stat.S_ISREG(file.stat().st_mode) else None
        except (OSError, ValueError, RuntimeError):  # no such file, a NUL in it, a loop of links
            return None

    def read(self, file: Path, limit: int, what: str) -> bytes:
        """The bytes of a file that `find` found.

        Raises:
            RefusedError: it is larger than `limit`, or cannot be read.
        """
        try:
            with file.open("rb") as opened:
                data = opened.read(limit + 1)
        except OSError as error:
            raise RefusedError(f"{what}: {self.name(file)!r}: {error.strerror}") from None
        if len(data) > limit:
            size = f"a file of {file.stat().st_size:,} bytes"
            raise RefusedError(f"{what}: expected at most {limit:,} bytes, got {size}")
        return data

    def name(self, file: Path) -> str:
        """A file as callers know it: relative to the folder."""
        return file.relative_to(self.folder).as_posix()
