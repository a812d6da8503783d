"""Smaller forms of a program, and what its note and meta say of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..program import PerceptionProgram

__all__ = ["Forms", "aligned_meta", "with_sentence"]

_ALIGNED = ("consistent", "runner_up")  # what meta has of each item, in the order of the items


@dataclass(frozen=True)
class Forms:
    """Ever smaller forms of a program.

    Attributes:
        make: the form of a number from 0, and what is given up for it.
        count: how many there are.
    """

    make: Callable[[int], tuple[PerceptionProgram, str]]
    count: int


def with_sentence(program: PerceptionProgram, sentence: str) -> PerceptionProgram:
    """The program with a sentence at the end of its note.

    >>> with_sentence(PerceptionProgram("a", "b", (), note="c."), "2 are left out.").note
    'c. 2 are left out.'
    """
    return replace(program, note=" ".join(filter(None, (program.note, sentence))))


def aligned_meta(program: PerceptionProgram, rows: Sequence[int] = ()) -> dict[str, Any]:
    """The meta of a program of which only the items in `rows` are left as they are."""
    meta = dict(program.meta)
    for key in set(_ALIGNED) & meta.keys():
        values = meta.pop(key)
        if rows and isinstance(values, tuple) and len(values) == len(program):
            meta[key] = tuple(values[n] for n in rows)
    return meta
