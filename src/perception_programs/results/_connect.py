"""What the connectors to other libraries share: empty results, missing scores, names of classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from .._arrays import describe, is_array, to_numpy
from .._plain import plain_number
from ..errors import InputError
from ._check import class_names, class_number

__all__ = ["Names", "empty_as", "numbered", "scored", "texts", "with_scores"]

Names = Mapping[int, str] | Sequence[str] | Sequence[Mapping[str, Any]] | None
"""What class numbers are called: {number: name}, a list that names 0, 1, 2…, or COCO's categories."""


def empty_as(boxes: Any, columns: int) -> Any:
    """An empty result, which libraries give as shape (0,), as (0, columns)."""
    empty = not is_array(boxes) and isinstance(boxes, Sized) and len(boxes) == 0
    if empty or (is_array(boxes) and 0 in tuple(boxes.shape)):
        return np.empty((0, columns), np.float32)
    return boxes


def scored(scores: Any) -> Any:
    """Scores as they are, but for an empty list, which has no type of its own."""
    return np.empty(0, np.float32) if isinstance(scores, Sized) and len(scores) == 0 else scores


def with_scores(scores: Iterable[Any], score: float | None) -> Any:
    """One score an object, with `score` in place of those that are None.

    Raises:
        InputError: one is None and `score` too. A score is never made up.
    """
    given = list(scores)
    missing = [row for row, value in enumerate(given) if value is None]
    if score is None and missing:
        raise InputError(
            f"score: expected one for each object, got none for object {missing[0]}; "
            "score= is given to those that come without (1 to what a person drew)"
        )
    return scored([plain_number(score if s is None else s, "score") for s in given])


def texts(labels: Any, names: Names) -> tuple[str, ...]:
    """Labels as strings: those that are, and the names of those that are class numbers.

    Raises:
        InputError: a class number, and no name for it.
    """
    values = to_numpy(labels) if is_array(labels) else labels
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"labels: expected one an object, got {describe(labels)}")
    known = None if names is None else class_names(names)
    return tuple(value if isinstance(value, str) else _name(value, known) for value in values)


def _name(value: Any, names: dict[int, str] | None) -> str:
    if names is None:
        raise InputError(
            f"labels: expected strings, or names= for class numbers, got {describe(value)}"
        )
    number = class_number(value, "labels")
    if number not in names:
        raise InputError(f"names: expected a name for class {number}, got {len(names)} others")
    return names[number]


def numbered(labels: Sequence[str], names: Names) -> tuple[list[int], dict[int, str]]:
    """The class number of each label, and what the numbers are called.

    Args:
        labels: as in `Detections`.
        names: the numbers that the other side knows; None numbers the labels 0, 1, 2… in the order
            in which they first come.

    Raises:
        InputError: a label that `names` lacks, or has twice.
    """
    known = class_names(list(dict.fromkeys(labels)) if names is None else names)
    numbers: dict[str, int] = {}
    for number, name in known.items():
        if name in numbers and name in labels:
            raise InputError(f"names: expected one number for {name!r}, got two")
        numbers[name] = number
    missing = [label for label in labels if label not in numbers]
    if missing:
        raise InputError(f"names: expected a number for {describe(missing[0])}, got none")
    return [numbers[label] for label in labels], known
