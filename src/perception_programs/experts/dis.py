"""Dense optical flow with OpenCV's DIS, which needs no learned model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import cv2
import numpy as np

from ..errors import InputError
from ..images import ImageLike, load_image
from ..results import FlowField
from .base import Card

__all__ = ["DIS"]

_PRESETS = {
    "ultrafast": cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST,
    "fast": cv2.DISOPTICAL_FLOW_PRESET_FAST,
    "medium": cv2.DISOPTICAL_FLOW_PRESET_MEDIUM,
}
_SMALLEST = 16  # pixels on the short side; OpenCV's coarsest level needs whole patches


class DIS:
    """Dense inverse search (Kroeger et al., 2016), as OpenCV has it.

    Args:
        preset: `ultrafast`, `fast` or `medium`: how thorough.
    """

    card = Card(
        name="dis",
        modality="flow",
        library="opencv-python-headless",
        licence="Apache-2.0",
        polarity="pixels from the first frame to the second; u right, v down",
        limits="two frames of one size, at least 16 pixels a side; loses motion of small, fast objects",
    )

    def __init__(self, preset: Literal["ultrafast", "fast", "medium"] = "medium") -> None:
        if preset not in _PRESETS:
            raise InputError(f"preset: expected one of {', '.join(_PRESETS)}, got {preset!r}")
        self._preset = _PRESETS[preset]

    def __call__(self, first: ImageLike, second: ImageLike) -> FlowField:
        """The motion of each pixel of the first frame.

        Raises:
            InputError: frames of different sizes, or too small.
        """
        frames = [cv2.cvtColor(load_image(frame), cv2.COLOR_RGB2GRAY) for frame in (first, second)]
        sizes = [(frame.shape[1], frame.shape[0]) for frame in frames]
        if sizes[0] != sizes[1]:
            raise InputError(
                "flow: expected two frames of one size, "
                f"got {sizes[0][0]}×{sizes[0][1]} and {sizes[1][0]}×{sizes[1][1]}"
            )
        if min(sizes[0]) < _SMALLEST:
            raise InputError(
                f"flow: expected at least {_SMALLEST} pixels a side, got {sizes[0][0]}×{sizes[0][1]}"
            )
        uv = cv2.DISOpticalFlow_create(self._preset).calc(frames[0], frames[1], None)
        return FlowField(np.asarray(uv, np.float32))

    def batch(self, firsts: Iterable[ImageLike], seconds: Iterable[ImageLike]) -> list[FlowField]:
        """The motion of each pair of frames."""
        return [self(a, b) for a, b in zip(firsts, seconds, strict=True)]
