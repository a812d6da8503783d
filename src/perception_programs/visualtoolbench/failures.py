"""What kind of failure an answer is, as a model says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from string import Template

from .._plain import unique_keys
from ..chat import ChatError, ChatModel, Message, Text, ask
from ..chat._tasks import all_or_none
from ..errors import InputError
from ..harness.journal import append_line, cut_torn, read_lines
from ..harness.rendering import passage
from .results import Result
from .wording import template

__all__ = ["FAILURES", "FAILURE_KINDS", "failures_of", "read_failure", "sort_failures"]

FAILURES = "failures.jsonl"

FAILURE_KINDS = ("visual perception", "reasoning", "calculation", "other")

_LONGEST = 20_000


def read_failure(text: str) -> tuple[str, str]:
    """The kind of failure and why, from a model's reply: one JSON object and nothing else.

    Raises:
        InputError: anything else; never a guess.

    >>> read_failure('{"explanation": "6 + 7 is 13.", "failure": "calculation"}')
    ('calculation', '6 + 7 is 13.')
    """
    try:
        data = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"failure: expected one JSON object and nothing else: {error}") from None
    if not isinstance(data, dict) or set(data) != {"explanation", "failure"}:
        raise InputError('failure: expected the keys "explanation" and "failure"')
    if data["failure"] not in FAILURE_KINDS or not isinstance(data["explanation"], str):
        raise InputError(f"failure: expected one of {', '.join(FAILURE_KINDS)}")
    return data["failure"], data["explanation"]


async def sort_failures(
    model: ChatModel, results: Sequence[Result], out: Path, *, concurrency: int = 4
) -> int:
    """Have the failed tasks of a run sorted that are not yet; gives how many were.

    What a model answers without saying a kind stays unsorted, and is asked again next time.

    Args:
        model: who sorts.
        results: the run's.
        out: its folder.
        concurrency: how many questions at once.
    """
    file = out / FAILURES
    if file.exists():
        cut_torn(file)
    known = failures_of(out)
    room = asyncio.Semaphore(concurrency)

    async def one(result: Result) -> bool:
        async with room:
            try:
                reply, _ = await ask(model, [Message("user", (Text(_asked(result)),))])
                kind, why = read_failure(reply.text)
            except (ChatError, InputError):
                return False
        line = {
            "task": result.task.id,
            "answers": result.digest,
            "failure": kind,
            "explanation": why,
            "model": dict(model.settings()),
            "usage": [asdict(reply.usage)],
        }
        await asyncio.to_thread(append_line, file, line)
        return True

    waiting = [
        result
        for result in results
        if not result.passed and (result.task.id, result.digest) not in known
    ]
    return sum(await all_or_none([one(result) for result in waiting]))


def failures_of(out: Path) -> dict[tuple[str, str], str]:
    """The kinds of failure that were told, by task and the digest of its answers."""
    return {(line["task"], line["answers"]): line["failure"] for line in read_lines(out / FAILURES)}


def _asked(result: Result) -> str:
    turn, unmet = result.first_failure
    return Template(template("failure")).substitute(
        question=passage(result.task.turns[turn].prompt, _LONGEST),
        golden=passage(result.task.turns[turn].golden_answer, _LONGEST),
        answer=passage(result.answers[turn], _LONGEST),
        unmet=passage("\n".join(criterion.description for criterion in unmet), _LONGEST),
    )
