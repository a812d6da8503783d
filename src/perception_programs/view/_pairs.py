"""Programs about two pictures or more: matches, candidate points, and pieces of a jigsaw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PIL import Image, ImageDraw

from ..geometry import FRAME
from ..images import ImageLike, to_pil
from ..program import Item, PerceptionProgram
from ._canvas import Box, Canvas, Pictures, Point, as_box, as_point, open_row
from ._colour import DARK, RIGHT, Colour, by_position, category, ink_on
from ._marks import disc, paste_centred
from ._places import mark_points
from ._sheet import sheet
from ._type import measure, printable, short, write

__all__ = ["draw_jigsaw", "draw_links", "draw_matches", "draw_semantic"]

_CROWD = 60  # more matches than this are drawn thin
_BEST: Colour = (60, 205, 110)
_OTHER: Colour = (70, 76, 88)


def draw_matches(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """The pictures side by side, with a line from each point to its match.

    Points that were asked about are lettered in both, over the matches and counted apart; one that could
    not be transferred only in the first.
    """
    canvases = open_row(
        [pictures.need(0, "first picture"), pictures.need(1, "second picture")], longest
    )
    for canvas in canvases:
        canvas.mute(colour=0.4, contrast=0.9)
    asked = [item for item in program.items if isinstance(item.p, str) and as_point(item.c)]
    pairs = [
        (start, end)
        for item in program.items
        if not isinstance(item.p, str) and (start := as_point(item.c)) and (end := as_point(item.r))
    ]
    said = [_counted(len(pairs), "match", "es")] if pairs or not asked else []
    said += [_counted(len(asked), "point", "s")] if asked else []
    image, starts = sheet(canvases, ["first picture", f"second picture · {', '.join(said)}"])
    lines = [_line(canvases, starts, *pair) for pair in pairs]
    dot = canvases[0].text * (0.34 if len(pairs) <= _CROWD else 0.2)
    draw_links(image, lines, canvases[0].line, dot)
    _letter_asked(image, canvases, starts, asked)
    return image


def _counted(number: int, what: str, plural: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else plural)


def _letter_asked(
    image: Image.Image, canvases: Sequence[Canvas], starts: Sequence[int], asked: Sequence[Item]
) -> None:
    """Points that were asked about: a line from each to where it is in the other picture, and its letter
    at both ends, with how sure that is.
    """
    colours = [category(number) for number in range(len(asked))]
    lines, here, there = [], [], []
    for item, colour in zip(asked, colours, strict=True):
        start, end = as_point(item.c), as_point(item.r)
        if start and end:
            lines.append((*_line(canvases, starts, start, end)[:2], colour))
            moved = tuple(map(int, end))
            there.append((replace(item, c=moved, r=item.b, b=None), colour))
        here.append((replace(item, r=None if end else item.b, b=None), colour))
    draw_links(image, lines, canvases[0].line, canvases[0].text * 0.34)
    for canvas, x, marks in zip(canvases, starts, (here, there), strict=True):
        side = Canvas(
            image.crop((x, 0, x + canvas.size[0], canvas.size[1])), canvas.size, canvas.text
        )
        mark_points(side, [item for item, _ in marks], [colour for _, colour in marks])
        image.paste(side.image, (x, 0))


def _line(
    canvases: Sequence[Canvas], starts: Sequence[int], start: Point, end: Point
) -> tuple[Point, Point, Colour]:
    (x1, y1), (x2, y2) = canvases[0].at(start), canvases[1].at(end)
    colour = by_position(start[0] / FRAME, start[1] / FRAME)
    return (x1 + starts[0], y1), (x2 + starts[1], y2), colour


def draw_links(
    image: Image.Image, lines: Sequence[tuple[Point, Point, Colour]], width: int, dot: float
) -> None:
    """Smooth lines with a dot at each end.

    A few have a dark edge; many are thin and translucent.

    Args:
        image: what they are drawn on.
        lines: the ends and the colour of each.
        width: of a line, in pixels.
        dot: the radius of a dot.
    """
    few = len(lines) <= _CROWD
    alpha = 255 if few else max(90, round(230 - len(lines) / 4))
    layer = Image.new("RGBA", (2 * image.width, 2 * image.height), (*DARK, 0))
    pen = ImageDraw.Draw(layer)
    reach = 2 * width if few else max(2, width)
    for start, end, colour in lines:
        path = [2 * v for v in (*start, *end)]
        if few:
            pen.line(path, (*DARK, 170), reach + 2 * max(1, width // 2) + 1)
        pen.line(path, (*colour, alpha), reach)
    layer = layer.reduce(2)
    image.paste(layer, (0, 0), layer)
    radius = max(3, round(dot))
    for start, end, colour in lines:
        paste_centred(image, disc(radius, colour), start)
        paste_centred(image, disc(radius, colour), end)


def draw_semantic(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """The candidates with their similarity on the second picture, the best in green; beside the
    reference point on the first one, when that is known.
    """
    second = pictures.need(1, "second picture")
    first = pictures.get(0)
    canvases = open_row([second] if first is None else [first, second], longest)
    items = [item for item in program.items if as_point(item.c)]
    best = _best(items)
    colours = [_BEST if item is best else _OTHER for item in items]
    mark_points(canvases[-1], items, colours, best)
    captions = [_verdict(items, best)]
    if first is not None:
        captions.insert(0, _mark_reference(canvases[0], program.meta.get("reference")))
    return sheet(canvases, captions)[0]


def _mark_reference(canvas: Canvas, reference: object) -> str:
    try:
        item = Item(p="REF", c=reference)  # type: ignore[arg-type]
    except ValueError:
        return "first picture"
    if as_point(item.c) is None:
        return "first picture"
    mark_points(canvas, [item], [RIGHT], item)
    return "first picture: the reference"


def _best(items: Sequence[Item]) -> Item | None:
    """The item with the largest reading; none when two share it."""
    read = [item for item in items if isinstance(item.r, float | int)]
    top = max((item.r for item in read), default=None)  # type: ignore[type-var]
    leaders = [item for item in read if item.r == top]
    return leaders[0] if len(leaders) == 1 else None


def _verdict(items: Sequence[Item], best: Item | None) -> str:
    if best is None:
        return "candidates" if not items else "candidates: no single best"
    return f"candidates: {printable(str(best.p))} is most alike"


def draw_jigsaw(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """The picture completed with each candidate, with the strips that were compared and how well
    they fit; the readings listed in the hole when no candidate's picture is known.
    """
    whole = to_pil(pictures.need(0))
    names = list(dict.fromkeys(item.i for item in program.items)) or [None]
    groups = [[item for item in program.items if item.i == name] for name in names]
    pieces = [pictures.get(number) for number in range(1, len(names) + 1)]
    shown = [n for n, piece in enumerate(pieces) if piece is not None]
    if not shown:
        return _draw_hole(program, whole, names, groups, longest)
    means = [_mean(group) for group in groups]
    filled = [_fill(whole, pieces[n]) for n in shown]
    canvases = open_row([picture for picture, _ in filled], longest)
    for canvas, (_, size), n in zip(canvases, filled, shown, strict=True):
        _draw_strips(canvas, _hole(canvas, size), groups[n])
    return sheet(canvases, [_caption(names[n], means[n], means) for n in shown])[0]


def _fill(whole: Image.Image, piece: ImageLike) -> tuple[Image.Image, tuple[int, int]]:
    """The picture with a piece in its lower right corner, and the piece's size."""
    part = to_pil(piece)
    part.thumbnail(whole.size)
    filled = whole.copy()
    filled.paste(part, (whole.width - part.width, whole.height - part.height))
    return filled, part.size


def _draw_hole(
    program: PerceptionProgram,
    whole: Image.Image,
    names: Sequence[str | None],
    groups: Sequence[Sequence[Item]],
    longest: int,
) -> Image.Image:
    """The picture with its hole marked, and the candidates' readings in it."""
    canvas = open_row([whole], longest)[0]
    hole = _hole(canvas, _known_size(program) or (whole.width // 2, whole.height // 2))
    canvas.shade(hole, DARK, 0.7)
    canvas.outline(hole, RIGHT)
    means = [_mean(group) for group in groups]
    lines = []
    for name, mean, group in zip(names, means, groups, strict=True):
        if group:
            lines.append(_caption(name, mean, means))
            lines += [f"   {printable(str(item.p))} {short(item.r)}" for item in group]
    step = min(1.6 * canvas.text, (hole[3] - hole[1]) / (len(lines) + 1))
    widest = max((measure(line, 100)[0] for line in lines), default=1) / 100
    size = round(min(step / 1.3, 0.9 * (hole[2] - hole[0]) / max(widest, 1)))
    for number, line in enumerate(lines, 1):
        place = (hole[0] + size, hole[1] + number * step)
        write(canvas.draw, place, line, max(size, 9), anchor="lm")
    return sheet([canvas])[0]


def _known_size(program: PerceptionProgram) -> tuple[int, int] | None:
    """The size of a candidate in the picture's pixels, as `meta` has it."""
    sizes = program.meta.get("sizes")
    try:
        width, height = next(iter(sizes.values()))  # type: ignore[union-attr]
        return int(width), int(height)
    except (AttributeError, StopIteration, TypeError, ValueError):
        return None


def _hole(canvas: Canvas, size: tuple[int, int]) -> Box:
    """Where a piece of `size` lies: the lower right corner."""
    width = min(size[0] / canvas.source[0], 1) * canvas.size[0]
    height = min(size[1] / canvas.source[1], 1) * canvas.size[1]
    return canvas.size[0] - width, canvas.size[1] - height, canvas.size[0], canvas.size[1]


def _draw_strips(canvas: Canvas, hole: Box, items: Sequence[Item]) -> None:
    """The compared strips of a candidate, each with its reading beside it."""
    width, height = hole[2] - hole[0], hole[3] - hole[1]
    tags = []
    for number, item in enumerate(items):
        strip = as_box(item.c)
        if strip is None:
            continue
        x0, y0, x1, y1 = strip
        left, top = hole[0] + width * x0 / FRAME, hole[1] + height * y0 / FRAME
        right, bottom = hole[0] + width * x1 / FRAME, hole[1] + height * y1 / FRAME
        colour = category(number)
        canvas.shade((left, top, right, bottom), colour, 0.3)
        canvas.hairline((left, top, right, bottom), colour)
        words = f"{printable(str(item.p))} {short(item.r)}"
        tags.append(((left, top, right, bottom), words, colour))
    for place, words, colour in tags:  # over all strips
        _strip_tag(canvas, hole, place, words, colour)


def _strip_tag(canvas: Canvas, hole: Box, strip: Box, words: str, colour: Colour) -> None:
    """A strip's reading on a plate of its colour, beside its middle and within the hole."""
    size = canvas.text
    width, height = measure(words, size)[0] + 0.6 * size, 1.3 * size
    left, top, right, bottom = strip
    if right - left >= bottom - top:
        x, y = (left + right - width) / 2, bottom if bottom + height <= hole[3] else top - height
    else:
        x, y = right if right + width <= hole[2] else left - width, (top + bottom - height) / 2
    canvas.draw.rectangle((x, y, x + width, y + height), fill=colour)
    middle = (x + width / 2, y + height / 2)
    write(canvas.draw, middle, words, size, ink=ink_on(colour), halo=None)


def _mean(items: Sequence[Item]) -> float | None:
    values = [item.r for item in items if isinstance(item.r, float | int)]
    return sum(values) / len(values) if values else None


def _caption(name: str | None, mean: float | None, means: Sequence[float | None]) -> str:
    """A candidate's letter and mean, and whether it is the one that fits best."""
    if mean is None:
        return printable(name or "")
    known = [m for m in means if m is not None]
    best = len(known) > 1 and mean == max(known) and known.count(mean) == 1
    letter = f"{printable(name)} · " if name else ""
    return f"{letter}mean {mean:.3f}" + (" · fits best" if best else "")
