"""Programs as text: the styles, each a renderer and a parser that are inverses, and their finder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from .._arrays import describe
from ..errors import InputError
from ..program import PerceptionProgram
from . import compact, json_style, paper
from .scan import Style, programs_in

__all__ = ["STYLES", "parse_all", "parse_one", "render", "schema"]

STYLES: Mapping[str, Style] = {"paper": paper, "compact": compact, "json": json_style}
"""The styles by name."""

_LINES_NAMED = 5


def render(program: PerceptionProgram, style: str = "paper", *, meta: bool = False) -> str:
    """`program` as the text a prompt includes.

    Args:
        program: what to print.
        style: one of `STYLES`.
        meta: whether to print where it came from; JSON has it always.

    Raises:
        InputError: there is no such style.
    """
    if not isinstance(style, str) or style not in STYLES:
        raise InputError(f"style: expected one of {', '.join(STYLES)}, got {describe(style)}")
    return STYLES[style].render(program, meta=meta)


def parse_all(text: str) -> list[PerceptionProgram]:
    """Every program in `text`, in any style, in order; an empty list when there is none.

    Raises:
        InputError: a program that is broken; the message names the line.
    """
    return [program for _, program in programs_in(text, STYLES)]


def parse_one(text: str) -> PerceptionProgram:
    """The one program in `text`, in any style, with whatever prose around it.

    Raises:
        InputError: there is none, there are several, or it is broken; the message names the line.
    """
    found = list(programs_in(text, STYLES))
    if not found:
        raise InputError(
            f"text: expected one perception program, no perception program found in {describe(text)}"
        )
    if len(found) > 1:
        lines = ", ".join(str(line) for line, _ in found[:_LINES_NAMED])
        more = ", …" if len(found) > _LINES_NAMED else ""
        raise InputError(
            f"text: expected one perception program, got {len(found)}, beginning at lines "
            f"{lines}{more}; read them with PerceptionProgram.all_from_text"
        )
    return found[0][1]


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of `PerceptionProgram.to_dict()` and of the style `json`."""
    file = resources.files("perception_programs").joinpath("program.schema.json")
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data
