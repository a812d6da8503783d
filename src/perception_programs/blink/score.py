"""The benchmark's own score: accuracy a subtask, and its macro mean.

Predictions and answers are in BLINK's JSON format: one object, `{"val_Jigsaw_1": "(A)", …}`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from .._arrays import describe
from .._plain import unique_keys
from ..chat._files import check_file
from ..errors import InputError
from ..view._tables import table_html, table_markdown, table_text
from .samples import subtask

__all__ = ["Score", "SubtaskScore", "read_predictions", "render", "score", "subtask_of"]

_LETTER = re.compile(r"\(([A-Z])\)(\s+\S.*)?", re.DOTALL)
_ID = re.compile(r"[^\s_]+(_[^\s_]+)+_[0-9]+")
_HEAD = ("subtask", "n", "correct", "missing", "unparsed", "accuracy")
_NONE = "Z"  # how BLINK's own evaluation writes that there is no answer


@dataclass(frozen=True)
class SubtaskScore:
    """The score of one subtask.

    Attributes:
        n: how many questions have a known answer.
        correct: how many are answered right.
        missing: how many have no prediction; they count as wrong.
        unparsed: how many have a prediction without a letter; they count as wrong.
    """

    n: int
    correct: int
    missing: int
    unparsed: int

    @property
    def accuracy(self) -> float:
        """Correct ones as a share of all, from 0 to 1."""
        return self.correct / self.n


@dataclass(frozen=True)
class Score:
    """The scores of all subtasks, by name, in alphabetical order."""

    subtasks: Mapping[str, SubtaskScore]

    @property
    def macro(self) -> float:
        """The mean of the subtasks' accuracies, from 0 to 1: the number that BLINK publishes."""
        return math.fsum(part.accuracy for part in self.subtasks.values()) / len(self.subtasks)

    def _repr_html_(self) -> str:
        return table_html(_HEAD, _rows(self))

    def _repr_markdown_(self) -> str:
        return table_markdown(_HEAD, _rows(self))


def subtask_of(name: str) -> str:
    """The subtask that an id names.

    Raises:
        InputError: not `<split>_<subtask>_<number>`.

    >>> subtask_of("val_Multi-view_Reasoning_12")
    'Multi-view_Reasoning'
    """
    if not _ID.fullmatch(name):
        raise InputError(
            "id: expected <split>_<subtask>_<number>, with underscores for the spaces of the subtask, "
            f"got {name!r}"
        )
    return subtask(name)


def read_predictions(path: str | PathLike[str]) -> dict[str, str | None]:
    """The letter of each id in a JSON file of predictions or answers.

    `(A)` is A and `(Z)` is None. So is `(A) with words after it`: BLINK compares whole strings, so
    such a prediction never counted as right, and the published numbers reproduce only that way; it
    shows in a score's `unparsed`. Nothing else is read: what a model wrote is for `answers.extract`.

    Raises:
        InputError: not such a file, an id twice or of another form, or a value that doesn't start with
            `(X)`.
    """
    if Path(path).is_dir():
        raise InputError(
            f"{path}: expected a JSON file of predictions, got a folder; if it is a run's, "
            f"p2 blink report {path} says its score"
        )
    check_file(path)
    try:
        # Some editors, and Windows, put a mark of the encoding first.
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"no file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: expected UTF-8 text that can be read: {reason}") from error
    try:
        rows = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected JSON: {error}") from error
    if not isinstance(rows, dict):
        raise InputError(f"{path}: expected an object of ids and letters, got {describe(rows)}")
    found = {}
    for name, value in rows.items():
        try:
            subtask_of(name)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        found[name] = _letter(value, f"{path}: {name}")
    return found


def _letter(value: object, where: str) -> str | None:
    found = _LETTER.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        got = repr(value) if isinstance(value, str) else describe(value)
        raise InputError(f"{where}: expected (A), (B) … or (Z), in brackets, got {got}")
    return None if found[1] == _NONE or found[2] else found[1]


def score(predictions: Mapping[str, str | None], answers: Mapping[str, str | None]) -> Score:
    """Score `predictions` against the `answers`, letters by id.

    Ids that have no prediction count as wrong and are reported as missing.

    Raises:
        InputError: no answers, an answer without a letter, or a prediction for an unknown id.

    >>> score({"val_Jigsaw_1": "A"}, {"val_Jigsaw_1": "A", "val_Jigsaw_2": "B"}).macro
    0.5
    """
    if not answers:
        raise InputError("answers: expected at least one, got none")
    unknown = [name for name in predictions if name not in answers]
    if unknown:
        shown = ", ".join(map(repr, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        raise InputError(f"predictions: expected ids among the answers', got {shown}")
    counts: dict[str, list[int]] = {}
    for name, answer in answers.items():
        if answer is None:
            raise InputError(f"answers: expected a letter for {name}, got none")
        missing = name not in predictions
        given = predictions.get(name)
        row = counts.setdefault(subtask_of(name), [0, 0, 0, 0])
        tally = (True, given == answer, missing, given is None and not missing)
        row[:] = [count + add for count, add in zip(row, tally, strict=True)]
    return Score({name: SubtaskScore(*counts[name]) for name in sorted(counts)})


def render(result: Score) -> str:
    """The score as a text table, accuracies in per cent.

    >>> print(render(score({"val_Jigsaw_1": "A"}, {"val_Jigsaw_1": "A", "val_Jigsaw_2": "B"})))
    subtask  n  correct  missing  unparsed  accuracy
    Jigsaw   2        1        1         0     50.00
    macro    2        1        1         0     50.00
    """
    return table_text(_HEAD, _rows(result))


def _rows(result: Score) -> list[list[str]]:
    rows = [
        [name, *map(str, _counts(part)), f"{100 * part.accuracy:.2f}"]
        for name, part in result.subtasks.items()
    ]
    total = [sum(column) for column in zip(*map(_counts, result.subtasks.values()), strict=True)]
    return [*rows, ["macro", *map(str, total), f"{100 * result.macro:.2f}"]]


def _counts(part: SubtaskScore) -> tuple[int, int, int, int]:
    return part.n, part.correct, part.missing, part.unparsed
