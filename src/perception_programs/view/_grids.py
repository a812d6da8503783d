"""Programs whose items are the cells of a grid, washed over the picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from PIL import Image

from ..geometry import Grid, Size
from ..program import Item, PerceptionProgram, Reading
from ._canvas import Canvas, Pictures
from ._cells import (
    WASH,
    Cell,
    Scale,
    Tiers,
    asked_points,
    boxed_cells,
    cells_of,
    inner,
    middle,
    open_grids,
    regions,
    write_cells,
)
from ._colour import Colour, category, grey
from ._marks import arrow, paste_centred
from ._motions import DIRECTIONS, draw_motion, vector_of
from ._places import mark_asked
from ._sheet import Part, cut, sheet, swatch
from ._type import printable, short, write

__all__ = [
    "draw_albedo",
    "draw_depth",
    "draw_flow",
    "draw_grid",
    "draw_segmentation",
    "draw_similarity",
]


def draw_depth(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """Cells washed by nearness, dark is far and yellow is near, with their lowest and highest."""
    return _draw_scale(program, pictures, longest, "far", "near")


def draw_grid(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """Any other grid: cells washed by their number, or by their word."""
    if any(isinstance(item.c, str) for item in program.items):
        return draw_similarity(program, pictures, longest)
    if any(isinstance(item.r, str) for item in program.items):
        return _draw_classes(program, pictures, longest, lambda i: _word(i.r), _label)
    return _draw_scale(program, pictures, longest, "", "")


def draw_segmentation(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """Cells in the colour of their class, with the share of the cell that it covers."""
    return _draw_classes(program, pictures, longest, lambda item: item.b, _share)


def draw_albedo(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """In each cell a chip in the grey of its surface, to hold against the shaded picture."""
    canvas = open_grids(program, [pictures.need(0)], longest)[0]
    scale = Scale.of((middle(item.r) for item in program.items), grey)
    boxes, items = cells_of(canvas, program)
    colours = [scale.colour(middle(item.r)) if item else None for item in items]
    canvas.tint(boxes, colours, 0.0)
    canvas.rule(boxes)
    chips = [inner(box, 0.14, 0.22, 0.86, 0.78) for box in boxes]
    for chip, colour in zip(chips, colours, strict=True):
        if colour is not None:
            canvas.chip(chip, colour)
    write_cells(canvas, chips, [_reading(item, scale) for item in items], colours)
    return sheet([canvas], legend=[scale.legend(canvas.text, "black", "white")])[0]


def draw_similarity(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """The targets side by side, each washed by the similarity of its cells to the reference's."""
    names = list(dict.fromkeys(i.c for i in program.items if isinstance(i.c, str)))
    known = [pictures.need(n, f"target {name!r}") for n, name in enumerate(names, 1)]
    canvases = open_grids(program, known or [pictures.need(0)], longest)
    scale = Scale.of(middle(item.r) for item in program.items)
    captions = []
    for name, canvas in zip(names, canvases, strict=False):
        items = [item for item in program.items if item.c == name]
        _wash(canvas, program, items, scale)
        values = [v for v in (middle(item.r) for item in items) if v is not None]
        mean = f" · mean {short(sum(values) / len(values), scale.digits)}" if values else ""
        captions.append(f"{printable(name)}{mean}")
    legend = scale.legend(canvases[0].text, "different", "alike", WASH)
    return sheet(canvases, captions, [legend])[0]


def draw_flow(program: PerceptionProgram, pictures: Pictures, longest: int) -> Image.Image:
    """An arrow in each cell, told apart by shape as well as by colour."""
    if any(vector_of(item.r) for item in program.items):
        return draw_motion(program, pictures, longest)
    if not any(item.r in DIRECTIONS for item in program.items if isinstance(item.r, str)):
        return draw_grid(program, pictures, longest)
    canvas = open_grids(program, [pictures.need(0)], longest)[0]
    canvas.mute(colour=0.25, contrast=0.75)
    boxes, items = cells_of(canvas, program)
    colours = [DIRECTIONS.get(str(i.r)) if i is not None else None for i in items]
    canvas.tint(boxes, colours, 0.3)
    canvas.rule(boxes)
    words: list[Tiers] = []
    named = any(item.b for item in program.items)
    # Cells differ by a pixel of the source; the arrows are all of the smallest one's size.
    cell = min(x1 - x0 for x0, _, x1, _ in boxes), min(y1 - y0 for _, y0, _, y1 in boxes)
    for box, item, colour in zip(boxes, items, colours, strict=True):
        words.append([[[_word(item.r)]]] if item is not None and colour is None else [])
        if item is not None and colour is not None:
            _draw_arrow(canvas, box, cell, str(item.r), colour, named=named)
    write_cells(canvas, boxes, words)
    labels = [_label(item) if item is not None else [] for item in items]
    write_cells(canvas, [inner(box, 0, 0.56, 1, 1) for box in boxes], labels)
    mark_asked(canvas, asked_points(program))
    counts = Counter(item.r for item in items if item is not None)
    legend = [_arrow_entry(canvas.text, name, counts[name]) for name in DIRECTIONS if counts[name]]
    legend += [[f"not read {counts[None]}"]] if counts[None] else []
    return sheet([canvas], legend=legend)[0]


def _draw_scale(
    program: PerceptionProgram, pictures: Pictures, longest: int, low: str, high: str
) -> Image.Image:
    canvas = open_grids(program, [pictures.need(0)], longest)[0]
    scale = Scale.of(middle(item.r) for item in program.items)
    _wash(canvas, program, program.items, scale)
    mark_asked(canvas, asked_points(program))
    return sheet([canvas], legend=[scale.legend(canvas.text, low, high, WASH)])[0]


def _wash(canvas: Canvas, program: PerceptionProgram, items: Sequence[Item], scale: Scale) -> None:
    boxes: list[Cell]
    found: Sequence[Item | None]
    boxes, found = boxed_cells(canvas, items)
    if not boxes:
        boxes, found = cells_of(canvas, program, items)
    canvas.mute()
    canvas.tint(boxes, [scale.colour(middle(i.r)) if i else None for i in found], WASH)
    canvas.rule(boxes)
    # Cells of one size are lettered alike; larger ones have room for more.
    levels = [str(item.p).count(".") if item else 0 for item in found]
    for level in sorted(set(levels)):
        rows = [n for n, other in enumerate(levels) if other == level]
        write_cells(canvas, [boxes[n] for n in rows], [_reading(found[n], scale) for n in rows])


def _draw_classes(
    program: PerceptionProgram,
    pictures: Pictures,
    longest: int,
    name_of: Callable[[Item], str | None],
    beneath: Callable[[Item], Tiers],
) -> Image.Image:
    """Cells in the colour of a name, which stands once on each region of them."""
    canvas = open_grids(program, [pictures.need(0)], longest)[0]
    boxes, items = cells_of(canvas, program)
    names = [None if item is None else name_of(item) for item in items]
    counts = Counter(name for name in names if name is not None)
    colours = {name: category(n) for n, (name, _) in enumerate(counts.most_common())}
    canvas.mute(contrast=0.7)
    canvas.tint(boxes, [None if n is None else colours[n] for n in names], 0.5)
    canvas.rule(boxes)
    grid = program.grid or Grid(1, 1)
    _draw_borders(canvas, boxes, names, grid)
    readings = [beneath(item) if item else [] for item in items]
    write_cells(canvas, [inner(box, 0, 0.46, 1, 1) for box in boxes], readings)
    spaces = [inner(box, 0, 0.08, 1, 0.54 if any(readings) else 0.92) for box in boxes]
    for region in regions(names, grid):
        _name_region(canvas, spaces, region, names[region[0]] or "", counts, grid)
    mark_asked(canvas, asked_points(program))
    legend: list[Sequence[Part]] = [
        [swatch(colours[name], canvas.text), f"{printable(name)} · {_percent(count / len(boxes))}"]
        for name, count in counts.most_common()
    ]
    return sheet([canvas], legend=legend)[0]


def _draw_borders(
    canvas: Canvas, boxes: Sequence[Cell], names: Sequence[str | None], grid: Grid
) -> None:
    """Heavier lines between cells of different names."""
    for place, (x0, y0, x1, y1) in enumerate(boxes):
        if (place + 1) % grid.cols and names[place] != names[place + 1]:
            canvas.draw.line((x1, y0, x1, y1), fill=(255, 255, 255), width=canvas.line)
        below = place + grid.cols
        if below < len(boxes) and names[place] != names[below]:
            canvas.draw.line((x0, y1, x1, y1), fill=(255, 255, 255), width=canvas.line)


def _name_region(
    canvas: Canvas,
    spaces: Sequence[Cell],
    region: Sequence[int],
    name: str,
    others: Iterable[str],
    grid: Grid,
) -> None:
    """Writes a region's name in the cell at its heart, as wide as the region is there.

    A name that has to be cut until it may as well be another's is left to the legend.
    """
    row = sum(place // grid.cols for place in region) / len(region)
    col = sum(place % grid.cols for place in region) / len(region)
    inside = set(region)

    def reach(place: int) -> int:
        """How many cells of the region lie on both sides in its row, up to two."""
        room = min(place % grid.cols, grid.cols - 1 - place % grid.cols, 2)
        return next(
            (n for n in range(room) if not {place - n - 1, place + n + 1} <= inside),
            room,
        )

    heart = min(
        region,
        key=lambda p: (p // grid.cols - row) ** 2 + (p % grid.cols - col) ** 2 - 1.5 * reach(p),
    )
    x0, y0, x1, y1 = spaces[heart]
    width = (x1 - x0) * (1 + 2 * reach(heart))
    size = min(canvas.text, round((y1 - y0) * 0.8))
    line = cut(name, size, width)
    kept = line.removesuffix("…").rstrip()
    clear = len(kept) > 2 and not any(o != name and printable(o).startswith(kept) for o in others)
    if size >= 10 and (clear or line == printable(name, 200)):
        write(canvas.draw, ((x0 + x1) / 2, (y0 + y1) / 2), line, size)


def _reading(item: Item | None, scale: Scale) -> Tiers:
    """The reading on one line, or a pair's higher end over its lower; with the label if that fits."""
    if item is None:
        return []
    plain = [[short(item.r, scale.digits)]]
    if isinstance(item.r, tuple):
        plain.append([short(v, scale.digits) for v in reversed(item.r)])
    if item.b:
        return [[[*lines, printable(item.b, 14)] for lines in plain], plain]
    return [plain]


def _share(item: Item) -> Tiers:
    value = item.r
    fraction = isinstance(value, float | int) and 0 <= value <= 1
    return [[[_percent(float(value)) if fraction else short(value)]]]  # type: ignore[arg-type]


def _label(item: Item) -> Tiers:
    return [[[printable(item.b, 14)]], [[printable(item.b, 7)]]] if item.b else []


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.01 or share == 0 else "<1%"


def _word(reading: Reading) -> str:
    return reading if isinstance(reading, str) else short(reading)


def _draw_arrow(
    canvas: Canvas, box: Cell, size: Size, direction: str, colour: Colour, *, named: bool
) -> None:
    part = 0.6 if named else 1.0  # a label goes beneath
    height = part * size[1]
    length = round(min(0.58 * size[0], 1.0 * height, 8 * canvas.text))
    thick = round(min(0.55 * height, 0.62 * length))
    if min(length, thick) >= 3:
        centre = ((box[0] + box[2]) / 2, box[1] + part * (box[3] - box[1]) / 2)
        paste_centred(canvas.image, arrow(length, thick, direction, colour), centre)


def _arrow_entry(text: int, name: str, count: int) -> list[Part]:
    mark = arrow(round(1.3 * text), round(0.8 * text), name, DIRECTIONS[name])
    return [mark, f"{name} {count}"]
