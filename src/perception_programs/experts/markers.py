"""The markers that benchmarks draw on pictures: lettered red rings and lettered rectangles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from ..errors import InputError
from ..images import image_name, load_image
from ..results import Points
from ._boxes import find_boxes
from ._pairing import find_markers
from .catalogue import card

__all__ = ["Markers"]

Shape = Literal["auto", "rings", "boxes"]
_SHAPES = ("auto", "rings", "boxes")


class Markers:
    """Finds the rings or rectangles that were drawn on a picture, with their letters.

    Rings are red circle outlines with a white letter on a black tag beside them; a ring without a
    tag, or with a tag that says REF, is labelled "REF". Rectangles are coloured outlines with a
    letter at a corner or inside; they are labelled by their colour where no letter can be read.

    Args:
        shape: "rings" or "boxes" to look for one kind only; "auto" looks for rectangles where
            there is no ring.

    Raises:
        InputError: The shape is none of these.
    """

    card = card("markers")

    def __init__(self, *, shape: Shape = "auto") -> None:
        if shape not in _SHAPES:
            raise InputError(f"shape: expected one of {', '.join(_SHAPES)}, got {shape!r}")
        self.shape = shape

    def __call__(self, image: Any, *, name: str | None = None) -> Points:
        """Finds the markers of one picture.

        Args:
            image: A path, the bytes of an image file, a PIL image or an array.
            name: What the result calls the picture; the file name by default, if there is one.

        Returns:
            Ring centres as points, or the middles of the outlines as boxes, in pixels of the
            picture (x right, y down; the first pixel's centre is 0, 0), labels in order. Empty
            points where nothing was found.

        Raises:
            InputError: The image cannot be read.
        """
        rgb = load_image(image)
        size = (rgb.shape[1], rgb.shape[0])
        limit = np.array([size[0] - 1, size[1] - 1], np.float64)
        called = name if name is not None else image_name(image)
        if self.shape != "boxes":
            rings = find_markers(rgb)
            if rings or self.shape == "rings":
                # The centre of a ring at the border may lie a little outside.
                centres = np.array([(r.x, r.y) for r in rings], np.float64).reshape(-1, 2)
                return Points(
                    points=np.clip(centres, 0, limit).astype(np.float32),
                    labels=tuple(r.label for r in rings),
                    image=called,
                    size=size,
                )
        frames = find_boxes(rgb)
        if not frames and self.shape == "auto":
            return Points(points=np.zeros((0, 2), np.float32), image=called, size=size)
        corners = np.array([f.box for f in frames], np.float64).reshape(-1, 4)
        return Points(
            boxes=np.clip(corners, 0, np.tile(limit, 2)).astype(np.float32),
            labels=tuple(f.label for f in frames),
            image=called,
            size=size,
        )

    def batch(self, images: Iterable[Any]) -> list[Points]:
        """Finds the markers of many pictures; the same as calling once for each."""
        return [self(image) for image in images]
