"""Table 1 of the Perception Programs paper, to hold results against."""

from __future__ import annotations

import csv
import functools
import importlib.resources
import re
from dataclasses import dataclass

__all__ = ["PAPER_TASKS", "PaperCell", "paper_cells", "paper_model", "paper_value"]

PAPER_TASKS = (
    "Multi-view_Reasoning",
    "HardBLINK",
    "Visual_Correspondence",
    "Jigsaw",
    "Object_Localization",
    "Semantic_Correspondence",
)
"""The tasks of the table, in the order of its columns."""


@dataclass(frozen=True)
class PaperCell:
    """One number of the table.

    Attributes:
        model: as the paper writes it; `Human` for people.
        setting: `standard`, `tool` or `p2`; None for people.
        task: the subtask.
        group: `3 points`, … where it is a part of HardBLINK; None for the whole task.
        accuracy: in percent.
    """

    model: str
    setting: str | None
    task: str
    group: str | None
    accuracy: float


@functools.cache
def paper_cells() -> tuple[PaperCell, ...]:
    """All numbers of the table, HardBLINK by its number of points where the paper says."""
    text = importlib.resources.files(__package__).joinpath("paper_table1.csv").read_text("utf-8")
    return tuple(
        PaperCell(
            row["model"],
            row["setting"] or None,
            row["task"],
            row["group"] or None,
            float(row["accuracy"]),
        )
        for row in csv.DictReader(text.splitlines())
    )


def paper_model(name: str) -> str | None:
    """The model of the paper that a provider's name means, or None.

    Only the part behind the last `/` counts, without case and punctuation, and it may go on with a
    date or a variant.

    >>> paper_model("openai/gpt-5-mini-2025-08-07"), paper_model("Qwen/Qwen3-VL-4B-Instruct")
    ('GPT-5 Mini', 'Qwen3VL-4B')
    >>> paper_model("gpt-5") is None
    True
    """
    plain = _plain(name.rpartition("/")[2])
    models = dict.fromkeys(cell.model for cell in paper_cells() if cell.setting)
    return next((model for model in models if plain.startswith(_plain(model))), None)


def paper_value(model: str, setting: str | None, task: str, group: str | None) -> float | None:
    """A number of the table in percent, or None where it has none."""
    return _by_place().get((model, setting, task, group))


@functools.cache
def _by_place() -> dict[tuple[str, str | None, str, str | None], float]:
    return {(c.model, c.setting, c.task, c.group): c.accuracy for c in paper_cells()}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
