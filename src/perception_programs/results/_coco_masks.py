"""COCO's segmentations and masks: polygons, and run-length codes, compressed to text or not.

A run-length code counts the pixels outside, inside, outside… column by column. Its text holds each
count as its difference to the last but one, in groups of five bits from the lowest up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import describe, is_series
from ..errors import InputError
from ..geometry import Size
from ._check import coordinates

__all__ = ["encode_mask", "mask_of"]

_FIRST = 48  # the character of a group of five zero bits
_LONGEST = 8  # groups: counts of 40 bits


def mask_of(segmentation: Any, size: Size, name: str) -> Any:
    """H×W bool, from a list of polygons or a run-length code.

    A pixel is inside a polygon when its centre is.

    Raises:
        InputError: neither, or a code of another image; the message begins with `name`.
    """
    width, height = size
    if isinstance(segmentation, Mapping):
        if list(segmentation.get("size", ())) != [height, width]:
            raise InputError(
                f"{name}: expected a run-length code of size [{height}, {width}] like the image, "
                f"got {describe(segmentation.get('size'))}"
            )
        runs = _runs(segmentation.get("counts"), name)
        if sum(runs) != width * height:
            raise InputError(
                f"{name}: expected runs that fill {width}×{height} pixels, got {sum(runs)} pixels"
            )
        inside = np.repeat(np.arange(len(runs)) % 2 == 1, runs)
        return inside.reshape(width, height).T
    if not is_series(segmentation) or not len(segmentation):
        raise InputError(
            f"{name}: expected polygons or a run-length code, got {describe(segmentation)}"
        )
    from skimage import draw

    fill: Any = draw.polygon2mask  # without types in some versions
    mask = np.zeros((height, width), bool)
    for part in segmentation:
        mask |= fill(mask.shape, _corners(part, name)[:, ::-1] - 0.5)
    return mask


def _corners(part: Any, name: str) -> Any:
    """N×2 corners of a polygon `[x, y, x, y, …]`."""
    if not is_series(part) or len(part) < 6 or len(part) % 2:
        raise InputError(f"{name}: expected polygons [x, y, x, y, x, y, …], got {describe(part)}")
    return coordinates([part], len(part), name).reshape(-1, 2)


def _runs(counts: Any, name: str) -> list[int]:
    if isinstance(counts, (str, bytes)):
        return _decoded(counts.encode() if isinstance(counts, str) else counts, name)
    good = isinstance(counts, (list, tuple)) and all(
        type(run) is int and run >= 0 for run in counts
    )
    if not good:
        raise InputError(f"{name}: expected the counts of runs, got {describe(counts)}")
    return list(counts)


def _decoded(code: bytes, name: str) -> list[int]:
    runs: list[int] = []
    value = groups = 0
    for byte in code:
        group = byte - _FIRST
        if not 0 <= group < 64 or groups == _LONGEST:
            raise InputError(f"{name}: expected the text of counts, got {describe(code)}")
        value |= (group & 31) << 5 * groups
        groups += 1
        if group & 32:  # more to come
            continue
        if group & 16:  # negative
            value -= 1 << 5 * groups
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
        value = groups = 0
        if runs[-1] < 0:
            break
    if groups or (runs and runs[-1] < 0):
        raise InputError(f"{name}: expected the text of counts, got {describe(code)}")
    return runs


def encode_mask(mask: Any) -> dict[str, Any]:
    """The compressed run-length code of an H×W mask.

    >>> encode_mask(np.eye(2, dtype=bool))
    {'size': [2, 2], 'counts': '0120'}
    """
    flat = np.concatenate([[False], np.ravel(mask, order="F"), [False]])
    edges = np.flatnonzero(flat[1:-1] != flat[:-2])
    runs = np.diff(np.concatenate([[0], edges, [mask.size]])).tolist()
    return {"size": list(mask.shape), "counts": _encoded(runs)}


def _encoded(runs: Sequence[int]) -> str:
    text = ""
    for number, run in enumerate(runs):
        value = run - runs[number - 2] if number > 2 else run
        while True:
            group = value & 31
            value >>= 5
            done = value == (-1 if group & 16 else 0)
            text += chr(_FIRST + group + (0 if done else 32))
            if done:
                break
    return text
