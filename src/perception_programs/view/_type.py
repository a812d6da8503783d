"""Lettering: the font that ships with Pillow, what it can print, and text that fits a space."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence
from typing import cast

from PIL import ImageDraw, ImageFont

from ..program import Reading, numbers_in
from ._colour import DARK, WHITE, Colour

__all__ = ["fit", "font", "measure", "printable", "short", "visible", "visible_lines", "write"]

LEADING = 1.12
"""The distance of two lines of text, by their size."""
LONGEST_LABEL = 28
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
# Letters that decomposition doesn't take apart, and the dashes; the font holds little beyond ASCII.
_FOLDED = {
    **dict.fromkeys("–—−‐‑", "-"),
    **{"ß": "ss", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "œ": "oe", "ı": "i"},
    **{"Æ": "AE", "Ø": "O", "Ł": "L", "Đ": "D", "Œ": "OE"},
}


@functools.lru_cache(maxsize=64)
def font(size: int) -> ImageFont.FreeTypeFont:
    """Pillow's own font at `size` pixels."""
    return cast("ImageFont.FreeTypeFont", ImageFont.load_default(size=size))


def measure(text: str, size: int) -> tuple[int, int]:
    """The width of a line of text and the height it needs, in pixels."""
    return round(font(size).getlength(text)), size


def printable(text: str, longest: int = LONGEST_LABEL) -> str:
    r"""`text` as one line that the font can print, cut to `longest` characters.

    Accents are dropped, control and bidirectional characters appear as escapes, and what the font
    has no letter for as a question mark.

    >>> printable("café\n"), printable("a" * 50, 5)
    ('cafe\\n', 'aaaa…')
    """
    letters = unicodedata.normalize("NFC", text[: 4 * longest])
    line = "".join(map(_printed, letters)).strip() or ("?" if text.strip() else "")
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def visible(text: str) -> str:
    r"""`text` with what would not show, or would reorder its neighbours, as escapes.

    >>> visible("a\u202eb")
    'a\\u202eb'
    """
    if text.isprintable():
        return text
    keep = "\u200c\u200d"  # joiners: Indic scripts and emoji are wrong without them
    hidden = {c for c in text if unicodedata.category(c) in _HIDDEN and c not in keep}
    return "".join(_escape(c) if c in hidden else c for c in text)


def visible_lines(text: str) -> str:
    r"""The same of a text of several lines, which stay apart.

    >>> visible_lines("a\nb\u202e")
    'a\nb\\u202e'
    """
    return "\n".join(map(visible, text.split("\n")))


def short(reading: Reading, digits: int | None = None) -> str:
    """A reading at the precision that a picture has room for.

    Numbers have `digits` decimals, or two and less from 10 up.

    >>> short(0.12345), short((0.1, 0.25)), short(132.7), short(None)
    ('0.12', '0.10 - 0.25', '133', '-')
    """
    if reading is None:
        return "-"
    if isinstance(reading, tuple):
        joint = " to " if any(v < 0 for v in numbers_in(reading)) else " - "
        return joint.join(short(v, digits) for v in reading)
    if isinstance(reading, str):
        return printable(reading)
    if isinstance(reading, int):
        return str(reading) if abs(reading) < 1e6 else f"{reading:.1e}"
    size = abs(reading)
    if size >= 1e6:
        return f"{reading:.1e}"
    if digits is None:
        digits = 2 if size < 10 else 1 if size < 100 else 0
    return f"{reading:.{digits}f}"


def write(
    draw: ImageDraw.ImageDraw,
    place: tuple[float, float],
    text: str,
    size: int,
    *,
    anchor: str = "mm",
    ink: Colour = WHITE,
    halo: Colour | None = DARK,
) -> None:
    """Text with a halo, readable on any ground; with `halo=None` for a ground that is known."""
    stroke = 0 if halo is None else max(1, round(size / 9))
    draw.text(
        place, text, ink, font(size), anchor=anchor, stroke_width=stroke, stroke_fill=halo or ink
    )


def fit(lines: Sequence[str], space: tuple[float, float], largest: int, smallest: int) -> int:
    """The font size, up to `largest`, at which lines fit a space; 0 when below `smallest`."""
    unit = max(font(100).getlength(line) for line in lines) / 100
    size = min(largest, int(space[0] / max(unit, 0.1)), int(space[1] / (LEADING * len(lines))))
    return size if size >= smallest else 0


@functools.lru_cache(maxsize=4096)
def _printed(letter: str) -> str:
    if _has(letter):
        return letter
    kind = unicodedata.category(letter)
    if kind in _HIDDEN:
        return _escape(letter)
    if kind.startswith("M"):
        return ""
    if kind == "Zs":
        return " "
    parts = _FOLDED.get(letter) or "".join(
        c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c)
    )
    return parts if parts and all(map(_has, parts)) else "?"


@functools.lru_cache(maxsize=4096)
def _has(letter: str) -> bool:
    if letter == " ":
        return True
    if unicodedata.category(letter) in (*_HIDDEN, "Zs"):
        return False
    return bytes(font(20).getmask(letter)) != _missing()


@functools.lru_cache(maxsize=1)
def _missing() -> bytes:
    return bytes(font(20).getmask("\U000f0000"))


def _escape(letter: str) -> str:
    code = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(letter)
    number = ord(letter)
    return code or (f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}")
