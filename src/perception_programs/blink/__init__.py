"""The BLINK benchmark: questions, evidence, prompts, answers, runs and reports.

Each name loads what it needs when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answers import Answer, extract
    from .coordinates import Coordinates
    from .data import Samples, load
    from .examples import Examples, WorkedExample
    from .manifest import read_manifest, write_manifest
    from .reader_model import Reader
    from .recipes import RECIPES, Evidence, NamedProgram, Recipe, ToolPicture, recipe, register
    from .run import Run
    from .samples import Sample, SampleImage
    from .tools import Tools

_HOMES = {
    ".answers": ("Answer", "extract"),
    ".coordinates": ("Coordinates",),
    ".data": ("Samples", "load"),
    ".examples": ("Examples", "WorkedExample"),
    ".manifest": ("read_manifest", "write_manifest"),
    ".reader_model": ("Reader",),
    ".recipes": (
        "RECIPES",
        "Evidence",
        "NamedProgram",
        "Recipe",
        "ToolPicture",
        "recipe",
        "register",
    ),
    ".run": ("Run",),
    ".samples": ("Sample", "SampleImage"),
    ".tools": ("Tools",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "RECIPES",
    "Answer",
    "Coordinates",
    "Evidence",
    "Examples",
    "NamedProgram",
    "Reader",
    "Recipe",
    "Run",
    "Sample",
    "SampleImage",
    "Samples",
    "ToolPicture",
    "Tools",
    "WorkedExample",
    "extract",
    "load",
    "read_manifest",
    "recipe",
    "register",
    "write_manifest",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
