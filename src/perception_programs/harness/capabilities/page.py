"""Visiting a web page: its main text, and what it says about a goal."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from ...chat import ChatError, ChatModel, Message, Text, Usage, ask
from ...errors import InputError, MissingExtraError, ToolError, install_command
from ..capability import Capability, Finding, New, unusable
from ..kinds import Page
from ..memory import Memory
from ..rendering import Templates, passage
from ._http import Answer, Client

__all__ = ["WebPages", "WebpageVisit"]

_HTML = ("text/html", "application/xhtml+xml")
_WORD = re.compile(r"\w{3,}")
_PARAGRAPHS = 6
_LONGEST = 2500  # characters of what is quoted
_SUMMED = 12_000  # characters that a summariser reads
_NOTHING = "NOTHING"


class WebPages:
    """Opens web pages.

    Args:
        client: makes the requests.
    """

    def __init__(self, client: Client | None = None) -> None:
        self._client = client or Client()

    async def page(self, url: str) -> Page:
        """A page's main text.

        Raises:
            InputError: no address of the web, or a private one.
            ToolError: no answer, an error, or nothing that can be read as text.
            MissingExtraError: trafilatura is not installed.
        """
        answer = await self._client.get(url)
        if answer.status != 200:
            raise ToolError(f"the page answered with HTTP {answer.status}")
        if answer.kind not in _HTML and not answer.kind.startswith("text/"):
            raise ToolError(f"the page is {answer.kind}, which is not read")
        return await asyncio.to_thread(_read, answer)


class WebpageVisit(Capability):
    """Opens a page that a search found and quotes what it says about a goal.

    Without a summariser, quoted are the paragraphs that share most words with the goal, in the page's order.

    Args:
        summariser: a model that reads the page and writes down what it says about the goal.
        pages: what opens pages.
        templates: with the text `page-summary.txt`.
    """

    name = "webpage_visit"

    def __init__(
        self,
        *,
        summariser: ChatModel | None = None,
        pages: WebPages | None = None,
        templates: Templates | None = None,
    ) -> None:
        self._summariser, self._pages = summariser, pages or WebPages()
        self._templates = templates or Templates()

    def settings(self) -> Mapping[str, Any]:
        """Who sums up, if anybody does."""
        model = self._summariser
        return {"summariser": None if model is None else dict(model.settings())}

    async def call(self, memory: Memory, reference: str, goal: str) -> Finding:
        """Visit a page.

        Args:
            memory: what was gathered.
            reference: the handle of a reference.
            goal: what to find out.
        """
        if not goal.strip():
            raise InputError("goal: expected what to find out, got nothing")
        url = memory.url(reference)
        try:
            page = await self._pages.page(url)
        except ToolError as error:
            return unusable(str(error), reference=reference, raw={"url": url})
        if not page.text.strip():
            return unusable("it has no text", reference=reference, raw={"url": url})
        usage: tuple[Usage, ...] = ()
        said = "in its own words"
        if self._summariser is None:
            quoted = _about(page.text, goal)
        else:
            quoted, usage = await self._summed(self._summariser, page, goal)
            said = f"as {self._summariser.name} sums it up"
        fields = {"url": page.url, "title": page.title, "goal": goal, "reference": reference}
        return Finding(
            "found" if quoted else "none",
            {**fields, "said": said},
            {"passage": quoted},
            new={"page": New("page", page, (reference,))},
            raw={"url": page.url, "text": page.text[:_SUMMED]},
            usage=usage,
        )

    async def _summed(
        self, model: ChatModel, page: Page, goal: str
    ) -> tuple[str, tuple[Usage, ...]]:
        asked = self._templates.fill("page-summary", goal=goal, page=passage(page.text, _SUMMED))
        try:
            reply, _ = await ask(model, [Message("user", (Text(asked),))])
        except ChatError as error:
            raise ToolError(f"the model that sums up gave no answer: {error}") from None
        text = reply.text.strip()
        return "" if text.strip(".") == _NOTHING else text[:_LONGEST], (reply.usage,)


def _read(answer: Answer) -> Page:
    """The main text of what a server sent."""
    if answer.kind not in _HTML:
        return Page(answer.url, "", answer.data.decode("utf-8", "replace"))
    try:
        import trafilatura
    except ImportError:
        raise MissingExtraError(
            f"web pages need trafilatura: {install_command('harness')}"
        ) from None
    text = trafilatura.extract(answer.data, include_comments=False, include_tables=True) or ""
    found = trafilatura.extract_metadata(answer.data)
    return Page(answer.url, str(getattr(found, "title", None) or ""), text)


def _about(text: str, goal: str) -> str:
    """The paragraphs that share most words with a goal, in their order; nothing if none shares any."""
    wanted = {word.casefold() for word in _WORD.findall(goal)}
    paragraphs = [line.strip() for line in text.splitlines() if line.strip()]
    shared = [
        (len(wanted & {word.casefold() for word in _WORD.findall(paragraph)}), -n)
        for n, paragraph in enumerate(paragraphs)
    ]
    best = sorted((one for one in shared if one[0] > 0), reverse=True)[:_PARAGRAPHS]
    chosen = [paragraphs[n] for n in sorted(-n for _, n in best)]
    return "\n".join(chosen)[:_LONGEST]
