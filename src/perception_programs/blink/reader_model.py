"""The rules of the readers in a model's place: what the programs alone say, free and in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..chat import Text
from ..errors import InputError
from ..program import PerceptionProgram
from .questions import Asked
from .recipes import Read, Recipe
from .samples import Sample

__all__ = ["READERS", "Reader"]

READERS = ("reader", "naive")
"""The names of the readers."""


class Reader:
    """Answers by rule from the text of the programs in a prompt.

    Args:
        name: `reader` for the rules that use the programs as they are meant, the ceiling of the
            evidence; `naive` for the rule that ignores what the tool found, where a task has one.
    """

    def __init__(self, name: str) -> None:
        if name not in READERS:
            raise InputError(f"reader: expected {' or '.join(READERS)}, got {name!r}")
        self.name = name

    def settings(self) -> Mapping[str, Any]:
        """Plain data of what decides its answers."""
        return {"kind": "reader"}

    def check(self, recipe: Recipe) -> None:
        """Refuse a task that this reader has no rule for.

        Raises:
            InputError: it has none.
        """
        self._rule(recipe)

    def read(self, recipe: Recipe, sample: Sample, asked: Asked) -> str | None:
        """The letter that the programs in the last message say, or None where they decide nothing.

        The programs are read back from the prompt's text, so nothing that a model would not see
        comes in.

        Args:
            recipe: the task's.
            sample: the question.
            asked: the prompt.
        """
        rule = self._rule(recipe)
        said = "\n\n".join(
            part.text
            for part in asked.messages[-1].parts
            if isinstance(part, Text) and part.kind == "program"
        )
        programs = PerceptionProgram.all_from_text(said)
        names = [named.name for named in asked.programs]
        return rule(dict(zip(names, programs, strict=True)), sample)

    def _rule(self, recipe: Recipe) -> Read:
        rule = recipe.read if self.name == "reader" else recipe.naive
        if rule is None:
            raise InputError(f"model: {self.name!r} has no rule for {recipe.task}")
        return rule
