"""A request passed on to a model server, and its response passed back, byte for byte."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...chat._address import checked_address
from ...errors import InputError, MissingExtraError, install_command

if TYPE_CHECKING:
    from aiohttp import ClientSession, web

__all__ = ["Upstream", "aiohttp", "upstream_address"]

# What is about one connection and not about the message on it (RFC 9110, 7.6.1); a body's length is
# that of what is sent on.
_OF_THE_CONNECTION = {
    *("connection", "expect", "host", "keep-alive", "proxy-authenticate", "proxy-authorization"),
    *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
}
_NOT_OURS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
_CONNECT_SECONDS = 30.0


def aiohttp() -> Any:
    """The library that does the talking.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import aiohttp
        import aiohttp.web
    except ModuleNotFoundError:
        raise MissingExtraError(f"the proxy needs aiohttp: {install_command('eval')}") from None
    return aiohttp


def upstream_address(url: str) -> str:
    """The base URL of a model server, without a slash at its end.

    Raises:
        InputError: it is none, or it has a user, a query or a fragment, which belong to requests.

    >>> upstream_address("http://localhost:8000/v1/")
    'http://localhost:8000/v1'
    """
    checked_address(url)
    if re.search(r"[?#@]", url):
        raise InputError(
            "base_url: expected an address without user, query and fragment, such as "
            "http://localhost:8000/v1; keys come from the client"
        )
    return url.rstrip("/")


class Upstream:
    """The model server.

    Args:
        base_url: what an OpenAI client would take as its base URL.
    """

    def __init__(self, base_url: str) -> None:
        self.base_url = upstream_address(base_url)
        self._session: ClientSession | None = None

    async def open(self) -> None:
        """Make ready; within the event loop that it is used in."""
        http = aiohttp()
        self._session = http.ClientSession(
            # A connection of its own for each request: one that is kept may be closed by the server
            # at the moment it is used again, and a chat completion must not be sent twice for that.
            connector=http.TCPConnector(limit=0, force_close=True),
            timeout=http.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            cookie_jar=http.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_NOT_OURS,
        )

    async def close(self) -> None:
        """Close what is open."""
        if self._session is not None:
            await self._session.close()

    async def forward(
        self, request: web.Request, path: str, body: bytes, note: tuple[str, str]
    ) -> web.StreamResponse:
        """Send a request on and its response back while it comes.

        Args:
            request: what came.
            path: what follows the base URL, as it was encoded, query and all.
            body: what is sent as its body.
            note: a header that the response gets besides its own.

        Raises:
            aiohttp.ClientError: the server did not answer. Once it has begun to, its client sees
                what the proxy sees: a connection that breaks off.
        """
        from yarl import URL

        http = aiohttp()
        assert self._session is not None
        async with self._session.request(
            request.method,
            URL(self.base_url + path, encoded=True),
            headers=_passed(request.headers.items(), "content-length"),
            data=io.BytesIO(body) if body else None,
            allow_redirects=False,
        ) as answer:
            response = http.web.StreamResponse(
                status=answer.status, reason=answer.reason, headers=_passed(answer.headers.items())
            )
            response.headers[note[0]] = note[1]
            await response.prepare(request)
            try:
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
            except http.ClientError:
                if request.transport is not None:
                    request.transport.abort()
                return response
            await response.write_eof()
        return response


def _passed(headers: Iterable[tuple[str, str]], *without: str) -> Any:
    """The headers that are passed on, in order and each as often as it came."""
    from multidict import CIMultiDict

    pairs = list(headers)
    named = {
        name.strip().lower()
        for key, value in pairs
        if key.lower() == "connection"
        for name in value.split(",")
    }
    kept = ((k, v) for k, v in pairs if k.lower() not in {*_OF_THE_CONNECTION, *named, *without})
    return CIMultiDict(kept)
