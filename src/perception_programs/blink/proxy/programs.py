"""The text that is added to a question: its perception programs and how to read them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ...chat import Text
from ...errors import InputError, ToolError
from ...prompts import SETTINGS, Question, build, chosen_cautions
from ..recipes import Recipe
from ..tools import Tools
from ._request import ChatQuestion, PassThrough

__all__ = ["STYLES", "Added", "Programs"]

STYLES: Mapping[str, str] = MappingProxyType(
    {setting.style: name for name, setting in SETTINGS.items() if setting.style is not None}
)
"""The setting of `prompts.SETTINGS` that prints programs in each style."""


@dataclass(frozen=True)
class Added:
    """What was added to a question.

    Attributes:
        names: the programs, as the recipe calls them.
        experts: the expert of each that has one.
        text: all of it.
    """

    names: tuple[str, ...]
    experts: tuple[str, ...]
    text: str


class Programs:
    """Writes what a prompt of this package has between the pictures of a question and its words.

    Args:
        tools: what makes the programs. Coordinates in it are of no use: a request has no id.
        style: one of `STYLES`.
        cautions: names of `prompts.CAUTIONS`; those that don't apply are left out.

    Raises:
        InputError: there is no such style or caution.
    """

    def __init__(self, tools: Tools, style: str = "paper", cautions: Collection[str] = ()) -> None:
        if style not in STYLES:
            raise InputError(f"style: expected one of {', '.join(STYLES)}, got {style!r}")
        self.tools = tools
        self.style = style
        self.cautions = chosen_cautions(cautions)

    def settings(self, recipes: Mapping[str, Recipe]) -> dict[str, Any]:
        """Plain data of everything that decides what is added for these tasks."""
        tasks = {task: self.tools.settings(entry) for task, entry in recipes.items()}
        return {"style": self.style, "cautions": list(self.cautions), "tasks": tasks}

    def add(self, recipe: Recipe, question: ChatQuestion, name: str) -> Added:
        """Run the tools and write the text; errors call the question `name`.

        Raises:
            PassThrough: the tools have nothing to say about these pictures.
            WeightsError, MissingExtraError: nor about any others.
        """
        try:
            sample = question.sample(recipe.task, name)
            programs = recipe.gather(sample, self.tools).programs
        except (InputError, ToolError) as error:
            # What follows the semicolon is advice to somebody who has the question's id.
            raise PassThrough("evidence", str(error).partition(";")[0]) from error
        asked = Question(
            text=sample.question,
            options=sample.options,
            programs=tuple((named.title, named.program) for named in programs),
            guidance=recipe.guidance,
        )
        experts = (named.program.meta.get("expert") for named in programs)
        return Added(
            names=tuple(named.name for named in programs),
            experts=tuple(dict.fromkeys(str(one) for one in experts if one is not None)),
            text=self._text(asked),
        )

    def _text(self, question: Question) -> str:
        """What the prompt has that one without programs has not.

        It ends with an empty line, because some servers join the parts of a message as they are.
        """
        without = build(question, "standard")[-1].parts
        parts = build(question, STYLES[self.style], cautions=self.cautions)[-1].parts
        added = (part for part in parts if part not in without)
        return "".join(f"{part.text}\n\n" for part in added if isinstance(part, Text))
