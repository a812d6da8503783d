"""Wording that is searched, tools that are composed: each gate, and what is kept."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from perception_programs import InputError, ToolError
from perception_programs.chat import ChatError, Reply
from perception_programs.cli import main
from perception_programs.harness import Agent, Finding, Memory, New, Templates
from perception_programs.harness.capabilities import ZoomIn
from perception_programs.harness.questions import Question
from perception_programs.harness.replay import replay
from perception_programs.harness.specialise import (
    Composed,
    Definition,
    draft_tools,
    search_templates,
    with_composed,
)
from test_harness import PICTURE, Watched, calling

TOOL = """
name: twice_closer
description: >-
  Enlarge a part, and then the middle of that. Use it where a thing is tiny.
arguments:
  image: {type: handle, description: A picture.}
  box: {type: box, description: "The part, in 0-1000."}
  scale: {type: number, description: How much., default: 2}
steps:
  - {name: part, tool: zoom_in, arguments: {image: $image, box: $box, scale: $scale}}
  - {name: middle, tool: zoom_in, arguments: {image: $part.part, box: [250, 250, 750, 750], scale: 2}}
found: |-
  $middle_part is the middle of $part_part, which is $part_box of $part_image.
"""
BOX = {"image": "input_image_1", "box": [0, 0, 500, 500]}


class Taught:
    """Answers by the number in the question; what it is told and what it has decides which it gets right.

    Args:
        known: numbers that it gets right as it is.
        helps: words in a tool's description, and the numbers that it gets right with them.
        harms: the same of those that it gets wrong.
        uses: a tool that it takes up where it has it.
        failing: numbers to which it gives no answer.
    """

    name = "taught"

    def __init__(self, known=(), helps=None, harms=None, uses=None, failing=()) -> None:
        self.known, self.helps, self.harms = set(known), helps or {}, harms or {}
        self.uses, self.failing, self.asked = uses, set(failing), 0

    def settings(self) -> dict[str, object]:
        return {"kind": "taught"}

    async def answer(self, messages) -> Reply:
        raise AssertionError("it has tools")

    async def answer_or_call(self, messages, tools) -> Reply:
        self.asked += 1
        (number,) = map(int, re.findall(r"Number (\d+)\?", messages[1].text))
        if number in self.failing:
            raise ChatError("busy", transient=False, status=400)
        told = " ".join([*(tool.description for tool in tools), messages[0].text])
        called = any(message.role == "tool" for message in messages)
        if self.uses in [tool.name for tool in tools] and not called:
            return calling(self.uses, BOX)
        right = number in self.known or any(
            word in told and number in numbers for word, numbers in self.helps.items()
        )
        wrong = any(word in told and number in numbers for word, numbers in self.harms.items())
        return Reply(
            f"Answer: {number if right and not wrong else 0}\nEvidence: none", finish="stop"
        )

    async def close(self) -> None: ...


def questions(folder: Path, *numbers: int) -> list[Question]:
    Image.fromarray(PICTURE).save(folder / "a.png")
    return [Question(f"q{n}", f"Number {n}?", (folder / "a.png",), n) for n in numbers]


def edited(word: str) -> str:
    """A proposal that puts a word into a description."""
    text = Templates().texts["zoom_in.yaml"].replace("to see small things", f"{word}, to see")
    return f"A cause.\n```template zoom_in.yaml\n{text}```\n"


def search(folder: Path, model, *replies: str, tuning=(1, 2, 3), held=(11, 12, 13), **more):
    proposer = Watched(*replies)
    sets = (questions(folder, *tuning), questions(folder, *held))
    done = asyncio.run(
        search_templates(
            model, proposer, [ZoomIn()], *sets, folder / "out", rounds=len(replies), **more
        )
    )
    return done, proposer


class TestSearch:
    def test_an_edit_that_helps_is_kept_and_the_next_begins_there(self, tmp_path: Path) -> None:
        helps = {"first": {1, 2, 11, 12}, "second": {3, 13}}
        again = (
            edited("first").replace("first", "first, second").replace("version: 1", "version: 9")
        )
        done, proposer = search(tmp_path, Taught(helps=helps), edited("first"), again)
        assert [one.kept for one in done.proposals] == [True, True]
        assert (done.before, done.after, done.n) == (0, 3, 3)
        assert done.proposals[0].held_out.recovered == ("q11", "q12")
        assert done.templates.versions["zoom_in"] == 3
        written = Templates(tmp_path / "out" / "templates")
        assert written.digest == done.templates.digest
        assert [p.name for p in (tmp_path / "out" / "templates").iterdir()] == ["zoom_in.yaml"]
        first, second = (prompt[0].text for prompt in proposer.seen)
        assert first.count("Failure ") == 3 and "| Number 1?" in first
        assert "```template zoom_in.yaml\nversion: 1" in first and "$part" in first
        assert (
            second.count("Failure ") == 1 and "version: 2" in second and "first, to see" in second
        )
        assert "11" not in re.sub(r"0-1000|\d{4,}", "", first)  # nothing of what is held out
        lines = (tmp_path / "out" / "proposals.jsonl").read_text().splitlines()
        log = list(map(json.loads, lines))
        assert [line["kind"] for line in log] == ["proposed", "judged"] * 2

    def test_what_recovers_no_failure_never_sees_the_held_out(self, tmp_path: Path) -> None:
        model = Taught(helps={"word": {11, 12, 13}})
        done, _ = search(tmp_path, model, edited("word"))
        (one,) = done.proposals
        assert not one.kept and one.held_out is None and "recovers none of 3" in one.why
        assert model.asked == 6 + 3 and not (tmp_path / "out" / "templates").exists()

    @pytest.mark.parametrize(
        ("helps", "harms", "why"),
        [
            ({1}, set(), "0 newly right and 0 newly wrong"),
            ({1, 11}, {12}, "1 newly right and 1 newly wrong"),
            ({1, 2, 3}, {12}, "0 newly right and 1 newly wrong"),
        ],
    )
    def test_what_does_not_help_the_held_out_is_refused(
        self, tmp_path: Path, helps, harms, why: str
    ) -> None:
        model = Taught(known={12}, helps={"word": helps}, harms={"word": harms})
        done, _ = search(tmp_path, model, edited("word"))
        (one,) = done.proposals
        assert not one.kept and why in one.why and done.after == done.before == 1
        assert done.templates.digest == Templates().digest

    @pytest.mark.parametrize(
        ("reply", "why"),
        [
            ("I would say it better.", "expected a block"),
            ("```template zoom_in.yaml\nversion: 1\n```\nand more", "expected a block"),
            ("```template coder.txt\nx\n```", "expected one of the files system.txt, zoom_in.yaml"),
            ("```template ../x.yaml\nx\n```", "expected one of the files"),
            ("```template zoom_in.yaml\nversion: [\n```", "expected YAML"),
            (edited("x").replace("found:", "none: a\nfound:"), "forms: expected found, unusable"),
            (edited("x").replace("  scale:", "  size:"), "arguments: expected image, box, scale"),
            (edited("x").replace("$width", "$breadth"), "found: nothing fills $breadth"),
            (edited("x").replace("$width", "$ width"), "a $ that begins no name"),
            (edited("x").replace("x, to see", "to see small things"), "expected another text"),
            (f"```template system.txt\n{'x' * 20_001}\n```", "at most 20000 characters"),
            ("```template system.txt\nUse $tool.\n```", "expected a text without blanks"),
        ],
    )
    def test_what_is_no_template_is_refused(self, tmp_path: Path, reply: str, why: str) -> None:
        done, _ = search(tmp_path, Taught(), reply, "no", tuning=(1,), held=(11,))
        assert [one.kept for one in done.proposals] == [False, False]
        assert why in done.proposals[0].why

    def test_a_refusal_is_told_to_the_proposer(self, tmp_path: Path) -> None:
        _, proposer = search(tmp_path, Taught(), edited("word"), "no", tuning=(1,), held=(11,))
        assert "not kept" not in proposer.seen[0][0].text.replace("will be kept", "")
        assert "- zoom_in.yaml: it recovers none of 1 failures" in proposer.seen[1][0].text

    def test_it_goes_on_where_it_was_stopped(self, tmp_path: Path) -> None:
        helps = {"first": {1, 11}, "second": {2, 12}}
        with pytest.raises(ToolError, match="gone"):
            search(
                tmp_path, Taught(helps=helps), edited("first"), ChatError("gone", transient=False)
            )
        model = Taught(helps=helps)
        second = edited("first").replace("first", "first, second")
        proposer = Watched(second)
        sets = (questions(tmp_path, 1, 2, 3), questions(tmp_path, 11, 12, 13))
        done = asyncio.run(
            search_templates(model, proposer, [ZoomIn()], *sets, tmp_path / "out", rounds=2)
        )
        assert [one.kept for one in done.proposals] == [True, True] and len(proposer.seen) == 1
        assert (
            model.asked == 2 + 3 + 1
        )  # the failures left, the held-out, and what was right before
        log = (tmp_path / "out" / "proposals.jsonl").read_text().splitlines()
        assert len(log) == 4

    def test_questions_without_an_answer_decide_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(ToolError, match="1 of 3 questions got no answer"):
            search(tmp_path, Taught(failing={2}), edited("word"))

    def test_sets_that_overlap_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="'q2' is the tuning question 'q2'"):
            search(tmp_path, Taught(), "no", held=(2,))
        with pytest.raises(InputError, match="expected some to tune on"):
            search(tmp_path, Taught(), "no", held=())


def read(text: str = TOOL) -> Definition:
    return Definition.read(text, [ZoomIn()], Templates())


class TestComposed:
    def ask(self, folder: Path, arguments: object, *more, tools=None) -> tuple:
        made = read()
        model = Watched(
            calling("twice_closer", arguments), *more, "Answer: 1\nEvidence: tool_image_2"
        )
        tools = tools or [ZoomIn(), Composed(made, [ZoomIn()])]
        agent = Agent(model, tools, templates=with_composed(Templates(), [made]))
        return agent, agent.ask("What is it?", [PICTURE], folder), model

    def test_it_does_as_its_steps_do(self, tmp_path: Path) -> None:
        again = calling("zoom_in", {**BOX, "image": "tool_image_2"}, number=2)
        agent, done, model = self.ask(tmp_path / "a", BOX, again)
        done.check()
        steps = Watched(
            calling("zoom_in", {**BOX, "scale": 2}),
            calling(
                "zoom_in",
                {"image": "tool_image_1", "box": [250, 250, 750, 750], "scale": 2},
                number=2,
            ),
            "Answer: 1",
        )
        alone = Agent(steps, [ZoomIn()]).ask("What is it?", [PICTURE], tmp_path / "b")
        assert [(one.handle, one.sources) for one in done.artifacts][:3] == [
            (one.handle, one.sources) for one in alone.artifacts
        ]
        for handle in ("tool_image_1", "tool_image_2"):
            np.testing.assert_array_equal(done.memory().image(handle), alone.memory().image(handle))
        told = model.seen[1][3].text
        assert told == (
            'tool_image_2 is the middle of tool_image_1, which is "[0, 0, 500, 500]" of '
            '"input_image_1".'
        )
        assert done.end["rests_on"] == ["input_image_1", "tool_image_1", "tool_image_2"]
        (spec,) = (tool for tool in agent.tools if tool.name == "twice_closer")
        assert spec.parameters["required"] == ["image", "box"]
        assert spec.parameters["properties"]["scale"]["default"] == 2
        assert not list(Path(tmp_path / "a").glob("p2-composed*"))

    def test_what_a_step_cannot_do_is_said(self, tmp_path: Path) -> None:
        _, _, model = self.ask(tmp_path / "a", {**BOX, "scale": 99})
        assert "Error: step part (zoom_in): scale: expected 1 to 8" in model.seen[1][3].text
        _, _, model = self.ask(tmp_path / "b", {"image": "input_image_1"})
        assert "box: expected it, got nothing" in model.seen[1][3].text

    def test_a_step_without_a_finding_ends_it(self, tmp_path: Path) -> None:
        class Dark(ZoomIn):
            async def call(self, memory, image: str, box: list[float], scale: float = 2.0):
                """Nothing.

                Args:
                    memory: -
                    image: -
                    box: -
                    scale: -
                """
                if image == "tool_image_1":
                    return Finding("unusable", {"why": "it is dark"})
                return await ZoomIn.call(self, memory, image, box, scale)

        made = read()
        _, done, model = self.ask(tmp_path, BOX, tools=[Composed(made, [Dark()])])
        assert [call["outcome"] for call in done.calls] == ["unusable"]
        assert (
            'The step "middle", which is "zoom_in", gave nothing that can be used: "it is dark".'
            in model.seen[1][3].text
        )
        assert [one.handle for one in done.artifacts] == ["input_image_1", "tool_image_1"]

    def test_its_record_is_played(self, tmp_path: Path) -> None:
        _, done, _ = self.ask(tmp_path / "a", BOX)
        tools = done.start["tools"]["twice_closer"]
        assert tools["definition"]["name"] == "twice_closer" and tools["tools"] == {"zoom_in": {}}
        made = read()
        again = replay(
            tmp_path / "a",
            tmp_path / "b",
            capabilities=[ZoomIn(), Composed(made, [ZoomIn()])],
            templates=with_composed(Templates(), [made]),
        )
        assert again.differences == ()

    def test_a_definition_goes_round(self) -> None:
        made = read()
        assert Definition.read(made.to_yaml(), [ZoomIn()], Templates()) == made

    @pytest.mark.parametrize(
        ("was", "becomes", "why"),
        [
            ("name: twice_closer", "name: zoom_in", "called 'zoom_in' already"),
            ("name: twice_closer", "name: Twice", "expected lower case"),
            ("name: twice_closer", "name: twice_closer\ncode: x", "expected the keys"),
            ("name: twice_closer", "name: twice_closer\nversion: 0", "from 1"),
            ("type: handle", "type: any", "expected a type of handle"),
            ("tool: zoom_in", "tool: zoom", "expected a tool of zoom_in, got 'zoom'"),
            ("scale: $scale", "size: $scale", "expected the arguments image, box, scale"),
            ("$part.part", "$middle.part", "$middle.part: no earlier step keeps that"),
            ("$part.part", "$part.program", "no earlier step keeps that"),
            ("$part.part", "$picture", "$picture: no such argument"),
            ("scale: 2}}\n", "scale: 2$}}\n", "a $ that begins no name"),
            ("scale: $scale", "scale: 3", "scale: no step uses it"),
            ("name: middle", "name: part", "different names"),
            ("name: middle", "name: memory", "expected a name"),
            ("$part_image.", "$part_picture.", "nothing fills $part_picture"),
            ("steps:\n", "steps: []\nfound: x\nother:\n", "expected the keys"),
            ("found: |-", "found: !!python/name:os.system |-", "expected YAML"),
        ],
    )
    def test_what_is_no_definition(self, was: str, becomes: str, why: str) -> None:
        with pytest.raises(InputError, match=re.escape(why)):
            read(TOOL.replace(was, becomes, 1))

    def test_text_around_a_reference(self, tmp_path: Path) -> None:
        class Noting(ZoomIn):
            name = "zoom_in"
            heard: list = []  # noqa: RUF012

            async def call(self, memory: Memory, image: str, note: str) -> Finding:
                """Note.

                Args:
                    memory: -
                    image: -
                    note: -
                """
                self.heard.append(note)
                return Finding("found", {}, new={"part": New("image", PICTURE, (image,))})

        text = TOOL.replace("box: $box, scale: $scale", 'note: "$$5 of $image at $box"').replace(
            "box: [250, 250, 750, 750], scale: 2", 'note: "$part.part"'
        )
        text = re.sub(r"  scale: .*\n", "", text).replace(", which is $part_box of $part_image", "")
        made = Definition.read(text, [Noting()], Templates())
        memory = Memory(tmp_path)
        memory.add("image", PICTURE, made_by="user")
        found = asyncio.run(Composed(made, [Noting()]).call(memory, **BOX))
        assert Noting.heard == ["$5 of input_image_1 at [0, 0, 500, 500]", "tool_image_1"]
        assert list(found.new) == ["part_part", "middle_part"] and len(memory) == 1


def draft(folder: Path, model, *replies: str, tuning=(1, 2, 3), held=(11, 12, 13)):
    proposer = Watched(*replies)
    sets = (questions(folder, *tuning), questions(folder, *held))
    done = asyncio.run(
        draft_tools(model, proposer, [ZoomIn()], *sets, folder / "out", rounds=len(replies))
    )
    return done, proposer


PROPOSED = f"They lack a closer look.\n```yaml{TOOL}```\n"
TINY = "a thing is tiny"  # words of its description, which the model has where it has the tool


class TestTools:
    def model(self, helps, harms=(), known=()) -> Taught:
        return Taught(known, {TINY: set(helps)}, {TINY: set(harms)}, "twice_closer")

    def test_one_that_helps_and_harms_none_is_admitted(self, tmp_path: Path) -> None:
        done, proposer = draft(tmp_path, self.model({1, 2, 11}, known={3, 13}), PROPOSED)
        (one,) = done.proposals
        assert one.kept and one.what == "twice_closer"
        assert one.tuning.recovered == ("q1", "q2") and one.held_out.recovered == ("q11",)
        assert one.tuning.broken == one.held_out.broken == ()
        assert (done.before, done.after, done.n) == (1, 2, 3)
        written = (tmp_path / "out" / "tools" / "twice_closer.yaml").read_text()
        assert Definition.read(written, [ZoomIn()], Templates()) == done.tools[0] == read()
        prompt = proposer.seen[0][0].text
        assert prompt.count("Failure ") == 2 and '"name": "zoom_in"' in prompt
        assert "in its sentence: box, height, image, part, scale, width" in prompt
        assert "image: $image, box: $box" in prompt

    @pytest.mark.parametrize(
        ("helps", "harms", "known", "why"),
        [
            ({1, 11}, (), {3}, "it recovers 1 tuning failures, and 2 are needed"),
            ({1, 2, 11}, {3, 4}, {3, 4}, "its net lift on the tuning questions is 0"),
            ({1, 2, 11}, {3}, {3, 4}, "it breaks q3 of the tuning questions"),
            ({1, 2}, (), {3}, "it recovers no held-out failure"),
            ({1, 2, 11}, {13}, {13}, "its net lift on the held-out questions is 0"),
            ({1, 2, 11, 12}, {13}, {13}, "it breaks q13 of the held-out questions"),
        ],
    )
    def test_each_gate_refuses(self, tmp_path: Path, helps, harms, known, why: str) -> None:
        done, _ = draft(tmp_path, self.model(helps, harms, known), PROPOSED, tuning=(1, 2, 3, 4))
        (one,) = done.proposals
        assert not one.kept and why in one.why
        assert done.tools == () and not (tmp_path / "out" / "tools").exists()
        assert done.before == done.after

    def test_what_was_right_without_the_tool_does_not_count(self, tmp_path: Path) -> None:
        model = Taught(helps={TINY: {1, 2, 11}})  # it reads of the tool and never takes it up
        done, _ = draft(tmp_path, model, PROPOSED)
        assert "it recovers 0 tuning failures" in done.proposals[0].why

    def test_what_is_no_tool_is_refused_and_told(self, tmp_path: Path) -> None:
        broken = PROPOSED.replace("tool: zoom_in", "tool: shell")
        done, proposer = draft(tmp_path, self.model({1, 2, 11}), "no", broken, PROPOSED)
        assert [one.kept for one in done.proposals] == [False, False, True]
        assert "expected a block ```yaml" in done.proposals[0].why
        assert "got 'shell'" in done.proposals[1].why and "got 'shell'" in proposer.seen[2][0].text

    def test_a_second_one_comes_beside_the_first(self, tmp_path: Path) -> None:
        class Both(Taught):
            async def answer_or_call(self, messages, tools) -> Reply:
                names = [tool.name for tool in tools]
                self.uses = "once_more" if "once_more" in names else "twice_closer"
                return await super().answer_or_call(messages, tools)

        second = PROPOSED.replace("twice_closer", "once_more").replace(TINY, "a thing is far")
        model = Both(helps={TINY: {1, 2, 11}, "a thing is far": {3, 4, 12}})
        done, _ = draft(tmp_path, model, PROPOSED, second, tuning=(1, 2, 3, 4))
        assert [one.name for one in done.tools] == ["twice_closer", "once_more"]
        assert done.after == 2


def test_the_commands(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    Image.fromarray(PICTURE).save("a.png")
    for name, numbers in (("tuning", (1, 2)), ("held", (11, 12))):
        rows = [
            {"id": f"q{n}", "question": f"Number {n}?", "images": ["a.png"], "answer": n}
            for n in numbers
        ]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    call = {"name": "twice_closer", "arguments": BOX}
    lines = [
        {"contains": "You give a model a new tool", "answer": PROPOSED},
        {"contains": "You improve the wording", "answer": edited("word")},
    ]
    Path("p.jsonl").write_text("\n".join(map(json.dumps, lines)))
    Path("m.jsonl").write_text(json.dumps({"contains": "", "answer": "Answer: 0"}))
    common = ["tuning.jsonl", "--held-out", "held.jsonl", "--model", "scripted:m.jsonl"]
    common += ["--proposer", "scripted:p.jsonl", "--tool", "zoom_in", "--rounds", "1"]
    assert main(["harness", "search", *common, "--out", "search"]) == 0
    out = capsys.readouterr().out
    assert "round 1: zoom_in.yaml: refused: it recovers none of 2 failures" in out
    assert "0 proposals kept of 1; held out, 0 of 2 were right and 0 are" in out
    assert main(["harness", "tools", *common, "--out", "tools"]) == 0
    assert "twice_closer: refused: it recovers 0 tuning" in capsys.readouterr().out
    Path("tool.yaml").write_text(TOOL)
    lines = [
        {"contains": "is the middle of", "answer": "Answer: 1\nEvidence: tool_image_2"},
        {"contains": "", "answer": "", "call": call},
    ]
    Path("m.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ask = ["ask", "a.png", "What?", "--model", "scripted:m.jsonl", "--tool", "zoom_in"]
    assert main([*ask, "--compose", "tool.yaml", "--out", "asked"]) == 0
    assert "twice_closer(image=" in capsys.readouterr().out
    assert main(["replay", "asked", "--tool", "zoom_in", "--compose", "tool.yaml"]) == 0
    assert "no difference" in capsys.readouterr().out
