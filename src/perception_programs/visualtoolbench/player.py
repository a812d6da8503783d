"""The loop: a model answers a task's turns, with as many tools at once as it asks for."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from string import Template
from typing import Any

from ..chat import ChatModel, Message, Picture, Reply, Text, ToolCall, ToolModel, ask
from ..errors import InputError
from ..harness import Artifact, Capability, Memory, Templates
from ..harness.journal import append_line, cut_torn
from ..harness.text_tools import TextTools, without_tools
from ..harness.trajectory import message_from
from ..images import load_image
from ..sandbox import Sandbox, Session
from .operations import count_operations
from .plays import FILE, Play
from .settings import SETTINGS
from .tasks import Task, Turn
from .toolset import Called, Desk, Pages, Search, offered, save_pictures
from .weather import Weather
from .wording import template

__all__ = ["MOST_CALLS", "Player"]

MOST_CALLS = 20
"""Tool calls of one task."""

_CODE = ("python_image_processing", "python_interpreter")
_REFUSED = (
    f"Refused: at most {MOST_CALLS} tool calls are possible for a task, and they are used up. Answer "
    "from what you have."
)


class Player:
    """Plays tasks with one model in one setting.

    Args:
        model: who plays; one that can't ask for tools natively does so in its text.
        setting: one of `SETTINGS`.
        sandbox: where its code runs.
        capabilities: the tools of the setting `programs` besides the six.
        search: searches the web; None says that there is no search.
        pages: opens web pages; likewise.
        weather: an archive; likewise.
        golden_history: whether later turns see the golden answers to earlier ones in place of the
            model's own answers, tools and pictures.
        text_only: whether pictures are left out of what the model is sent, for one that reads text
            alone; its code can still work on them.
        attempts: how often the model is asked that gives transient errors.

    Raises:
        InputError: no such setting.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        sandbox: Sandbox,
        setting: str = "strong",
        capabilities: Sequence[Capability] = (),
        search: Search | None = None,
        pages: Pages | None = None,
        weather: Weather | None = None,
        golden_history: bool = False,
        text_only: bool = False,
        attempts: int = 6,
    ) -> None:
        if setting not in SETTINGS:
            raise InputError(f"setting: expected one of {', '.join(SETTINGS)}, got {setting!r}")
        self.setting = SETTINGS[setting]
        self._name, self._golden, self._attempts = setting, golden_history, attempts
        self._text_only = text_only
        self._capabilities = tuple(capabilities) if self.setting.programs else ()
        self._templates = Templates()
        self._model, self._sandbox = model, sandbox
        self._caller = model if isinstance(model, ToolModel) else TextTools(model, self._templates)
        self._sources = {"search": search, "pages": pages, "weather": weather}
        self.tools = offered(self.setting.tools, self._capabilities, self._templates)

    def configuration(self) -> dict[str, Any]:
        """Plain data of all that decides an answer besides the task."""
        told = json.dumps([asdict(tool) for tool in self.tools], sort_keys=True)
        wording = f"{told}{template(self.setting.prompt)}"
        return {
            "setting": self._name,
            "golden_history": self._golden,
            "text_only": self._text_only,
            "model": dict(self._caller.settings()),
            "capabilities": {one.name: dict(one.settings()) for one in self._capabilities},
            "sources": sorted(name for name, source in self._sources.items() if source),
            "wording": f"sha256:{hashlib.sha256(wording.encode()).hexdigest()}",
        }

    async def play(self, task: Task, folder: Path) -> Play:
        """Play a task, from where an earlier process stopped.

        Raises:
            InputError: the folder holds another task or configuration, or a picture cannot be read.
            ChatError: the model gave no answer; the rounds until then are kept, to go on from.
        """
        play = await asyncio.to_thread(self._begun, task, folder)
        if play.done(len(task.turns)):
            return play
        with await asyncio.to_thread(self._sandbox.open) as session:
            match = _Match(self, task, play, session)
            await match.restore()
            while not match.play.done(len(task.turns)):
                await match.round()
            return match.play

    def _begun(self, task: Task, folder: Path) -> Play:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / FILE
        if file.exists():
            cut_torn(file)
        start = {"kind": "start", "task": task.id, **json.loads(json.dumps(self.configuration()))}
        found = Play.read(folder)
        if found is None:
            append_line(file, start)
            return Play(folder, start)
        different = [key for key in start if found.start.get(key) != start[key]]
        if different:
            raise InputError(
                f"{file}: began with another {different[0]}; give another folder, or the same "
                "configuration as before"
            )
        return found


class _Match:
    """One task being played."""

    def __init__(self, player: Player, task: Task, play: Play, session: Session) -> None:
        self._player, self._task, self.play, self._session = player, task, play, session
        known = [
            Artifact.from_dict(data) for line in play.lines for data in line.get("artefacts", ())
        ]
        self._memory = Memory(play.folder / "memory", known)
        self._desk = Desk(
            session,
            self._memory,
            names=player.setting.tools,
            capabilities=player._capabilities,
            templates=player._templates,
            **player._sources,  # type: ignore[arg-type]
        )
        self._shown: list[list[tuple[str, bytes]]] = []

    async def restore(self) -> None:
        """Make the working folder and the code's state what they were after the last round."""
        self._shown = await asyncio.to_thread(self._pictures)
        recorded = {name for call in self.play.calls for name in call["pictures"]}
        for file in (self.play.folder / "pictures").glob("*"):
            if file.name not in recorded:  # of a round that a kill cut off
                file.unlink()
        for name, data in (one for turn in self._shown for one in turn):
            await asyncio.to_thread(self._save, name, data)
        for turn in range(len(self.play.answers) + 1):
            if turn >= len(self._task.turns):
                break
            for name, data in self._shown[turn]:
                self._session.add_file(name, data)
            for line in self.play.lines:
                if line["turn"] != turn:
                    continue
                for call in line.get("calls", ()):
                    if call["name"] in _CODE and call["valid"] and not call["refused"]:
                        code = str(call["arguments"].get("code", ""))
                        await asyncio.to_thread(self._session.run, code)

    async def round(self) -> None:
        """Ask the model once, and do what it asks for."""
        began = time.monotonic()
        player, turn = self._player, len(self.play.answers)
        opening = [line for line in self.play.lines if line["turn"] == turn]
        given: list[dict[str, Any]] = []
        first: list[Message] = []
        if not opening:
            given, first = await asyncio.to_thread(self._opened, turn)
        messages = [*self._history(turn), *first]
        if player._text_only:
            messages = [_without_pictures(message) for message in messages]
        spent = len(self.play.calls) >= MOST_CALLS and self._was_refused(turn)
        if spent or not player.tools:
            plain = without_tools(messages)
            reply, attempts = await ask(player._model, plain, attempts=player._attempts)
            reply = Reply(reply.text, reply.usage, reply.model, reply.finish)
        else:
            reply, attempts = await ask(
                player._caller, messages, tools=player.tools, attempts=player._attempts
            )
        line: dict[str, Any] = {
            "kind": "round" if reply.calls else "answer",
            "turn": turn,
            "messages": [message.to_dict() for message in first],
            "artefacts": given,
            "usage": [asdict(reply.usage)],
            "attempts": attempts,
            "model": reply.model,
        }
        if reply.calls:
            done, calls = await self._done(reply.calls)
            line["calls"] = calls
            said = (Text(reply.text, kind="reply"),) if reply.text.strip() else ()
            line["messages"] += [
                message.to_dict() for message in (Message("assistant", said, reply.calls), *done)
            ]
            line["artefacts"] = [
                *given,
                *(
                    one.to_dict()
                    for one in self._memory.artifacts
                    if not self._recorded(one, given)
                ),
            ]
        else:
            own = Message("assistant", (Text(reply.text or "(nothing)", kind="reply"),))
            line["messages"].append(own.to_dict())
            line["text"] = reply.text
        line["seconds"] = round(time.monotonic() - began, 3)
        await asyncio.to_thread(append_line, self.play.folder / FILE, line)
        self.play = Play(self.play.folder, self.play.start, (*self.play.lines, line))
        if not reply.calls and turn + 1 < len(self._task.turns):
            for name, data in self._shown[turn + 1]:
                self._session.add_file(name, data)

    async def _done(self, calls: Sequence[ToolCall]) -> tuple[list[Message], list[dict[str, Any]]]:
        """All calls of one reply, in its order: what answers each, and then the pictures."""
        answers: list[Message] = []
        parts: list[Text | Picture] = []
        records: list[dict[str, Any]] = []
        made = len(self.play.calls)
        for number, call in enumerate(calls):
            began = time.monotonic()
            refused = made + number >= MOST_CALLS
            called = Called(_REFUSED, False) if refused else await self._desk.call(call)
            folder = self.play.folder / "pictures"
            names = await asyncio.to_thread(save_pictures, folder, called.pictures)
            answers.append(Message("tool", (Text(called.text, kind="tool"),), answers=call.id))
            for (name, _), file in zip(called.pictures, names, strict=True):
                parts += [Text(f"{name}:", kind="image"), Picture(str(folder / file), name=file)]
            records.append(
                {
                    "name": call.name,
                    "arguments": _plain(call.arguments),
                    "valid": called.valid,
                    "refused": refused,
                    "pictures": names,
                    "operations": _operations(call),
                    "seconds": round(time.monotonic() - began, 3),
                }
            )
        return [*answers, *([Message("user", tuple(parts))] if parts else [])], records

    def _opened(self, turn: int) -> tuple[list[dict[str, Any]], list[Message]]:
        """What a turn begins with: the pictures that are given with it, and what the user says."""
        from PIL import Image

        made: list[dict[str, Any]] = []
        parts: list[Text | Picture] = []
        folder = self.play.folder / "pictures"
        for name, data in self._shown[turn]:
            parts_name = name
            if self._player._capabilities:
                with Image.open(io.BytesIO(data)) as image:
                    artifact = self._memory.add("image", load_image(image), made_by="user")
                made.append(artifact.to_dict())
                parts_name = f"{name} ({artifact.handle})"
            parts += [Text(f"{parts_name}:", kind="image"), Picture(str(folder / name), name=name)]
        prompt = Text(self._task.turns[turn].prompt, kind="question")
        return made, [*self._system(turn), Message("user", (*parts, prompt))]

    def _save(self, name: str, data: bytes) -> None:
        folder = self.play.folder / "pictures"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    def _system(self, turn: int) -> list[Message]:
        if turn:
            return []
        said = Template(template(self._player.setting.prompt)).safe_substitute(calls=MOST_CALLS)
        return [Message("system", (Text(said, kind="system"),))]

    def _history(self, turn: int) -> list[Message]:
        """The conversation up to here, the model's own or with golden answers to earlier turns."""
        folder = self.play.folder / "pictures"
        files = {file.name: file.name for file in folder.glob("*.png")} if folder.is_dir() else {}
        messages: list[Message] = []
        for line in self.play.lines:
            said = [message_from(data, folder, files) for data in line["messages"]]
            if self._player._golden and line["turn"] < turn:
                said = [message for message in said if _is_given(message)]
                if line["kind"] == "answer":
                    golden = self._task.turns[line["turn"]].golden_answer or "(nothing)"
                    said.append(Message("assistant", (Text(golden, kind="reply"),)))
            messages += said
        return messages

    def _was_refused(self, turn: int) -> bool:
        """Whether the model was told in this turn that no calls are left."""
        last = [line for line in self.play.lines if line["turn"] == turn]
        return bool(last) and any(call["refused"] for call in last[-1].get("calls", ()))

    def _pictures(self) -> list[list[tuple[str, bytes]]]:
        """For each turn the pictures given with it, as PNG files by name."""
        shown, count = [], 0
        for turn in self._task.turns:
            files = []
            for data in _read(turn):
                files.append((f"image_{count}.png", data))
                count += 1
            shown.append(files)
        return shown

    def _recorded(self, artifact: Artifact, given: Sequence[Mapping[str, Any]]) -> bool:
        lines = [data["handle"] for line in self.play.lines for data in line.get("artefacts", ())]
        return artifact.handle in (*lines, *(data["handle"] for data in given))


def _read(turn: Turn) -> list[bytes]:
    from PIL import Image

    found = []
    for read in turn.images:
        file = io.BytesIO()
        Image.fromarray(load_image(read())).save(file, "PNG")
        found.append(file.getvalue())
    return found


def _is_given(message: Message) -> bool:
    """Whether a message is the task's own: what the user says, or the system."""
    return message.role == "system" or any(
        isinstance(part, Text) and part.kind == "question" for part in message.parts
    )


def _without_pictures(message: Message) -> Message:
    """The message without its pictures; their names stay."""
    parts = tuple(part for part in message.parts if isinstance(part, Text))
    return Message(message.role, parts, message.calls, message.answers)


def _operations(call: ToolCall) -> dict[str, int]:
    given = _plain(call.arguments)
    code = given.get("code") if call.name == _CODE[0] and isinstance(given, dict) else None
    return count_operations(code) if isinstance(code, str) else {}


def _plain(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}", parse_constant=str)
    except (ValueError, RecursionError):
        return arguments
