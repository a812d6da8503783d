"""An agent made better at some kind of question, without training: its wording is edited, tools are composed.

A model proposes, from questions that went wrong; what it proposes is kept only if questions that it never
saw go better with it.
"""

from __future__ import annotations

from ._bench import Lift, Proposal
from .composed import Composed, with_composed
from .definition import Definition, Step
from .search import Search, search_templates, write_templates
from .tools import Drafted, draft_tools

__all__ = [
    "Composed",
    "Definition",
    "Drafted",
    "Lift",
    "Proposal",
    "Search",
    "Step",
    "draft_tools",
    "search_templates",
    "with_composed",
    "write_templates",
]
