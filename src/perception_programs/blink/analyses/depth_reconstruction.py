"""How much of a scene's depth a model can tell by itself, when a program's ranges are withheld."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..._plain import check_count
from ...chat.messages import Picture
from ...chat.model import ChatModel
from ...errors import InputError, MissingExtraError, install_command
from ...geometry import Grid
from ...images import ImageLike, image_name
from ...program import Identifier, PerceptionProgram, Reading, numbers_in
from ...programs import depth_program
from ...results import DepthMap
from ._ask import Asked, Shown, ask_all, choose_examples, header, question, read_reply
from ._files import open_folder, write_csv, write_jsonl
from ._plot import BLUE, GREY, new_figure, save
from ._redact import redacted

__all__ = ["DepthReconstruction", "depth_reconstruction"]

_DIGITS = 12  # of a middle: the sums of equal decimals must be equal numbers


@dataclass(frozen=True)
class DepthReconstruction:
    """The order of nearness that a model gave to the cells of programs it saw without ranges.

    Attributes:
        rows: one for each image and grid: `image` (its number), `name`, `grid` (cells a side),
            `outcome`, `tau` and `baseline_tau` (Kendall's τ-b of the cells' mid-ranges against the
            truth; None where there is none), `cells` compared, what was `missing`, `extra` or
            `invalid` in the answer, and what it took.
        records: what the model wrote, one for each row.
        header: how all of it came about, as plain data.

    Outcomes: `scored`; `flat` where all ranges have one middle, so that they have no order; `no
    program`, `broken program` and `not as asked` where the answer cannot be scored; `error` where
    there is none.
    """

    rows: list[dict[str, Any]]
    records: list[dict[str, Any]]
    header: Mapping[str, Any]

    def by_grid(self) -> list[dict[str, Any]]:
        """One row for each grid: how many images of each outcome, and the mean τ.

        The baseline's mean is over the same images as the model's, those whose answers were scored.
        """
        return [self._of(grid) for grid in dict.fromkeys(row["grid"] for row in self.rows)]

    def _of(self, grid: int) -> dict[str, Any]:
        rows = [row for row in self.rows if row["grid"] == grid]
        counts = Counter(row["outcome"] for row in rows)
        scored = [row for row in rows if row["tau"] is not None]
        copied = [row["baseline_tau"] for row in scored if row["baseline_tau"] is not None]
        return {
            "grid": grid,
            "images": len(rows),
            "scored": counts["scored"],
            "flat": counts["flat"],
            "failed": len(rows) - counts["scored"] - counts["flat"] - counts["error"],
            "errors": counts["error"],
            "mean_tau": _mean([row["tau"] for row in scored]),
            "baseline_mean_tau": _mean(copied),
        }

    def summary(self) -> str:
        """The rows of `by_grid` as a few lines of text."""
        lines = [
            f"Depth reconstruction, {self.header['model']['name']}: Kendall's tau-b of the cells' "
            f"order; baseline: the mean of the {self.header['shots']} examples"
        ]
        for row in self.by_grid():
            grid = f"{row['grid']}x{row['grid']}"
            lines.append(
                f"  {grid:>7}: tau {_shown(row['mean_tau'])}, baseline "
                f"{_shown(row['baseline_mean_tau'])}; {row['images']} images: {row['scored']} scored, "
                f"{row['flat']} flat, {row['failed']} failed, {row['errors']} errors"
            )
        return "\n".join(lines)

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write `depth.csv` (the rows), `depth.png` and `depth.jsonl` (a header, then the records).

        Raises:
            InputError: the folder's place is taken by a file.
            MissingExtraError: matplotlib is not installed; the data is written all the same.
        """
        target = open_folder(folder)
        table = write_csv(target / "depth.csv", list(self.rows[0]), self.rows)
        said = write_jsonl(target / "depth.jsonl", [{"header": self.header}, *self.records])
        return table, said, save(self._figure(), target / "depth.png")

    def _figure(self) -> Any:
        figure, axes = new_figure(
            "cells a side", "Kendall's τ-b against the truth", title=self.header["model"]["name"]
        )
        scored = [row for row in self.rows if row["tau"] is not None]
        axes.scatter(
            [row["grid"] for row in scored],
            [row["tau"] for row in scored],
            s=14,
            color=BLUE,
            alpha=0.35,
            linewidths=0,
            label="one image",
        )
        means = [row for row in self.by_grid() if row["mean_tau"] is not None]
        grids = [row["grid"] for row in means]
        axes.plot(grids, [row["mean_tau"] for row in means], "o-", color=BLUE, label="mean")
        axes.plot(
            grids,
            [math.nan if (m := row["baseline_mean_tau"]) is None else m for row in means],
            "s--",
            color=GREY,
            label="baseline: mean of the examples",
        )
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set_xticks(sorted({row["grid"] for row in self.rows}))
        axes.set_ylim(min([-0.1, *(row["tau"] - 0.05 for row in scored)]), 1.03)
        return figure


async def depth_reconstruction(
    model: ChatModel,
    images: Sequence[tuple[ImageLike, DepthMap]],
    *,
    grids: Sequence[int] = (4, 8, 10, 16),
    shots: int = 5,
    seed: int = 0,
    concurrency: int = 4,
) -> DepthReconstruction:
    """Have a model fill in the ranges of depth programs (paper, figures 2 and 5).

    Each image in turn is the query, shown with its program without ranges after `shots` other images
    with theirs. The model is scored by the order that its mid-ranges give to the cells: Kendall's τ-b
    against the program's own. Beside it stands what the examples alone give: the mean of their
    mid-ranges, cell by cell, as the answer.

    Args:
        model: who answers; it stays open.
        images: pictures with their depth, more than `shots`.
        grids: numbers of cells a side; each image is asked about at each, with the same examples.
        shots: how many examples.
        seed: of the choice of examples.
        concurrency: how many questions are in flight at once.

    Raises:
        InputError: too few images, a grid that does not fit a map, or a map whose cells have no order.
        MissingExtraError: SciPy is not installed.
    """
    _kendall()
    programs = {grid: _programs(images, grid) for grid in _check_grids(grids)}
    examples = choose_examples(len(images), shots, seed)
    cases = [(grid, n) for grid in programs for n in range(len(images))]
    pictures = [(Picture(image, image_name(image)),) for image, _ in images]
    texts = {grid: [str(program) for program in made] for grid, made in programs.items()}
    hidden = {(grid, n): redacted(programs[grid][n]) for grid, n in cases}
    questions = [
        question(
            "depth",
            "Picture",
            [Shown(pictures[k], texts[grid][k]) for k in examples[n]],
            Shown(pictures[n], str(hidden[grid, n])),
        )
        for grid, n in cases
    ]
    replies = await ask_all(model, questions, concurrency=concurrency)
    rows, records = [], []
    for (grid, n), reply in zip(cases, replies, strict=True):
        labels = {"image": n + 1, "name": image_name(images[n][0]), "grid": grid}
        asked = read_reply(labels, examples[n], reply, hidden[grid, n], _is_range)
        shown = [programs[grid][k] for k in examples[n]]
        rows.append(_scored(asked, programs[grid][n], shown))
        records.append(asked.record())
    return DepthReconstruction(
        rows, records, header("depth", model, shots=shots, seed=seed, grids=list(programs))
    )


def _check_grids(grids: Sequence[int]) -> list[int]:
    sides = [check_count(grid, "grids") for grid in grids]
    if not sides or len(set(sides)) < len(sides):
        raise InputError(f"grids: expected different numbers of cells a side, got {list(grids)!r}")
    return sides


def _programs(images: Sequence[tuple[ImageLike, DepthMap]], grid: int) -> list[PerceptionProgram]:
    """Each image's program, at the precision of text: what it prints is the truth."""
    programs = []
    for n, (_, depth) in enumerate(images, 1):
        if not isinstance(depth, DepthMap):
            raise InputError(f"images: expected a DepthMap with each, got {depth!r} with image {n}")
        program = depth_program(depth, grid=Grid(grid, grid), relations=False).rounded()
        if len(set(_middles(program).values())) < 2:
            raise InputError(
                f"images: expected depth that differs between cells, got one and the same in all of "
                f"image {n} at {grid}×{grid}"
            )
        programs.append(program)
    return programs


def _middles(program: PerceptionProgram) -> dict[Identifier, float]:
    """The middle of each cell's range, of those that have one."""
    return {
        item.p: _middle(item.r)
        for item in program.items
        if item.p is not None and isinstance(item.r, tuple)
    }


def _middle(reading: Reading) -> float:
    return round(math.fsum(numbers_in(reading)) / 2, _DIGITS)


def _is_range(reading: Reading) -> bool:
    ends = numbers_in(reading)
    return len(ends) == 2 and 0 <= ends[0] <= ends[1] <= 1


def _scored(
    asked: Asked, truth: PerceptionProgram, examples: Sequence[PerceptionProgram]
) -> dict[str, Any]:
    """The row of a question."""
    true = _middles(truth)
    given: dict[Identifier, float] = {}
    if asked.filled.outcome == "scored":
        given = {p: _middle(reading) for p, reading in asked.filled.readings.items()}
    tau = _tau(given, true)
    if given and tau is None:
        asked = replace(asked, filled=replace(asked.filled, outcome="flat"))
    scores = {"tau": tau, "baseline_tau": _tau(_mean_of(examples), true), "cells": len(true)}
    row = asked.row()
    return {key: row.pop(key) for key in ("image", "name", "grid", "outcome")} | scores | row


def _mean_of(programs: Sequence[PerceptionProgram]) -> dict[Identifier, float]:
    """The mean of the programs' middles in each cell that any of them reads."""
    read: dict[Identifier, list[float]] = {}
    for program in programs:
        for p, middle in _middles(program).items():
            read.setdefault(p, []).append(middle)
    return {p: round(math.fsum(v) / len(v), _DIGITS) for p, v in read.items()}


def _tau(given: Mapping[Identifier, float], true: Mapping[Identifier, float]) -> float | None:
    """Kendall's τ-b over the cells that both have; None where either side has no order there."""
    cells = [p for p in true if p in given]
    pairs = [given[p] for p in cells], [true[p] for p in cells]
    if any(len(set(values)) < 2 for values in pairs):
        return None
    return float(_kendall()(*pairs, variant="b").statistic)


def _kendall() -> Any:
    try:
        from scipy.stats import kendalltau
    except ModuleNotFoundError:
        raise MissingExtraError(f"Kendall's τ needs SciPy: {install_command('eval')}") from None
    return kendalltau


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:+.3f}"
