"""How the benchmark is played: the paper's settings, and one with perception programs as tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .toolset import TOOLS

__all__ = ["SETTINGS", "Setting"]

_VISION = "python_image_processing"


@dataclass(frozen=True)
class Setting:
    """One way to play.

    Attributes:
        prompt: the system prompt's template.
        tools: which of the six tools there are.
        programs: whether there are capabilities whose findings are perception programs, besides.
    """

    prompt: str
    tools: tuple[str, ...] = tuple(TOOLS)
    programs: bool = False


SETTINGS: Mapping[str, Setting] = {
    "strong": Setting("strong"),
    "weak": Setting("weak"),
    "no-vision-tool": Setting("strong", tuple(name for name in TOOLS if name != _VISION)),
    "no-tools": Setting("plain", ()),
    "programs": Setting("strong", programs=True),
}
"""By name: strong and weak system prompt, without the vision tool, without tools, and with programs."""
