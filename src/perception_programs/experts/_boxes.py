"""Finding rectangles that were drawn on a picture as coloured outlines.

A drawn rectangle is four straight, axis-aligned lines of one saturated colour and one width that
meet at the corners. The lines are looked for one hue at a time: wherever pixels of the hue form a
long thin horizontal or vertical bar. Two bars of either kind whose ends agree make a rectangle.

Coordinates are pixel indices (x right, y down).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ._glyphs import LETTERS, assign_letters
from ._tags import Tag, find_letters, find_tags

__all__ = ["Frame", "find_boxes", "find_frames"]

Image = NDArray[np.uint8]
Mask = NDArray[np.uint8]

# Hue ranges of OpenCV (0..179) and what people call them; a hue may fall into two of them.
_HUES: dict[str, tuple[tuple[int, int], ...]] = {
    "red": ((0, 9), (170, 179)),
    "orange": ((7, 21),),
    "yellow": ((20, 35),),
    "green": ((34, 84),),
    "cyan": ((80, 102),),
    "blue": ((98, 132),),
    "magenta": ((130, 172),),
}
_MAX_BARS = 40


@dataclass(frozen=True)
class Frame:
    """One drawn rectangle.

    Attributes:
        box: x0, y0, x1, y1 of the middle of its outline, pixels.
        width: Width of the outline, pixels.
        colour: Name of its hue.
        rgb: Mean RGB of the outline, 0..255.
        support: Share of the outline that shows, 0..1.
        label: The letter that belongs to it, or its colour where no letter was found.
    """

    box: tuple[float, float, float, float]
    width: float
    colour: str
    rgb: tuple[float, float, float]
    support: float
    label: str = ""


@dataclass(frozen=True)
class _Bar:
    """One thin straight line: start and end along it, its middle across it, its width; pixels."""

    start: float
    end: float
    middle: float
    width: float


def _hue_mask(hsv: Image, ranges: Sequence[tuple[int, int]]) -> Mask:
    """Marks the strongly coloured pixels of some hue ranges; H×W, 0 or 1."""
    mask = np.zeros(hsv.shape[:2], np.uint8)
    for low, high in ranges:
        mask |= np.asarray(cv2.inRange(hsv, (low, 120, 90), (high, 255, 255)), np.uint8)
    return np.asarray(mask > 0, np.uint8)


def _bars(mask: Mask, thickest: int) -> list[_Bar]:
    """Lists the long thin horizontal bars of a mask, longest first.

    Pieces of one line, which tags and other rectangles may interrupt, are joined.

    Args:
        mask: H×W, 0 or 1.
        thickest: Greatest width of a line, pixels.
    """
    # Longer than lines are wide, or the lines across would count as bars too.
    length = max(round(1.7 * thickest), round(0.025 * mask.shape[1]))
    # Beyond the picture there is nothing; OpenCV would take a line near the border to go on.
    mask = np.pad(mask, length)
    # Compression leaves small holes in a line.
    closed = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((1, 5), np.uint8))
    # No line is as thick as a thing of this colour, or as a letter's panel.
    block = np.ones((thickest + 1, thickest + 1), np.uint8)
    solid = cv2.morphologyEx(mask, cv2.MORPH_OPEN, block)
    thin = np.asarray(closed & (1 - solid), np.uint8)
    rows = cv2.morphologyEx(thin, cv2.MORPH_OPEN, np.ones((1, length), np.uint8))
    pieces = [
        replace(p, start=p.start - length, end=p.end - length, middle=p.middle - length)
        for p in _pieces(np.asarray(rows, np.uint8), thickest)
    ]
    bars: list[_Bar] = []
    for piece in sorted(pieces, key=lambda b: b.start - b.end):
        for k, bar in enumerate(bars):
            if abs(bar.middle - piece.middle) <= 1.5 and abs(bar.width - piece.width) <= 2.5:
                start, end = min(bar.start, piece.start), max(bar.end, piece.end)
                bars[k] = replace(bar, start=start, end=end)
                break
        else:
            bars.append(piece)
    return sorted(bars, key=lambda b: b.start - b.end)[:_MAX_BARS]


def _pieces(rows: Mask, thickest: int, deeper: bool = True) -> list[_Bar]:
    """Lists the connected parts of a mask of horizontal runs that are thin enough for a line."""
    _, labels, stats, centres = cv2.connectedComponentsWithStats(rows, connectivity=8)
    found = []
    for k in range(1, len(stats)):
        x, y, w, h, area = (int(v) for v in stats[k])
        if h <= thickest + 2:
            if w >= 1.5 * h:
                found.append(_Bar(x, x + w - 1, float(centres[k][1]), area / w))
        elif deeper:
            # Something lies against the line, a panel or a thing of its colour. The line is longer.
            part = np.asarray(labels[y : y + h, x : x + w] == k, np.uint8)
            part = np.pad(part, ((0, 0), (w, w)))
            longest = cv2.morphologyEx(
                part, cv2.MORPH_OPEN, np.ones((1, max(round(0.6 * w), 1)), np.uint8)
            )
            for bar in _pieces(np.asarray(longest, np.uint8), thickest, deeper=False):
                found.append(
                    replace(
                        bar, start=bar.start + x - w, end=bar.end + x - w, middle=bar.middle + y
                    )
                )
    return found


def find_frames(rgb: Image) -> list[Frame]:
    """Finds drawn rectangles.

    Args:
        rgb: H×W×3 RGB picture.

    Returns:
        The rectangles, best supported first, not yet labelled.
    """
    hsv = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV), np.uint8)
    thickest = max(8, round(0.016 * max(rgb.shape[:2])))
    frames: list[Frame] = []
    for colour, ranges in _HUES.items():
        mask = _hue_mask(hsv, ranges)
        if int(mask.sum()) < 60:
            continue
        across, down = _bars(mask, thickest), _bars(np.ascontiguousarray(mask.T), thickest)
        frames += _rectangles(rgb, mask, across, down, colour)
    kept: list[Frame] = []
    for frame in sorted(frames, key=lambda f: -f.support):
        if all(_overlap(frame.box, k.box) < 0.8 for k in kept):
            kept.append(frame)
    return kept


def _rectangles(
    rgb: Image, mask: Mask, across: Sequence[_Bar], down: Sequence[_Bar], colour: str
) -> list[Frame]:
    """Joins horizontal and vertical bars into rectangles."""
    # One pixel of slack across the line; sums along it make every side cheap to measure.
    along_x = _sums(cv2.dilate(mask, np.ones((3, 1), np.uint8)))
    along_y = _sums(cv2.dilate(mask, np.ones((1, 3), np.uint8)).T)
    found = []
    # Letters and window panes are small rectangles of lines too.
    least = max(24.0, 0.04 * max(mask.shape))
    sides = [(a, b) for a in down for b in down if b.middle - a.middle >= least and _alike(a, b)]
    ends = [(a, b) for a in across for b in across if b.middle - a.middle >= least and _alike(a, b)]
    for left, right in sides:
        for top, bottom in ends:
            box = (left.middle, top.middle, right.middle, bottom.middle)
            if not (_spans(top, box[0], box[2]) and _spans(bottom, box[0], box[2])):
                continue
            if not (_spans(left, box[1], box[3]) and _spans(right, box[1], box[3])):
                continue
            shares = (
                _share(along_x, top.middle, box[0], box[2]),
                _share(along_x, bottom.middle, box[0], box[2]),
                _share(along_y, left.middle, box[1], box[3]),
                _share(along_y, right.middle, box[1], box[3]),
            )
            if min(shares) >= 0.5 and float(np.mean(shares)) >= 0.75:
                width = float(np.median([top.width, bottom.width, left.width, right.width]))
                frame = Frame(box, width, colour, (0.0, 0.0, 0.0), float(np.mean(shares)))
                checked = _check(rgb, mask, frame)
                if checked is not None:
                    found.append(checked)
    return found


def _alike(a: _Bar, b: _Bar) -> bool:
    """Says whether two parallel bars may be opposite sides of one rectangle."""
    common = min(a.end, b.end) - max(a.start, b.start)
    longer = max(a.end - a.start, b.end - b.start)
    return common >= 0.2 * longer and abs(a.width - b.width) <= 3


def _spans(bar: _Bar, low: float, high: float) -> bool:
    """Says whether a bar fills a good part of a side and does not go far beyond its corners.

    Panels may hide much of a side, and things of the same colour may seem to lengthen it.
    """
    slack = 3 + bar.width + 0.4 * (high - low)
    inside = min(bar.end, high) - max(bar.start, low)
    return inside >= 0.3 * (high - low) and bar.start >= low - slack and bar.end <= high + slack


def _sums(mask: NDArray[Any]) -> NDArray[np.int32]:
    """Gives the running sums along the rows of a map, with a zero in front; H×(W+1)."""
    return np.pad(np.cumsum(mask, axis=1, dtype=np.int32), ((0, 0), (1, 0)))


def _share(sums: NDArray[np.int32], across: float, start: float, end: float) -> float:
    """Gives what share of a line is marked, from running sums; 0..1."""
    row = min(max(round(across), 0), sums.shape[0] - 1)
    first, last = max(round(start), 0), min(round(end) + 1, sums.shape[1] - 1)
    return float((sums[row, last] - sums[row, first]) / (last - first))


def _check(rgb: Image, mask: Mask, frame: Frame) -> Frame | None:
    """Makes sure that the sides are lines of one colour; None where they are not."""
    height, width = mask.shape
    limits = (width - 1, height - 1, width - 1, height - 1)
    x0, y0, x1, y1 = (min(max(round(v), 0), m) for v, m in zip(frame.box, limits, strict=True))
    gap = round(frame.width) + 3
    flanks = []
    for fixed, start, end, field in (
        (y0, x0, x1, mask),
        (y1, x0, x1, mask),
        (x0, y0, y1, mask.T),
        (x1, y0, y1, mask.T),
    ):
        inner = slice(start + min(gap, (end - start) // 3), end)
        flanks.append(
            max(
                float(field[fixed + d, inner].mean())
                for d in (-gap, gap)
                if 0 <= fixed + d < field.shape[0]
            )
        )
    # A panel may lie along one side or two; things have colour beside all their edges.
    if sorted(flanks)[2] > 0.5:
        return None
    pixels, marked = [], []
    for part in (
        np.s_[y0, x0 : x1 + 1],
        np.s_[y1, x0 : x1 + 1],
        np.s_[y0 : y1 + 1, x0],
        np.s_[y0 : y1 + 1, x1],
    ):
        pixels.append(rgb[part])
        marked.append(mask[part])
    outline = np.concatenate(pixels)[np.concatenate(marked) > 0].astype(np.float64)
    shade = np.median(outline, axis=0)
    # A drawn line has one colour all along; the edges of real things do not.
    if float(np.median(np.linalg.norm(outline - shade, axis=1))) > 20:
        return None
    if float(shade.max() - shade.min()) < 100:
        return None
    return replace(frame, rgb=(float(shade[0]), float(shade[1]), float(shade[2])))


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Gives the intersection over union of two boxes."""
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    both = w * h
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def find_boxes(rgb: Image) -> list[Frame]:
    """Finds drawn rectangles and the letters that belong to them.

    Args:
        rgb: H×W×3 RGB picture.

    Returns:
        The rectangles in the order of their labels. Where no letter at all was found they are
        labelled by their colours.
    """
    frames = find_frames(rgb)
    if not frames:
        return []
    # All rectangles of a picture are drawn with one pen.
    pen = frames[0].width
    frames = [f for f in frames if abs(f.width - pen) <= max(2.0, 0.4 * pen)][: len(LETTERS)]
    black = find_tags(rgb)
    fits = np.array([_letter_fits(f, black + find_letters(rgb, f.rgb)) for f in frames])
    read = fits.max(axis=1) >= 0.4
    if not read.any():
        sure = [f for f in frames if f.support >= 0.93]
        return sorted((replace(f, label=_name(f, sure)) for f in sure), key=lambda f: f.label)
    # Where some rectangles carry letters, one without has to be beyond doubt.
    keep = read | np.array([f.support >= 0.97 for f in frames])
    chosen = [f for f, k in zip(frames, keep, strict=True) if k]
    letters = assign_letters(fits[keep])
    labelled = [replace(f, label=LETTERS[k]) for f, k in zip(chosen, letters, strict=True)]
    return sorted(labelled, key=lambda f: f.label)


def _name(frame: Frame, frames: Sequence[Frame]) -> str:
    """Names a rectangle by its colour, numbered where several share the colour."""
    alike = [f for f in frames if f.colour == frame.colour]
    return frame.colour if len(alike) == 1 else f"{frame.colour} {alike.index(frame) + 1}"


def _letter_fits(frame: Frame, tags: Sequence[Tag]) -> list[float]:
    """Says how well each marker letter is supported by the tags at one rectangle, 0..1."""
    x0, y0, x1, y1 = frame.box
    fits = dict.fromkeys(LETTERS, 0.0)
    for tag in tags:
        if tag.word or tag.score < 0.45 or not 5 <= tag.height <= max(16, 0.6 * (y1 - y0)):
            continue
        x, y = tag.centre
        corner = min(float(np.hypot(x - a, y - b)) for a in (x0, x1) for b in (y0, y1))
        inside = x0 < x < x1 and y0 < y < y1
        # A letter inside is this rectangle's wherever it stands, though less surely so.
        far = min(corner / tag.height, 3.5 if inside else 99.0)
        near = float(np.exp(-0.2 * far))
        for name in LETTERS:
            fits[name] = max(fits[name], near * tag.letters[name] * tag.frame)
    return [fits[name] for name in LETTERS]
