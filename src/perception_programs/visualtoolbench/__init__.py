"""VisualToolBench: measuring models that work on pictures with tools."""

from __future__ import annotations

from .judge import Judge, Verdict, read_verdict
from .operations import OPERATIONS, count_operations
from .scores import Judged, Summary, passes, score, summarise
from .tasks import DOMAINS, Criterion, Task, Turn, criteria_from, domain_of

__all__ = [
    "DOMAINS",
    "OPERATIONS",
    "Criterion",
    "Judge",
    "Judged",
    "Summary",
    "Task",
    "Turn",
    "Verdict",
    "count_operations",
    "criteria_from",
    "domain_of",
    "passes",
    "read_verdict",
    "score",
    "summarise",
]
