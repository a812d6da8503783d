"""What a model did with a task: a file of JSON lines, one a round, that a later process can go on from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..harness.journal import read_lines

__all__ = ["FILE", "Play", "folder_of"]

FILE = "play.jsonl"
_PLAIN = re.compile(r"[^A-Za-z0-9]+")


def folder_of(runs: Path, task_id: str) -> Path:
    """The folder of a task below a run's, whatever its id holds."""
    plain = _PLAIN.sub("-", task_id)[:40].strip("-")
    return runs / "plays" / f"{plain}-{hashlib.sha256(task_id.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Play:
    """What is in the file.

    Attributes:
        folder: where it and the pictures lie.
        start: its first line: the task's id and the configuration.
        lines: the rounds and answers, in order.
    """

    folder: Path
    start: Mapping[str, Any]
    lines: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def read(cls, folder: Path) -> Play | None:
        """The play in a folder; None where none was begun.

        Raises:
            InputError: the file is not what a run writes.
        """
        lines = read_lines(folder / FILE)
        if not lines:
            return None
        if lines[0].get("kind") != "start" or not isinstance(lines[0].get("task"), str):
            raise InputError(f"{folder / FILE}: expected the start of a play")
        return cls(folder, lines[0], tuple(lines[1:]))

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers, one a turn, as far as they were given."""
        return tuple(line["text"] for line in self.lines if line["kind"] == "answer")

    @property
    def calls(self) -> tuple[Mapping[str, Any], ...]:
        """The calls that were made: `name`, `arguments`, `valid`, `operations`, `seconds`, `pictures`."""
        made = [call for line in self.lines for call in line.get("calls", ())]
        return tuple(call for call in made if not call["refused"])

    def used(self, what: str) -> float:
        """The sum of `prompt_tokens`, `completion_tokens` or `cost`; what is unknown counts as 0."""
        return float(sum(use.get(what) or 0 for line in self.lines for use in line["usage"]))

    def done(self, turns: int) -> bool:
        """Whether all turns are answered."""
        return len(self.answers) >= turns
