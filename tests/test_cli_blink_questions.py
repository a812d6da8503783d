"""`p2 blink`: which questions the options choose, and the worked examples about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blink_pictures import jigsaw_manifest
from blink_questions import jigsaw, parquet, row
from perception_programs.blink import RECIPES
from perception_programs.blink._collection import nearly
from perception_programs.blink.records import held
from perception_programs.cli import main

MODEL = ("--model", "scripted:script.jsonl", "--setting", "standard", "--no-cache")


@pytest.fixture
def p2(capsys, tmp_path, monkeypatch):
    """Calls `p2 blink` among two questions of Jigsaw and a script; its status, stdout and stderr."""
    jigsaw_manifest(tmp_path, 2)
    (tmp_path / "script.jsonl").write_text('{"contains": "", "answer": "Answer: (A)"}\n')
    monkeypatch.chdir(tmp_path)

    def call(*argv):
        status = main(["blink", *map(str, argv)])
        return status, *capsys.readouterr()

    return call


def manifest(name, *tasks):
    """A manifest with one question of each task."""
    question = json.loads(Path("questions.jsonl").read_text().splitlines()[0])
    lines = [json.dumps({**question, "task": task}) + "\n" for task in tasks]
    Path(name).write_text("".join(lines))


def ran(out):
    """The tasks and settings of the lines that a run prints."""
    return [tuple(line.split()[:2]) for line in out.splitlines()[1:]]


def similarity(folder):
    """A question of Visual_Similarity in the hub's layout."""
    place = Path(folder) / "Visual_Similarity" / "val-00000-of-00001.parquet"
    return parquet(place, [row(1, task="Visual_Similarity")]).parent.parent


def test_one_task_in_two_spellings_runs_once(p2) -> None:
    similarity("here")
    names = ("Visual Similarity", "Visual_Similarity", "Visual Similarity")
    tasks = [part for name in names for part in ("--task", name)]
    status, out, err = p2("run", *MODEL, *tasks, "--source", "here", "--out", "out")
    assert (status, ran(out), err) == (0, [("Visual_Similarity", "standard")], "")


@pytest.mark.parametrize("task", ["Visual Similarity", "Visual_Similarity"])
@pytest.mark.parametrize("source", ["Visual Similarity=here", "Visual_Similarity=here"])
def test_a_source_is_of_its_task_in_either_spelling(task, source, p2) -> None:
    similarity("here")
    status, out, err = p2("run", *MODEL, "--task", task, "--source", source, "--out", "out")
    assert (status, ran(out), err) == (0, [("Visual_Similarity", "standard")], "")


def test_a_source_of_a_task_of_ones_own(p2) -> None:
    manifest("own.jsonl", "Own_Task")
    for more in ((), ("--task", "Own_Task")):
        line = ("--source", "Own_Task=own.jsonl", "--source", "questions.jsonl", *more)
        status, out, err = p2("run", *MODEL, *line, "--task", "Jigsaw", "--out", f"out{len(more)}")
        if more:
            assert (status, err) == (0, "")
            assert ran(out) == [("Own_Task", "standard"), ("Jigsaw", "standard")]
        else:
            assert (status, out) == (1, "")
            assert err == "p2: --source: expected one of the tasks Jigsaw, got Own_Task\n"
    for source in ("questions.jsonl", "Own_Task=own.jsonl"):
        status, _, err = p2("report", "out2", "--out", "r.html", "--source", source)
        assert (status, "no pictures of Own_Task" in err) == (0, source == "questions.jsonl")


def test_a_path_may_have_an_equals_sign(p2) -> None:
    manifest("a=b.jsonl", "Jigsaw")
    status, out, _ = p2("run", *MODEL, "--task", "Jigsaw", "--source", "a=b.jsonl", "--out", "out")
    assert (status, ran(out)) == (0, [("Jigsaw", "standard")])


def test_without_a_task_all_of_the_manifest_are_run(p2) -> None:
    manifest("mine.jsonl", "Jigsaw", "Own_Task")
    status, out, err = p2("run", *MODEL, "--source", "mine.jsonl", "--out", "out")
    assert (status, err) == (0, "")
    assert ran(out) == [("Jigsaw", "standard"), ("Own_Task", "standard")]
    status, out, _ = p2("run", *MODEL, "--source", "Own_Task=mine.jsonl", "--out", "b")
    assert (status, ran(out)) == (0, [("Own_Task", "standard")])
    status, _, err = p2("run", *MODEL, "--out", "c")
    assert status == 1 and "--task: expected the name of a task, or --source with a mani" in err


def test_without_a_task_a_folder_of_one_is_run(p2) -> None:
    jigsaw(Path("here"))
    status, out, err = p2("run", *MODEL, "--source", "here", "--out", "out")
    assert (status, ran(out), err) == (0, [("Jigsaw", "standard")], "")
    place = similarity("here") / "Visual_Similarity"
    status, out, err = p2("run", *MODEL, "--source", place, "--out", "c")
    assert (status, ran(out), err) == (0, [("Visual_Similarity", "standard")], "")
    status, _, err = p2("run", *MODEL, "--source", "here", "--out", "b")
    assert status == 1 and err.endswith("'here' has Jigsaw, Visual_Similarity\n"), err


@pytest.mark.parametrize("name", ["jigsaw", "Jigsw", "jig saw", "Jigsaws", "Jigsew"])
def test_a_task_that_is_nearly_known_is_told(name, p2) -> None:
    if " " not in name:
        manifest("mine.jsonl", name)
        status, out, err = p2("run", *MODEL, "--source", "mine.jsonl", "--out", "out")
        assert (status, ran(out)) == (0, [(name, "standard")])
        assert err == (
            f"p2: the task {name!r} of mine.jsonl has no recipe; if 'Jigsaw' is meant, write it so in "
            "the manifest\n"
        )
    assert nearly(name, RECIPES) == "Jigsaw"
    assert nearly("Jig", RECIPES) is None and nearly("Jigsaw", RECIPES) is None


def test_a_task_that_is_spelt_right_is_not_suggested_another(p2) -> None:
    similarity("here")
    manifest("mine.jsonl", "Visual_Similarity")
    for source in ("here", "mine.jsonl"):
        line = ("--task", "Visual_Correspondence", "--source", source, "--out", "out")
        status, _, err = p2("run", *MODEL, *line)
        assert status == 1 and "did you mean" not in err and "Visual_Similarity" in err, err


def test_an_expert_that_no_task_uses_is_refused(p2) -> None:
    line = ("--task", "Jigsaw", "--source", "questions.jsonl", "--setting", "p2", "--expert", "dis")
    for command, out in (("run", "out"), ("icl", "examples.jsonl")):
        status, _, err = p2(command, *MODEL, *line, "--out", out)
        assert status == 1 and not Path(out).exists()
        assert err == (
            "p2: --expert: 'dis' is for flow, which no task that is asked uses (Jigsaw uses jigsaw); it "
            "can serve Multi-view_Reasoning\n"
        )
    status, _, err = p2("run", *MODEL, *line[:-1], "dpt", "--out", "out")
    assert status == 1 and err.startswith("p2: --expert: no 'dpt'; did you mean 'dpt-"), err


def test_options_without_effect_are_told(p2) -> None:
    line = ("--task", "Jigsaw", "--source", "questions.jsonl")
    more = ("--grid", 8, "--matches", 3, "--relations", "--expert", "dis")
    status, _, err = p2("run", *MODEL, *line, *more, "--out", "out")
    assert status == 0
    assert err == (
        "p2: without effect on Jigsaw in standard: --grid, --relations, --matches, --expert\n"
    )
    status, _, err = p2("run", *MODEL, *line, "--setting", "p2", "--expert", "seams", "--out", "b")
    assert (status, err) == (0, "")


def test_a_setting_that_one_task_lacks_says_what_can_be_run_apart(p2) -> None:
    manifest("mine.jsonl", "Own_Task", "Jigsaw")
    for model in ("reader", "scripted:script.jsonl"):
        line = ("--model", model, "--setting", "p2", "--source", "mine.jsonl", "--out", "out")
        status, _, err = p2("run", *line)
        assert status == 1
        assert "Own_Task has no tools, so only 'standard', got 'p2'" in err
        assert "run what has tools here, Jigsaw, apart: --task Jigsaw --setting p2" in err


def test_unknown_tasks_are_told_from_missing_files(p2) -> None:
    jigsaw(Path("here"))
    for source in ("here", "questions.jsonl"):
        status, _, err = p2("run", *MODEL, "--task", "jigsaw", "--source", source, "--out", "out")
        assert status == 1 and err.startswith("p2: task: expected"), err
        assert "got 'jigsaw'; did you mean 'Jigsaw'?" in err
    status, _, err = p2("run", *MODEL, "--task", "Own_Task", "--out", "out")
    assert status == 1 and "or one of your own with its manifest as the source" in err
    status, _, err = p2("run", *MODEL, "--task", "paper", "--source", "here", "--out", "out")
    lacking = "HardBLINK, Multi-view_Reasoning, Visual_Correspondence, Object_Localization, Sem"
    assert status == 1 and err.startswith(f"p2: cannot load {lacking}"), err
    assert not Path("out").exists()


def test_examples_are_written_once(p2) -> None:
    jigsaw_manifest(Path("more"), 6)
    line = ("--task", "Jigsaw", "--source", "more/questions.jsonl", "--out", "examples.jsonl")
    status, _, err = p2("icl", *MODEL, "--setting", "standard", *line)
    assert (status, err.count("\n")) == (0, 2)
    before = Path("examples.jsonl").read_bytes()
    status, _, err = p2("icl", *MODEL, *line)
    assert (status, err) == (0, "") and Path("examples.jsonl").read_bytes() == before
    # One is taken out, and an editor left the last line without its end.
    Path("examples.jsonl").write_bytes(before.splitlines()[1])
    status, _, err = p2("icl", *MODEL, "--setting", "p2", *line)
    assert (status, err.count("\n")) == (0, 3)
    found = [json.loads(text) for text in Path("examples.jsonl").read_text().splitlines()]
    assert [(e["setting"], e["id"]) for e in found] == [
        ("standard", "made_Jigsaw_2"),
        ("standard", "made_Jigsaw_0"),
        ("p2", "made_Jigsaw_0"),
        ("p2", "made_Jigsaw_2"),
    ]
    line = ("--task", "Jigsaw", "--source", "more/questions.jsonl", "--out", "out")
    assert p2("run", *MODEL, *line, "--examples", "examples.jsonl")[0] == 0


def test_two_that_write_examples_at_once_are_refused(p2) -> None:
    line = ("--task", "Jigsaw", "--source", "questions.jsonl", "--out", "examples.jsonl")
    with held(Path("examples.jsonl.lock"), "busy"):
        status, _, err = p2("icl", *MODEL, *line)
    assert status == 1 and "another icl is writing to 'examples.jsonl'" in err
    assert not Path("examples.jsonl").exists()


def test_examples_that_cannot_be_written_are_not_asked_for(p2, monkeypatch) -> None:
    async def asked(self, messages):
        raise AssertionError("nobody is to be asked")

    monkeypatch.setattr("perception_programs.chat.ScriptedModel.answer", asked)
    Path("file").write_text("")
    for out in (".", "file/examples.jsonl", "no/folder.jsonl"):
        line = ("--task", "Jigsaw", "--source", "questions.jsonl", "--out", out)
        status, _, err = p2("icl", *MODEL, *line)
        assert (status, err.count("\n")) == (1, 1), err
