"""The run: what it writes, that it goes on where it was stopped, and what it refuses."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from blink_pictures import jigsaw_manifest
from perception_programs import InputError, MissingExtraError, ToolError, WeightsError
from perception_programs.blink import RECIPES, Examples, Reader, Tools, load, write_manifest
from perception_programs.blink.examples import WorkedExample
from perception_programs.blink.icl import write_examples
from perception_programs.blink.records import RecordFile, exclusive
from perception_programs.blink.run import Run
from perception_programs.blink.run_tables import read_runs
from perception_programs.chat import ChatError, Reply, ScriptedModel, Usage

TOOLS = Tools(expert="seams", cache=False)


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return load("Jigsaw", jigsaw_manifest(tmp_path_factory.mktemp("made"), 7))


def go(model, samples, out, *settings, **options):
    settings = settings or ("standard",)
    run = Run(model, [samples], settings, Path(out), TOOLS, **options)
    return asyncio.run(run.go())


def rows(out, name="Jigsaw.standard"):
    return [json.loads(line) for line in (Path(out) / f"{name}.jsonl").read_text().splitlines()]


RECORD = {
    "id": "a",
    "group": None,
    "options": {"A": "this", "B": "that"},
    "answer": "A",
    "messages": [],
    "programs": [],
    "raw": "(A)",
    "parsed": "A",
    "how": "declared",
    "correct": True,
    "usage": {},
    "text_tokens": {},
    "seconds": 1.5,
    "attempts": 1,
}


class Counting:
    """Answers A, and counts what it was asked; raises the errors it is given, by call."""

    name = "counting"

    def __init__(self, errors=()):
        self.errors = dict(errors)
        self.calls = 0

    def settings(self):
        return {"temperature": 0}

    async def answer(self, messages):
        self.calls += 1
        if self.calls in self.errors:
            raise self.errors[self.calls]
        return Reply("I say (A).", Usage(100, 5, None, 0.25), "counting-1", "stop")

    async def close(self):
        pass


def test_a_record_has_everything(samples, tmp_path) -> None:
    (tally,) = go(Counting(), samples, tmp_path, "p2")
    header, *records = rows(tmp_path, "Jigsaw.p2")
    assert header["header"]["model"] == {"name": "counting", "temperature": 0}
    assert header["header"]["tools"] and header["header"]["source"] and header["header"]["prompts"]
    assert {r["id"] for r in records} == {s.id for s in samples}
    first = next(r for r in records if r["id"] == samples[0].id)
    assert (first["raw"], first["parsed"], first["answer"], first["correct"]) == (
        "I say (A).",
        "A",
        "A",
        True,
    )
    assert first["usage"] == {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "reasoning_tokens": None,
        "cost": 0.25,
    }
    assert first["programs"][0]["program"]["meta"]["expert"] == "seams"
    said = json.dumps(first["messages"])
    assert "<perceptionprogram>" in said and "base64" not in said
    assert first["text_tokens"]["program"] > 100 > first["text_tokens"]["answer"] > 0
    assert (tally.answered, tally.correct, tally.errors, tally.cost) == (7, 4, 0, 1.75)


def test_nothing_is_asked_twice(samples, tmp_path) -> None:
    model = Counting()
    go(model, samples, tmp_path, limit=3)
    (tally,) = go(model, samples, tmp_path)
    assert model.calls == 7
    assert (tally.kept, tally.answered, tally.scored, tally.correct) == (3, 4, 7, 4)
    before = (tmp_path / "Jigsaw.standard.jsonl").read_bytes()
    go(model, samples, tmp_path)
    assert model.calls == 7
    assert (tmp_path / "Jigsaw.standard.jsonl").read_bytes() == before


def test_what_fails_is_apart_and_tried_again(samples, tmp_path) -> None:
    refused = ChatError("the server said no", transient=False, status=400)
    model = Counting({2: refused})
    (tally,) = go(model, samples, tmp_path, concurrency=1)
    assert (tally.answered, tally.errors) == (6, 1)
    (error,) = rows(tmp_path, "Jigsaw.standard.errors")
    assert (error["id"], error["stage"], error["error"]) == (
        samples[1].id,
        "model",
        "the server said no",
    )
    (tally,) = go(model, samples, tmp_path)
    assert (tally.kept, tally.answered, tally.errors) == (6, 1, 0)
    assert len(rows(tmp_path)) == 8


def test_a_transient_error_is_tried_again_at_once(samples, tmp_path) -> None:
    busy = ChatError("busy", transient=True, status=429, retry_after=0.01)
    (tally,) = go(Counting({1: busy}), samples, tmp_path, limit=1)
    assert tally.errors == 0
    assert rows(tmp_path)[1]["attempts"] == 2


def test_a_picture_that_cannot_be_sent(samples, tmp_path) -> None:
    model = Counting({3: InputError("2_1.png: cannot be decoded")})
    (tally,) = go(model, samples, tmp_path, concurrency=1)
    assert (tally.answered, tally.errors) == (6, 1)
    (error,) = rows(tmp_path, "Jigsaw.standard.errors")
    assert (error["stage"], error["error"]) == ("evidence", "2_1.png: cannot be decoded")


def test_a_wrong_key_ends_the_run(samples, tmp_path) -> None:
    model = Counting(
        {n: ChatError("no such key", transient=False, status=401) for n in range(1, 9)}
    )
    with pytest.raises(ChatError, match="no such key"):
        go(model, samples, tmp_path, concurrency=1)
    assert model.calls == 1


@pytest.mark.parametrize(("first", "calls"), [(1, 1), (2, 7)])
def test_a_server_that_nobody_is_at_ends_the_run_unless_it_had_answered(
    first, calls, samples, tmp_path
) -> None:
    gone = ChatError("nobody answers", transient=False, unreachable=True)
    model = Counting(dict.fromkeys(range(first, 9), gone))
    if first == 1:
        with pytest.raises(ChatError, match="nobody answers"):
            go(model, samples, tmp_path, concurrency=1)
    else:
        (tally,) = go(model, samples, tmp_path, concurrency=1)
        assert (tally.answered, tally.errors) == (1, 6)
    assert model.calls == calls


def test_another_configuration_is_refused(samples, tmp_path) -> None:
    go(Counting(), samples, tmp_path, limit=1)
    other = Counting()
    other.settings = lambda: {"temperature": 1}
    with pytest.raises(InputError, match=r"model\.temperature 0 -> 1"):
        go(other, samples, tmp_path)
    with pytest.raises(InputError, match=r"prompts\.cautions"):
        go(Counting(), samples, tmp_path, cautions=("all",))
    go(Counting(), samples, tmp_path, concurrency=3, limit=2, attempts=2)  # these only set the pace


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (Usage(-5, 10, None, 0.5), (None, 10, None, 0.5)),
        (Usage(1.5, 3.0, True, -0.1), (None, 3, None, None)),
        (Usage(10**30, float("nan"), "7", float("inf")), (None, None, None, None)),
        (Usage(np.int64(7), 0, 0, np.float64(0.25)), (7, 0, 0, 0.25)),
    ],
)
def test_what_no_answer_can_have_taken_is_not_recorded(said, kept, samples, tmp_path) -> None:
    (tally,) = go(ScriptedModel(lambda _: Reply("(A)", said)), samples, tmp_path, limit=1)
    assert tuple(rows(tmp_path)[1]["usage"].values()) == kept
    assert tally.cost == (kept[3] or 0)
    assert len(read_runs([tmp_path])) == 1


def test_a_task_given_twice_is_asked_once(samples, tmp_path) -> None:
    again = load("Jigsaw", samples.place)
    run = Run(Counting(), [samples, again, samples], ["p2", "p2"], tmp_path / "a", TOOLS)
    (tally,) = asyncio.run(run.go())
    assert (tally.answered, tally.errors) == (7, 0)
    other = load("Jigsaw", jigsaw_manifest(tmp_path / "other", 3, seed=1))
    with pytest.raises(InputError, match="expected one set of samples of Jigsaw, got those of"):
        Run(Counting(), [samples, other], ["p2"], tmp_path / "b", TOOLS)


def test_pictures_go_out_in_the_order_of_the_question(samples, tmp_path) -> None:
    seen = []

    def look(messages):
        seen.append([picture.name for picture in messages[-1].pictures])
        return "(A)"

    go(ScriptedModel(look), samples, tmp_path, "standard", "tool", "p2", limit=1, concurrency=1)
    own, tool = [image.name for image in samples[0].images], ["tool picture 1", "tool picture 2"]
    assert own == ["0_1.png", "0_2.png", "0_3.png"]
    assert sorted(seen, key=len) == [own, own, own + tool]
    for setting, names in (("standard", own), ("tool", own + tool), ("p2", own)):
        (record,) = rows(tmp_path, f"Jigsaw.{setting}")[1:]
        parts = record["messages"][-1]["parts"]
        assert [part["picture"] for part in parts if "picture" in part] == names


def test_records_past_the_limit_are_counted_apart(samples, tmp_path) -> None:
    go(Counting(), samples, tmp_path)
    (tally,) = go(Counting(), samples, tmp_path, limit=3)
    assert (tally.kept, tally.beyond, tally.scored) == (3, 4, 3)


@pytest.mark.parametrize("end", [b"{}", b"garbage", b"\r" + b'{"id": "c"}'])
def test_what_follows_a_whole_record_is_not_cut_off(end, tmp_path) -> None:
    file = RecordFile(tmp_path, "T", "s", {})
    file.add(RECORD)
    whole = file.path.read_bytes().removesuffix(b"\n") + end
    file.path.write_bytes(whole)
    with pytest.raises(InputError, match=r"T\.s\.jsonl, line 2: expected JSON"):
        RecordFile(tmp_path, "T", "s", {})
    assert file.path.read_bytes() == whole


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "openai/x"}, "model: expected a ChatModel or a Reader, got str 'openai/x'"),
        (
            {"tasks": ["Jigsaw"]},
            "tasks: expected a list of what blink.load returns, got str 'Jigsaw'",
        ),
        ({"settings": "standard"}, "settings: expected a list of names, got str 'standard'"),
        ({"out": None}, "out: expected a folder, got None"),
        ({"limit": True}, "limit: expected an integer of at least 1"),
    ],
)
def test_what_is_no_run(change, message, samples, tmp_path) -> None:
    run = {"model": ScriptedModel("A"), "tasks": [samples], "settings": ["standard"]}
    with pytest.raises(InputError, match=re.escape(message)):
        Run(**{**run, "out": tmp_path, **change})
    with pytest.raises(InputError, match="tasks: expected a list of what blink"):
        Run(**{**run, "out": str(tmp_path), "tasks": samples})
    assert Run(**run, out=str(tmp_path)).out == tmp_path


def test_a_torn_line_is_asked_again(samples, tmp_path) -> None:
    go(Counting(), samples, tmp_path)
    path = tmp_path / "Jigsaw.standard.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-25])
    model = Counting()
    go(model, samples, tmp_path)
    assert model.calls == 1
    assert sorted(r["id"] for r in rows(tmp_path)[1:]) == sorted(s.id for s in samples)
    path.write_bytes(whole[:20])  # not even the header was whole
    model = Counting()
    go(model, samples, tmp_path)
    assert model.calls == 7


def test_broken_records_are_named(tmp_path) -> None:
    file = RecordFile(tmp_path, "T", "s", {})
    file.add(RECORD)
    with pytest.raises(InputError, match="'a' has a record already"):
        file.add(RECORD)
    with file.path.open("a") as more:
        more.write("{\n")
    with pytest.raises(InputError, match=r"T\.s\.jsonl, line 3"):
        RecordFile(tmp_path, "T", "s", {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parsed": 5}, "line 2: parsed: expected str or null, got int 5"),
        ({"correct": "yes"}, "line 2: correct: expected bool or null, got str 'yes'"),
        ({"correct": False}, "line 2: correct: expected True for the answer 'A'"),
        ({"id": ["x"]}, "line 2: id: expected str, got list ['x']"),
        (
            {"usage": {"cost": -1}},
            "line 2: usage: cost: expected a number from 0 to 1e+12, got int -1",
        ),
    ],
)
def test_a_run_refuses_the_records_that_a_report_refuses(change, message, tmp_path) -> None:
    header = {"model": {"name": "m"}, "source": {"kind": "manifest"}}
    file = RecordFile(tmp_path, "T", "s", header)
    with file.path.open("a") as more:
        more.write(json.dumps({**RECORD, **change}) + "\n")
    before = (tmp_path / "T.s.jsonl").read_bytes()
    with pytest.raises(InputError, match=re.escape(message)):
        RecordFile(tmp_path, "T", "s", header)
    with pytest.raises(InputError, match=re.escape(message)):
        read_runs([tmp_path])
    assert (tmp_path / "T.s.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": {"kind": 7}}, "line 1: source: kind: expected text, got int 7"),
        ({"source": {}}, "line 1: source: expected the key 'kind', got no key"),
        ({"source": {"kind": "manifest", "split": 7}}, "line 1: source: split: expected text"),
        ({"place": {"a": 1}}, "line 1: place: expected str, got dict"),
        ({"created": None}, "line 1: created: expected str, got None"),
    ],
)
def test_and_the_headers(change, message, tmp_path) -> None:
    header = {"model": {"name": "m"}, "source": {"kind": "manifest"}, "place": "here"}
    file = RecordFile(tmp_path, "T", "s", header)
    said = json.loads(file.path.read_text())
    file.path.write_text(json.dumps({"header": said["header"] | change}) + "\n")
    before = file.path.read_bytes()
    for refuse in (RecordFile, RecordFile.check):
        with pytest.raises(InputError, match=re.escape(message)):
            refuse(tmp_path, "T", "s", header)
    with pytest.raises(InputError, match=re.escape(message)):
        read_runs([tmp_path])
    assert file.path.read_bytes() == before


@pytest.mark.parametrize("end", [b"", b"  ", b"\t", b"{", b'{"id": "b", "gro', b"notes", b"\0\0"])
def test_and_the_last_line(end, tmp_path) -> None:
    header = {"model": {"name": "m"}, "source": {"kind": "manifest"}}
    file = RecordFile(tmp_path, "T", "s", header)
    file.add(RECORD)
    for cut in (0, 1) if not end else (0,):
        file.path.write_bytes(file.path.read_bytes()[: -cut or None] + end)
        if end in (b"  ", b"\t", b"notes"):
            for read in (
                lambda: read_runs([tmp_path]),
                lambda: RecordFile(tmp_path, "T", "s", header),
            ):
                with pytest.raises(InputError, match=r"T\.s\.jsonl, line 3: expected JSON"):
                    read()
            return
        (table,) = read_runs([tmp_path])
        assert len(table.records) == len(RecordFile(tmp_path, "T", "s", header).done) == 1
        assert bool(table.notes) is bool(end)


def test_a_refused_file_stays_as_it_is(tmp_path) -> None:
    file = RecordFile(tmp_path, "T", "s", {"x": 1})
    file.add(RECORD)
    torn = file.path.read_bytes() + b'{"id": "b", "gro'
    foreign = (b"notes of mine", b'{"a": 1}', b'{"id": "a"}', b"\xff")
    for content in (torn, *foreign):
        file.path.write_bytes(content)
        with pytest.raises(InputError):
            RecordFile(tmp_path, "T", "s", {"x": 2})
        assert file.path.read_bytes() == content
    errors = tmp_path / "T.s.errors.jsonl"
    file.path.write_bytes(torn)
    errors.write_bytes(b"notes of mine")
    with pytest.raises(InputError, match=r"T\.s\.errors\.jsonl, line 1"):
        RecordFile(tmp_path, "T", "s", {"x": 1})
    assert (file.path.read_bytes(), errors.read_bytes()) == (torn, b"notes of mine")


def test_a_last_line_that_lacks_its_end_is_kept(tmp_path) -> None:
    file = RecordFile(tmp_path, "T", "s", {})
    for key in "ab":
        file.add({**RECORD, "id": key})
    file.add_error({"id": "c", "stage": "model", "error": "no", "attempts": 1})
    paths = (file.path, tmp_path / "T.s.errors.jsonl")
    whole = [path.read_bytes() for path in paths]
    for path in paths:
        path.write_bytes(path.read_bytes()[:-1])
    assert RecordFile(tmp_path, "T", "s", {}).done.keys() == {"a", "b"}
    assert [path.read_bytes() for path in paths] == whole
    header = whole[0].split(b"\n")[0]
    file.path.write_bytes(header)
    assert RecordFile(tmp_path, "T", "s", {}).done == {}
    assert file.path.read_bytes() == header + b"\n"
    file.path.write_bytes(whole[0] + bytes(40))  # as a power cut may leave it
    assert RecordFile(tmp_path, "T", "s", {}).done.keys() == {"a", "b"}
    assert file.path.read_bytes() == whole[0]


def test_two_runs_do_not_share_a_folder(samples, tmp_path) -> None:
    with exclusive(tmp_path), pytest.raises(InputError, match="another run"):
        go(Counting(), samples, tmp_path)


def test_evidence_that_cannot_be_had(samples, tmp_path) -> None:
    class Broken(Tools):
        def settings(self, *args):
            return {}

        def check(self, *args):
            pass

        def __getattribute__(self, name):
            kept = ("__class__", "check", "settings", "chosen", "chosen_names")
            if name in kept or name.startswith("_"):
                return object.__getattribute__(self, name)
            raise RuntimeError("the tool broke")

    run = Run(Counting(), [samples], ["standard", "p2"], tmp_path, Broken())
    standard, p2 = asyncio.run(run.go())
    assert (p2.answered, p2.errors) == (0, 7)
    assert rows(tmp_path, "Jigsaw.p2.errors")[0]["stage"] == "evidence"
    assert (standard.answered, standard.errors) == (7, 0)


def test_an_expert_that_cannot_be_had_is_told_before_anything_is_asked(
    samples, shared_data, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    model = Counting()
    depth = load("Relative_Depth", shared_data / "blink")
    run = Run(model, [samples, depth], ["standard", "p2"], tmp_path / "out", Tools(cache=False))
    with pytest.raises((MissingExtraError, WeightsError), match="depth-anything-v2-small"):
        asyncio.run(run.go())
    assert model.calls == 0
    assert not (tmp_path / "out").exists()


def test_the_reader_reads_the_prompt(samples, tmp_path) -> None:
    (tally,) = go(Reader("reader"), samples, tmp_path, "p2")
    assert (tally.correct, tally.unparsed) == (7, 0)
    with pytest.raises(InputError, match="setting: expected 'p2' or 'p2-compact' for 'reader'"):
        go(Reader("reader"), samples, tmp_path / "b", "standard")
    with pytest.raises(InputError, match="no rule for Jigsaw"):
        go(Reader("naive"), samples, tmp_path / "c", "p2")


def test_a_task_of_ones_own_needs_no_recipe(samples, tmp_path) -> None:
    own = tmp_path / "own.jsonl"
    write_manifest([dataclasses.replace(samples[0], task="Own_Task")], own)
    mine = load("Own_Task", own)
    (tally,) = go(Counting(), mine, tmp_path / "a")
    assert (tally.task, tally.answered, tally.correct) == ("Own_Task", 1, 1)
    with pytest.raises(InputError, match="Own_Task has no tools, so only 'standard'"):
        go(Counting(), mine, tmp_path / "b", "p2")
    assert "Own_Task" not in RECIPES


def test_examples_are_never_the_sample_itself(samples, tmp_path) -> None:
    told = [
        WorkedExample("Jigsaw", "p2", s.id, s.answer, f"Because {s.id}.\nAnswer: ({s.answer})")
        for s in samples[:2]
    ]
    go(Counting(), samples, tmp_path, "p2", examples=Examples(told))
    records = rows(tmp_path, "Jigsaw.p2")[1:]
    assert len(records) == 7
    for record in records:
        assistant = [m for m in record["messages"] if m["role"] == "assistant"]
        other = samples[1].id if record["id"] == samples[0].id else samples[0].id
        assert [f"Because {other}." in m["parts"][0]["text"] for m in assistant] == [True]
        assert record["text_tokens"]["example"] > record["text_tokens"]["program"]
    (tally,) = go(Counting(), samples, tmp_path / "b", "p2", examples=Examples(told[:1]))
    assert (tally.answered, tally.errors) == (6, 1)
    with pytest.raises(InputError, match="expected one for Jigsaw in standard, got none"):
        go(Counting(), samples, tmp_path / "c", "standard", examples=Examples(told))
    strange = WorkedExample("Jigsaw", "p2", "other", "A", "Answer: (A)")
    with pytest.raises(InputError, match="has no 'other'"):
        go(Counting(), samples, tmp_path / "d", "p2", examples=Examples([strange]))


async def listed(found):
    return [one async for one in found]


def test_examples_are_read_and_written(samples, tmp_path) -> None:
    told = iter(["I can't tell.", "**Answer: B**", "Both fit, so\nAnswer: (B)", "Answer: (B)"])
    model = ScriptedModel(lambda messages: next(told))
    path = tmp_path / "examples.jsonl"

    async def written():
        return [e async for e in write_examples(model, samples, ["standard"], TOOLS)]

    # The right answers of the first samples are A, B, A, B.
    found = asyncio.run(written())
    assert [(e.id, e.answer) for e in found] == [(samples[n].id, "B") for n in (1, 3)]
    assert found[0].rationale == "**Answer: B**\n\nAnswer: (B)"
    again = write_examples(model, samples, ["standard"], TOOLS, have=found)
    assert asyncio.run(listed(again)) == []  # and nobody is asked: the script is at its end
    more = write_examples(
        ScriptedModel("Answer: (A)"), samples, ["standard"] * 2, TOOLS, have=found[:1]
    )
    assert [e.id for e in asyncio.run(listed(more))] == [samples[0].id]
    with pytest.raises(
        InputError, match="setting: expected standard, tool, p2, p2-compact, got 'bogus'"
    ):
        asyncio.run(listed(write_examples(model, samples, ["bogus"], TOOLS)))
    path.write_text("".join(json.dumps(asdict(e)) + "\n" for e in found))
    assert list(Examples.read(path)) == found
    assert Examples.read(path).digest == Examples(found).digest
    path.write_text('{"task": "Jigsaw"}\n')
    with pytest.raises(InputError, match="line 1: expected the keys answer, id"):
        Examples.read(path)
    with pytest.raises(InputError, match="last line 'Answer: \\(A\\)'"):
        WorkedExample("Jigsaw", "p2", "x", "A", "It is A.")
    model = ScriptedModel("None of them.")
    with pytest.raises(ToolError, match="expected 2 explanations"):
        asyncio.run(written())


def test_what_the_model_writes_comes_back_whole(samples, tmp_path) -> None:
    said = 'a "quoted"\u2028line\nand \udc80 a lone surrogate </script>'
    go(ScriptedModel(said), samples, tmp_path, limit=1)
    (record,) = rows(tmp_path)[1:]
    assert record["raw"] == said
    assert (record["parsed"], record["correct"]) == (None, False)


@pytest.mark.parametrize("status", [402, 404])
def test_other_statuses_that_end_a_run(status, samples, tmp_path) -> None:
    model = Counting({1: ChatError("no", transient=False, status=status)})
    with pytest.raises(ChatError, match="no"):
        go(model, samples, tmp_path, concurrency=1)
    assert model.calls == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": ["raw"]}, "setting: expected standard"),
        ({"settings": []}, "at least one task"),
        ({"concurrency": 0}, "concurrency: expected an integer of at least 1"),
        ({"cautions": ["care"]}, "cautions: expected some of example"),
        ({"limit": 0}, "limit: expected an integer of at least 1"),
    ],
)
def test_bad_input(options, message, samples, tmp_path) -> None:
    given = {"settings": ["standard"], "tasks": [samples], **options}
    with pytest.raises(InputError, match=message):
        Run(model=Counting(), out=tmp_path, tools=TOOLS, **given)
