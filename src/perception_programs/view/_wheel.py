"""The colour wheel of optical flow: hue says which way, saturation how far."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..images import RGB

__all__ = ["wheel"]

_MOST = (
    99  # percentile of the lengths that is full colour: one stray vector shall not pale the rest
)


def wheel(uv: npt.NDArray[Any], valid: npt.NDArray[np.bool_]) -> RGB:
    """A flow field in colours: right is red, down is green-yellow, left is cyan, up is violet.

    Hue is the direction, clockwise from the right as it is seen; what does not move is white, what
    moves as far as the fastest hundredth in full colour; unknown vectors are black.

    Args:
        uv: H×W×2, pixels to the right and down.
        valid: H×W, where it is known.
    """
    import cv2

    u, v = (np.where(valid, uv[..., axis], 0).astype(np.float32) for axis in (0, 1))
    length = np.hypot(u, v)
    full = max(float(np.percentile(length[valid], _MOST)), np.finfo(np.float32).tiny)
    hue = np.rad2deg(np.arctan2(v, u)) % 360
    hsv = np.stack([hue, np.clip(length / full, 0, 1), valid], axis=-1).astype(np.float32)
    rgb: npt.NDArray[Any] = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
    levels: RGB = np.rint(255 * rgb).astype(np.uint8)
    return levels
