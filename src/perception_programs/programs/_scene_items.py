"""The items of a scene: objects with what was read of them and their parts, and the note on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..program import Item, PerceptionProgram, Reading, Relation
from ._cells import FRAME_NOTE
from ._scene_objects import EXTENTS, Objects
from ._scene_relations import BACKGROUND, relation_notes

__all__ = ["Composition", "Measured"]


@dataclass(frozen=True)
class Measured:
    """What the maps say of the objects.

    Attributes:
        names: of the readings, in order: what a note calls them.
        readings: N × their number, NaN where one could not be read.
        ground: the same of what lies in no box; None without flow.
        near: N, nearness; None without depth.
        map: of nearness or metres, which cells are read from; None without depth.
    """

    names: tuple[str, ...]
    readings: npt.NDArray[np.float32]
    ground: npt.NDArray[np.float32] | None
    near: npt.NDArray[np.float64] | None
    map: npt.NDArray[np.float32] | None


@dataclass(frozen=True)
class Composition:
    """The items of a scene with their parts, and the note on them.

    Attributes:
        objects, measured: what is listed, and what was read of it.
        corners: N×4, their boxes in the frame.
        tree: which are listed under which.
        related: the relations among those under each, and how many of them were cut.
        cells: of depth, in objects without other parts; None for a box with fewer pixels than cells.
    """

    objects: Objects
    measured: Measured
    corners: npt.NDArray[np.int64]
    tree: Mapping[int | None, Sequence[int]]
    related: Mapping[int | None, tuple[tuple[Relation, ...], int]]
    cells: Mapping[int, PerceptionProgram | None]

    def items(self) -> tuple[Item, ...]:
        items = self._listed(None)
        if self.measured.ground is None:
            return items
        return (*items, Item(BACKGROUND, r=_plain(self.measured.ground)))

    def _listed(self, under: int | None) -> tuple[Item, ...]:
        scores = self.objects.scores
        return tuple(
            Item(
                p=n + 1,
                c=tuple(self.corners[n].tolist()),
                r=_plain(self.measured.readings[n]),
                b=self.objects.labels[n],
                q=None if scores is None else scores[n],
                parts=self._parts(n),
            )
            for n in self.tree[under]
        )

    def _parts(self, n: int) -> PerceptionProgram | None:
        if n in self.tree:
            return PerceptionProgram("scene", "object", self._listed(n), self.related[n][0])
        return self.cells.get(n)

    def note(self, tau: float, threshold: float | None) -> str:
        if not len(self.objects):
            return " ".join([self._none_found(threshold), *self._ground_note()])
        metres = "metres" in self.measured.names
        said = [
            f"Each item is an object. p: its number. c: [x0, y0, x1, y1] of its box; {FRAME_NOTE}.",
            self._reading_note(),
            "b: what it is.",
        ]
        if self.objects.scores is not None:
            said.append("q: confidence that it is, from 0 to 1.")
        said += self._ground_note()
        if len(self.tree) > 1:
            said.append("parts: the objects inside it.")
        said += self._cells_note("metres" if metres else "nearness")
        predicates = {relation.predicate for rows, _ in self.related.values() for relation in rows}
        said += relation_notes(predicates, tau, metres=metres)
        return " ".join(said)

    @staticmethod
    def _none_found(threshold: float | None) -> str:
        above = "" if threshold is None else f" with a confidence of at least {threshold:.4g}"
        return f"No object was found{above}: none found."

    def _ground_note(self) -> list[str]:
        if self.measured.ground is None:
            return []
        said = [f"{BACKGROUND}: what lies in no box."]
        return said if len(self.objects) else [*said, self._reading_note()]

    def _cells_note(self, what: str) -> list[str]:
        grid = next((cells.grid for cells in self.cells.values() if cells is not None), None)
        if grid is None:
            return []
        some = " (none in boxes of fewer pixels than that)" if None in self.cells.values() else ""
        return [
            f"parts of modality depth: {grid.rows} × {grid.cols} cells over its box, row by row{some}; c: "
            f"[x, y] of a cell's centre, r: [lowest, highest] {what} of the object in it."
        ]

    def _reading_note(self) -> str:
        names = self.measured.names
        if not names:
            return "r: null, since neither depth nor flow was read."
        meanings = {
            "nearness": "nearness from 0 (farthest in this image) to 1 (nearest to the camera)",
            "metres": "distance from the camera in metres",
            "u": "u and v, its motion to the next image in pixels, to the right and down",
        }
        said = "; ".join(meanings[name] for name in names if name in meanings)
        used = {extent.how for extent in self.objects.extents}
        pixels = ", else ".join(words for how, words in EXTENTS.items() if how in used)
        medians = "medians" if len(names) > 1 else "the median"
        over = f" {pixels}" if pixels else ""
        null = " null: could not be read." if _missing(self.measured) else ""
        return f"r: [{', '.join(names)}]: {said}; {medians}{over}.{null}"


def _missing(measured: Measured) -> bool:
    ground = measured.ground
    return bool(
        np.isnan(measured.readings).any() or (ground is not None and np.isnan(ground).any())
    )


def _plain(readings: npt.NDArray[np.float32]) -> Reading:
    """Readings as the numbers that a program holds; None where there is nothing to read."""
    return tuple(None if np.isnan(v) else v for v in readings) if len(readings) else None
