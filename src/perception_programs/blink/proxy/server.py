"""The proxy: what comes for a chat completion gets its programs, and everything is passed on."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from ... import __version__
from ..._plain import check_count
from ...errors import InputError
from ..recipes import check_experts
from ._editing import Edited, Editor, passed
from ._forward import Upstream, aiohttp
from ._request import PassThrough
from .journal import Journal
from .programs import Programs
from .recognition import Recogniser

if TYPE_CHECKING:
    from aiohttp import web

__all__ = ["HEADER", "MAX_BYTES", "Proxy"]

HEADER = "X-Perception-Program"
"""The header of a response that says what was added to its request, or why nothing was."""

MAX_BYTES = 64 * 1024**2
"""The most bytes that the body of a request may have, unless another limit is given."""

_PREFIX = "/v1"
_CHAT = f"{_PREFIX}/chat/completions"
_LONGEST_NOTE = 300  # characters; the log has all

_log = logging.getLogger(__name__)


class Proxy:
    """An endpoint for OpenAI clients, in front of a model server; an asynchronous context manager.

    A chat completion that is a question of a task gets one more text part, between the pictures of
    its last message and what follows them. Everything else is passed on as it came, and so are all
    responses, piece by piece as they come, with one more header that says what was done (`HEADER`).
    Keys and other headers are the client's. `GET /counts` gives the counts of the journal.

    Args:
        base_url: of the model server.
        recogniser: tells which task a request is a question of.
        programs: writes what is added.
        host: the address that it listens on.
        port: its port; 0 for a free one.
        log: a file that gets a line of JSON about each chat completion, or None.
        max_bytes: the most that a request's body may have; a larger one is refused (413).

    Attributes:
        url: what a client takes as its base URL, once the proxy has been entered.
        journal: the counts.

    Raises:
        InputError: an address or a limit that is none, or an expert that no task uses.
        MissingExtraError: aiohttp is not installed, or what an expert of the tasks needs.
        WeightsError: the weights of one cannot be had.
        OSError: the log cannot be written; on entering: the port is taken.
    """

    def __init__(
        self,
        base_url: str,
        recogniser: Recogniser,
        programs: Programs,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        log: str | os.PathLike[str] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        aiohttp()  # missed now and not at the first request
        self.url = ""
        self._max_bytes = check_count(max_bytes, "max_bytes")
        if not 0 <= port <= 65535:
            raise InputError(f"port: expected 0 to 65535, got {port}")
        self._place = host, port
        self._upstream = Upstream(base_url)
        check_experts(programs.tools, recogniser.recipes.values())
        for recipe in recogniser.recipes.values():
            programs.tools.check(recipe)
        self._editor = Editor(recogniser, programs)
        about = {"upstream": self._upstream.base_url, "package": __version__}
        self.journal = Journal(log, about | programs.settings(recogniser.recipes))

    async def __aenter__(self) -> Proxy:
        web = aiohttp().web
        app = web.Application(client_max_size=self._max_bytes + 1)  # from there on it stops reading
        app.router.add_get("/counts", self._report)
        app.router.add_route("*", _PREFIX + "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            auto_decompress=False,
            handler_cancellation=True,  # the model does not go on for a client that went away
            shutdown_timeout=1,
        )
        await self._upstream.open()
        try:
            await self._runner.setup()
            await web.TCPSite(self._runner, *self._place, backlog=1024).start()
        except BaseException:
            await self.__aexit__()
            raise
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}{_PREFIX}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
        await self._upstream.close()
        self._editor.close()

    async def _report(self, _: web.Request) -> web.Response:
        response: web.Response = aiohttp().web.json_response(self.journal.counts)
        return response

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.journal.requests += 1
        name = f"request {self.journal.requests}"
        body = await self._read(request)
        if body is None:
            return self._refused(413, "too large", f"expected at most {self._max_bytes} bytes")
        try:
            edited = await self._edited(request, body, name)
        except Exception as error:
            _log.exception("%s: the tools failed", name)
            return self._refused(500, "tools", f"{type(error).__name__}: {error}")
        return await self._answered(request, edited, name)

    async def _read(self, request: web.Request) -> bytes | None:
        """The body of a request, or None where it is too large."""
        if (request.content_length or 0) > self._max_bytes:
            return None
        try:
            body: bytes = await request.read()
        except aiohttp().web.HTTPRequestEntityTooLarge:
            return None
        return body if len(body) <= self._max_bytes else None

    async def _edited(self, request: web.Request, body: bytes, name: str) -> Edited:
        if request.method != "POST" or request.path != _CHAT:
            return passed(body, PassThrough("path", "expected a chat completion"), {})
        if "Content-Encoding" in request.headers:
            return passed(body, PassThrough("body", "expected JSON, got it compressed"), {})
        return await self._editor.edit(body, name)

    async def _answered(
        self, request: web.Request, edited: Edited, name: str
    ) -> web.StreamResponse:
        if edited.task is None:
            self.journal.passed[str(edited.kind)] += 1
        else:
            self.journal.added[edited.task] += 1
        status = None
        path = request.rel_url.raw_path_qs.removeprefix(_PREFIX)
        note = HEADER, _header_value(edited.note)
        try:
            response = await self._upstream.forward(request, path, edited.body, note)
            status = response.status
        except aiohttp().ClientError as error:
            status = 502
            why = f"no answer from the model server: {type(error).__name__}"
            return self._refused(status, "no answer", why)
        finally:
            if edited.kind != "path":
                self.journal.write({"request": name, **edited.about, "status": status})
        return response

    def _refused(self, status: int, kind: str, why: str) -> web.Response:
        """An error in the form that OpenAI's clients read."""
        self.journal.failed[kind] += 1
        error = {"message": f"p2 blink proxy: {why}", "type": "proxy_error", "code": kind}
        body: dict[str, Any] = {"error": {**error, "param": None}}
        response: web.Response = aiohttp().web.json_response(body, status=status)
        return response


def _header_value(text: str) -> str:
    """`text` as one line of ASCII, cut where it is long."""
    line = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    line = "".join(c for c in line if c.isprintable())
    return line if len(line) <= _LONGEST_NOTE else f"{line[:_LONGEST_NOTE]}..."
