"""A trajectory once more: the recorded replies play the model, and the capabilities run anew."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..chat import Message, Reply, ToolCall
from ..errors import InputError, MissingExtraError, ToolError, WeightsError
from ._act import Actor
from .agent import Agent
from .capability import Capability, Finding
from .evidence import evidence_of
from .journal import append_line
from .memory import Artifact, Memory
from .rendering import Templates
from .settings import Settings
from .trajectory import FILE, Trajectory

__all__ = ["Difference", "Replay", "reopened", "replay"]


_NETWORK = "it reaches the network"
_NOT_ANEW = {
    "python_coding": "a model writes its programs, and a replay asks none",
    "text_search": _NETWORK,
    "image_search": _NETWORK,
    "webpage_visit": _NETWORK,
}
"""Capabilities that run again only where they are given, and why."""


@dataclass(frozen=True)
class Difference:
    """Where a replay came out otherwise.

    Attributes:
        turn: of which; 0 for what was there before the first.
        what: `configuration`, `opening`, `outcome`, `words`, `pictures`, `artefact`, `evidence` or `handles`,
            with the name of the artefact or the part.
        recorded: what the trajectory has.
        replayed: what came now.
    """

    turn: int
    what: str
    recorded: str
    replayed: str


@dataclass(frozen=True)
class Replay:
    """What came of a replay.

    Attributes:
        trajectory: the new one.
        differences: in order; none where all came out as before.
        played: tools that were asked for and not run anew but played from the record, and why.
    """

    trajectory: Trajectory
    differences: tuple[Difference, ...]
    played: Mapping[str, str]


def replay(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    capabilities: Iterable[Capability] | None = None,
    templates: Templates | None = None,
) -> Replay:
    """Run the tools of a trajectory again and compare.

    No model is asked. What a tool says and what it makes is compared word by word and by the digest of the
    files; times are not.

    Args:
        folder: of the trajectory.
        out: a fresh folder for the new one.
        capabilities: to run in place of those of their names. The others are opened with the settings that
            the trajectory has. One that cannot be opened (its backend was a function, its weights are not
            here) is not run, nor is one that asks a model or reaches the network: what it said and made is
            taken from the record, and the result names it.
        templates: the wording; by default what ships.

    Raises:
        InputError: no trajectory, one whose files are not as they were, or a folder that holds one already.
    """
    recorded = Trajectory.read(folder)
    recorded.check()
    place = Path(out)
    if (place / FILE).exists():
        raise InputError(f"{place}: expected a fresh folder, got one with a trajectory")
    place.mkdir(parents=True, exist_ok=True)
    given = {one.name: one for one in capabilities or ()}
    opened, played = reopened(recorded, but=given)
    named = recorded.start["tools"]
    opened += [one for name, one in given.items() if name in named]
    agent = Agent(
        _Player(recorded.start.get("model") or {}),
        [*opened, *(_Played(name, named[name]) for name in played)],
        settings=_settings(recorded),
        templates=templates,
    )
    if agent.capabilities:  # in their order, which a refusal of an unknown tool tells
        agent.capabilities = {name: agent.capabilities[name] for name in named}
    return asyncio.run(_Run(agent, recorded, place, played).go())


def reopened(
    trajectory: Trajectory, but: Container[str] = ()
) -> tuple[list[Capability], dict[str, str]]:
    """The capabilities of a trajectory, opened again with the settings that it has.

    Args:
        trajectory: names them.
        but: names of those that are not wanted.

    Returns:
        Those that could be opened; and by name why the others could not.
    """
    from .capabilities import open_capabilities

    opened: list[Capability] = []
    failed: dict[str, str] = {}
    for name, settings in trajectory.start["tools"].items():
        if name in but:
            continue
        if name in _NOT_ANEW:
            failed[name] = _NOT_ANEW[name]
            continue
        options = {key: _option(value) for key, value in settings.items() if value is not None}
        try:
            opened += open_capabilities({name: options})
        except (InputError, MissingExtraError, WeightsError, ToolError) as error:
            failed[name] = str(error)
    return opened, failed


def _settings(trajectory: Trajectory) -> Settings:
    try:
        return Settings(**trajectory.start["settings"])
    except (TypeError, KeyError) as error:
        raise InputError(
            f"{trajectory.folder}: settings: expected what a run writes: {error}"
        ) from None


def _option(value: Any) -> Any:
    """A setting as the option that gives it: a backend is chosen by its name."""
    return value["name"] if isinstance(value, Mapping) and "name" in value else value


class _Player:
    """Stands for the model, which is not asked."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.name = "replay"
        self._settings = settings

    def settings(self) -> Mapping[str, Any]:
        return self._settings

    async def answer(self, messages: Sequence[Message]) -> Reply:
        raise ToolError("a replay asks no model")

    async def answer_or_call(self, messages: Sequence[Message], tools: Sequence[Any]) -> Reply:
        return await self.answer(messages)

    async def close(self) -> None: ...


class _Played(Capability):
    """Stands for a tool whose turns are taken from the record."""

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self.name = name
        self._settings = settings

    def settings(self) -> Mapping[str, Any]:
        return self._settings

    async def call(self, memory: Memory) -> Finding:
        """Never called.

        Args:
            memory: what was gathered.
        """
        raise ToolError(f"{self.name} is played from the record")


class _Run:
    """One replay.

    Args:
        agent: has the capabilities.
        recorded: the trajectory.
        out: the folder of the new one.
        played: tools that are not run, and why.
    """

    def __init__(
        self, agent: Agent, recorded: Trajectory, out: Path, played: Mapping[str, str]
    ) -> None:
        self.agent, self.recorded, self.out, self.played = agent, recorded, out, played
        self.differences: list[Difference] = []

    async def go(self) -> Replay:
        """All of it."""
        now = await asyncio.to_thread(self._start)
        for line in self.recorded.turns:
            try:
                now = await self._turn(line, now)
            except InputError as error:
                # Handles that come out otherwise make a record's later turns mean other things.
                self._differ(line["turn"], "handles", "as recorded", str(error))
                return self._done(now)
        if self.recorded.end is not None:
            now = self._end(self.recorded.end, now)
        return self._done(now)

    def _done(self, now: Trajectory) -> Replay:
        called = {call["name"] for call in self.recorded.calls}
        played = {name: why for name, why in self.played.items() if name in called}
        return Replay(now, tuple(self.differences), played)

    def _start(self) -> Trajectory:
        memory = self.recorded.memory()
        given = [Artifact.from_dict(data) for data in self.recorded.start["artefacts"]]
        pictures = [memory.image(one.handle) for one in given]
        now = self.agent._begun(self.recorded.question, pictures, self.out)
        for name in ("settings", "tools", "templates"):
            before, after = (json.dumps(one.start[name]) for one in (self.recorded, now))
            self._compare(0, f"configuration: {name}", before, after)
        self._compare(
            0, "opening", *(_words(one.start["messages"]) for one in (self.recorded, now))
        )
        self._artifacts(0, self.recorded.start["artefacts"], now.start["artefacts"])
        return now

    async def _turn(self, line: Mapping[str, Any], now: Trajectory) -> Trajectory:
        began = time.monotonic()
        own = line["messages"][0]
        if line["call"] is None or line["call"]["name"] in self.played:
            made = self._copied(line)
        else:
            text = "\n\n".join(part["text"] for part in own["parts"])
            calls = tuple(ToolCall(**call) for call in own.get("calls", ()))
            reply = Reply(text, model=line.get("model"), calls=calls)
            actor = Actor(self.agent, now.memory(), turn=line["turn"])
            acted = await actor.act(reply)
            made = self.agent._turn(reply, acted, actor)
            made["usage"] = [*line["usage"][:1], *made["usage"]]
            made |= {"attempts": line["attempts"], "seconds": round(time.monotonic() - began, 3)}
            made = json.loads(json.dumps(made))
        later = Trajectory(now.folder, now.start, (*now.turns, made))
        later.memory()  # refuses a handle that is there twice
        append_line(self.out / FILE, made)
        self._compare_turns(line, made)
        return later

    def _copied(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """A turn as it was, with the files that it made."""
        memory = self.recorded.memory()
        for data in line["artefacts"]:
            artifact = Artifact.from_dict(data)
            (self.out / artifact.file).write_bytes(memory.read_bytes(artifact))
        return dict(line)

    def _end(self, end: Mapping[str, Any], now: Trajectory) -> Trajectory:
        evidence = {
            key: list(handles)
            for key, handles in asdict(evidence_of(str(end["text"]), now.memory())).items()
        }
        line = {**end, **evidence}
        append_line(self.out / FILE, line)
        for key, handles in evidence.items():
            self._compare(
                len(now.turns) + 1, f"evidence: {key}", ", ".join(end[key]), ", ".join(handles)
            )
        return Trajectory(now.folder, now.start, now.turns, line)

    def _compare_turns(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        turn = before["turn"]
        outcomes = ((one["call"] or {}).get("outcome", "no call") for one in (before, after))
        self._compare(turn, "outcome", *outcomes)
        told = (_words(one["messages"][1:]) for one in (before, after))
        self._compare(turn, "words", *told)
        self._compare(turn, "pictures", *(_pictures(one["messages"]) for one in (before, after)))
        self._artifacts(turn, before["artefacts"], after["artefacts"])

    def _artifacts(
        self, turn: int, before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
    ) -> None:
        then, now = ({one["handle"]: one for one in some} for some in (before, after))
        for handle in dict.fromkeys([*then, *now]):
            some = (_said(then.get(handle)), _said(now.get(handle)))
            self._compare(turn, f"artefact {handle}", *some)

    def _compare(self, turn: int, what: str, recorded: str, replayed: str) -> None:
        if recorded != replayed:
            self._differ(turn, what, recorded, replayed)

    def _differ(self, turn: int, what: str, recorded: str, replayed: str) -> None:
        self.differences.append(Difference(turn, what, recorded, replayed))


def _words(messages: Iterable[Mapping[str, Any]]) -> str:
    """All that a model is told."""
    return "\n\n".join(part["text"] for part in _parts(messages) if "text" in part)


def _pictures(messages: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(part["picture"] for part in _parts(messages) if "picture" in part)


def _parts(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (part for message in messages for part in message["parts"])


def _said(artifact: Mapping[str, Any] | None) -> str:
    return "not made" if artifact is None else json.dumps(artifact, ensure_ascii=False)
