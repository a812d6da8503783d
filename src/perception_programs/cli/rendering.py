"""A result as a plain grey picture, to draw its program on when the real picture is not at hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import to_numpy
from ..results import DepthMap, FlowField, Segmentation

__all__ = ["rendering"]

_DARKEST, _LIGHTEST = 40.0, 215.0  # neither black nor white, so that marks stay readable
_UNKNOWN = 128


def rendering(result: DepthMap | FlowField | Segmentation) -> npt.NDArray[np.uint8]:
    """H×W×3: nearness, speed, or a grey for each class, light being near, fast, or a later class."""
    if isinstance(result, DepthMap):
        values = to_numpy(result.nearness())
    elif isinstance(result, FlowField):
        uv = to_numpy(result.uv)
        values = np.hypot(uv[..., 0], uv[..., 1])
    else:
        values = np.unique(result.classes, return_inverse=True)[1].reshape(result.classes.shape)
    return _grey(values.astype(np.float32))


def _grey(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    known = np.isfinite(values)
    low, high = values[known].min(), values[known].max()
    share = (values - low) / (high - low) if high > low else np.full_like(values, 0.5)
    levels = np.where(known, _DARKEST + share * (_LIGHTEST - _DARKEST), _UNKNOWN)
    return np.repeat(np.rint(levels).astype(np.uint8)[..., None], 3, axis=2)
