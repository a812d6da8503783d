"""One turn's tool: the call that a model wrote is checked, done, and answered in messages."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._arrays import describe
from .._plain import refuse_constant, unique_keys
from ..chat import Message, Picture, Reply, Text, ToolCall, Usage
from ..chat.schema import schema_of
from ..errors import InputError, MissingExtraError, ToolError, WeightsError
from ..text.quoting import capped, quoted
from .memory import HANDLE, Artifact, Memory

if TYPE_CHECKING:
    from .agent import Agent
    from .capability import Finding

__all__ = ["Acted", "Actor"]

_LISTED = 30  # artefacts that an environment update describes; of older ones it says the handles
_NOT_KEPT = "(not kept)"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Acted:
    """A turn that is over.

    Attributes:
        messages: the model's own, what answers its calls, what it is shown, what there is now.
        made: what the memory got.
        call: of the tool: `name`, `arguments`, `outcome` (`found`, `none`, `unusable`, or `refused`
            for one that could not be done) and `seconds`; None where none was asked for.
        usage: what the tool's own models took.
    """

    messages: tuple[Message, ...]
    made: tuple[Artifact, ...] = ()
    call: Mapping[str, Any] | None = None
    usage: tuple[Usage, ...] = ()


@dataclass(frozen=True)
class _Done:
    """What came of a call."""

    text: str
    outcome: str = "refused"
    made: tuple[Artifact, ...] = ()
    shown: tuple[Artifact, ...] = ()
    usage: tuple[Usage, ...] = ()


class Actor:
    """Does what a model asks for in one turn.

    Args:
        agent: whose capabilities, templates and limits hold.
        memory: what there is.
        turn: its number, from 1.
    """

    def __init__(self, agent: Agent, memory: Memory, turn: int) -> None:
        self.agent, self.memory, self.turn = agent, memory, turn

    async def act(self, reply: Reply) -> Acted:
        """The turn that follows from a reply that is not the answer."""
        said = (Text(reply.text, kind="reply"),) if reply.text.strip() else ()
        if not reply.calls:
            why = (
                "it was cut off at its limit of length: be brief"
                if reply.finish == "length"
                else "it was empty"
            )
            told = f"Your last reply was not used: {why}. Ask for one tool, or write the answer."
            own = said or (Text("(nothing)", kind="reply"),)
            return Acted((Message("assistant", own), self._after(told, ())))
        first, *others = reply.calls
        began = time.monotonic()
        done = await self._done(first)
        call = {
            "name": first.name,
            "arguments": _plain_arguments(first),
            "outcome": done.outcome,
            "seconds": round(time.monotonic() - began, 3),
        }
        answers = [Message("tool", (Text(done.text, kind="tool"),), answers=first.id)]
        for other in others:
            text = Text("Not done: one tool a turn. Ask for it again if you still need it.", "tool")
            answers.append(Message("tool", (text,), answers=other.id))
        messages = (
            Message("assistant", said, reply.calls),
            *answers,
            self._after(None, done.shown),
        )
        return Acted(messages, done.made, call, done.usage)

    async def _done(self, call: ToolCall) -> _Done:
        try:
            capability, arguments = self._checked(call)
            limit = self.agent.settings.tool_seconds
            finding = await asyncio.wait_for(capability.call(self.memory, **arguments), limit)
            return await asyncio.to_thread(self._kept, call.name, finding)
        except (InputError, ToolError, MissingExtraError, WeightsError) as error:
            return _Done(self._cut(f"Error: {' '.join(str(error).split())}"))
        except asyncio.TimeoutError:
            return _Done(f"Error: {call.name}: not done within {limit:g} s; ask for less at a time")
        except Exception as error:
            _log.exception("the capability %s failed", call.name)
            kind = type(error).__name__
            return _Done(f"Error: {call.name}: failed for a reason of its own ({kind})")

    def _checked(self, call: ToolCall) -> tuple[Any, dict[str, Any]]:
        known = self.agent.capabilities
        if call.name not in known:
            raise InputError(
                f"expected one of the tools {', '.join(known)}, got {call.name[:80]!r}"
            )
        try:
            given = _json(call.arguments)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{call.name}: expected its arguments as JSON: {error}") from None
        if not isinstance(given, dict):
            raise InputError(
                f"{call.name}: expected its arguments as an object, got {describe(given)}"
            )
        try:
            arguments = schema_of(known[call.name].call).check(given)
        except InputError as error:
            raise InputError(f"{call.name}: {error}") from None
        for handle in _handles(given):
            if handle in self.memory and not self._allowed(self.memory.get(handle)):
                raise InputError(f"{call.name}: {handle} can't be used again here")
        return known[call.name], arguments

    def _allowed(self, artifact: Artifact) -> bool:
        return self.agent.rung.allows(artifact.kind, artifact.made_by == "user")

    def _kept(self, name: str, finding: Finding) -> _Done:
        """The finding in words, once its artefacts are in the memory."""
        agent = self.agent
        made: dict[str, Artifact] = {}
        for key, new in finding.new.items():
            made[key] = self.memory.add(
                new.kind,
                new.value,
                made_by=name,
                about=new.about,
                sources=new.sources,
                turn=self.turn,
            )
        if agent.rung.rendering:
            handles = {
                key: one.handle if self._allowed(one) else _NOT_KEPT for key, one in made.items()
            }
            budget = agent.settings.program_tokens
            text = agent.templates.render(name, finding, handles, max_tokens=budget)
        else:
            text = json.dumps(finding.raw, ensure_ascii=False)
        shown = tuple(
            made[key]
            for key, new in finding.new.items()
            if new.show and agent.rung.rendering and self._allowed(made[key])
        )
        return _Done(
            self._cut(text), finding.form, tuple(made.values()), shown, tuple(finding.usage)
        )

    def _after(self, told: str | None, shown: tuple[Artifact, ...]) -> Message:
        """The user's turn after the tool's: the pictures to see, and what there is now."""
        parts: list[Text | Picture] = [Text(told, kind="system")] if told else []
        for artifact in shown:
            parts.append(Text(f"{artifact.handle}:", kind="image"))
            parts.append(Picture(str(self.memory.folder / artifact.file), name=artifact.handle))
        parts.append(Text(self._environment(), kind="environment"))
        return Message("user", tuple(parts))

    def _environment(self) -> str:
        agent = self.agent
        left = agent.settings.turns - self.turn
        if not agent.rung.memory:
            return agent.templates.fill("environment-turns", turns=left)
        live = [one for one in self.memory.artifacts if self._allowed(one)]
        earlier, listed = live[:-_LISTED], live[-_LISTED:]
        lines = [f"- earlier: {', '.join(one.handle for one in earlier)}"] if earlier else []
        lines += [_described(artifact, self.turn) for artifact in listed]
        return agent.templates.fill("environment", artifacts="\n".join(lines), turns=left)

    def _cut(self, text: str) -> str:
        most = self.agent.settings.output_characters
        if len(text) <= most:
            return text
        return (
            f"{text[:most]}\n[cut here: {len(text) - most} more characters; ask for less at a time]"
        )


def _described(artifact: Artifact, turn: int) -> str:
    how = "given" if artifact.made_by == "user" else artifact.made_by
    sources = f" of {', '.join(artifact.sources)}" if artifact.sources else ""
    new = ", new" if artifact.turn == turn else ""
    about = artifact.about if artifact.about.isprintable() else quoted(artifact.about)[1:-1]
    return f"- {artifact.handle}: {artifact.kind}, {how}{sources}{new}; {capped(about)}"


def _plain_arguments(call: ToolCall) -> Any:
    try:
        return _json(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments


def _json(text: str) -> Any:
    return json.loads(text or "{}", object_pairs_hook=unique_keys, parse_constant=refuse_constant)


def _handles(value: Any) -> list[str]:
    """The handles anywhere in some arguments."""
    if isinstance(value, str):
        return [value] if HANDLE.fullmatch(value) else []
    if isinstance(value, Mapping):
        value = list(value.values())
    return [one for part in value for one in _handles(part)] if isinstance(value, list) else []
