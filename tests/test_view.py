"""Programs drawn on pictures, in a notebook and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from perception_programs import (
    Grid,
    InputError,
    Item,
    PerceptionProgram,
    Relation,
    depth_program,
)
from perception_programs.view import Section, overlay, page, to_html
from perception_programs.view._canvas import fitted_size
from perception_programs.view._cells import regions
from perception_programs.view._colour import LEFT, RIGHT, by_position, category, heat, ink_on
from perception_programs.view._type import printable, short, visible

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "line\nbreak\x00\x1b[31m",
    "\u202eevil\u2066\u2069",
    "猫 и 😀 ﷽",
    "a" * 100_000,
    "e" + "\u0301" * 500,
    "\ud800",
    "",
    "   ",
]
SIZES = [(64, 64), (336, 336), (1200, 700), (300, 900), (1, 1), (3000, 20)]


def picture(size: tuple[int, int], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(60, 200, (9, 9, 3), np.uint8))
    return np.asarray(small.resize(size, Image.Resampling.BILINEAR))


def grid_program(modality: str, readings: Sequence[Any], grid: int, **fields: Any) -> Any:
    items = [Item(n, c=(0, 0), r=r, **fields) for n, r in enumerate(readings, 1)]
    return PerceptionProgram(modality, "patch", tuple(items), grid=Grid(grid, grid))


def boxes(*labels: str) -> PerceptionProgram:
    items = [
        Item(n, (60 * n, 50 * n, 60 * n + 300, 50 * n + 300), 0.9 - 0.01 * n, label)
        for n, label in enumerate(labels, 1)
    ]
    return PerceptionProgram("object-detection", "bounding-box", tuple(items))


def samples() -> dict[str, PerceptionProgram]:
    """A program of each modality, and of modalities that the package does not know."""
    depth = [(0.01 * n, 0.01 * n + 0.05) if n % 7 else None for n in range(64)]
    segmentation = [
        Item(n, (0, 0), 0.5 + n / 80, ["sky", "grass", "a bicycle"][n // 6]) for n in range(1, 17)
    ]
    semantic = [Item("A", (100, 900), 0.4), Item("B", (990, 10), 0.8), Item("C", (500, 500), None)]
    similarity = [Item(n, t, n / 10 + 0.05 * (t == "B")) for t in "AB" for n in range(1, 5)]
    strips = {"left": (0, 0, 80, 1000), "top": (0, 0, 1000, 80)}
    return {
        "depth": grid_program("depth", depth, 8),
        "albedo": grid_program("albedo", [0.1, 0.9, None, 0.5], 2),
        "flow": grid_program("flow", ["left", "right", None, "left"], 2, b="car"),
        "segmentation": PerceptionProgram(
            "segmentation", "patch", tuple(segmentation), grid=Grid(4, 4)
        ),
        "similarity": PerceptionProgram("similarity", "patch", tuple(similarity), grid=Grid(2, 2)),
        "correspondence": PerceptionProgram(
            "correspondence",
            "keypoint",
            tuple(Item(n, (10 * n, 999 - 9 * n), (9 * n, 500)) for n in range(1, 100)),
        ),
        "jigsaw": PerceptionProgram(
            "jigsaw",
            "border",
            tuple(Item(p, c, 0.5 + 0.1 * (i == "A"), i=i) for i in "AB" for p, c in strips.items()),
        ),
        "object-detection": boxes("person", "dog", "person"),
        "semantic": PerceptionProgram(
            "semantic", "point", tuple(semantic), meta={"reference": (250, 750)}
        ),
        "point-detection": PerceptionProgram(
            "point-detection",
            "pixels",
            (Item(c=(0, 0), b="REF", i="one.png"), Item(c=(1000, 1000), b="A", i="two.png")),
        ),
        "depth with points": PerceptionProgram(
            "depth",
            "patch",
            (
                *(Item(n, (0, 0), (0.1, 0.2, 0.2 * n)) for n in range(1, 5)),
                Item("A", (120, 900), 0.3, "rank 2 of 2", q="sure"),
                Item("B", (700, 50), None, q=0.25),
            ),
            grid=Grid(2, 2),
        ),
        "points of depth": PerceptionProgram(
            "depth", "point", (Item("A", (120, 900), 0.3, "rank 1 of 1"), Item("B", (9, 9), None))
        ),
        "adaptive depth": PerceptionProgram("depth", "patch", quarters(), grid=Grid(1, 2)),
        "motion": PerceptionProgram(
            "flow",
            "patch",
            (
                *(Item(n, (0, 0), r) for n, r in enumerate([(3.0, -4.0, 5.0), "still", None], 1)),
                Item(4, (0, 0), "no reliable motion", "car"),
                Item("A", (500, 500), (0.0, 6.5, 6.5)),
                Item("B", (20, 500), "still"),
            ),
            grid=Grid(2, 2),
        ),
        "motion of points": PerceptionProgram(
            "flow", "point", (Item("A", (500, 500), (-9.0, 0.0, 9.0)), Item("B", (9, 9), None))
        ),
        "scene": scene(),
        "heat": grid_program("heat", [-3.5, 12, 1e9, None], 2),
        "material": grid_program("material", ["wood", "metal", "wood", None], 2),
        "caption": PerceptionProgram("caption", "image", (Item(1, None, "a dog on a lawn"),)),
    }


def quarters() -> tuple[Item, ...]:
    """Two cells, of which the second is cut in quarters and one of those again."""
    boxes = {1: (0, 0, 500, 1000), "2.1": (500, 0, 750, 500), "2.2": (750, 0, 1000, 500)}
    boxes |= {"2.3": (500, 500, 750, 1000)}
    small = [(750, 500), (875, 500), (750, 750), (875, 750)]
    boxes |= {f"2.4.{n}": (x, y, x + 125, y + 250) for n, (x, y) in enumerate(small, 1)}
    return tuple(Item(p, box, (n / 10, n / 10 + 0.2)) for n, (p, box) in enumerate(boxes.items()))


def scene() -> PerceptionProgram:
    """A person with a phone, a cat that is nowhere near, and a background."""
    phone = Item(2, (260, 400, 340, 520), (0.95, -6.0, 0.5), "phone", q=0.5)
    cells = PerceptionProgram("depth", "patch", (Item(1, (850, 500), (0.1, 0.2)),), grid=1)
    inner = PerceptionProgram("scene", "object", (phone,))
    items = (
        Item(1, (200, 200, 400, 900), (0.9, -6.0, 0.5), "person", q=0.9, parts=inner),
        Item(3, (800, 400, 900, 600), (None, None, None), "cat", parts=cells),
        Item("background", r=(0.1, 2.0, 0.0)),
    )
    relations = (Relation(1, "left_of", 3), Relation(1, "moving_left", "background"))
    return PerceptionProgram("scene", "object", items, relations)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", samples())
def test_every_modality_at_every_size(name: str, size: tuple[int, int]) -> None:
    first, second, third = (picture(size, seed) for seed in range(3))
    kept = first.copy(), second.copy()
    program = samples()[name].with_images(first, second, third)
    drawn = overlay(program)
    assert isinstance(drawn, Image.Image) and drawn.mode == "RGB"
    assert np.array_equal(first, kept[0]) and np.array_equal(second, kept[1])
    if size == (336, 336):
        assert overlay(program).tobytes() == drawn.tobytes()
    width, height = fitted_size(size)
    assert max(drawn.width, width) <= 2000
    if name in ("depth", "albedo", "flow", "object-detection", "heat", "caption"):
        assert drawn.width == width and drawn.height >= height
        plain = Image.fromarray(first).resize((width, height), Image.Resampling.LANCZOS)
        changed = np.asarray(drawn)[:height] != np.asarray(plain)
        assert changed.any() or name == "caption"


def test_sizes_are_those_documented() -> None:
    program = boxes("dog")
    for size, expected in {
        (64, 64): (480, 480),
        (336, 336): (480, 480),
        (640, 480): (640, 480),
        (1920, 1080): (1920, 1080),
        (4000, 3000): (2000, 1500),
        (100, 10): (2000, 200),
    }.items():
        assert overlay(program, picture(size)).size == expected
    fine = grid_program("depth", [0.5] * 400, 20)
    assert overlay(fine, picture((64, 64))).width == 800


def test_near_is_washed_yellow_and_far_violet() -> None:
    grey = np.full((600, 600, 3), 128, np.uint8)
    drawn = np.asarray(overlay(grid_program("depth", [(0, 0), (1, 1), 0.5, None], 2), grey))
    far, near, unread = (drawn[30, 30], drawn[30, 570], drawn[330:570, 330:570])
    assert far[2] > far[1] and near[0] > 150 and near[1] > 150 and near[2] < 100
    assert near.sum() > far.sum()
    # The cell without a reading keeps its grey, under stripes.
    assert (unread == 128).all(axis=-1).mean() > 0.5
    assert (unread > 170).all(axis=-1).mean() > 0.05


def test_scale_follows_readings_beyond_one() -> None:
    grey = np.full((600, 600, 3), 128, np.uint8)
    drawn = np.asarray(overlay(grid_program("heat", [-10.0, 0.0, 0.0, 10.0], 2), grey))
    assert drawn[580, 580].sum() > drawn[330, 30].sum() > drawn[30, 30].sum()


def test_albedo_shows_its_grey() -> None:
    colour = np.zeros((600, 600, 3), np.uint8)
    colour[..., 0] = 200
    drawn = np.asarray(overlay(grid_program("albedo", [0.0, 1.0, 0.2, 0.8], 2), colour))
    for (y, x), level in {(85, 60): 0, (85, 360): 255, (385, 60): 51, (385, 360): 204}.items():
        assert drawn[y, x].tolist() == [level] * 3


def test_arrows_differ_by_shape_and_colour() -> None:
    grey = np.full((600, 600, 3), 128, np.uint8)
    drawn = np.asarray(overlay(grid_program("flow", ["left", "right", "left", None], 2), grey))
    left, right = drawn[2:298, 2:298].astype(int), drawn[2:298, 302:598].astype(int)
    inside = [np.abs(c - v).sum(-1) < 12 for c, v in ((left, LEFT), (right, RIGHT))]
    assert inside[0].sum() > 1000 and inside[1].sum() > 1000
    # Mirrored, not the same mark in another colour: an arrow's head is its taller end.
    heads = [mask.sum(0)[:150].max() - mask.sum(0)[150:].max() for mask in inside]
    assert heads[0] > 20 and heads[1] < -20


def test_cells_of_several_sizes_lie_where_they_say() -> None:
    grey = np.full((800, 1600, 3), 128, np.uint8)
    program = PerceptionProgram("depth", "patch", quarters(), grid=Grid(1, 2))
    drawn = np.asarray(overlay(program, grey))
    spots = [(70, 70), (70, 830), (70, 1230), (730, 830), (430, 1220), (430, 1420), (630, 1220)]
    sums = [int(drawn[y, x].sum()) for y, x in spots]
    assert sums == sorted(sums) and len(set(sums)) == len(sums), "each reads more than the last"
    line = drawn[70, 799:802].astype(int).sum(-1).min()
    assert line < sums[0] - 20, "a line between cells"
    assert abs(int(drawn[70, 400].sum()) - sums[0]) < 10, "and none through a large one"


def test_points_lie_over_the_cells() -> None:
    grey = np.full((600, 600, 3), 128, np.uint8)
    cells = [Item(n, (0, 0), 0.5) for n in range(1, 5)]
    points = [Item("A", (150, 250), 0.3, "rank 2 of 2"), Item("B", (750, 750), 0.9, "rank 1 of 2")]
    program = PerceptionProgram("depth", "patch", (*cells, *points), grid=Grid(2, 2))
    drawn = np.asarray(overlay(program, grey))
    for number, (x, y) in enumerate([(90, 150), (450, 450)]):
        assert drawn[y, x].tolist() == list(category(number))


def test_motion_has_its_direction_and_length() -> None:
    grey = np.full((600, 600, 3), 128, np.uint8)
    readings = [(4.0, 0.0, 4.0), (0.0, 8.0, 8.0), (-2.0, 0.0, 2.0), "still"]
    drawn = np.asarray(overlay(grid_program("flow", readings, 2), grey)).astype(int)
    right, down, left = (
        np.argwhere(np.abs(drawn[y : y + 300, x : x + 300] - colour).sum(-1) < 12)
        for (y, x), colour in zip(
            [(0, 0), (0, 300), (300, 0)], [RIGHT, category(5), LEFT], strict=True
        )
    )
    lengths = [np.ptp(right[:, 1]), np.ptp(down[:, 0]), np.ptp(left[:, 1])]
    assert lengths[1] == pytest.approx(2 * lengths[0], rel=0.1)
    assert lengths[0] == pytest.approx(2 * lengths[2], rel=0.1)
    # An arrow's head is its broader end.
    assert np.ptp(right[right[:, 1] > 160, 0]) > 2 * np.ptp(right[right[:, 1] < 140, 0])
    still = drawn[302:598, 302:598]
    assert (np.abs(still - 160).sum(-1) < 6).sum() > 20


def test_a_scene_is_drawn_with_its_parts_and_motion() -> None:
    grey = np.full((600, 1000, 3), 128, np.uint8)
    drawn = np.asarray(overlay(scene(), grey)).astype(int)
    for y, x in ((300, 201), (300, 399), (280, 261), (270, 801)):
        assert (drawn[y, x] != 128).any()
    middle = drawn[300:360, 230:370]  # the person moves to the left
    assert (np.abs(middle - LEFT).sum(-1) < 12).sum() > 100
    assert drawn.shape[0] > 600, "the background is told beneath"
    quiet = PerceptionProgram("scene", "object", (Item(1, (200, 200, 400, 900), (0.5,), "cat"),))
    assert overlay(quiet, grey).size == (1000, 600)
    bare = PerceptionProgram("scene", "object", (Item(1, (200, 200, 400, 900), None, "cat"),))
    assert overlay(bare, grey).size == (1000, 600)


def test_notebook_view_shows_reliability_and_parts() -> None:
    checker = check_html(to_html(scene()))
    assert "parts of 1: scene, 1 item" in checker.text
    assert "parts of 3: depth, 1 item" in checker.text
    assert "phone" in checker.text and "[0.95, -6.0, 0.5]" in checker.text
    assert "[null, null, null]" in checker.text
    heads = [tag for tag, _ in checker.seen if tag == "th"]
    plain = check_html(to_html(boxes("dog")))
    assert len(heads) > len([tag for tag, _ in plain.seen if tag == "th"])
    worded = PerceptionProgram("depth", "patch", (Item(1, (5, 5), 0.5, q="doubtful"),))
    assert "doubtful" in check_html(to_html(worded)).text
    hostile = PerceptionProgram("x", "y", (Item(1, parts=boxes(*HOSTILE), q=HOSTILE[0]),))
    assert "<script>alert(1)</script>" in check_html(to_html(hostile)).text


def test_boxes_are_outlined_where_they_are() -> None:
    grey = np.full((500, 1000, 3), 128, np.uint8)
    program = PerceptionProgram(
        "object-detection", "bounding-box", (Item(1, (200, 400, 600, 800), 0.9, "dog"),)
    )
    drawn = np.asarray(overlay(program, grey))
    for y, x in ((300, 201), (300, 599), (201, 500), (399, 500)):
        assert drawn[y, x].tolist() == list(category(0))
    assert drawn[300, 400].tolist() == [128] * 3 and drawn[450, 900].tolist() == [128] * 3


def test_tags_stay_inside_and_apart() -> None:
    """Each label has its own colour, so the solid runs of colours are the tags."""
    grey = np.full((600, 800, 3), 128, np.uint8)
    corners = [(0, 0, 60, 60), (940, 0, 1000, 60), (0, 940, 60, 1000), (940, 940, 1000, 1000)]
    same = [(300, 300, 700, 700)] * 5
    items = tuple(Item(n, c, 0.5, f"label {n}") for n, c in enumerate(corners + same, 1))
    drawn = np.asarray(overlay(PerceptionProgram("object-detection", "box", items), grey))
    areas = [(drawn == category(n)).all(-1).sum() for n in range(len(items))]
    assert min(areas) > 500, "every tag shows most of its ground"


def test_matches_are_joined_across_the_pictures() -> None:
    black = np.zeros((500, 500, 3), np.uint8)
    program = PerceptionProgram(
        "correspondence", "keypoint", (Item(1, (500, 200), (500, 200)), Item(2, (100, 900), None))
    )
    drawn = np.asarray(overlay(program, black, black))
    column = drawn[60:140, 400].astype(int)
    target = np.array(by_position(0.5, 0.2))
    assert np.abs(column - target).sum(-1).min() < 12
    # On the black gutter's white too, and nowhere below.
    assert np.abs(drawn[100, 504].astype(int) - target).sum() < 12
    assert (drawn[300:480, :490] == drawn[300, 10]).all()


def test_points_asked_about_are_lettered_and_counted_apart() -> None:
    """A match and a point that run alike: the point has its tag in both pictures, the match none."""
    black = np.zeros((500, 500, 3), np.uint8)
    match = Item(1, (500, 200), (500, 200))
    point = Item("A", (500, 700), (500, 700), "spread 12")
    lost = Item("B", (500, 900), None, "outside the second image")
    drawn, plain, one = (
        np.asarray(overlay(PerceptionProgram("correspondence", "keypoint", items), black, black))
        for items in ((match, point, lost), (match,), (match, replace(point, p=2)))
    )
    second = slice(508, None)
    tags = [(drawn[300:480, half] == category(0)).all(-1).sum() for half in (slice(500), second)]
    assert min(tags) > 150 and tags[1] > 2 * tags[0], "the letter, and with it the spread"
    assert (drawn[400:480, :500] == category(1)).all(-1).sum() > 500
    assert not (drawn[400:480, second] == category(1)).all(-1).any()
    assert (drawn[:200] == plain[:200]).all(), "the match is drawn as without points"
    assert (drawn[500:] != one[500:]).any(), "1 match, 2 points; not 2 matches"


def test_best_candidate_is_green_and_a_tie_has_none() -> None:
    grey = np.full((500, 500, 3), 128, np.uint8)

    def green(readings: Sequence[float]) -> int:
        items = tuple(
            Item(p, (200 + 500 * n, 500), r)
            for n, (p, r) in enumerate(zip("AB", readings, strict=True))
        )
        drawn = np.asarray(overlay(PerceptionProgram("semantic", "point", items), None, grey))
        return int((drawn == (60, 205, 110)).all(-1).sum())

    assert green((0.4, 0.8)) > 200
    assert green((0.8, 0.8)) == 0


def test_jigsaw_is_completed_with_each_piece() -> None:
    whole = np.full((400, 600, 3), 90, np.uint8)
    red, blue = np.zeros((200, 300, 3), np.uint8), np.zeros((200, 300, 3), np.uint8)
    red[..., 0], blue[..., 2] = 255, 255
    program = samples()["jigsaw"]
    both = np.asarray(overlay(program.with_images(whole, red, blue)))
    assert both[470, 700].tolist() == [255, 0, 0] and both[470, -20].tolist() == [0, 0, 255]
    one = overlay(program, whole, red)
    assert one.width < both.shape[1]
    listed = np.asarray(overlay(program, whole))
    assert listed[350, 600].max() < 90, "the hole is dark"


def test_points_of_several_images() -> None:
    program = samples()["point-detection"]
    wide = overlay(program, picture((600, 500)), picture((500, 500)))
    assert wide.width > 1000
    with pytest.raises(InputError, match=r"picture 'two\.png'.*second="):
        overlay(program, picture((600, 500)))


@pytest.mark.parametrize("name", sorted(set(samples()) - {"caption"}))
def test_missing_pictures_are_asked_for(name: str) -> None:
    with pytest.raises(InputError, match="with_images"):
        overlay(samples()[name])


def test_two_pictures_are_needed() -> None:
    for name in ("correspondence", "semantic"):
        with pytest.raises(InputError, match="second="):
            overlay(samples()[name], picture((64, 64)))


def test_unreadable_picture() -> None:
    with pytest.raises(InputError, match="no file"):
        overlay(boxes("dog"), "/nowhere/at/all.png")


@pytest.mark.parametrize("modality", [*samples(), "unheard-of"])
def test_no_items(modality: str) -> None:
    for grid in (None, Grid(3, 3)):
        program = PerceptionProgram(modality, "thing", (), grid=grid)
        assert overlay(program, picture((90, 60)), picture((60, 90))).mode == "RGB"
        assert "no items" in to_html(program)


def test_hostile_labels_are_drawn() -> None:
    pictures = picture((200, 150)), picture((200, 150))
    overlay(boxes(*HOSTILE), pictures[0])
    for modality in ("depth", "flow", "segmentation", "unheard-of"):
        items = tuple(Item(n, (0, 0), 0.5, label) for n, label in enumerate(HOSTILE, 1))
        overlay(PerceptionProgram(modality, "patch", items, grid=Grid(4, 4)), *pictures)
    words = tuple(Item(n, (0, 0), label) for n, label in enumerate(HOSTILE, 1))
    overlay(PerceptionProgram("flow", "patch", words, grid=Grid(4, 4)), *pictures)
    similar = tuple(Item(1, label, 0.5) for label in HOSTILE)
    overlay(
        PerceptionProgram("similarity", "patch", similar, grid=Grid(1, 1)).with_images(
            *pictures * 6
        )
    )
    letters = tuple(Item(label, (500, 500), 0.5, i=label) for label in HOSTILE)
    overlay(PerceptionProgram("jigsaw", "border", letters), *pictures)
    overlay(PerceptionProgram("semantic", "point", letters), *pictures)
    overlay(PerceptionProgram("x", "point", letters).with_images(*pictures * 6))


def test_hundreds_of_boxes_are_quick() -> None:
    rng = np.random.default_rng(0)
    corners = rng.integers(0, 700, (300, 2))
    items = tuple(
        Item(n, (int(x), int(y), int(x) + 200, int(y) + 250), 0.5, f"thing {n % 30}")
        for n, (x, y) in enumerate(corners, 1)
    )
    overlay(PerceptionProgram("object-detection", "box", items), picture((1000, 800)))


class _Checker(HTMLParser):
    """Collects tags and text, and fails on ones that are not closed in order."""

    VOID = frozenset({"br", "img", "meta", "!doctype"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check_html(text: str) -> _Checker:
    checker = _Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    text.encode("utf-8")
    names = {tag for tag, _ in checker.seen}
    assert not names & {"script", "iframe", "link", "object", "embed"}
    for _, attributes in checker.seen:
        assert not any(name.startswith("on") for name in attributes)
        address = attributes.get("src") or attributes.get("href") or ""
        assert not address.startswith(("http", "//", "javascript"))
    assert "http" not in text
    return checker


@pytest.mark.parametrize("name", samples())
def test_notebook_view(name: str) -> None:
    first, second, third = (picture((320, 240), seed) for seed in range(3))
    program = samples()[name].with_images(first, second, third)
    text = to_html(program)
    checker = check_html(text)
    sources = [a["src"] for tag, a in checker.seen if tag == "img"]
    assert len(sources) == 1 and str(sources[0]).startswith("data:image/")
    assert len(str(sources[0])) < 150_000
    assert program.modality in checker.text and "<perceptionprogram>" in checker.text
    assert program._repr_html_() == text


def test_notebook_thumbnail_is_small_for_noise() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (1500, 2000, 3), np.uint8)
    assert len(to_html(boxes("dog").with_images(noise))) < 160_000


def test_notebook_view_cuts_long_lists() -> None:
    items = tuple(Item(n, (n, n), 0.5) for n in range(1, 101))
    relations = tuple(Relation(n, "left_of", n + 1) for n in range(1, 60))
    program = PerceptionProgram("points", "point", items, relations, meta={"expert": "by hand"})
    checker = check_html(to_html(program))
    assert "… 80 more" in checker.text and "… 39 more" in checker.text
    assert "by hand" in checker.text and "100 items" in checker.text


def test_notebook_view_escapes() -> None:
    program = boxes(*HOSTILE)
    checker = check_html(to_html(program))
    assert "<script>alert(1)</script>" in checker.text
    assert not set("\u202e\u2066\x00\x1b\ud800") & set(checker.text)
    named = PerceptionProgram("<b>x", "</div>", (), note="<i>y", meta={"expert": "<s>z"})
    assert "<i>y" in check_html(to_html(named)).text


def test_notebook_view_without_its_picture(tmp_path: Path) -> None:
    path = tmp_path / "gone <b>.png"
    for program in (boxes("dog").with_images(path), samples()["semantic"].with_images(path)):
        checker = check_html(to_html(program))
        assert "No picture: " in checker.text and "img" not in {tag for tag, _ in checker.seen}


def test_page(tmp_path: Path) -> None:
    saved: dict[str, Image.Image] = {}

    def store(name: str, drawn: Image.Image) -> str:
        assert name not in saved
        saved[name] = drawn
        return f"{name}.png"

    shot = picture((320, 240))
    programs = samples()
    sections = [
        Section("Depth", "Near & far.", programs["depth"], [("the <input>", shot)]),
        Section("Depth", "The same title.", programs["depth"].with_images(shot)),
        Section("top", "Two.", programs["correspondence"], [("a", shot), ("b", shot)]),
        Section("<script>", "Gone.", boxes(*HOSTILE), [("gone", tmp_path / "gone.png")]),
        Section("…", "No picture.", boxes("dog")),
    ]
    text = page(sections, "A <title>", store)
    checker = check_html(text)
    assert set(saved) == {
        *("depth-1", "depth-overlay", "depth-2-overlay"),
        *("top-2-1", "top-2-2", "top-2-overlay"),
    }
    ids = [a["id"] for tag, a in checker.seen if tag == "section"]
    assert ids == ["depth", "depth-2", "top-2", "script", "section"]
    targets = {a["href"] for tag, a in checker.seen if tag == "a"}
    assert {f"#{name}" for name in ids} <= targets
    assert all(a.get("alt") for tag, a in checker.seen if tag == "img")
    assert "no file" in checker.text and "A <title>" in checker.text


def test_page_on_its_own() -> None:
    shot = picture((320, 240))
    text = page([Section("Depth", "Near.", samples()["depth"], [("in", shot)])], "Title")
    sources = [str(a["src"]) for tag, a in check_html(text).seen if tag == "img"]
    assert len(sources) == 2 and all(s.startswith("data:image/jpeg;base64,") for s in sources)


def test_colours() -> None:
    levels = [sum(heat(t / 20)) for t in range(21)]
    assert levels == sorted(levels) and heat(-1) == heat(0) and heat(9) == heat(1)
    many = {category(n) for n in range(60)}
    assert len(many) == 60
    for colour in many:
        assert ink_on(colour) in ((18, 20, 24), (255, 255, 255))


def test_lettering() -> None:
    assert printable("Łódź – Øre\tß") == "Lodz - Ore\\tss"
    assert printable("猫") == "?" and printable("\u0301") == "?"
    assert printable("\ud800\U000e0041") == "\\ud800\\U000e0041"
    assert len(printable("x" * 10**6)) == 28
    assert visible("a\u200db\u2028") == "a\u200db\\u2028"
    assert (
        short((-1.0, 2.5)) == "-1.00 to 2.50"
        and short(1e12) == "1.0e+12"
        and short("left") == "left"
    )


def test_regions() -> None:
    assert sorted(map(sorted, regions(["a", "a", "b", "b", None, "a"], Grid(2, 3)))) == [
        [0, 1],
        [2],
        [3],
        [5],
    ]


def test_a_shape_that_is_none_is_refused() -> None:
    for size in ("x", (0, 0), 3):
        program = PerceptionProgram(
            "depth", "patch", (Item(1, None, 0.5),), grid=1, meta={"size": size}
        )
        with pytest.raises(InputError, match="size in meta of a depth program: expected"):
            overlay(program, picture((20, 20)))


def test_a_picture_of_another_shape_is_refused():
    program = depth_program(np.tile(np.linspace(0, 1, 60), (40, 1)))
    assert program.overlay(np.zeros((400, 600, 3), np.uint8)).size[0] > 0  # the same, enlarged
    with pytest.raises(InputError, match="shape 60×40, which it was made from, got 50×50"):
        program.overlay(np.zeros((50, 50, 3), np.uint8))
