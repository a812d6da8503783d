"""A question of the benchmark with its pictures."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._arrays import describe
from ..errors import InputError
from ..images import RGB, ImageLike, load_image

__all__ = ["LETTERS", "Sample", "SampleImage", "subtask"]

LETTERS = string.ascii_uppercase
"""The letters of the options, in order."""


def subtask(idx: str) -> str:
    """The task in a question's id.

    >>> subtask("val_Multi-view_Reasoning_7")
    'Multi-view_Reasoning'
    """
    return "_".join(idx.split("_")[1:-1])


@dataclass(frozen=True, eq=False)
class SampleImage:
    """A picture of a question; nothing is decoded before `load`.

    Attributes:
        source: a path or the bytes of an image file.
        name: its file name, or what stands for one.
    """

    source: ImageLike = field(repr=False)
    name: str

    def load(self) -> RGB:
        """The picture, H×W×3 uint8, upright.

        Raises:
            InputError: it cannot be read; the message names it.
        """
        try:
            return load_image(self.source)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from error


@dataclass(frozen=True, eq=False)
class Sample:
    """A question with its pictures, options and answer.

    Attributes:
        id: unique in its task (`val_Jigsaw_1`, `hardblink_3_0`).
        task: the subtask, written as in the hub's configurations (`Multi-view_Reasoning`).
        question: the question alone, without options.
        choices: the text of each option, in order; the first is A.
        images: the pictures in the order that the question speaks of them.
        answer: the right letter, or None where it is not published.
        group: what reports split a task by (`3 points`), or None.
        labels: names of objects that the question is about, for a detector.
        meta: whatever else the source says, as plain data.

    Raises:
        InputError: no picture, fewer than two options, more than 26, or an answer that is none.
    """

    id: str
    task: str
    question: str
    choices: tuple[str, ...]
    images: tuple[SampleImage, ...]
    answer: str | None = None
    group: str | None = None
    labels: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("choices", "images", "labels"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("id", "task", "question"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"{name}: expected text, got {describe(value)}")
        if not 2 <= len(self.choices) <= len(LETTERS):
            raise InputError(f"{self.id}: expected 2 to 26 choices, got {len(self.choices)}")
        if not self.images:
            raise InputError(f"{self.id}: expected at least one image, got none")
        if self.answer is not None and self.answer not in self.letters:
            raise InputError(
                f"{self.id}: expected an answer among {', '.join(self.letters)}, got {self.answer!r}"
            )

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of its options."""
        return tuple(LETTERS[: len(self.choices)])

    @property
    def options(self) -> dict[str, str]:
        """The text of each option by its letter."""
        return dict(zip(self.letters, self.choices, strict=True))
