"""Reminders that some families of models need and others do not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .._arrays import describe
from ..errors import InputError

__all__ = ["CAUTIONS", "Caution", "chosen_cautions"]

_ALL = "all"


@dataclass(frozen=True)
class Caution:
    """Where a caution has anything to say; its words are the template `caution-<name>`.

    Attributes:
        guidance: the tasks it is about, or None for every task.
        programs: whether it is about what programs say, so that it is left out where none is shown.
        example: whether it is about the worked example, so that it is left out where there is none.
    """

    guidance: frozenset[str] | None = None
    programs: bool = False
    example: bool = False

    def applies(self, guidance: str | None, *, programs: bool, example: bool) -> bool:
        """Whether it is printed in a prompt for that task, with or without programs and example."""
        return (
            (self.guidance is None or guidance in self.guidance)
            and (programs or not self.programs)
            and (example or not self.example)
        )


CAUTIONS: Mapping[str, Caution] = MappingProxyType(
    {
        "example": Caution(example=True),
        "direction": Caution(frozenset({"multi-view"})),
        "depth": Caution(frozenset({"depth"}), programs=True),
        "semantic": Caution(frozenset({"semantic"}), programs=True),
        "correspondence": Caution(frozenset({"correspondence"}), programs=True),
    }
)
"""The cautions by name, in the order they are printed."""


def chosen_cautions(names: Collection[str]) -> tuple[str, ...]:
    """The cautions that `names` asks for, in order; `all` asks for every one.

    Raises:
        InputError: a name that is none.

    >>> chosen_cautions(("depth", "example"))
    ('example', 'depth')
    """
    known = ", ".join((*CAUTIONS, _ALL))
    if isinstance(names, str) or not isinstance(names, Collection):
        raise InputError(f"cautions: expected a series of {known}, got {describe(names)}")
    for name in names:
        if not isinstance(name, str) or name not in (*CAUTIONS, _ALL):
            raise InputError(f"cautions: expected some of {known}, got {describe(name)}")
    return tuple(name for name in CAUTIONS if _ALL in names or name in names)
