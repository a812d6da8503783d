"""What an object of a scene consists of: the objects inside it, or cells of depth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._plain import decimals
from ..errors import InputError
from ..geometry import Grid, cell_statistics, normalise
from ..program import Item, PerceptionProgram, Reading
from ._scene_objects import Objects

__all__ = ["cells_of", "tree_of"]


def tree_of(holders: Sequence[int | None], levels: int) -> dict[int | None, list[int]]:
    """Which objects are listed under which; under None, those of the program itself.

    Args:
        holders: for each object the one it is inside of, or None.
        levels: how many levels there may be; what is deeper is listed on the last one.

    >>> tree_of([None, 0, 1], 2)
    {None: [0], 0: [1, 2]}
    """
    tree: dict[int | None, list[int]] = {None: []}
    for n in range(len(holders)):
        chain = [holders[n]]
        while chain[-1] is not None:
            chain.append(holders[chain[-1]])
        outermost_first = chain[::-1]  # None, then what holds what
        under = outermost_first[min(len(chain), levels) - 1]
        tree.setdefault(under, []).append(n)
    return tree


def cells_of(
    field: npt.NDArray[Any], objects: Objects, n: int, grid: Grid
) -> PerceptionProgram | None:
    """The lowest and highest value of a map in each cell of an object's box, over the object's pixels.

    Returns:
        A `depth` program whose cells lie in the frame of the picture; None for a box with fewer pixels
        than cells.
    """
    window = objects.window(n, field.shape)
    part = field[window]
    there = objects.extents[n].within(field.shape, window)
    valid = np.isfinite(part) if there is None else np.isfinite(part) & there
    try:
        places = list(grid.boxes((part.shape[1], part.shape[0])))
    except InputError:
        return None
    statistics = cell_statistics(np.ascontiguousarray(part), grid, valid)
    lows, highs = (decimals(v.ravel().astype(np.float32)) for v in (statistics.min, statistics.max))
    readings: list[Reading] = [
        None if math.isnan(low) else (low, high) for low, high in zip(lows, highs, strict=True)
    ]
    centres = [_centre(place, window, field.shape, objects) for place in places]
    rows = enumerate(zip(centres, readings, strict=True), 1)
    items = tuple(Item(number, c, r) for number, (c, r) in rows)
    return PerceptionProgram("depth", "patch", items, grid=grid)


def _centre(
    place: tuple[int, int, int, int],
    window: tuple[slice, slice],
    shape: tuple[int, ...],
    objects: Objects,
) -> tuple[int, int]:
    """The middle pixel of a cell in the frame of the picture, which the map may not have the size of."""
    x = (place[0] + place[2] - 1) // 2 + window[1].start
    y = (place[1] + place[3] - 1) // 2 + window[0].start
    width, height = objects.size
    if (width, height) == (shape[1], shape[0]):
        return normalise(x, y, objects.size)
    return normalise((x + 0.5) * width / shape[1], (y + 0.5) * height / shape[0], objects.size)
