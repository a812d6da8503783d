"""The points of a correspondence program, from where to where."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import InputError
from ...program import Identifier, PerceptionProgram, numbers_in

__all__ = ["Move", "moves"]


@dataclass(frozen=True)
class Move:
    """A match: from `start` in the first picture to `end` in the second, in the 0-1000 frame of each."""

    p: Identifier
    start: tuple[float, ...]
    end: tuple[float, ...]

    @property
    def distance(self) -> float:
        """|r - c|."""
        return math.dist(self.start, self.end)


def moves(program: PerceptionProgram) -> list[Move]:
    """The matches of a correspondence program, in order.

    Raises:
        InputError: a program of another modality, or an item that is no match.
    """
    if not isinstance(program, PerceptionProgram) or program.modality != "correspondence":
        what = getattr(program, "modality", type(program).__name__)
        raise InputError(f"program: expected a correspondence program, got {what}")
    found = []
    for item in program.items:
        c, r = item.c, numbers_in(item.r)
        if item.p is None or not isinstance(c, tuple) or not len(c) == len(r) == 2:
            raise InputError(f"items: expected p, and points c and r, got {item}")
        found.append(Move(item.p, c, r))
    return found
