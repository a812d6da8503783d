"""How a process is shut in: with bubblewrap, with unshare, or not at all."""

from __future__ import annotations

import functools
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from ..errors import InputError, ToolError

__all__ = ["Folders", "Isolation", "Method", "choose", "command", "missing", "strange_user"]

Method = Literal["bwrap", "unshare", "none"]

INSIDE = "/p2"
"""Where a session's folders are to code that is shut in."""

_TRY_SECONDS = 10
_FIRST_STRANGER, _STRANGERS = 1_500_000_000, 500_000_000
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
_SETTINGS = ("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/alternatives")
_LACKS = (
    "files of this user can be read and written",
    "the network can be reached",
    "processes of this user can be signalled",
)


@dataclass(frozen=True)
class Isolation:
    """How code is shut in.

    Attributes:
        method: `bwrap`, `unshare`, or `none`.
        lacks: what is not prevented, in words; nothing where namespaces are.
    """

    method: Method
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Folders:
    """The folders of a session on this machine.

    Attributes:
        root: holds the others.
    """

    root: Path

    @property
    def given(self) -> Path:
        """What the code may use; it cannot write there."""
        return self.root / "in"

    @property
    def out(self) -> Path:
        """What it leaves."""
        return self.root / "out"

    @property
    def work(self) -> Path:
        """Its working folder."""
        return self.root / "work"

    @property
    def temporary(self) -> Path:
        """Its folder for temporary files."""
        return self.root / "tmp"

    @property
    def writable(self) -> tuple[Path, ...]:
        """Where it can write."""
        return self.out, self.work, self.temporary

    def make(self, user: int | None) -> None:
        """Make them, for a user to write in where one is named."""
        self.given.mkdir(mode=0o755)
        for folder in self.writable:
            folder.mkdir(mode=0o755)  # nobody else gets as far as here
            if user is not None:
                os.chown(folder, user, user)

    def inside(self, method: Method) -> str:
        """Where they are to the code."""
        return str(self.root) if method == "none" else INSIDE


def missing() -> str:
    """Why nothing can be shut in on this machine, and what to do; for an error."""
    if not sys.platform.startswith("linux"):
        return f"code is shut in on Linux only, and this is {sys.platform}"
    return "neither bubblewrap nor unshare can be used here (install bubblewrap, or allow user namespaces)"


def choose(wanted: str, *, allow_unisolated: bool, python: str) -> Isolation:
    """The isolation to use.

    Args:
        wanted: `auto`, or one of the methods.
        allow_unisolated: whether `none` may be used.
        python: the interpreter that is to run.

    Raises:
        InputError: no such method, or `none` without leave.
        ToolError: it cannot be had here; the message says what is missing.
    """
    if wanted not in ("auto", "bwrap", "unshare", "none"):
        raise InputError(f"isolation: expected auto, bwrap, unshare or none, got {wanted!r}")
    if wanted in ("auto", "bwrap") and _works("bwrap", python):
        return Isolation("bwrap")
    if wanted in ("auto", "unshare") and _works("unshare", python):
        return Isolation("unshare")
    if wanted in ("auto", "none") and allow_unisolated:
        return Isolation("none", _LACKS)
    if wanted == "none":
        raise InputError("isolation: none needs allow_unisolated=True, for code that is trusted")
    what = missing() if wanted == "auto" else f"{wanted} cannot be used here"
    raise ToolError(f"code cannot be run: {what}; allow_unisolated=True runs it without protection")


def strange_user() -> int | None:
    """A user that nobody is, for one session of root's; None for anybody else.

    The kernel limits nobody's number of processes who is root, in whatever namespace.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    return _FIRST_STRANGER + secrets.randbelow(_STRANGERS)


def command(
    method: Method, folders: Folders, python: str, arguments: Sequence[str], user: int | None
) -> list[str]:
    """The command that runs Python shut in, as `user` where root starts it; see `Folders.inside`."""
    run = [python, "-I", *arguments]
    if method == "none":
        return run
    powers = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    if user is not None:
        powers += [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    run = ["setpriv", *powers, *run]
    return (
        _unshare(folders, python, run, user)
        if method == "unshare"
        else _bwrap(folders, python, run, user)
    )


def _unshare(folders: Folders, python: str, run: list[str], user: int | None) -> list[str]:
    script = str(resources.files(__package__).joinpath("unshare.sh"))
    readable = _readable(python)
    return [
        *("unshare", *(("--user", "--map-root-user") if user is None else ())),
        *("--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"),
        *("--propagation", "private", "sh", script),
        *(str(folders.root), str(len(readable)), *readable, *run),
    ]


def _bwrap(folders: Folders, python: str, run: list[str], user: int | None) -> list[str]:
    # First, since Python itself may be in a folder below.
    binds = ["--bind", str(folders.temporary), "/tmp"]
    for path in _readable(python):
        if Path(path).is_symlink() and Path(path).parent == Path("/"):
            binds += ["--symlink", str(Path(path).readlink()), path]
        else:
            above = [str(parent) for parent in reversed(Path(path).parents)][1:]
            binds += [word for parent in above for word in ("--perms", "0755", "--dir", parent)]
            binds += ["--ro-bind", path, path]
    binds += ["--perms", "0755", "--dir", INSIDE, "--ro-bind", str(folders.given), f"{INSIDE}/in"]
    for folder in folders.writable:
        binds += ["--bind", str(folder), f"{INSIDE}/{folder.name}"]
    if user is None:
        namespaces = ["--unshare-all", "--uid", "65534", "--gid", "65534"]
    else:  # root needs no namespace of users, and in one could not become another
        kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
        namespaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
        namespaces += [word for power in kept for word in ("--cap-add", power)]
    return [
        *("bwrap", "--cap-drop", "ALL", *namespaces, "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session"),
        *binds,
        *("--proc", "/proc", "--dev", "/dev"),
        *("--bind", str(folders.temporary), "/dev/shm"),
        # Of root's process even the kernel's settings under /proc could be written.
        *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", f"{INSIDE}/work", "--", *run),
    ]


@functools.cache
def _readable(python: str) -> tuple[str, ...]:
    """What Python needs of this machine's files, to be read."""
    found = [path for path in (*_SYSTEM, *_SETTINGS) if os.path.lexists(path)]
    for path in _python_folders(python):
        inside = any(Path(path).is_relative_to(other) for other in found)
        if not inside and Path(path).is_dir():
            found.append(path)
    return tuple(found)


def _python_folders(python: str) -> Iterator[str]:
    """The folders of an interpreter and of the packages that it finds, outermost first."""
    code = (
        "import sys, os; print('\\n'.join([sys.base_prefix, sys.prefix, os.path.dirname(sys.executable), "
        "*(p for p in sys.path if p.endswith(('site-packages', 'dist-packages')))]))"
    )
    asked = subprocess.run(
        [python, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    folders = {
        path for line in asked.stdout.splitlines() for path in (line, os.path.realpath(line))
    }
    return iter(sorted(folders, key=lambda path: (len(Path(path).parts), path)))


@functools.cache
def _works(method: Method, python: str) -> bool:
    """Whether a method runs Python here."""
    if not sys.platform.startswith("linux") or shutil.which(method) is None:
        return False
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        folders, user = Folders(Path(folder)), strange_user()
        folders.make(user)
        line = command(method, folders, python, ["-c", "import numpy"], user)
        try:
            done = subprocess.run(
                line, capture_output=True, timeout=_TRY_SECONDS, stdin=subprocess.DEVNULL, env={}
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0
