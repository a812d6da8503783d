"""Finding the tags that were drawn on a picture: white letters on small black panels.

The panel itself is a poor clue (on a dark picture its edge cannot be seen, and panels overlap), so
the search starts from the letter: a small bright shape with black all around it.

Coordinates are pixel indices (x right, y down).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from . import _glyphs

__all__ = ["Tag", "find_letters", "find_tags"]

Image = NDArray[np.uint8]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]

_BRIGHT, _DARK = 92, 75  # grey levels; soft letter edges lie between them
_FRAMED = 0.7  # least share of black around a letter
_MIN_HEIGHT, _MAX_HEIGHT = 4, 96  # of a letter, pixels


@dataclass(frozen=True)
class Tag:
    """One white word of one or three letters on black.

    Attributes:
        box: Extent of the ink, x0, y0, x1, y1, pixels, both ends included.
        letters: How well the word fits each single letter, -1..1.
        word: "REF" where the word is that, else "".
        cut: Which picture border cuts it off: "top", "left", "right", "bottom" or "".
        frame: Share of the pixels around the ink that are black, 0..1.
        alone: Whether no other letter stands beside it, as it would in a caption.
    """

    box: tuple[int, int, int, int]
    letters: dict[str, float] = field(repr=False)
    word: str
    cut: str
    frame: float
    alone: bool = True

    @property
    def centre(self) -> tuple[float, float]:
        """Middle of the ink, pixels."""
        x0, y0, x1, y1 = self.box
        return (x0 + x1) / 2, (y0 + y1) / 2

    @property
    def height(self) -> int:
        """Height of the ink, pixels."""
        return self.box[3] - self.box[1] + 1

    @property
    def score(self) -> float:
        """How well it fits the best of the letters markers carry, 0..1."""
        best = max(self.letters[name] for name in _glyphs.LETTERS)
        other = max(self.letters.values())
        return max(0.0, best - 0.5 * (other - best)) * self.frame


Box = tuple[int, int, int, int]


def find_tags(rgb: Image) -> list[Tag]:
    """Finds white letters, and the word REF, on black ground.

    Args:
        rgb: H×W×3 RGB picture.

    Returns:
        The tags, in no particular order; captions and other white-on-black things may be among
        them with a low score.
    """
    return _find(rgb.min(axis=2), rgb.max(axis=2))


def find_letters(rgb: Image, colour: tuple[float, float, float]) -> list[Tag]:
    """Finds letters that go with one colour: white ones on it, and ones drawn in it.

    Args:
        rgb: H×W×3 RGB picture.
        colour: The RGB colour, 0..255.

    Returns:
        The letters as tags, in no particular order.
    """
    away = np.linalg.norm(rgb.astype(np.float32) - np.asarray(colour, np.float32), axis=2)
    away = np.asarray(np.clip(away, 0, 255), np.float32)
    ground = np.asarray(away, np.uint8)
    ink = np.asarray(np.clip(255 - 2.0 * away, 0, 255), np.uint8)
    return _find(rgb.min(axis=2), ground) + _find(ink, ink)


def _find(ink: NDArray[np.uint8], ground: NDArray[np.uint8]) -> list[Tag]:
    """Finds words; ink is bright on the letters and ground is dark around them, both H×W."""
    framed = [b for b in _pieces(np.asarray(ink >= _BRIGHT)) if _frame(ground, b) >= _FRAMED]
    read = [_read_word(ink, ground, word) for word in _words(framed, ink.shape)]
    tags = [tag for tag in read if tag is not None]
    words = [tag.box for tag in tags if tag.word]
    pieces = np.array(framed, np.int64).reshape(-1, 4)
    return [
        replace(t, alone=not any(len(_beside(t.box, pieces, side, 1.8)) for side in (1, -1)))
        for t in tags
        if t.word or not any(_within(t.box, w) for w in words)
    ]


def _within(inner: Box, outer: Box) -> bool:
    """Says whether one extent lies in another."""
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[2] <= outer[2]
        and inner[3] <= outer[3]
    )


def _pieces(bright: NDArray[np.bool_]) -> list[Box]:
    """Lists the extents of the connected bright shapes that are small enough for a letter."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(bright.astype(np.uint8), connectivity=8)
    w, h, area = (stats[1:, k] for k in (2, 3, 4))
    fits = (h <= _MAX_HEIGHT) & (w <= _MAX_HEIGHT) & (h >= 2) & (area >= 4)
    rows = stats[1:][fits]
    return [(int(x), int(y), int(x + w - 1), int(y + h - 1)) for x, y, w, h, _ in rows]


def _frame(high: NDArray[np.uint8], box: Box) -> float:
    """Says what share of the pixels around an extent are black; sides off the picture are left out.

    A soft letter edge spoils the pixels right beside it, so of the rectangles one and two pixels
    away the blacker one counts.
    """
    best = 0.0
    for d in (1, 2):
        x0, y0, x1, y1 = box[0] - d, box[1] - d, box[2] + d, box[3] + d
        height, width = high.shape
        sides = []
        xs, ys = slice(max(x0, 0), x1 + 1), slice(max(y0, 0), y1 + 1)
        if y0 >= 0:
            sides.append(high[y0, xs])
        if y1 < height:
            sides.append(high[y1, xs])
        if x0 >= 0:
            sides.append(high[ys, x0])
        if x1 < width:
            sides.append(high[ys, x1])
        if len(sides) < 2:
            return 0.0
        best = max(best, float((np.concatenate(sides) < _DARK).mean()))
    return best


def _words(boxes: Sequence[Box], shape: tuple[int, ...]) -> list[tuple[Box, ...]]:
    """Groups shapes into words: alone, a line of three, or the halves of a cut-off letter."""
    words: list[tuple[Box, ...]] = [(b,) for b in boxes if b[3] - b[1] + 1 >= _MIN_HEIGHT]
    ordered = np.array(sorted(boxes), np.int64).reshape(-1, 4)
    for first in boxes:
        row = _line(first, ordered)
        if len(row) == 3 or (len(row) == 2 and (first[1] <= 0 or first[3] >= shape[0] - 1)):
            words.append(row)
    return words


def _line(first: Box, boxes: NDArray[np.int64]) -> tuple[Box, ...]:
    """Follows the shapes of like height that stand right of one another.

    Args:
        first: The leftmost shape.
        boxes: N×4 extents of all shapes, ordered by their left ends.

    Returns:
        The shapes in order; none where another one stands left of the first.
    """
    if len(_beside(first, boxes, -1)):
        return ()
    row = [first]
    while len(row) < 4:
        right = _beside(row[-1], boxes, 1)
        if not len(right):
            break
        x0, y0, x1, y1 = (int(v) for v in right[0])
        row.append((x0, y0, x1, y1))
    return tuple(row)


def _beside(box: Box, boxes: NDArray[np.int64], side: int, reach: float = 0.9) -> NDArray[np.int64]:
    """Picks the shapes right (1) or left (-1) of a shape, at most `reach` heights from it."""
    tall = box[3] - box[1] + 1
    gap = boxes[:, 0] - box[2] if side > 0 else box[0] - boxes[:, 2]
    level = np.abs(boxes[:, 1] - box[1]) + np.abs(boxes[:, 3] - box[3])
    return boxes[(gap >= 1) & (gap <= max(3, reach * tall)) & (level <= max(2, 0.25 * tall))]


def _ink(low: Bytes, box: Box) -> Floats:
    """Cuts out one shape as ink, 0..1, with the soft edge pixels around the bright ones."""
    x0, y0, x1, y1 = box
    cut = low[y0 : y1 + 1, x0 : x1 + 1].astype(np.float32)
    top = max(float(np.percentile(cut, 95)), _BRIGHT + 30.0)
    return np.asarray(np.clip((cut - 40) / (top - 40), 0, 1), np.float32)


def _read_word(ink: Bytes, ground: Bytes, word: tuple[Box, ...]) -> Tag | None:
    """Reads one word; None where it cannot be a marker's."""
    corners = np.array(word)
    low, high = corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)
    box = (int(low[0]), int(low[1]), int(high[0]), int(high[1]))
    frame = _frame(ground, box) * _contrast(ink, ground, box)
    if frame < _FRAMED:
        return None
    height, width = box[3] - box[1] + 1, box[2] - box[0] + 1
    if len(word) == 3 or width > 1.5 * height:
        if not 1.5 * height < width < 5 * height or not _says_ref(_ink(ink, box)):
            return None
        return Tag(box, dict.fromkeys(_glyphs.NAMES, -1.0), "REF", "", frame)
    cut = _cut(box, ink.shape)
    return Tag(box, _read_letter(_ink(ink, box), cut), "", cut, frame)


def _contrast(ink: Bytes, ground: Bytes, box: Box) -> float:
    """Says how clearly white on black the pixels of a letter are, 0..1.

    Drawn letters have some pure white and lie on one flat black; bright things in dark scenes
    are grey, and what is between their parts is not all black.
    """
    part = (slice(box[1], box[3] + 1), slice(box[0], box[2] + 1))
    white = float(np.clip((np.percentile(ink[part], 97) - 120) / 70, 0, 1))
    between = ground[part][ink[part] < 60]
    if not between.size:
        return 0.5 * white
    black = float(np.clip((110 - np.percentile(between, 80)) / 40, 0, 1))
    return white * black


def _says_ref(ink: Floats) -> bool:
    """Says whether a word reads REF; its letters may touch."""
    columns = ink.sum(axis=0)
    wide = len(columns)
    ends = [0]
    for k in (1, 2):
        # The seam between two letters is the emptiest column around a third of the word.
        start, stop = int(wide * (k / 3 - 0.1)), int(wide * (k / 3 + 0.1)) + 2
        ends.append(start + int(np.argmin(columns[start:stop])))
    ends.append(wide)
    parts = []
    for a, b in pairwise(ends):
        full = np.nonzero(ink[:, a:b].max(axis=0) > 0.3)[0]
        if len(full) < 2:
            return False
        parts.append(ink[:, a + full[0] : a + full[-1] + 1])
    fits = [f[c] for f, c in zip(_glyphs.read(parts), "REF", strict=True)]
    tops = [max(f.values()) for f in _glyphs.read(parts)]
    return min(fits) > 0.4 and sum(tops) - sum(fits) < 0.25


def _cut(box: Box, shape: tuple[int, ...]) -> str:
    """Names the picture border that an extent touches, "" where none."""
    if box[1] <= 0:
        return "top"
    if box[3] >= shape[0] - 1:
        return "bottom"
    if box[0] <= 0:
        return "left"
    return "right" if box[2] >= shape[1] - 1 else ""


def _read_letter(ink: Floats, cut: str) -> dict[str, float]:
    """Compares one glyph with every letter, whole or in the parts that a border may leave."""
    if cut in ("", "left", "right"):
        turned = ink
        if cut:
            # Too little is known of a letter that lacks its side; compare it as it is.
            return {k: 0.8 * v for k, v in _glyphs.read([turned])[0].items()}
        return _glyphs.read([turned])[0]
    height, width = ink.shape
    best: dict[str, float] = {}
    for share in (0.35, 0.5, 0.65, 0.8, 1.0):
        # Letters are about 1 to 1.7 times as high as wide; other shares are not possible.
        if not 0.85 <= height / share / width <= 1.8:
            continue
        top, bottom = (1 - share, 1.0) if cut == "top" else (0.0, share)
        for name, value in _glyphs.read([ink], top, bottom)[0].items():
            best[name] = max(best.get(name, -1.0), 0.9 * value)
    return best or dict.fromkeys(_glyphs.read([ink])[0], -1.0)
