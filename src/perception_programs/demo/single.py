"""Sections on single pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import programs as make
from ..blink import readers
from ..geometry import denormalise
from ..images import RGB, load_image
from ..results import Detections
from ..view import Section
from .pictures import grey_levels, marked, shipped, shipped_path, without_corner

__all__ = ["CHAPTERS"]

_PIECE = 180
_WRONG_PIECE = (20, 250)  # upper left corner of the piece that does not belong there
_MARKS = {"A": (171.0, 116.0), "B": (318.0, 137.0), "C": (266.0, 246.0), "D": (60.0, 230.0)}
# Factors by which the face cascade grows its window, and window sizes it starts from, in pixels.
_SWEEP = [(factor, start) for factor in (1.15, 1.2, 1.25) for start in (40, 50, 60)]
_SAME = 0.4  # boxes of two runs that overlap by more (IoU) are the same face


def jigsaw() -> Section:
    """The astronaut without a corner; the corner, and a piece from elsewhere."""
    picture = shipped("astronaut.png")
    holed, right = without_corner(picture, _PIECE)
    x, y = _WRONG_PIECE
    wrong = picture[y : y + _PIECE, x : x + _PIECE].copy()
    program = make.jigsaw_program(holed, {"A": wrong, "B": right})
    means = {
        name: np.mean([item.r for item in program.items if item.i == name]) for name in ("A", "B")
    }
    answer = readers.jigsaw(program)
    verdict = "rightly" if answer == "B" else "though B is the corner that was cut out"
    return Section(
        "Jigsaw",
        "The tool compares strips of 4 pixels on both sides of a border. A comes from elsewhere in the "
        f"picture, B is the corner that was cut out. The borders of A read {means['A']:.2f} on average, "
        f"those of B {means['B']:.2f}: by the program {answer or 'neither'} belongs there, {verdict}.",
        program,
        [("The picture", holed), ("A", wrong), ("B", right)],
    )


def points() -> Section:
    """Rings with letters, drawn and found again."""
    picture = marked(shipped("chelsea.png"), _MARKS)
    program = make.points_program(picture)
    size = (picture.shape[1], picture.shape[0])
    found = {
        i.b: denormalise(i.c[0], i.c[1], size) for i in program.items if isinstance(i.c, tuple)
    }
    away = [np.hypot(*np.subtract(found[n], place)) for n, place in _MARKS.items() if n in found]
    furthest = f", at most {max(away):.1f} pixels from where they were drawn" if away else ""
    extra = len(program) - len(away)
    return Section(
        "Point detection",
        "The tool finds lettered rings, as benchmarks draw them on pictures; these were drawn just now. Of "
        f"{len(_MARKS)} it found {len(away)} under their own letter{furthest}, and "
        f"{extra or 'none'} that {'is' if extra == 1 else 'are'} not there.",
        program,
        [("The picture, with rings drawn on it", picture)],
    )


def detection() -> Section:
    """OpenCV's face cascade, run several times."""
    picture = shipped("astronaut.png")
    boxes, scores = _faces(picture)
    size = (picture.shape[1], picture.shape[0])
    found = Detections(boxes, scores, ("face",) * len(boxes), size=size)
    program = make.detection_program(found, threshold=0.2).with_images(picture)
    readings = [float(item.r) for item in program.items if isinstance(item.r, float | int)]
    others = f", the others at most {readings[1]:.2f}" if len(readings) > 1 else ""
    return Section(
        "Object detection",
        "The tool is the LBP cascade for faces that scikit-image ships. It gives no confidence, so it ran "
        f"{len(_SWEEP)} times with other steps and window sizes, and the confidence is the share of runs "
        f"that found the box. {len(program)} boxes were found in a fifth of the runs or more; the surest "
        f"reads {max(readings, default=0):.2f}{others}. No truth comes with this picture.",
        program,
        [("The picture", picture)],
    )


def _faces(picture: RGB) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Mean boxes, xyxy, and the share of runs that found each; surest first."""
    from skimage.feature import Cascade

    cascade = Cascade(str(shipped_path("lbpcascade_frontalface_opencv.xml")))
    groups: list[dict[int, npt.NDArray[np.float64]]] = []
    for run, (factor, start) in enumerate(_SWEEP):
        rows: list[dict[str, Any]] = cascade.detect_multi_scale(
            img=picture,
            scale_factor=factor,
            step_ratio=1,
            min_size=(start, start),
            max_size=(300, 300),
        )
        for row in rows:
            x, y, width, height = (row[key] for key in ("c", "r", "width", "height"))
            box = np.array([x, y, x + width, y + height], np.float64)
            for group in groups:
                if _iou(box, np.mean(list(group.values()), axis=0)) > _SAME:
                    group.setdefault(run, box)
                    break
            else:
                groups.append({run: box})
    groups.sort(key=lambda group: -len(group))
    boxes = np.array([np.mean(list(group.values()), axis=0) for group in groups]).reshape(-1, 4)
    return boxes, np.array([len(group) / len(_SWEEP) for group in groups])


def _iou(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
    sides = np.minimum(first[2:], second[2:]) - np.maximum(first[:2], second[:2])
    common = float(np.prod(np.clip(sides, 0, None)))
    areas = [float(np.prod(box[2:] - box[:2])) for box in (first, second)]
    return common / (sum(areas) - common)


def albedo() -> Section:
    """A page in uneven light, its light divided out."""
    picture = load_image(shipped_path("page.png"))
    grey = picture.mean(axis=2) / 255
    surface = _without_light(grey)
    program = make.albedo_program(surface).with_images(picture)
    read = [float(item.r) for item in program.items if isinstance(item.r, float | int)]
    raw = make.albedo_program(grey)
    before = [float(item.r) for item in raw.items if isinstance(item.r, float | int)]
    same = sum(relation.predicate == "about the same as" for relation in program.relations)
    return Section(
        "Albedo",
        "The tool estimates the light from the brightest greys around each pixel and divides it out. The "
        f"sheet is one colour: its cells, {min(before):.2f} to {max(before):.2f} in the picture, read "
        f"{min(read):.2f} to {max(read):.2f}, and {same} of {len(program.relations)} neighbours are about "
        "the same.",
        program,
        [("The picture", picture), ("With the light divided out", grey_levels(surface))],
    )


def _without_light(grey: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Grey levels divided by those of the paper around them."""
    from skimage import filters

    blur: Callable[..., Any] = filters.gaussian  # skimage's filters are not annotated
    brightest: Callable[..., Any] = filters.rank.percentile
    levels = np.rint(255 * grey).astype(np.uint8)
    paper = blur(brightest(levels, np.ones((31, 31), np.uint8), p0=0.9) / 255, sigma=8)
    return np.asarray(np.clip(grey / paper, 0, 1))


CHAPTERS = (jigsaw, points, detection, albedo)
