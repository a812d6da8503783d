"""The loop: a model perceives, reasons and acts, one tool a turn, until it answers."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._arrays import describe
from ..chat import ChatModel, Message, Picture, Reply, Text, ToolModel, ask
from ..errors import InputError, MissingExtraError, install_command
from ..images import ImageLike, load_image
from ._act import Acted, Actor
from .capability import Capability
from .evidence import answer_of, evidence_of
from .journal import append_line, cut_torn
from .memory import Memory
from .rendering import Templates
from .settings import RUNGS, Settings
from .text_tools import TextTools, without_tools
from .trajectory import FILE, FORMAT, Trajectory

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Agent"]

_LOCK = ".lock"


class Agent:
    """A model with capabilities and a memory.

    Args:
        model: who is asked. One that can't ask for tools natively does so in its text.
        capabilities: what can be asked for; none of two may have one name.
        settings: budgets, and how much of the harness there is.
        templates: the wording; by default what ships.

    Raises:
        InputError: two capabilities of one name, or one without a template.
    """

    def __init__(
        self,
        model: ChatModel,
        capabilities: Iterable[Capability] = (),
        *,
        settings: Settings | None = None,
        templates: Templates | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.templates = templates or Templates()
        self.model = model
        self.rung = RUNGS[self.settings.rung]
        self.capabilities: dict[str, Capability] = {}
        for capability in capabilities if self.rung.tools else ():
            if capability.name in self.capabilities:
                raise InputError(f"capabilities: two are called {capability.name!r}")
            self.capabilities[capability.name] = capability
        self.tools = tuple(self.templates.tool(one) for one in self.capabilities.values())
        self._caller = model if isinstance(model, ToolModel) else TextTools(model, self.templates)

    def ask(
        self,
        question: str,
        images: Iterable[ImageLike],
        folder: str | os.PathLike[str],
        *,
        on_turn: Callable[[Trajectory], None] | None = None,
    ) -> Trajectory:
        """As `run`, for a program that has no event loop of its own."""
        return asyncio.run(self.run(question, images, folder, on_turn=on_turn))

    async def run(
        self,
        question: str,
        images: Iterable[ImageLike],
        folder: str | os.PathLike[str],
        *,
        on_turn: Callable[[Trajectory], None] | None = None,
    ) -> Trajectory:
        """Answer a question about pictures, from where an earlier run in this folder stopped.

        Args:
            question: what to find out.
            images: the pictures it is about, in order; they become `input_image_1` and so on.
            folder: where the trajectory and the artefacts are kept.
            on_turn: told of the trajectory after each turn, and at its end.

        Returns:
            The whole trajectory, with its end.

        Raises:
            InputError: the folder holds another question or configuration, or a picture cannot be read.
            ChatError: the model gave no answer; the turns until then are kept, to go on from.
        """
        if not isinstance(question, str) or not question.strip():
            raise InputError(f"question: expected a text, got {describe(question)}")
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        with _alone(place):
            trajectory = await asyncio.to_thread(self._begun, question, list(images), place)
            while trajectory.end is None:
                trajectory = await self._next(trajectory)
                if on_turn is not None:
                    on_turn(trajectory)
        return trajectory

    def configuration(self) -> dict[str, Any]:
        """Plain data of all that decides an answer besides the question."""
        return {
            "model": dict(self._caller.settings()),
            "settings": self.settings.to_dict(),
            "tools": {name: dict(one.settings()) for name, one in self.capabilities.items()},
            "templates": {"digest": self.templates.digest, "versions": self.templates.versions},
        }

    def _begun(self, question: str, images: Sequence[ImageLike], folder: Path) -> Trajectory:
        """The trajectory in the folder, or a new one."""
        pictures = [load_image(image) for image in images]
        file = folder / FILE
        if file.exists():
            cut_torn(file)
        memory = Memory(folder)
        given = [memory.add("image", picture, made_by="user") for picture in pictures]
        start = {
            "kind": "start",
            "format": FORMAT,
            "question": question,
            **json.loads(json.dumps(self.configuration())),
            "artefacts": [artifact.to_dict() for artifact in given],
            "messages": [message.to_dict() for message in self._opening(question, memory)],
        }
        if file.exists() and file.stat().st_size:
            found = Trajectory.read(folder)
            different = [key for key in start if found.start.get(key) != start[key]]
            if different:
                raise InputError(
                    f"{file}: began with another {different[0]}; give another folder, or the same "
                    "question, pictures and configuration as before"
                )
            return found
        append_line(file, start)
        return Trajectory.read(folder)

    def _opening(self, question: str, memory: Memory) -> list[Message]:
        name = "system" if self.capabilities else "system-none"
        parts: list[Text | Picture] = []
        for artifact in memory.artifacts:
            parts.append(Text(f"{artifact.handle} ({artifact.about}):", kind="image"))
            parts.append(Picture(str(memory.folder / artifact.file), name=artifact.handle))
        parts.append(Text(question.strip(), kind="question"))
        told = Text(self.templates.fill(name), kind="system")
        return [Message("system", (told,)), Message("user", tuple(parts))]

    async def _next(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory with one turn more, or with its end."""
        began = time.monotonic()
        messages = trajectory.messages()
        why = self._spent(trajectory)
        if why is not None:
            final = Text(self.templates.fill("final", why=why), kind="system")
            asked = without_tools([*messages, Message("user", (final,))])
            reply, attempts = await ask(self.model, asked, attempts=self.settings.attempts)
            line = self._end(reply, trajectory, why)
        else:
            reply, attempts = await ask(
                self._caller, messages, tools=self.tools, attempts=self.settings.attempts
            )
            if not reply.calls and reply.text.strip() and reply.finish != "length":
                line = self._end(reply, trajectory, "answered")
            else:
                actor = Actor(self, trajectory.memory(), turn=len(trajectory.turns) + 1)
                line = self._turn(reply, await actor.act(reply), actor)
        line["usage"] = [asdict(reply.usage), *line["usage"]]
        line |= {"attempts": attempts, "seconds": round(time.monotonic() - began, 3)}
        append_line(trajectory.folder / FILE, line)
        if line["kind"] == "end":
            return Trajectory(trajectory.folder, trajectory.start, trajectory.turns, line)
        return Trajectory(trajectory.folder, trajectory.start, (*trajectory.turns, line))

    def _spent(self, trajectory: Trajectory) -> str | None:
        """Which budget is used up, in words for the model; None while there is room."""
        settings = self.settings
        tokens = trajectory.used("prompt_tokens") + trajectory.used("completion_tokens")
        spent = (
            (len(trajectory.turns), settings.turns, "the turns are used up"),
            (tokens, settings.max_tokens, "the budget of tokens is used up"),
            (trajectory.used("cost"), settings.max_cost, "the budget of money is used up"),
            (trajectory.seconds, settings.max_seconds, "the time is used up"),
        )
        return next((why for used, most, why in spent if most is not None and used >= most), None)

    def _turn(self, reply: Reply, acted: Acted, actor: Actor) -> dict[str, Any]:
        return {
            "kind": "turn",
            "turn": actor.turn,
            "messages": [message.to_dict() for message in acted.messages],
            "artefacts": [artifact.to_dict() for artifact in acted.made],
            "call": acted.call,
            "usage": [asdict(usage) for usage in acted.usage],
            "model": reply.model,
        }

    def _end(self, reply: Reply, trajectory: Trajectory, reason: str) -> dict[str, Any]:
        evidence = evidence_of(reply.text, trajectory.memory())
        return {
            "kind": "end",
            "text": reply.text,
            "answer": answer_of(reply.text),
            "reason": reason,
            **{key: list(handles) for key, handles in asdict(evidence).items()},
            "usage": [],
            "model": reply.model,
        }


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a folder, so that no second run writes into it."""
    try:
        import filelock
    except ImportError:
        raise MissingExtraError(f"an agent needs filelock: {install_command('harness')}") from None
    try:
        with filelock.FileLock(folder / _LOCK, timeout=0):
            yield
    except filelock.Timeout:
        raise InputError(f"{folder}: another run is at work in this folder") from None
