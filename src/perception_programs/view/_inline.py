"""The look of what a notebook shows: everything inline, since a cell brings no style sheet."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping

from PIL import Image

from ._type import visible

__all__ = [
    "CELL",
    "CODE",
    "FAINT",
    "FONT",
    "SUMMARY",
    "THUMBNAIL",
    "THUMBNAIL_BYTES",
    "WIDE",
    "beside",
    "data_uri",
    "escape",
    "fact_rows",
    "picture_html",
]

THUMBNAIL = 900
"""Pixels of the longer side of a picture in a cell."""
THUMBNAIL_BYTES = 105_000
"""Bytes that such a picture may have: 140 kB as base64."""
WIDE = 1.9
"""Pictures wider than this by their height get a row of their own."""

FONT = "font:13px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif"
FAINT = "opacity:.7"
SUMMARY = "cursor:pointer;padding:4px 0"
CODE = "font:12px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
_LINE = "1px solid rgba(128,128,128,.3)"
CELL = f"padding:3px 10px 3px 0;text-align:left;vertical-align:top;border:0;border-bottom:{_LINE};background:none"

_LONGEST_WORDS = 2000


def escape(text: str) -> str:
    """Text as HTML: cut where it is very long, with what hides or reorders text as escapes."""
    if len(text) > _LONGEST_WORDS:
        text = text[:_LONGEST_WORDS] + "…"
    return html.escape(visible(text))


def beside(picture: str, words: str) -> str:
    """A picture and what is said of it, side by side where there is room."""
    return (
        f'<div style="{FONT};max-width:1100px;display:flex;flex-wrap:wrap;gap:4px 20px;'
        f'align-items:flex-start;margin:6px 0">{picture}'
        f'<div style="flex:1 1 300px;min-width:0">{words}</div></div>'
    )


def picture_html(picture: Image.Image, alt: str) -> str:
    """A picture with its bytes in it."""
    width = "100%" if picture.width > WIDE * picture.height else "min(100%,620px)"
    return (
        f'<img src="{data_uri(picture, THUMBNAIL_BYTES)}" alt="{escape(alt)}" '
        f'style="width:{width};max-width:{picture.width}px;height:auto;border-radius:4px;margin:0">'
    )


def data_uri(picture: Image.Image, limit: int) -> str:
    """The picture as a JPEG of at most `limit` bytes, in an address of its own."""
    while True:
        for quality in (86, 74, 60):
            file = io.BytesIO()
            # Without subsampling of colour: thin coloured lines and letters stay sharp.
            picture.save(file, "JPEG", quality=quality, subsampling=0, optimize=True)
            if file.tell() <= limit or max(picture.size) <= 64:
                return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
        picture = picture.resize(
            (max(1, picture.width * 3 // 4), max(1, picture.height * 3 // 4)),
            Image.Resampling.LANCZOS,
        )


def fact_rows(facts: Mapping[str, str]) -> str:
    """Facts by name, a row each."""
    cells = "".join(
        f'<tr style="background:none"><th scope="row" style="{CELL};{FAINT};font-weight:normal;white-space:nowrap">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in facts.items()
    )
    return f'<table style="border-collapse:collapse;margin:0;{FONT}"><tbody>{cells}</tbody></table>'
