"""Asking a model again when it may help."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from .._arrays import describe
from ..errors import InputError, MissingExtraError, ToolError, WeightsError, install_command
from .messages import Message, ToolCall
from .model import ChatError, ChatModel, Reply, ToolModel, ToolSpec, Usage

if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = ["ask"]


async def ask(
    model: ChatModel,
    messages: Sequence[Message],
    *,
    tools: Sequence[ToolSpec] = (),
    attempts: int = 6,
    base: float = 1.0,
    cap: float = 60.0,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> tuple[Reply, int]:
    """A model's answer, asked for again after transient errors, and how often it was asked.

    Before the n-th repetition it waits for a random time between 0 and `base` · 2ⁿ⁻¹ seconds
    (exponential backoff with full jitter), or as long as the server asked, whichever is longer,
    but never longer than `cap`.

    Args:
        model: whom to ask.
        messages: the conversation.
        tools: what a `ToolModel` may ask for in place of an answer.
        attempts: the most times to ask, the first included.
        base: seconds that the first wait is at most.
        cap: seconds that any wait is at most.
        sleep: how to wait.

    Raises:
        ChatError: the last error, its `attempts` set: one that asking again cannot help, or a
            transient one after the last attempt. What is no `Reply`, and what the model may not raise,
            is one, too: a `broken` one, not tried again.
        MissingExtraError: tenacity is not installed.
    """
    if attempts < 1:
        raise InputError(f"attempts: expected at least 1, got {attempts}")
    try:
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt
    except ImportError as error:
        raise MissingExtraError(
            f"asking again needs tenacity: {install_command('eval')}"
        ) from error
    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, ChatError) and error.transient),
        stop=stop_after_attempt(attempts),
        wait=_wait(base, cap),
        sleep=sleep,
        reraise=True,
    )
    try:
        reply = await retrying(_answer, model, messages, tools)
    except ChatError as error:
        error.attempts = retrying.statistics["attempt_number"]
        raise
    return reply, retrying.statistics["attempt_number"]


async def _answer(
    model: ChatModel, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> Reply:
    """One answer, from a model that may be anybody's."""
    try:
        if not tools:
            waiting = model.answer(messages)
        elif isinstance(model, ToolModel):
            waiting = model.answer_or_call(messages, tools)
        else:
            raise InputError(f"tools: expected a model that can call them, got {model.name}")
        reply = await waiting if inspect.isawaitable(waiting) else waiting
    except (InputError, ToolError, MissingExtraError, WeightsError):
        raise
    except Exception as error:  # of every kind; it may be about this question alone
        said = f"{type(error).__name__}: {error}"
        raise ChatError(f"answer() raised {said}", transient=False, broken=True) from error
    fault = _fault(reply, asynchronous=inspect.isawaitable(waiting))
    if fault is not None:
        raise ChatError(f"answer(): {fault}", transient=False, broken=True)
    return reply


def _fault(reply: object, *, asynchronous: bool) -> str | None:
    """What is wrong with what a model gave as its reply."""
    if not asynchronous:
        return f"expected an async function that returns a Reply, got {describe(reply)} at once"
    if not isinstance(reply, Reply):
        return f"expected a Reply, got {describe(reply)}"
    if not isinstance(reply.text, str):
        return f"expected a Reply whose text is a string, got {describe(reply.text)}"
    if not isinstance(reply.usage, Usage):
        return f"expected a Reply whose usage is a Usage, got {describe(reply.usage)}"
    if not all(isinstance(call, ToolCall) for call in reply.calls):
        return f"expected a Reply whose calls are ToolCalls, got {describe(reply.calls)}"
    for name in ("model", "finish"):
        value = getattr(reply, name)
        if not isinstance(value, (str, type(None))):
            return f"expected a Reply whose {name} is a string or None, got {describe(value)}"
    return None


def _wait(base: float, cap: float) -> Callable[[RetryCallState], float]:
    """Seconds to wait after a failed attempt."""
    from tenacity import wait_random_exponential

    backoff = wait_random_exponential(multiplier=base, max=cap)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, ChatError) else None
        return min(cap, max(float(backoff(state)), asked or 0.0))

    return wait
