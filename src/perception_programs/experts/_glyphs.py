"""Reading single capital letters without a font or a text-recognition package.

A letter is kept as the corners of its lines on a 10×10 grid. The lines are drawn at several widths
and proportions, once; a glyph cut from a picture is scaled to the same grid and correlated with
all of them. Grid of a letter: x right, y down, (0, 0) its top-left and (9, 9) its bottom-right.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["assign_letters", "read"]

Floats = NDArray[np.float32]

# The letters a marker may carry. The others are known so that a caption's letters match them
# rather than these.
LETTERS = "ABCDEFGH"
ROWS, COLUMNS = 20, 14

# "xy xy xy|xy xy": two lines, through three and two corners. A letter that fonts draw in clearly
# different ways has several drawings.
_SHAPES: dict[str, tuple[str, ...]] = {
    "A": ("09 50 99|26 76", "09 30 60 99|16 86"),
    "B": ("00 09 69 88 97 86 54|00 50 71 82 83 54 04", "00 09 79 98 95 74|00 70 91 93 74 04"),
    "C": ("92 71 50 21 03 06 28 59 78 97", "91 70 30 12 07 39 79 98"),
    "D": ("00 09 49 78 96 93 71 40 00", "00 09 69 97 92 60 00"),
    "E": ("90 00 09 99|04 84",),
    "F": ("90 00 09|04 84", "90 00 09|05 85"),
    "G": ("92 71 50 21 03 06 28 59 88 97 95 55", "91 70 30 12 07 39 79 97 95 65"),
    "H": ("00 09|90 99|04 94",),
    "I": ("50 59",),
    "J": ("90 97 79 29 07",),
    "K": ("00 09|90 06|34 99",),
    "L": ("00 09 99",),
    "M": ("09 00 57 90 99",),
    "N": ("09 00 99 90",),
    "O": ("50 21 03 06 28 59 78 96 93 71 50", "30 12 07 39 69 97 92 60 30"),
    "P": ("09 00 60 91 94 65 05",),
    "R": ("09 00 60 91 94 65 05|55 99",),
    "S": ("92 70 30 02 14 85 97 79 29 07",),
    "T": ("00 90|50 59",),
    "U": ("00 07 29 79 97 90",),
    "V": ("00 59 90",),
    "W": ("00 29 52 79 90",),
    "X": ("00 99|90 09",),
    "Y": ("00 55 90|55 59",),
    "Z": ("00 90 09 99",),
}
NAMES = tuple(_SHAPES)
_WIDTHS = (0.09, 0.14, 0.2, 0.28)  # line width over letter height
_PROPORTIONS = (1.0, 1.5)  # letter height over letter width
_FINE, _COARSE = 1.2, 2.4  # blurs, in cells of the grid
_MIDDLES = (0.44, 0.52, 0.6)  # where half height is drawn: fonts and pixel grids move the bars


@dataclass(frozen=True)
class _Alphabet:
    """All drawings of all letters.

    Attributes:
        names: N letters.
        pictures: N×ROWS×COLUMNS drawings, 0..1, not normalised.
    """

    names: tuple[str, ...]
    pictures: Floats


def _draw(shape: str, width: float, proportion: float, middle: float) -> Floats:
    """Draws one letter so that its ink just fills the grid; ROWS×COLUMNS, 0..1."""
    scale = 8
    height = ROWS * scale
    across = round(height / proportion)
    pen = max(1, round(width * height))
    margin = pen // 2 + 1
    canvas = np.zeros((height, across), np.uint8)
    for line in shape.split("|"):
        corners = np.array([[int(p[0]), int(p[1])] for p in line.split()], np.float64) / 9
        corners[:, 1] = np.interp(corners[:, 1], [0, 0.5, 1], [0, middle, 1])
        corners *= [across - 1 - 2 * margin, height - 1 - 2 * margin]
        points = np.round(corners + margin).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(canvas, [points], False, (255,), pen)
    small = cv2.resize(_trim(canvas), (COLUMNS, ROWS), interpolation=cv2.INTER_AREA)
    return np.asarray(small.astype(np.float32) / 255)


def _trim(canvas: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Cuts away the rows and columns without ink; H×W in, h×w out."""
    y, x = np.nonzero(canvas)
    return canvas[y.min() : y.max() + 1, x.min() : x.max() + 1]


@lru_cache(maxsize=1)
def _alphabet() -> _Alphabet:
    """Draws every letter once."""
    names, pictures = [], []
    for name, shapes in _SHAPES.items():
        for shape in shapes:
            for width in _WIDTHS:
                for proportion, middle in product(_PROPORTIONS, _MIDDLES):
                    names.append(name)
                    pictures.append(_draw(shape, width, proportion, middle))
    return _Alphabet(tuple(names), np.stack(pictures))


def _soften(pictures: Floats, blur: float) -> Floats:
    """Blurs N×R×C pictures and flattens each, N×P."""
    # A dark rim takes part, or bars along the edge would count for less than those inside.
    rimmed = np.pad(pictures, ((0, 0), (3, 3), (3, 3)))
    return np.stack([cv2.GaussianBlur(p, (0, 0), blur).ravel() for p in rimmed])


def _normalise(rows: Floats) -> Floats:
    """Gives each row of N×P zero mean and unit length."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6))


@lru_cache(maxsize=32)
def _templates(top: int, bottom: int) -> tuple[Floats, Floats]:
    """Gives the drawings of which only rows top:bottom are seen.

    Returns:
        N×P drawings, a little blurred and normalised; N×P drawings, much blurred.
    """
    pictures = _alphabet().pictures[:, top:bottom]
    full = np.stack(
        [cv2.resize(p, (COLUMNS, ROWS), interpolation=cv2.INTER_LINEAR) for p in pictures]
    )
    return _normalise(_soften(full, _FINE)), _soften(full, _COARSE)


def read(glyphs: list[Floats], top: float = 0.0, bottom: float = 1.0) -> list[dict[str, float]]:
    """Compares glyphs with every letter.

    Args:
        glyphs: Glyphs cut out to their ink, each h×w, 0 (ground) to 1 (ink).
        top: Where the seen part of the letters begins, as a share of the letter height.
        bottom: Where it ends. A letter cut off by the upper picture border has top > 0.

    Returns:
        For each glyph the best correlation, -1..1, with each letter of the alphabet.
    """
    if not glyphs:
        return []
    rows = (round(top * ROWS), max(round(top * ROWS) + 2, round(bottom * ROWS)))
    scaled = np.stack(
        [
            cv2.resize(
                np.asarray(g, np.float32),
                (COLUMNS, ROWS),
                interpolation=cv2.INTER_AREA
                if g.shape[0] >= ROWS and g.shape[1] >= COLUMNS
                else cv2.INTER_NEAREST,
            )
            for g in glyphs
        ]
    )
    fine, coarse = _templates(*rows)
    scores = _normalise(_soften(scaled, _FINE)) @ fine.T
    # An E that lacks its lowest bar still correlates well with an E. So whatever patch differs most
    # counts apart, on pictures so soft that a bar may lie a little higher or lower.
    for score, soft in zip(scores, _soften(scaled, _COARSE), strict=True):
        score -= 0.5 * np.abs(coarse - soft).max(axis=1)
    names = np.array(_alphabet().names)
    answers = [{name: float(row[names == name].max()) for name in _SHAPES} for row in scores]
    for answer, glyph in zip(answers, glyphs, strict=True):
        # Stretched to the grid an upright bar fills it, so proportions are looked at apart.
        if not 0.75 < glyph.shape[0] / glyph.shape[1] * (bottom - top) ** -1 < 2.3:
            answer.update(dict.fromkeys(LETTERS, -1.0))
    return answers


def assign_letters(fits: NDArray[np.float64], gap: float = 0.3) -> list[int]:
    """Assigns different letters so that the sum of the fits is largest.

    Args:
        fits: N×L, how well each of N tags fits each of L letters.
        gap: What each letter costs that is skipped below the highest one in use.

    Returns:
        N letter numbers.
    """
    count, letters = fits.shape
    # best[set of letters in use] after i tags, and how it came about.
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for i in range(count):
        following: dict[int, tuple[float, tuple[int, ...]]] = {}
        for used, (value, chosen) in best.items():
            for k in range(letters):
                if used >> k & 1:
                    continue
                total = value + float(fits[i, k])
                if total > following.get(used | 1 << k, (-np.inf, ()))[0]:
                    following[used | 1 << k] = (total, (*chosen, k))
        best = following
    if not best:
        return []
    return list(
        max(best.items(), key=lambda item: item[1][0] - gap * (item[0].bit_length() - count))[1][1]
    )
