"""Files that are named to be read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..errors import InputError

__all__ = ["check_file"]

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def check_file(path: str | os.PathLike[str]) -> None:
    """Refuse what stands where a file should and is none: a pipe would be waited for without an end.

    What does not exist, or cannot be looked at, is for whoever opens it to tell.

    Raises:
        InputError: a folder, a pipe, a socket or a device.
    """
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(mode):
        kind = next((name for fits, name in _KINDS if fits(mode)), "a device")
        raise InputError(f"{os.fspath(path)}: expected a file, got {kind}")
