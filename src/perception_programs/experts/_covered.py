"""Finding rings that lie partly or wholly under the letter tags of other rings.

Coordinates are pixel indices (x right, y down).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ._tags import Image, Tag

__all__ = ["covered_by", "look_under"]

_ANGLES = np.arange(40) * (2 * np.pi / 40)
_SHOWS = 0.5  # likeness to the rings' colour from which a pixel is the ring's


def covered_by(rgb: Image, tags: Sequence[Tag]) -> NDArray[np.bool_]:
    """Marks the pixels that tags cover: their letters, and what is black around these.

    Args:
        rgb: H×W×3 RGB picture.
        tags: Tags that belong to markers.

    Returns:
        H×W flags.
    """
    black = rgb.max(axis=2) < 60
    covered = np.zeros(black.shape, np.bool_)
    for tag in tags:
        x0, y0, x1, y1 = tag.box
        m = round(0.9 * tag.height)
        part = (slice(max(y0 - m, 0), y1 + m + 1), slice(max(x0 - m, 0), x1 + m + 1))
        covered[part] |= black[part]
        covered[y0 : y1 + 1, x0 : x1 + 1] = True
    return covered


def look_under(
    like: NDArray[np.float32],
    covered: NDArray[np.bool_],
    place: tuple[float, float],
    radius: float,
    reach: float,
) -> tuple[float, float, bool] | None:
    """Looks for a partly covered ring near the place where its tag says it should be.

    Args:
        like: H×W likeness to the colour of the picture's rings, 1 where it is that colour.
        covered: H×W flags of pixels that a tag covers.
        place: Where the ring should be, x and y, pixels.
        radius: Radius of the picture's rings, pixels.
        reach: How far from the place it may be, pixels.

    Returns:
        Its x and y and whether any of it shows; None where it should show but does not.
    """
    steps = np.arange(-reach, reach + 0.25, 0.5)
    dx, dy = (g.ravel() for g in np.meshgrid(steps, steps))
    x, y = place[0] + dx, place[1] + dy
    column = np.round(x[:, None] + radius * np.cos(_ANGLES)).astype(int)
    row = np.round(y[:, None] + radius * np.sin(_ANGLES)).astype(int)
    height, width = like.shape
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    column, row = np.clip(column, 0, width - 1), np.clip(row, 0, height - 1)
    value = like[row, column] * inside
    # Where the ring's colour shows nothing covers it, whatever is near.
    bare = inside & (~covered[row, column] | (value > _SHOWS))
    seen = bare.sum(axis=1)
    shown = (value * bare).sum(axis=1) / np.maximum(seen, 1)
    middle = like[
        np.clip(np.round(y).astype(int), 0, height - 1),
        np.clip(np.round(x).astype(int), 0, width - 1),
    ]
    worth = value.mean(axis=1) + 0.5 * shown - 0.3 * middle - 0.1 * np.hypot(dx, dy) / reach
    best = int(np.argmax(worth))
    # The more of it should show the more it must: a ring in plain sight had been found before.
    least = _SHOWS + 0.3 * float(seen[best]) / len(_ANGLES)
    if shown[best] >= least and seen[best] >= 4:
        return float(x[best]), float(y[best]), True
    # Nothing of it shows, which is no objection only where hardly any of it could show.
    if seen[best] < 0.3 * len(_ANGLES) and inside[best].mean() > 0.5:
        return place[0], place[1], False
    return None
