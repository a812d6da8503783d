"""Colours: ramps for readings, a palette for categories, and the ink that is read on each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

__all__ = [
    "DARK",
    "LEFT",
    "RIGHT",
    "WHITE",
    "Colour",
    "Ramp",
    "by_position",
    "category",
    "grey",
    "heat",
    "ink_on",
]

Colour: TypeAlias = tuple[int, int, int]
Ramp: TypeAlias = Callable[[float], Colour]

WHITE: Colour = (255, 255, 255)
DARK: Colour = (18, 20, 24)
LEFT: Colour = (86, 180, 233)
RIGHT: Colour = (240, 150, 20)

# Nine steps of viridis: equal steps of a reading look equally far apart, also to colour-blind eyes
# and in grey.
_HEAT: tuple[Colour, ...] = (
    (68, 1, 84),
    (71, 45, 123),
    (59, 82, 139),
    (44, 114, 142),
    (33, 145, 140),
    (40, 174, 128),
    (94, 201, 98),
    (173, 220, 48),
    (253, 231, 37),
)

# Okabe and Ito's colours, which colour-blind eyes tell apart, with the darkest two made lighter.
_CATEGORIES: tuple[Colour, ...] = (
    (240, 150, 20),
    (86, 180, 233),
    (0, 178, 130),
    (240, 228, 66),
    (228, 92, 60),
    (214, 130, 190),
    (70, 130, 220),
    (165, 205, 90),
    (170, 130, 100),
    (190, 190, 200),
)
_GOLDEN_TURN = 137.508  # degrees: hues that far apart never come close to an earlier one


def heat(t: float) -> Colour:
    """The colour of `t` in [0, 1] on a ramp of even steps, dark violet to bright yellow.

    >>> heat(0), heat(1)
    ((68, 1, 84), (253, 231, 37))
    """
    place = min(max(t, 0.0), 1.0) * (len(_HEAT) - 1)
    step = min(int(place), len(_HEAT) - 2)
    return _mix(_HEAT[step], _HEAT[step + 1], place - step)


def grey(t: float) -> Colour:
    """The grey of `t` in [0, 1]: what an albedo looks like."""
    level = round(255 * min(max(t, 0.0), 1.0))
    return level, level, level


def category(number: int) -> Colour:
    """The colour of the category with this number, counted from 0; those past the tenth are made up."""
    if number < len(_CATEGORIES):
        return _CATEGORIES[number]
    lightness = (0.72, 0.58, 0.84)[number % 3]
    return _oklch(lightness, 0.13, number * _GOLDEN_TURN)


def by_position(x: float, y: float) -> Colour:
    """A colour for a place in the unit square: hue by x, lightness by y, so neighbours look alike."""
    return _oklch(0.82 - 0.24 * y, 0.16, 20 + 310 * x)


def ink_on(colour: Colour) -> Colour:
    """White or dark, whichever is read better on `colour`."""
    linear = [((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return DARK if luminance > 0.195 else WHITE


def _mix(a: Colour, b: Colour, t: float) -> Colour:
    red, green, blue = (round(p + (q - p) * t) for p, q in zip(a, b, strict=True))
    return red, green, blue


def _oklch(lightness: float, chroma: float, hue: float) -> Colour:
    """OKLCH (Ottosson, 2020) as sRGB, clipped."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        _gamma(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
        _gamma(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
        _gamma(-0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short),
    )


def _gamma(linear: float) -> int:
    value = min(max(linear, 0.0), 1.0)
    curve = 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
    return round(255 * curve)
