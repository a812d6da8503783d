"""Questions with their images and programs become messages; every word stands in a template."""

from __future__ import annotations

from .cautions import CAUTIONS, Caution, chosen_cautions
from .layout import SETTINGS, Setting, build, rationale_request
from .question import GUIDANCE, Example, Question
from .show import render
from .wording import digest

__all__ = [
    "CAUTIONS",
    "GUIDANCE",
    "SETTINGS",
    "Caution",
    "Example",
    "Question",
    "Setting",
    "build",
    "chosen_cautions",
    "digest",
    "rationale_request",
    "render",
]
