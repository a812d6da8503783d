"""Work that is done at the same time, and none of it left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

__all__ = ["all_or_none"]

Result = TypeVar("Result")


async def all_or_none(work: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run all; when one fails the others are cancelled, and have ended, before its error is raised.

    Returns:
        The results, in the order of the work.
    """
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
