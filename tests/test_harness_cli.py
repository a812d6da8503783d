"""`p2 ask`, `p2 replay`: their streams, their exit status, what they refuse."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from PIL import Image

from perception_programs.cli import main
from perception_programs.harness import Trajectory
from test_harness import PART, PICTURE

ANSWER = "It is blue.\nAnswer: blue\nEvidence: tool_image_1"
QUESTION = "What colour is it?"


class Done:
    """What one call of `main` did."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *argv: object) -> None:
        self.status = main([str(a) for a in argv])
        self.out, self.err = capsys.readouterr()


@pytest.fixture
def p2(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    Image.fromarray(PICTURE).save("a.png")
    script("script.jsonl", ANSWER)
    return lambda *argv: Done(capsys, *argv)


def script(name: str, answer: str, call: object = None) -> None:
    call = call or {"name": "zoom_in", "arguments": PART}
    lines = [
        {"contains": "tool_image_1 shows", "answer": answer},
        {"contains": "No more tools", "answer": answer},
        {"contains": "", "answer": "Closer.", "call": call},
    ]
    Path(name).write_text("\n".join(map(json.dumps, lines)))


def ask(p2, *more: object, model: str = "scripted:script.jsonl", out: str = "out") -> Done:
    return p2("ask", "a.png", QUESTION, "--model", model, "--out", out, *more)


def test_an_answer_with_its_evidence(p2) -> None:
    done = ask(p2, "--tool", "zoom_in", "--html", "page.html")
    assert done.status == 0
    assert done.out.splitlines() == [
        "blue",
        "evidence:",
        "  tool_image_1: image, 160×120 pixels, [0, 0, 500, 500] of input_image_1 (0-1000); "
        'zoom_in(image="input_image_1", box=[0, 0, 500, 500], scale=4)',
        "    input_image_1: image, 80×60 pixels; given",
    ]
    tools, turn, kept = done.err.splitlines()
    assert tools == "p2: tools: zoom_in" and kept == "p2: kept in out"
    assert turn.startswith('p2: turn 1: zoom_in(image="input_image_1", ') and "→ found" in turn
    assert "data:image/jpeg" in Path("page.html").read_text()
    assert Trajectory.read("out").answer == "blue"
    again = ask(p2, "--tool", "zoom_in")
    assert again.out == done.out and "turn 1" not in again.err


def test_what_is_to_be_doubted_is_said(p2) -> None:
    script("script.jsonl", "Answer: 3\nEvidence: boxes_4")
    done = ask(p2, "--tool", "zoom_in")
    assert done.status == 0
    assert done.out.splitlines() == [
        "3",
        "warning: The answer names boxes_4, which was never made.",
    ]


def test_budgets_and_rungs(p2) -> None:
    Path("plain.jsonl").write_text('{"contains": "", "answer": "Answer: red"}')
    for more in (("--no-tool",), ("--rung", "no-tools")):
        done = ask(p2, *more, model="scripted:plain.jsonl", out=f"out-{len(more)}")
        assert (done.status, done.out.splitlines()[0]) == (0, "red")
    settings = Trajectory.read("out-2").start["settings"]
    assert settings["rung"] == "no-tools"
    limits = ("--total-tokens", 9000, "--max-cost", 0.5, "--max-seconds", 60, "--turns", 3)
    ask(p2, "--tool", "zoom_in", *limits, out="limits")
    settings = Trajectory.read("limits").start["settings"]
    assert [settings[key] for key in ("max_tokens", "max_cost", "max_seconds", "turns")] == [
        *(9000, 0.5, 60.0, 3)
    ]


def test_a_configuration_and_templates(p2) -> None:
    Path("tools.yaml").write_text("zoom_in: {}\n")
    Path("words").mkdir()
    shipped = Path("words/zoom_in.yaml")
    from perception_programs.harness import Templates

    shipped.write_text(Templates().texts["zoom_in.yaml"].replace("version: 1", "version: 7"))
    done = ask(p2, "--config", "tools.yaml", "--templates", "words")
    assert done.status == 0 and "p2: tools: zoom_in\n" in done.err
    assert Trajectory.read("out").start["templates"]["versions"]["zoom_in"] == 7


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--tool", "zoom"), "did you mean 'zoom_in'"),
        (("--config", "none.yaml"), "No such file"),
        (("--config", "script.jsonl"), "expected"),
        (("--tool", "zoom_in", "--rung", "top"), "rung: expected one of no-tools"),
        (("--tool", "zoom_in", "--turns", "0"), "turns: expected"),
        (("--tool", "zoom_in", "--templates", "nowhere"), "templates: no folder"),
        (("--html", "nowhere/page.html"), "--html: no folder"),
        (("--temperature", "1"), "has no meaning for the model"),
    ],
)
def test_what_is_refused(p2, more, said: str) -> None:
    done = ask(p2, *more)
    assert done.status == 1 and said in done.err and not Path("out").exists()


def test_the_question_comes_last(p2) -> None:
    for files in (("a.png",), (QUESTION, "a.png"), ("b.png", QUESTION)):
        done = p2("ask", *files, "--model", "scripted:script.jsonl", "--tool", "zoom_in")
        assert done.status == 1
        assert "expected the question last" in done.err or "no file 'b.png'" in done.err
    assert p2("ask").status == 2


def test_a_model_that_fails_says_where_to_go_on(p2) -> None:
    Path("short.jsonl").write_text('{"contains": "never asked", "answer": "Answer: 1"}')
    done = ask(p2, "--tool", "zoom_in", model="scripted:short.jsonl")
    assert done.status == 1 and "p2: kept in out" in done.err and "no answer" in done.err


class TestReplay:
    def test_the_same(self, p2) -> None:
        ask(p2, "--tool", "zoom_in")
        done = p2("replay", "out", "--out", "again", "--html", "page.html")
        assert (done.status, done.out) == (0, "1 turn replayed, no difference\n")
        assert Trajectory.read("again").answer == "blue" and Path("page.html").exists()

    def test_a_difference_is_shown_and_fails(self, p2) -> None:
        ask(p2, "--tool", "zoom_in")
        from perception_programs.harness import Templates

        Path("words").mkdir()
        text = Templates().texts["zoom_in.yaml"].replace("$part shows", "$part has")
        Path("words/zoom_in.yaml").write_text(text)
        done = p2("replay", "out", "--templates", "words")
        assert done.status == 1
        lines = done.out.splitlines()
        assert lines[-1] == "1 turn replayed, 2 differences"
        assert "turn 1: words" in lines and any("+tool_image_1 has" in line for line in lines)

    def test_show_runs_nothing(self, p2) -> None:
        ask(p2, "--tool", "zoom_in")
        done = p2("replay", "out", "--show")
        assert done.status == 0 and done.err == ""
        assert done.out.startswith(f"question: {QUESTION}\n") and "  > zoom_in(" in done.out
        assert p2("replay", "out", "--show", "--tool", "zoom_in").status == 1
        assert p2("replay", "nowhere", "--show").status == 1


@pytest.mark.slow
def test_the_first_steps_of_the_documentation(p2) -> None:
    pytest.importorskip("rapidocr")
    page = (Path(__file__).resolve().parent.parent / "docs" / "harness.md").read_text("utf-8")
    block = page.split("```bash\n", 1)[1].split("```", 1)[0].strip().splitlines()
    _install, picture, first, second, command = block
    exec(shlex.split(picture)[2])
    Path("script.jsonl").write_text("\n".join(shlex.split(line)[1] for line in (first, second)))
    done = p2(*shlex.split(command)[1:])
    assert done.status == 0
    assert done.out == page.split("```console\n", 1)[1].split("```", 1)[0]
