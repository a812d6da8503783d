"""Scores of candidates: points of another image, and pieces of a jigsaw."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._arrays import describe, to_numpy
from .._plain import plain_number
from ..errors import InputError
from ..geometry import Size, inside, to_size
from ._check import UNSET, Frozen, Result, check_text, coordinates

__all__ = ["EDGES", "PARTS", "EdgeScores", "PointScores"]

EDGES = ("left", "top")
PARTS = ("structural", "colour", "edge")


def _number(value: Any, name: str) -> float:
    return float(plain_number(value, name))


def _point(value: Any, size: Size, name: str) -> tuple[float, float]:
    try:
        x, y = value
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected (x, y) in pixels, got {describe(value)}") from None
    x, y = _number(x, name), _number(y, name)
    if not inside(x, y, size):
        raise InputError(
            f"{name}: expected a point within {size[0]}×{size[1]} pixels, got ({x:g}, {y:g})"
        )
    return x, y


@dataclass(frozen=True)
class PointScores(Result):
    """How alike each candidate point of the second image is to a reference point of the first.

    Attributes:
        candidates: {letter: (x, y)} in pixels of the second image.
        scores: {letter: similarity}, bigger is more alike; the same letters.
        reference: (x, y) in pixels of the first image.
        size1: `(width, height)` of the first image.
        size2: `(width, height)` of the second image; that of the first when not given.

    Raises:
        InputError: letters that differ, or a point outside its image.
    """

    candidates: Mapping[str, tuple[float, float]]
    scores: Mapping[str, float]
    reference: tuple[float, float]
    size1: Size
    size2: Size = UNSET

    def __post_init__(self) -> None:
        size1 = to_size(self.size1, "size1")
        size2 = size1 if self.size2 is None else to_size(self.size2, "size2")
        for name in ("candidates", "scores"):
            _check_mapping(getattr(self, name), name)
        if set(self.candidates) != set(self.scores):
            raise InputError(
                f"scores: expected one for each of {sorted(map(str, self.candidates))}, got {sorted(map(str, self.scores))}"
            )
        candidates = {
            check_text(letter, "candidates"): _point(place, size2, f"candidate {letter!r}")
            for letter, place in self.candidates.items()
        }
        set_field = object.__setattr__
        set_field(self, "candidates", Frozen(candidates))
        scores = {k: _number(self.scores[k], f"score {k!r}") for k in candidates}
        set_field(self, "scores", Frozen(scores))
        set_field(self, "reference", _point(self.reference, size1, "reference"))
        set_field(self, "size1", size1)
        set_field(self, "size2", size2)

    @classmethod
    def from_similarity(
        cls,
        similarity: Any,
        candidates: Mapping[str, tuple[float, float]],
        *,
        reference: tuple[float, float],
        size1: Size,
        size2: Size = UNSET,
    ) -> PointScores:
        """From an h×w map of the reference's similarity to each part of the second image.

        Each value stands for one cell of the image, and a candidate takes that of the cell it is in.
        """
        values = to_numpy(similarity)
        if values.ndim != 2 or 0 in values.shape:
            raise InputError(f"similarity: expected an h×w map, got {describe(similarity)}")
        width, height = to_size(size1 if size2 is None else size2)
        rows, cols = values.shape
        scores = {}
        for letter, place in candidates.items():
            x, y = _point(place, (width, height), f"candidate {letter!r}")
            row, col = min(int(y * rows / height), rows - 1), min(int(x * cols / width), cols - 1)
            scores[letter] = float(values[row, col])
        return cls(dict(candidates), scores, reference, size1, size2)


@dataclass(frozen=True)
class EdgeScores(Result):
    """How well each candidate piece of a jigsaw continues the picture across its borders.

    Attributes:
        candidates: {candidate: {`left`, `top`: {`structural`, `colour`, `edge`: in [0, 1], `box`:
            (x0, y0, x1, y1) of the strip in pixels of the candidate}}}.
        sizes: {candidate: `(width, height)`}.

    Raises:
        InputError: a border or part missing, a score outside [0, 1], or a strip outside its piece.
    """

    candidates: Mapping[str, Mapping[str, Mapping[str, Any]]]
    sizes: Mapping[str, Size]

    def __post_init__(self) -> None:
        for name in ("candidates", "sizes"):
            _check_mapping(getattr(self, name), name)
        if set(self.candidates) != set(self.sizes):
            raise InputError(
                f"sizes: expected one for each of {sorted(map(str, self.candidates))}, got {sorted(map(str, self.sizes))}"
            )
        sizes = {name: to_size(size, f"size of {name!r}") for name, size in self.sizes.items()}
        checked = {
            check_text(name, "candidates"): _borders(borders, sizes[name], name)
            for name, borders in self.candidates.items()
        }
        object.__setattr__(self, "candidates", Frozen(checked))
        object.__setattr__(self, "sizes", Frozen(sizes))

    def mean(self, candidate: str, edge: str) -> float:
        """The mean of the structural, colour and edge similarity of one border, in [0, 1]."""
        parts = self.candidates[candidate][edge]
        return math.fsum(parts[part] for part in PARTS) / len(PARTS)  # the same in any order


def _check_mapping(value: Any, name: str) -> None:
    """Refuse what is no mapping."""
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: expected a mapping, got {describe(value)}")


def _borders(borders: Mapping[str, Mapping[str, Any]], size: Size, name: str) -> dict[str, Any]:
    _check_mapping(borders, f"candidate {name!r}")
    if not borders or not set(borders) <= set(EDGES):
        raise InputError(
            f"candidate {name!r}: expected borders among {EDGES}, got {sorted(map(str, borders))}"
        )
    return {
        edge: _border(borders[edge], size, f"{name!r} {edge}") for edge in EDGES if edge in borders
    }


def _border(border: Mapping[str, Any], size: Size, name: str) -> dict[str, Any]:
    if not isinstance(border, Mapping) or set(border) != {*PARTS, "box"}:
        raise InputError(f"{name}: expected {(*PARTS, 'box')}, got {describe(border)}")
    parts: dict[str, Any] = {part: _number(border[part], f"{name} {part}") for part in PARTS}
    for part, value in parts.items():
        if not 0 <= value <= 1:
            raise InputError(f"{name} {part}: expected a similarity in [0, 1], got {value:g}")
    x0, y0, x1, y1 = coordinates([border["box"]], 4, f"{name} box")[0].tolist()
    if not (0 <= x0 < x1 <= size[0] and 0 <= y0 < y1 <= size[1]):
        raise InputError(
            f"{name}: expected a strip within {size[0]}×{size[1]}, got {border['box']}"
        )
    return {**parts, "box": (x0, y0, x1, y1)}
