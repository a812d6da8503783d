"""From the body of a request to the body that is sent on, outside the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ..recipes import Recipe
from ._request import ChatQuestion, PassThrough, read_question
from .programs import Programs
from .recognition import Recogniser

__all__ = ["Edited", "Editor", "passed"]


@dataclass(frozen=True)
class Edited:
    """What is sent on, and what is said about it.

    Attributes:
        body: what is sent on.
        note: what was added, or why nothing was: one line.
        task: the task of the question that got programs, or None.
        kind: what the request is counted under that got none, or None.
        about: the question and what was added, for a log.
    """

    body: bytes
    note: str
    task: str | None = None
    kind: str | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


def passed(body: bytes, why: PassThrough, about: Mapping[str, Any]) -> Edited:
    """A request that is passed on as it came."""
    return Edited(body, f"none: {why}", kind=why.kind, about={**about, "passed": str(why)})


class Editor:
    """Adds programs to the requests that are questions.

    Args:
        recogniser: tells which task a request is a question of.
        programs: writes what is added.
    """

    def __init__(self, recogniser: Recogniser, programs: Programs) -> None:
        self._recogniser = recogniser
        self._programs = programs
        self._pool = ThreadPoolExecutor(1, "evidence")  # experts are asked one at a time

    async def edit(self, body: bytes, name: str) -> Edited:
        """Add programs to a request, if it is a question; errors call it `name`.

        Raises:
            WeightsError, MissingExtraError: an expert cannot be had. Nor is any other error taken
                for a reason to go without.
        """
        # What is no question does not wait for the tools of those that are.
        found = await asyncio.to_thread(self._find, body)
        if isinstance(found, Edited):
            return found
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._add, body, name, *found)

    def close(self) -> None:
        """End; what waits for the tools is given up."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _find(self, body: bytes) -> Edited | tuple[ChatQuestion, Recipe]:
        try:
            question = read_question(body)
        except PassThrough as why:
            return passed(body, why, {})
        try:
            return question, self._recogniser.recipe(question)
        except PassThrough as why:
            return passed(body, why, _about(question))

    def _add(self, body: bytes, name: str, question: ChatQuestion, recipe: Recipe) -> Edited:
        about = {"task": recipe.task, **_about(question)}
        started = time.perf_counter()
        try:
            added = self._programs.add(recipe, question, name)
        except PassThrough as why:
            return passed(body, why, about)
        seconds = round(time.perf_counter() - started, 3)
        about |= {"programs": added.names, "experts": added.experts, "seconds": seconds}
        return Edited(
            question.with_text(added.text),
            f"added: {recipe.task}: {', '.join(added.names)}",
            task=recipe.task,
            about={**about, "added": added.text},
        )


def _about(question: ChatQuestion) -> dict[str, Any]:
    return {
        "model": question.body.get("model"),
        "question": question.text,
        "options": dict(question.options),
        "images": len(question.urls),
    }
