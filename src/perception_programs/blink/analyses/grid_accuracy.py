"""How much of relative depth a program of each grid holds, read by rule."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._arrays import describe
from ..._plain import check_count
from ...errors import InputError
from ...results import DepthMap
from ..ceiling import accuracy_by_grid
from ..statistics import wilson
from ._files import open_folder, write_csv
from ._plot import BLUE, GREY, ORANGE, new_figure, save

__all__ = ["POOLED", "ReaderByGrid", "grid_accuracy"]

POOLED = "all"
"""The name of the rows of all maps together."""

_RULES = {
    "middle": ("middle of the cell's range", BLUE, "o-"),
    "mean": ("mean of the cell", ORANGE, "s--"),
}


@dataclass(frozen=True)
class ReaderByGrid:
    """How many point questions are answered right from depth programs of several grids.

    Attributes:
        rows: one for each map, grid and rule, and for all maps together where there are several:
            `map`, `grid` (cells a side), `rule` (`middle` or `mean`), `n` questions, `right`, and
            `accuracy` with its Wilson interval of 95 %, `low` to `high`.
        points: how many points a question had, one of them nearest.
    """

    rows: list[dict[str, Any]]
    points: int

    def summary(self) -> str:
        """The accuracy by map and grid, as text."""
        width = max(len(row["map"]) for row in self.rows)
        lines = [f"Accuracy of the reader on questions of {self.points} points, %"]
        for row in self.rows:
            grid = f"{row['grid']}x{row['grid']}"
            lines.append(
                f"  {row['map']:<{width}}  {grid:>7}  {row['rule']:<6}  {100 * row['accuracy']:5.1f} "
                f"({100 * row['low']:.1f}-{100 * row['high']:.1f}, n {row['n']})"
            )
        return "\n".join(lines)

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write `grid.csv` (the rows) and `grid.png`.

        Raises:
            InputError: the folder's place is taken by a file.
            MissingExtraError: matplotlib is not installed; the data is written all the same.
        """
        target = open_folder(folder)
        table = write_csv(target / "grid.csv", list(self.rows[0]), self.rows)
        return table, save(self._figure(), target / "grid.png")

    def _figure(self) -> Any:
        figure, axes = new_figure("cells a side", "questions answered right, %")
        last = self.rows[-1]["map"]  # all of them together, where there are several
        for rule, (label, colour, style) in _RULES.items():
            rows = [row for row in self.rows if (row["map"], row["rule"]) == (last, rule)]
            grids = [row["grid"] for row in rows]
            axes.plot(grids, [100 * r["accuracy"] for r in rows], style, color=colour, label=label)
            low, high = ([100 * row[end] for row in rows] for end in ("low", "high"))
            axes.fill_between(grids, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.axhline(100 / self.points, color=GREY, linestyle=":", label="chance")
        axes.set_xticks(sorted({row["grid"] for row in self.rows}))
        axes.set_ylim(0, 103)
        return figure


def grid_accuracy(
    maps: Mapping[str, DepthMap],
    *,
    grids: Sequence[int] = (4, 8, 10, 16, 32),
    n: int = 1000,
    seed: int = 0,
    points: int = 5,
    gap: float = 0.02,
) -> ReaderByGrid:
    """The reader's accuracy on point questions against the grid, with no model in the way.

    The questions and the rules are those of `blink.ceiling.accuracy_by_grid`. The interval says how
    sure the accuracy is for questions on these very maps, not for other scenes.

    Args:
        maps: depth by name, each of its source's size.
        grids: numbers of cells a side, drawn in rising order.
        n: questions a map.
        seed: of the random points.
        points: how many points a question has.
        gap: by how much the nearest is before the second, as a share of the map's range.

    Raises:
        InputError: no maps, one that is named `all`, a grid finer than a map, or a map without so
            many questions.

    >>> import numpy as np
    >>> ramp = DepthMap(np.tile(np.linspace(0, 1, 64), (64, 1)))
    >>> found = grid_accuracy({"ramp": ramp}, grids=(4, 32), n=50)
    >>> coarse, fine = (row["accuracy"] for row in found.rows if row["rule"] == "middle")
    >>> coarse < fine
    True
    """
    if not isinstance(maps, Mapping) or not maps:
        raise InputError(f"maps: expected depth maps by name, got {describe(maps)}")
    if POOLED in maps:
        raise InputError(f"maps: expected names other than {POOLED!r}, got it")
    check_count(n, "n")
    sides = sorted({check_count(grid, "grids") for grid in grids})
    if not sides:
        raise InputError("grids: expected at least one number of cells a side, got none")
    right: dict[tuple[str, int, str], int] = {}
    for name, depth in maps.items():
        found = accuracy_by_grid(depth, sides, n=n, seed=seed, points=points, gap=gap)
        for side, one in zip(sides, found, strict=True):
            right[name, side, "middle"], right[name, side, "mean"] = one.middles, one.means
    rows = [_row(*key, n, count) for key, count in right.items()]
    if len(maps) > 1:
        for side in sides:
            for rule in _RULES:
                total = sum(right[name, side, rule] for name in maps)
                rows.append(_row(POOLED, side, rule, n * len(maps), total))
    return ReaderByGrid(rows, points)


def _row(name: str, side: int, rule: str, n: int, right: int) -> dict[str, Any]:
    interval = wilson(right, n)
    assert interval is not None  # n is at least 1
    return {
        "map": name,
        "grid": side,
        "rule": rule,
        "n": n,
        "right": right,
        "accuracy": right / n,
        "low": interval[0],
        "high": interval[1],
    }
