"""Dense optical flow with OpenCV's DIS, which needs no learned model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import cv2
import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..images import ImageLike, load_image
from ..results import FlowField
from ._flow_check import consistency
from .catalogue import card

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
        check: whether to run the flow both ways, which takes twice the time, and to give each
            vector a confidence: 1 where the way back confirms it, else 0.
    """

    card = card("dis")

    def __init__(
        self, preset: Literal["ultrafast", "fast", "medium"] = "medium", *, check: bool = False
    ) -> None:
        if preset not in _PRESETS:
            raise InputError(f"preset: expected one of {', '.join(_PRESETS)}, got {preset!r}")
        self._preset = _PRESETS[preset]
        self._check = bool(check)

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
        uv = self._flow(frames[0], frames[1])
        return FlowField(
            uv, consistency(uv, self._flow(frames[1], frames[0])) if self._check else None
        )

    def batch(self, firsts: Iterable[ImageLike], seconds: Iterable[ImageLike]) -> list[FlowField]:
        """The motion of each pair of frames."""
        return [self(a, b) for a, b in zip(firsts, seconds, strict=True)]

    def _flow(self, here: Any, there: Any) -> npt.NDArray[np.float32]:
        uv = cv2.DISOpticalFlow_create(self._preset).calc(here, there, None)
        return np.asarray(uv, np.float32)
