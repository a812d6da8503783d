"""`p2 blink`: every command on small made-up files, its streams and its exit status."""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from blink_pictures import jigsaw_manifest
from perception_programs.cli import main


class Done:
    """What one call of `main` did."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *argv: object) -> None:
        self.status = main([str(a) for a in argv])
        self.out, self.err = capsys.readouterr()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blink")
    jigsaw_manifest(folder, 4)
    (folder / "script.jsonl").write_text('{"contains": "lower right", "answer": "It is (A)."}\n')
    return folder


@pytest.fixture
def p2(capsys, tmp_path, monkeypatch, made):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return lambda *argv: Done(capsys, "blink", *argv)


def run(p2, model, out, *more, setting="p2"):
    questions = ("--task", "Jigsaw", "--source", "questions.jsonl", "--setting", setting)
    return p2(
        "run", "--model", model, *questions, "--no-cache", *(("--out", out) if out else ()), *more
    )


def test_a_reader_runs_and_is_reported(p2) -> None:
    done = run(p2, "reader", "out")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        "TASK    SETTING  DONE  RIGHT   UNPARSED  FAILED",
        "Jigsaw  p2       4     100.0%  0         0",
    ]
    report = p2("report", "out")
    assert (report.status, report.err) == (0, "")
    assert "| reader | p2 |" in report.out
    for name in ("report.md", "report.csv", "report.html"):
        done = p2("report", "out", "--out", name)
        assert (done.status, done.out, done.err) == (0, f"{name}\n", "")
    with Path("report.csv").open() as file:
        assert [row["right"] for row in csv.DictReader(file)] == ["4"]
    assert "'report.pdf'" in p2("report", "out", "--out", "report.pdf").err
    assert "data:image/jpeg;base64," in Path("report.html").read_text()


def test_the_page_does_without_pictures_that_are_gone(p2) -> None:
    run(p2, "reader", "out")
    Path("questions.jsonl").rename("moved.jsonl")
    done = p2("report", "out", "--out", "report.html")
    assert done.status == 0
    assert done.err.startswith("p2: no pictures of Jigsaw: ")
    done = p2("report", "out", "--out", "report.html", "--source", "moved.jsonl")
    assert (done.status, done.err) == (0, "")


def test_a_script_in_two_settings(p2) -> None:
    done = run(p2, "scripted:script.jsonl", "out", "--setting", "standard")
    assert [line.split() for line in done.out.splitlines()[1:]] == [
        ["Jigsaw", "p2", "4", "50.0%", "0", "0"],
        ["Jigsaw", "standard", "4", "50.0%", "0", "0"],
    ]
    again = run(p2, "scripted:script.jsonl", "out", "--setting", "standard", "--concurrency", 1)
    assert again.out == done.out


def test_failures_are_told_and_status_1(p2) -> None:
    Path("2_1.png").write_bytes(b"no picture")
    done = run(p2, "reader", "out")
    assert done.status == 1
    assert done.out.splitlines()[1].split() == ["Jigsaw", "p2", "3", "100.0%", "0", "1"]
    first, last = done.err.splitlines()
    assert first.startswith("p2: made_Jigsaw_2: 2_1.png: ")
    assert last == "p2: 1 sample failed and is counted apart; the same command tries it again"


def test_dry_run_asks_nothing(p2) -> None:
    done = run(p2, "scripted:script.jsonl", None, "--dry-run")
    assert (done.status, done.err) == (0, "")
    assert "<perceptionprogram>" in done.out and "4 requests" in done.out
    assert "hidden tokens, which can cost several times more" in done.out
    assert not Path("out").exists()
    one = run(p2, "scripted:script.jsonl", None, "--dry-run", "--limit", 1)
    assert "1 sample;" in one.out and " 1 request, " in one.out


def test_a_task_of_ones_own(p2) -> None:
    row = json.loads(Path("questions.jsonl").read_text().splitlines()[0])
    Path("own.jsonl").write_text(json.dumps({**row, "task": "Own_Task"}) + "\n")
    line = ("--model", "scripted:script.jsonl", "--source", "own.jsonl", "--out", "out")
    done = p2("run", *line, "--task", "Own_Task", "--setting", "standard")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[1].split() == ["Own_Task", "standard", "1", "100.0%", "0", "0"]
    done = p2("run", *line, "--task", "Own_Task", "--setting", "p2")
    assert done.status == 1 and "Own_Task has no tools" in done.err
    assert p2("report", "out").status == 0
    Path("own.jsonl").write_text(json.dumps({**row, "task": "../Own"}) + "\n")
    done = p2("run", *line, "--task", "../Own", "--setting", "standard")
    assert done.status == 1 and "which make a file's name" in done.err


def test_examples_are_written_and_shown(p2) -> None:
    line = ("--task", "Jigsaw", "--source", "questions.jsonl", "--setting", "p2")
    done = p2(
        "icl", "--model", "scripted:script.jsonl", *line, "--out", "examples.jsonl", "--no-cache"
    )
    assert (done.status, done.out) == (0, "")
    rows = [json.loads(text) for text in Path("examples.jsonl").read_text().splitlines()]
    assert [(row["id"], row["answer"]) for row in rows] == [
        ("made_Jigsaw_0", "A"),
        ("made_Jigsaw_2", "A"),
    ]
    done = run(p2, "scripted:script.jsonl", "out", "--examples", "examples.jsonl")
    assert done.status == 0
    record = json.loads(Path("out/Jigsaw.p2.jsonl").read_text().splitlines()[1])
    assert [m["role"] for m in record["messages"]] == ["user", "assistant", "user"]


def test_an_interrupt_says_how_to_go_on(p2, monkeypatch) -> None:
    async def interrupted(self, progress=None):
        raise KeyboardInterrupt

    monkeypatch.setattr("perception_programs.blink.run.Run.go", interrupted)
    done = run(p2, "reader", "out")
    assert (done.status, done.out) == (130, "")
    assert done.err.startswith("p2: interrupted, 0 of 4 samples done; the same command goes on")


def test_errors_are_told_up_to_some(p2) -> None:
    for n in range(4):
        jigsaw_manifest(Path(f"more{n}"), 2)
    lines = [
        json.dumps({**json.loads(text), "id": f"{n}", "images": ["bad.png"] * 3})
        for n, text in enumerate(Path("questions.jsonl").read_text().splitlines() * 2)
    ]
    Path("bad.png").write_bytes(b"no picture")
    for count, told in ((5, False), (6, True)):
        Path("questions.jsonl").write_text("\n".join(lines[:count]))
        done = run(p2, "reader", f"out{count}")
        assert (f"p2: further errors are in out{count}/*.errors.jsonl" in done.err) is told
        assert done.err.count(": bad.png: ") == 5


def test_a_folder_of_runs_names_them(p2) -> None:
    run(p2, "reader", "runs/one")
    done = p2("report", "runs")
    assert done.status == 1 and done.err.endswith("got none; these in it have some: runs/one\n")


def test_too_few_explanations_say_why(p2) -> None:
    line = ("--task", "Jigsaw", "--source", "questions.jsonl", "--setting", "p2", "--no-cache")
    Path("script.jsonl").write_text('{"contains": "", "answer": "I cannot tell."}\n')
    done = p2("icl", "--model", "scripted:script.jsonl", *line, "--out", "examples.jsonl")
    assert done.status == 1
    assert "expected 2 explanations that end with the right answer, got 0: scripted:sc" in done.err
    assert "on 4 of the samples, of which the first 10 with an answer are tried" in done.err


@pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm is not installed")
def test_a_server_that_is_not_there_ends_the_run(p2, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    server = ("--base-url", "http://127.0.0.1:9/v1", "--attempts", 1, "--concurrency", 1)
    done = run(p2, "openai/toy", "out", *server, setting="standard")
    assert done.status == 1
    first, last = done.err.splitlines()
    assert first == "p2: loading LiteLLM …"
    assert last.startswith(
        "p2: nobody answers at http://127.0.0.1:9/v1: is the server up, and --base-url right?"
    )
    assert len(Path("out/Jigsaw.standard.errors.jsonl").read_text().splitlines()) == 1


def test_what_is_on_this_machine_is_looked_through_before_a_model_is_made(p2, monkeypatch) -> None:
    monkeypatch.setattr("perception_programs.cli.models.chosen_model", None)
    for more in (("--examples", "nowhere.jsonl"), ("--source", "Jigsaw=nowhere")):
        done = run(p2, "openai/toy", "out", *more)
        assert done.status == 1 and "nowhere" in done.err and "LiteLLM" not in done.err


def test_score(p2) -> None:
    Path("key.json").write_text('{"val_Jigsaw_1": "(A)", "val_Jigsaw_2": "(B)"}')
    Path("said.json").write_text('{"val_Jigsaw_1": "(A)", "val_Jigsaw_2": "(Z)"}')
    done = p2("score", "said.json", "--answers", "key.json")
    assert (done.status, done.err) == (0, "")
    assert "50.0" in done.out


def test_analyses(p2) -> None:
    rng = np.random.default_rng(0)
    np.save("depth.npy", np.sort(rng.random((64, 64)), axis=0))
    done = p2("analyse", "grid", "depth.npy", "--grid", 4, "--grid", 8, "--out", "grid")
    assert (done.status, done.err) == (0, "")
    assert {Path(line).suffix for line in done.out.splitlines()[-2:]} == {".csv", ".png"}
    texture = Image.fromarray(rng.integers(0, 256, (40, 60, 3), np.uint8)).resize((240, 160))
    texture.save("first.png")
    texture.transform((240, 160), Image.Transform.AFFINE, (1, 0, 6, 0, 1, 0)).save("second.png")
    done = p2("analyse", "displacement", "first.png", "second.png", "--expert", "sift")
    assert (done.status, done.err) == (0, "")
    assert "25" in done.out  # 6 of 240 pixels


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run --model reader --task Jigsaw --setting p2", "--out: expected a folder"),
        ("run --model reader --task Jigsw --setting p2 --out o", "did you mean 'Jigsaw'"),
        (
            "run --model reader --task Jigsaw --source nowhere --setting p2 --out o",
            "no file or folder 'nowhere'",
        ),
        (
            "run --model reader --task Jigsaw --source questions.jsonl --setting raw --out o",
            "setting: expected standard, tool, p2",
        ),
        (
            "run --model scripted:script.jsonl --temperature 1 --task Jigsaw --source questions.jsonl "
            "--setting p2 --out o",
            "--temperature: has no meaning for the model 'scripted:script.jsonl'",
        ),
        ("report nowhere", "nowhere"),
        ("score nowhere.json --answers key.json", "p2: no file 'key.json'"),
        (
            "run --model scripted:no.jsonl --task Jigsaw --setting p2 --out o",
            "script: no file 'no.",
        ),
        ("icl --model scripted:script.jsonl --task Jigsaw --setting bogus --out o", "got 'bogus'"),
        ("analyse grid x.npy --seed -1", "--seed: expected 0 or more, got -1"),
        (
            "run --model reader --task Jigsaw --source questions.jsonl --setting standard --out o",
            "setting: expected 'p2' or 'p2-compact' for 'reader', which reads programs",
        ),
        (
            "run --model scripted --task Jigsaw --source questions.jsonl --setting p2 --out o",
            "model: expected scripted:FILE, got 'scripted'",
        ),
        (
            "icl --model reader --task Jigsaw --source questions.jsonl --setting p2 --out o",
            "--model: expected a language model, got 'reader', which answers by rule",
        ),
        (
            "run --model reader --task HardBLINK --setting p2 --out o",
            "HardBLINK: expected the folder of its files (--source HardBLINK=FOLDER",
        ),
        ("score . --answers .", "expected a JSON file of predictions, got a folder"),
        (
            "analyse correspondence 1.png 2.png --model scripted:script.jsonl --out o",
            "expected at least 6 pairs of pictures, one to ask about and 5 as its examples, got 2 files",
        ),
        (
            "analyse depth 1.png --model scripted:script.jsonl --out o",
            "expected at least 6 pictures",
        ),
        ("analyse colour x.png", "analyse: expected depth, correspondence, displacement, grid"),
        ("analyse depth x.png", "expected --model NAME"),
        ("analyse displacement x.png --expert sift", "expected pairs of pictures, got 1"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_1(line, message, p2) -> None:
    done = p2(*line.split())
    assert done.status == 1
    assert message in done.err and done.err.count("\n") == 1, done.err


@pytest.mark.parametrize("line", ["", "rn", "run", "score x.json"])
def test_wrong_usage_is_status_2(line, p2) -> None:
    done = p2(*line.split())
    assert (done.status, done.out) == (2, "")
    assert done.err


def test_help_of_the_family(p2, capsys) -> None:
    done = p2("--help")
    assert done.status == 0 and "blink run" in done.out and "p2 depth" not in done.out
    assert p2("run", "--help").out.startswith("usage: p2 blink run")
    assert "did you mean 'blink run'" in p2("rn").err
