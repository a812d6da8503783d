"""Programs as HTML: what a notebook shows, and a page of several."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from ..images import ImageLike, to_pil
from ..program import Item, PerceptionProgram
from ._canvas import LONGEST
from ._document import document, page_style
from ._facts import counted, facts, in_short, shown_text
from ._inline import (
    CELL,
    CODE,
    FAINT,
    FONT,
    SUMMARY,
    THUMBNAIL,
    THUMBNAIL_BYTES,
    WIDE,
    beside,
    data_uri,
    escape,
    fact_rows,
    picture_html,
)
from .overlay import draw

__all__ = ["ImageSrc", "Section", "page", "to_html"]

ImageSrc = Callable[[str, Image.Image], str]
"""Stores a picture under a name (without a suffix) and returns what goes into its `src`."""

_ROWS = 20
_SHORT = 32  # characters
_COLUMNS = ("i", "p", "c", "r", "b", "q")
_PAGE_PICTURE = 1600
_LAYOUTS = {2: " pair", 3: " trio"}


@dataclass(frozen=True)
class Section:
    """One program on a page.

    Attributes:
        title: heading.
        caption: what is to be seen, in a line.
        program: the program; it is drawn on its own pictures, or else on those of the section.
        pictures: (caption, picture) of what the tool was given.
    """

    title: str
    caption: str
    program: PerceptionProgram
    pictures: Sequence[tuple[str, ImageLike]] = ()


def to_html(program: PerceptionProgram) -> str:
    """What a notebook shows of a program: its facts, the picture it is drawn on, items, and text.

    Everything is inline: no scripts, no style sheets, nothing to fetch. A picture that cannot be read
    or drawn on is left out, and the reason takes its place.
    """
    words = (
        fact_rows(facts(program))
        + _items_table(program.rounded())
        + _relations(program)
        + _text(program)
    )
    return beside(_thumbnail(program), words)


def page(sections: Iterable[Section], title: str, image_src: ImageSrc | None = None) -> str:
    """A page of HTML that needs nothing but its pictures: no scripts, no fonts, no network.

    Args:
        sections: the programs, in order.
        title: title and heading of the page.
        image_src: stores each picture and returns its address; without it pictures are put into the
            page itself.
    """
    store = image_src or (lambda _, picture: data_uri(picture, 4 * THUMBNAIL_BYTES))
    listed, taken = list(sections), set[str]()
    names = [_anchor(section.title, taken) for section in listed]
    links = "".join(
        f'<li><a href="#{name}">{escape(section.title)}</a></li>'
        for name, section in zip(names, listed, strict=True)
    )
    body = "".join(_section(s, name, store) for s, name in zip(listed, names, strict=True))
    return document(
        title,
        page_style(),
        f'<header id="top">\n<h1>{escape(title)}</h1>\n'
        f'<nav aria-label="Contents"><ol>{links}</ol></nav>\n</header>\n<main>\n{body}</main>\n',
    )


def _section(section: Section, name: str, store: ImageSrc) -> str:
    program = section.program
    figures = []
    for number, (caption, source) in enumerate(section.pictures, 1):
        try:
            picture = to_pil(source)
        except ValueError as error:
            figures.append(_missing(caption, error))
            continue
        picture.thumbnail((_PAGE_PICTURE, _PAGE_PICTURE))
        figures.append(_figure(picture, store(f"{name}-{number}", picture), caption))
    known = program if program.images else program.with_images(*(p for _, p in section.pictures))
    if known.images:
        try:
            drawn = draw(known, None, None, LONGEST)
        except ValueError as error:
            figures.append(_missing("The program, drawn", error))
        else:
            src = store(f"{name}-overlay", drawn)
            figures.append(_figure(drawn, src, "The program, drawn"))
    # A drawing of several pictures lies beneath them, as wide as they are together; one of a single
    # picture has the larger part of the row.
    wide = bool(figures) and figures[-1].startswith('<figure class="wide"')
    layout = f" row-{min(len(figures) - 1, 3)}" if wide else _LAYOUTS.get(len(figures), "")
    said = " · ".join(map(escape, in_short(program)))
    return (
        f'<section id="{name}">\n<h2><a href="#{name}">{escape(section.title)}</a></h2>\n'
        f"<p>{escape(section.caption)}</p>\n"
        f'<div class="pictures{layout}">\n{"".join(figures)}</div>\n'
        f'<p class="facts">{said}</p>\n'
        f'<pre tabindex="0" role="region" aria-label="Text of the program">{_body(program)}</pre>\n'
        '<p class="up"><a href="#top">Contents</a></p>\n</section>\n'
    )


def _figure(picture: Image.Image, src: str, caption: str) -> str:
    width, height = picture.size
    wide = ' class="wide"' if width > WIDE * height else ""
    address, words = html.escape(src), escape(caption)
    image = f'<img src="{address}" alt="{words}" width="{width}" height="{height}" loading="lazy">'
    # Browsers refuse to open a data: address as a page.
    linked = image if src.startswith("data:") else f'<a href="{address}">{image}</a>'
    return f"<figure{wide}>{linked}<figcaption>{words}</figcaption></figure>\n"


def _missing(caption: str, error: Exception) -> str:
    return (
        f'<figure><p class="missing">{escape(str(error))}</p>'
        f"<figcaption>{escape(caption)}</figcaption></figure>\n"
    )


def _anchor(title: str, taken: set[str]) -> str:
    """A name for an address from a title, unlike any other of the page."""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "section"
    name, number = base, 2
    while name in taken or name == "top":
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name


def _thumbnail(program: PerceptionProgram) -> str:
    if not program.images:
        return ""
    try:
        picture = draw(program, None, None, THUMBNAIL)
    except (OSError, ValueError) as error:
        reason = escape(f"No picture: {error}")
        return f'<p style="flex:1 1 260px;margin:0;{FAINT}">{reason}</p>'
    return picture_html(picture, f"{program.modality} program drawn on its picture")


def _items_table(program: PerceptionProgram) -> str:
    if not program.items:
        return f'<p style="margin:4px 0;{FAINT}">no items</p>'
    return (
        f'<details open style="margin:4px 0"><summary style="{SUMMARY}">'
        f"{counted(len(program), 'item')}</summary>"
        f'<div style="overflow:auto;max-height:250px">{_table(program)}</div></details>'
    )


def _table(program: PerceptionProgram) -> str:
    """The first items, each with its parts beneath, folded away."""
    items = program.items
    columns = [c for c in _COLUMNS if any(getattr(i, c) is not None for i in items)]
    head = "".join(f'<th scope="col" style="{CELL};{FAINT}">{name}</th>' for name in columns)
    rows = "".join(_item_row(item, columns) for item in items[:_ROWS])
    more = len(items) - _ROWS
    note = f'<p style="margin:4px 0;{FAINT}">… {more} more</p>' if more > 0 else ""
    return (
        f'<table style="border-collapse:collapse;margin:0;{FONT}">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{note}"
    )


def _item_row(item: Item, columns: Sequence[str]) -> str:
    cells = ""
    for name in columns:
        value = _value(getattr(item, name))
        # Short ones stay on their line, long ones may break anywhere, or the table would be too wide.
        breaks = "white-space:nowrap" if len(value) <= _SHORT else "overflow-wrap:anywhere"
        cells += (
            f'<td dir="auto" style="{CELL};font-variant-numeric:tabular-nums;{breaks}">{value}</td>'
        )
    row = f'<tr style="background:none">{cells}</tr>'
    if item.parts is None:
        return row
    inner = (
        f'<details style="margin:0 0 0 14px"><summary style="{SUMMARY}">parts of '
        f"{_value(item.p)}: {escape(item.parts.modality)}, {counted(len(item.parts), 'item')}</summary>"
        f"{_table(item.parts)}{_relations(item.parts)}</details>"
    )
    return f'{row}<tr style="background:none"><td colspan="{len(columns)}" style="{CELL}">{inner}</td></tr>'


def _value(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, tuple):
        return escape("[" + ", ".join("null" if v is None else f"{v}" for v in value) + "]")
    return escape(str(value))


def _relations(program: PerceptionProgram) -> str:
    relations = program.relations
    if not relations:
        return ""
    lines = [f"{r.subject} {r.predicate} {r.object}" for r in relations[:_ROWS]]
    more = len(relations) - _ROWS
    lines += [f"… {more} more"] if more > 0 else []
    rows = "<br>".join(escape(line) for line in lines)
    return (
        f'<details style="margin:4px 0"><summary style="{SUMMARY}">'
        f"{counted(len(relations), 'relation')}</summary>"
        f'<div style="overflow:auto;max-height:250px;padding-left:14px">{rows}</div></details>'
    )


def _text(program: PerceptionProgram) -> str:
    return (
        f'<details style="margin:4px 0"><summary style="{SUMMARY}">text of the program</summary>'
        f'<pre style="{CODE};overflow:auto;max-height:400px;margin:4px 0;padding:8px 10px;white-space:pre-wrap;overflow-wrap:anywhere;'
        f'background:rgba(128,128,128,.1);border-radius:4px">{_body(program)}</pre></details>'
    )


def _body(program: PerceptionProgram) -> str:
    text, cut = shown_text(program)
    return html.escape(f"{text}\n… {cut} characters more" if cut else text)
