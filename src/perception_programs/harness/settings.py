"""How an agent is run: its budgets, and how much of the harness it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .._plain import check_count, plain_number
from ..errors import InputError

__all__ = ["RUNGS", "Rung", "Settings"]


@dataclass(frozen=True)
class Rung:
    """How much of the harness an agent has.

    Attributes:
        tools: whether there are tools.
        rendering: whether findings are put into words; otherwise a tool's output stands there as JSON.
        memory: whether what a tool made can be named later; otherwise only the pictures given can.
        images: whether pictures that tools made are shown, and can be named.
    """

    tools: bool
    rendering: bool = False
    memory: bool = False
    images: bool = False

    def allows(self, kind: str, given: bool) -> bool:
        """Whether an artefact can be named: one of a kind, given with the question or made."""
        return given or (self.memory and (self.images or kind != "image"))


RUNGS: Mapping[str, Rung] = {
    "no-tools": Rung(tools=False),
    "raw": Rung(tools=True),
    "rendered": Rung(tools=True, rendering=True),
    "memory": Rung(tools=True, rendering=True, memory=True),
    "full": Rung(tools=True, rendering=True, memory=True, images=True),
}
"""The ladder: each rung has what the one before it has, and one thing more."""


@dataclass(frozen=True)
class Settings:
    """How an agent is run.

    Once a budget is used up, the model is asked once more, for the answer and without tools.

    Attributes:
        rung: one of `RUNGS`.
        turns: the most turns in which a tool can be asked for.
        max_tokens: of prompts and replies together; None for no limit.
        max_cost: US dollars; None for no limit.
        max_seconds: since the run began, pauses between two sessions left out; None for no limit.
        tool_seconds: the longest that one tool may take.
        program_tokens: the most tokens of one program.
        output_characters: the most characters of what one tool says; the rest is cut, visibly.
        attempts: how often a model is asked that gives transient errors.

    Raises:
        InputError: no such rung, or a limit below 1 (of money and time: not above 0).
    """

    rung: str = "full"
    turns: int = 15
    max_tokens: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    tool_seconds: float = 300.0
    program_tokens: int = 600
    output_characters: int = 12_000
    attempts: int = 6

    def __post_init__(self) -> None:
        if self.rung not in RUNGS:
            raise InputError(f"rung: expected one of {', '.join(RUNGS)}, got {self.rung!r}")
        for name in ("turns", "program_tokens", "output_characters", "attempts"):
            check_count(getattr(self, name), name)
        if self.max_tokens is not None:
            check_count(self.max_tokens, "max_tokens")
        for name in ("max_cost", "max_seconds", "tool_seconds"):
            value = getattr(self, name)
            if value is not None and plain_number(value, name) <= 0:
                raise InputError(f"{name}: expected more than 0, got {value!r}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a record."""
        return asdict(self)
