"""What an agent did, turn by turn: a file of JSON lines that a later process can go on from.

The first line is the start: the question, the configuration, what was given. Then follows a line a turn,
written when the turn is over, and at last the end. A line that a kill tore is left out when the file is
read, so at most one turn is lost.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._arrays import describe
from ..chat import Message, Picture, Text, ToolCall
from ..errors import InputError
from .journal import read_lines
from .memory import Artifact, Memory

__all__ = ["FILE", "FORMAT", "Trajectory", "message_from"]

FILE = "trajectory.jsonl"
FORMAT = "perception-programs trajectory 1"


@dataclass(frozen=True)
class Trajectory:
    """What is in the file.

    Attributes:
        folder: where it and the artefacts' files lie.
        start: its first line.
        turns: the lines of the turns, in order.
        end: its last line, or None while the question is open.
    """

    folder: Path
    start: Mapping[str, Any]
    turns: tuple[Mapping[str, Any], ...] = ()
    end: Mapping[str, Any] | None = None

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Trajectory:
        """The trajectory of a folder.

        Raises:
            InputError: there is none, or a line of it is not what a run writes.
        """
        place = Path(folder)
        if not (place / FILE).is_file():
            raise InputError(f"no trajectory {str(place / FILE)!r}")
        lines = read_lines(place / FILE)
        if not lines or lines[0].get("kind") != "start" or lines[0].get("format") != FORMAT:
            raise InputError(f"{place / FILE}: expected the start of a trajectory ({FORMAT})")
        end = lines.pop() if lines[-1].get("kind") == "end" else None
        for number, line in enumerate(lines[1:], 1):
            if line.get("kind") != "turn" or line.get("turn") != number:
                raise InputError(f"{place / FILE}, line {number + 1}: expected turn {number}")
        return cls(place, lines[0], tuple(lines[1:]), end)

    @property
    def question(self) -> str:
        """What was asked."""
        return str(self.start["question"])

    @property
    def answer(self) -> str | None:
        """The answer itself, or None while there is none."""
        return None if self.end is None else str(self.end["answer"])

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """All that was given and made."""
        lines = (self.start, *self.turns)
        return tuple(Artifact.from_dict(data) for line in lines for data in line["artefacts"])

    @property
    def calls(self) -> tuple[Mapping[str, Any], ...]:
        """The tools that were asked for, one a turn: `name`, `arguments`, `outcome`, `seconds`."""
        return tuple(turn["call"] for turn in self.turns if turn["call"] is not None)

    @property
    def seconds(self) -> float:
        """How long it took, pauses between two sessions left out."""
        return float(sum(line["seconds"] for line in (*self.turns, self.end or {"seconds": 0})))

    def used(self, what: str) -> float:
        """The sum of `prompt_tokens`, `completion_tokens` or `cost`; what is unknown counts as 0."""
        lines = (*self.turns, *([self.end] if self.end else ()))
        return float(sum(use.get(what) or 0 for line in lines for use in line["usage"]))

    def memory(self) -> Memory:
        """The artefacts, as a later turn finds them."""
        return Memory(self.folder, self.artifacts)

    def messages(self) -> list[Message]:
        """The conversation up to here."""
        lines = (self.start, *self.turns)
        files = {artifact.handle: artifact.file for artifact in self.artifacts}
        return [
            message_from(data, self.folder, files) for line in lines for data in line["messages"]
        ]

    def check(self) -> None:
        """Check that all of it fits together: handles, files, calls and what answers them.

        Raises:
            InputError: something does not; the message says where.
        """
        memory = self.memory()
        for artifact in memory.artifacts:
            memory.read_bytes(artifact)
            unknown = [source for source in artifact.sources if source not in memory]
            if unknown:
                raise InputError(f"{artifact.handle}: made from {unknown[0]}, which is not there")
        open_calls: list[str] = []
        for message in self.messages():
            if message.answers is not None:
                if message.answers not in open_calls:
                    raise InputError(f"trajectory: an answer to no call, {message.answers!r}")
                open_calls.remove(message.answers)
            elif open_calls:
                raise InputError(f"trajectory: the call {open_calls[0]!r} is not answered")
            open_calls += [call.id for call in message.calls]
        if open_calls:
            raise InputError(f"trajectory: the call {open_calls[0]!r} is not answered")
        for handle in (self.end or {}).get("rests_on", ()):
            memory.get(handle)


def message_from(data: Mapping[str, Any], folder: Path, files: Mapping[str, str]) -> Message:
    """A message as a record holds it; its pictures are read from their files when they are sent.

    Raises:
        InputError: it is none, or shows what is not there.
    """
    try:
        parts: Sequence[Text | Picture] = [
            Text(part["text"], kind=part["kind"])
            if "text" in part
            else Picture(str(folder / files[part["picture"]]), name=part["picture"])
            for part in data["parts"]
        ]
        calls = tuple(ToolCall(**call) for call in data.get("calls", ()))
        return Message(data["role"], tuple(parts), calls, data.get("answers"))
    except (KeyError, TypeError) as error:
        raise InputError(f"message: expected its fields, got {describe(data)} ({error})") from None
