"""Tool calls in a process of their own, which can be stopped: a thread that computes cannot.

A call that takes too long, fills the memory or crashes a decoder ends that process and nothing else;
the next call starts another.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from ..errors import ToolError
from .toolbox import Toolbox, ToolResult

__all__ = ["Worker"]

_PATIENCE = 120.0  # seconds for a process to import what it needs, on a busy machine


class Worker:
    """A `Toolbox` in another process. One call at a time; `stop` may come from any thread.

    Args:
        settings: what that `Toolbox` is made with; plain data.
        timeout: seconds that a call may take.
    """

    def __init__(self, settings: Mapping[str, Any], timeout: float) -> None:
        self._settings = dict(settings)
        self._timeout = timeout
        self._running: tuple[SpawnProcess, Connection] | None = None

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """What `Toolbox.call` returns.

        Raises:
            ToolError: as there; or the time is up, or the process ended.
        """
        process, connection = self._started()
        try:
            connection.send((name, dict(arguments)))
            if not connection.poll(self._timeout):
                self._end(process, connection)
                raise ToolError(
                    f"{name}: stopped after {self._timeout:g} seconds; try a smaller picture"
                )
            failed, answer = connection.recv()
        except (EOFError, OSError):
            self._end(process, connection)
            raise ToolError(f"{name}: it ended without an answer; try a smaller picture") from None
        if failed:
            raise ToolError(answer)
        result: ToolResult = answer
        return result

    def stop(self) -> None:
        """End the process, and with it a call that is going on."""
        if self._running is not None:
            self._end(*self._running)

    def _started(self) -> tuple[SpawnProcess, Connection]:
        if self._running is not None and self._running[0].is_alive():
            return self._running
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, self._settings), daemon=True)
        process.start()
        there.close()  # so that the end of the process ends the connection
        self._running = process, here
        if not here.poll(_PATIENCE) or here.recv() != "ready":
            self._end(process, here)
            raise ToolError("the tools did not start; try again")
        return process, here

    def _end(self, process: SpawnProcess, connection: Connection) -> None:
        process.kill()
        process.join()
        if self._running is not None and self._running[0] is process:
            self._running = None
            connection.close()


def _serve(connection: Connection, settings: Mapping[str, Any]) -> None:
    """What the process does: answer calls until the other side goes away."""
    toolbox = Toolbox(**settings)
    connection.send("ready")
    while True:
        try:
            name, arguments = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer = False, toolbox.call(name, arguments)
        except ToolError as error:
            answer = True, str(error)  # type: ignore[assignment]
        try:
            connection.send(answer)
        except OSError:
            return
