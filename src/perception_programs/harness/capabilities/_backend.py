"""The tools behind capabilities: made when they are first wanted, used by one turn at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ..._arrays import describe
from ...errors import InputError
from ...experts import available, load
from ...experts.base import Card

__all__ = ["Backend", "expert_backend"]


class Backend:
    """A tool that is made at its first use and then kept.

    It runs in a thread, so that a time limit can end the wait for it, and for one call at a time: a second
    one would need the tool's memory once more.

    Args:
        facts: plain data that names it.
        make: makes it.
    """

    def __init__(self, facts: Mapping[str, Any], make: Callable[[], Callable[..., Any]]) -> None:
        self.facts = dict(facts)
        self._make = make
        self._tool: Callable[..., Any] | None = None
        self._lock = threading.Lock()

    async def ready(self) -> None:
        """Make the tool, if it is not there yet.

        A tool that cannot be made is no finding about a picture: what this raises goes on to the caller.
        """
        await asyncio.to_thread(self._made)

    async def run(self, *inputs: Any, **options: Any) -> Any:
        """What the tool returns."""
        return await asyncio.to_thread(self._run, inputs, options)

    def _made(self) -> Callable[..., Any]:
        with self._lock:
            if self._tool is None:
                self._tool = self._make()
            return self._tool

    def _run(self, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        tool = self._made()
        with self._lock:
            return tool(*inputs, **options)

    @classmethod
    def given(cls, tool: Callable[..., Any]) -> Backend:
        """A tool that is there already: it is named by its card, or else as it is in the code."""
        card = getattr(tool, "card", None)
        if isinstance(card, Card):
            return cls({"name": card.name, "checkpoint": card.checkpoint}, lambda: tool)
        name = getattr(tool, "__qualname__", type(tool).__qualname__)
        return cls({"name": name}, lambda: tool)


def expert_backend(
    expert: str | Callable[..., Any], modality: str, options: Mapping[str, Any]
) -> Backend:
    """An expert of a modality, by its name or as it is.

    Args:
        expert: one of `available(modality)`, or a callable that does as such a one does.
        modality: what it measures.
        options: what a named one is loaded with.

    Raises:
        InputError: no such expert, something else, or options beside one that is loaded already.
    """
    if isinstance(expert, str):
        known = available(modality)
        if expert not in known:
            raise InputError(f"expert: expected one of {', '.join(known)}, got {expert!r}")
        facts = {"name": expert, "checkpoint": known[expert].card.checkpoint}
        return Backend(facts, lambda: load(expert, **options))
    if not callable(expert):
        raise InputError(f"expert: expected a name or a callable, got {describe(expert)}")
    if options:
        raise InputError(f"{next(iter(options))}: has no meaning beside an expert that is loaded")
    return Backend.given(expert)
