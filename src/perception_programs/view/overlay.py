"""Which drawing a program gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from PIL import Image

from ..images import ImageLike
from ..program import PerceptionProgram
from ._canvas import LONGEST, Pictures
from ._cells import asked_points
from ._grids import (
    draw_albedo,
    draw_depth,
    draw_flow,
    draw_grid,
    draw_segmentation,
    draw_similarity,
)
from ._motions import draw_motion, vector_of
from ._pairs import draw_jigsaw, draw_matches, draw_semantic
from ._places import draw_places
from ._scenes import draw_scene

__all__ = ["draw", "overlay"]

Drawer: TypeAlias = Callable[[PerceptionProgram, Pictures, int], Image.Image]

_GRIDS: dict[str, Drawer] = {
    "albedo": draw_albedo,
    "depth": draw_depth,
    "flow": draw_flow,
    "segmentation": draw_segmentation,
    "similarity": draw_similarity,
}
_OTHERS: dict[str, Drawer] = {
    "correspondence": draw_matches,
    "jigsaw": draw_jigsaw,
    "semantic": draw_semantic,
}


def overlay(
    program: PerceptionProgram, image: ImageLike = None, second: ImageLike = None
) -> Image.Image:
    """A program drawn on its picture or pictures.

    A picture whose short side is below 480 pixels is enlarged to that (with a fine grid to 40 pixels
    a cell, but 1200 at most), and one whose long side is above 2000 reduced to that, so that the
    lettering can be read. It lies at the upper left of the result; further pictures lie beside it at
    the same height, 2000 pixels together, and legends and captions beneath. Relations are not drawn.

    Args:
        program: any program. A modality that is not known is drawn by what its items hold: cells of a
            grid, boxes or points.
        image: the picture; the program's first one when not given.
        second: the other picture of a correspondence or semantic program, the first candidate of a
            jigsaw, the first target of a similarity; the program's second one when not given.

    Returns:
        A new RGB image.

    Raises:
        InputError: a picture that is needed is neither given nor known, or cannot be read.
    """
    return draw(program, image, second, LONGEST)


def draw(
    program: PerceptionProgram, image: ImageLike, second: ImageLike, longest: int
) -> Image.Image:
    """As `overlay`, with the pictures no longer than `longest` pixels."""
    known = list(program.images)
    given = [
        known[n] if picture is None and n < len(known) else picture
        for n, picture in enumerate((image, second))
    ]
    pictures = Pictures(program.modality, [*given, *known[2:]], _sizes(program))
    return _drawer(program)(program, pictures, longest)


def _sizes(program: PerceptionProgram) -> list[Any]:
    """The sizes of the pictures that a program says it is about, in order, where it says so."""
    meta = program.meta
    if program.modality == "point-detection" and isinstance(meta.get("sizes"), tuple):
        return list(meta["sizes"])
    return [meta.get("size", meta.get("size1")), meta.get("size2")]


def _drawer(program: PerceptionProgram) -> Drawer:
    if program.modality in _OTHERS:
        return _OTHERS[program.modality]
    if program.modality == "scene":
        return draw_scene
    moving = program.modality == "flow" and any(vector_of(item.r) for item in program.items)
    if moving and asked_points(program):
        return draw_motion
    if program.grid is not None:
        return _GRIDS.get(program.modality, draw_grid)
    return draw_places
