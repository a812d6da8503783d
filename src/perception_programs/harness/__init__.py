"""An agent that acquires, keeps and computes over visual evidence.

A model is given capabilities: task-level tools whose findings are written down as perception programs.
What they find stays in a memory under handles, where later steps and Python code can use it.
"""

from __future__ import annotations

from .agent import Agent
from .capability import Capability, Finding, New, unusable
from .evidence import Evidence, answer_of, evidence_of
from .kinds import Cameras, Page, Reference
from .memory import Artifact, Memory
from .rendering import Templates, Wording
from .settings import RUNGS, Rung, Settings
from .trajectory import Trajectory

__all__ = [
    "RUNGS",
    "Agent",
    "Artifact",
    "Cameras",
    "Capability",
    "Evidence",
    "Finding",
    "Memory",
    "New",
    "Page",
    "Reference",
    "Rung",
    "Settings",
    "Templates",
    "Trajectory",
    "Wording",
    "answer_of",
    "evidence_of",
    "unusable",
]
