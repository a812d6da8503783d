"""Programs with their readings taken out, and the readings that an answer puts back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ...errors import InputError
from ...program import Identifier, PerceptionProgram, Reading

__all__ = ["MARK", "Filled", "filled", "redacted"]

MARK = "?"
"""What stands for a reading that was taken out; quoted in text, so the block stays a program."""


def redacted(program: PerceptionProgram) -> PerceptionProgram:
    """`program` with `MARK` for each reading.

    Relations and `meta` go too: they follow from the readings. An item that had no reading stays
    without one, so that what was never measured is not asked for.

    >>> from perception_programs import Item
    >>> cells = (Item(1, (250, 500), (0.1, 0.4)), Item(2, (750, 500)))
    >>> redacted(PerceptionProgram("depth", "patch", cells)).items
    (Item(p=1, c=(250, 500), r='?'), Item(p=2, c=(750, 500), r=None))
    """
    items = tuple(item if item.r is None else replace(item, r=MARK) for item in program.items)
    return replace(program, items=items, relations=(), meta={}, images=())


@dataclass(frozen=True)
class Filled:
    """What an answer makes of a program whose readings were taken out.

    Attributes:
        outcome: `scored` when there is one valid reading for each that was asked for and nothing
            else; otherwise `no program`, `broken program` or `not as asked`.
        readings: the valid readings by identifier.
        missing: how many items that were asked for are absent; None when no program was read.
        extra: how many items nobody asked for, repeated ones included.
        invalid: how many have no valid reading, or another coordinate than the one asked about.
        problem: what is wrong with a broken program.
    """

    outcome: str
    readings: Mapping[Identifier, Reading] = field(default_factory=dict)
    missing: int | None = None
    extra: int | None = None
    invalid: int | None = None
    problem: str | None = None


def filled(text: str, asked: PerceptionProgram, valid: Callable[[Reading], bool]) -> Filled:
    """The readings that an answer gives, taken from the last program in it.

    Nothing is repaired: swapped ends, numbers outside the scale and marks left in place are invalid.

    Args:
        text: the answer.
        asked: the redacted program.
        valid: whether a reading is one.
    """
    try:
        programs = PerceptionProgram.all_from_text(text)
    except InputError as error:
        return Filled("broken program", problem=str(error))
    if not programs:
        return Filled("no program")
    items = programs[-1].items
    given = {item.p: item for item in items}
    known = {item.p for item in asked.items}
    wanted = {item.p: item.c for item in asked.items if item.r == MARK and item.p is not None}
    readings = {
        p: given[p].r
        for p, place in wanted.items()
        if p in given and given[p].c in (None, place) and valid(given[p].r)
    }
    missing = sum(p not in given for p in wanted)
    invalid = len(wanted) - missing - len(readings)
    extra = len(items) - len(given) + sum(p not in known for p in given)
    whole = not (missing or invalid or extra)
    return Filled("scored" if whole else "not as asked", readings, missing, extra, invalid)
