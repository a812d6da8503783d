"""Boxes and points on pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PIL import Image

from ..program import Item, PerceptionProgram
from ._canvas import Box, Canvas, Pictures, as_box, as_point, open_row
from ._colour import Colour, category
from ._marks import disc, paste_centred
from ._sheet import sheet
from ._tags import Tag, draw_tags
from ._type import LONGEST_LABEL, printable, short

__all__ = ["colours_of", "draw_places", "mark_asked", "mark_points", "name_of", "paint"]

_CROWD = 25  # more tags than this are lettered smaller


def draw_places(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """Boxes and points with tags of label and reading, a colour for each label, on the image that
    each names.
    """
    names = list(dict.fromkeys(item.i for item in program.items)) or [None]
    known = [
        pictures.need(n, f"picture {name!r}" if name else "picture") for n, name in enumerate(names)
    ]
    canvases = open_row(known, longest)
    colours = colours_of(program.items)
    for name, canvas in zip(names, canvases, strict=True):
        paint(canvas, [item for item in program.items if item.i == name], colours)
    return _with_rest(canvases, program.items, [name or "" for name in names])


def _with_rest(
    canvases: Sequence[Canvas], items: Sequence[Item], captions: Sequence[str]
) -> Image.Image:
    """The sheet, with the items that have no place on a picture listed beneath."""
    rest = [item for item in items if as_point(item.c) is None and as_box(item.c) is None]
    legend = [[" ".join(filter(None, (str(item.c or ""), _wording(item)[0])))] for item in rest]
    return sheet(canvases, captions if items else ["no items"], legend)[0]


def paint(canvas: Canvas, items: Sequence[Item], colours: dict[str, Colour]) -> None:
    """Boxes and points with their tags, in the colours of their names."""
    boxes = [(item, canvas.box(c)) for item in items if (c := as_box(item.c))]
    # Small boxes over large ones, so that none is painted over.
    for item, box in sorted(boxes, key=lambda pair: -_area(pair[1])):
        canvas.outline(box, colours[name_of(item)])
    tags = [
        Tag(box, *_wording(item), colours[name_of(item)])
        for item, box in sorted(boxes, key=lambda pair: _rank(pair[0]))
    ]
    size = round(canvas.text * (0.9 if len(tags) <= _CROWD else 0.65))
    draw_tags(canvas, tags, max(size, 10))
    points = [item for item in items if as_point(item.c)]
    mark_points(canvas, points, [colours[name_of(item)] for item in points])


def mark_points(
    canvas: Canvas,
    items: Sequence[Item],
    colours: Sequence[Colour],
    best: Item | None = None,
    obstacles: Sequence[Box] = (),
) -> None:
    """Points as dots with a tag beside each, which keeps off the obstacles; the best one larger."""
    tags, spots = [], []
    size = max(10, round(canvas.text * (1.0 if len(items) <= _CROWD else 0.65)))
    for item, colour in zip(items, colours, strict=True):
        radius = max(4, round(size * (0.66 if item is best else 0.5)))
        x, y = canvas.at(as_point(item.c) or (0, 0))
        paste_centred(canvas.image, disc(radius, colour), (x, y))
        reach = radius + max(1, size // 6)
        spots.append((x - reach, y - reach, x + reach, y + reach))
        tags.append(Tag(spots[-1], *_wording(item), colour, inside=False))
    order = sorted(range(len(tags)), key=lambda n: items[n] is not best)
    draw_tags(canvas, [tags[n] for n in order], size, [*spots, *obstacles])


def mark_asked(canvas: Canvas, items: Sequence[Item], obstacles: Sequence[Box] = ()) -> None:
    """Points that were asked about, over what is drawn of the rest: letter and reading of each."""
    plain = [replace(item, b=None) for item in items]
    colours = [category(number) for number in range(len(items))]
    mark_points(canvas, plain, colours, obstacles=obstacles)


def _wording(item: Item) -> tuple[str, str]:
    """What a tag says, and what it says where there is little room."""
    if isinstance(item.p, str) and item.b is not None:  # a point that was asked about by its letter
        brief = f"{printable(item.p)} {short(item.r)}"
        return f"{brief} {printable(item.b)}", brief
    name = _label(item)
    if item.r is None:
        return name, name
    return f"{name} {short(item.r)}".strip(), name or short(item.r)


def _label(item: Item) -> str:
    """The label; with the item's number where the font lacks letters for it."""
    if item.b is None:
        return "" if item.p is None else printable(str(item.p))
    label = printable(item.b)
    unclear = label.count("?") > item.b[:LONGEST_LABEL].count("?")
    return f"{printable(str(item.p))} {label}" if unclear and item.p is not None else label


def name_of(item: Item) -> str:
    """What an item's colour goes by."""
    return item.b if item.b is not None else str(item.p)


def colours_of(items: Sequence[Item]) -> dict[str, Colour]:
    """A colour for each name."""
    names = dict.fromkeys(map(name_of, items))
    return {name: category(number) for number, name in enumerate(names)}


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _rank(item: Item) -> float:
    """Confident items choose their tag's place first."""
    return -item.r if isinstance(item.r, float | int) else 0.0
