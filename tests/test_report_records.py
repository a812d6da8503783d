"""Runs read back for a report: what is refused, what is written all the same, whose questions they are."""

from __future__ import annotations

import copy
import csv
import io
import os
import random
from pathlib import Path
from typing import Any

import pytest

import sample_run
from perception_programs import InputError
from perception_programs.blink._record_shape import check_shape
from perception_programs.blink.report import build_report, read_runs, to_csv, to_markdown, write
from perception_programs.blink.run_tables import natural
from sample_run import change, lines_of

HUGE = 10**400
PART = {"text": "Which?", "kind": "question"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return sample_run.write_run(tmp_path / "run")


def change_header(path: Path, **fields: Any) -> None:
    rows = lines_of(path)
    rows[0]["header"] |= fields
    sample_run.write_lines(path, rows)


def said_of(parts: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "parts": parts}]


class TestReading:
    def test_what_is_there(self, run: Path) -> None:
        tables = {(t.task, t.setting): t for t in read_runs([run])}
        assert sorted(tables) == sorted(
            (task, setting) for task in ("Jigsaw", "HardBLINK") for setting in ("standard", "p2")
        )
        jigsaw = tables["Jigsaw", "standard"]
        assert [r["id"] for r in jigsaw.records] == [f"val_Jigsaw_{n}" for n in range(1, 7)]
        # The first one failed too, before it was answered.
        assert list(jigsaw.errors) == ["val_Jigsaw_7", "val_Jigsaw_8"]
        assert jigsaw.notes == ()

    def test_a_folder_twice_counts_once(self, run: Path) -> None:
        assert len(read_runs([run, f"{run}/../{run.name}"])) == 4

    def test_a_last_line_without_its_end_counts_as_a_run_counts_it(self, run: Path) -> None:
        path = run / "Jigsaw.standard.jsonl"
        path.write_bytes(path.read_bytes()[:-1])
        (table,) = [t for t in read_runs([run]) if t.path == path]
        assert len(table.records) == 6 and table.notes == ()

    @pytest.mark.parametrize("rest", [b"   ", b"what", b"[]"])
    def test_a_last_line_that_no_run_leaves_is_refused(self, run: Path, rest: bytes) -> None:
        path = run / "Jigsaw.standard.jsonl"
        path.write_bytes(path.read_bytes() + rest)
        with pytest.raises(InputError, match=r"Jigsaw\.standard\.jsonl, line 8: expected"):
            read_runs([run])

    @pytest.mark.parametrize("cut", [2, 40, 3])
    def test_a_torn_last_line_is_left_out_and_said(self, run: Path, cut: int) -> None:
        path = run / "Jigsaw.standard.jsonl"
        path.write_bytes(path.read_bytes()[:-cut])
        (table,) = [t for t in read_runs([run]) if t.path == path]
        assert len(table.records) == 5
        assert "the last line is torn" in table.notes[0] and str(path) in table.notes[0]
        assert "the last line is torn" in to_markdown(build_report([run]))

    def test_a_run_killed_before_its_header(self, run: Path) -> None:
        (run / "Other.p2.jsonl").write_bytes(b'{"header": {"for')
        assert len(read_runs([run])) == 4

    def test_other_broken_lines_are_refused(self, run: Path) -> None:
        path = run / "Jigsaw.p2.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([*lines[:3], b'{"id": "val\n', *lines[3:]]))
        with pytest.raises(InputError, match=r"Jigsaw\.p2\.jsonl, line 4: expected JSON"):
            read_runs([run])

    def test_two_records_of_one_sample_are_refused(self, run: Path) -> None:
        path = run / "Jigsaw.p2.jsonl"
        change(path, 3, id="val_Jigsaw_1")
        with pytest.raises(InputError, match="line 3: expected one record a sample, got 'val_Jigs"):
            read_runs([run])

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"correct": False}, "correct: expected True for the answer 'A'"),
            ({"parsed": "E", "correct": False}, "parsed: expected one of A, B, got 'E'"),
            ({"seconds": "1"}, "seconds: expected int or float, got str '1'"),
            ({"attempts": True}, "attempts: expected int, got bool True"),
            ({"answer": 1}, "answer: expected str or null, got int 1"),
            ({"usage": {"cost": "free"}}, "usage: cost: expected a number, got str 'free'"),
            ({"text_tokens": {"question": None}}, "text_tokens: question: expected a number"),
        ],
    )
    def test_what_is_no_record_is_refused(self, run: Path, fields: dict, message: str) -> None:
        change(run / "Jigsaw.p2.jsonl", 2, **fields)
        with pytest.raises(InputError, match=message):
            read_runs([run])

    def test_a_missing_key_is_named(self, run: Path) -> None:
        path = run / "Jigsaw.p2.jsonl"
        rows = lines_of(path)
        del rows[1]["raw"]
        sample_run.write_lines(path, rows)
        with pytest.raises(InputError, match="line 2: expected the key 'raw'"):
            read_runs([run])

    def test_headers_are_checked(self, run: Path) -> None:
        path = run / "Jigsaw.p2.jsonl"
        rows = lines_of(path)
        sample_run.write_lines(path, rows[1:])
        with pytest.raises(InputError, match="line 1: expected the header of a run"):
            read_runs([run])
        rows[0]["header"]["format"] = 2
        sample_run.write_lines(path, rows)
        with pytest.raises(InputError, match="expected format 1, got 2"):
            read_runs([run])
        rows[0]["header"] |= {"format": 1, "setting": "tool"}
        sample_run.write_lines(path, rows)
        with pytest.raises(InputError, match=r"expected the name 'Jigsaw\.tool\.jsonl'"):
            read_runs([run])

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"place": {}}, "line 1: place: expected str, got dict"),
            ({"tools": []}, "line 1: tools: expected dict, got list"),
            ({"tools": {"experts": 7}}, "line 1: tools: experts: expected dict, got int 7"),
            ({"tools": {"experts": {"flow": {}}}}, "experts: flow: expected the key 'name'"),
            ({"tools": {"coordinates": 7}}, "coordinates: expected str or null, got int 7"),
            ({"created": 7}, "line 1: created: expected str, got int 7"),
        ],
    )
    def test_headers_say_things_in_the_form_of_a_run(
        self, run: Path, fields: dict[str, Any], message: str
    ) -> None:
        change_header(run / "Jigsaw.p2.jsonl", **fields)
        with pytest.raises(InputError, match=message):
            read_runs([run])

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
    def test_a_pipe_is_not_waited_for(self, run: Path) -> None:
        os.mkfifo(run / "Shelves.p2.jsonl")
        with pytest.raises(InputError, match=r"Shelves\.p2\.jsonl: expected a file, got a pipe"):
            read_runs([run])

    def test_folders_are_checked(self, run: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        for folders, message in (
            (str(run), "folders: expected several"),
            ([], "at least one, got none"),
            ([tmp_path / "none"], "expected the folder of a run"),
            ([tmp_path / "empty"], "expected at least one <task>.<setting>.jsonl"),
        ):
            with pytest.raises(InputError, match=message):
                read_runs(folders)
        (run / "Jigsaw.p2.jsonl").unlink()
        with pytest.raises(InputError, match=r"expected 'Jigsaw\.p2\.jsonl' beside it"):
            read_runs([run])


class TestShape:
    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"messages": [None]}, "messages: 1: expected an object, got None"),
            ({"messages": [{}]}, "messages: 1: expected the key 'role', got no key"),
            ({"messages": [{"role": "user"}]}, "messages: 1: expected the key 'parts', got role"),
            ({"messages": [{"role": 1, "parts": []}]}, "messages: 1: role: expected text, got int"),
            ({"messages": said_of(None)}, "messages: 1: parts: expected a list, got None"),
            (
                {"messages": said_of([PART, {"text": "?"}])},
                "messages: 1: parts: 2: expected the key 'kind', got text",
            ),
            ({"messages": said_of([{}])}, "messages: 1: parts: 1: expected the key 'text'"),
            (
                {"messages": said_of([{"picture": 3}])},
                "parts: 1: picture: expected text, got int 3",
            ),
            ({"programs": [{}]}, "programs: 1: expected the key 'name', got no key"),
            ({"programs": ["depth"]}, "programs: 1: expected an object, got str 'depth'"),
            (
                {"programs": [{"name": "a", "title": "A", "program": {"items": []}}]},
                "programs: 1: program: ",
            ),
            ({"options": {"A": None, "B": "b"}}, "options: A: expected text, got None"),
            (
                {"usage": {"prompt_tokens": HUGE}},
                "usage: prompt_tokens: expected a number from 0 to",
            ),
            ({"usage": {"cost": float("inf")}}, "usage: cost: expected a number from 0 to 1e"),
            (
                {"text_tokens": {"question": HUGE}},
                "text_tokens: question: expected a number from 0",
            ),
            ({"seconds": float("nan")}, "seconds: expected a number from 0 to 1e.*, got float nan"),
            ({"seconds": -1}, "seconds: expected a number from 0"),
            ({"attempts": 0}, "attempts: expected at least 1, got 0"),
            ({"attempts": HUGE}, "attempts: expected a number from 0"),
        ],
    )
    def test_what_is_no_record_is_refused(
        self, run: Path, fields: dict[str, Any], message: str
    ) -> None:
        change(run / "Jigsaw.p2.jsonl", 3, **fields)
        with pytest.raises(InputError, match=rf"Jigsaw\.p2\.jsonl, line 3: .*{message}"):
            read_runs([run])

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"source": None}, "source: expected dict, got None"),
            ({"source": {}}, "source: expected the key 'kind', got no key"),
            ({"source": {"kind": ["hub"]}}, "source: kind: expected text, got list"),
            ({"source": {"kind": "hub", "split": 1}}, "source: split: expected text, got int 1"),
            ({"source": {"kind": "hub", "n": "9"}}, "source: n: expected a number, got str '9'"),
        ],
    )
    def test_a_header_says_whose_questions(
        self, run: Path, fields: dict[str, Any], message: str
    ) -> None:
        change_header(run / "Jigsaw.p2.jsonl", **fields)
        with pytest.raises(InputError, match=rf"Jigsaw\.p2\.jsonl, line 1: {message}"):
            read_runs([run])

    def test_a_header_without_source(self, run: Path) -> None:
        path = run / "Jigsaw.p2.jsonl"
        rows = lines_of(path)
        del rows[0]["header"]["source"]
        sample_run.write_lines(path, rows)
        with pytest.raises(InputError, match="line 1: expected the key 'source'"):
            read_runs([run])

    def test_what_a_run_writes_is_taken(self) -> None:
        for setting, fate in (("standard", "w"), ("p2", "u")):
            for samples in sample_run.samples().values():
                row = sample_run.record(samples[0], setting, fate)
                row["messages"][1]["parts"].append({"picture": None})
                check_shape(row, "here")

    def test_whatever_stands_in_a_record_it_is_counted_or_refused(
        self, run: Path, tmp_path: Path
    ) -> None:
        """Nothing but an InputError, and a page that can be written, for any value in any place."""
        rng = random.Random(7)
        path = run / "Jigsaw.p2.jsonl"
        rows = lines_of(path)
        odd = (
            None,
            True,
            -1,
            0.5,
            HUGE,
            float("nan"),
            "",
            "\ud800",
            "x" * 99,
            [],
            [None],
            {},
            {"": []},
        )
        kept = 0
        for _ in range(60):
            changed = copy.deepcopy(rows)
            places = list(_places(changed[1]))
            holder, key = rng.choice(places)
            holder[key] = rng.choice(odd)
            sample_run.write_lines(path, changed)
            try:
                report = build_report([run])
            except InputError as error:
                assert f"{path}, line 2" in str(error)
            else:
                kept += 1
                for name in ("r.html", "r.md", "r.csv"):
                    write(report, tmp_path / name)
        assert 5 < kept < 55


def _places(value: Any) -> Any:
    """Every place in nested lists and objects, as what holds it and its key."""
    if isinstance(value, (dict, list)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


class TestWriting:
    def test_half_a_character_in_any_name(self, tmp_path: Path) -> None:
        run = sample_run.write_run(tmp_path / "run", model="m\ud801")
        change(run / "HardBLINK.p2.jsonl", 2, group="\ud800")
        change(run / "HardBLINK.p2.jsonl", 3, id="\udfff")
        report = build_report([run])
        for name in ("r.html", "r.md", "r.csv"):
            write(report, tmp_path / name)
        page = (tmp_path / "r.html").read_text("utf-8")
        assert "group=%5Cud800" in page  # what the filter finds, since the page knows it so
        assert '"group":"\\\\ud800"' in page and '"model":"m\\\\ud801"' in page
        assert r"HardBLINK, \ud800" in (tmp_path / "r.md").read_text("utf-8")
        to_csv(report).encode(), to_markdown(report).encode()

    def test_folders_are_made(self, run: Path, tmp_path: Path) -> None:
        path = tmp_path / "sub" / "dir" / "report.md"
        write(build_report([run]), path)
        assert path.read_text("utf-8").startswith("# BLINK report")
        with pytest.raises(InputError, match="expected a name in"):
            write(build_report([run]), tmp_path / "none" / "report.pdf")
        assert not (tmp_path / "none").exists()

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"got '.*nowhere', which does not exist"):
            read_runs([tmp_path / "nowhere"])
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(InputError, match=r"got '.*file', which is no folder"):
            read_runs([tmp_path / "file"])


class TestWhoseQuestions:
    def own(self, run: Path, task: str, **source: Any) -> None:
        for setting in ("standard", "p2"):
            path = run / f"{task}.{setting}.jsonl"
            change_header(path, source={"kind": "manifest", "name": "mine.jsonl", **source})

    def test_the_paper_is_not_set_beside_others(self, run: Path) -> None:
        self.own(run, "Jigsaw", n=8)
        report = build_report([run])
        assert report.notes == (
            f"Jigsaw in {run}: its questions (manifest mine.jsonl, 8 in all) are not known to be BLINK's, "
            "which the paper's numbers are about; they are in no mean, and no number of the paper stands beside them",
        )
        for line in report.lines:
            expected = {"Jigsaw": None, "HardBLINK": 372 if line.group is None else 124}[line.task]
            assert line.paper_n == expected
            assert (line.paper is None) == (line.task == "Jigsaw")
        text = to_markdown(report)
        assert (
            "| paper: GPT-5 Mini | standard | 52.42 over 1 task | 52.42 n 372 | 62.10 n 124 | 53.23 n 124 | – "
            in text
        )
        # Each number about others bears it, of the accuracies and of the tokens.
        assert "| 33.3 own questions · [9.7, 70.0] · n 6" in text
        assert "| standard | Jigsaw own questions |" in text
        assert "| standard | HardBLINK |" in text
        assert "| 33.3 over 1 task |" in text and "| 52.42 over 1 task |" in text
        rows = list(csv.DictReader(io.StringIO(to_csv(report))))
        assert {row["paper_accuracy"] for row in rows if row["task"] == "Jigsaw"} == {""}

    def test_nor_is_its_table_where_all_are_others(self, run: Path, tmp_path: Path) -> None:
        for task in ("Jigsaw", "HardBLINK"):
            self.own(run, task, n=8)
        report = build_report([run])
        assert len(report.notes) == 2
        write(report, tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text("utf-8")
        for text in (to_markdown(report), page):
            assert "paper: GPT-5 Mini" not in text and "Gemini 2.5 Pro" not in text
        assert page.index('id="samples"') < page.index('id="configuration"')

    @pytest.mark.parametrize(
        ("source", "known"),
        [
            ({"kind": "hub", "name": "BLINK-Benchmark/BLINK", "split": "val", "n": 150}, True),
            ({"kind": "hub", "name": "me/BLINK", "split": "val", "n": 150}, False),
            ({"kind": "hub", "name": "BLINK-Benchmark/BLINK", "split": "test", "n": 150}, False),
            ({"kind": "parquet", "name": "x", "split": "val", "n": 150}, True),
            ({"kind": "parquet", "name": "x", "split": "val", "n": 75}, True),
            ({"kind": "parquet", "name": "x", "split": "val"}, True),
            ({"kind": "parquet", "name": "x", "split": "val", "n": 151}, False),
            ({"kind": "hardblink", "name": "x", "n": 150}, False),
            ({"kind": "manifest", "name": "x", "n": 150}, False),
        ],
    )
    def test_which_are_known(self, run: Path, source: dict[str, Any], known: bool) -> None:
        change_header(run / "Jigsaw.p2.jsonl", source=source)
        report = build_report([run])
        (line,) = [ln for ln in report.lines if (ln.task, ln.setting) == ("Jigsaw", "p2")]
        assert (line.paper, bool(report.notes)) == ((91.33, False) if known else (None, True))


def test_numbers_in_names_have_any_length() -> None:
    names = ["a10", "a" + "9" * 5000, "a9", "a010", "b"]
    assert sorted(names, key=natural) == ["a9", "a10", "a010", "a" + "9" * 5000, "b"]
