"""What a language model is to this package: something that answers messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from .._plain import plain_number
from ..errors import InputError, ToolError
from .messages import Message, ToolCall

__all__ = [
    "ChatError",
    "ChatModel",
    "Reply",
    "ToolModel",
    "ToolSpec",
    "Usage",
    "checked_temperature",
]


@dataclass(frozen=True)
class Usage:
    """What an answer took; None where the provider does not say.

    Attributes:
        prompt_tokens: tokens read, pictures included.
        completion_tokens: tokens written, hidden reasoning included.
        reasoning_tokens: of those, the hidden ones.
        cost: US dollars.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Reply:
    """An answer.

    Attributes:
        text: what the model wrote, unchanged; empty when it wrote nothing visible.
        usage: what it took.
        model: the model that the provider says answered, or None.
        finish: why it stopped (`stop`, `length`, …), or None.
        calls: the tools that it asks for, in its order.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    finish: str | None = None
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True)
class ToolSpec:
    """A tool as it is offered to a model.

    Attributes:
        name: what calls name it.
        description: what it is for.
        parameters: the JSON Schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


class ChatError(ToolError):
    """A model gave no answer.

    Attributes:
        transient: whether asking again may help (a limit on the rate, a server error, a broken
            connection or reply), as against a request that will never be accepted.
        retry_after: seconds the server asked to wait, or None.
        status: the HTTP status, or None.
        unreachable: whether no connection came about at all: nobody listens there, or no such host.
        broken: whether the model broke the promise of `ChatModel` (it gave no `Reply`, or raised what
            it may not), or its server that of the protocol.
        attempts: how often it was asked before this was raised; `ask` sets it.
    """

    def __init__(
        self,
        message: str,
        *,
        transient: bool,
        retry_after: float | None = None,
        status: int | None = None,
        unreachable: bool = False,
        broken: bool = False,
    ) -> None:
        super().__init__(message)
        self.transient = transient
        self.retry_after = retry_after
        self.status = status
        self.unreachable = unreachable
        self.broken = broken
        self.attempts = 1


@runtime_checkable
class ChatModel(Protocol):
    """A language model that reads text and pictures.

    Attributes:
        name: what reports call it.
    """

    name: str

    def settings(self) -> Mapping[str, Any]:
        """Everything that decides its answers: model, temperature, limits, server.

        Plain data, as JSON can hold it. It may be called before each run, and asks nobody.
        """
        ...

    async def answer(self, messages: Sequence[Message]) -> Reply:
        """Its answer to a conversation. Called concurrently; never tries twice on its own.

        Raises:
            ChatError: it gave none.
        """
        ...

    async def close(self) -> None:
        """Give back what it holds: connections, memory. It may be called twice."""
        ...


@runtime_checkable
class ToolModel(ChatModel, Protocol):
    """A language model that can also ask for tools, in its provider's own way."""

    async def answer_or_call(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Its answer to a conversation, or the tools that it asks for. As `answer` otherwise.

        Raises:
            ChatError: it gave neither.
        """
        ...


def checked_temperature(value: Any) -> float | None:
    """A temperature of sampling, or None.

    Raises:
        InputError: no number, not finite, or below 0.
    """
    if value is None:
        return None
    number = float(plain_number(value, "temperature"))
    if number < 0:
        raise InputError(f"temperature: expected 0 or more, got {value!r}")
    return number
