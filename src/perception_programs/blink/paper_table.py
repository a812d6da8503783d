"""Table 1 of the Perception Programs paper, to hold results against."""

from __future__ import annotations

import csv
import functools
import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._hub import REPOSITORY

__all__ = [
    "PAPER_TASKS",
    "PaperCell",
    "paper_cells",
    "paper_model",
    "paper_questions",
    "paper_value",
]

_QUESTIONS = {
    "Multi-view_Reasoning": 133,
    "HardBLINK": 372,
    "Visual_Correspondence": 172,
    "Jigsaw": 150,
    "Object_Localization": 122,
    "Semantic_Correspondence": 139,
}
_GROUP = 124  # questions of HardBLINK with each number of points

PAPER_TASKS = tuple(_QUESTIONS)
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
    date, a version or a word that leaves it the same model; a `thinking` or `minimal` one is another.

    >>> paper_model("openai/gpt-5-mini-2025-08-07"), paper_model("Qwen/Qwen3-VL-4B-Instruct")
    ('GPT-5 Mini', 'Qwen3VL-4B')
    >>> paper_model("gpt-5") is None
    True
    """
    said = name.rstrip("/").rpartition("/")[2].lower()
    models = dict.fromkeys(cell.model for cell in paper_cells() if cell.setting)
    return next((model for model in models if _spelling(model).fullmatch(said)), None)


@functools.cache
def _spelling(model: str) -> re.Pattern[str]:
    letters = r"[^a-z0-9]*".join(_plain(model))
    return re.compile(rf"{letters}(?:[^a-z0-9]+(?:[0-9]+|instruct|chat|hf|it|preview|latest|exp))*")


def paper_value(model: str, setting: str | None, task: str, group: str | None) -> float | None:
    """A number of the table in percent, or None where it has none."""
    return _by_place().get((model, setting, task, group))


def paper_questions(
    task: str, group: str | None, source: Mapping[str, Any] | None = None
) -> int | None:
    """How many questions a number of the table is about, or None where they are others.

    Args:
        task: the subtask.
        group: a part of HardBLINK, or None.
        source: where the questions of a run came from, as its header says: the table is about the
            `val` questions of BLINK and those of HardBLINK, of which a run may have a part. Others may
            be of a task of that name, such as a manifest's. None for the table's own.

    >>> paper_questions("Jigsaw", None)
    150
    >>> paper_questions("Jigsaw", None, {"kind": "manifest", "name": "mine.jsonl", "n": 150}) is None
    True
    """
    count = _QUESTIONS.get(task)
    if count is None or (source is not None and not _is_of_blink(task, count, source)):
        return None
    return count if group is None else _GROUP


def _is_of_blink(task: str, count: int, source: Mapping[str, Any]) -> bool:
    if (source.get("n") or 0) > count:  # fewer may be a part of them, such as one file of several
        return False
    kind, split = source.get("kind"), source.get("split")
    if task == "HardBLINK":
        return kind == "hardblink"
    return split == "val" and (
        kind == "parquet" or (kind == "hub" and source.get("name") == REPOSITORY)
    )


@functools.cache
def _by_place() -> dict[tuple[str, str | None, str, str | None], float]:
    return {(c.model, c.setting, c.task, c.group): c.accuracy for c in paper_cells()}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
