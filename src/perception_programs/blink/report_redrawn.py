"""The pictures of the setting `tool`, drawn again: a run keeps what they were called, not them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError
from ..prompts import SETTINGS
from .coordinates import Coordinates
from .recipes import RECIPES, ToolPicture
from .run_tables import RunTable
from .samples import Sample
from .tools import Tools

__all__ = ["Redrawn", "asked_parts", "needs_pictures", "tool_captions"]

_NAME = "tool picture "  # how a prompt names them


class Redrawn:
    """Draws the tool pictures of runs again, with the experts that each run says it had.

    Results that are kept are used; others are made again.

    Args:
        coordinates: those that the runs had that had some.
    """

    def __init__(self, coordinates: Coordinates | None = None) -> None:
        self._coordinates = coordinates
        self._tools: dict[str, Tools | str] = {}

    def pictures(self, run: RunTable, sample: Sample) -> tuple[ToolPicture, ...] | str:
        """The pictures for a sample, or why they cannot be drawn."""
        key = json.dumps([run.task, run.header.get("tools")], sort_keys=True)
        if key not in self._tools:
            try:
                self._tools[key] = _tools_of(run, self._coordinates)
            except (ValueError, ImportError, OSError, RuntimeError) as error:
                self._tools[key] = str(error)
        tools = self._tools[key]
        if isinstance(tools, str):
            return tools
        try:
            return RECIPES[run.task].gather(sample, tools).pictures
        except Exception as error:  # experts raise of every kind; the other samples may be well
            return str(error) or type(error).__name__


def needs_pictures(run: RunTable) -> bool:
    """Whether the prompts of a run have tool pictures."""
    return run.setting in SETTINGS and SETTINGS[run.setting].tool


def asked_parts(record: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The parts of the message that a record's question is in: the last one, after any example."""
    messages = record["messages"]
    return messages[-1]["parts"] if messages else ()


def tool_captions(record: Mapping[str, Any]) -> list[str]:
    """What the prompt of a record says of each tool picture of its question, in order."""
    captions, before = [], ""
    for part in asked_parts(record):
        if (part.get("picture") or "").startswith(_NAME):
            captions.append(before or part["picture"])
        before = part.get("text", "")
    return captions


def _tools_of(run: RunTable, given: Coordinates | None) -> Tools:
    """The tools of a run; refused where what is here is not what it says."""
    said = run.header.get("tools") or {}
    experts = said.get("experts") or {}
    if run.task not in RECIPES:
        raise InputError(f"{run.task} has no recipe here")
    coordinates = _coordinates(said.get("coordinates"), given)
    tools = Tools([about["name"] for about in experts.values()], coordinates=coordinates)
    here = tools.settings(RECIPES[run.task])["experts"]
    for modality, about in here.items():
        before = experts.get(modality)
        if before != about:
            raise InputError(
                f"the run had {_named(before)} for {modality}, here is {_named(about)}"
            )
    tools.check(RECIPES[run.task])
    return tools


def _coordinates(digest: Any, given: Coordinates | None) -> Coordinates | None:
    """What is given, where a run had it; None where it had none."""
    if digest is None:
        return None
    if given is None:
        raise InputError(
            "the run had coordinates from a file, which the report was not given (--coordinates)"
        )
    if given.digest != digest:
        raise InputError(
            f"the run had other coordinates ({digest[:12]}…) than the report was given "
            f"({given.digest[:12]}…)"
        )
    return given


def _named(about: Mapping[str, Any] | None) -> str:
    if about is None:
        return "none"
    parts = (about.get(key) for key in ("name", "checkpoint", "library", "version"))
    return " ".join(str(part) for part in parts if part is not None)
