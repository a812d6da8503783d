"""The command `p2`: every subcommand on small real files, its streams and its exit status."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from perception_programs import FlowField, PerceptionProgram
from perception_programs.cli import main
from perception_programs.cli.commands import COMMANDS
from perception_programs.cli.options import STYLES
from perception_programs.text import STYLES as TEXT_STYLES
from perception_programs.tokens import estimate_tokens

CONVERTING = [
    name
    for name in COMMANDS
    if name not in ("show", "demo", "experts", "doctor", "cache", "mcp", "ask", "replay")
    and not name.startswith(("blink", "harness", "vtb"))
]


class Run:
    """What one call of `main` did."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *argv: object) -> None:
        self.status = main([str(a) for a in argv])
        self.out, self.err = capsys.readouterr()

    @property
    def program(self) -> PerceptionProgram:
        assert (self.status, self.err) == (0, "")
        return PerceptionProgram.from_text(self.out)


@pytest.fixture
def p2(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *argv: Run(capsys, *argv)


@pytest.fixture(scope="session")
def texture():
    """A picture with enough detail for SIFT and DIS."""
    rng = np.random.default_rng(5)
    coarse = Image.fromarray(rng.integers(0, 256, (30, 40, 3), np.uint8))
    return np.asarray(coarse.resize((320, 240), Image.Resampling.BICUBIC))


@pytest.fixture
def files(tmp_path, made):
    """Small files of every kind, in the current folder of `p2`."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(scope="session")
def made(tmp_path_factory, texture):
    tmp_path = tmp_path_factory.mktemp("made")
    ramp = np.tile(np.linspace(0, 1, 40, dtype=np.float32), (30, 1))
    np.save(tmp_path / "ramp.npy", ramp)
    np.savez(tmp_path / "two.npz", near=ramp, far=1 - ramp)
    Image.fromarray((ramp * 255).astype(np.uint8)).save(tmp_path / "ramp8.png")
    Image.fromarray((1000 + ramp * 4000).astype(np.uint16)).save(tmp_path / "mm.png")
    Image.fromarray(texture).save(tmp_path / "first.png")
    Image.fromarray(np.roll(texture, -5, axis=1)).save(tmp_path / "second.png")
    flow = FlowField(np.tile(np.array([-1.5, 0.5], np.float32), (30, 40, 1)))
    flow.save(tmp_path / "field.flo")
    flow.save(tmp_path / "kitti.png")
    np.save(tmp_path / "field.npy", flow.uv)
    holed = texture.copy()
    holed[-80:, -80:] = 0
    Image.fromarray(holed).save(tmp_path / "holed.png")
    Image.fromarray(texture[-80:, -80:]).save(tmp_path / "right.png")
    Image.fromarray(texture[:80, :80]).save(tmp_path / "wrong.png")
    labels = np.repeat(np.array([0, 2], np.uint8), 15)[:, None].repeat(40, axis=1)
    Image.fromarray(labels).save(tmp_path / "labels.png")
    _ring(texture).save(tmp_path / "ring.png")
    for name, data in JSON.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    return tmp_path


def _ring(texture: np.ndarray) -> Image.Image:
    image = Image.fromarray((texture // 4 + 90).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    draw.ellipse((100, 100, 120, 120), outline=(255, 0, 0), width=4)
    draw.rectangle((102, 74, 120, 96), fill="black")
    draw.text((111, 85), "A", fill="white", font=ImageFont.load_default(size=18), anchor="mm")
    return image


STRIP = {"structural": 0.5, "colour": 0.75, "edge": 1.0}
JSON = {
    "matches": {
        "points1": [[10, 10], [20, 20]],
        "points2": [[12, 10], [22, 20]],
        "confidence": [0.9, 0.8],
        "size1": [320, 240],
        "size2": [320, 240],
    },
    "sizeless": {"points1": [[10, 10]], "points2": [[12, 10]]},
    "scores": {
        "candidates": {"A": [10, 20], "B": [50, 50]},
        "scores": {"A": 0.8, "B": 0.1},
        "reference": [5, 5],
        "size1": [320, 240],
    },
    "edges": {
        "candidates": {
            "A": {
                "left": {**STRIP, "box": [0, 0, 4, 40]},
                "top": {**STRIP, "box": [0, 0, 40, 4]},
            }
        },
        "sizes": {"A": [40, 40]},
    },
    "places": {"points": {"A": [10, 20]}, "size": [320, 240]},
    "boxes": {"boxes": {"A": [10, 20, 30, 40]}, "size": [320, 240]},
    "found": {"boxes": [[1, 2, 50, 60]], "scores": [0.9], "labels": ["cat"], "size": [320, 240]},
    "coco": [
        {"image_id": 7, "category_id": 1, "bbox": [10, 10, 20, 20], "score": 0.9},
        {"image_id": 7, "category_id": 2, "bbox": [40, 10, 20, 20], "score": 0.3},
        {"image_id": 8, "category_id": 2, "bbox": [0, 0, 5, 5], "score": 0.5},
    ],
    "categories": {"categories": [{"id": 1, "name": "person"}, {"id": 2, "name": "car"}]},
}

# One command line of each kind of input, with the modality it makes.
LINES = {
    "depth npy": ("depth ramp.npy", "depth"),
    "depth npz": ("depth two.npz --key far --no-relations", "depth"),
    "depth png": ("depth ramp8.png --kind relative --grid 2x3", "depth"),
    "depth metric": ("depth mm.png --kind metric --scale 1000 --tau 0.3", "depth"),
    "flow flo": ("flow field.flo --grid 4", "flow"),
    "flow kitti": ("flow kitti.png", "flow"),
    "flow npy": ("flow field.npy", "flow"),
    "flow frames": ("flow first.png second.png --grid 3 --expert dis", "flow"),
    "match pictures": ("match first.png second.png", "correspondence"),
    "match json": ("match matches.json", "correspondence"),
    "match sizes": ("match sizeless.json --image first.png --second second.png", "correspondence"),
    "jigsaw pieces": ("jigsaw holed.png wrong.png right.png", "jigsaw"),
    "jigsaw letters": (
        "jigsaw holed.png --candidate A=right.png --candidate C=wrong.png",
        "jigsaw",
    ),
    "jigsaw json": ("jigsaw edges.json", "jigsaw"),
    "detect json": ("detect found.json", "object-detection"),
    "detect coco": (
        "detect coco.json --image-id 7 --size 100x50 --names categories.json --threshold 0.5",
        "object-detection",
    ),
    "semantic json": ("semantic scores.json", "semantic"),
    "points picture": ("points ring.png", "point-detection"),
    "points json": ("points places.json", "point-detection"),
    "points boxes": ("points boxes.json", "point-detection"),
    "scene results": (
        "scene --depth ramp.npy --flow field.flo --segmentation labels.png --names sky,?,road",
        "scene",
    ),
    "scene detections": (
        "scene --detections coco.json --image-id 8 --names categories.json "
        "--depth ramp.npy --kind relative --cells 2 --levels 2 --tau 0.2 --size 40x30",
        "scene",
    ),
    "segments png": ("segments labels.png --names sky,?,road --grid 2", "segmentation"),
}


@pytest.mark.parametrize("line", LINES)
def test_every_input_makes_its_program(line, p2, files) -> None:
    command, modality = LINES[line]
    program = p2(*command.split()).program
    assert program.modality == modality
    assert len(program) > 0


@pytest.mark.parametrize("line", LINES)
def test_json_parses_and_comes_back(line, p2, files) -> None:
    command = LINES[line][0].split()
    done = p2(*command, "--json")
    assert (done.status, done.err) == (0, "")
    data = json.loads(done.out)
    assert PerceptionProgram.from_dict(data) == PerceptionProgram.from_json(done.out)
    (files / "program.json").write_text(done.out, encoding="utf-8")
    again = p2(command[0], "program.json", "--json")
    assert again.out == done.out
    assert p2(command[0], "program.json").program == PerceptionProgram.from_dict(data).rounded()


def test_the_styles_are_those_of_the_library() -> None:
    assert set(STYLES) == set(TEXT_STYLES)


def test_options_reach_the_converter(p2, files) -> None:
    grid = p2("depth", "ramp.npy", "--grid", "2x3").program.grid
    assert (grid.rows, grid.cols) == (2, 3)
    assert p2("depth", "ramp.npy", "--grid", "3", "--tau", "0.1").program.relations
    assert not p2("depth", "ramp.npy", "--grid", "3", "--no-relations").program.relations
    assert not p2("depth", "ramp.npy", "--grid", "3", "--tau", "0.9").program.relations
    assert not p2("segments", "labels.png", "--no-relations").program.relations
    labelled = p2(
        *["depth", "ramp.npy", "--labels", "labels.png", "--names", "0=sky,2=road", "--grid", "2"]
    )
    assert [item.b for item in labelled.program.items] == ["sky", "sky", "road", "road"]
    near, far = (p2("depth", "two.npz", "--key", key).program for key in ("near", "far"))
    assert near.items[0].r[0] == far.items[9].r[0] == 0
    metric = p2(
        *["depth", "mm.png", "--kind", "metric", "--scale", "1000", "--grid", "1x2"]
    ).program
    assert metric.items[0].r[1] == 1.0  # metres: the left side is nearest
    candidates = p2(*LINES["jigsaw letters"][0].split()).program
    assert {item.i for item in candidates.items} == {"A", "C"}
    coco = p2(*LINES["detect coco"][0].split()).program
    assert [(item.b, item.c) for item in coco.items] == [("person", (100, 200, 300, 600))]
    ring = p2("points", "ring.png").program.items
    assert [item.b for item in ring] == ["A"]
    several = p2("points", "places.json", "ring.png").program
    assert [item.i for item in several.items] == ["image 1", "image 2"]


def test_meta_is_printed_when_asked_for(p2, files) -> None:
    assert "expert" not in p2("points", "ring.png").out
    assert p2("points", "ring.png", "--meta").program.meta["expert"] == "markers"


def test_names_in_every_form(p2, files) -> None:
    (files / "names.txt").write_text("sky\n?\nroad\n")
    (files / "list.json").write_text('["sky", "?", "road"]')
    (files / "map.json").write_text('{"0": "sky", "2": "road"}')
    for names in ("sky,?,road", "0=sky,2=road", "names.txt", "list.json", "map.json"):
        program = p2("segments", "labels.png", "--grid", "2", "--names", names).program
        assert {item.b for item in program.items} == {"sky", "road"}, names


def test_output_goes_to_a_file_and_nowhere_else(p2, files) -> None:
    done = p2("depth", "ramp.npy", "-o", "out.txt")
    assert (done.status, done.out, done.err) == (0, "", "")
    text = (files / "out.txt").read_bytes()
    assert text.decode() == p2("depth", "ramp.npy").out
    assert text.endswith(b"</perceptionprogram>\n")


OVERLAYS = [
    *(LINES[line][0] for line in ("depth png", "flow flo", "segments png")),  # drawn on themselves
    *(LINES[line][0] for line in ("flow frames", "match pictures", "jigsaw pieces")),
    "points ring.png",
    "match matches.json --image first.png --second second.png",
    "semantic scores.json --image first.png --second second.png",
    "jigsaw edges.json --image holed.png --image right.png",
    "detect found.json --image first.png",
    "depth ramp.npy --image first.png",
    "scene --segmentation labels.png --depth ramp.npy",
    "scene --detections found.json --image first.png",
]


@pytest.mark.parametrize("command", OVERLAYS)
def test_overlay_writes_a_picture(command, p2, files) -> None:
    done = p2(*command.split(), "--overlay", "over.png")
    assert done.program
    with Image.open(files / "over.png") as image:
        assert image.format == "PNG"
        assert min(image.size) >= 240


@pytest.mark.parametrize("style", STYLES)
def test_show_round_trip(style, p2, files) -> None:
    first = p2("depth", "ramp.npy", "--style", style, "-o", "first.txt")
    assert first.status == 0
    other = "json" if style == "paper" else "paper"
    assert p2("show", "first.txt", "--style", other, "-o", "second.txt").status == 0
    assert p2("show", "second.txt", "--style", style, "-o", "third.txt").status == 0
    texts = [(files / f"{name}.txt").read_text() for name in ("first", "third")]
    if style != "json":
        assert texts[0] == texts[1]
    else:  # by way of the paper style readings are rounded and meta is gone
        first, third = map(PerceptionProgram.from_json, texts)
        assert third == first.rounded()


def test_programs_fit_a_budget(p2, files) -> None:
    done = p2("depth", "ramp.npy", "--max-tokens", "300")
    assert done.status == 0 and "compact: depth patch" in done.out
    assert estimate_tokens(done.out) <= 300
    done = p2("depth", "ramp.npy", "--max-tokens", "20")
    assert done.status == 1 and "max_tokens: expected at least" in done.err


def test_show_finds_every_program_in_a_text(p2, files) -> None:
    blocks = [p2(*line.split()).out for line in ("points places.json", "depth ramp.npy --grid 2")]
    (files / "prompt.md").write_text(f"Depth:\n\n{blocks[1]}\nand points\n{blocks[0]}\nAnswer.")
    done = p2("show", "prompt.md")
    found = PerceptionProgram.all_from_text(done.out)
    assert [program.modality for program in found] == ["depth", "point-detection"]
    assert done.out == f"{blocks[1]}\n{blocks[0]}"
    lines = p2("show", "prompt.md", "--json").out
    assert len(PerceptionProgram.all_from_text(lines)) == 2


def test_show_draws(p2, files) -> None:
    p2("match", "matches.json", "-o", "m.txt")
    done = p2(
        *["show", "m.txt", "--overlay", "m.png", "--image", "first.png", "--second", "second.png"]
    )
    assert done.program.modality == "correspondence"
    assert (files / "m.png").stat().st_size > 1000


def test_stdin(p2, files, monkeypatch) -> None:
    def feed(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    text = p2("depth", "ramp.npy").out
    feed(text.encode())
    assert p2("show", "-").out == text
    feed(text.encode("utf-16"))  # PowerShell's `>`
    assert p2("depth", "-").out == text
    feed(json.dumps(JSON["places"]).encode("utf-8-sig"))
    assert p2("points", "-").program.items[0].b == "A"
    feed((files / "ring.png").read_bytes())
    assert [item.b for item in p2("points", "-").program.items] == ["A"]


def test_options_may_stand_between_files(p2, files) -> None:
    done = p2("jigsaw", "holed.png", "--json", "wrong.png", "--", "right.png")
    assert [item["i"] for item in json.loads(done.out)["items"]] == ["A", "A", "B", "B"]


def test_a_note_says_how_a_png_was_read(p2, files) -> None:
    done = p2("depth", "ramp8.png", "--grid", "2")
    assert done.status == 0
    assert "normalised" in done.err and "--kind" in done.err and done.err.count("\n") == 1
    assert PerceptionProgram.from_text(done.out).meta == {}


def test_a_file_may_begin_with_a_dash(p2, files) -> None:
    (files / "ramp.npy").rename(files / "-ramp.npy")
    assert p2("depth", "--grid", "2", "--", "-ramp.npy").program.modality == "depth"
    assert p2("depth", "-ramp.npy").status == 2


# Command lines that cannot be done, and words that the one line on stderr has.
FAILURES = {
    "depth gone.png": "no file 'gone.png'",
    "depth .": "folder",
    "depth empty.png": "the empty 'empty.png'",
    "depth first.png": "expert",
    "depth first.png --kind relative": "single channel",
    "depth mm.png --kind metric": "--scale",
    "depth two.npz": "--key=",
    "depth ramp.npy --kind metric --grid 100": "grid",
    "depth field.npy": "single channel",
    "depth ramp.npy --expert dis": "expert",
    "depth ramp.npy --tau nan": "tau",
    "depth ramp.npy --names cat": "--labels",
    "depth ramp.npy --labels ramp8.npy": "no file",
    "depth matches.json": "matches.json",
    "flow first.png": "twos",
    "flow first.png right.png --expert dis": "one size",
    "flow ramp.npy": "H×W×2",
    "flow first.jpeg": "no file",
    "match first.png": "two pictures",
    "match first.png second.png --expert dis": "expected one for correspondence",
    "match first.png second.png --expert sifft": "did you mean 'sift'",
    "match sizeless.json": "size1",
    "match scores.json": "'candidates'",
    "match broken.json": "line 1",
    "jigsaw holed.png": "candidate pieces",
    "jigsaw holed.png right.png --candidate A=wrong.png": "both",
    "jigsaw right.png holed.png": "candidate 'A'",
    "jigsaw holed.png --candidate A=wrong.png --candidate A=right.png": "once",
    "detect first.png": "labels",
    "detect first.png --labels cat": "expert",
    "detect coco.json --size 100x50 --names categories.json": "--image-id",
    "detect coco.json --image-id 9 --size 100x50": "'9'",
    "detect coco.json --image-id 7 --names categories.json": "--size",
    "detect coco.json --image-id 7 --size 100x50": "--names=",
    "detect coco.json --image-id 7 --size 9x9 --names categories.json": "9×9",
    "detect found.json --expert dis": "--expert",
    "semantic first.png second.png": "--reference=",
    "semantic first.png second.png --reference 1,2 --candidate A=3,4": "expert",
    "points coco.json": "expected an object",
    "points first.flo": "no file",
    "points words.txt": "text without a program",
    "segments first.png": "class number",
    "segments labels.png --names none.txt": "no file 'none.txt'",
    "segments labels.png --names found.json": "names",
    "show words.txt": "found none",
    "show first.png": "binary",
    "show broken.txt": "'broken.txt': line 2",
    "show gone.txt": "p2: no file 'gone.txt'",
    "show words.txt --second first.png": "found none",
    "match matches.json --second first.png --overlay out.png": "--image beside it",
    "depth ramp.npy --overlay missing/out.png": "no folder 'missing'",
    "depth ramp.npy --overlay out.xyz": ".png",
    "depth ramp.npy -o missing/out.txt": "no folder 'missing'",
    "depth ramp8.png --overlay ramp8.png": "another file",
    "detect found.json --overlay out.png": "--image",
    "match matches.json --overlay out.png --image first.png": "second",
    "demo --out words.txt": "folder",
}


@pytest.mark.parametrize("line", FAILURES)
def test_what_cannot_be_done_is_one_line_and_status_1(line, p2, files) -> None:
    (files / "words.txt").write_text("nothing\n")
    (files / "empty.png").write_text("")
    (files / "broken.json").write_text('{"points1": ')
    (files / "broken.txt").write_text("hello\n<perceptionprogram>\nmodality: depth\n")
    done = p2(*line.split())
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("p2: ") and done.err.count("\n") == 1
    assert FAILURES[line] in done.err
    assert not list(files.glob("out.*"))


def test_a_program_is_checked_against_its_command(p2, files) -> None:
    p2("depth", "ramp.npy", "-o", "program.txt")
    p2("points", "places.json", "--json", "-o", "program.json")
    for line, words in {
        "flow program.txt": "expected a program of flow, got one of depth",
        "depth program.txt --grid 3": "--grid: has no meaning",
        "depth program.txt --no-relations": "--relations",
        "points program.json --size 3x3": "--size",
        "points program.json places.json": "one program",
        "show program.txt program.json --overlay x.png": "got 2",
    }.items():
        done = p2(*line.split())
        assert (done.status, done.out) == (1, "")
        assert words in done.err, line


USAGE = [
    "",
    "dept x",
    "depth",
    "depth a b",
    "flow a b c",
    "depth x --grid 0",
    "depth x --grid 3x",
    "depth x --kind far",
    "depth x --style paper --json",
    "depth x --style yaml",
    "detect x --size 0x3",
    "semantic x --reference 1",
    "semantic x --candidate A",
    "jigsaw x --candidate A=",
    "depth x --frobnicate",
    "depth x --over y",
    "show - -",
    "help dept",
    "demo x",
    "demo -- x",
]


@pytest.mark.parametrize("line", USAGE)
def test_wrong_usage_is_status_2(line, p2) -> None:
    done = p2(*line.split())
    assert (done.status, done.out) == (2, "")
    assert "usage" in done.err or "expected a command" in done.err
    assert "Traceback" not in done.err


def test_a_near_command_is_named(p2) -> None:
    assert "did you mean 'depth'" in p2("dept").err


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command(name, p2) -> None:
    overview = p2("--help")
    assert overview.status == 0
    assert COMMANDS[name].summary in overview.out and COMMANDS[name].example in overview.out
    for argv in ([name, "--help"], ["help", name]):
        done = p2(*argv)
        assert (done.status, done.err) == (0, "")
        assert done.out.startswith(f"usage: p2 {name}")
        assert f"example:\n  {COMMANDS[name].example}\n" in done.out
    assert p2("help").out == overview.out
    assert overview.out.isascii() and done.out.isascii()


def test_version(p2) -> None:
    from perception_programs import __version__

    assert p2("--version").out == f"p2 {__version__}\n"


HOSTILE = [
    "{}",
    "[]",
    "null",
    "3",
    '"text"',
    "NaN",
    "[[[[]]]]",
    "[1, 2]",
    "[{}]",
    '{"size": [1, 2]}',
    '{"points": 3, "size": [9, 9]}',
    '{"points": {"A": 3}, "size": [9, 9]}',
    '{"points": {"A": [1, NaN]}, "size": [9, 9]}',
    '{"points": {"A": [1, 1e999]}, "size": [9, 9]}',
    '{"points": [[1, 2]], "labels": 3, "size": [9, 9]}',
    '{"boxes": {"A": [1, 2]}, "size": [9, 9]}',
    '{"boxes": "x", "scores": "y", "labels": "z", "size": "w"}',
    '{"boxes": [[1, 2, 3, 4]], "scores": [0.5], "labels": [{}], "size": [9, 9]}',
    '{"boxes": [[1, 2, 3, 4]], "scores": [0.5], "labels": [1e400], "size": [9, 9]}',
    '{"boxes": [[1, 2, 3, "4"]], "scores": [0.5], "labels": ["a"], "size": [9, 9]}',
    '[{"bbox": 5, "score": 1}]',
    '[{"bbox": [1, 2, 3, 4], "score": {}, "category_id": 1}]',
    '[{"bbox": [1, 2, 3, 4], "score": 1, "category_id": {}, "image_id": []}]',
    '[{"bbox": [1, 2, 3, 4], "score": 1}, 5]',
    '{"candidates": [], "scores": [], "reference": [1, 2], "size1": [9, 9]}',
    '{"candidates": {"A": 5}, "scores": {"A": 5}, "reference": [1, 2], "size1": [9, 9]}',
    '{"candidates": {"A": 5}, "sizes": {"A": [9, 9]}}',
    '{"candidates": {"A": {"left": 5}}, "sizes": {"A": [9, 9]}}',
    '{"candidates": {"A": {"left": {"structural": 1, "colour": 1, "edge": 1, "box": 5}}}, "sizes": {"A": [9, 9]}}',
    '{"points1": "abc", "points2": "abc", "size1": [9, 9]}',
    '{"points1": [[1]], "points2": [[2, 3, 4]], "size1": [9, 9]}',
    f'{{"points1": [[{10**400}, 1]], "points2": [[1, 1]], "size1": [9, 9]}}',
    '{"modality": "depth"}',
    '{"modality": 3, "granularity": [], "items": {}}',
    "[" * 100_000,
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_no_json_makes_a_traceback(number, p2, tmp_path) -> None:
    (tmp_path / "hostile.json").write_text(HOSTILE[number])
    for command in (*CONVERTING, "show"):
        size = ["--size", "9x9"] if command in ("detect", "points") else []
        done = p2(command, "hostile.json", *size)
        assert done.status in (0, 1), command
        if done.status:
            assert done.err.startswith("p2: ") and done.err.count("\n") == 1


def run(*argv: object, **options) -> subprocess.CompletedProcess:
    line = [sys.executable, "-m", "perception_programs.cli", *map(str, argv)]
    return subprocess.run(line, capture_output=True, timeout=60, **options)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from perception_programs.cli import main; main(sys.argv[1:]); "
        "print([m for m in ('numpy', 'cv2', 'yaml', 'PIL', 'skimage') if m in sys.modules])"
    )
    for argv in (["--help"], ["depth", "--help"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *argv], capture_output=True, text=True, timeout=60
        )
        assert done.stdout.endswith("\n[]\n"), argv


def test_stdout_that_is_not_utf_8(tmp_path) -> None:
    label = 'naïve "猫"\n</perceptionprogram> \u202e'
    places = {"points": {label: [1, 2]}, "size": [9, 9]}
    (tmp_path / "places.json").write_text(json.dumps(places))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for style in STYLES:
        done = run("points", tmp_path / "places.json", "--style", style, env=environment)
        assert (done.returncode, done.stderr) == (0, b"")
        program = PerceptionProgram.from_text(done.stdout.decode("ascii"))
        assert program.items[0].b == label
    done = run("points", tmp_path / "猫.json", env=environment)
    assert done.returncode == 1
    assert done.stderr.startswith(b"p2: no file") and b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_pipe_is_read_once(p2, files) -> None:
    text = p2("points", "places.json").out.encode()
    for command, data in (("show", text), ("points", (files / "places.json").read_bytes())):
        read, write = os.pipe()
        os.write(write, data)
        os.close(write)
        done = p2(command, f"/dev/fd/{read}")
        os.close(read)
        assert [item.b for item in done.program.items] == ["A"]


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_reader_that_leaves_makes_no_noise(tmp_path) -> None:
    many = 20_000  # more than a pipe holds
    points = np.tile(np.arange(2), (many, 1)).tolist()
    data = {"points1": points, "points2": points, "size1": [9, 9]}
    (tmp_path / "matches.json").write_text(json.dumps(data))
    process = subprocess.Popen(
        [sys.executable, "-m", "perception_programs.cli", "match", tmp_path / "matches.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"<perceptionprogram>\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 141


def test_ctrl_c_is_quiet(p2, files, monkeypatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("perception_programs.cli.commands.parse", interrupted)
    done = p2("depth", "ramp.npy")
    assert (done.status, done.out, done.err) == (130, "", "")


def test_the_script_is_installed() -> None:
    script = Path(sys.executable).with_name("p2")
    if not script.exists():
        pytest.skip("the package is not installed in this environment")
    done = subprocess.run([script, "depth", "gone.npy"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "p2: no file 'gone.npy'\n"


def test_experts_are_listed_without_loading_them(p2) -> None:
    done = p2("experts")
    assert done.status == 0
    rows = {line.split()[0]: line for line in done.out.splitlines()[1:]}
    assert {"dis", "raft-large", "depth-anything-v2-small", "llmdet-tiny"} <= set(rows)
    assert "yes" in rows["dis"] and "BSD-3-Clause" in rows["raft-large"]
    only = p2("experts", "--modality", "jigsaw").out.splitlines()
    assert [line.split()[0] for line in only] == ["NAME", "seams"]
    assert p2("experts", "--modality", "smell").status == 1


def test_doctor_says_what_is_here(p2) -> None:
    done = p2("doctor")
    assert done.status == 0
    for word in ("perception-programs", "numpy", "devices: ", "cpu", "results kept: "):
        assert word in done.out


def test_kept_results_are_listed_and_removed(p2, tmp_path) -> None:
    from perception_programs import DepthMap
    from perception_programs.experts.cache import ResultCache

    ResultCache(tmp_path / "kept").put("a" * 64, DepthMap(np.zeros((4, 4))))
    folder = ("--folder", str(tmp_path / "kept"))
    assert "aaaaaaaaaaaa" in p2("cache", *folder).out
    assert p2("cache", *folder, "--clear").out.startswith("removed 1 results")
    assert p2("cache", *folder).out.startswith("0 results")


def test_metres_and_checked_flow(p2, files) -> None:
    done = p2("depth", "mm.png", "--kind", "metric", "--scale", "1000", "--units", "m")
    assert "in metres" in done.program.note
    assert p2("depth", "ramp8.png", "--units", "m").status == 1
    assert (
        "no reliable motion"
        in p2("flow", "first.png", "first.png", "--check", "--expert", "dis").out
    )
