"""Sections on a stereo pair, whose measured disparity is the truth for all of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import programs as make
from ..blink import readers
from ..experts import load
from ..geometry import denormalise
from ..images import RGB
from ..program import PerceptionProgram, numbers_in
from ..results import DepthMap, PointScores, Segmentation
from ..view import Section
from .pictures import Pair, Place, grey_levels, motorcycle

__all__ = ["CHAPTERS"]

_REFERENCE = (531, 158)  # the headlight
_ELSEWHERE = {"A": (300, 222), "B": (640, 290), "D": (470, 186)}
_PATCH = 48
_KEYPOINTS = 2000  # of each picture: enough to see, and few enough to read

_LEFT, _RIGHT = "The left picture", "The right picture"


def depth() -> Section:
    """The measured disparity as relative depth."""
    pair = motorcycle()
    program = make.depth_program(DepthMap(pair.disparity, kind="relative")).with_images(pair.left)
    share, pairs = _order_kept(program, pair)
    return Section(
        "Depth",
        "The tool is the stereo rig that took the picture: its disparity, bigger is nearer, known for "
        f"{_percent(float(np.isfinite(pair.disparity).mean()))} of the pixels. The program has a range "
        f"for each cell and {len(program.relations)} relations between neighbours. Read back from its "
        f"{len(str(program)):,} characters, it puts {_percent(share)} of {pairs:,} random pairs of pixels "
        "in the order of the disparity itself.",
        program,
        [
            (_LEFT, pair.left),
            (
                "The measured disparity, white is near; black was not measured",
                grey_levels(pair.disparity),
            ),
        ],
    )


def _percent(share: float) -> str:
    """A share in words; 0 % is none and 100 % is all."""
    text = f"{100 * share:.0f}"
    return f"{100 * share:.1f} %" if text in ("0", "100") and share not in (0, 1) else f"{text} %"


def _order_kept(program: PerceptionProgram, pair: Pair) -> tuple[float, int]:
    """How often the cells' middles order two random pixels as the disparity does, and of how many."""
    read = PerceptionProgram.from_text(str(program))
    assert read.grid is not None
    middle = [np.mean(numbers_in(item.r) or np.nan) for item in read.items]
    near = np.full(pair.disparity.shape, np.nan)
    for (x0, y0, x1, y1), value in zip(read.grid.boxes(pair.size), middle, strict=True):
        near[y0:y1, x0:x1] = value
    first, second = np.random.default_rng(0).integers(0, near.size, (2, 20_000))
    truth = pair.disparity.ravel()[first] - pair.disparity.ravel()[second]
    told = near.ravel()[first] - near.ravel()[second]
    known = np.isfinite(truth) & np.isfinite(told) & (np.abs(truth) > 1)
    kept = np.sign(truth[known]) == np.sign(told[known])
    return float(kept.mean()), len(kept)


def flow() -> Section:
    """DIS from the left picture to the right one."""
    pair = motorcycle()
    field = load("dis")(pair.left, pair.right)
    program = make.flow_program(pair.left, pair.right, expert="dis")
    u = np.asarray(field.uv)[..., 0]
    error = np.abs(u + pair.disparity)[np.isfinite(pair.disparity)]
    left = sum(item.r == "left" for item in program.items)
    return Section(
        "Optical flow",
        "The tool is OpenCV's DIS, from the left to the right picture of the pair. The camera moved to the "
        f"right, so everything should move left, and {left} of {len(program)} cells read so. Over the "
        f"measured pixels DIS is off by {np.median(error):.1f} pixels in the median, of motions between "
        f"{np.nanmin(pair.disparity):.0f} and {np.nanmax(pair.disparity):.0f}.",
        program,
        [(_LEFT, pair.left), (_RIGHT, pair.right)],
    )


def correspondence() -> Section:
    """SIFT between the two pictures."""
    pair = motorcycle()
    expert = load("sift", max_keypoints=_KEYPOINTS)
    program = make.correspondence_program(pair.left, pair.right, expert=expert)
    away = []
    for item in program.items:
        assert isinstance(item.c, tuple)
        ends = numbers_in(item.r)
        here, there = (denormalise(place[0], place[1], pair.size) for place in (item.c, ends))
        partner = pair.partner(*here)
        if partner is not None:
            away.append(float(np.hypot(there[0] - partner[0], there[1] - partner[1])))
    right = float((np.array(away) < 3).mean())
    return Section(
        "Visual correspondence",
        "The tool is SIFT with a ratio test and a check by epipolar geometry. It found "
        f"{len(program)} matches; read from the program's coordinates, {_percent(right)} of the "
        f"{len(away)} whose disparity was measured lie within 3 pixels of the truth.",
        program,
        [(_LEFT, pair.left), (_RIGHT, pair.right)],
    )


def semantic() -> Section:
    """A reference point and candidates, compared by a hand-made descriptor."""
    pair = motorcycle()
    truth = pair.partner(*_REFERENCE)
    assert truth is not None
    candidates = dict(sorted({**_ELSEWHERE, "C": truth}.items()))
    reference = _describe(pair.left, _REFERENCE)
    scores = {
        letter: float(_describe(pair.right, place) @ reference)
        for letter, place in candidates.items()
    }
    result = PointScores(candidates, scores, reference=_REFERENCE, size1=pair.size, size2=pair.size)
    program = make.semantic_program(result).with_images(pair.left, pair.right)
    answer = readers.semantic(program)
    verdict = "which is the same spot" if answer == "C" else "and the same spot is C"
    return Section(
        "Semantic correspondence",
        "No learned features here: the tool compares gradients (HOG) and colours of a patch around each "
        f"point, by cosine similarity. By the program {answer or 'no candidate'} resembles the reference "
        f"most, {verdict} by the measured disparity.",
        program,
        [(_LEFT, pair.left), (_RIGHT, pair.right)],
    )


def _describe(picture: RGB, place: Place) -> npt.NDArray[np.float64]:
    """Gradients and colours of the patch around a point, at unit length."""
    from skimage.color import rgb2gray
    from skimage.feature import hog

    half = _PATCH // 2
    padded = np.pad(picture, ((half, half), (half, half), (0, 0)), mode="reflect")
    column, row = round(place[0]), round(place[1])
    patch = padded[row : row + _PATCH, column : column + _PATCH]
    cells = (_PATCH // 4, _PATCH // 4)
    shape = hog(rgb2gray(patch), orientations=9, pixels_per_cell=cells, cells_per_block=(2, 2))
    colours = np.histogramdd(patch.reshape(-1, 3), bins=4, range=[(0, 256)] * 3)[0].ravel()
    parts = [part - part.mean() for part in (shape, np.sqrt(colours))]
    joined = np.concatenate([part / np.linalg.norm(part) for part in parts])
    return np.asarray(joined / np.linalg.norm(joined), np.float64)


def segmentation() -> Section:
    """The disparity cut into layers."""
    from skimage.filters import threshold_multiotsu

    pair = motorcycle()
    known = np.isfinite(pair.disparity)
    cut: Callable[..., Any] = threshold_multiotsu  # it is not annotated
    limits = cut(pair.disparity[known], classes=3)
    layers = np.where(known, 1 + np.digitize(pair.disparity, limits), 0)
    found = Segmentation(layers, ["not measured", "far", "middle", "near"])
    program = make.segmentation_program(found).with_images(pair.left)
    names = np.array([item.b for item in program.items]).reshape(10, 10)
    kept = _same_class(program, found)
    counts = ", ".join(f"{int((names == n).sum())} {n}" for n in ("far", "middle", "near"))
    return Section(
        "Segmentation",
        "The tool is multi-Otsu thresholding, which cuts the disparity into three layers. The cells read "
        f"{counts}; {_percent(kept)} of all pixels are of the class that the program gives their cell.",
        program,
        [
            (_LEFT, pair.left),
            (
                "The layers, from far (dark) to near (white); black was not measured",
                grey_levels(layers),
            ),
        ],
    )


def _same_class(program: PerceptionProgram, found: Segmentation) -> float:
    """The share of pixels whose class is the one that their cell reads, by the program's own shares."""
    assert program.grid is not None
    areas = [(x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in program.grid.boxes(found.size)]
    shares = [float(item.r) if isinstance(item.r, float | int) else 0.0 for item in program.items]
    return float(np.average(shares, weights=areas))


def similarity() -> Section:
    """The right picture, as it is and moved back by the disparity, against the left one."""
    from skimage.metrics import structural_similarity

    pair = motorcycle()
    targets = {"A": _moved_back(pair), "B": pair.right}
    compare: Callable[..., Any] = functools.partial(
        structural_similarity, full=True, channel_axis=2, data_range=255
    )
    maps = {
        name: np.clip(compare(pair.left, target)[1].mean(axis=2), 0, 1)
        for name, target in targets.items()
    }
    program = make.similarity_program(maps).with_images(pair.left, *targets.values())
    readings = [[i.r for i in program.items if i.c == name] for name in targets]
    more = sum(
        isinstance(a, float) and isinstance(b, float) and a > b
        for a, b in zip(*readings, strict=True)
    )
    return Section(
        "Similarity",
        "The tool is structural similarity (SSIM, what is negative cut to 0) to the left picture. A is the right picture with every "
        "pixel moved back by its measured disparity, B the right picture as it is. A should be more alike "
        f"everywhere; by the program it is in {more} of {len(readings[0])} cells.",
        program,
        [
            (f"{_LEFT}, the reference", pair.left),
            ("A: the right picture moved back", targets["A"]),
            ("B: the right picture", targets["B"]),
        ],
    )


def _moved_back(pair: Pair) -> RGB:
    """The right picture as seen from the left, by nearest pixels; grey where that is not known."""
    source = np.arange(pair.size[0]) - pair.disparity
    known = np.isfinite(source) & (source >= 0)
    columns = np.rint(np.where(known, source, 0)).astype(int)
    moved = np.take_along_axis(pair.right, columns[..., None], axis=1)
    moved[~known] = 128
    return moved


CHAPTERS = (depth, flow, correspondence, semantic, segmentation, similarity)
