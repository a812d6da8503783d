"""`p2 blink`: what stands where a file should, names that are empty, files that were cut short."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from blink_pictures import jigsaw_manifest
from perception_programs.blink import Coordinates, Examples
from perception_programs.cli import main

MODEL = ("--model", "scripted:script.jsonl")
QUESTIONS = ("--source", "questions.jsonl", "--no-cache")
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")


@pytest.fixture
def p2(capsys, tmp_path, monkeypatch):
    """Calls `p2 blink` beside six questions of Jigsaw; its status, stdout and stderr."""
    jigsaw_manifest(tmp_path, 6)
    (tmp_path / "script.jsonl").write_text('{"contains": "Which", "answer": "Answer: (A)"}\n')
    monkeypatch.chdir(tmp_path)

    def call(*argv):
        status = main(["blink", *map(str, argv)])
        return status, *capsys.readouterr()

    return call


RUN = ("run", *MODEL, *QUESTIONS, "--setting", "standard")


@needs_pipes
@pytest.mark.parametrize(
    "line",
    [
        ("run", *MODEL, "--source", "pipe.jsonl", "--setting", "standard", "--out", "o"),
        (*RUN, "--out", "o", "--examples", "pipe.jsonl"),
        (*RUN, "--out", "o", "--coordinates", "pipe.jsonl"),
        (
            "run",
            "--model",
            "scripted:pipe.jsonl",
            *QUESTIONS,
            "--setting",
            "standard",
            "--out",
            "o",
        ),
        ("icl", *MODEL, *QUESTIONS, "--setting", "standard", "--out", "pipe.jsonl"),
        ("score", "pipe.jsonl", "--answers", "answers.json"),
        ("score", "questions.jsonl", "--answers", "pipe.jsonl"),
    ],
)
def test_a_pipe_is_not_waited_for(line, p2) -> None:
    os.mkfifo("pipe.jsonl")
    Path("answers.json").write_text('{"val_Jigsaw_1": "(A)"}')
    status, out, err = p2(*line)
    assert (status, out) == (1, "")
    assert err == "p2: pipe.jsonl: expected a file, got a pipe\n"


@needs_pipes
@pytest.mark.parametrize("name", ["Jigsaw.standard.jsonl", "Jigsaw.standard.errors.jsonl"])
def test_nor_is_one_in_place_of_records(name, p2) -> None:
    Path("out").mkdir()
    os.mkfifo(f"out/{name}")
    status, _, err = p2(*RUN, "--out", "out")
    assert (status, err) == (1, f"p2: out/{name}: expected a file, got a pipe\n")


@pytest.mark.parametrize(
    "line",
    [
        (*RUN, "--out", ""),
        (*RUN, "--out", " ", "--dry-run"),
        ("report", ""),
        ("report", "out", ""),
        ("report", "out", "--out", ""),
        ("icl", *MODEL, *QUESTIONS, "--setting", "standard", "--out", ""),
        ("analyse", "grid", "map.npy", "--out", ""),
    ],
)
def test_an_empty_name_is_not_this_folder(line, p2) -> None:
    before = sorted(path.name for path in Path().iterdir())
    status, out, err = p2(*line)
    assert (status, out) == (1, "")
    assert re.fullmatch(r"p2: (--out|FILE): expected (a|the) [^\n]*, got ' ?'\n", err), err
    assert sorted(path.name for path in Path().iterdir()) == before


def test_examples_that_were_cut_short_are_gone_on_with(p2) -> None:
    line = ("icl", *MODEL, *QUESTIONS, "--setting", "standard", "--out", "examples.jsonl")
    assert p2(*line)[0] == 0
    path = Path("examples.jsonl")
    whole = path.read_bytes()
    first, second, _ = whole.split(b"\n")
    for left in (
        first + b"\n" + second[:40],
        first + b"\n" + second[:3],
        whole[:-1],
        whole + b"\0",
    ):
        path.write_bytes(left)
        status, _, err = p2(*line)
        assert status == 0, err
        assert path.read_bytes() == whole
        assert err.count("\n") == (left[: len(whole) - 1] != whole[:-1])  # asked again or not
    assert len(Examples.read(path)) == 2


@pytest.mark.parametrize("rest", [b"notes of mine", b'{"id": "a"', b'{"task": "x"}'])
def test_what_icl_did_not_leave_stays(rest, p2) -> None:
    line = ("icl", *MODEL, *QUESTIONS, "--setting", "standard", "--out", "examples.jsonl")
    assert p2(*line)[0] == 0
    path = Path("examples.jsonl")
    path.write_bytes(path.read_bytes() + rest)
    before = path.read_bytes()
    status, _, err = p2(*line)
    assert status == 1 and err.startswith("p2: examples.jsonl, line 3: expected"), err
    assert path.read_bytes() == before


def test_records_of_no_question_are_not_past_the_limit(p2) -> None:
    assert p2(*RUN, "--out", "out")[0] == 0
    path = Path("out/Jigsaw.standard.jsonl")
    stray = json.loads(path.read_text().splitlines()[1]) | {"id": "nobody_1"}
    path.write_text(path.read_text() + json.dumps(stray) + "\n")
    status, _, err = p2(*RUN, "--out", "out")
    assert status == 0
    assert err == (
        "p2: Jigsaw.standard has 1 record more, of ids that Jigsaw has no question of; "
        "a report counts all\n"
    )
    _, _, err = p2(*RUN, "--out", "out", "--limit", 4)
    assert err.splitlines()[0] == (
        "p2: Jigsaw.standard has 2 records more, past --limit 4; a report counts all"
    )
    assert err.count("\n") == 2


def correspondence(folder: Path) -> dict[str, Any]:
    """One question of visual correspondence without any mark, and where its points are."""
    rng = np.random.default_rng(1)
    coarse = Image.fromarray(rng.integers(0, 256, (16, 16, 3), np.uint8))
    for name, box in {"a.png": (0, 0, 160, 160), "b.png": (10, 0, 170, 160)}.items():
        coarse.resize((180, 160), Image.Resampling.BICUBIC).crop(box).save(folder / name)
    question = {
        "id": "made_1",
        "task": "Visual_Correspondence",
        "question": "Which point corresponds to the reference point?",
        "choices": ["Point A", "Point B"],
        "images": ["a.png", "b.png"],
        "answer": "A",
    }
    (folder / "pairs.jsonl").write_text(json.dumps(question))
    return {
        ("made_1", 1): {"REF": (80, 80)},
        ("made_1", 2): {"A": (70, 80), "B": (20, 30)},
    }


def tools_of(page: str) -> list[Any]:
    found = re.search(r'id="data">(.*?)</script>', Path(page).read_text(), re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    return [picture for _, picture in data["records"][0]["tools"]]


def test_a_report_is_given_the_coordinates_of_its_run(p2, tmp_path) -> None:
    pytest.importorskip("cv2")
    points = correspondence(tmp_path)
    Coordinates(points).write("points.jsonl")
    Coordinates({**points, ("made_1", 1): {"REF": (81, 80)}}).write("others.jsonl")
    line = ("--source", "pairs.jsonl", "--expert", "sift", "--setting", "tool", "--no-cache")
    status, _, err = p2("run", *MODEL, *line, "--coordinates", "points.jsonl", "--out", "out")
    assert status == 0, err
    for options, why in (
        ((), "coordinates from a file, which the report was not given"),
        (("--coordinates", "others.jsonl"), "the run had other coordinates"),
    ):
        assert p2("report", "out", "--out", "r.html", *options)[0] == 0
        (picture,) = tools_of("r.html")
        assert why in picture
    assert p2("report", "out", "--out", "r.html", "--coordinates", "points.jsonl")[0] == 0
    (picture,) = tools_of("r.html")
    assert isinstance(picture, int)
