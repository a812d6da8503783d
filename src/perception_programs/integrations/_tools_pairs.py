"""The tools that compare pictures; as in `_tools`, a model is told what signatures and docstrings say."""

from __future__ import annotations

from typing import Literal

from .. import programs as make
from ..images import RGB
from ..program import PerceptionProgram
from ..results import Matches, PointScores
from ._inputs import Inputs, Picture, ResultFile, few, grid_of, pixel, pixels
from ._limits import RefusedError

__all__ = ["correspondence", "flow", "jigsaw", "semantic", "similarity"]


def flow(
    inputs: Inputs,
    first: Picture | None = None,
    second: Picture | None = None,
    flow_field: ResultFile | None = None,
    points: dict[str, list[float]] | None = None,
    grid: list[int] | None = None,
    reading: Literal["direction", "mean"] = "direction",
    check: bool = False,
    expert: str | None = None,
) -> PerceptionProgram:
    """Which way each part of an image moves from one frame to the next.

    Use it to tell how the camera or the objects move. Where everything moves right, the camera turned
    or moved left.

    Args:
        inputs: where files and pictures come from.
        first: the first frame.
        second: the second frame, of the same size.
        flow_field: motion that was measured before, in place of both frames: a .flo, .npy, .npz or
            16-bit .png file.
        points: places in the first frame to be followed, as {"A": [x, y]}, each from 0 to 1000.
        grid: [rows, cols] of the cells. Without it there are 10 by 10, or none where points are given.
        reading: what a cell says: its direction (left or right), or its mean [u, v, magnitude] in pixels.
        check: whether to say 'no reliable motion' where the reverse direction does not confirm it.
        expert: the name of the flow model; the best that is installed without it.
    """
    cells = grid_of(grid, None if points else (10, 10))
    shared = {"grid": cells, "reading": reading, "check": check}
    if flow_field is not None:
        if second is not None or expert is not None:
            raise RefusedError("second, expert: expected no flow_field beside them, made already")
        field = inputs.flow(flow_field)
        program = make.flow_program(field, points=pixels(points, field.size, "points"), **shared)
        return program if first is None else program.with_images(inputs.picture(first, "first"))
    frames = _pair(inputs, first, second, "flow_field")
    height, width = frames[0].shape[:2]
    return make.flow_program(
        *frames,
        points=pixels(points, (width, height), "points"),
        expert=inputs.expert("flow", expert, **({"check": True} if check else {})),
        **shared,
    )


def correspondence(
    inputs: Inputs,
    first: Picture | None = None,
    second: Picture | None = None,
    matches: ResultFile | None = None,
    around: dict[str, list[float]] | None = None,
    limit: int = 40,
    expert: str | None = None,
) -> PerceptionProgram:
    """Which points of two images show the same spot, and where a point of the first is in the second.

    Args:
        inputs: where files and pictures come from.
        first: the first image.
        second: the second image.
        matches: matches that were made before: a .json file, {"points1": [[x, y]], "points2": [[x, y]],
            "size1": [w, h], "size2": [w, h]}, in pixels.
        around: places in the first image to be found in the second, as {"REF": [x, y]}, each from 0
            to 1000.
        limit: how many matches to list, the surest or those nearest to the places asked about.
        expert: the name of the matcher; the best that is installed without it.
    """
    if matches is not None:
        if expert is not None:
            raise RefusedError("expert: expected no matches beside it, made already")
        pictures = [
            inputs.picture(source, what)
            for source, what in ((first, "first"), (second, "second"))
            if source is not None
        ]
        sizes = {f"size{n}": (p.shape[1], p.shape[0]) for n, p in enumerate(pictures, 1)}
        found = inputs.record(matches, Matches, "matches", **sizes)
        places = pixels(around, found.size1, "around")
        program = make.correspondence_program(found, limit=limit, around=places)
        return program.with_images(*pictures)
    one, two = _pair(inputs, first, second, "matches")
    return make.correspondence_program(
        one,
        two,
        limit=limit,
        around=pixels(around, (one.shape[1], one.shape[0]), "around"),
        expert=inputs.expert("correspondence", expert),
    )


def semantic(
    inputs: Inputs,
    first: Picture | None = None,
    second: Picture | None = None,
    reference: list[float] | None = None,
    candidates: dict[str, list[float]] | None = None,
    scores: ResultFile | None = None,
    expert: str | None = None,
) -> PerceptionProgram:
    """Which candidate point of a second image means the same as a reference point of the first.

    Use it where the images show different things of one kind, such as the left ears of two cats.

    Args:
        inputs: where files and pictures come from.
        first: the image with the reference point.
        second: the image with the candidates.
        reference: [x, y] of the reference point, each from 0 to 1000.
        candidates: the candidates, as {"A": [x, y], "B": [x, y]}, each from 0 to 1000.
        scores: scores that were made before: a .json file, {"candidates": {"A": [x, y]}, "scores":
            {"A": s}, "reference": [x, y], "size1": [w, h], "size2": [w, h]}, in pixels.
        expert: the name of the model; the best that is installed without it.
    """
    if scores is not None:
        if any(given is not None for given in (reference, candidates, expert)):
            raise RefusedError(
                "reference, candidates, expert: expected no scores beside them, made already"
            )
        program = make.semantic_program(inputs.record(scores, PointScores, "scores"))
        if first is None or second is None:
            return program
        return program.with_images(*_pair(inputs, first, second, "scores"))
    one, two = _pair(inputs, first, second, "scores")
    if reference is None or not candidates:
        raise RefusedError("semantic: expected reference and candidates beside the images")
    return make.semantic_program(
        one,
        two,
        reference=pixel(reference, (one.shape[1], one.shape[0]), "reference"),
        candidates=pixels(candidates, (two.shape[1], two.shape[0]), "candidates"),
        expert=inputs.expert("semantic", expert),
    )


def jigsaw(
    inputs: Inputs, image: Picture, candidates: dict[str, Picture], expert: str | None = None
) -> PerceptionProgram:
    """Which of several pieces fits the missing lower right corner of an image, border by border.

    Args:
        inputs: where files and pictures come from.
        image: the picture whose lower right corner is missing.
        candidates: the pieces, each a picture, as {"A": piece, "B": piece}.
        expert: the name of what compares them; the best that is installed without it.
    """
    picture = inputs.picture(image, "image")
    pieces = {
        letter: inputs.picture(piece, f"candidate {letter!r}")
        for letter, piece in few(candidates, "candidates").items()
    }
    return make.jigsaw_program(picture, pieces, expert=inputs.expert("jigsaw", expert))


def similarity(
    inputs: Inputs, targets: dict[str, ResultFile], grid: list[int] | None = None
) -> PerceptionProgram:
    """How alike each part of a reference image and of other images is, from maps made before.

    Args:
        inputs: where files and pictures come from.
        targets: for each other image how alike each part is, bigger being more alike, as {"A": file}:
            .npy or .npz files.
        grid: [rows, cols] of the cells; 10 by 10 without it.
    """
    maps = {
        name: inputs.array(source, f"target {name!r}")
        for name, source in few(targets, "targets").items()
    }
    return make.similarity_program(maps, grid=grid_of(grid))


def _pair(inputs: Inputs, first: str | None, second: str | None, other: str) -> tuple[RGB, RGB]:
    """Two pictures.

    Raises:
        RefusedError: one of them is missing.
    """
    if first is None or second is None:
        raise RefusedError(f"first, second: expected two images, or {other}")
    return inputs.picture(first, "first"), inputs.picture(second, "second")
