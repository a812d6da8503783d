"""`p2 vtb`: played, judged and reported from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isolation import needs_isolation
from perception_programs.cli import main
from vtb_tasks import write

pytestmark = needs_isolation


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Tasks, a player and a judge."""
    place = tmp_path_factory.mktemp("vtb")
    write(place)
    verdict = json.dumps({"explanation": "so", "judge_result": "Met"})
    kind = json.dumps({"explanation": "so", "failure": "other"})
    lines = {
        "player.jsonl": [
            {"contains": "Done; nothing", "answer": "I guess 7."},
            {
                "contains": "",
                "answer": "",
                "call": {"name": "python_interpreter", "arguments": {"code": "x = 1"}},
            },
        ],
        "judge.jsonl": [
            {"contains": "Which one of these", "answer": kind},
            {"contains": "| Says ", "answer": verdict.replace("Met", "Not Met")},
            {"contains": "", "answer": verdict},
        ],
        "labels.jsonl": [{"task": "task/0", "turn": 1, "criterion": "a", "met": False}],
    }
    for name, rows in lines.items():
        (place / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


def test_from_tasks_to_a_page(folder: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    out = str(tmp_path / "run")
    run = [
        "vtb",
        "run",
        "--model",
        "scripted:player.jsonl",
        "--source",
        ".",
        "--limit",
        "2",
        "--out",
        out,
    ]
    assert main([*run, "--offline"]) == 0
    assert capsys.readouterr().out == "2 tasks done, 2 of them now\n"
    assert main([*run, "--offline"]) == 0
    assert capsys.readouterr().out == "2 tasks done, 0 of them now\n"
    judge = ["vtb", "judge", out, "--model", "scripted:judge.jsonl", "--limit", "2", "--failures"]
    assert main([*judge, "--labels", "labels.jsonl"]) == 0
    assert capsys.readouterr().out == (
        "6 verdicts done, 6 of them now\n2 failures sorted\n"
        "agreement with people over 1 verdict: accuracy 1.000, F1 –, Cohen's κ –\n"
    )
    assert main(["vtb", "report", out, "--limit", "2"]) == 0
    told = capsys.readouterr().out
    assert (
        "| scripted, strong | 2 | 0.00 (0.0–0.0)" in told
        and "| scripted, strong | 2 | 0 | 0 | 0 | 2 | 0 |" in told
    )
    for suffix in ("csv", "md", "html"):
        assert (
            main(["vtb", "report", out, "--limit", "2", "--out", str(tmp_path / f"r.{suffix}")])
            == 0
        )
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert (
        page.count('class="task failed"') == 2
        and "I guess 7." in page
        and "http" not in page.split("<body>")[1]
    )


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["vtb", "report", "nowhere"], "expected a run's folder, got 'nowhere'"),
        (["vtb", "report", "."], "expected a run of p2 vtb run"),
        (
            [
                "vtb",
                "judge",
                ".",
                "--model",
                "scripted:judge.jsonl",
                "--source",
                ".",
                "--limit",
                "0",
            ],
            "--limit",
        ),
        (
            [
                "vtb",
                "run",
                "--model",
                "scripted:player.jsonl",
                "--source",
                ".",
                "--task",
                "x",
                "--out",
                "o",
            ],
            "no task is called 'x'",
        ),
        (
            [
                "vtb",
                "run",
                "--model",
                "scripted:player.jsonl",
                "--source",
                ".",
                "--setting",
                "x",
                "--out",
                "o",
            ],
            "setting: expected one of strong",
        ),
    ],
)
def test_what_cannot_be(folder: Path, monkeypatch, capsys, argv: list[str], said: str) -> None:
    monkeypatch.chdir(folder)
    assert main(argv) == 1
    assert said in capsys.readouterr().err
