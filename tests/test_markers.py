"""The `markers` expert: on the benchmarks' own pictures, on drawn ones, and where there are none."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from marker_drawings import RGB, Drawn, Style, draw_boxes, draw_markers, random_style
from perception_programs.errors import InputError
from perception_programs.experts import _glyphs
from perception_programs.experts._pairing import find_markers
from perception_programs.experts._rings import measure, propose, redness
from perception_programs.experts.markers import Markers
from perception_programs.results import Points

# Rows of circle_centres.jsonl (counted from 0) that are no truth, looked at one by one. Where a
# centre is [0, 0] its author found none; those are skipped wherever they occur, and are not listed.
WRONG_CENTRES = {
    (11, "A"): "lies on ring B",
    (11, "B"): "lies on a person's legs, 35 px from the nearest ring",
    (21, "A"): "lies on a window frame, 47 px from ring A",
    (23, "A"): "lies on a man's face, 65 px from ring A",
    (39, "B"): "lies on bare rock, 35 px from ring B",
    (44, "A"): "lies on ring B (and B is missing)",
    (52, "B"): "lies in the crowd, 43 px from ring B",
    (53, "A"): "lies on ring B (and B is missing)",
    (55, "B"): "lies on a leaf, 41 px from ring B",
}


def found(points: Points) -> dict[str, list[float]]:
    """Label to place."""
    places = points.points if points.points is not None else points.boxes
    return dict(zip(points.labels, places.tolist(), strict=True))


def distances(points: Points, truth: dict[str, tuple[float, ...]]) -> dict[str, float]:
    """How far each true marker is from the one found under its label, 999 where none was."""
    places = found(points)
    return {
        label: float(np.abs(np.subtract(places[label], place)).max()) if label in places else 999.0
        for label, place in truth.items()
    }


@lru_cache(maxsize=1)
def backgrounds() -> list[RGB]:
    """Photographs that come with scikit-image; some have much red in them."""
    from skimage import data

    return [
        data.astronaut(),
        data.coffee(),
        data.chelsea(),
        data.rocket(),
        data.stereo_motorcycle()[0],
    ]


def drawn(seed: int, longest: int = 500) -> Drawn:
    """One picture with markers in a random style."""
    rng = np.random.default_rng(seed)
    pictures = backgrounds()
    picture = pictures[seed % len(pictures)]
    factor = longest / max(picture.shape)
    picture = np.asarray(cv2.resize(picture, None, fx=factor, fy=factor), np.uint8)
    labels = list("ABCDE"[: int(rng.integers(2, 6))])
    return draw_markers(picture, labels, rng, random_style(rng, longest))


# ---------------------------------------------------------------- the benchmarks' own pictures


def own_centres(picture: RGB) -> list[tuple[float, float]]:
    """Centres of HardBLINK's rings from their exact colour: PNG, pure red, 9×9 pixels, no soft edge.

    Four of the 744 rings are partly under a tag; what is left of them shows at least their left
    or right end, and their top.
    """
    pure = (picture[..., 0] == 255) & (picture[..., 1] == 0) & (picture[..., 2] == 0)
    _, _, stats, _ = cv2.connectedComponentsWithStats(pure.astype(np.uint8))
    centres = []
    for x, y, w, _, area in stats[1:].tolist():
        if area >= 15:
            centres.append((float(x + 4 if w >= 6 else x + w - 5), float(y + 4)))
    return centres


def check_hardblink(folder: Path, numbers: range) -> int:
    """Says how many of these pictures are right in all their markers."""
    markers, right = Markers(), 0
    for count in (3, 4, 5):
        for number in numbers:
            path = folder / f"hardblink/images/blink{count}pointscenter/{number}.png"
            points = markers(path)
            true = own_centres(np.asarray(Image.open(path).convert("RGB")))
            assert len(true) == count
            places = points.points
            near = [min((float(np.hypot(*(p - c))) for p in places), default=999.0) for c in true]
            right += points.labels == tuple("ABCDE"[:count]) and max(near) <= 2.0
    return right


def test_hardblink_some(shared_data: Path) -> None:
    assert check_hardblink(shared_data, range(3, 62, 15)) == 12


@pytest.mark.slow
def test_hardblink_all(shared_data: Path) -> None:
    assert check_hardblink(shared_data, range(62)) >= 184


def test_hardblink_rings_under_tags(shared_data: Path) -> None:
    """The four pictures in which a tag hides part of another marker's ring."""
    for count, number, label, x, y in (
        (4, 33, "C", 317, 107),
        (4, 40, "C", 254, 156),
        (5, 20, "C", 227, 199),
        (5, 30, "A", 208, 123),
    ):
        path = shared_data / f"hardblink/images/blink{count}pointscenter/{number}.png"
        assert found(Markers()(path))[label] == pytest.approx([x, y], abs=2)


def relative_depth(shared_data: Path) -> tuple[list[bytes], list[dict[str, list[int]]]]:
    """BLINK's pictures with two rings, and somebody else's centres."""
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = shared_data / "blink/Relative_Depth"
    table = parquet.read_table(folder / "val-00000-of-00001.parquet")
    lines = (folder / "circle_centres.jsonl").read_text().splitlines()
    pictures = [cell["bytes"] for cell in table["image_1"].to_pylist()]
    return pictures, [json.loads(line) for line in lines]


def check_relative_depth(shared_data: Path, numbers: range) -> int:
    """Says how many of these pictures have both letters; the centres must agree throughout."""
    pictures, centres = relative_depth(shared_data)
    markers, right = Markers(), 0
    for number in numbers:
        points = markers(pictures[number])
        right += points.labels == ("A", "B")
        for label, place in found(points).items():
            other = centres[number].get(label, [0, 0])
            if other != [0, 0] and (number, label) not in WRONG_CENTRES:
                assert np.hypot(*np.subtract(place, other)) <= 3.0, (number, label)
    return right


def test_relative_depth_some(shared_data: Path) -> None:
    # 8: red on red; 15: both tags cut off by the border; 27: tags on either side of their rings.
    assert check_relative_depth(shared_data, range(3, 62, 15)) == 4
    pictures, _ = relative_depth(shared_data)
    for number in (8, 15, 18, 27, 37):
        assert Markers()(pictures[number]).labels == ("A", "B"), number


@pytest.mark.slow
def test_relative_depth_all(shared_data: Path) -> None:
    assert check_relative_depth(shared_data, range(62)) >= 61


# ---------------------------------------------------------------- drawn markers


def test_drawn_markers_are_found() -> None:
    wrong = []
    for seed in range(8):
        truth = drawn(seed)
        points = Markers()(truth.image)
        limits = {k: 2.0 if truth.hidden[k] < 0.3 else 4.0 for k in truth.places}
        errors = distances(points, truth.places)
        if set(points.labels) != set(truth.places) or any(errors[k] > limits[k] for k in errors):
            wrong.append((seed, errors))
    assert not wrong


@pytest.mark.slow
def test_drawn_markers_in_bulk() -> None:
    right = true = reported = 0
    for seed in range(1000, 1150):
        truth = drawn(seed, longest=(400, 500, 700, 1000)[seed % 4])
        points = Markers()(truth.image)
        limit = max(2.0, 0.2 * truth.style.radius * truth.style.scale)
        right += sum(error <= limit for error in distances(points, truth.places).values())
        true += len(truth.places)
        reported += len(points)
    assert right / true >= 0.97
    assert right / reported >= 0.97


@pytest.mark.parametrize("side", ["above", "below", "left", "right", "corner"])
@pytest.mark.parametrize("quality", [None, 60])
def test_tag_may_stand_on_any_side(side: str, quality: int | None) -> None:
    rng = np.random.default_rng(5)
    style = Style(side=side, quality=quality, stroke=3)
    truth = draw_markers(backgrounds()[2], list("ABC"), rng, style, border=0)
    assert max(distances(Markers()(truth.image), truth.places).values()) <= 2


@pytest.mark.parametrize("radius", [4.0, 8.0, 16.0, 40.0])
def test_radius_and_line_width_are_measured(radius: float) -> None:
    rng = np.random.default_rng(1)
    stroke = max(2, round(radius / 4))
    style = Style(radius=radius, stroke=stroke, pen="soft", letter=round(3 * radius))
    picture = np.full((500, 700, 3), 120, np.uint8)
    truth = draw_markers(picture, [""], rng, style, border=0)
    red = redness(truth.image)
    ring = max(measure(truth.image, red, propose(red, 60)), key=lambda r: r.score)
    assert (ring.x, ring.y) == pytest.approx(truth.places["REF"], abs=0.2)
    assert ring.radius == pytest.approx(radius, rel=0.05)
    assert ring.stroke == pytest.approx(stroke, abs=0.3 * stroke + 0.5)
    assert ring.coverage == 1
    assert ring.visible == 1


def test_ring_at_the_border() -> None:
    picture = np.full((200, 300, 3), 90, np.uint8)
    cv2.circle(picture, (150, 100), 10, (255, 0, 0), 3)
    cv2.circle(picture, (297, 60), 10, (255, 0, 0), 3)
    for place, text in (((142, 74), "A"), ((284, 34), "B")):
        cv2.rectangle(picture, place, (place[0] + 14, place[1] + 12), (0, 0, 0), -1)
        font = ImageFont.load_default(12)
        canvas = Image.fromarray(picture)
        ImageDraw.Draw(canvas).text((place[0] + 3, place[1] - 1), text, font=font, fill="white")
        picture[:] = np.asarray(canvas)
    points = Markers()(picture)
    assert points.labels == ("A", "B")
    assert points.points.tolist() == [
        pytest.approx([150, 100], abs=0.5),
        pytest.approx([297, 60], abs=1.5),
    ]


@pytest.mark.parametrize("label", ["REF", ""])
@pytest.mark.parametrize("seed", range(4))
def test_single_ring_is_ref(label: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    style = Style(radius=9, stroke=3, letter=18, quality=(None, 85)[seed % 2])
    picture = np.asarray(cv2.resize(backgrounds()[seed], (900, 700)), np.uint8)
    truth = draw_markers(picture, [label], rng, style)
    points = Markers()(truth.image)
    assert points.labels == ("REF",)
    assert distances(points, truth.places)["REF"] <= 1.5


def test_large_picture_is_quick_enough() -> None:
    rng = np.random.default_rng(3)
    picture = np.asarray(cv2.resize(backgrounds()[4], (1960, 1320)), np.uint8)
    style = Style(radius=22, stroke=6, letter=44, quality=80)
    truth = draw_markers(picture, list("ABCD"), rng, style, border=0)
    assert max(distances(Markers()(truth.image), truth.places).values()) <= 2


@pytest.mark.parametrize("lettering", ["tag", "filled", "plain", "none"])
def test_boxes(lettering: str) -> None:
    rng = np.random.default_rng(8)
    style = Style(stroke=3, letter=22, quality=90)
    picture = np.asarray(cv2.resize(backgrounds()[2], (800, 533)), np.uint8)
    truth = draw_boxes(picture, 2, rng, style, lettering)
    points = Markers()(truth.image)
    assert points.boxes is not None
    assert set(points.labels) == set(truth.places)
    assert max(distances(points, truth.places).values()) <= 2


# ---------------------------------------------------------------- no markers


def test_photographs_have_no_markers() -> None:
    for number, picture in enumerate(backgrounds()):
        points = Markers()(picture)
        assert len(points) == 0, number
        assert points.points.shape == (0, 2)


def test_scenes_have_no_markers(shared_data: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(shared_data / "blink/Jigsaw/val-00000-of-00001.parquet")
    for cell in table["image_1"].to_pylist()[::8]:
        assert len(Markers()(cell["bytes"])) == 0


def distractors() -> Iterator[tuple[str, RGB]]:
    """Red round things and lettering that are no markers."""
    plain = np.full((300, 400, 3), 140, np.uint8)
    disc = plain.copy()
    cv2.circle(disc, (120, 90), 14, (255, 0, 0), -1)
    cv2.circle(disc, (250, 190), 7, (230, 20, 20), -1)
    yield "filled discs", disc
    lights = np.full((300, 400, 3), 30, np.uint8)
    for y, colour in ((80, (255, 30, 20)), (130, (90, 70, 10)), (180, (10, 60, 20))):
        cv2.circle(lights, (200, y), 18, colour, -1)
    yield "traffic light", np.asarray(cv2.GaussianBlur(lights, (0, 0), 3), np.uint8)
    text = Image.fromarray(plain.copy())
    ImageDraw.Draw(text).text((40, 60), "STOP GO BOOK", font=ImageFont.load_default(40), fill="red")
    yield "red text", np.array(text)
    caption = np.zeros((300, 400, 3), np.uint8)
    canvas = Image.fromarray(caption)
    ImageDraw.Draw(canvas).text((20, 60), "A B C DEFECTED BADGE", font=ImageFont.load_default(20))
    yield "white caption on black", np.array(canvas)
    green = plain.copy()
    cv2.circle(green, (150, 150), 12, (0, 200, 0), 3)
    cv2.circle(green, (250, 150), 12, (30, 30, 200), 3)
    yield "rings of other colours", green
    arc = plain.copy()
    cv2.ellipse(arc, (150, 150), (15, 15), 0, 0, 200, (255, 0, 0), 3)
    yield "half a ring", arc
    oval = plain.copy()
    cv2.ellipse(oval, (150, 150), (30, 12), 30, 0, 360, (255, 0, 0), 3)
    yield "oval", oval
    body = np.zeros((300, 400, 3), np.uint8)
    body[:] = (190, 25, 30)
    rng = np.random.default_rng(0)
    noisy = np.clip(body + rng.normal(0, 12, body.shape), 0, 255).astype(np.uint8)
    cv2.rectangle(noisy, (60, 40), (340, 130), (40, 45, 60), -1)
    yield "red car body", noisy
    for size in (16, 64):
        squares = np.indices((300, 400)).sum(axis=0) // size % 2
        yield (
            "checks",
            np.where(squares[..., None] == 0, (200, 30, 30), (240, 240, 240)).astype(np.uint8),
        )


@pytest.mark.parametrize("name, picture", list(distractors()), ids=[n for n, _ in distractors()])
def test_distractors(name: str, picture: RGB) -> None:
    assert found(Markers()(picture)) == {}, name


def test_sign_beside_markers_is_left_out() -> None:
    rng = np.random.default_rng(2)
    picture = np.full((400, 600, 3), 120, np.uint8)
    cv2.circle(picture, (80, 80), 34, (200, 20, 30), 9)
    style = Style(radius=7, stroke=3)
    truth = draw_markers(picture[:, 150:], list("AB"), rng, style)
    picture[:, 150:] = truth.image
    assert Markers()(picture).labels == ("A", "B")


# ---------------------------------------------------------------- letters, and the interface


@pytest.mark.parametrize("size", [10, 12, 15, 24, 40])
def test_letters_of_a_font(size: int) -> None:
    glyphs = []
    for letter in "ABCD":
        canvas = Image.new("L", (80, 80))
        font = ImageFont.load_default(size)
        ImageDraw.Draw(canvas).text((10, 10), letter, font=font, fill=255)
        ink = np.array(canvas)
        y, x = np.nonzero(ink > 100)
        cut = ink[y.min() : y.max() + 1, x.min() : x.max() + 1]
        glyphs.append(cut.astype(np.float32) / 255)
    read = _glyphs.read(glyphs)
    assert "".join(max("ABCDE", key=r.__getitem__) for r in read) == "ABCD"


def test_letters_are_assigned_once_and_without_gaps() -> None:
    fits = np.array([[0.9, 0.2, 0.1, 0.0], [0.8, 0.1, 0.75, 0.0], [0.0, 0.0, 0.0, 0.0]])
    assert _glyphs.assign_letters(fits) == [0, 2, 1]
    assert _glyphs.assign_letters(np.zeros((0, 4))) == []


def test_input_kinds_give_one_result(tmp_path: Path) -> None:
    truth = drawn(1)
    path = tmp_path / "scene.png"
    Image.fromarray(truth.image).save(path)
    buffer = io.BytesIO(path.read_bytes())
    markers = Markers()
    first = markers(truth.image)
    for source in (path, buffer.getvalue(), Image.open(path)):
        assert found(markers(source)) == found(first)
    assert markers(path).image == "scene.png"
    assert markers(path, name="left").image == "left"
    assert first.size == (truth.image.shape[1], truth.image.shape[0])
    both = markers.batch([truth.image, np.zeros((50, 50, 3), np.uint8)])
    assert [len(b) for b in both] == [len(first), 0]


def test_shape_limits_the_search() -> None:
    truth = drawn(1)
    assert len(Markers(shape="rings")(truth.image)) == len(truth.places)
    assert Markers(shape="boxes")(truth.image).boxes is not None
    with pytest.raises(InputError, match="shape"):
        Markers(shape="circles")  # type: ignore[arg-type]


def test_tiny_pictures() -> None:
    for shape in ((1, 1), (3, 200), (9, 9), (40, 5)):
        assert find_markers(np.full((*shape, 3), 200, np.uint8)) == []
        assert len(Markers()(np.full((*shape, 3), (255, 0, 0), np.uint8))) == 0
