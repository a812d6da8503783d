"""MCP clients written from the specification alone: JSON-RPC in lines, or in HTTP requests."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


def command(*options: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "perception_programs.cli",
        "mcp",
        "--expert",
        "flow=dis",
        *options,
    ]


class RawStdio:
    """A client that writes lines to a server's stdin and reads its stdout."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._last = 0

    @property
    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self.process.stdin and self.process.stdout
        return self.process.stdin, self.process.stdout

    def send(self, line: bytes) -> None:
        self._pipes[0].write(line + b"\n")
        self._pipes[0].flush()

    def read(self) -> dict[str, Any]:
        line = self._pipes[1].readline()
        assert line, "the server ended"
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self.send(json.dumps(request).encode())
        answer = self.read()
        assert answer["id"] == self._last
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return result

    def memory(self) -> int:
        """The most bytes that the server's processes have held, as far as Linux tells."""
        return sum(_peak(pid) for pid in (self.process.pid, *_children(self.process.pid)))


def _children(pid: int) -> list[int]:
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for listed in lists for child in listed.read_text("ascii").split()]


def _peak(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


@contextmanager
def stdio(*options: str) -> Iterator[RawStdio]:
    process = subprocess.Popen(
        command(*options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        client = RawStdio(process)
        try:
            client.ask("initialize", **INITIALIZE)
            client.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
            yield client
            client._pipes[0].close()  # the end of stdin ends the server
            assert process.wait(20) == 0
        finally:
            process.kill()


@contextmanager
def over_http(*options: str) -> Iterator[str]:
    """The URL of a server at a free port."""
    process = subprocess.Popen(
        command("--http", "0", *options), stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        try:
            assert process.stderr
            yield process.stderr.readline().decode().strip()
        finally:
            process.kill()


def post(url: str, body: Any, length: int | None = None, **headers: str) -> tuple[int, bytes]:
    """Status and answer of one request; `body` may be bytes or an iterable of them."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=30)
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    sent |= {} if length is None else {"Content-Length": str(length)}
    try:
        # A refusal may come while the body is still being sent.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", f"/{path}", body, sent)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
