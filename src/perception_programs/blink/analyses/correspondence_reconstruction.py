"""Where a model says that points of one picture are in another, when a program's readings are withheld."""

from __future__ import annotations

import math
import os
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...chat.messages import Picture
from ...chat.model import ChatModel
from ...errors import InputError
from ...geometry import FRAME
from ...images import ImageLike, image_name
from ...program import PerceptionProgram, Reading, numbers_in
from ._ask import Asked, Shown, ask_all, choose_examples, header, question, read_reply
from ._files import open_folder, write_csv, write_jsonl
from ._moves import Move, moves
from ._plot import BLUE, GREY, new_figure, save
from ._redact import redacted

__all__ = ["CorrespondenceReconstruction", "correspondence_reconstruction"]

_COLUMNS = (
    "pair",
    "p",
    "c_x",
    "c_y",
    "r_x",
    "r_y",
    "answer_x",
    "answer_y",
    "displacement",
    "error",
    "copied",
)


@dataclass(frozen=True)
class CorrespondenceReconstruction:
    """Where a model put the points of programs that it saw without readings.

    Attributes:
        rows: one for each match of the pairs whose answers were scored: `pair` (its number), `p`,
            the point c, the true r, the `answer`, the `displacement` |r - c|, the `error`
            |answer - r|, and whether the answer was `copied` from c. Distances are in the 0-1000
            frame: x in thousandths of the width, y of the height.
        pairs: one row for each pair: its number, names, `outcome` (`scored`; `no program`, `broken
            program` and `not as asked` where the answer cannot be scored; `error` where there is
            none), `matches`, what was `missing`, `extra` or `invalid`, and what it took.
        records: what the model wrote, one for each pair.
        header: how all of it came about, as plain data.
    """

    rows: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    records: list[dict[str, Any]]
    header: Mapping[str, Any]

    def totals(self) -> dict[str, Any]:
        """Numbers over all pairs.

        Returns:
            How many `pairs`, and of them `scored`, `failed` and `errors`. Over the matches of the
            scored ones, None where there are none: the `median_error`; the `median_displacement`,
            which is the error of whoever copies c; and of those that `moved` (elsewhere the copy is
            right) the share that are nearer to the truth than the copy and the share `copied`.
        """
        counts = Counter(row["outcome"] for row in self.pairs)
        moved = [row for row in self.rows if row["displacement"] > 0]
        return {
            "pairs": len(self.pairs),
            "scored": counts["scored"],
            "failed": len(self.pairs) - counts["scored"] - counts["error"],
            "errors": counts["error"],
            "matches": len(self.rows),
            "moved": len(moved),
            "median_error": _median([row["error"] for row in self.rows]),
            "median_displacement": _median([row["displacement"] for row in self.rows]),
            "nearer_than_copy": _share([row["error"] < row["displacement"] for row in moved]),
            "copied": _share([row["copied"] for row in moved]),
        }

    def summary(self) -> str:
        """`totals` as a few lines of text."""
        t = self.totals()
        lines = [
            f"Correspondence reconstruction, {self.header['model']['name']}: {t['pairs']} pairs: "
            f"{t['scored']} scored, {t['failed']} failed, {t['errors']} errors"
        ]
        if self.rows:
            lines.append(
                f"  {t['matches']} matches: median error {t['median_error']:.1f} of 1000; copying c "
                f"would give {t['median_displacement']:.1f}"
            )
        if t["moved"]:
            lines.append(
                f"  of {t['moved']} that moved: {100 * t['copied']:.1f} % are copies of c, "
                f"{100 * t['nearer_than_copy']:.1f} % nearer to the truth than a copy"
            )
        return "\n".join(lines)

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write `correspondence.csv` (the rows), `correspondence.pairs.csv`, `correspondence.png` and
        `correspondence.jsonl` (a header, then the records).

        Raises:
            InputError: the folder's place is taken by a file.
            MissingExtraError: matplotlib is not installed; the data is written all the same.
        """
        target = open_folder(folder)
        return (
            write_csv(target / "correspondence.csv", _COLUMNS, self.rows),
            write_csv(target / "correspondence.pairs.csv", list(self.pairs[0]), self.pairs),
            write_jsonl(target / "correspondence.jsonl", [{"header": self.header}, *self.records]),
            save(self._figure(), target / "correspondence.png"),
        )

    def _figure(self) -> Any:
        figure, axes = new_figure(
            "displacement |r − c|, thousandths of the picture",
            "error of the answer, thousandths",
            title=self.header["model"]["name"],
        )
        displacements = [row["displacement"] for row in self.rows]
        errors = [row["error"] for row in self.rows]
        top = max([*displacements, *errors, 1.0])
        axes.scatter(
            displacements, errors, s=10, color=BLUE, alpha=0.4, linewidths=0, label="one match"
        )
        axes.plot([0, top], [0, top], "--", color=GREY, label="copying c")
        axes.set(xlim=(0, 1.03 * max([*displacements, 1.0])), ylim=(-0.02 * top, 1.03 * top))
        return figure


async def correspondence_reconstruction(
    model: ChatModel,
    pairs: Sequence[tuple[ImageLike, ImageLike, PerceptionProgram]],
    *,
    shots: int = 5,
    seed: int = 0,
    concurrency: int = 4,
) -> CorrespondenceReconstruction:
    """Have a model fill in the readings of correspondence programs (paper, figure 6).

    Each pair in turn is the query, shown with its program without readings after `shots` other pairs
    with theirs. An answer that copies every c has the displacement as its error, the diagonal of the
    plot.

    Args:
        model: who answers; it stays open.
        pairs: the first picture, the second and their correspondence program; more than `shots`.
            `correspondence_program(..., limit=)` keeps the programs short.
        shots: how many examples.
        seed: of the choice of examples.
        concurrency: how many questions are in flight at once.

    Raises:
        InputError: too few pairs, a program of another modality or without matches.
    """
    truth = [_true_moves(program, n) for n, (_, _, program) in enumerate(pairs, 1)]
    examples = choose_examples(len(pairs), shots, seed)
    pictures = [
        tuple(Picture(image, image_name(image)) for image in (first, second))
        for first, second, _ in pairs
    ]
    texts = [str(program) for _, _, program in pairs]
    hidden = [redacted(program) for _, _, program in pairs]
    questions = [
        question(
            "correspondence",
            "Pair",
            [Shown(pictures[k], texts[k]) for k in others],
            Shown(pictures[n], str(hidden[n])),
        )
        for n, others in enumerate(examples)
    ]
    replies = await ask_all(model, questions, concurrency=concurrency)
    rows, outcomes, records = [], [], []
    for n, reply in enumerate(replies):
        labels = {"pair": n + 1} | {
            key: picture.name for key, picture in zip(("first", "second"), pictures[n], strict=True)
        }
        asked = read_reply(labels, examples[n], reply, hidden[n], _is_point)
        outcomes.append(asked.row() | {"matches": len(truth[n])})
        records.append(asked.record())
        rows += _scored(asked, truth[n])
    return CorrespondenceReconstruction(
        rows, outcomes, records, header("correspondence", model, shots=shots, seed=seed)
    )


def _true_moves(program: PerceptionProgram, number: int) -> list[Move]:
    try:
        found = moves(program)
    except InputError as error:
        raise InputError(f"pair {number}: {error}") from None
    if not found:
        raise InputError(f"pair {number}: expected at least one match, got none")
    return found


def _is_point(reading: Reading) -> bool:
    place = numbers_in(reading)
    return len(place) == 2 and all(0 <= number <= FRAME for number in place)


def _scored(asked: Asked, truth: Sequence[Move]) -> list[dict[str, Any]]:
    """A row for each match, if the whole answer was scored."""
    if asked.filled.outcome != "scored":
        return []
    rows = []
    for move in truth:
        answer = numbers_in(asked.filled.readings[move.p])
        values = (
            asked.labels["pair"],
            move.p,
            *move.start,
            *move.end,
            *answer,
            move.distance,
            math.dist(answer, move.end),
            answer == move.start,
        )
        rows.append(dict(zip(_COLUMNS, values, strict=True)))
    return rows


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _share(truths: Sequence[bool]) -> float | None:
    return sum(truths) / len(truths) if truths else None
