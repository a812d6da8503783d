"""A trajectory as a reader wants it: turn by turn, and what the answer rests on, back to what was given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .memory import Artifact
from .settings import RUNGS
from .trajectory import Trajectory

__all__ = ["Account", "Link", "Spent", "TurnAccount", "call_text"]


@dataclass(frozen=True)
class Spent:
    """What something took.

    Attributes:
        seconds: of wall time.
        read: tokens of prompts.
        written: tokens of replies.
        cost: US dollars, or None where nobody said.
    """

    seconds: float
    read: int
    written: int
    cost: float | None

    def words(self) -> str:
        """In a few words.

        >>> Spent(1.25, 1200, 30, None).words()
        '1.2 s · 1,200 tokens read, 30 written'
        """
        parts = [f"{self.seconds:.1f} s"]
        if self.read or self.written:
            parts.append(f"{self.read:,} tokens read, {self.written:,} written")
        if self.cost is not None:
            parts.append(f"${self.cost:.4f}")
        return " · ".join(parts)


@dataclass(frozen=True)
class TurnAccount:
    """One turn.

    Attributes:
        number: from 1.
        words: what the model said beside its call, or an empty string.
        calls: the tools that it asked for, as `call_text` writes them; only the first was done.
        outcome: what came of the first: `found`, `none`, `unusable`, `refused`; None where there was none.
        told: what it was told: the tool's words first.
        environment: what it was told there is now.
        shown: handles of the pictures that it was shown.
        made: the artefacts of the turn.
        tool_seconds: how long the tool took, or None.
        spent: by all of the turn.
    """

    number: int
    words: str
    calls: tuple[str, ...]
    outcome: str | None
    told: tuple[str, ...]
    environment: str
    shown: tuple[str, ...]
    made: tuple[Artifact, ...]
    tool_seconds: float | None
    spent: Spent


@dataclass(frozen=True)
class Link:
    """One artefact of the chain that an answer rests on.

    Attributes:
        depth: how many steps it is from what the answer names: 0 for that itself.
        artifact: the artefact.
        how: the call that made it, or `given`.
        again: whether it stands further up already, with what it was made from.
    """

    depth: int
    artifact: Artifact
    how: str
    again: bool = False


@dataclass(frozen=True)
class Account:
    """All of a trajectory.

    Attributes:
        question: what was asked.
        given: what was given with it.
        model: the name of the model, or what kind it is.
        rung: how much of the harness there was.
        turns: in order.
        answer: the answer itself; None while there is none.
        text: the last reply, whole.
        reason: why it ended.
        chain: what the answer rests on, each followed by what it was made from.
        unsupported: handles that the answer names and that were never made.
        warnings: what a reader should doubt, a sentence each.
        spent: by all of it.
    """

    question: str
    given: tuple[Artifact, ...]
    model: str
    rung: str
    turns: tuple[TurnAccount, ...]
    answer: str | None
    text: str
    reason: str
    chain: tuple[Link, ...]
    unsupported: tuple[str, ...]
    warnings: tuple[str, ...]
    spent: Spent

    @classmethod
    def of(cls, trajectory: Trajectory) -> Account:
        """The account of a trajectory, whether it has its end or not.

        Raises:
            InputError: a line of it lacks what a run writes.
        """
        try:
            return cls._of(trajectory)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            said = f"{type(error).__name__}: {error}"
            raise InputError(f"{trajectory.folder}: expected what a run writes: {said}") from None

    @classmethod
    def _of(cls, trajectory: Trajectory) -> Account:
        start, end = trajectory.start, trajectory.end or {}
        model, rung = start.get("model") or {}, str((start.get("settings") or {}).get("rung"))
        lines = (*trajectory.turns, *([end] if end else ()))
        return cls(
            trajectory.question,
            tuple(map(Artifact.from_dict, start["artefacts"])),
            str(model.get("model") or model.get("name") or model.get("kind") or "unnamed"),
            rung,
            tuple(map(_turn, trajectory.turns)),
            trajectory.answer,
            str(end.get("text", "")),
            str(end.get("reason", "")),
            tuple(_chain(trajectory)),
            tuple(end.get("unsupported", ())),
            tuple(_warnings(trajectory, rung)),
            _spent(lines, trajectory.seconds),
        )


def call_text(name: str, arguments: Any) -> str:
    """A call as Python would write it; arguments that were no JSON stand as they came.

    >>> call_text("zoom_in", {"image": "input_image_1", "scale": 2})
    'zoom_in(image="input_image_1", scale=2)'
    """
    if not isinstance(arguments, Mapping):
        return f"{name}({_json(arguments)})"
    return f"{name}({', '.join(f'{key}={_json(value)}' for key, value in arguments.items())})"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _turn(line: Mapping[str, Any]) -> TurnAccount:
    own, *others = line["messages"]
    parts = [part for message in others for part in message["parts"]]
    call = line["call"] or {}
    asked = [call_text(one["name"], _arguments(one["arguments"])) for one in own.get("calls", ())]
    return TurnAccount(
        int(line["turn"]),
        _texts(own["parts"], "reply"),
        tuple(asked),
        call.get("outcome"),
        tuple(part["text"] for part in parts if part.get("kind") in ("tool", "system")),
        _texts(parts, "environment"),
        tuple(part["picture"] for part in parts if "picture" in part),
        tuple(map(Artifact.from_dict, line["artefacts"])),
        call.get("seconds"),
        _spent((line,), float(line["seconds"])),
    )


def _texts(parts: Any, kind: str) -> str:
    return "\n\n".join(part["text"] for part in parts if part.get("kind") == kind)


def _arguments(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text


def _spent(lines: tuple[Mapping[str, Any], ...], seconds: float) -> Spent:
    uses = [use for line in lines for use in line["usage"]]
    costs = [use["cost"] for use in uses if use.get("cost") is not None]
    return Spent(
        seconds,
        sum(use.get("prompt_tokens") or 0 for use in uses),
        sum(use.get("completion_tokens") or 0 for use in uses),
        sum(costs) if costs else None,
    )


def _chain(trajectory: Trajectory) -> Iterator[Link]:
    """What the answer names, each followed by its sources, one step deeper.

    What comes a second time is named only: a chain of pairs would otherwise double with each step.
    """
    known = {artifact.handle: artifact for artifact in trajectory.artifacts}
    seen = set[str]()
    waiting = [(0, handle) for handle in reversed((trajectory.end or {}).get("cited", ()))]
    while waiting:
        depth, handle = waiting.pop()
        artifact = known.get(handle)
        if artifact is None:
            continue
        again = handle in seen and bool(artifact.sources)
        seen.add(handle)
        yield Link(depth, artifact, _how(artifact, trajectory), again)
        if not again:
            waiting += [(depth + 1, source) for source in reversed(artifact.sources)]


def _how(artifact: Artifact, trajectory: Trajectory) -> str:
    if artifact.made_by == "user":
        return "given"
    turns = trajectory.turns[max(artifact.turn - 1, 0) : max(artifact.turn, 0)]
    call = turns[0]["call"] if turns else None
    return artifact.made_by if call is None else call_text(call["name"], call["arguments"])


def _warnings(trajectory: Trajectory, rung: str) -> Iterator[str]:
    end = trajectory.end
    if end is None:
        yield "There is no answer yet: the run was stopped, and the same command goes on with it."
        return
    if end["unsupported"]:
        named = ", ".join(end["unsupported"])
        verb = "was" if len(end["unsupported"]) == 1 else "were"
        yield f"The answer names {named}, which {verb} never made."
    elif not end["cited"] and (rung not in RUNGS or RUNGS[rung].tools):
        yield "The answer names no evidence."
    if end["reason"] != "answered":
        yield f"The answer was asked for because {end['reason']}."
    if not end["answer"]:
        yield "The answer is empty."
