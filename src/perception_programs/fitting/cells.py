"""Cells put together: coarser grids and quarters that become one cell again."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import Any

from ..geometry import Grid, to_size
from ..program import Item, PerceptionProgram, Reading, numbers_in
from .forms import Forms, aligned_meta, with_sentence

__all__ = ["asked_items", "coarser_grids", "merged_quarters", "without_cells"]

_QUARTER = re.compile(r"\d+(?:\.[1-4])+")

_HOW = {
    "flow": "r is the mean of theirs, still as 0, or how many read what",
    "segmentation": "b is what covers most of them, r at least its share",
    "similarity": "r is the mean of theirs",
}
_SPAN = "r spans theirs"
_MIDDLES = ", with the median of their middles"
_MIDDLE = "r is the median of theirs"


def asked_items(program: PerceptionProgram) -> list[Item]:
    """The items of places that were asked about, beside the cells or matches."""
    return [item for item in program.items if isinstance(item.p, str) and not _is_quarter(item)]


def without_cells(program: PerceptionProgram) -> PerceptionProgram | None:
    """The program of the asked places alone; None if it has no cells, or none were asked about."""
    asked = asked_items(program)
    if program.grid is None or not asked or len(asked) == len(program):
        return None
    known = {item.p for item in asked}
    left = replace(
        program,
        granularity="point",
        items=tuple(asked),
        relations=tuple(r for r in program.relations if {r.subject, r.object} <= known),
        grid=None,
        meta=aligned_meta(program),
    )
    return with_sentence(left, "The cells are left out.")


def coarser_grids(program: PerceptionProgram) -> Forms | None:
    """Fewer, larger cells, each made of whole finer ones; None where items are not those of a grid."""
    tables = _tables(program)
    if program.grid is None or not tables:
        return None
    rows, cols = program.grid.rows, program.grid.cols
    steps = [
        (down, across)
        for down in range(1, rows + 1)
        for across in range(1, cols + 1)
        if rows % down == cols % across == 0 and (down, across) != (1, 1)
    ]
    # Of as many cells, those nearest to the shape of the finer ones.
    steps.sort(key=lambda step: (step[0] * step[1], max(step) / min(step)))
    sizes = {down * across: (down, across) for down, across in reversed(steps)}
    steps = [sizes[size] for size in sorted(sizes)]

    def make(number: int) -> tuple[PerceptionProgram, str]:
        down, across = steps[number]
        coarse = Grid(rows // down, cols // across)
        said = f"grid: {rows}x{cols} to {coarse.rows}x{coarse.cols} cells"
        return _coarser(program, tables, coarse), said

    return Forms(make, len(steps))


def merged_quarters(program: PerceptionProgram) -> Forms | None:
    """Four quarters at a time become the cell they were, those that differ least first; None where no
    cell of the grid is split.
    """
    if program.grid is None or not any(map(_is_quarter, program.items)):
        return None
    order: list[dict[str, Item]] = [{str(item.p): item for item in program.items}]
    while (parent := _least_different(order[-1])) is not None:
        order.append(_with_whole(order[-1], parent, program.modality))

    def make(number: int) -> tuple[PerceptionProgram, str]:
        items = tuple(order[number + 1].values())
        left = _of_cells(program, items, program.grid)
        said = f"Some cells join their quarters: {_how(program)}."
        return with_sentence(left, said), f"cells: {len(program)} to {len(items)}"

    return Forms(make, len(order) - 1)


def _is_quarter(item: Item) -> bool:
    return isinstance(item.p, str) and _QUARTER.fullmatch(item.p) is not None


def _tables(program: PerceptionProgram) -> dict[str | None, list[Item]]:
    """The cells in order, by the target that they are about; empty unless every cell is there."""
    cells: dict[str | None, list[Item]] = defaultdict(list)
    for item in program.items:
        if isinstance(item.p, int):
            cells[item.c if isinstance(item.c, str) else None].append(item)
        elif _is_quarter(item):
            return {}
    count = program.grid.count if program.grid else 0
    whole = all([i.p for i in items] == list(range(1, count + 1)) for items in cells.values())
    return dict(cells) if whole else {}


def _coarser(
    program: PerceptionProgram, tables: Mapping[str | None, Sequence[Item]], coarse: Grid
) -> PerceptionProgram:
    assert program.grid is not None
    down, across = program.grid.rows // coarse.rows, program.grid.cols // coarse.cols
    items: list[Item] = []
    for target, cells in tables.items():
        for number in range(coarse.count):
            row, col = divmod(number, coarse.cols)
            group = [
                cells[y * program.grid.cols + x]
                for y in range(row * down, (row + 1) * down)
                for x in range(col * across, (col + 1) * across)
            ]
            place = target if target is not None else _middle(program, coarse, number, group)
            items.append(_one(number + 1, place, group, program.modality))
    said = f"Each cell joins {down}x{across} finer ones: {_how(program)}."
    left = _of_cells(program, (*items, *asked_items(program)), coarse)
    return with_sentence(left, said)


def _of_cells(
    program: PerceptionProgram, items: tuple[Item, ...], grid: Grid | None
) -> PerceptionProgram:
    """The program with other cells. Relations among those that are gone or changed are gone too."""
    asked = {item.p for item in asked_items(program)}
    relations = tuple(r for r in program.relations if {r.subject, r.object} <= asked)
    return replace(program, items=items, relations=relations, grid=grid, meta=aligned_meta(program))


def _middle(
    program: PerceptionProgram, coarse: Grid, number: int, group: Sequence[Item]
) -> tuple[int, ...] | None:
    """The centre of a coarse cell, as a program of that grid has it where the image's size is known."""
    size = program.meta.get("size")
    if isinstance(size, tuple) and len(size) == 2 and program.grid is not None:
        size = to_size(size)
        if program.grid.cols <= size[0] and program.grid.rows <= size[1]:
            return coarse.centres(size)[number]
    ends = [item.c for item in (group[0], group[-1]) if isinstance(item.c, tuple)]
    if len(ends) < 2 or len(ends[0]) != 2:
        return None
    return tuple((a + b) // 2 for a, b in zip(*ends, strict=True))


def _one(p: int | str, c: Any, group: Sequence[Item], modality: str) -> Item:
    """One item of several cells."""
    if modality == "segmentation":
        return Item(p, c, *_most_covering(group))
    label = Counter(item.b for item in group).most_common(1)[0][0]
    reading = _merged([item.r for item in group], modality)
    return Item(p, c, reading, label, q=_least_reliable([item.q for item in group]))


def _how(program: PerceptionProgram) -> str:
    """What the reading of joined cells is, and their label."""
    most = max(len(item.r) if isinstance(item.r, tuple) else 1 for item in program.items)
    span = _MIDDLE if most == 1 else _SPAN if most == 2 else _SPAN + _MIDDLES
    how = _HOW.get(program.modality, span)
    named = program.modality != "segmentation" and any(item.b is not None for item in program.items)
    return how + ("; b is the label of most" if named else "")


def _merged(readings: Sequence[Reading], modality: str) -> Reading:
    """One reading of several, by what can be said exactly from them alone."""
    known = [reading for reading in readings if reading is not None]
    if not known:
        return None
    if modality == "flow":
        return _merged_motion(known)
    if any(isinstance(reading, str) for reading in known):
        return _counted(known)
    if modality == "similarity":
        return fmean(number for reading in known for number in numbers_in(reading))
    if all(not isinstance(reading, tuple) for reading in known):
        return float(median(number for reading in known for number in numbers_in(reading)))
    low, *middle, high = zip(*(r if isinstance(r, tuple) else (r, r) for r in known), strict=True)
    return (
        min(numbers_in(low), default=None),
        *(median(numbers_in(column)) if numbers_in(column) else None for column in middle),
        max(numbers_in(high), default=None),
    )


def _merged_motion(known: Sequence[Reading]) -> Reading:
    vectors = [numbers_in(reading) for reading in known if isinstance(reading, tuple)]
    if not vectors:
        return _counted(known)
    length = len(vectors[0])
    still = [(0.0,) * length for reading in known if isinstance(reading, str)]
    return tuple(fmean(column) for column in zip(*vectors, *still, strict=True))


def _counted(words: Sequence[Reading]) -> str:
    """The word that all say, or how many say which.

    >>> _counted(["left", "right", "left"]), _counted(["left", "left"])
    ('2 left, 1 right', 'left')
    """
    counts = Counter(str(word) for word in words).most_common()
    if len(counts) == 1:
        return counts[0][0]
    return ", ".join(f"{count} {word}" for word, count in counts)


def _most_covering(group: Sequence[Item]) -> tuple[float, str | None]:
    """The share and name of what covers most of some cells, as far as their own shares tell."""
    shares: dict[str | None, float] = defaultdict(float)
    for item in group:
        shares[item.b] += sum(numbers_in(item.r)) / len(group)
    label = max(shares, key=lambda name: shares[name])
    return shares[label], label


def _least_reliable(said: Sequence[float | str | None]) -> float | str | None:
    numbers = [q for q in said if isinstance(q, float | int)]
    words = {q for q in said if isinstance(q, str)}
    if numbers:
        return min(numbers)
    return next((word for word in ("doubtful", "fair", "sure") if word in words), None)


def _least_different(cells: Mapping[str, Item]) -> str | None:
    """The split cell whose four quarters are whole and differ least; None where none is split."""
    families: dict[str, list[Item]] = defaultdict(list)
    for name, item in cells.items():
        if _is_quarter(item):
            families[name.rpartition(".")[0]].append(item)
    spans = {}
    for parent, quarters in families.items():
        if len(quarters) == 4:
            numbers = [n for item in quarters for n in numbers_in(item.r)]
            spans[parent] = max(numbers, default=0.0) - min(numbers, default=0.0)
    return min(spans, key=lambda parent: spans[parent], default=None)


def _with_whole(cells: Mapping[str, Item], parent: str, modality: str) -> dict[str, Item]:
    """The cells with four quarters replaced, where the first of them stood, by the whole."""
    group = [cells[f"{parent}.{n}"] for n in (1, 2, 3, 4)]
    corners = [item.c for item in group if isinstance(item.c, tuple)]
    box = (*corners[0][:2], *corners[-1][2:]) if len(corners) == 4 else None
    whole = _one(int(parent) if parent.isdecimal() else parent, box, group, modality)
    made: dict[str, Item] = {}
    for name, item in cells.items():
        if name == f"{parent}.1":
            made[parent] = whole
        elif name.rpartition(".")[0] != parent:
            made[name] = item
    return made
