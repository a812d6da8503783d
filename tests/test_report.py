"""Reports: counting, comparing, and what is printed."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest

import sample_run
from perception_programs import InputError, PerceptionProgram
from perception_programs.blink.paper_table import PAPER_TASKS, paper_cells, paper_model, paper_value
from perception_programs.blink.report import (
    Line,
    Report,
    build_report,
    to_csv,
    to_markdown,
    write,
)
from perception_programs.blink.report_pictures import pictures_of
from perception_programs.blink.statistics import Comparison, compare, wilson
from perception_programs.program import Item
from sample_run import change, lines_of


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return sample_run.write_run(tmp_path / "run")


@pytest.fixture
def report(run: Path) -> Report:
    return build_report([run])


def line(report: Report, task: str, setting: str, group: str | None = None) -> Line:
    (found,) = [
        line
        for line in report.lines
        if (line.task, line.setting, line.group) == (task, setting, group)
    ]
    return found


class TestStatistics:
    # Brown, Cai and DasGupta 2001 and any table of the score interval: 0 of 10 ends at z²/(n + z²).
    @pytest.mark.parametrize(
        ("right", "n", "low", "high"),
        [(0, 10, 0.0, 0.27753), (10, 10, 0.72247, 1.0), (81, 263, 0.25525, 0.36623)],
    )
    def test_wilson(self, right: int, n: int, low: float, high: float) -> None:
        assert wilson(right, n) == pytest.approx((low, high), abs=1e-4)

    def test_wilson_of_nothing(self) -> None:
        assert wilson(0, 0) is None
        with pytest.raises(InputError, match="expected 0 to 3, got 4"):
            wilson(4, 3)

    @pytest.mark.parametrize(
        ("first", "second", "p"), [(0, 0, 1.0), (1, 8, 20 / 512), (8, 1, 20 / 512), (0, 5, 2 / 32)]
    )
    def test_mcnemar_is_exact(self, first: int, second: int, p: float) -> None:
        assert Comparison(10, first, second, 5).p == pytest.approx(p)

    def test_compare_takes_the_ids_that_both_have(self) -> None:
        first = {"a": True, "b": True, "c": False, "d": False, "only": True}
        second = {"a": True, "b": False, "c": True, "d": False, "other": True}
        found = compare(first, second)
        assert found == Comparison(both=1, first=1, second=1, neither=1)
        assert (found.n, found.difference) == (4, 0.0)

    def test_nothing_to_compare(self) -> None:
        found = compare({"a": True}, {"b": True})
        assert (found.n, found.difference, found.interval, found.p) == (0, None, None, 1.0)

    def test_the_interval_mirrors(self) -> None:
        low, high = Comparison(40, 5, 12, 20).interval
        assert Comparison(40, 12, 5, 20).interval == pytest.approx((-high, -low))
        assert low < 7 / 77 < high

    def test_without_correlation_it_is_the_sum_of_squares(self) -> None:
        # 30 of 50 and 25 of 50, independent in the counts: 15, 10, 15, 10 of (both, …).
        found = Comparison(both=15, first=10, second=15, neither=10)
        (p_low, p_high), (q_low, q_high) = wilson(30, 50), wilson(25, 50)
        low = 0.1 - ((0.6 - p_low) ** 2 + (q_high - 0.5) ** 2) ** 0.5
        high = 0.1 + ((p_high - 0.6) ** 2 + (0.5 - q_low) ** 2) ** 0.5
        assert found.interval == pytest.approx((low, high))

    def test_the_interval_covers(self) -> None:
        rng, inside = random.Random(3), 0
        shares, truth = (0.45, 0.05, 0.2, 0.3), 0.15
        for _ in range(300):
            drawn = rng.choices(range(4), shares, k=60)
            low, high = Comparison(*(drawn.count(n) for n in range(4))).interval
            inside += low <= truth <= high
        assert 0.92 <= inside / 300 <= 0.99


class TestPaper:
    def test_every_number(self) -> None:
        cells = paper_cells()
        assert len(cells) == 5 * 3 * 6 + 4 * 3 + 5
        assert len({(c.model, c.setting, c.task, c.group) for c in cells}) == len(cells)
        assert {c.task for c in cells} == set(PAPER_TASKS)
        assert paper_value("InternVL3.5-4B", "p2", "Multi-view_Reasoning", None) == 94.73
        assert paper_value("Qwen3VL-4B", "standard", "HardBLINK", "5 points") == 38.71
        assert paper_value("Human", None, "HardBLINK", None) is None

    @pytest.mark.parametrize(("model", "setting"), [("GPT-5 Mini", "p2"), ("Qwen3VL-4B", "p2")])
    def test_groups_average_to_the_whole(self, model: str, setting: str) -> None:
        parts = [paper_value(model, setting, "HardBLINK", f"{n} points") for n in (3, 4, 5)]
        whole = paper_value(model, setting, "HardBLINK", None)
        assert sum(parts) / 3 == pytest.approx(whole, abs=0.02)

    @pytest.mark.parametrize(
        ("name", "model"),
        [
            ("gemini/gemini-2.5-pro", "Gemini 2.5 Pro"),
            ("hosted_vllm/OpenGVLab/InternVL3_5-2B-HF", "InternVL3.5-2B"),
            ("OpenGVLab/InternVL3_5-4B", "InternVL3.5-4B"),
            ("gpt-5-mini", "GPT-5 Mini"),
            ("gpt-5-nano", None),
            ("gpt-5-minimal", None),
            ("openai/gpt-5-mini-2025-08-07", "GPT-5 Mini"),
            ("local:/models/Qwen3-VL-4B-Instruct/", "Qwen3VL-4B"),
            ("Qwen/Qwen3-VL-4B-Thinking", None),
            ("human", None),
            ("reader", None),
        ],
    )
    def test_names(self, name: str, model: str | None) -> None:
        assert paper_model(name) == model


class TestNumbers:
    def test_scores(self, report: Report) -> None:
        counts = {
            (ln.task, ln.setting, ln.group): (
                *(ln.score.right, ln.score.n, ln.score.unparsed),
                *(ln.score.errors, ln.score.unanswered),
            )
            for ln in report.lines
        }
        assert counts == {
            ("Jigsaw", "standard", None): (2, 6, 1, 2, 0),
            ("Jigsaw", "p2", None): (5, 7, 1, 1, 0),
            ("HardBLINK", "standard", None): (1, 3, 0, 0, 1),
            ("HardBLINK", "standard", "3 points"): (0, 2, 0, 0, 0),
            ("HardBLINK", "standard", "4 points"): (1, 1, 0, 0, 1),
            ("HardBLINK", "p2", None): (3, 3, 0, 0, 1),
            ("HardBLINK", "p2", "3 points"): (2, 2, 0, 0, 0),
            ("HardBLINK", "p2", "4 points"): (1, 1, 0, 0, 1),
        }

    def test_an_error_is_counted_in_the_group_that_another_setting_knows(self, run: Path) -> None:
        path = run / "HardBLINK.standard.jsonl"
        rows = lines_of(path)
        sample_run.write_lines(path, [row for row in rows if row.get("id") != "hardblink_2"])
        errors = [sample_run.failure("hardblink_2", "HTTP 500")]
        sample_run.write_lines(run / "HardBLINK.standard.errors.jsonl", errors)
        report = build_report([run])
        assert line(report, "HardBLINK", "standard", "3 points").score.errors == 1
        assert line(report, "HardBLINK", "standard", "4 points").score.errors == 0

    def test_a_run_with_nothing_but_errors(self, run: Path) -> None:
        path = run / "Jigsaw.p2.jsonl"
        sample_run.write_lines(path, lines_of(path)[:1])
        report = build_report([run])
        found = line(report, "Jigsaw", "p2")
        assert (found.score.n, found.score.accuracy, found.effort.answer) == (0, None, None)
        assert found.score.errors == 2
        assert "| – n 0 · 2 errors |" in to_markdown(report)
        assert not any(pair.comparison.n for pair in report.pairs if pair.task == "Jigsaw")

    def test_pairs(self, report: Report) -> None:
        found = {(p.task, p.first, p.second): p.comparison for p in report.pairs}
        # Standard rwwwur against rrrwur, and rww against rrr: what has no key or no record is left out.
        assert found == {
            ("Jigsaw", "standard", "p2"): Comparison(both=2, first=0, second=2, neither=2),
            ("HardBLINK", "standard", "p2"): Comparison(both=1, first=0, second=2, neither=0),
        }

    def test_another_key_is_not_compared(self, run: Path) -> None:
        change(run / "Jigsaw.p2.jsonl", 2, answer="B", correct=False)
        report = build_report([run])
        (pair,) = [pair for pair in report.pairs if pair.task == "Jigsaw"]
        assert pair.comparison == Comparison(both=1, first=0, second=2, neither=2)
        assert any("right answer differs" in note and note.endswith(": 1") for note in report.notes)

    def test_effort(self, report: Report) -> None:
        standard, p2 = (line(report, "Jigsaw", name).effort for name in ("standard", "p2"))
        parts = {"question": 40, "program": 0, "example": 0, "instructions": 10}
        assert (standard.text, p2.text) == (parts, parts | {"program": 200})
        assert (standard.images, p2.images) == (900 - 40 - 10, None)
        assert (standard.answer, standard.answer_estimated) == (20, False)
        assert (p2.answer, p2.answer_estimated) == (12, True)
        assert standard.cost == pytest.approx(0.006) and standard.priced == 6
        assert (p2.cost, p2.priced, p2.seconds) == (None, 0, 1.5)

    def test_pictures_never_take_less_than_nothing(self, run: Path) -> None:
        path = run / "Jigsaw.standard.jsonl"
        for number, tokens in zip(range(2, 8), (30, 60, None, None, None, None), strict=True):
            usage = {"prompt_tokens": tokens, "completion_tokens": None, "cost": None}
            change(path, number, usage=usage)
        effort = line(build_report([run]), "Jigsaw", "standard").effort
        assert effort.images == (0 + 10) / 2

    def test_the_paper_beside_it(self, report: Report) -> None:
        found = line(report, "HardBLINK", "p2", "4 points")
        assert (found.paper_model, found.paper) == ("GPT-5 Mini", 87.90)


class TestSeveralFolders:
    def test_other_tasks_of_a_model_share_its_rows(self, run: Path, tmp_path: Path) -> None:
        other = tmp_path / "other"
        other.mkdir()
        for path in run.glob("Jigsaw.*"):
            path.rename(other / path.name)
        assert set(build_report([run, other]).models) == {"openai/gpt-5-mini"}

    def test_the_same_task_is_kept_apart(self, run: Path, tmp_path: Path) -> None:
        other = sample_run.write_run(tmp_path / "again")
        report = build_report([run, other])
        names = {f"openai/gpt-5-mini ({folder})" for folder in (run, other)}
        assert set(report.models) == names
        assert {line.score.n for line in report.lines if line.task == "Jigsaw"} == {6, 7}
        assert len(report.pairs) == 4  # no folder is compared with the other
        assert {line.paper_model for line in report.lines} == {"GPT-5 Mini"}

    def test_other_settings_of_a_model_are_kept_apart(self, run: Path, tmp_path: Path) -> None:
        other = sample_run.write_run(tmp_path / "warm", temperature=1)
        for path in run.glob("Jigsaw.*"):
            path.unlink()
        for path in other.glob("HardBLINK.*"):
            path.unlink()
        assert len(set(build_report([run, other]).models)) == 2

    def test_two_models(self, run: Path, tmp_path: Path) -> None:
        other = sample_run.write_run(tmp_path / "other", model="tiny")
        report = build_report([run, other])
        assert list(dict.fromkeys(report.models)) == ["openai/gpt-5-mini", "tiny"]
        assert report.notes == ()

    def test_differing_settings_in_one_folder_are_said(self, run: Path) -> None:
        path = run / "Jigsaw.p2.jsonl"
        rows = lines_of(path)
        rows[0]["header"]["model"]["temperature"] = 1
        sample_run.write_lines(path, rows)
        report = build_report([run])
        assert report.notes == (
            "openai/gpt-5-mini: its runs differ in the settings of the model; see the configuration",
        )
        markdown = to_markdown(report)
        assert '"temperature": 0' in markdown and '"temperature": 1' in markdown


class TestPrinted:
    def test_markdown(self, report: Report) -> None:
        text = to_markdown(report)
        rows = [row for row in text.splitlines() if row.startswith("|")]
        assert rows[:6] == [
            "| model | setting | mean | HardBLINK | HardBLINK, 3 points | HardBLINK, 4 points | Jigsaw |",
            "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
            "| openai/gpt-5-mini | standard | 33.3 over 2 tasks | 33.3 [6.1, 79.2] · n 3 · 1 without key "
            "| 0.0 [0.0, 65.8] · n 2 | 100.0 [20.7, 100.0] · n 1 · 1 without key "
            "| 33.3 [9.7, 70.0] · n 6 · 1 unparsed · 2 errors |",
            "| paper: GPT-5 Mini | standard | 64.21 over 2 tasks | 52.42 n 372 | 62.10 n 124 | 53.23 n 124 "
            "| 76.00 n 150 |",
            "| openai/gpt-5-mini | p2 | 85.7 over 2 tasks | 100.0 [43.9, 100.0] · n 3 · 1 without key "
            "| 100.0 [34.2, 100.0] · n 2 | 100.0 [20.7, 100.0] · n 1 · 1 without key "
            "| 71.4 [35.9, 91.8] · n 7 · 1 unparsed · 1 error |",
            "| paper: GPT-5 Mini | p2 | 86.39 over 2 tasks | 81.45 n 372 | 82.26 n 124 | 87.90 n 124 "
            "| 91.33 n 150 |",
        ]
        assert (
            "| openai/gpt-5-mini | standard | Jigsaw | ≈ 40 | 0 | 0 | ≈ 10 | ≈ 850 | 20 | 0.0060 | 0.001000 | 1.5 |"
            in rows
        )
        assert "| Human | – | 96.99 over 5 tasks | 92.48 | – |" in text
        for said in ('"digest": "5eed"', '"name": "seams"', '"digest": "abc123"', '"0.1.0"'):
            assert said in text
        widths = {row.count(" |") for row in rows[:6]}
        assert widths == {7}

    def test_names_cannot_break_the_table(self, tmp_path: Path) -> None:
        run = sample_run.write_run(tmp_path / "run", model="a|b\n<img src=x> *c*")
        text = to_markdown(build_report([run]))
        tables = text[: text.index("### Models")]  # what follows is code
        assert "| a\\|b &lt;img src=x> \\*c\\* | standard |" in tables and "<img" not in tables

    def test_csv(self, report: Report) -> None:
        rows = list(csv.DictReader(io.StringIO(to_csv(report))))
        assert len(rows) == len(report.lines) == 8
        (row,) = [r for r in rows if (r["task"], r["setting"]) == ("Jigsaw", "p2")]
        expected = {
            "model": "openai/gpt-5-mini",
            "group": "",
            "accuracy": "71.43",
            "low": "35.89",
            "high": "91.78",
            "n": "7",
            "right": "5",
            "unparsed": "1",
            "errors": "1",
            "unanswered": "0",
            "paper_model": "GPT-5 Mini",
            "paper_accuracy": "91.33",
            "tokens_program": "200.0",
            "tokens_images": "",
            "tokens_answer": "12.0",
            "answer_estimated": "true",
            "cost": "",
            "seconds": "1.500",
        }
        assert {key: row[key] for key in expected} == expected
        assert json.loads(row["model_settings"]) == {"name": "openai/gpt-5-mini", "temperature": 0}

    def test_the_order_of_records_makes_no_difference(self, run: Path, report: Report) -> None:
        before = to_markdown(report), to_csv(report)
        for path in run.glob("*.jsonl"):
            head, *rows = lines_of(path)
            if "header" in head:
                sample_run.write_lines(path, [head, *reversed(rows)])
        again = build_report([run])
        assert (to_markdown(again), to_csv(again)) == before

    def test_files(self, report: Report, tmp_path: Path) -> None:
        for name, start in (
            ("r.md", "# BLINK"),
            ("r.csv", "model,"),
            ("R.HTML", "<!doctype html>"),
        ):
            write(report, tmp_path / name)
            assert (tmp_path / name).read_text("utf-8").startswith(start)
        with pytest.raises(InputError, match=r"expected a name in \.md, \.csv or \.html"):
            write(report, tmp_path / "report.pdf")


@pytest.mark.parametrize(
    ("modality", "names", "title", "expected"),
    [
        ("correspondence", [None], "Matches of the second image", [0, 1]),
        ("flow", [None], "Flow from the first to the second image", [0]),
        ("depth", [None], "Depth", [0]),
        ("point-detection", [None], "The marked points", [0]),
        ("point-detection", [None], "The marked points of the second image", [1]),
        ("point-detection", ["image 1", "image 2"], "The marked points", [0, 1]),
        ("point-detection", ["image 2"], "The marked points", [1]),
        ("point-detection", ["left.png", "right.png"], "The marked points", [0, 1]),
    ],
)
def test_which_pictures_a_program_is_about(
    modality: str, names: list[str | None], title: str, expected: list[int]
) -> None:
    items = tuple(Item(p=n, c=(1, 2), i=name) for n, name in enumerate(names))
    assert pictures_of(PerceptionProgram(modality, "pixels", items), title, 2) == expected


def test_points_on_a_picture_that_is_not_there() -> None:
    program = PerceptionProgram("point-detection", "pixels", (Item(c=(1, 2), i="image 3"),))
    with pytest.raises(InputError, match="expected points on 2 images, got image 3"):
        pictures_of(program, "Points", 2)
