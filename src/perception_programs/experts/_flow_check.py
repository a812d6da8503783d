"""Which vectors of a flow field the way back confirms."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

__all__ = ["consistency"]

_ALPHA, _BETA = 0.01, 0.5


def consistency(
    forward: npt.NDArray[np.float32], backward: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Whether each vector, followed and then followed back, returns to where it began.

    A vector f at x and the vector b of the way back, read at x + f, agree when
    |f + b|² < 0.01 (|f|² + |b|²) + 0.5 (Sundaram, Brox and Keutzer, 2010: "Dense point
    trajectories by GPU-accelerated large displacement optical flow"). It finds occlusions and motion
    that was made up; it does not find motion that is too small to matter.

    Args:
        forward: H×W×2 pixels from the first frame to the second.
        backward: H×W×2 pixels from the second frame to the first.

    Returns:
        H×W float32: 1 where they agree, 0 where they do not, where x + f lies outside the frame, and
        where either is unknown (NaN or infinite).

    >>> import numpy as np
    >>> right = np.full((4, 6, 2), [2, 0], np.float32)
    >>> consistency(right, -right)[0].tolist()
    [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    """
    height, width = forward.shape[:2]
    x = np.arange(width, dtype=np.float32) + forward[..., 0]
    y = np.arange(height, dtype=np.float32)[:, None] + forward[..., 1]
    # A pixel reaches half a pixel beyond its centre; NaN compares false.
    inside = (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5)
    back = cv2.remap(
        np.ascontiguousarray(backward, np.float32),
        np.where(inside, x, 0),
        np.where(inside, y, 0),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    there = np.where(inside[..., None], forward, 0)
    off = ((there + back) ** 2).sum(axis=-1)
    length = (there**2).sum(axis=-1) + (back**2).sum(axis=-1)
    return np.asarray(inside & (off < _ALPHA * length + _BETA), np.float32)
