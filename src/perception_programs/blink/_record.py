"""A record of a run: how it is made, and what it must be to go on from or to be counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .._arrays import describe
from .._plain import plain_number
from ..chat import Message, Reply, Text, Usage
from ..errors import InputError
from ..tokens import estimate_tokens
from ._record_shape import MOST, check_shape
from .answers import extract
from .samples import Sample

if TYPE_CHECKING:
    from .questions import Asked

__all__ = ["ERROR", "RECORD", "check_record", "check_types", "make_record", "text_tokens"]

RECORD: Mapping[str, tuple[type, ...]] = {
    "id": (str,),
    "group": (str, type(None)),
    "options": (dict,),
    "answer": (str, type(None)),
    "messages": (list,),
    "programs": (list,),
    "raw": (str,),
    "parsed": (str, type(None)),
    "how": (str,),
    "correct": (bool, type(None)),
    "usage": (dict,),
    "text_tokens": (dict,),
    "seconds": (int, float),
    "attempts": (int,),
}
"""The keys of a record and the types of their values."""

ERROR: Mapping[str, tuple[type, ...]] = {
    "id": (str,),
    "stage": (str,),
    "error": (str,),
    "attempts": (int,),
}
"""The same of what says that a sample failed."""


def check_types(row: Mapping[str, Any], types: Mapping[str, tuple[type, ...]], where: str) -> None:
    """Check that a row has all keys, with values of their types.

    Raises:
        InputError: it has not; the message starts with `where`.
    """
    for key, accepted in types.items():
        if key not in row:
            raise InputError(f"{where}: expected the key {key!r}, got {', '.join(row)[:80]}")
        value = row[key]
        # A bool is an int to Python, not to a record.
        if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
            names = " or ".join("null" if t is type(None) else t.__name__ for t in accepted)
            raise InputError(f"{where}: {key}: expected {names}, got {describe(value)}")


def check_record(row: Mapping[str, Any], where: str) -> None:
    """Check that a row is a record, down to its parts, and that what it says of its answer fits.

    Raises:
        InputError: it is none; the message starts with `where`.
    """
    check_types(row, RECORD, where)
    right = None if row["answer"] is None else row["parsed"] == row["answer"]
    if row["correct"] is not right:
        raise InputError(
            f"{where}: correct: expected {right} for the answer {row['answer']!r} and the parsed "
            f"{row['parsed']!r}, got {row['correct']}"
        )
    for key in ("answer", "parsed"):
        if row[key] is not None and row[key] not in row["options"]:
            raise InputError(
                f"{where}: {key}: expected one of {', '.join(row['options'])}, got {row[key]!r}"
            )
    check_shape(row, where)


def make_record(sample: Sample, asked: Asked, reply: Reply) -> dict[str, Any]:
    """What a model answered to a question; seconds, attempts and time are for whoever asked."""
    found = extract(reply.text, sample.options)
    counts = text_tokens(asked.messages) | {"answer": estimate_tokens(reply.text)}
    return {
        "id": sample.id,
        "group": sample.group,
        "options": sample.options,
        "answer": sample.answer,
        "messages": [message.to_dict() for message in asked.messages],
        "programs": [
            {"name": p.name, "title": p.title, "program": p.program.to_dict()}
            for p in asked.programs
        ],
        "raw": reply.text,
        "parsed": found.letter,
        "how": found.how,
        "correct": None if sample.answer is None else found.letter == sample.answer,
        "usage": _counted(reply.usage),
        "text_tokens": counts,
        "model": reply.model,
        "finish": reply.finish,
    }


def text_tokens(messages: Sequence[Message]) -> dict[str, int]:
    """Estimated tokens of each kind of text; earlier turns are the example."""
    counts = dict.fromkeys(("question", "program", "example", "instructions"), 0)
    for message in messages:
        example = message is not messages[-1] and message.role != "system"
        for part in message.parts:
            if isinstance(part, Text):
                kind = "example" if example else part.kind
                counts[kind] = counts.get(kind, 0) + estimate_tokens(part.text)
    return counts


def _counted(usage: Usage) -> dict[str, float | int | None]:
    """What an answer took, for a record; None for what no answer can have taken, whoever says so."""
    counts: dict[str, float | int | None] = {}
    for name, value in asdict(usage).items():
        try:
            number = plain_number(value, name)
        except InputError:  # None too
            number = -1
        fits = 0 <= number <= MOST and (name == "cost" or number == int(number))
        counts[name] = None if not fits else number if name == "cost" else int(number)
    return counts
