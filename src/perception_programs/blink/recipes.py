"""The tasks: one entry each, which says what is measured, how it is shown and how it is read.

A new task is a new entry. `register` adds one from outside this package.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from ..errors import InputError
from ..program import PerceptionProgram
from ..prompts import SETTINGS
from . import _gather, _read
from ._collection import Samples
from ._gather import Evidence, NamedProgram, ToolPicture
from .samples import Sample
from .tools import Tools

__all__ = [
    "RECIPES",
    "Evidence",
    "Gather",
    "NamedProgram",
    "Read",
    "Recipe",
    "ToolPicture",
    "check_experts",
    "chosen_settings",
    "recipe",
    "recipe_of",
    "register",
    "with_tools",
]

Gather: TypeAlias = Callable[[Sample, Tools, Mapping[str, str]], Evidence]
"""A sample, the tools and the names of the recipe's experts, to evidence."""

Read: TypeAlias = Callable[[Mapping[str, PerceptionProgram], Sample], str | None]
"""The programs by name and the sample they are about, to the letter of an option, or None."""


@dataclass(frozen=True)
class Recipe:
    """How evidence for the questions of a task is made, shown and read.

    Attributes:
        task: the task, written as in the hub's configurations.
        title: what people call it.
        images: how many pictures a question has.
        experts: the names of the experts that the paper used, by modality.
        evidence: what runs them and makes programs and pictures of their results; None where the
            paper has no tool, so that the task can be run in the setting `standard` alone.
        guidance: the prompt template that says how to read the programs, or None.
        read: the published rule that reads an answer from the programs, or None.
        naive: a rule that reads one without what the tool found, or None.
        paper: its column in the paper's Table 1, or None.
    """

    task: str
    title: str
    images: int
    experts: Mapping[str, str] = field(default_factory=dict)
    evidence: Gather | None = None
    guidance: str | None = None
    read: Read | None = None
    naive: Read | None = None
    paper: str | None = None

    def gather(self, sample: Sample, tools: Tools) -> Evidence:
        """The programs and pictures for a sample.

        Raises:
            InputError: the task has no tools, or the sample lacks something they need.
            ToolError: an expert failed, or did not find what is drawn on a picture.
            WeightsError: an expert's weights cannot be had.
            MissingExtraError: what an expert needs is not installed.
        """
        if self.evidence is None:
            raise InputError(
                f"{sample.id}: {self.task} has no tools, so only the setting 'standard'; "
                f"those with tools are {with_tools()}"
            )
        if len(sample.images) != self.images:
            raise InputError(
                f"{sample.id}: expected {self.images} images for {self.task}, "
                f"got {len(sample.images)}"
            )
        return self.evidence(sample, tools, self.experts)


_POINTS = {"points": "markers"}
_TABLE: dict[str, Recipe] = {
    entry.task: entry
    for entry in (
        Recipe(
            task="HardBLINK",
            title="HardBLINK: relative depth of 3, 4 and 5 points",
            images=1,
            experts={**_POINTS, "depth": "depth-anything-v2-small"},
            evidence=_gather.relative_depth,
            guidance="depth",
            read=_read.relative_depth,
            paper="HardBLINK",
        ),
        Recipe(
            task="Relative_Depth",
            title="Relative depth",
            images=1,
            experts={**_POINTS, "depth": "depth-anything-v2-small"},
            evidence=_gather.relative_depth,
            guidance="depth",
            read=_read.relative_depth,
        ),
        Recipe(
            task="Multi-view_Reasoning",
            title="Multi-view reasoning",
            images=2,
            experts={"flow": "raft-large"},
            evidence=_gather.multi_view,
            guidance="multi-view",
            read=_read.multi_view,
            paper="Multi-view",
        ),
        Recipe(
            task="Visual_Correspondence",
            title="Visual correspondence",
            images=2,
            experts={**_POINTS, "correspondence": "loftr-outdoor"},
            evidence=_gather.visual_correspondence,
            guidance="correspondence",
            read=_read.visual_correspondence,
            naive=_read.naive_correspondence,
            paper="Visual corr.",
        ),
        Recipe(
            task="Jigsaw",
            title="Jigsaw",
            images=3,
            experts={"jigsaw": "seams"},
            evidence=_gather.jigsaw,
            guidance="jigsaw",
            read=_read.jigsaw,
            paper="Jigsaw",
        ),
        Recipe(
            task="Object_Localization",
            title="Object localisation",
            images=1,
            experts={**_POINTS, "detection": "llmdet-tiny"},
            evidence=_gather.localisation,
            guidance="localisation",
            read=_read.localisation,
            paper="Localization",
        ),
        Recipe(
            task="Semantic_Correspondence",
            title="Semantic correspondence",
            images=2,
            experts={**_POINTS, "semantic": "dift-sd21"},
            evidence=_gather.semantic,
            guidance="semantic",
            read=_read.semantic,
            paper="Semantic",
        ),
        # The other subtasks of BLINK, for which the paper has no tool.
        Recipe("Art_Style", "Art style", images=3),
        Recipe("Counting", "Counting", images=1),
        Recipe("Forensic_Detection", "Forensic detection", images=4),
        Recipe("Functional_Correspondence", "Functional correspondence", images=2),
        Recipe("IQ_Test", "IQ test", images=1),
        Recipe("Relative_Reflectance", "Relative reflectance", images=1),
        Recipe("Spatial_Relation", "Spatial relation", images=1),
        Recipe("Visual_Similarity", "Visual similarity", images=3),
    )
}

RECIPES: Mapping[str, Recipe] = MappingProxyType(_TABLE)
"""The recipes by task."""


def recipe(task: str) -> Recipe:
    """The recipe of a task.

    Raises:
        InputError: there is none; the nearest is named.

    >>> recipe("Jigsaw").experts
    {'jigsaw': 'seams'}
    """
    if task not in RECIPES:
        near = difflib.get_close_matches(str(task), RECIPES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"task: expected one of {', '.join(RECIPES)}, got {task!r}{hint}")
    return RECIPES[task]


def recipe_of(samples: Samples) -> Recipe:
    """The recipe of some samples; one without tools for a task of one's own that has none."""
    known = RECIPES.get(samples.task)
    return known or Recipe(samples.task, samples.task, images=len(samples[0].images))


def with_tools() -> str:
    """The tasks that have tools, for a message."""
    return ", ".join(task for task, entry in RECIPES.items() if entry.evidence is not None)


def check_experts(tools: Tools, asked: Iterable[Recipe]) -> None:
    """Refuse an expert that was chosen and that none of the asked tasks would use.

    Raises:
        InputError: there is one; the message says what each task uses, and which tasks use it.
    """
    entries = list(asked)
    for modality, name in tools.chosen_names.items():
        if not any(modality in entry.experts for entry in entries):
            uses = "; ".join(f"{e.task} uses {', '.join(e.experts) or 'none'}" for e in entries)
            others = [task for task, entry in RECIPES.items() if modality in entry.experts]
            raise InputError(
                f"expert: {name!r} is for {modality}, which no task that is asked uses ({uses}); it can "
                f"serve {', '.join(others) or 'none'}"
            )


def chosen_settings(names: Iterable[str]) -> tuple[str, ...]:
    """Names of settings, each once.

    Raises:
        InputError: one is no setting.

    >>> chosen_settings(["p2", "standard", "p2"])
    ('p2', 'standard')
    """
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in SETTINGS:
            raise InputError(f"setting: expected {', '.join(SETTINGS)}, got {name!r}")
    return chosen


def register(entry: Recipe) -> None:
    """Add the recipe of a task of one's own.

    Raises:
        InputError: the task has a recipe already.
    """
    if entry.task in RECIPES:
        raise InputError(f"task: {entry.task!r} has a recipe already; call yours something else")
    _TABLE[entry.task] = entry
