"""Searching the web, for text and for pictures, with a provider that a configuration names."""

from __future__ import annotations

import base64
import html
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ..._arrays import describe
from ...chat._images import encode_image
from ...errors import InputError, ToolError
from ...images import RGB
from ..capability import Capability, Finding, New, unusable
from ..kinds import Reference
from ..memory import Memory
from ._http import Client

__all__ = [
    "Brave",
    "GoogleVision",
    "ImageProvider",
    "ImageSearch",
    "TextProvider",
    "TextSearch",
    "Wikipedia",
    "text_provider",
]

_RESULTS = 5
_MOST = 20
_TAG = re.compile(r"<[^>]*>")


@runtime_checkable
class TextProvider(Protocol):
    """Something that searches the web for text."""

    async def search(self, query: str, limit: int) -> Sequence[Reference]:
        """At most `limit` references.

        Raises:
            ToolError: it cannot.
        """
        ...


@runtime_checkable
class ImageProvider(Protocol):
    """Something that searches the web for where a picture appears."""

    async def find(self, picture: RGB, limit: int) -> Sequence[Reference]:
        """At most `limit` references.

        Raises:
            ToolError: it cannot.
        """
        ...


class Wikipedia:
    """Wikipedia's own search, free and without a key.

    Args:
        language: whose Wikipedia.
        address: of its interface; `{language}` stands for the language.
        client: makes the requests.
    """

    def __init__(
        self,
        language: str = "en",
        *,
        address: str = "https://{language}.wikipedia.org/w/api.php",
        client: Client | None = None,
    ) -> None:
        self._address, self._client = address.format(language=language), client or Client()

    async def search(self, query: str, limit: int) -> list[Reference]:
        """Articles, best first.

        Raises:
            ToolError: no answer, or one of another form.
        """
        asked = {
            "action": "query",
            "list": "search",
            "format": "json",
            "srsearch": query,
            "srlimit": str(limit),
        }
        answer = await self._client.get(self._address, query=asked)
        found = _at(answer.json(), "query", "search")
        place = self._address.removesuffix("/w/api.php")
        return [
            Reference(
                f"{place}/?curid={one['pageid']}", str(one["title"]), _plain(one.get("snippet"))
            )
            for one in found[:limit]
            if isinstance(one, Mapping) and "pageid" in one and "title" in one
        ]


class Brave:
    """Brave's search, with a key in `BRAVE_API_KEY`.

    Args:
        key: in place of the environment's.
        address: of its interface.
        client: makes the requests.

    Raises:
        InputError: there is no key.
    """

    def __init__(
        self,
        *,
        key: str | None = None,
        address: str = "https://api.search.brave.com/res/v1/web/search",
        client: Client | None = None,
    ) -> None:
        self._key = _key(key, "BRAVE_API_KEY")
        self._address, self._client = address, client or Client()

    async def search(self, query: str, limit: int) -> list[Reference]:
        """Pages, best first.

        Raises:
            ToolError: no answer, or one of another form.
        """
        headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}
        asked = {"q": query, "count": str(limit)}
        answer = await self._client.get(self._address, query=asked, headers=headers)
        _check(answer.status, "Brave")
        data = answer.json()
        found = _at(data, "web", "results") if isinstance(data, Mapping) and "web" in data else []
        return [
            Reference(str(one["url"]), _plain(one.get("title")), _plain(one.get("description")))
            for one in found[:limit]
            if isinstance(one, Mapping) and "url" in one
        ]


class GoogleVision:
    """Google Cloud Vision's web detection, with a key in `GOOGLE_VISION_API_KEY`.

    Args:
        key: in place of the environment's.
        address: of its interface.
        client: makes the requests.

    Raises:
        InputError: there is no key.
    """

    def __init__(
        self,
        *,
        key: str | None = None,
        address: str = "https://vision.googleapis.com/v1/images:annotate",
        client: Client | None = None,
    ) -> None:
        self._key = _key(key, "GOOGLE_VISION_API_KEY")
        self._address, self._client = address, client or Client()

    async def find(self, picture: RGB, limit: int) -> list[Reference]:
        """Pages with the picture or one like it, best first.

        Raises:
            ToolError: no answer, or one of another form.
        """
        data = base64.b64encode(encode_image(picture, long_side=1600).data).decode("ascii")
        feature = {"type": "WEB_DETECTION", "maxResults": limit}
        asked = {"requests": [{"image": {"content": data}, "features": [feature]}]}
        answer = await self._client.post(self._address, asked, query={"key": self._key})
        _check(answer.status, "Google Vision")
        [first, *_] = _at(answer.json(), "responses") or [{}]
        detected = first.get("webDetection", {}) if isinstance(first, Mapping) else {}
        guesses = [str(one.get("label", "")) for one in detected.get("bestGuessLabels", ())]
        said = f"best guess: {', '.join(filter(None, guesses))}" if any(guesses) else ""
        return [
            Reference(str(one["url"]), _plain(one.get("pageTitle")), said)
            for one in detected.get("pagesWithMatchingImages", ())[:limit]
            if isinstance(one, Mapping) and "url" in one
        ]


_TEXT: Mapping[str, Callable[..., TextProvider]] = {"wikipedia": Wikipedia, "brave": Brave}
_IMAGE: Mapping[str, Callable[..., ImageProvider]] = {"google-vision": GoogleVision}


def text_provider(name: str) -> TextProvider:
    """A provider by its name.

    Raises:
        InputError: no such provider, or one without its key.
    """
    provider: TextProvider = _opened(name, _TEXT, TextProvider)
    return provider


class TextSearch(Capability):
    """Searches the web for text.

    Args:
        provider: `wikipedia`, `brave`, or an object with `async search(query, limit)`.
        results: how many references a search gives.

    Raises:
        InputError: no such provider, one without its key, or a number out of range.
    """

    name = "text_search"

    def __init__(self, provider: str | TextProvider, *, results: int = _RESULTS) -> None:
        self._provider: TextProvider = _opened(provider, _TEXT, TextProvider)
        self._results = _checked(results)

    def settings(self) -> Mapping[str, Any]:
        """The provider's kind."""
        return {"provider": type(self._provider).__name__, "results": self._results}

    async def call(self, memory: Memory, query: str) -> Finding:
        """Search.

        Args:
            memory: what was gathered.
            query: what to search for.
        """
        if not query.strip():
            raise InputError("query: expected what to search for, got nothing")
        found = await self._provider.search(query.strip(), self._results)
        return _finding(found[: self._results], {"query": query}, ())


class ImageSearch(Capability):
    """Searches the web for where a picture appears. The picture is sent to the provider.

    Args:
        provider: `google-vision`, or an object with `async find(picture, limit)`.
        results: how many references a search gives.

    Raises:
        InputError: no such provider, one without its key, or a number out of range.
    """

    name = "image_search"

    def __init__(self, provider: str | ImageProvider, *, results: int = _RESULTS) -> None:
        self._provider: ImageProvider = _opened(provider, _IMAGE, ImageProvider)
        self._results = _checked(results)

    def settings(self) -> Mapping[str, Any]:
        """The provider's kind."""
        return {"provider": type(self._provider).__name__, "results": self._results}

    async def call(self, memory: Memory, image: str) -> Finding:
        """Search.

        Args:
            memory: what was gathered.
            image: the handle of a picture.
        """
        found = await self._provider.find(memory.image(image), self._results)
        return _finding(found[: self._results], {"image": image}, (image,))


def _finding(
    found: Sequence[Reference], fields: Mapping[str, str], sources: tuple[str, ...]
) -> Finding:
    if any(not isinstance(one, Reference) for one in found):
        return unusable("the provider gave something else than references", **fields)
    raw = [{"url": one.url, "title": one.title, "snippet": one.snippet} for one in found]
    if not found:
        return Finding("none", fields, raw=raw)
    lines = [
        f"{n}. {one.title}\n   {one.url}" + (f"\n   {one.snippet}" if one.snippet else "")
        for n, one in enumerate(found, 1)
    ]
    # The first has a name of its own: from its handle on they are counted up.
    new = {
        "first" if n == 0 else f"reference_{n}": New("reference", one, sources)
        for n, one in enumerate(found)
    }
    return Finding(
        "found",
        {**fields, "count": len(found)},
        {"passage": "\n".join(lines)},
        new=new,
        raw=raw,
    )


def _opened(provider: Any, known: Mapping[str, Callable[..., Any]], kind: type) -> Any:
    if isinstance(provider, str):
        if provider not in known:
            raise InputError(f"provider: expected one of {', '.join(known)}, got {provider!r}")
        return known[provider]()
    if not isinstance(provider, kind):
        raise InputError(
            f"provider: expected a name or a {kind.__name__}, got {describe(provider)}"
        )
    return provider


def _checked(results: int) -> int:
    if isinstance(results, bool) or not isinstance(results, int) or not 1 <= results <= _MOST:
        raise InputError(f"results: expected 1 to {_MOST}, got {describe(results)}")
    return results


def _key(given: str | None, variable: str) -> str:
    key = given or os.environ.get(variable)
    if not key:
        raise InputError(
            f"provider: expected a key in the environment variable {variable}, got none"
        )
    return key


def _check(status: int, name: str) -> None:
    if status != 200:
        raise ToolError(f"{name} refused the search (HTTP {status})")


def _at(data: Any, *path: str) -> list[Any]:
    """The list at a place in an answer."""
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    if not isinstance(data, list):
        raise ToolError(f"the search answered without {'.'.join(path)}")
    return data


def _plain(text: Any) -> str:
    """Text without markup."""
    return " ".join(html.unescape(_TAG.sub("", str(text or ""))).split())
