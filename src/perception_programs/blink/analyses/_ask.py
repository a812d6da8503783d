"""Questions that show a few solved programs and one to fill in, and the model's replies to them."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template
from typing import Any

from ... import __version__
from ..._plain import check_count
from ...chat._tasks import all_or_none
from ...chat.messages import Message, Part, Picture, Text
from ...chat.model import ChatError, ChatModel, Reply
from ...chat.retry import ask
from ...errors import InputError
from ...program import PerceptionProgram, Reading
from ._redact import Filled, filled

__all__ = [
    "Asked",
    "Shown",
    "ask_all",
    "choose_examples",
    "header",
    "question",
    "read_reply",
]


@dataclass(frozen=True)
class Shown:
    """A picture or pair of pictures with the text of its program."""

    pictures: tuple[Picture, ...]
    program: str


@dataclass(frozen=True)
class Asked:
    """A question that was put to the model.

    Attributes:
        labels: what tells it from the others.
        examples: the numbers (from 1) of what was shown as solved.
        reply: what came of it.
        filled: what its text makes of the program.
    """

    labels: Mapping[str, Any]
    examples: tuple[int, ...]
    reply: Reply | ChatError
    filled: Filled

    def row(self) -> dict[str, Any]:
        """Its outcome as a row of a table."""
        found, reply = self.filled, self.reply
        usage = None if isinstance(reply, ChatError) else reply.usage
        return {
            **self.labels,
            "outcome": found.outcome,
            "missing": found.missing,
            "extra": found.extra,
            "invalid": found.invalid,
            "problem": found.problem,
            "finish": None if isinstance(reply, ChatError) else reply.finish,
            "prompt_tokens": None if usage is None else usage.prompt_tokens,
            "completion_tokens": None if usage is None else usage.completion_tokens,
            "cost": None if usage is None else usage.cost,
        }

    def record(self) -> dict[str, Any]:
        """What was said, as plain data."""
        said = None if isinstance(self.reply, ChatError) else self.reply.text
        return {**self.labels, "examples": list(self.examples), "reply": said}


def choose_examples(n: int, shots: int, seed: int) -> list[tuple[int, ...]]:
    """For each of `n` things, the positions of `shots` others, in random order.

    Raises:
        InputError: there are too few.

    >>> [sorted(others) for others in choose_examples(3, shots=2, seed=0)]
    [[1, 2], [0, 2], [0, 1]]
    """
    check_count(shots, "shots")
    if n <= shots:
        raise InputError(f"shots: expected fewer than there are to show, {n}, got {shots}")
    return [
        tuple(random.Random(f"{seed}/{one}").sample([k for k in range(n) if k != one], shots))
        for one in range(n)
    ]


@cache
def template(name: str) -> Template:
    """A packaged text of these prompts."""
    file = resources.files(__package__).joinpath("templates", f"{name}.txt")
    return Template(file.read_text(encoding="utf-8").rstrip("\n"))


def question(analysis: str, thing: str, examples: Sequence[Shown], query: Shown) -> Message:
    """The user turn: what this is about, the examples, what is to be filled in, how to answer.

    Args:
        analysis: the name of the analysis, which is that of its two templates.
        thing: what examples are called: `Picture`, `Pair`.
        examples: the solved ones.
        query: the one whose readings were taken out.
    """
    opening, closing = (template(f"{analysis}_{part}") for part in ("opening", "closing"))
    number = len(examples) + 1
    parts: list[Part] = [Text(opening.substitute(shots=len(examples)), "instructions")]
    for n, shown in enumerate((*examples, query), 1):
        kind = "example" if n < number else "program"
        parts.append(Text(f"{thing} {n}", kind))
        parts += shown.pictures
        parts.append(Text(shown.program, kind))
    parts.append(Text(closing.substitute(number=number), "question"))
    return Message("user", tuple(parts))


async def ask_all(
    model: ChatModel, questions: Sequence[Message], *, concurrency: int
) -> list[Reply | ChatError]:
    """The reply to each question, or why there is none; at most `concurrency` at a time."""
    gate = asyncio.Semaphore(check_count(concurrency, "concurrency"))

    async def one(message: Message) -> Reply | ChatError:
        async with gate:
            try:
                reply, _ = await ask(model, (message,))
            except ChatError as error:
                if error.broken:
                    raise  # nothing can be made of what such a model says
                return error
            return reply

    return await all_or_none([one(message) for message in questions])


def read_reply(
    labels: Mapping[str, Any],
    examples: Sequence[int],
    reply: Reply | ChatError,
    hidden: PerceptionProgram,
    valid: Callable[[Reading], bool],
) -> Asked:
    """A question with its reply, read.

    Args:
        labels: what tells the question from the others.
        examples: positions (from 0) of what was shown as solved.
        reply: what came of it.
        hidden: the redacted program.
        valid: whether a reading is one.
    """
    numbers = tuple(k + 1 for k in examples)
    if isinstance(reply, ChatError):
        return Asked(labels, numbers, reply, Filled("error", problem=str(reply)))
    return Asked(labels, numbers, reply, filled(reply.text, hidden, valid))


def header(analysis: str, model: ChatModel, **settings: Any) -> dict[str, Any]:
    """How an analysis came about, as plain data; templates by the SHA-256 of their text."""
    texts = [template(f"{analysis}_{part}").template for part in ("opening", "closing")]
    return {
        "analysis": analysis,
        "model": {**model.settings(), "name": model.name},
        **settings,
        "templates": hashlib.sha256("\0".join(texts).encode()).hexdigest(),
        "package": __version__,
    }
