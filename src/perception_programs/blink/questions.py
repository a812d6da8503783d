"""From a sample to what a model is asked: its evidence, and the prompt in each setting."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from ..chat import Message, Picture
from ..prompts import SETTINGS, Example, Question, build
from .data import Samples
from .examples import Examples
from .recipes import NamedProgram, recipe_of
from .samples import Sample
from .tools import Tools

__all__ = ["Asked", "Inquirer", "needs_tools"]


def needs_tools(setting: str) -> bool:
    """Whether a setting shows what a tool found."""
    return SETTINGS[setting].tool or SETTINGS[setting].style is not None


@dataclass(frozen=True, eq=False)
class Asked:
    """A prompt and the programs in it.

    Attributes:
        messages: the prompt; the last message is about the sample.
        programs: those in the last message, in its order.
    """

    messages: tuple[Message, ...]
    programs: tuple[NamedProgram, ...]


class Inquirer:
    """Makes the prompts of one task.

    Args:
        samples: the task's samples; worked examples are taken from them too.
        tools: what makes the programs.
        cautions: names of `prompts.CAUTIONS`.
        examples: worked examples, or None for zero-shot. `Examples.check` says whether they will do.
        text_only: whether to leave the pictures out, for models that read only text.

    Attributes:
        recipe: the task's recipe.
    """

    def __init__(
        self,
        samples: Samples,
        tools: Tools,
        cautions: Sequence[str] = (),
        examples: Examples | None = None,
        *,
        text_only: bool = False,
    ) -> None:
        self.recipe = recipe_of(samples)
        self._samples = samples
        self._tools = tools
        self._cautions = tuple(cautions)
        self._examples = examples
        self._text_only = text_only
        # As many as one file of examples has for a task in a few settings.
        self._example_question = functools.lru_cache(maxsize=16)(self._question_of_example)

    def ask(self, sample: Sample, settings: Sequence[str]) -> list[Asked]:
        """The prompts about a sample, one a setting; the tools run once for all of them.

        Raises:
            InputError, ToolError: the evidence cannot be had for this sample.
            WeightsError, MissingExtraError: for no sample.
        """
        question, programs = self._question(sample, settings)
        made = []
        for setting in settings:
            messages = build(
                question,
                setting,
                cautions=self._cautions,
                example=self._example(sample, setting),
            )
            shown = programs if SETTINGS[setting].style is not None else ()
            made.append(Asked(messages, shown))
        return made

    def question(self, sample: Sample, settings: Sequence[str]) -> Question:
        """The question about a sample, with the evidence that these settings show."""
        return self._question(sample, settings)[0]

    def _question(
        self, sample: Sample, settings: Sequence[str]
    ) -> tuple[Question, tuple[NamedProgram, ...]]:
        programs: tuple[NamedProgram, ...] = ()
        drawn: tuple[tuple[str, Picture], ...] = ()
        if any(needs_tools(name) for name in settings):
            evidence = self.recipe.gather(sample, self._tools)
            programs = evidence.programs
            if any(SETTINGS[name].tool for name in settings):  # they are drawn by being looked at
                drawn = tuple(
                    (picture.caption, Picture(picture.image, f"tool picture {n}"))
                    for n, picture in enumerate(evidence.pictures, 1)
                )
        images = () if self._text_only else sample.images
        question = Question(
            text=sample.question,
            options=sample.options,
            images=tuple(Picture(image.source, image.name) for image in images),
            programs=tuple((named.title, named.program) for named in programs),
            tool_pictures=drawn,
            guidance=self.recipe.guidance,
        )
        return question, programs

    def _example(self, sample: Sample, setting: str) -> Example | None:
        if self._examples is None:
            return None
        worked = self._examples.pick(sample.task, setting, other_than=sample.id)
        return Example(self._example_question(worked.id, setting), worked.rationale)

    def _question_of_example(self, sample_id: str, setting: str) -> Question:
        (sample,) = (sample for sample in self._samples if sample.id == sample_id)
        return self.question(sample, [setting])
