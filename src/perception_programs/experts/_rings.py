"""Finding thin red rings that were drawn on a picture.

A drawn ring is a closed circular line of one saturated red, of one radius and one line width, whose
inside and outside both differ from the line. Two steps follow from that:

1. :func:`propose` correlates a redness map with annulus kernels over an image pyramid, which is
   cheap, needs no edges and still answers where a part of the ring is hidden.
2. :func:`measure` looks at each proposal along spokes from its centre, fits centre, radius and line
   width to the spokes, and says how much of the circumference shows the line.

Coordinates are pixel indices (x right, y down; the centre of the top-left pixel is (0, 0)).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["Ring", "closeness", "measure", "propose", "redness"]

Image = NDArray[np.uint8]
Floats = NDArray[np.float32]
Values = NDArray[np.float64]

_SPOKES = 48
_ANGLES = np.arange(_SPOKES) * (2 * np.pi / _SPOKES)
_COS, _SIN = np.cos(_ANGLES), np.sin(_ANGLES)
# Kernel radii of one octave; the pyramid covers all others. Each has a thick and a thin line.
_KERNELS = tuple((r, w) for r in (3.0, 3.8, 4.8) for w in (0.3, 0.65))
_MAX_PROPOSALS = 160
_LEAST_ANSWER = 0.06  # of a kernel, in redness
_LEAST_RED = 0.2  # redness of a drawn line, even compressed


@dataclass(frozen=True)
class Ring:
    """One circular line.

    Attributes:
        x: Centre, pixels.
        y: Centre, pixels.
        radius: From the centre to the middle of the line, pixels.
        stroke: Line width, pixels.
        coverage: Share of the visible circumference on which the line shows, 0..1.
        visible: Share of the circumference that lies in the picture, 0..1.
        contrast: Mean redness of the line less that of its surroundings, 0..1.
        evenness: 1 where the line has one redness all around, lower where it varies, 0..1.
        line: Mean redness of the line, 0..1.
        hollow: Contrast of the line against the inside alone, 0..1.
        crowd: How much of the line's own colour lies outside, within another radius, 0..1.
        colour: Mean RGB of the line, 0..255.
    """

    x: float
    y: float
    radius: float
    stroke: float
    coverage: float
    visible: float
    contrast: float
    evenness: float
    line: float
    hollow: float
    crowd: float
    colour: tuple[float, float, float]

    @property
    def score(self) -> float:
        """How ring-like it is, 0..1."""
        strength = min(1.0, self.contrast / 0.3)
        # A blob has a line as wide as its radius. So has a small ring, once compression has
        # blurred it by about two pixels, and a very fat one, whose hole is empty all the same.
        thin = float(np.clip((0.55 * self.radius + 2.5 - self.stroke) / 0.5, 0, 1))
        empty = float(np.clip((self.hollow / max(self.line, 1e-6) - 0.55) / 0.2, 0, 1))
        empty *= float(np.clip((1.1 - self.stroke / self.radius) / 0.1, 0, 1))
        size = float(np.clip((self.radius - 2.2) / 0.4, 0, 1))
        return self.coverage * strength * (0.5 + 0.5 * self.evenness) * max(thin, empty) * size


def redness(rgb: Image) -> Floats:
    """Says how purely red each pixel is.

    Orange and brown, with more green than blue, count for less than red and pink do. Red with a
    tinge of blue does not: compression mixes the colours of thin lines with those beside them.

    Args:
        rgb: H×W×3 RGB picture.

    Returns:
        H×W map, 0 (not red) to 1 (pure red).
    """
    red, green, blue = (rgb[..., k].astype(np.float32) for k in range(3))
    value = red - np.maximum(green, blue) - 0.5 * np.maximum(green - blue, 0)
    return np.asarray(np.clip(value / 255.0, 0.0, 1.0), np.float32)


def closeness(rgb: Image, colour: tuple[float, float, float]) -> Floats:
    """Says how close each pixel is to one colour.

    Args:
        rgb: H×W×3 RGB picture.
        colour: The RGB colour, 0..255.

    Returns:
        H×W map, 1 at the colour itself, 0 from 110 grey levels away.
    """
    away = np.linalg.norm(rgb.astype(np.float32) - np.asarray(colour, np.float32), axis=2)
    return np.asarray(np.clip(1.0 - away / 110.0, 0.0, 1.0), np.float32)


def _kernel(radius: float, stroke: float) -> Floats:
    """Makes an annulus kernel: line mean less the mean of what lies inside and outside it."""
    half = int(np.ceil(radius + 1.5 * stroke + 1))
    y, x = np.mgrid[-half : half + 1, -half : half + 1].astype(np.float32)
    rho = np.hypot(x, y)
    line = np.clip(stroke / 2 + 0.5 - np.abs(rho - radius), 0, 1)
    inside = np.clip(radius - stroke / 2 - rho, 0, 1)
    outside = np.clip(rho - radius - stroke / 2, 0, 1) * np.clip(
        radius + 1.5 * stroke + 1 - rho, 0, 1
    )
    kernel = line / line.sum() - 0.5 * inside / inside.sum() - 0.5 * outside / outside.sum()
    return np.asarray(kernel, np.float32)


@lru_cache(maxsize=1)
def _kernels() -> tuple[tuple[float, Floats], ...]:
    """Gives the radius, in pixels, and the kernel of every annulus looked for."""
    return tuple((r, _kernel(r, w * r)) for r, w in _KERNELS)


def propose(red: Floats, max_radius: float) -> NDArray[np.float64]:
    """Proposes circles on which a redness map is higher than beside them.

    Args:
        red: H×W redness map, 0..1.
        max_radius: Largest radius to look for, pixels.

    Returns:
        N×3 (x, y, radius) in pixels, strongest first; neighbouring answers are kept only once.
    """
    found: list[NDArray[np.float64]] = []
    level, scale = red, 1.0
    # A line stays coloured, however thin, so what is nowhere red needs no looking at.
    active = np.asarray(red > _LEAST_RED, np.uint8)
    while min(level.shape) >= 8 and 3.0 * scale <= max_radius:
        for x0, y0, x1, y1 in _active_parts(active):
            rows = _propose_at(level[y0:y1, x0:x1])
            rows[:, 0] += x0
            rows[:, 1] += y0
            # The centre of a pixel of this level in pixels of the whole picture.
            rows[:, :2] = (rows[:, :2] + 0.5) * scale - 0.5
            rows[:, 2] *= scale
            found.append(rows)
        scale *= 2.0
        size = (max(1, level.shape[1] // 2), max(1, level.shape[0] // 2))
        level = np.asarray(cv2.resize(level, size, interpolation=cv2.INTER_AREA), np.float32)
        active = cv2.resize(
            cv2.dilate(active, np.ones((2, 2), np.uint8)), size, interpolation=cv2.INTER_NEAREST
        ).astype(np.uint8)
    rows = np.concatenate(found) if found else np.zeros((0, 4))
    return _thin_out(rows[np.argsort(-rows[:, 3])])


def _active_parts(active: NDArray[np.uint8], cell: int = 32) -> list[tuple[int, int, int, int]]:
    """Lists rectangles (x0, y0, x1, y1; ends excluded) that hold all marked pixels of a map."""
    height, width = active.shape
    padded = np.pad(active, ((0, -height % cell), (0, -width % cell)))
    cells = padded.reshape(padded.shape[0] // cell, cell, padded.shape[1] // cell, cell)
    # One cell of margin, so that no ring is cut by the rectangle it is looked for in.
    grid = cv2.dilate(cells.max(axis=(1, 3)), np.ones((3, 3), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(grid, connectivity=4)
    parts = []
    for x, y, w, h, _ in stats[1:].tolist():
        ends = min((x + w) * cell, width), min((y + h) * cell, height)
        parts.append((x * cell, y * cell, *ends))
    if sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in parts) > 0.8 * height * width:
        return [(0, 0, width, height)]
    return parts


def _propose_at(level: Floats) -> NDArray[np.float64]:
    """Gives N×4 (x, y, radius, answer) for one part of one pyramid level, in its own pixels."""
    pad = 10
    padded = cv2.copyMakeBorder(level, pad, pad, pad, pad, cv2.BORDER_REPLICATE)
    best = np.full(padded.shape, -1.0, np.float32)
    radius = np.zeros(padded.shape, np.float32)
    for size, kernel in _kernels():
        answer = cv2.filter2D(padded, cv2.CV_32F, kernel, borderType=cv2.BORDER_REPLICATE)
        np.copyto(radius, size, where=answer > best)
        np.maximum(best, answer, out=best)
    peak = (best >= cv2.dilate(best, np.ones((3, 3), np.uint8))) & (best > _LEAST_ANSWER)
    y, x = np.nonzero(peak)
    order = np.argsort(-best[y, x])[:_MAX_PROPOSALS]
    y, x = y[order], x[order]
    rows = np.stack([x - pad, y - pad, radius[y, x], best[y, x]], axis=1)
    return np.asarray(rows, np.float64)


def _thin_out(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drops proposals that nearly repeat a stronger one; rows are (x, y, radius, answer)."""
    kept: list[NDArray[np.float64]] = []
    for row in rows:
        if len(kept) >= 2 * _MAX_PROPOSALS:
            break
        if kept:
            others = np.asarray(kept)
            near = np.hypot(others[:, 0] - row[0], others[:, 1] - row[1]) < 0.3 * row[2]
            alike = np.abs(np.log(others[:, 2] / row[2])) < 0.15
            if bool((near & alike).any()):
                continue
        kept.append(row)
    return np.asarray(kept).reshape(-1, 4)[:, :3]


def _spokes(
    field: NDArray[Any], x: Values, y: Values, radii: Values
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Samples a picture or map along the spokes of circles.

    Args:
        field: H×W or H×W×3.
        x: K centres, pixels.
        y: K centres, pixels.
        radii: K×M distances from the centre, pixels.

    Returns:
        K×S×M(×3) samples, and K×S×M flags: True where the sample lies in the picture.
    """
    u = x[:, None, None] + _COS[None, :, None] * radii[:, None, :]
    v = y[:, None, None] + _SIN[None, :, None] * radii[:, None, :]
    height, width = field.shape[:2]
    inside = (u >= -0.5) & (u <= width - 0.5) & (v >= -0.5) & (v <= height - 0.5)
    # remap() wants both sides of its maps below 2^15.
    shape = (u.shape[0] * u.shape[1], u.shape[2])
    out: list[NDArray[Any]] = []
    for k in range(0, shape[0], 30000):
        part = slice(k, k + 30000)
        out.append(
            cv2.remap(
                field,
                u.reshape(shape)[part].astype(np.float32),
                v.reshape(shape)[part].astype(np.float32),
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REPLICATE,
            )
        )
    samples = np.concatenate(out).reshape(*u.shape, *field.shape[2:])
    return samples.astype(np.float64), inside


def _fit(
    red: Floats, circles: NDArray[np.float64], rounds: int, keep_radius: bool
) -> NDArray[np.float64]:
    """Moves circles onto the lines they lie near; K×3 (x, y, radius) in and out, pixels.

    Each spoke says at what distance it meets the line. To first order that distance is
    radius + dx cos + dy sin, so a weighted least-squares step moves the circle there; spokes
    that meet no line have no weight, which is what makes partly hidden rings come out right.
    """
    grid = np.linspace(0.4, 1.6, 37)
    design = np.stack([np.ones(_SPOKES), _COS, _SIN], axis=1)
    for _ in range(rounds):
        radii = circles[:, 2:3] * grid
        samples, inside = _spokes(red, circles[:, 0], circles[:, 1], radii)
        base = np.percentile(samples, 25, axis=2, keepdims=True)
        window = np.exp(-0.5 * ((grid - 1) / 0.3) ** 2)
        mass = np.clip(samples - base - 0.03, 0, None) * inside * window
        total = mass.sum(axis=2)
        where = (mass * radii[:, None, :]).sum(axis=2) / np.maximum(total, 1e-9)
        # A cap, so that a red thing beside the line cannot outweigh the other spokes.
        cap = np.percentile(total, 60, axis=1, keepdims=True) + 1e-6
        weight = np.minimum(total, cap)
        residual = where - circles[:, 2:3]
        normal = np.einsum("ks,si,sj->kij", weight, design, design)
        normal += np.eye(3) * (0.02 * weight.sum(axis=1) + 1e-6)[:, None, None]
        if keep_radius:
            normal[:, 0, 0] += 1e4 * weight.sum(axis=1)
        right = np.einsum("ks,ks,si->ki", weight, residual, design)
        step = np.linalg.solve(normal, right[..., None])[..., 0]
        bound = 0.35 * circles[:, 2:3]
        step = np.clip(step, -bound, bound)
        circles = np.stack(
            [
                circles[:, 0] + step[:, 1],
                circles[:, 1] + step[:, 2],
                np.maximum(circles[:, 2] + step[:, 0], 1.5),
            ],
            axis=1,
        )
    return circles


def _strokes(red: Floats, circles: NDArray[np.float64]) -> Values:
    """Gives the K line widths in pixels: area under the mean radial profile over its height."""
    grid = np.linspace(0.2, 1.9, 69)
    radii = circles[:, 2:3] * grid
    samples, inside = _spokes(red, circles[:, 0], circles[:, 1], radii)
    seen = np.maximum(inside.sum(axis=1), 1)
    profile = (samples * inside).sum(axis=1) / seen
    near = np.abs(radii - circles[:, 2:3]) < np.maximum(1.0, 0.12 * circles[:, 2:3])
    peak = np.where(near, profile, 0).max(axis=1)
    base = np.percentile(profile, 25, axis=1)
    height = np.maximum(peak - base, 1e-3)
    step = circles[:, 2] * (grid[1] - grid[0])
    above = np.clip((profile - base[:, None]) / height[:, None], 0, 1)
    # Only the lobe of the profile that holds the line: beyond a valley something else begins.
    middle = int(np.argmin(np.abs(grid - 1)))
    low = above < 0.35
    cut_right = np.cumsum(low[:, middle:], axis=1) > 0
    cut_left = np.cumsum(low[:, middle::-1], axis=1) > 0
    right = np.where(cut_right, 0, 1)
    left = np.where(cut_left, 0, 1)[:, ::-1]
    lobe = np.concatenate([left[:, :-1], right], axis=1)
    width = lobe.sum(axis=1) * step
    return np.asarray(np.clip(width, 1.0, 1.2 * circles[:, 2]))


def measure(
    rgb: Image,
    red: Floats,
    proposals: NDArray[np.float64],
    rounds: int = 4,
    keep_radius: bool = False,
) -> list[Ring]:
    """Fits a ring to every proposal and measures how ring-like it is.

    Args:
        rgb: H×W×3 RGB picture.
        red: H×W redness (or closeness) map, 0..1.
        proposals: K×3 (x, y, radius), pixels.
        rounds: Fitting steps; 0 measures the circles as they are given.
        keep_radius: Whether only the centres are fitted, which a short arc needs.

    Returns:
        The rings, in the order of the proposals, without those that are no rings at all.
    """
    if not len(proposals):
        return []
    circles = _fit(red, proposals, rounds, keep_radius) if rounds else proposals
    stroke = _strokes(red, circles)
    radius = circles[:, 2]
    gap = np.maximum(0.9, 0.3 * stroke)
    radii = np.stack(
        [
            radius - stroke / 5,
            radius,
            radius + stroke / 5,
            np.maximum(0.0, radius - stroke / 2 - gap),
            np.maximum(0.0, (radius - stroke / 2 - gap) / 2),
            radius + stroke / 2 + gap,
            radius + stroke / 2 + 1.5 * gap,
            *(radius * t + stroke / 2 + 1 for t in (1.15, 1.35, 1.55, 1.75, 1.95)),
        ],
        axis=1,
    )
    samples, inside = _spokes(red, circles[:, 0], circles[:, 1], radii)
    shades, _ = _spokes(rgb, circles[:, 0], circles[:, 1], radii[:, 1:2])
    rings = []
    for k in np.nonzero(_worth_judging(samples, inside))[0]:
        rings.append(_judge(circles[k], stroke[k], samples[k], inside[k], shades[k, :, 0]))
    return rings


def _worth_judging(samples: NDArray[np.float64], inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Says which of K circles show a line on half their spokes; K×S×12 as measure() lays out."""
    line = samples[:, :, :3].mean(axis=2)
    step = 2 * line - samples[:, :, 3:5].mean(axis=2) - samples[:, :, 5:7].mean(axis=2)
    seen = inside[:, :, 1]
    shows = (line > 0.08) & (step > 0.04) & seen
    return np.asarray(shows.sum(axis=1) >= np.maximum(0.45 * seen.sum(axis=1), 6))


def _judge(
    circle: NDArray[np.float64],
    stroke: float,
    samples: NDArray[np.float64],
    inside: NDArray[np.bool_],
    shades: NDArray[np.float64],
) -> Ring:
    """Sums up the spokes of one circle; samples and inside are S×12 as measure() lays them out."""
    x, y, radius = (float(v) for v in circle)
    seen = inside[:, 1]
    visible = float(seen.mean())
    nothing = Ring(x, y, radius, float(stroke), 0, visible, 0, 0, 0, 0, 1, (0.0, 0.0, 0.0))
    if seen.sum() < 8:
        return nothing
    line = samples[:, :3].mean(axis=1)
    core = samples[:, 3:5].mean(axis=1)
    outer = samples[:, 5:7].mean(axis=1)
    hollow = line - core
    beyond = line - outer
    typical = float(np.median(line[seen]))
    gain = float(np.median((hollow + beyond)[seen])) / 2
    if typical < 0.1 or gain <= 0.02:
        return nothing
    shows = (line > 0.5 * typical) & (np.maximum(hollow, beyond) > 0.4 * gain) & seen
    if not shows.any():
        return nothing
    values = line[shows]
    spread = float(values.std() / max(values.mean(), 1e-6))
    contrast = float((hollow + beyond)[shows].mean() / 2)
    ground = samples[:, 7:][inside[:, 7:]]
    crowd = ground > typical - 0.5 * max(contrast, 0.0)
    return Ring(
        x=x,
        y=y,
        radius=radius,
        stroke=float(stroke),
        coverage=float(shows.sum() / seen.sum()),
        visible=visible,
        contrast=contrast,
        evenness=max(0.0, 1 - 2 * spread),
        line=float(values.mean()),
        hollow=float(hollow[shows].mean()),
        crowd=float(crowd.mean()) if crowd.size else 0.0,
        colour=tuple(float(v) for v in np.median(shades[shows], axis=0)),  # type: ignore[arg-type]
    )
