"""A model whose answers are written beforehand, for tests and dry runs."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from .._arrays import describe
from .._plain import unique_keys
from ..errors import InputError
from ._files import check_file
from .messages import Message, ToolCall
from .model import ChatError, Reply, ToolSpec

__all__ = ["ScriptedModel"]


class ScriptedModel:
    """Answers from a script.

    Args:
        answers: one answer for all questions; one each, in the order of asking; or a function of
            the messages that gives the answer or the whole reply.
        name: what reports call it.

    Raises:
        InputError: the answers are neither.

    >>> import asyncio
    >>> from perception_programs.chat import Message, Text
    >>> question = (Message("user", (Text("Which is nearer, (A) or (B)?"),)),)
    >>> asyncio.run(ScriptedModel("(A)").answer(question)).text
    '(A)'
    """

    def __init__(
        self,
        answers: str | Sequence[str | Reply] | Callable[[Sequence[Message]], str | Reply],
        *,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self._asked = 0
        if callable(answers):
            self._answers: Callable[[Sequence[Message]], str | Reply] = answers
            self._script = getattr(answers, "digest", None) or _told(answers)
            return
        texts = (answers,) if isinstance(answers, str) else tuple(answers)
        if not texts or not all(isinstance(text, (str, Reply)) for text in texts):
            raise InputError(
                f"answers: expected strings, replies or a function, got {describe(answers)}"
            )
        plain = [asdict(text) if isinstance(text, Reply) else text for text in texts]
        self._script = _digest(json.dumps(plain).encode())
        self._answers = (
            (lambda _: texts[0]) if isinstance(answers, str) else lambda _: self._next(texts)
        )

    @classmethod
    def read(cls, path: str | Path) -> ScriptedModel:
        """A script from a JSONL file with one `{"contains": …, "answer": …}` a line.

        The answer is that of the first line whose `contains` occurs in the text of the messages;
        an empty one occurs in all. A line may also have `"call": {"name": …, "arguments": {…}}`, a
        tool that is asked for beside the answer.

        Raises:
            InputError: the file cannot be read, or a line is not of that form.
        """
        return cls(_Rules.read(Path(path)), name=f"scripted:{Path(path).name}")

    def settings(self) -> Mapping[str, Any]:
        """What decides its answers: a digest of the script, or name and digest of the function."""
        return {"kind": "scripted", "script": self._script}

    async def answer(self, messages: Sequence[Message]) -> Reply:
        """The answer of the script.

        Raises:
            ChatError: the script has none.
        """
        answer = self._answers(messages)
        return answer if isinstance(answer, Reply) else Reply(answer, finish="stop")

    async def answer_or_call(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """The answer of the script, which may hold calls, whatever the tools are.

        Raises:
            ChatError: the script has none.
        """
        return await self.answer(messages)

    async def close(self) -> None:
        """Nothing to give back."""

    def _next(self, texts: Sequence[str | Reply]) -> str | Reply:
        if self._asked == len(texts):
            raise ChatError(f"the script ends after {len(texts)} answers", transient=False)
        self._asked += 1
        return texts[self._asked - 1]


@dataclass(frozen=True)
class _Rules:
    """Answers by what occurs in the text."""

    pairs: tuple[tuple[str, Reply], ...]
    digest: str

    @classmethod
    def read(cls, path: Path) -> _Rules:
        check_file(path)
        try:
            data = path.read_bytes()
            lines = data.decode("utf-8").split("\n")  # not splitlines: a text may hold U+2028
        except FileNotFoundError:
            raise InputError(f"script: no file {str(path)!r}") from None
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"script: {str(path)!r} cannot be read: {reason}") from None
        pairs = [_pair(line, f"{path.name}:{n}") for n, line in enumerate(lines, 1) if line.strip()]
        return cls(tuple(pairs), _digest(data))

    def __call__(self, messages: Sequence[Message]) -> Reply:
        text = "\n\n".join(message.text for message in messages)
        for contains, answer in self.pairs:
            if contains in text:
                return answer
        raise ChatError("the script has no answer to this question", transient=False)


def _pair(line: str, place: str) -> tuple[str, Reply]:
    try:
        item = json.loads(line, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: expected JSON: {error}") from None
    match item:
        case {"contains": str(contains), "answer": str(answer), **other} if not other:
            return contains, Reply(answer, finish="stop")
        case {
            "contains": str(contains),
            "answer": str(answer),
            "call": {"name": str(name), "arguments": dict(arguments), **unknown},
            **other,
        } if not (unknown or other):
            call = ToolCall(_digest(line.encode())[-12:], name, json.dumps(arguments))
            return contains, Reply(answer, finish="tool_calls", calls=(call,))
    raise InputError(
        f'{place}: expected {{"contains": text, "answer": text}}, with "call": {{"name": text, '
        f'"arguments": object}} where a tool is asked for, got {describe(item)}'
    )


def _told(function: Callable[..., Any]) -> str:
    """A function's name and a digest of what it does, which tells one lambda from another.

    Of the variables that it closes over and of its defaults, numbers and strings count: other values
    have no form that is the same in the next process.
    """
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if not isinstance(function, FunctionType):
        return name
    values = [*(function.__defaults__ or ())]
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # one that gets its value later
            values.append(cell.cell_contents)
    plain = [value for value in values if _is_plain(value)]
    return f"{name} {_digest(repr((_said(function.__code__), plain)).encode())}"


def _said(code: CodeType) -> tuple[object, ...]:
    """What a function's code does: its instructions, and the names and constants in them."""
    constants = [
        _said(value) if isinstance(value, CodeType) else repr(value)
        for value in code.co_consts
        if isinstance(value, CodeType) or _is_plain(value)
    ]
    return code.co_code, code.co_names, constants


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (str, bytes, int, float))


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()[:16]}"
