"""The ablation ladder: questions, judging, what is kept, what is counted."""

from __future__ import annotations

import asyncio
import csv
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from perception_programs import InputError
from perception_programs.chat import ChatError, Reply, ScriptedModel
from perception_programs.cli import main
from perception_programs.harness import RUNGS, Trajectory
from perception_programs.harness.capabilities import ZoomIn
from perception_programs.harness.ladder import Failed, folder_name, run_ladder
from perception_programs.harness.ladder_report import ladder_report
from perception_programs.harness.questions import Question, is_right, read_questions
from test_harness import PART, PICTURE, calling


def of(answer, *, choices=None, tolerance=0.0) -> Question:
    return Question("q", "?", (), answer, choices, tolerance)


@pytest.mark.parametrize(
    ("question", "said", "right"),
    [
        (of("Blue"), " **blue**. ", True),
        (of("the red cup"), "A red cup", True),
        (of("red cup"), "red cups", False),
        (of("ﬁve"), "five", True),
        (of("-"), "", False),
        (of(3), "3 cups", True),
        (of(3), "three", True),
        (of(3), "3 or 4", False),
        (of(3), "", False),
        (of("1,234"), "1234", True),
        (of(-2), "−2", True),
        (of(2.0, tolerance=0.02), "2.03 m", True),
        (of(2.0, tolerance=0.02), "2.05 m", False),
        (of("3.50"), "3.5", True),
        (of("blue", choices=("red", "blue")), "B", True),
        (of("B", choices=("red", "blue")), "blue", True),
        (of("blue", choices=("red", "blue")), "(b) blue.", True),
        (of("blue", choices=("red", "blue")), "(A) blue", False),
        (of("blue", choices=("red", "blue")), "C", False),
        (of("blue", choices=("red", "blue")), "red or blue", False),
        (of("blue", choices=("red", "blue")), "", False),
        (of("a", choices=("b", "a")), "a", True),
    ],
)
def test_what_is_right(question: Question, said: str, right: bool) -> None:
    assert is_right(question, said) is right


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "expected JSON"),
        ('{"id": "1"}', "expected id, question, images and answer"),
        ({"images": "a.png"}, "expected a list of files"),
        ({"images": ["none.png"]}, "no file"),
        ({"answer": True}, "expected a text or a number"),
        ({"choices": ["a"]}, "expected 2 to 26 texts"),
        ({"choices": ["x", "X."]}, "each of its own"),
        ({"choices": ["red", "blue"], "answer": "green"}, "expected one of the choices"),
        ({"tolerance": 1}, "expected a share"),
        ({"hint": "?"}, "got 'hint'"),
        ({"id": ""}, "expected texts as id and question"),
    ],
)
def test_questions_that_are_none(tmp_path: Path, line, said: str) -> None:
    Image.fromarray(PICTURE).save(tmp_path / "a.png")
    good = {"id": "0", "question": "?", "images": ["a.png"], "answer": "x"}
    file = tmp_path / "q.jsonl"
    bad = line if isinstance(line, str) else json.dumps({**good, "id": "1", **line})
    file.write_text(f"{json.dumps(good)}\n\n{bad}\n")
    with pytest.raises(InputError, match=rf"q\.jsonl, line 3: .*{re.escape(said)}"):
        read_questions(file)
    file.write_text(f"{json.dumps(good)}\n{json.dumps(good)}\n")
    with pytest.raises(InputError, match="there twice"):
        read_questions(file)
    file.write_text("\n")
    with pytest.raises(InputError, match="has none"):
        read_questions(file)


def test_ids_have_folders_of_their_own() -> None:
    names = [folder_name(key) for key in ("q1", "Q1", "a/b", "a:b", "..", "x" * 300, "", "é\ud800")]
    assert len(set(map(str.lower, names))) == len(names)
    assert all("/" not in name and name not in ("", ".", "..") and len(name) < 80 for name in names)


class Answering:
    """Knows question `q1` from the picture alone, and the even ones once it has zoomed in."""

    name = "answering"

    def __init__(self, *failing: str) -> None:
        self.failing, self.asked, self.now, self.most = set(failing), [], 0, 0

    def settings(self) -> dict[str, object]:
        return {"kind": "answering"}

    async def answer(self, messages) -> Reply:
        text = "\n".join(message.text for message in messages)
        (number,) = re.findall(r"Number (\d+)\?", text)
        self.asked.append(number)
        self.now += 1
        self.most = max(self.now, self.most)
        await asyncio.sleep(0.001)
        self.now -= 1
        if number in self.failing:
            raise ChatError("busy", transient=False, status=400)
        zoomed = any(message.role == "tool" for message in messages)
        known = number == "1" or (zoomed and int(number) % 2 == 0)
        return Reply(f"Answer: {number if known else 'unknown'}\nEvidence: none", finish="stop")

    async def answer_or_call(self, messages, tools) -> Reply:
        if not any(message.role == "tool" for message in messages):
            (number,) = re.findall(r"Number (\d+)\?", messages[-1].text)
            if number != "1":
                return calling("zoom_in", PART)
        return await self.answer(messages)

    async def close(self) -> None: ...


def questions(folder: Path, count: int = 6) -> list[Question]:
    Image.fromarray(PICTURE).save(folder / "a.png")
    return [
        Question(f"q{n}", f"Number {n}?", (folder / "a.png",), str(n)) for n in range(1, count + 1)
    ]


def climb(folder: Path, model, asked, **options):
    return asyncio.run(run_ladder(model, asked, [ZoomIn()], folder / "out", **options))


def test_all_rungs_and_what_is_counted(tmp_path: Path) -> None:
    model, told = Answering(), []
    ladder = climb(tmp_path, model, questions(tmp_path), concurrency=3, on_done=told.append)
    assert model.most <= 3 and len(told) == 30
    report = ladder_report(ladder)
    assert [one.rung for one in report.rungs] == list(RUNGS)
    assert [(one.right, one.n) for one in report.rungs] == [(1, 6)] + [(4, 6)] * 4
    first, *_, last = report.rungs
    assert (first.engagement, first.calls, first.change) == (0, 0, None)
    assert last.engagement == pytest.approx(5 / 6) and last.by_tool == {"zoom_in": {"found": 5}}
    assert (last.change.n, last.change.second, last.change.first) == (6, 3, 0)
    used = last.change_by_tool["zoom_in"]
    assert (used.n, used.second, used.neither, used.difference) == (5, 3, 2, 0.6)
    assert last.interval == pytest.approx((0.3000, 0.9032), abs=1e-3)
    report.write(tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text()
    assert "| full | 66.7% | 30.0–90.3% | 4/6 | 0 | +50.0 (" in text
    assert "| zoom\\_in | 5 (5 found) |" in text and "| full | zoom\\_in | 5 | +60.0 (" in text
    data = json.loads((tmp_path / "out" / "report.json").read_text())
    assert data["rungs"][4]["change_by_tool"]["zoom_in"]["n"] == 5
    with (tmp_path / "out" / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30 and sum(int(row["right"]) for row in rows) == 17
    Trajectory.read(tmp_path / "out" / "full" / "q2").check()


def test_what_failed_is_counted_apart_and_tried_again(tmp_path: Path) -> None:
    asked = questions(tmp_path, 4)
    ladder = climb(tmp_path, Answering("2"), asked, rungs=("no-tools", "full"))
    assert [(one.rung, one.id) for one in ladder.failed] == [("no-tools", "q2"), ("full", "q2")]
    report = ladder_report(ladder)
    assert [(one.n, one.failed) for one in report.rungs] == [(3, 1), (3, 1)]
    assert report.rungs[1].change.n == 3 and "## Failed" in report.to_markdown()
    assert sum(bool(row["error"]) for row in csv.DictReader(report.to_csv().splitlines())) == 2
    again = Answering()
    ladder = climb(tmp_path, again, asked, rungs=("no-tools", "full"))
    assert ladder.failed == () and set(again.asked) == {"2"}
    assert len(ladder.results) == 8


def test_a_model_that_accepts_nothing_stops_all(tmp_path: Path) -> None:
    class Keyless(Answering):
        async def answer(self, messages) -> Reply:
            self.asked.append("x")
            raise ChatError("no key", transient=False, status=401)

    model = Keyless()
    with pytest.raises(ChatError, match="no key"):
        climb(tmp_path, model, questions(tmp_path), rungs=("no-tools",), concurrency=1)
    assert len(model.asked) < 3


def test_what_is_refused(tmp_path: Path) -> None:
    asked = questions(tmp_path, 2)
    for rungs in (("top",), (), ("full", "full")):
        with pytest.raises(InputError, match="rungs: expected some of"):
            climb(tmp_path, Answering(), asked, rungs=rungs)
    with pytest.raises(InputError, match="there twice"):
        climb(tmp_path, Answering(), [asked[0], asked[0]])
    climb(tmp_path, Answering(), asked, rungs=("raw",))
    with pytest.raises(InputError, match=r"ladder\.json: began with another model"):
        climb(tmp_path, ScriptedModel("Answer: 1"), asked)
    changed = [Question("q1", "Number 1? Again", asked[0].images, "1"), asked[1]]
    ladder = climb(tmp_path, Answering(), changed, rungs=("raw",))
    assert isinstance(ladder.failed[0], Failed) and "another question" in ladder.failed[0].error


def test_a_judge_of_ones_own(tmp_path: Path) -> None:
    ladder = climb(
        tmp_path,
        Answering(),
        questions(tmp_path, 3),
        rungs=("no-tools",),
        judge=lambda q, said: True,
    )
    assert all(one.right for one in ladder.results)


def test_the_command(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Image.fromarray(PICTURE).save("a.png")
    one = {"id": "q", "question": "What is it?", "images": ["a.png"], "answer": "blue"}
    Path("q.jsonl").write_text(json.dumps({**one, "choices": ["red", "blue"]}))
    script = [
        {"contains": "tool_image_1 shows", "answer": "Answer: B\nEvidence: tool_image_1"},
        {"contains": "Error", "answer": "Answer: A"},
        {"contains": "(not kept) shows", "answer": "Answer: A"},
        {"contains": '{"size"', "answer": "Answer: A"},
        {
            "contains": "Ask for one tool",
            "answer": "",
            "call": {"name": "zoom_in", "arguments": PART},
        },
        {"contains": "(B) blue", "answer": "Answer: A"},
    ]
    Path("s.jsonl").write_text("\n".join(map(json.dumps, script)))
    command = ["harness", "ladder", "q.jsonl", "--model", "scripted:s.jsonl", "--tool", "zoom_in"]
    assert main([*command, "--out", "out"]) == 0
    out, err = capsys.readouterr()
    assert "| full | 100.0% |" in out and "| no-tools | 0.0% |" in out
    assert "p2: full q: right (1 call, " in err
    assert {"report.md", "report.json", "results.csv"} <= {p.name for p in Path("out").iterdir()}
    assert main([*command, "--out", "x", "--rung", "full"]) == 1
    assert "--only RUNG" in capsys.readouterr().err
    assert main(["harness", "list"]) == 0 and "zoom_in" in capsys.readouterr().out
