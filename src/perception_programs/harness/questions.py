"""Questions with known answers, from a file, and whether an answer is right."""

from __future__ import annotations

import json
import math
import os
import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from .._arrays import describe
from .._plain import plain_number, unique_keys
from ..errors import InputError

__all__ = ["Judge", "Question", "is_right", "read_questions"]

_KEYS = ("id", "question", "images", "answer", "choices", "tolerance")
_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d+(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+")
_LETTER = re.compile(r"\(?([A-Za-z])\)?\s*[.):]?(?:\s+(.*))?", re.DOTALL)
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)
_ARTICLE = re.compile(r"^(?:a|an|the) (?=\S)")
_AROUND = string.punctuation.replace("-", "").replace("%", "") + "“”‘’…"


@dataclass(frozen=True)
class Question:
    """A question whose answer is known.

    Attributes:
        id: names it; unlike any other of its file.
        question: what is asked.
        images: files of the pictures, in order.
        answer: the right answer: a text, a number, or one of the choices by its text or its letter.
        choices: what there is to choose from, lettered from A; None for an open question.
        tolerance: how far a number may be from the answer, as a share of it.
    """

    id: str
    question: str
    images: tuple[Path, ...]
    answer: str | float
    choices: tuple[str, ...] | None = None
    tolerance: float = 0.0

    @property
    def prompt(self) -> str:
        """The question with its choices, as a model is asked.

        >>> print(Question("1", "Which?", (), "B", ("red", "blue")).prompt)
        Which?
        (A) red
        (B) blue
        """
        lines = [f"({letter}) {text}" for letter, text in _lettered(self.choices or ())]
        return "\n".join([self.question, *lines])


Judge: TypeAlias = Callable[[Question, str], bool]
"""Says whether what a model answered is right."""


def read_questions(path: str | os.PathLike[str]) -> list[Question]:
    """Questions from JSON lines.

    Each is an object with `id`, `question`, `images` (a list of files, as they lie from the file's own folder)
    and `answer`; and perhaps `choices` and `tolerance`.

    Raises:
        InputError: no such file, a line that is none, an id that is there twice, a picture that is not there,
            or an answer that is none of the choices.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"questions: no file {str(file)!r}")
    found: dict[str, Question] = {}
    lines = file.read_text(encoding="utf-8-sig").split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        question = _question(line, file.parent, f"{file.name}, line {number}")
        if question.id in found:
            raise InputError(f"{file.name}, line {number}: the id {question.id!r} is there twice")
        found[question.id] = question
    if not found:
        raise InputError(f"questions: {str(file)!r} has none")
    return list(found.values())


def is_right(question: Question, said: str) -> bool:
    """Whether an answer is the right one.

    Among choices, it has to name that one, by its letter or its text, and no other. Where the right answer
    is a number, it has to hold one number (or one word from zero to twelve) and no other, within the
    tolerance; what stands around it, such as a unit, is left out of account. Else it is the same text but
    for case, spaces, punctuation around it and an article before it.

    >>> is_right(Question("1", "How many?", (), 3), "3 cups")
    True
    >>> is_right(Question("1", "How far?", (), 2.0, tolerance=0.02), "2.05 m")
    False
    >>> is_right(Question("1", "Which?", (), "blue", ("red", "blue")), "(B)")
    True
    >>> is_right(Question("1", "What colour?", (), "Blue"), "blue.")
    True
    """
    if question.choices is not None:
        chosen = _chosen(said, question.choices)
        return chosen is not None and chosen == _chosen(str(question.answer), question.choices)
    expected = _as_number(question.answer)
    if expected is None:
        return _normalised(said) == _normalised(str(question.answer))
    found = _numbers(said)
    if len(found) != 1:
        return False
    return math.isclose(found[0], expected, rel_tol=max(question.tolerance, 1e-9), abs_tol=1e-12)


def _question(line: str, folder: Path, where: str) -> Question:
    try:
        data = json.loads(line, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: expected JSON: {error}") from None
    if not isinstance(data, dict) or not {"id", "question", "images", "answer"} <= data.keys():
        raise InputError(f"{where}: expected id, question, images and answer, got {describe(data)}")
    unknown = [key for key in data if key not in _KEYS]
    if unknown:
        raise InputError(f"{where}: expected {', '.join(_KEYS)}, got {unknown[0]!r}")
    key, asked = data["id"], data["question"]
    if not all(isinstance(text, str) and text.strip() for text in (key, asked)):
        raise InputError(f"{where}: expected texts as id and question, got {key!r} and {asked!r}")
    made = Question(
        key,
        asked,
        _images(data["images"], folder, where),
        _answer(data["answer"], where),
        _choices(data.get("choices"), where),
        _tolerance(data.get("tolerance", 0.0), where),
    )
    if made.choices is not None and _chosen(str(made.answer), made.choices) is None:
        raise InputError(f"{where}: answer: expected one of the choices, got {made.answer!r}")
    return made


def _images(names: Any, folder: Path, where: str) -> tuple[Path, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{where}: images: expected a list of files, got {describe(names)}")
    files = tuple(folder / name for name in names)
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise InputError(f"{where}: images: no file {str(missing[0])!r}")
    return files


def _answer(value: Any, where: str) -> str | float:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise InputError(f"{where}: answer: expected a text or a number, got {describe(value)}")


def _choices(value: Any, where: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    fits = isinstance(value, list) and 2 <= len(value) <= len(string.ascii_uppercase)
    if not fits or not all(isinstance(one, str) and one.strip() for one in value):
        raise InputError(f"{where}: choices: expected 2 to 26 texts, got {describe(value)}")
    if len(set(map(_normalised, value))) < len(value):
        raise InputError(f"{where}: choices: expected each of its own, got {value!r}")
    return tuple(value)


def _tolerance(value: Any, where: str) -> float:
    number = float(plain_number(value, f"{where}: tolerance"))
    if not 0 <= number < 1:
        raise InputError(f"{where}: tolerance: expected a share from 0 to below 1, got {value!r}")
    return number


def _lettered(choices: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(string.ascii_uppercase, choices, strict=False))


def _chosen(said: str, choices: Sequence[str]) -> int | None:
    """Which choice is named, by its text or else its letter; None for none."""
    texts = list(map(_normalised, choices))
    if _normalised(said) in texts:
        return texts.index(_normalised(said))
    lettered = _LETTER.fullmatch(said.strip(" \t\n*_`."))
    if lettered is None:
        return None
    place = string.ascii_uppercase.index(lettered[1].upper())
    rest = _normalised(lettered[2] or "")
    return place if place < len(choices) and rest in ("", texts[place]) else None


def _normalised(text: str) -> str:
    """A text without what does not count."""
    line = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return _ARTICLE.sub("", line.strip(_AROUND + " "))


def _as_number(answer: str | float) -> float | None:
    if not isinstance(answer, str):
        return float(answer)
    found = _NUMBER.fullmatch(answer.strip())
    return _value(found[0]) if found else None


def _numbers(said: str) -> list[float]:
    found = [_value(match[0]) for match in _NUMBER.finditer(said)]
    if found:
        return found
    words = re.findall(r"[a-z]+", said.casefold())
    return [float(_WORDS.index(word)) for word in words if word in _WORDS]


def _value(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))
