"""What a prompt is made from: a question with its pictures and evidence, and a worked example."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .._arrays import describe
from ..chat import Picture
from ..errors import InputError
from ..program import PerceptionProgram
from .wording import names

__all__ = ["GUIDANCE", "Example", "Question", "check_kind"]

GUIDANCE = names("guidance-")
"""The tasks for which there is a text that says how to read their programs."""

_LETTER = re.compile("[A-Z]")
_LAST_LINE = re.compile(r"(?:^|\n)Answer: \(([A-Z])\)\Z")


@dataclass(frozen=True, eq=False)
class Question:
    """A multiple-choice question with everything that may be shown beside it.

    What a setting does not show is left out of its prompt, so that one question serves all settings.

    Attributes:
        text: the question alone, without options.
        options: the text of each option by its letter, A to Z, in the order they are shown.
        images: the pictures in the order that the question speaks of them; none for a prompt to a
            model that reads only text.
        programs: title and program of each, for the settings with programs.
        tool_pictures: caption and picture of each, for the setting `tool`.
        guidance: one of `GUIDANCE`, or None for a task without.

    Raises:
        InputError: text that is empty, fewer than two options, a letter that is none, a part of
            another type, a guidance that there is not.

    >>> Question("Which is nearer?", {"A": "the cup", "B": "the wall"}).letters
    ('A', 'B')
    """

    text: str
    options: Mapping[str, str]
    images: tuple[Picture, ...] = ()
    programs: tuple[tuple[str, PerceptionProgram], ...] = ()
    tool_pictures: tuple[tuple[str, Picture], ...] = ()
    guidance: str | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        _check_text(self.text, "text")
        set_field(self, "options", _options(self.options))
        set_field(self, "images", _series(self.images, "images"))
        for image in self.images:
            check_kind(image, Picture, "images")
        set_field(self, "programs", _named(self.programs, PerceptionProgram, "programs"))
        set_field(self, "tool_pictures", _named(self.tool_pictures, Picture, "tool_pictures"))
        if self.guidance is not None and self.guidance not in GUIDANCE:
            raise InputError(
                f"guidance: expected one of {', '.join(GUIDANCE)}, or None, "
                f"got {describe(self.guidance)}"
            )

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of its options."""
        return tuple(self.options)


@dataclass(frozen=True, eq=False)
class Example:
    """A question worked out, to be shown before the one that is asked.

    Attributes:
        question: the question, of the same task and with evidence of its own.
        rationale: the reasoning; its last line is `Answer: (X)`.

    Raises:
        InputError: the rationale does not end so, or with a letter that is no option.
    """

    question: Question
    rationale: str

    def __post_init__(self) -> None:
        check_kind(self.question, Question, "question")
        _check_text(self.rationale, "rationale")
        text = self.rationale.strip().replace("\r\n", "\n")
        last = _LAST_LINE.search(text)
        if last is None:
            line = text.rpartition("\n")[2]
            raise InputError(f"rationale: expected a last line `Answer: (X)`, got {describe(line)}")
        if last[1] not in self.question.options:
            letters = ", ".join(self.question.letters)
            raise InputError(f"rationale: expected an answer among {letters}, got {last[1]!r}")
        object.__setattr__(self, "rationale", text)


def _options(options: Any) -> Mapping[str, str]:
    if not isinstance(options, Mapping) or len(options) < 2:
        raise InputError(f"options: expected two or more by their letter, got {describe(options)}")
    for letter, text in options.items():
        if not isinstance(letter, str) or not _LETTER.fullmatch(letter):
            raise InputError(f"options: expected letters A to Z, got {describe(letter)}")
        _check_text(text, f"option {letter}")
    return MappingProxyType(dict(options))


def _named(pairs: Any, kind: type, name: str) -> tuple[tuple[str, Any], ...]:
    """Pairs of a title and something of `kind`."""
    for pair in (series := _series(pairs, name)):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(
                f"{name}: expected pairs of text and {kind.__name__}, got {describe(pair)}"
            )
        _check_text(pair[0], name)
        check_kind(pair[1], kind, name)
    return tuple((pair[0], pair[1]) for pair in series)


def _series(values: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(values, Iterable) or isinstance(values, (str, Mapping)):
        raise InputError(f"{name}: expected a series, got {describe(values)}")
    return tuple(values)


def check_kind(value: object, kind: type, name: str) -> None:
    """Refuse what is not of that kind."""
    if not isinstance(value, kind):
        raise InputError(f"{name}: expected {kind.__name__}, got {describe(value)}")


def _check_text(value: object, name: str) -> None:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name}: expected text, got {describe(value)}")
