"""Boxes as models write them."""

from __future__ import annotations

import math

from ..._plain import plain_number
from ...errors import InputError
from ...geometry import FRAME, Size

__all__ = ["pixel_box"]


def pixel_box(box: list[float], size: Size) -> tuple[int, int, int, int]:
    """Left, top, right and bottom pixel of a box in 0-1000, outermost pixels included.

    Raises:
        InputError: not four numbers in 0-1000, or corners the wrong way round.

    >>> pixel_box([0, 250, 500, 1000], (200, 100))
    (0, 25, 100, 100)
    """
    if len(box) != 4:
        raise InputError(f"box: expected left, top, right, bottom, got {len(box)} numbers")
    left, top, right, bottom = (plain_number(value, "box") for value in box)
    if not (0 <= left < right <= FRAME and 0 <= top < bottom <= FRAME):
        raise InputError(f"box: expected 0 ≤ left < right ≤ {FRAME}, and top < bottom, got {box}")
    width, height = size
    return (
        math.floor(left * width / FRAME),
        math.floor(top * height / FRAME),
        math.ceil(right * width / FRAME),
        math.ceil(bottom * height / FRAME),
    )
