"""Watches a tree of processes, and ends it when it takes more than it may."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from .limits import Limits

__all__ = ["Watch", "descendants"]

_INTERVAL = 0.05
_DISK_EVERY = 5  # looks at the files less often than at the processes
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_GONE_SECONDS = 5.0


class Watch:
    """Watches one session's processes from the beginning of a run to its end.

    Args:
        root: the process at the top; those that come of it count.
        token: in the environment of each of them.
        folders: where they can write.
        limits: what they may use.
    """

    def __init__(self, root: int, token: str, folders: Sequence[Path], limits: Limits) -> None:
        self._root, self._token, self._folders, self._limits = root, token, folders, limits
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._cpu_before = 0.0
        self._first: tuple[tuple[int, bytes], ...] = ()
        self.ended: str | None = None
        """Which limit was passed: `time`, `cpu`, `memory`, `processes` or `disk`."""

    def settle(self) -> None:
        """Note the processes that are there before any code runs.

        One of them is the first of its namespace: when it ends, so does everything in there, at once.
        """
        self._first = tuple((pid, _began(pid)) for pid in descendants(self._root))

    def begin(self) -> None:
        """Begin to watch."""
        self.ended = None
        self._stop.clear()
        self._cpu_before = sum(_use(pid)[0] for pid in descendants(self._root))
        self._thread = threading.Thread(target=self._look, name="sandbox watch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Watch no longer."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def kill(self) -> None:
        """End all of them, and wait until they are gone."""
        for pid, began in self._first:
            if _began(pid) == began:  # and not another's by now
                _signal(pid)
        deadline = time.monotonic() + _GONE_SECONDS
        while time.monotonic() < deadline:
            pids = {*descendants(self._root), *_marked(self._token)}
            if not pids:
                return
            for pid in pids:
                _signal(pid)
            time.sleep(0.01)

    def _look(self) -> None:
        began, count = time.monotonic(), 0
        while not self._stop.wait(_INTERVAL):
            self.ended = self._passed(time.monotonic() - began, count)
            if self.ended is not None:
                self.kill()
                return
            count += 1

    def _passed(self, seconds: float, count: int) -> str | None:
        limits = self._limits
        if seconds > limits.wall_seconds:
            return "time"
        pids = descendants(self._root)
        # Besides the code's own: what shuts it in, and its first process.
        if len(pids) > limits.processes + 4:
            return "processes"
        uses = [_use(pid) for pid in pids]
        if sum(cpu for cpu, _ in uses) - self._cpu_before > limits.cpu_seconds:
            return "cpu"
        if sum(memory for _, memory in uses) > limits.memory_bytes:
            return "memory"
        if count % _DISK_EVERY == 0 and _too_much(self._folders, limits):
            return "disk"
        return None


def descendants(root: int) -> list[int]:
    """A process and all that come of it, as far as they are there."""
    children: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - a path object for each process takes too long
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            parent = _parent(int(name))
            if parent is not None:
                children.setdefault(parent, []).append(int(name))
    found, waiting = [], [root] if _parent(root) is not None else []
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, ())
    return found


def _stat(pid: int) -> list[bytes] | None:
    """The fields of a process's state behind its name, unless it is gone or only not yet buried."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - many a second
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if len(fields) < 22 or fields[0] in (b"Z", b"X") else fields


def _parent(pid: int) -> int | None:
    fields = _stat(pid)
    return None if fields is None else int(fields[1])


def _began(pid: int) -> bytes:
    """When a process began; empty for one that is gone."""
    fields = _stat(pid)
    return b"" if fields is None else fields[19]


def _use(pid: int) -> tuple[float, int]:
    """Seconds of processor time, with those of children that ended, and bytes of memory."""
    fields = _stat(pid)
    if fields is None:
        return 0.0, 0
    return sum(map(int, fields[11:15])) / _TICKS, int(fields[21]) * _PAGE


def _marked(token: str) -> list[int]:
    """Processes of this user that carry a token in their environment, wherever they went."""
    sign, found = token.encode(), []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if sign in (entry / "environ").read_bytes() and _stat(int(entry.name)) is not None:
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return


def _too_much(folders: Sequence[Path], limits: Limits) -> bool:
    """Whether there are too many files, or too large ones."""
    size = count = 0
    waiting = [str(folder) for folder in folders]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count > limits.files:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return size > limits.disk_bytes
