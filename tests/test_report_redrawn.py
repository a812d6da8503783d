"""The tool pictures of a report's page: drawn again, or why not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from blink_pictures import QUESTION, jigsaw_manifest
from perception_programs.blink import load
from perception_programs.blink.report import build_report, to_html
from perception_programs.cli import main


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """A run of two jigsaws in the setting `tool`, begun in the folder of its questions."""
    jigsaw_manifest(tmp_path, 2)
    (tmp_path / "script.jsonl").write_text('{"contains": "", "answer": "Answer: (A)"}\n')
    monkeypatch.chdir(tmp_path)
    line = (
        "blink run --model scripted:script.jsonl --source questions.jsonl --setting tool --no-cache"
    )
    assert main([*line.split(), "--out", "out"]) == 0
    capsys.readouterr()
    return "out"


def data_of(text: str) -> dict[str, Any]:
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def tools_of(text: str) -> list[list[Any]]:
    """The caption of each tool picture of the first sample, and its number or why there is none."""
    data = data_of(text)
    return [[data["texts"][caption], picture] for caption, picture in data["records"][0]["tools"]]


def test_they_are_drawn_again_where_the_questions_and_the_expert_are(run, capsys) -> None:
    assert main(["blink", "report", run, "--out", "r.html"]) == 0
    assert capsys.readouterr().err == "p2: drawing the tool pictures of 2 samples again\n"
    first, second = tools_of(Path("r.html").read_text())
    assert "The first image completed with candidate A" in first[0]
    assert isinstance(first[1], int) and isinstance(second[1], int)
    assert "completed with candidate B" in second[0] and first[1] != second[1]


def test_the_question_stands_in_words(run) -> None:
    data = data_of(to_html(build_report([run])))
    assert data["texts"][data["records"][0]["asked"]] == QUESTION


def test_otherwise_the_page_says_why_not(run, tmp_path) -> None:
    samples = {"Jigsaw": load("Jigsaw", "questions.jsonl")}
    report = build_report([run])
    ((_, why),) = tools_of(to_html(report))
    assert "A run does not keep its tool pictures" in why and "--source" in why
    ((_, why),) = tools_of(to_html(report, samples))
    assert "the report was not asked to (redraw)" in why
    report.runs[0].header["tools"]["experts"]["jigsaw"]["version"] = "0.0"
    ((_, why),) = tools_of(to_html(report, samples, redraw=True))
    assert "the run had seams" in why and "0.0 for jigsaw, here is seams" in why
    report.runs[0].header["tools"]["experts"]["jigsaw"]["name"] = "mine"
    ((_, why),) = tools_of(to_html(report, samples, redraw=True))
    assert "'mine'" in why


def test_the_same_folder_twice_is_told(run, capsys) -> None:
    assert main(["blink", "report", run, f"./{run}"]) == 0
    assert capsys.readouterr().err == "p2: './out' is given twice, and counted once\n"
