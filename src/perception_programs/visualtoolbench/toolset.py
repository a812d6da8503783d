"""The benchmark's tools, as they are offered and as they are called."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .._arrays import describe
from .._plain import unique_keys
from ..chat import ToolCall, ToolSpec
from ..chat.schema import schema_of
from ..errors import InputError, MissingExtraError, ToolError, WeightsError
from ..harness import Capability, Memory, Page, Reference, Templates
from ..images import RGB
from .calculator import calculate
from .weather import Weather, checked_date

if TYPE_CHECKING:
    from ..sandbox import Outcome, Session

__all__ = ["TOOLS", "Called", "Desk", "Pages", "Search", "offered"]

_log = logging.getLogger(__name__)
_LONGEST_CODE = 5000
_OUTPUT = 12_000  # characters of one tool's answer
_PRINTED = 9_000  # of these, what code prints

TOOLS: Mapping[str, tuple[str, Mapping[str, Any], tuple[str, ...]]] = {
    "python_image_processing": (
        "Run Python code that works on the pictures of the task. They lie in the working folder under the "
        "names that they are listed by; numpy, PIL, cv2, skimage and scipy can be imported. Save what you want "
        "to see as transformed_image_0.png, transformed_image_1.png and so on: you are shown each picture that "
        "the code saves. Variables, functions and imports stay for the next call.",
        {"code": {"type": "string", "description": "Python code, 1 to 5000 characters."}},
        ("code",),
    ),
    "python_interpreter": (
        "Run Python code for computation and get what it prints. Variables, functions and imports stay for the "
        "next call.",
        {"code": {"type": "string", "description": "Python code, 1 to 5000 characters."}},
        ("code",),
    ),
    "web_search": (
        "Search the web.",
        {
            "query": {"type": "string", "description": "What to search for."},
            "num_results": {
                "type": "integer",
                "description": "How many results, 1 to 20; 5 by default.",
                "minimum": 1,
                "maximum": 20,
            },
        },
        ("query",),
    ),
    "browser_get_page_text": (
        "Get the text of a web page.",
        {"url": {"type": "string", "description": "The address of the page."}},
        ("url",),
    ),
    "historical_weather": (
        "Get the weather of a past day at a place.",
        {
            "location": {"type": "string", "description": "The name of a town."},
            "date": {"type": "string", "description": "The day, as YYYY-MM-DD."},
        },
        ("location", "date"),
    ),
    "calculator": (
        "Work out an arithmetic expression.",
        {"expression": {"type": "string", "description": "Such as (3 + 4) * 2 ^ 0.5."}},
        ("expression",),
    ),
}
"""The six tools: what a model is told of each, its arguments, and which of them it must give."""


class Search(Protocol):
    """Something that searches the web."""

    async def search(self, query: str, limit: int) -> Sequence[Reference]:
        """At most `limit` references; raises ToolError where it cannot."""
        ...


class Pages(Protocol):
    """Something that opens web pages."""

    async def page(self, url: str) -> Page:
        """A page's text; raises ToolError where it cannot."""
        ...


@dataclass(frozen=True, eq=False)
class Called:
    """What came of one call.

    Attributes:
        text: what the model is told.
        valid: whether it was done; an error message is not.
        pictures: what the model is to see, by name, in the order in which it was written.
    """

    text: str
    valid: bool
    pictures: tuple[tuple[str, RGB], ...] = field(default=(), repr=False)


def offered(
    names: Sequence[str],
    capabilities: Sequence[Capability] = (),
    templates: Templates | None = None,
) -> tuple[ToolSpec, ...]:
    """The tools as they are offered to a model: of the six those named, then the capabilities."""
    own = []
    for name in names:
        description, properties, required = TOOLS[name]
        parameters = {
            "type": "object",
            "properties": dict(properties),
            "required": list(required),
            "additionalProperties": False,
        }
        own.append(ToolSpec(name, description, parameters))
    words = templates or Templates()
    return (*own, *(words.tool(capability) for capability in capabilities))


class Desk:
    """The tools of one task, and their state.

    Args:
        session: where code runs.
        memory: what capabilities work on.
        names: which of the six tools there are.
        capabilities: what there is besides.
        search: searches the web; None says that there is no search.
        pages: opens pages; likewise.
        weather: an archive; likewise.
        templates: the capabilities' wording.
    """

    def __init__(
        self,
        session: Session,
        memory: Memory,
        *,
        names: Sequence[str] = tuple(TOOLS),
        capabilities: Sequence[Capability] = (),
        search: Search | None = None,
        pages: Pages | None = None,
        weather: Weather | None = None,
        templates: Templates | None = None,
    ) -> None:
        self.session, self.memory = session, memory
        self._names = tuple(names)
        self._capabilities = {capability.name: capability for capability in capabilities}
        self._search, self._pages, self._weather = search, pages, weather
        self._templates = templates or Templates()

    async def call(self, call: ToolCall) -> Called:
        """Do what a model asked for. Nothing that it wrote makes this raise."""
        try:
            called = await self._called(call)
        except (InputError, ToolError, MissingExtraError, WeightsError) as error:
            return Called(_cut(f"Error: {' '.join(str(error).split())}"), valid=False)
        except Exception as error:
            _log.exception("the tool %s failed", call.name)
            kind = type(error).__name__
            return Called(f"Error: {call.name}: failed for a reason of its own ({kind})", False)
        return Called(_cut(called.text), called.valid, called.pictures)

    async def _called(self, call: ToolCall) -> Called:
        given = _arguments(call)
        if call.name in self._capabilities:
            return await self._capability(call.name, given)
        if call.name not in self._names:
            known = ", ".join((*self._names, *self._capabilities))
            raise InputError(f"expected one of the tools {known}, got {call.name[:80]!r}")
        _check(call.name, given)
        return await self._own[call.name](self, **given)

    async def _python(self, code: str) -> Called:
        if not 1 <= len(code) <= _LONGEST_CODE:
            raise InputError(f"code: expected 1 to {_LONGEST_CODE} characters, got {len(code)}")
        outcome: Outcome = await asyncio.to_thread(self.session.run, code)
        # Cut here, so that what follows is not cut off with it.
        said = [_cut(outcome.stdout, _PRINTED)] if outcome.stdout else []
        if not outcome.ok:
            said.append(f"Error: {outcome.error}")
        pictures = tuple(outcome.pictures)
        if pictures:
            said.append(f"Saved: {', '.join(name for name, _ in pictures)}.")
        return Called("\n".join(said) or "Done; nothing was printed.", outcome.ok, pictures)

    async def _web_search(self, query: str, num_results: int = 5) -> Called:
        if self._search is None:
            raise ToolError("there is no web search here")
        found = await self._search.search(query, num_results)
        lines = [
            f"{n}. {one.title}\n   {one.url}\n   {one.snippet}"
            for n, one in enumerate(found[:num_results], 1)
        ]
        return Called("\n".join(lines) or "Nothing was found.", valid=True)

    async def _page(self, url: str) -> Called:
        if self._pages is None:
            raise ToolError("no web pages can be opened here")
        page = await self._pages.page(url)
        return Called(f"{page.title}\n\n{page.text}".strip(), valid=True)

    async def _weather_of(self, location: str, date: str) -> Called:
        day = checked_date(date)
        if self._weather is None:
            raise ToolError("there is no weather archive here")
        return Called(await self._weather.day(location, day), valid=True)

    async def _calculator(self, expression: str) -> Called:
        return Called(calculate(expression), valid=True)

    _own: Mapping[str, Callable[..., Awaitable[Called]]] = {
        "python_image_processing": _python,
        "python_interpreter": _python,
        "web_search": _web_search,
        "browser_get_page_text": _page,
        "historical_weather": _weather_of,
        "calculator": _calculator,
    }

    async def _capability(self, name: str, given: Mapping[str, Any]) -> Called:
        capability = self._capabilities[name]
        finding = await capability.call(self.memory, **schema_of(capability.call).check(given))
        handles, pictures = {}, []
        for key, new in finding.new.items():
            made = self.memory.add(
                new.kind, new.value, made_by=name, about=new.about, sources=new.sources
            )
            handles[key] = made.handle
            if new.show:
                pictures.append((f"{made.handle}.png", self.memory.image(made.handle)))
        text = self._templates.render(name, finding, handles)
        return Called(text, finding.form != "unusable", tuple(pictures))


def save_pictures(folder: Path, pictures: Sequence[tuple[str, RGB]]) -> list[str]:
    """Write pictures as PNG files of their own names, numbered where a name is there already."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, picture in pictures:
        stem, count = Path(name).stem, 1
        file = folder / f"{stem}.png"
        while file.exists():
            count += 1
            file = folder / f"{stem}-{count}.png"
        Image.fromarray(picture).save(file)
        names.append(file.name)
    return names


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        given = json.loads(call.arguments or "{}", object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{call.name}: expected its arguments as JSON: {error}") from None
    if not isinstance(given, dict):
        raise InputError(f"{call.name}: expected its arguments as an object, got {describe(given)}")
    return given


def _check(name: str, given: Mapping[str, Any]) -> None:
    """Check arguments of one of the six tools against what is told of it."""
    _, properties, required = TOOLS[name]
    kinds: Mapping[str, type] = {"string": str, "integer": int}
    for key in required:
        if key not in given:
            raise InputError(f"{name}: {key}: expected it, got nothing")
    for key, value in given.items():
        if key not in properties:
            raise InputError(f"{name}: {key}: no such argument; expected {', '.join(properties)}")
        kind = properties[key]
        if not isinstance(value, kinds[kind["type"]]) or isinstance(value, bool):
            raise InputError(f"{name}: {key}: expected a {kind['type']}, got {describe(value)}")
        if not kind.get("minimum", value) <= value <= kind.get("maximum", value):
            raise InputError(
                f"{name}: {key}: expected {kind['minimum']} to {kind['maximum']}, got {value}"
            )


def _cut(text: str, most: int = _OUTPUT) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n[cut here: {len(text) - most} more characters]"
