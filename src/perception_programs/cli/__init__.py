"""The command `p2`: tool output or pictures in, perception programs on stdout.

Exit status: 0 success, 1 an input could not be used, 2 wrong usage, 130 interrupted, 141 the reader
of the output went away.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Sequence

from ..errors import InputError, ToolError, WeightsError

__all__ = ["main"]

_INTERRUPTED = 130
_READER_GONE = 141  # what a shell reports of a program that dies of SIGPIPE

# Messages of the library name its arguments as Python does; here they are options.
_ARGUMENT = re.compile(
    r"^(kind|scale|key|names|tau|grid|limit|expert)(?=: )"
    r"|(?<![\w'\"/.=-])(kind|scale|key|size|names|reference|candidates|image|second)(?==)"
)
_OPTION_OF = {"candidates": "candidate"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `p2` with `argv` (the process's own arguments by default) and return its exit status."""
    _accept_any_text()
    try:
        status = _run(list(sys.argv[1:] if argv is None else argv))
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit as leaving:  # argparse, after it printed help or what is wrong
        return leaving.code if isinstance(leaving.code, int) else 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return _READER_GONE
    except (InputError, WeightsError, ToolError, ImportError, OSError) as error:
        print(f"p2: {_one_line(error)}", file=sys.stderr)
        return 1
    return status


def _run(argv: list[str]) -> int:
    # OpenCV's own lines about a broken file say nothing that the error does not; set before it loads.
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    # Imported here so that an interrupt or a missing library while loading is reported like any other.
    from .commands import parse

    command, arguments = parse(argv)
    return command.run(arguments)


def _one_line(error: BaseException) -> str:
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        text = f"{os.fspath(error.filename)!r}: {error.strerror}"
    text = _ARGUMENT.sub(lambda m: f"--{_OPTION_OF.get(m[0], m[0])}", text)
    return " ".join(text.split()) or type(error).__name__


def _accept_any_text() -> None:
    """Print characters that the terminal's encoding lacks as escapes instead of failing on them."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _silence_stdout() -> None:
    """Point stdout nowhere: the interpreter flushes it once more when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
