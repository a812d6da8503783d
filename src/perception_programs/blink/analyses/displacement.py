"""How far the points of correspondence programs move between their two pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._arrays import describe
from ...errors import InputError
from ...program import PerceptionProgram
from ._files import open_folder, write_csv
from ._moves import moves
from ._plot import BLUE, GREY, ORANGE, new_figure, save

__all__ = ["POOLED", "Displacement", "displacement"]

POOLED = "all"
"""The name of the row of all programs together."""

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_BELOW = (25, 50, 100, 200)
_BIN = 25
_EDGES = np.arange(0, 1425 + 1, _BIN)  # the frame's diagonal is 1414


@dataclass(frozen=True)
class Displacement:
    """The distribution of |r - c| in the 0-1000 frame: x in thousandths of the width, y of the height.

    Attributes:
        rows: one for each program and, last, one for all matches together, named `all`: `program`,
            `matches`, `mean`, the quantiles `q05` to `q95`, `max` and the shares `below_25` to
            `below_200`; None where a program has no matches.
        histogram: one row for each program (`all` too) and bin: `program`, `low`, `high` (which is
            not in it) and `matches`.
        distances: the distances themselves, by program.
    """

    rows: list[dict[str, Any]]
    histogram: list[dict[str, Any]]
    distances: Mapping[str, tuple[float, ...]]

    def summary(self) -> str:
        """The quantiles of each program and of all as text."""
        width = max(len(row["program"]) for row in self.rows)
        lines = ["Displacement |r - c|, in thousandths of the picture"]
        for row in self.rows:
            said = f"  {row['program']:<{width}}  {row['matches']:>6} matches"
            if row["matches"]:
                said += (
                    f": median {row['q50']:.0f}, 5-95 % {row['q05']:.0f}-{row['q95']:.0f}, "
                    f"{100 * row['below_50']:.0f} % below 50, {100 * row['below_100']:.0f} % below 100"
                )
            lines.append(said)
        return "\n".join(lines)

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write `displacement.csv` (the rows), `displacement.histogram.csv` and `displacement.png`.

        Raises:
            InputError: the folder's place is taken by a file.
            MissingExtraError: matplotlib is not installed; the data is written all the same.
        """
        target = open_folder(folder)
        columns = list(self.histogram[0])
        return (
            write_csv(target / "displacement.csv", list(self.rows[0]), self.rows),
            write_csv(target / "displacement.histogram.csv", columns, self.histogram),
            save(self._figure(), target / "displacement.png"),
        )

    def _figure(self) -> Any:
        figure, axes = new_figure("|r − c|, thousandths of the picture", "share of the matches, %")
        distances = np.concatenate([np.array(d, float) for d in self.distances.values()])
        if len(distances):
            weights = np.full(len(distances), 100 / len(distances))
            axes.hist(distances, _EDGES, weights=weights, color=BLUE, label=f"in a bin of {_BIN}")
            ranked = np.sort(distances)
            shares = np.arange(1, len(ranked) + 1) * 100 / len(ranked)
            axes.step(
                [0, *ranked],
                [0, *shares],
                where="post",
                color=ORANGE,
                label="up to this displacement",
            )
            axes.axvline(float(np.median(ranked)), color=GREY, linestyle="--", label="median")
            axes.set_xlim(0, max(_BIN, float(ranked[-1]) * 1.03))
        axes.set_ylim(0, 103)
        return figure


def displacement(programs: Mapping[str, PerceptionProgram]) -> Displacement:
    """How far matches move, by program and over all (paper, figure 10).

    What moves little can be matched by copying coordinates, whatever a model sees.

    Args:
        programs: correspondence programs by name; every match counts, surely matched or not.

    Raises:
        InputError: no programs, one of another modality, or one that is named `all`.

    >>> from perception_programs import Item
    >>> matches = (Item(1, (100, 100), (103, 104)), Item(2, (500, 500), (500, 600)))
    >>> program = PerceptionProgram("correspondence", "keypoint", matches)
    >>> [row["q50"] for row in displacement({"street": program}).rows]
    [52.5, 52.5]
    """
    if not isinstance(programs, Mapping) or not programs:
        raise InputError(f"programs: expected programs by name, got {describe(programs)}")
    if POOLED in programs:
        raise InputError(f"programs: expected names other than {POOLED!r}, got it")
    distances: dict[str, tuple[float, ...]] = {}
    for name, program in programs.items():
        try:
            distances[name] = tuple(move.distance for move in moves(program))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    pooled = tuple(value for values in distances.values() for value in values)
    tables = (*distances.items(), (POOLED, pooled))
    rows = [_row(name, values) for name, values in tables]
    histogram = [row for name, values in tables for row in _histogram(name, values)]
    return Displacement(rows, histogram, distances)


def _row(name: str, distances: Sequence[float]) -> dict[str, Any]:
    values: npt.NDArray[np.float64] = np.array(distances, np.float64)
    known = len(values) > 0
    quantiles = np.quantile(values, _QUANTILES).tolist() if known else [None] * len(_QUANTILES)
    return {
        "program": name,
        "matches": len(values),
        "mean": float(values.mean()) if known else None,
        **{f"q{100 * q:02.0f}": v for q, v in zip(_QUANTILES, quantiles, strict=True)},
        "max": float(values.max()) if known else None,
        **{f"below_{t}": float((values < t).mean()) if known else None for t in _BELOW},
    }


def _histogram(name: str, distances: Sequence[float]) -> list[dict[str, Any]]:
    counts = np.histogram(distances, _EDGES)[0].tolist()
    return [
        {"program": name, "low": low, "high": low + _BIN, "matches": count}
        for low, count in zip(_EDGES[:-1].tolist(), counts, strict=True)
    ]
