"""Asking a model again when it may help."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from ..errors import InputError, MissingExtraError, install_command
from .messages import Message
from .model import ChatError, ChatModel, Reply

if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = ["ask"]


async def ask(
    model: ChatModel,
    messages: Sequence[Message],
    *,
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
        attempts: the most times to ask, the first included.
        base: seconds that the first wait is at most.
        cap: seconds that any wait is at most.
        sleep: how to wait.

    Raises:
        ChatError: the last error, its `attempts` set: one that asking again cannot help, or a
            transient one after the last attempt.
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
        reply = await retrying(model.answer, messages)
    except ChatError as error:
        error.attempts = retrying.statistics["attempt_number"]
        raise
    return reply, retrying.statistics["attempt_number"]


def _wait(base: float, cap: float) -> Callable[[RetryCallState], float]:
    """Seconds to wait after a failed attempt."""
    from tenacity import wait_random_exponential

    backoff = wait_random_exponential(multiplier=base, max=cap)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, ChatError) else None
        return min(cap, max(float(backoff(state)), asked or 0.0))

    return wait
