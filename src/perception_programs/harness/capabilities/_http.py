"""Requests to the web, of limited size and time, that don't reach what is private."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from ...errors import InputError, MissingExtraError, ToolError, install_command

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

__all__ = ["Answer", "Client"]

_REDIRECTIONS = 5
_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # an IPv4 address is inside
_AGENT = "perception-programs (https://pypi.org/project/perception-programs)"


@dataclass(frozen=True)
class Answer:
    """What a server sent.

    Attributes:
        url: where from, after redirections.
        status: of HTTP.
        kind: the content's media type.
        data: the content.
    """

    url: str
    status: int
    kind: str
    data: bytes

    def json(self) -> Any:
        """The content as JSON.

        Raises:
            ToolError: it is none.
        """
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            raise ToolError(f"{_host(self.url)} answered with something that is no JSON") from None


class Client:
    """Makes requests.

    Args:
        timeout: seconds for each.
        most: bytes of an answer; a larger one is refused.
        allow_private: whether addresses of this machine and of its network may be asked.
    """

    def __init__(
        self, *, timeout: float = 20.0, most: int = 5 * 1024**2, allow_private: bool = False
    ) -> None:
        self._timeout, self._most, self._private = timeout, most, allow_private

    async def get(
        self,
        url: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """What a server answers; redirections are followed, each checked like the first.

        Raises:
            InputError: no address of the web, or one that is private.
            ToolError: no answer, too many redirections, or one that is too large.
        """
        return await self._asked("GET", url, {"params": query, "headers": headers})

    async def post(self, url: str, data: Any, *, query: Mapping[str, str] | None = None) -> Answer:
        """What a server answers to JSON.

        Raises:
            As `get`.
        """
        return await self._asked("POST", url, {"json": data, "params": query})

    async def _asked(self, method: str, url: str, more: Mapping[str, Any]) -> Answer:
        try:
            import aiohttp
        except ImportError:
            raise MissingExtraError(
                f"the web needs aiohttp: {install_command('harness')}"
            ) from None
        timeout = aiohttp.ClientTimeout(total=self._timeout)
        connector = aiohttp.TCPConnector(resolver=None if self._private else _public_resolver())
        try:
            async with aiohttp.ClientSession(
                timeout=timeout, connector=connector, headers={"User-Agent": _AGENT}
            ) as session:
                for _ in range(_REDIRECTIONS + 1):
                    self._check(url)
                    async with session.request(
                        method, url, allow_redirects=False, **more
                    ) as response:
                        place = response.headers.get("Location")
                        if 300 <= response.status < 400 and place:
                            # Neither what was asked nor who asks is for the next server.
                            method, url, more = "GET", urljoin(str(response.url), place), {}
                            continue
                        data = await response.content.read(self._most + 1)
                        while len(data) <= self._most and not response.content.at_eof():
                            data += await response.content.read(self._most + 1 - len(data))
                        if len(data) > self._most:
                            raise ToolError(f"{_host(url)} sent more than {self._most} bytes")
                        kind = response.content_type
                        return Answer(str(response.url), response.status, kind, data)
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            said = str(error.__cause__ or error) or type(error).__name__
            raise ToolError(f"{_host(url)} gave no answer: {said[:200]}") from None
        raise ToolError(f"{_host(url)} sends on and on to other addresses")

    def _check(self, url: str) -> None:
        from yarl import URL  # aiohttp's own: the host as it will be asked, however it is written

        try:
            parts = URL(url)
            scheme, host = parts.scheme, parts.raw_host
        except (ValueError, TypeError):
            scheme, host = "", None
        if scheme not in ("http", "https") or not host:
            raise InputError(
                f"url: expected an address of the web (http or https), got {url[:200]!r}"
            )
        if not self._private and _is_private(host):
            raise InputError(f"url: {host} is a private address, which is not opened")


def _is_private(host: str) -> bool:
    """Whether a host is written as an address that is not everybody's."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        bare = host.lower().rstrip(".")
        return bare == "localhost" or bare.replace(".", "").isdigit()  # such as 127.1, 2130706433
    inner = getattr(address, "sixtofour", None) or getattr(address, "ipv4_mapped", None)
    if inner is None and address.version == 6 and address in _NAT64:
        inner = ipaddress.ip_address(int(address) & 0xFFFF_FFFF)
    return any(not one.is_global or one.is_multicast for one in (address, inner) if one is not None)


def _public_resolver() -> AbstractResolver:
    """Resolves names to addresses that are everybody's, so that a name can't lead to a private one."""
    from aiohttp.abc import AbstractResolver, ResolveResult
    from aiohttp.resolver import ThreadedResolver

    class Public(AbstractResolver):  # type: ignore[misc]
        def __init__(self) -> None:
            self._resolver = ThreadedResolver()

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            found: list[ResolveResult] = await self._resolver.resolve(host, port, family)
            if any(_is_private(one["host"]) for one in found):
                raise OSError(f"{host} leads to a private address, which is not opened")
            return found

        async def close(self) -> None:
            await self._resolver.close()

    return Public()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or url[:80]
    except ValueError:
        return url[:80]
