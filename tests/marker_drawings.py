"""Draws markers on pictures in many styles, with the truth, for tests of the `markers` expert."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

RGB = NDArray[np.uint8]

# Capital letters of lines only, as plotter fonts draw them; x and y from 0 to 6, y down.
_PLOTTED = {
    "A": [[(0, 6), (3, 0), (6, 6)], [(1, 4), (5, 4)]],
    "B": [[(0, 0), (0, 6), (4, 6), (6, 5), (6, 4), (4, 3), (0, 3)], [(0, 0), (4, 0), (5, 1), (5, 2), (4, 3)]],
    "C": [[(6, 1), (4, 0), (2, 0), (0, 2), (0, 4), (2, 6), (4, 6), (6, 5)]],
    "D": [[(0, 0), (0, 6), (3, 6), (6, 4), (6, 2), (3, 0), (0, 0)]],
    "E": [[(6, 0), (0, 0), (0, 6), (6, 6)], [(0, 3), (4, 3)]],
    "F": [[(6, 0), (0, 0), (0, 6)], [(0, 3), (4, 3)]],
    "R": [[(0, 6), (0, 0), (4, 0), (6, 1), (6, 2), (4, 3), (0, 3)], [(3, 3), (6, 6)]],
}  # fmt: skip


@dataclass(frozen=True)
class Style:
    """How the markers of one picture are drawn; lengths in pixels before scaling.

    Attributes:
        radius: of the middle of the ring's line.
        stroke: line width.
        font: "pil" (outlines, soft edges) or "plot" (straight lines, hard edges).
        letter: font size; letters are about 0.7 of it high.
        side: where the tag stands: "above", "below", "left", "right" or "corner".
        gap: between ring and tag.
        pen: "pil", "cv" (hard edges) or "soft".
        tags_last: whether all tags lie over all rings, or each over the rings before it.
        red: the colour of the rings.
        quality: JPEG quality, or None for no compression.
        subsampling: 2 halves the colour resolution (the default of most writers), 0 keeps it.
        scale: factor by which the marked picture is resized.
    """

    radius: float = 6.0
    stroke: int = 2
    font: str = "pil"
    letter: int = 14
    side: str = "above"
    gap: int = 6
    pen: str = "pil"
    tags_last: bool = True
    red: tuple[int, int, int] = (255, 0, 0)
    quality: int | None = None
    subsampling: int = 2
    scale: float = 1.0


@dataclass
class Drawn:
    """A marked picture and the truth: labels with centres (x, y) or boxes (xyxy), pixels."""

    image: RGB
    places: dict[str, tuple[float, ...]]
    style: Style
    hidden: dict[str, float] = field(default_factory=dict)  # share of each ring under tags


def random_style(rng: np.random.Generator, longest: int) -> Style:
    """A style somebody might use on a picture whose longer side is `longest` pixels."""
    unit = longest / 500
    radius = float(np.round(rng.uniform(4.0, 9.0) * max(1.0, unit * rng.uniform(0.6, 1.2)) * 2) / 2)
    stroke = int(np.clip(round(radius * rng.uniform(0.2, 0.55)), 2, 8))
    return Style(
        radius=radius,
        stroke=stroke,
        font=str(rng.choice(["pil", "plot"])),
        letter=int(np.clip(round(radius * rng.uniform(1.4, 3.0)), 11, 64)),
        side=str(rng.choice(["above", "above", "above", "below", "left", "right", "corner"])),
        gap=round(radius * rng.uniform(0.3, 1.6)),
        pen=str(rng.choice(["pil", "cv", "soft"])),
        tags_last=bool(rng.random() < 0.6),
        red=(int(rng.integers(225, 256)), int(rng.integers(0, 25)), int(rng.integers(0, 25))),
        quality=None if rng.random() < 0.25 else int(rng.integers(60, 96)),
        subsampling=int(rng.choice([0, 2])),
        scale=float(rng.choice([1.0, 1.0, rng.uniform(0.75, 1.5)])),
    )


def letter_picture(text: str, style: Style) -> NDArray[np.uint8]:
    """White text on black, cut to its ink, H×W grey."""
    if style.font == "pil":
        font = ImageFont.load_default(style.letter)
        canvas = Image.new("L", (8 + 2 * style.letter * len(text), 8 + 2 * style.letter))
        ImageDraw.Draw(canvas).text((4, 4), text, font=font, fill=255)
        grey = np.array(canvas)
    else:
        height = max(7, round(0.7 * style.letter))
        wide, pen = round(0.8 * height), max(1, round(height / 10))
        grey = np.zeros((height + 4, (wide + 5) * len(text) + 4), np.uint8)
        for k, name in enumerate(text):
            for line in _PLOTTED[name]:
                points = np.array(line) / 6 * [wide - 1, height - 1] + [2 + k * (wide + 5), 2]
                corners = np.round(points).astype(np.int32).reshape(-1, 1, 2)
                cv2.polylines(grey, [corners], False, (255,), pen)
    y, x = np.nonzero(grey > 20)
    return grey[y.min() : y.max() + 1, x.min() : x.max() + 1]


def draw_ring(image: RGB, x: int, y: int, style: Style) -> None:
    """Draws one ring in place."""
    outer = style.radius + style.stroke / 2
    if style.pen == "pil":
        canvas = Image.fromarray(image)
        # PIL draws inwards from the box, both ends included.
        box = (x - outer + 0.5, y - outer + 0.5, x + outer - 0.5, y + outer - 0.5)
        ImageDraw.Draw(canvas).ellipse(box, outline=style.red, width=style.stroke)
        image[:] = np.array(canvas)
    elif style.pen == "cv":
        cv2.circle(image, (x, y), round(style.radius), style.red, style.stroke)
    else:
        rows, columns = np.mgrid[: image.shape[0], : image.shape[1]]
        away = np.abs(np.hypot(columns - x, rows - y) - style.radius)
        share = np.clip(style.stroke / 2 + 0.5 - away, 0, 1)[..., None]
        image[:] = np.round(image * (1 - share) + np.array(style.red) * share).astype(np.uint8)


def tag_box(x: int, y: int, ink: RGB, style: Style, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Where the black panel goes: x0, y0, x1, y1, ends excluded; on the other side at a border."""
    pad = max(2, round(0.25 * ink.shape[0]))
    h, w = ink.shape[0] + 2 * pad, ink.shape[1] + 2 * pad
    reach = round(style.radius + style.stroke / 2) + style.gap
    side = style.side
    if side in ("above", "corner") and y - reach - h < -h // 3:
        side = "below"
    if side == "below" and y + reach + h > shape[0] + h // 3:
        side = "above"
    if side == "left" and x - reach - w < 0:
        side = "right"
    if side == "right" and x + reach + w > shape[1]:
        side = "left"
    left, top = {
        "above": (x - w // 2, y - reach - h),
        "corner": (x, y - reach - h),
        "below": (x - w // 2, y + reach),
        "left": (x - reach - w, y - h // 2),
        "right": (x + reach, y - h // 2),
    }[side]
    left = int(np.clip(left, 0, shape[1] - w)) if side != "left" else left
    return left, top, left + w, top + h


def draw_tag(image: RGB, text: str, x: int, y: int, style: Style) -> tuple[int, ...]:
    """Draws one tag in place and returns its panel."""
    ink = letter_picture(text, style)
    x0, y0, x1, y1 = tag_box(x, y, ink, style, image.shape)
    pad = (y1 - y0 - ink.shape[0]) // 2
    panel = np.zeros((y1 - y0, x1 - x0), np.uint8)
    panel[pad : pad + ink.shape[0], pad : pad + ink.shape[1]] = ink
    top, left = max(y0, 0), max(x0, 0)
    bottom, right = min(y1, image.shape[0]), min(x1, image.shape[1])
    if top < bottom and left < right:
        image[top:bottom, left:right] = panel[top - y0 : bottom - y0, left - x0 : right - x0, None]
    return x0, y0, x1, y1


def place_rings(
    rng: np.random.Generator, count: int, shape: tuple[int, ...], style: Style, border: float
) -> list[tuple[int, int]]:
    """Picks centres whose rings do not touch; with the chance `border` one lies at the border."""
    outer = style.radius + style.stroke
    centres: list[tuple[int, int]] = []
    while len(centres) < count:
        low = 0.0 if rng.random() < border else outer + 2
        x = int(rng.uniform(low, shape[1] - 1 - low))
        y = int(rng.uniform(low, shape[0] - 1 - low))
        if all(np.hypot(x - a, y - b) > 2.4 * outer for a, b in centres):
            centres.append((x, y))
    return centres


def finish(image: RGB, style: Style) -> RGB:
    """Resizes and compresses a picture as the style says."""
    if style.scale != 1.0:
        size = (round(image.shape[1] * style.scale), round(image.shape[0] * style.scale))
        way = cv2.INTER_AREA if style.scale < 1 else cv2.INTER_CUBIC
        image = np.asarray(cv2.resize(image, size, interpolation=way), np.uint8)
    if style.quality is not None:
        buffer = io.BytesIO()
        Image.fromarray(image).save(
            buffer, "JPEG", quality=style.quality, subsampling=style.subsampling
        )
        image = np.array(Image.open(buffer).convert("RGB"))
    return image


def draw_markers(
    background: RGB,
    labels: str | list[str],
    rng: np.random.Generator,
    style: Style,
    border: float = 0.1,
) -> Drawn:
    """Draws one ring per label at random places; the label "" leaves the tag out (truth: REF)."""
    if style.pen == "pil" and style.stroke % 2 != round(2 * style.radius) % 2:
        style = replace(style, radius=style.radius + 0.5)
    if style.pen == "cv":
        style = replace(style, radius=float(round(style.radius)))
    image = background.copy()
    centres = place_rings(rng, len(labels), image.shape, style, border)
    panels: list[tuple[int, ...]] = []
    for (x, y), _ in zip(centres, labels, strict=True):
        if style.tags_last:
            draw_ring(image, x, y, style)
    for (x, y), label in zip(centres, labels, strict=True):
        if not style.tags_last:
            draw_ring(image, x, y, style)
        if label:
            panels.append(draw_tag(image, label, x, y, style))
    hidden = {}
    angles = np.arange(64) * (2 * np.pi / 64)
    for (x, y), label in zip(centres, labels, strict=True):
        u, v = x + style.radius * np.cos(angles), y + style.radius * np.sin(angles)
        under = np.zeros(64, bool)
        for x0, y0, x1, y1 in panels:
            under |= (u >= x0) & (u < x1) & (v >= y0) & (v < y1)
        hidden[label or "REF"] = float(under.mean())
    ratio = style.scale
    places = {
        label or "REF": ((x + 0.5) * ratio - 0.5, (y + 0.5) * ratio - 0.5)
        for (x, y), label in zip(centres, labels, strict=True)
    }
    return Drawn(finish(image, style), dict(sorted(places.items())), style, hidden)


def draw_boxes(
    background: RGB, count: int, rng: np.random.Generator, style: Style, lettering: str
) -> Drawn:
    """Draws lettered rectangles; `lettering` is "tag", "filled", "plain" or "none"."""
    colours = {"red": (255, 0, 0), "blue": (0, 0, 255), "green": (0, 200, 0),
               "yellow": (255, 230, 0), "magenta": (255, 0, 255)}  # fmt: skip
    names = [str(n) for n in rng.permutation(list(colours))[:count]]
    image = background.copy()
    height, width = image.shape[:2]
    truth: dict[str, tuple[float, ...]] = {}
    plans = []
    for k, name in enumerate(names):
        w, h = (int(rng.uniform(0.15, 0.6) * v) for v in (width, height))
        x0, y0 = int(rng.uniform(4, width - w - 5)), int(rng.uniform(4, height - h - 5))
        plans.append(("ABCDE"[k], name, (x0, y0, x0 + w, y0 + h)))
    for _, name, (x0, y0, x1, y1) in plans:
        cv2.rectangle(image, (x0, y0), (x1, y1), colours[name], style.stroke)
    for label, name, (x0, y0, x1, y1) in plans:
        half, ratio = 0.5, style.scale
        truth[label if lettering != "none" else name] = tuple(
            (v + half) * ratio - half for v in (x0, y0, x1, y1)
        )
        if lettering == "none":
            continue
        ink = letter_picture(label, style)[..., None] / 255
        pad = max(2, ink.shape[0] // 4)
        h, w = ink.shape[0] + 2 * pad, ink.shape[1] + 2 * pad
        top, left = y0 + style.stroke, x0 + style.stroke
        part = image[top : top + h, left : left + w].astype(np.float64)
        ground = {"tag": np.zeros(3), "filled": np.array(colours[name], float), "plain": part}
        white = np.array(colours[name] if lettering == "plain" else (255, 255, 255), float)
        panel = np.broadcast_to(ground[lettering], part.shape).copy()
        inner = panel[pad : pad + ink.shape[0], pad : pad + ink.shape[1]]
        inner[:] = inner * (1 - ink[: inner.shape[0], : inner.shape[1]]) + (
            white * ink[: inner.shape[0], : inner.shape[1]]
        )
        image[top : top + h, left : left + w] = panel.astype(np.uint8)
    return Drawn(finish(image, style), dict(sorted(truth.items())), style)
