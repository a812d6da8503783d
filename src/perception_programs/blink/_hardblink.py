"""HardBLINK in its own layout: which of 3, 4 or 5 lettered points is closest to the camera."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .._arrays import describe
from .._plain import Meta
from ..errors import InputError
from ._collection import answer_letter
from ._jsonl import read_lines
from .samples import LETTERS, Sample, SampleImage

__all__ = ["TASK", "is_hardblink", "read_hardblink"]

TASK = "HardBLINK"
"""The name of the task."""

_QUESTIONS = re.compile(r"blink_([2-9])pointscenter_questions\.jsonl")
_OWN = ("question_id", "image", "text")  # what becomes a field of a sample; the rest is its meta


def is_hardblink(folder: Path) -> bool:
    """Whether a folder is in HardBLINK's layout."""
    return (folder / "questions").is_dir() and (folder / "images").is_dir()


def read_hardblink(folder: Path) -> list[Sample]:
    """All questions that are there: those with 3 points, with 4, with 5, each in order.

    Raises:
        InputError: no questions, one without answer or picture, or a line that cannot be used.
    """
    found = sorted(
        (int(match[1]), file)
        for file in (folder / "questions").iterdir()
        if (match := _QUESTIONS.fullmatch(file.name))
    )
    if not found:
        raise InputError(
            f"{folder / 'questions'}: expected blink_3pointscenter_questions.jsonl or alike, got none"
        )
    return [sample for points, file in found for sample in _questions(folder, file, points)]


def _questions(folder: Path, file: Path, points: int) -> list[Sample]:
    answers = _answers(folder / "answers" / f"blink_{points}pointscenter_answers.jsonl")
    images = folder / "images" / f"blink{points}pointscenter"
    samples = []
    for where, record in read_lines(file):
        number = _number(record, where)
        name = record.get("image")
        if not isinstance(name, str) or not (images / name).is_file():
            raise InputError(f"{where}: expected a picture, no file {str(images / str(name))!r}")
        if number not in answers:
            raise InputError(f"{where}: expected an answer to question {number}, got none")
        try:
            sample = Sample(
                id=f"hardblink_{points}_{number}",
                task=TASK,
                question=record.get("text", ""),
                choices=tuple(f"Point {letter}" for letter in LETTERS[:points]),
                images=(SampleImage(images / name, name),),
                answer=answers[number],
                group=f"{points} points",
                meta=Meta({key: value for key, value in record.items() if key not in _OWN}),
            )
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        samples.append(sample)
    return samples


def _answers(file: Path) -> dict[int, str]:
    answers: dict[int, str] = {}
    for where, record in read_lines(file):
        number = _number(record, where)
        if number in answers:
            raise InputError(f"{where}: expected one answer to question {number}, got two")
        answers[number] = answer_letter(record.get("text"), where)
    return answers


def _number(record: dict[str, Any], where: str) -> int:
    number = record.get("question_id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise InputError(f"{where}: expected question_id, a whole number, got {describe(number)}")
    return number
