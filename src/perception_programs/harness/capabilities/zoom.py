"""Zooming in: a part of a picture, enlarged."""

from __future__ import annotations

from ...errors import InputError
from ...geometry import FRAME
from ..capability import Capability, Finding, New, unusable
from ..memory import Memory
from ._boxes import pixel_box

__all__ = ["ZoomIn"]

_LARGEST_SCALE = 8.0
_LONGEST_SIDE = 2048  # pixels of what is shown; models scale down what is larger
_SMALLEST = 4  # pixels of the picture; of fewer there is nothing to see


class ZoomIn(Capability):
    """Cuts out a box and enlarges it, with Lanczos' filter.

    >>> import asyncio, tempfile
    >>> import numpy as np
    >>> memory = Memory(tempfile.mkdtemp())
    >>> picture = memory.add("image", np.zeros((100, 200, 3), np.uint8), made_by="user").handle
    >>> zoomed = asyncio.run(ZoomIn().call(memory, picture, [0, 0, 500, 500], 3.0))
    >>> zoomed.new["part"].value.size
    (300, 150)
    """

    name = "zoom_in"

    async def call(
        self, memory: Memory, image: str, box: list[float], scale: float = 2.0
    ) -> Finding:
        """Enlarge a part of a picture.

        Args:
            memory: what was gathered.
            image: the handle of a picture.
            box: the part as left, top, right, bottom in 0-1000.
            scale: how many times larger, from 1 to 8.
        """
        from PIL import Image

        if not 1 <= scale <= _LARGEST_SCALE:
            raise InputError(f"scale: expected 1 to {_LARGEST_SCALE:g}, got {scale:g}")
        picture = memory.image(image)
        left, top, right, bottom = pixel_box(box, (picture.shape[1], picture.shape[0]))
        if min(right - left, bottom - top) < _SMALLEST:
            return unusable(f"it is only {right - left} by {bottom - top} pixels", image=image)
        scale = min(scale, max(1.0, _LONGEST_SIDE / max(right - left, bottom - top)))
        size = round((right - left) * scale), round((bottom - top) * scale)
        part = Image.fromarray(picture[top:bottom, left:right])
        enlarged = part.resize(size, Image.Resampling.LANCZOS)
        shown = ", ".join(f"{value:g}" for value in box)
        return Finding(
            "found",
            {
                "box": f"[{shown}]",
                "image": image,
                "scale": scale,
                "width": size[0],
                "height": size[1],
            },
            new={
                "part": New(
                    "image",
                    enlarged,
                    (image,),
                    show=True,
                    about=f"{size[0]}×{size[1]} pixels, [{shown}] of {image} (0-{FRAME})",
                )
            },
            raw={"size": list(size)},
        )
