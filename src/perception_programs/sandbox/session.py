"""Running code that nobody vouches for: in a process of its own, shut in, within limits."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import IO, Any

from .._arrays import describe
from ..errors import InputError, ToolError
from ..images import RGB
from ._exchange import PICTURES, decoded, read_file, read_value, write_bindings
from ._watch import Watch
from .isolation import Folders, Isolation, choose, command, strange_user
from .limits import Limits

__all__ = ["Outcome", "Sandbox", "Session"]

_START_SECONDS = 60.0
_LARGEST_ANSWER = 8 * 1024**2
_MOST_OUTPUT = 64 * 1024**2  # bytes of output after which the code is ended
_CHUNK = 1 << 16
_SAID = {
    "time": "it was ended after {wall_seconds:g} s",
    "cpu": "it was ended after {cpu_seconds:g} s of processor time",
    "memory": "it was ended: it took more than {memory_bytes} bytes of memory",
    "processes": "it was ended: it started more than {processes} processes",
    "disk": "it was ended: it wrote more than {disk_bytes} bytes or {files} files",
    "output": "it was ended: it printed without an end",
    "killed": "its process ended on the way",
    "reply": "it was ended: it interfered with the sandbox",
}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of some code.

    Attributes:
        ok: whether it ran to its end.
        stdout: what it printed, on both streams, cut with a visible mark.
        error: what went wrong in one line, with the line of the code; None if nothing did.
        values: what it left: `result` (the value of its last expression, or the variable of that name), and
            what it gave to `publish(name, value)`: arrays, pictures (H×W×3 uint8) and plain data.
        pictures: the picture files in its working folder that are new or were written anew, in the order of
            writing, by name.
        problems: what was left and could not be taken out, each with the reason.
        ended: `done`, `error`, or which limit ended it: `time`, `cpu`, `memory`, `processes`, `disk`,
            `output`, `killed`, `reply`.
        seconds: how long it took.
        bindings: what the code could use, by name, in a few words.
        restarted: whether what earlier runs left was lost before this one.
    """

    ok: bool
    stdout: str
    error: str | None
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    pictures: tuple[tuple[str, RGB], ...] = field(default=(), repr=False)
    problems: tuple[str, ...] = ()
    ended: str = "done"
    seconds: float = 0.0
    bindings: Mapping[str, str] = field(default_factory=dict)
    restarted: bool = False


class Sandbox:
    r"""Where code can be run.

    Args:
        limits: what code may use.
        isolation: `auto` (bubblewrap where it works, else unshare), `bwrap`, `unshare`, or `none`.
        python: the interpreter; its packages are the ones that code can import.
        allow_unisolated: run code even where it cannot be shut in: only for code that is trusted.

    Raises:
        InputError: no such isolation.
        ToolError: no isolation can be had here; the message says what is missing.

    >>> try:
    ...     outcome = Sandbox().run("print(sum(boxes)); max(boxes)", {"boxes": [3, 4]})
    ... except ToolError:  # no isolation on this machine
    ...     outcome = None
    >>> outcome is None or (outcome.stdout, outcome.values["result"]) == ("7\n", 4)
    True
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        isolation: str = "auto",
        python: str = sys.executable,
        allow_unisolated: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self.python = python
        self.isolation: Isolation = choose(
            isolation, allow_unisolated=allow_unisolated, python=python
        )

    def run(self, code: str, bindings: Mapping[str, Any] | None = None) -> Outcome:
        """Run code once.

        Args:
            code: Python.
            bindings: what it may use, by the names of its variables: numpy arrays, PIL images, plain data.
                It gets copies, read-only where they are arrays.

        Raises:
            InputError: a binding is none of these.
            ToolError: the process could not be started.
        """
        with self.open(bindings) as session:
            return session.run(code)

    def open(
        self,
        bindings: Mapping[str, Any] | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> Session:
        """A session: variables, functions and imports stay from one run to the next.

        Args:
            bindings: as for `run`.
            files: what lies in the working folder at first, by name.

        Raises:
            InputError: a binding or a file's name cannot be used.
        """
        return Session(self, bindings or {}, files or {})


class Session:
    """Code with a memory. Use it in a `with` block, or close it.

    Once a limit ended the code, what it kept is lost; the next run starts anew and says so.
    """

    def __init__(
        self, sandbox: Sandbox, bindings: Mapping[str, Any], files: Mapping[str, bytes]
    ) -> None:
        self._sandbox = sandbox
        self._folders = Folders(Path(tempfile.mkdtemp(prefix="p2-sandbox-")))
        self._user = None if sandbox.isolation.method == "none" else strange_user()
        self._process: _Process | None = None
        self._runs = 0
        self._seen: dict[str, tuple[int, int, int]] = {}
        try:
            self._folders.make(self._user)
            self.bindings: Mapping[str, str] = write_bindings(self._folders.given, bindings)
            shutil.copy(_child(), self._folders.given / "child.py")
            for file in self._folders.given.iterdir():
                file.chmod(0o644)  # whatever the umask
            for name, data in files.items():
                self.add_file(name, data)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def folder(self) -> Path:
        """Its working folder on this machine. What lies there may be anything: links, pipes."""
        return self._folders.work

    def add_file(self, name: str, data: bytes) -> None:
        """Put a file into the working folder, before any code or between two runs.

        Raises:
            InputError: it is no plain name.
        """
        if not name or name != Path(name).name or name.startswith("."):
            raise InputError(f"files: expected a plain name, got {name!r}")
        part = self._folders.root / "part"
        part.write_bytes(data)
        if self._user is not None:
            os.chown(part, self._user, self._user)
        part.replace(self._folders.work / name)
        self._seen.update(self._files())

    def run(self, code: str) -> Outcome:
        """Run code after what ran before.

        Raises:
            InputError: it is no text.
            ToolError: the process could not be started.
        """
        if not isinstance(code, str):
            raise InputError(f"code: expected a text, got {describe(code)}")
        restarted = self._process is None and self._runs > 0
        if self._process is None:
            self._process = _Process(self._sandbox, self._folders, self._user)
        self._runs += 1
        began = time.monotonic()
        answer, output, ended = self._process.run(code)
        seconds = time.monotonic() - began
        if answer is None:
            self._process.close()
            self._process = None
        return self._outcome(answer, output, ended, seconds, restarted)

    def close(self) -> None:
        """End its processes and remove its folders."""
        if self._process is not None:
            self._process.close()
            self._process = None
        _remove(self._folders.root)

    def _outcome(
        self,
        answer: Mapping[str, Any] | None,
        output: str,
        ended: str,
        seconds: float,
        restarted: bool,
    ) -> Outcome:
        limits = self._sandbox.limits
        values, problems = self._values((answer or {}).get("values"))
        problems += [str(one)[:300] for one in (answer or {}).get("refused", ())][:20]
        written = [str(one) for one in (answer or {}).get("written", ())]
        pictures, broken = self._pictures(written)
        error = (answer or {}).get("error") if answer else _SAID[ended].format(**asdict(limits))
        for file in self._folders.out.iterdir():
            with contextlib.suppress(OSError):
                file.unlink()
        if ended == "done" and error is not None:
            ended = "memory" if str(error).startswith("MemoryError") else "error"
        return Outcome(
            ok=answer is not None and error is None,
            stdout=output,
            error=None if error is None else str(error)[:2000],
            values=values,
            pictures=pictures,
            problems=tuple(problems + broken),
            ended=ended,
            seconds=round(seconds, 3),
            bindings=self.bindings,
            restarted=restarted,
        )

    def _values(self, left: Any) -> tuple[dict[str, Any], list[str]]:
        limits = self._sandbox.limits
        values, problems = {}, []
        for one in left if isinstance(left, list) else ():
            if not isinstance(one, dict) or not isinstance(one.get("name"), str):
                problems.append("what was left has no name")
                continue
            try:
                values[one["name"]] = read_value(
                    self._folders.out, one, limits.file_bytes, limits.pixels
                )
            except InputError as error:
                problems.append(f"{one['name'][:80]}: {error}")
        return values, problems

    def _pictures(self, written: list[str]) -> tuple[tuple[tuple[str, RGB], ...], list[str]]:
        """The pictures that are new or written anew, in the order of writing; and what is broken."""
        limits = self._sandbox.limits
        order = {name: place for place, name in enumerate(written)}
        found = self._files()
        new = [name for name, state in found.items() if self._seen.get(name) != state]
        new.sort(key=lambda name: (found[name][0], order.get(name, -1), name))
        self._seen = found
        pictures, broken = [], []
        for name in new:
            try:
                data = read_file(self._folders.work / name, limits.file_bytes)
                pictures.append((name, decoded(data, name, limits.pixels)))
            except InputError as error:
                broken.append(str(error))
        return tuple(pictures), broken

    def _files(self) -> dict[str, tuple[int, int, int]]:
        """The files in the working folder that are called like pictures: when written, size, number."""
        found = {}
        with contextlib.suppress(OSError), os.scandir(self._folders.work) as entries:
            for count, entry in enumerate(entries):
                if count >= self._sandbox.limits.files:
                    break
                if entry.name.lower().endswith(PICTURES):
                    with contextlib.suppress(OSError):
                        state = entry.stat(follow_symlinks=False)
                        found[entry.name] = (state.st_mtime_ns, state.st_size, state.st_ino)
        return found


class _Process:
    """The process of a session, and the pipes to it."""

    def __init__(self, sandbox: Sandbox, folders: Folders, user: int | None) -> None:
        limits, method = sandbox.limits, sandbox.isolation.method
        token = secrets.token_hex(16)
        reading, writing = os.pipe()
        rlimits = {
            "RLIMIT_AS": limits.memory_bytes,
            "RLIMIT_FSIZE": limits.file_bytes,
            "RLIMIT_NOFILE": limits.open_files,
            "RLIMIT_NPROC": limits.processes if method != "none" else 4096,
            "RLIMIT_CORE": 0,
        }
        base = folders.inside(method)
        arguments = [f"{base}/in/child.py", f"{base}/in", f"{base}/out", str(writing)]
        arguments.append(json.dumps(rlimits))
        line = command(method, folders, sandbox.python, arguments, user)
        temporary = str(folders.temporary) if method == "none" else "/tmp"
        try:
            self._process = subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(writing,),
                cwd=folders.work,
                env=_environment(temporary, token),
                start_new_session=True,
            )
        except OSError as error:
            os.close(reading)
            raise ToolError(f"sandbox: cannot be started: {error.strerror}") from None
        finally:
            os.close(writing)
        self._answers: IO[bytes] = os.fdopen(reading, "rb", 0)
        for stream in (self._answers, self._process.stdout):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
        self._limits = limits
        self._watch = Watch(self._process.pid, token, folders.writable, limits)
        ready, output, _ = self._answer(_START_SECONDS)
        self._watch.settle()
        if ready != {"ready": True}:
            self.close()
            reason = (ready or {}).get("failed") or output.strip() or "it ended at once"
            raise ToolError(f"sandbox: cannot be started: {str(reason)[:500]}")

    def run(self, code: str) -> tuple[dict[str, Any] | None, str, str]:
        """Its answer, what was printed, and how it ended; no answer where it was ended."""
        number = secrets.token_hex(8)  # so that what code answers itself is not taken for an answer
        data = json.dumps({"id": number, "code": code}).encode()
        self._watch.begin()
        try:
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(struct.pack(">I", len(data)) + data)
                self._process.stdin.flush()
            except OSError:
                return None, "", "killed"
            answer, output, ended = self._answer(self._limits.wall_seconds + 10)
        finally:
            self._watch.end()
        if self._watch.ended is not None:
            return None, output, self._watch.ended
        if answer is None or not _is_answer(answer, number):
            return None, output, ended if answer is None else "reply"
        return answer, output, "done"

    def close(self) -> None:
        """End it and all that came of it."""
        self._watch.kill()
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._answers):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()

    def _answer(self, seconds: float) -> tuple[dict[str, Any] | None, str, str]:
        """The next answer and what is printed until then."""
        assert self._process.stdout is not None
        printed, total, answer = bytearray(), 0, bytearray()
        keep = 4 * self._limits.output_characters  # bytes of a character
        deadline = time.monotonic() + seconds
        ended = "killed"
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            waiting.register(self._answers, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    ended = "time"
                    break
                whole = _whole(answer)
                for key, _ in waiting.select(0 if whole else left):
                    data = os.read(key.fd, _CHUNK)
                    if not data:
                        waiting.unregister(key.fileobj)
                    elif key.fileobj is self._answers:
                        answer += data
                    else:
                        total += len(data)
                        printed += data[: max(0, keep - len(printed))]
                if total > _MOST_OUTPUT or len(answer) > _LARGEST_ANSWER:
                    ended = "output" if total > _MOST_OUTPUT else "reply"
                    break
                if whole or self._answers not in {
                    key.fileobj for key in waiting.get_map().values()
                }:
                    break
        said = self._cut(bytes(printed), total)
        return _read_answer(bytes(answer)), said, ended

    def _cut(self, printed: bytes, total: int) -> str:
        text = printed.decode("utf-8", "replace")
        most = self._limits.output_characters
        if len(text) <= most and total <= len(printed):
            return text
        return f"{text[:most]}\n[cut here: it printed {total} bytes]"


def _whole(answer: bytearray) -> bool:
    return len(answer) >= 4 and len(answer) >= 4 + struct.unpack(">I", answer[:4])[0]


def _read_answer(data: bytes) -> dict[str, Any] | None:
    if len(data) < 4 or len(data) != 4 + struct.unpack(">I", data[:4])[0]:
        return None
    try:
        found = json.loads(data[4:])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_answer(answer: Mapping[str, Any], number: str) -> bool:
    """Whether an answer has the form of the child's; code may have written it."""
    return (
        set(answer) == {"id", "error", "values", "refused", "written"}
        and answer["id"] == number
        and isinstance(answer["error"], (str, type(None)))
        and all(isinstance(answer[key], list) for key in ("values", "refused", "written"))
    )


def _environment(temporary: str, token: str) -> dict[str, str]:
    """What code finds in its environment: nothing of this process's."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "LANG": "C.UTF-8",
        "HOME": temporary,
        "TMPDIR": temporary,
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": temporary,
        "P2_SANDBOX": token,
        **dict.fromkeys(threads, "1"),
    }


def _child() -> str:
    return str(resources.files(__package__).joinpath("child.py"))


def _remove(folder: Path) -> None:
    """Remove a folder whose contents may have been made hard to remove: deep, or closed."""
    for line in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        if folder.exists():
            subprocess.run([*line, "--", str(folder)], capture_output=True, check=False)
