"""A tool's result as a picture, as models see it in the paper's Raw Tool setting."""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from .._arrays import describe, dims, to_numpy
from ..errors import InputError
from ..geometry import Size, normalise
from ..images import RGB, ImageLike, load_image
from ..program import Item
from ..results import DepthMap, Detections, FlowField, Matches, PointScores
from ._canvas import Box, gutter, open_row
from ._colour import by_position, category, heat
from ._pairs import draw_links
from ._places import mark_points
from ._tags import Tag, draw_tags
from ._type import printable, short
from ._wheel import wheel

__all__ = ["completed_picture", "tool_caption", "tool_picture"]

_LINES = 40  # more matches than this cannot be followed by eye
_PARTS = 8  # the lines are spread over so many rows and columns of the first image


def tool_picture(result: Any, *images: ImageLike) -> RGB:
    """A tool's result drawn at the size of the image, 2000 pixels at most where images are needed.

    Args:
        result: a `DepthMap` or `FlowField`, which need no image; `Matches` with both images;
            `Detections` with the image; `PointScores` with the second image, the candidates'.
        images: the images it is drawn on.

    Returns:
        H×W×3. `tool_caption` says in words how it is to be read.

    Raises:
        InputError: another result, or other images than it is of.

    >>> tool_picture(DepthMap(np.eye(40))).shape
    (40, 40, 3)
    """
    drawing = _drawing(result)
    sizes = drawing.sizes(result)
    if len(images) != len(sizes):
        raise InputError(
            f"tool picture: expected {len(sizes)} images for {type(result).__name__}, "
            f"got {len(images)}"
        )
    pictures = [load_image(image) for image in images]
    for picture, size in zip(pictures, sizes, strict=True):
        if (picture.shape[1], picture.shape[0]) != size:
            raise InputError(
                f"tool picture: expected the image of {size[0]}×{size[1]} pixels that the "
                f"{type(result).__name__} is of, got {picture.shape[1]}×{picture.shape[0]}"
            )
    return drawing.draw(result, *pictures)


def tool_caption(result: Any) -> str:
    """What the picture of a result shows, and how it is to be read.

    Raises:
        InputError: a result that has no picture.

    >>> tool_caption(DepthMap(np.eye(40)))
    'Depth map: bright yellow is nearest to the camera, dark violet is farthest'
    """
    return _drawing(result).caption(result)


def completed_picture(image: ImageLike, piece: ImageLike) -> RGB:
    """An image with a piece put in its lower right corner, pixel by pixel.

    Raises:
        InputError: the piece is larger than the image.
    """
    whole, part = load_image(image), load_image(piece)
    height, width = part.shape[:2]
    if height > whole.shape[0] or width > whole.shape[1]:
        raise InputError(
            f"piece: expected one that fits into {dims(whole.shape[:2])} pixels (height × width), "
            f"got {dims(part.shape[:2])}"
        )
    completed = whole.copy()
    completed[-height:, -width:] = part
    return completed


@dataclass(frozen=True)
class _Drawing:
    """How one kind of result is drawn: the sizes of the images it needs, the picture, the caption."""

    sizes: Callable[[Any], list[Size]]
    draw: Callable[..., RGB]
    caption: Callable[[Any], str]


def _drawing(result: Any) -> _Drawing:
    for kind, drawing in _DRAWINGS.items():
        if isinstance(result, kind):
            return drawing
    kinds = ", ".join(kind.__name__ for kind in _DRAWINGS)
    raise InputError(f"tool picture: expected {kinds}, got {describe(result)}")


def _draw_depth(depth: DepthMap) -> RGB:
    import cv2

    near = to_numpy(depth.nearness())
    known = np.isfinite(near)
    levels = np.rint(255 * np.where(known, near, 0)).astype(np.uint8)
    picture = np.array(cv2.applyColorMap(levels, cv2.COLORMAP_VIRIDIS)[..., ::-1])
    picture[~known] = 0
    if depth.size != (near.shape[1], near.shape[0]):
        picture = np.array(cv2.resize(picture, depth.size, interpolation=cv2.INTER_LINEAR))
    return picture


def _caption_depth(depth: DepthMap) -> str:
    unknown = "" if bool(depth.valid().all()) else "; black was not measured"
    return f"Depth map: bright yellow is nearest to the camera, dark violet is farthest{unknown}"


def _draw_flow(flow: FlowField) -> RGB:
    return wheel(to_numpy(flow.uv), to_numpy(flow.valid()))


def _caption_flow(flow: FlowField) -> str:
    unknown = "" if bool(flow.valid().all()) else "; black is unknown"
    return (
        "Optical flow from the first to the second image: the hue says which way what is seen there "
        "moves (red: right, yellow-green: down, cyan: left, violet: up), the fuller the colour the "
        f"faster; white does not move{unknown}"
    )


def _draw_matches(matches: Matches, first: RGB, second: RGB) -> RGB:
    canvases = open_row([first, second], shortest=1)
    for canvas in canvases:
        canvas.mute(colour=0.4, contrast=0.9)
    left, right = canvases
    start = left.size[0] + gutter(left.size[0] + right.size[0])
    sheet = Image.new("RGB", (start + right.size[0], left.size[1]), "white")
    sheet.paste(left.image, (0, 0))
    sheet.paste(right.image, (start, 0))
    chosen = _spread(matches)
    places = matches.points1[chosen] / matches.size1
    begins = (places * left.size).tolist()
    ends = (matches.points2[chosen] / matches.size2 * right.size + (start, 0)).tolist()
    colours = [by_position(x, y) for x, y in np.clip(places, 0, 1).tolist()]
    lines = [
        ((x1, y1), (x2, y2), colour)
        for (x1, y1), (x2, y2), colour in zip(begins, ends, colours, strict=True)
    ]
    draw_links(sheet, lines, left.line, 0.25 * left.text)
    return np.array(sheet)


def _spread(matches: Matches) -> npt.NDArray[np.intp]:
    """The rows that are drawn: the surest of each part of the first image, then the next surest."""
    rows = np.arange(len(matches))
    if matches.confidence is not None:
        rows = np.argsort(-matches.confidence, kind="stable")
    parts = np.floor(matches.points1[rows] / matches.size1 * _PARTS).astype(int).tolist()
    before: collections.Counter[tuple[int, ...]] = collections.Counter()
    rounds = []
    for part in map(tuple, parts):
        rounds.append(before[part])
        before[part] += 1
    return rows[np.argsort(rounds, kind="stable")[:_LINES]]


def _caption_matches(matches: Matches) -> str:
    if not len(matches):
        return "The first image and, right of it, the second: no matching points were found"
    drawn, total = min(len(matches), _LINES), len(matches)
    share = f"all {total}" if drawn == total else f"{drawn} of {total}, spread over the image"
    return (
        "The first image and, right of it, the second; each line joins a spot of the first with the "
        f"same spot in the second ({share})"
    )


def _draw_detections(found: Detections, image: RGB) -> RGB:
    canvas = open_row([image], shortest=1)[0]
    scale = canvas.size[0] / found.size[0], canvas.size[1] / found.size[1]
    boxes = (found.boxes * (*scale, *scale)).tolist()
    names = {name: n for n, name in enumerate(dict.fromkeys(found.labels))}
    colours = [category(names[label]) for label in found.labels]
    # Small boxes over large ones, so that none is painted over.
    for row in sorted(range(len(boxes)), key=lambda n: -_area(boxes[n])):
        canvas.outline(boxes[row], colours[row])
    tags = []
    for row in np.argsort(-found.scores, kind="stable").tolist():
        name = printable(found.labels[row])
        full = f"{name} {short(float(found.scores[row]))}".strip()
        tags.append(Tag(boxes[row], full, name or full, colours[row]))
    draw_tags(canvas, tags, canvas.text)
    return np.array(canvas.image)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _caption_detections(found: Detections) -> str:
    if not len(found):
        least = "" if found.threshold is None else f" with a confidence of {found.threshold:.4g}"
        return f"The image; no object was detected{least}"
    return "Detected objects: each box with its label and the detector's confidence, from 0 to 1"


def _draw_scores(scores: PointScores, image: RGB) -> RGB:
    canvas = open_row([image], shortest=1)[0]
    values = scores.scores.values()
    low, high = min(values, default=0.0), max(values, default=0.0)
    items = [
        Item(p=letter, c=normalise(*place, scores.size2), r=scores.scores[letter])
        for letter, place in scores.candidates.items()
    ]
    shares = [(v - low) / (high - low) if high > low else 0.5 for v in values]
    mark_points(canvas, items, [heat(share) for share in shares])
    return np.array(canvas.image)


def _caption_scores(scores: PointScores) -> str:
    return (
        "The second image: each candidate point with its similarity to the reference point of the "
        "first image; larger, and yellower, is more alike"
    )


_DRAWINGS: dict[type, _Drawing] = {
    DepthMap: _Drawing(lambda depth: [], _draw_depth, _caption_depth),
    FlowField: _Drawing(lambda flow: [], _draw_flow, _caption_flow),
    Matches: _Drawing(lambda found: [found.size1, found.size2], _draw_matches, _caption_matches),
    Detections: _Drawing(lambda found: [found.size], _draw_detections, _caption_detections),
    PointScores: _Drawing(lambda scores: [scores.size2], _draw_scores, _caption_scores),
}
