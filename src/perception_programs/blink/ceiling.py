"""How well relative depth can be read from a program at all: the ceiling that its grid sets.

Questions are made from a map whose depth is known, so that neither an expert nor a language model is
in the way: what a reading misses, the program does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import describe, to_numpy
from .._plain import plain_number
from ..errors import InputError
from ..geometry import Grid, cell_statistics
from ..program import PerceptionProgram
from ..programs import depth_program, points_program
from ..results import DepthMap
from . import readers
from .samples import LETTERS

__all__ = ["GridAccuracy", "PointQuestion", "accuracy_by_grid", "point_questions"]

_TRIES = 1000  # draws a question; a map that needs more has hardly two depths


@dataclass(frozen=True)
class PointQuestion:
    """Which of some points is nearest to the camera?

    Attributes:
        points: {letter: (x, y)} in pixels of the map.
        answer: the letter of the nearest.
    """

    points: Mapping[str, tuple[int, int]]
    answer: str


@dataclass(frozen=True)
class GridAccuracy:
    """How many questions are answered right from a depth program of one grid.

    Attributes:
        grid: the grid.
        n: how many questions there were.
        middles: right answers by the published rule: the middle of the range of the nearest cell.
        means: right answers by the mean of that cell instead, which programs do not hold.
    """

    grid: Grid
    n: int
    middles: int
    means: int


def point_questions(
    depth: DepthMap, n: int, seed: int, *, points: int = 5, gap: float = 0.02
) -> list[PointQuestion]:
    """Questions about random points of a map, the nearest of which is nearest beyond doubt.

    Args:
        depth: the map; only its valid pixels are asked about.
        n: how many questions.
        seed: of the random numbers.
        points: how many points a question has, from 2 to 26.
        gap: by how much the nearest must be before the second, as a share of the map's range.

    Raises:
        InputError: the map has too few valid pixels, or hardly two of them so far apart.

    >>> ramp = DepthMap(np.tile(np.linspace(0, 1, 50), (50, 1)))
    >>> question = point_questions(ramp, n=1, seed=0, points=3)[0]
    >>> question.answer == max(question.points, key=lambda letter: question.points[letter][0])
    True
    """
    if not 2 <= points <= len(LETTERS):
        raise InputError(f"points: expected 2 to {len(LETTERS)}, got {points!r}")
    if not 0 < plain_number(gap, "gap") <= 1:
        raise InputError(f"gap: expected a share of the range above 0 and up to 1, got {gap!r}")
    near: npt.NDArray[Any] = to_numpy(depth.nearness())
    known = np.flatnonzero(np.isfinite(near))
    if len(known) < points:
        raise InputError(f"depth: expected at least {points} valid pixels, got {len(known)}")
    generator = np.random.default_rng(seed)
    questions: list[PointQuestion] = []
    for _ in range(_TRIES * n):
        if len(questions) == n:
            break
        drawn = known[generator.choice(len(known), points, replace=False)]
        second, first = np.sort(near.ravel()[drawn])[-2:]
        if first - second >= gap:
            questions.append(_question(near, drawn))
    if len(questions) < n:
        raise InputError(
            f"depth: expected {n} questions whose nearest point is {gap:g} of the range before the "
            f"second, found {len(questions)} in {_TRIES * n} draws"
        )
    return questions


def accuracy_by_grid(
    depth: DepthMap,
    grids: Iterable[Any],
    *,
    n: int = 1000,
    seed: int = 0,
    points: int = 5,
    gap: float = 0.02,
) -> list[GridAccuracy]:
    """How many point questions are answered right by rule from the text of a depth program, by grid.

    The programs are printed and parsed back before they are read, at the precision of text. All
    grids are asked the same questions; one that is not decided (a tie) is not right.

    Args:
        depth: the map, as the questions and the programs are made from it; of its source's size.
        grids: each a number of cells a side, (rows, cols) or a `Grid`.
        n: how many questions.
        seed: of the random numbers.
        points: how many points a question has.
        gap: by how much the nearest is before the second, as a share of the map's range.

    Raises:
        InputError: as `point_questions`; a map that is not of its source's size; a grid finer than it.
    """
    height, width = depth.values.shape
    if depth.size != (width, height):
        raise InputError(
            f"depth: expected a map of its source's size, {depth.size[0]}×{depth.size[1]}, "
            f"got {describe(depth.values)}"
        )
    questions = point_questions(depth, n, seed, points=points, gap=gap)
    asked = [_through_text(points_program(q.points, size=depth.size)) for q in questions]
    return [_accuracy(depth, Grid.of(grid), questions, asked) for grid in grids]


def _question(near: npt.NDArray[Any], drawn: npt.NDArray[np.intp]) -> PointQuestion:
    rows, columns = np.divmod(drawn, near.shape[1])
    places = {
        letter: (x, y)
        for letter, x, y in zip(LETTERS, columns.tolist(), rows.tolist(), strict=False)
    }
    return PointQuestion(places, LETTERS[int(near.ravel()[drawn].argmax())])


def _through_text(program: PerceptionProgram) -> PerceptionProgram:
    return PerceptionProgram.from_text(str(program))


def _accuracy(
    depth: DepthMap,
    grid: Grid,
    questions: Sequence[PointQuestion],
    asked: Sequence[PerceptionProgram],
) -> GridAccuracy:
    ranges = _through_text(depth_program(depth, grid=grid, relations=False))
    means = cell_statistics(depth.nearness(), grid).mean.ravel().tolist()
    items = tuple(
        replace(item, r=None if np.isnan(mean) else mean)
        for item, mean in zip(ranges.items, means, strict=True)
    )
    counts = [
        sum(
            readers.relative_depth(points, program) == question.answer
            for question, points in zip(questions, asked, strict=True)
        )
        for program in (ranges, replace(ranges, items=items))
    ]
    return GridAccuracy(grid, len(questions), *counts)
