"""`p2 blink run`: what it says on the way, where it may write, and under what it goes on."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from blink_pictures import jigsaw_manifest
from perception_programs.blink import RECIPES, load, write_manifest
from perception_programs.cli import blink_progress, main

JIGSAW = ("--task", "Jigsaw", "--source", "questions.jsonl", "--no-cache")
READER = ("--model", "reader", "--setting", "p2")


@pytest.fixture
def p2(capsys, tmp_path, monkeypatch):
    """Calls `p2 blink run` among ten questions of Jigsaw; its status, stdout and stderr."""
    jigsaw_manifest(tmp_path, 10)
    (tmp_path / "script.jsonl").write_text('{"contains": "", "answer": "Answer: (A)"}\n')
    monkeypatch.chdir(tmp_path)

    def call(*argv):
        status = main(["blink", "run", *map(str, argv)])
        return status, *capsys.readouterr()

    return call


def refused(done, *words):
    status, out, err = done
    assert (status, out, err.count("\n")) == (1, "", 1), err
    assert "was made with another configuration: " in err, err
    for word in words:
        assert word in err


def test_a_smaller_limit_says_what_else_there_is(p2) -> None:
    assert p2(*READER, *JIGSAW, "--out", "out")[0] == 0
    status, out, err = p2(*READER, *JIGSAW, "--out", "out", "--limit", 4)
    assert status == 0 and out.splitlines()[1].split()[2] == "4"
    assert err == "p2: Jigsaw.p2 has 6 records more, past --limit 4; a report counts all\n"


def test_an_interrupt_says_how_many_are_done(p2, monkeypatch) -> None:
    from perception_programs.blink.run import Run

    assert p2(*READER, *JIGSAW, "--out", "out", "--limit", 3)[0] == 0
    finish, calls = Run._finish, []

    async def interrupted(self, task, jobs):
        calls.append(task)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return await finish(self, task, jobs)

    monkeypatch.setattr(Run, "_finish", interrupted)
    status, out, err = p2(*READER, *JIGSAW, "--out", "out", "--concurrency", 1)
    assert (status, out) == (130, "")
    assert err == "p2: interrupted, 5 of 10 samples done; the same command goes on from here\n"


@pytest.mark.parametrize(("step", "lines"), [(0.1, []), (3, range(1, 11)), (1, range(2, 11, 2))])
def test_progress_without_a_terminal(step, lines, p2, monkeypatch) -> None:
    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    clock = Clock()
    show = blink_progress._Bar.show

    def later(self, outcome):
        clock.now += step if outcome.tally.answered else 0
        show(self, outcome)

    monkeypatch.setattr(blink_progress, "time", clock)
    monkeypatch.setattr(blink_progress._Bar, "show", later)
    status, _, err = p2(*READER, *JIGSAW, "--out", "out")
    assert status == 0
    told = [f"p2: {n} of 10 samples ({10 * n}%): right 100.0%" for n in lines]
    assert err.splitlines() == told


def test_slow_progress_is_told_after_a_while(p2, monkeypatch) -> None:
    monkeypatch.setattr(blink_progress, "_LONG", 0.0)
    monkeypatch.setattr(blink_progress, "_TENTH", 2.0)
    _, _, err = p2(*READER, *JIGSAW, "--out", "out")
    assert err.count("\n") == 10


def test_another_expert_is_refused(p2) -> None:
    samples = load("Jigsaw", "questions.jsonl")
    from dataclasses import replace

    flow = [
        replace(s, task="Multi-view_Reasoning", choices=("left", "right"), images=s.images[1:])
        for s in samples
    ]
    write_manifest(flow, "flow.jsonl")
    line = (*READER, "--source", "flow.jsonl", "--no-cache", "--out", "out", "--grid", "2")
    assert p2(*line, "--expert", "dis")[0] == 0
    before = Path("out/Multi-view_Reasoning.p2.jsonl").read_bytes()
    # Whether or not the paper's expert can be had here.
    refused(p2(*line), 'tools.experts.flow.name "dis" -> "raft-large"')
    refused(p2(*line[:-1], "3", "--expert", "dis"), "tools.grid [2, 2] -> [3, 3]")
    assert Path("out/Multi-view_Reasoning.p2.jsonl").read_bytes() == before


def test_other_coordinates_are_refused(p2) -> None:
    place = {"id": "made_Jigsaw_0", "image": 1, "points": {"A": [1, 2]}}
    Path("one.jsonl").write_text(json.dumps(place))
    Path("two.jsonl").write_text(json.dumps({**place, "image": 2}))
    line = (*READER, *JIGSAW, "--out", "out")
    assert p2(*line, "--coordinates", "one.jsonl")[0] == 0
    assert p2(*line, "--coordinates", "one.jsonl")[0] == 0
    status, out, err = p2(*line, "--coordinates", "two.jsonl")
    told, err = err.split("\n", 1)
    assert told == "p2: without effect on Jigsaw in p2: --coordinates"
    refused((status, out, err), "tools.coordinates ")
    refused(p2(*line), "tools.coordinates ", " -> null")


def test_other_examples_are_refused(p2) -> None:
    example = {"task": "Jigsaw", "setting": "p2", "answer": "A", "by": "me"}
    lines = [
        json.dumps({**example, "id": f"made_Jigsaw_{n}", "rationale": f"{n}.\nAnswer: (A)"}) + "\n"
        for n in (0, 2, 4)
    ]
    Path("one.jsonl").write_text("".join(lines[:2]))
    Path("two.jsonl").write_text("".join(lines))
    line = ("--model", "scripted:script.jsonl", "--setting", "p2", *JIGSAW, "--out", "out")
    assert p2(*line, "--examples", "one.jsonl")[0] == 0
    refused(p2(*line, "--examples", "two.jsonl"), "prompts.examples ")
    refused(p2(*line), "prompts.examples ", " -> null")


def test_another_script_is_refused(p2) -> None:
    line = ("--model", "scripted:script.jsonl", "--setting", "p2", *JIGSAW, "--out", "out")
    assert p2(*line)[0] == 0
    Path("script.jsonl").write_text('{"contains": "", "answer": "Answer: (B)"}\n')
    refused(p2(*line), "model.script ")


@pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm is not installed")
def test_another_long_side_is_refused(p2, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server = ("--base-url", "http://127.0.0.1:9/v1", "--attempts", 1, "--limit", 1)
    line = ("--model", "openai/toy", "--setting", "standard", *JIGSAW, *server, "--out", "out")
    status, out, err = p2(*line, "--long-side", 64)
    assert (status, out) == (1, "") and "nobody answers at http://127.0.0.1:9/v1" in err
    refused(p2(*line, "--long-side", 32), "model.long_side 64 -> 32")
    refused(p2(*line), "model.long_side 64 -> null")


@pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm is not installed")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "environment variable OPENAI_API_KEY, which is not set; see docs/models.md"),
        (("--temperature", "nan"), "temperature: expected a finite number"),
        (("--temperature", "inf"), "temperature: expected a finite number"),
        (("--temperature", "-1"), "temperature: expected 0 or more"),
        (("--base-url", "http://[bad"), "base_url: expected an address such as"),
    ],
)
def test_a_model_that_cannot_be_asked(options, message, p2, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    line = ("--model", "openai/gpt-5-mini", "--setting", "standard", *JIGSAW, *options)
    status, out, err = p2(*line, "--out", "out")
    *loading, told = err.splitlines()
    assert (status, out) == (1, "") and message in told and told.startswith("p2: "), err
    assert loading in ([], ["p2: loading LiteLLM …"])
    assert not Path("out").exists()


@pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm is not installed")
def test_a_dry_run_needs_no_key(p2, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    line = ("--model", "openai/gpt-5-mini", "--setting", "standard", *JIGSAW)
    assert p2(*line, "--dry-run", "--limit", 1)[0] == 0


def test_an_expert_that_is_missing_leaves_no_folder(p2, monkeypatch) -> None:
    from perception_programs import WeightsError

    def missing(*args, **options):
        raise WeightsError("its weights are nowhere")

    monkeypatch.setattr("perception_programs.blink.tools.registry.check", missing)
    status, _, err = p2(*READER, *JIGSAW, "--out", "out")
    assert (status, err) == (1, "p2: its weights are nowhere\n")
    assert not Path("out").exists()
    assert RECIPES["Jigsaw"].experts


def test_where_nothing_can_be_written(p2, monkeypatch) -> None:
    Path("file").write_text("")
    for out in ("file", "file/out"):
        status, _, err = p2(*READER, *JIGSAW, "--out", out)
        assert (status, err.count("\n")) == (1, 1) and err.startswith("p2: 'file"), err
    assert p2(*READER, *JIGSAW, "--out", "out", "--limit", 1)[0] == 0

    def denied(self, mode="r", *args, **options):
        if "+" in mode and self.name == "Jigsaw.p2.jsonl":
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, mode, *args, **options)

    opened = Path.open
    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.setattr("perception_programs.blink.run.Run._finish", None)  # nothing is asked
    status, _, err = p2(*READER, *JIGSAW, "--out", "out")
    assert (status, err) == (1, "p2: 'out/Jigsaw.p2.jsonl': Permission denied\n")
