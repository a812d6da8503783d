"""A process's stdin and stdout as the lines of a protocol, none longer than a limit."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import threading
from typing import Any

__all__ = ["Wire"]

_CHUNK = 2**16
_INVALID_REQUEST = -32600
_ID = re.compile(rb'"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")')


class Wire:
    """What MCP's stdio transport takes for stdin and for stdout.

    Its own reader takes a line of any length into memory. Here one that is too long is read to its end in
    pieces that are forgotten, and answered with an error. While this is open, stdin is empty and stdout
    goes to stderr for everything else in the process, and for its children.

    Args:
        limit: the longest line, in bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lines = os.fdopen(os.dup(0), "rb", _CHUNK, closefd=False)
        self._out = os.fdopen(os.dup(1), "wb", _CHUNK)
        self._writing = threading.Lock()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def __aiter__(self) -> Wire:
        return self

    async def __anext__(self) -> str:
        loop = asyncio.get_running_loop()
        coming: asyncio.Future[bytes] = loop.create_future()

        def hand_over(line: bytes) -> None:
            if not coming.done():
                coming.set_result(line)

        def read() -> None:
            line = self._next()
            with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(hand_over, line)

        # A daemon, because nothing but a line ends the reading, and Ctrl-C must end the process.
        threading.Thread(target=read, daemon=True).start()
        line = await coming
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")

    async def write(self, text: str) -> None:
        """Send a line."""
        from anyio.to_thread import run_sync

        await run_sync(self._send, text.encode())

    async def flush(self) -> None:
        """Nothing: each line is sent at once."""

    def _next(self) -> bytes:
        """The next line within the limit; empty at the end."""
        while True:
            line = self._lines.readline(self._limit + 1)
            if len(line) <= self._limit or line.endswith(b"\n"):
                return line
            last = self._skip(line[-_CHUNK:])
            self._refuse(line[:_CHUNK], last)

    def _skip(self, last: bytes) -> bytes:
        """Reads on to the end of a line; the last that was seen of it."""
        while chunk := self._lines.readline(_CHUNK):
            last = (last + chunk)[-_CHUNK:]
            if chunk.endswith(b"\n"):
                break
        return last

    def _refuse(self, first: bytes, last: bytes) -> None:
        """Answers a line that was too long; its id is at one end, since what is long are the params."""
        found = _ID.search(first.partition(b'"params"')[0])
        if found is None:
            found = next(iter(reversed(list(_ID.finditer(last)))), None)
        error = {"code": _INVALID_REQUEST, "message": f"expected at most {self._limit:,} bytes"}
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": None, "error": error}
        if found is not None:
            answer["id"] = json.loads(found[1])
        self._send(json.dumps(answer).encode() + b"\n")

    def _send(self, data: bytes) -> None:
        with self._writing:
            self._out.write(data)
            self._out.flush()
