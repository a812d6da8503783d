"""Options of `p2 blink` that change nothing about what is asked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..blink import Samples
from ..blink.questions import needs_tools
from ..blink.recipes import recipe_of
from ..prompts import SETTINGS

__all__ = ["tell_unused"]

_SERVES = {
    "grid": ("depth", "flow"),
    "relations": ("depth",),
    "matches": ("correspondence",),
    "coordinates": ("points",),
}
"""What each option is about: the modalities whose programs, or whose marks, it changes."""

_OF_PROGRAMS = ("grid", "relations", "matches")
"""Those that change programs, and no picture of a tool."""

_OF_TOOLS = ("expert", "weights")


def tell_unused(args: argparse.Namespace, tasks: Sequence[Samples]) -> None:
    """A line on stderr about the options that are given and have no effect on any question."""
    given = [name for name in (*_SERVES, *_OF_TOOLS) if _is_given(args, name)]
    used = {modality for samples in tasks for modality in recipe_of(samples).experts}
    tools = any(map(needs_tools, args.setting))
    programs = any(SETTINGS[name].style is not None for name in args.setting)
    idle = [
        name
        for name in given
        if not (programs if name in _OF_PROGRAMS else tools)
        or (name in _SERVES and used.isdisjoint(_SERVES[name]))
    ]
    if idle:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
        names = ", ".join(dict.fromkeys(samples.task for samples in tasks))
        print(
            f"p2: without effect on {names} in {', '.join(dict.fromkeys(args.setting))}: {options}",
            file=sys.stderr,
        )


def _is_given(args: argparse.Namespace, name: str) -> bool:
    value = getattr(args, name)
    return value not in (10, (10, 10)) if name == "grid" else bool(value)
