"""The loop of an agent: calls, budgets, what is kept, what a kill leaves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from perception_programs import InputError
from perception_programs.chat import ChatError, Message, Reply, ScriptedModel, ToolCall, Usage
from perception_programs.harness import RUNGS, Agent, Settings, Trajectory
from perception_programs.harness.capabilities import ZoomIn
from perception_programs.harness.memory import Memory
from perception_programs.harness.trajectory import FILE

PICTURE = np.arange(60 * 80 * 3, dtype=np.uint8).reshape(60, 80, 3)
PART = {"image": "input_image_1", "box": [0, 0, 500, 500], "scale": 4}
ANSWER = "It is blue.\nAnswer: blue\nEvidence: tool_image_1"


def calling(name: str, arguments: object, text: str = "", number: int = 1) -> Reply:
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Reply(
        text,
        Usage(100, 10, cost=0.01),
        finish="tool_calls",
        calls=(ToolCall(f"c{number}", name, raw),),
    )


class Watched:
    """A model that does as its script says, and remembers what it was sent."""

    def __init__(self, *replies: str | Reply, native: bool = True) -> None:
        self.name = "watched"
        self.replies, self.seen = list(replies), []
        if native:
            self.answer_or_call = self._answer_or_call

    def settings(self) -> dict[str, object]:
        return {"kind": "watched"}

    async def answer(self, messages: list[Message]) -> Reply:
        self.seen.append(list(messages))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(reply, finish="stop")

    async def _answer_or_call(self, messages, tools) -> Reply:
        assert tools
        return await self.answer(messages)

    async def close(self) -> None: ...


def run(folder: Path, model, **settings) -> Trajectory:
    agent = Agent(model, [ZoomIn()], settings=Settings(**settings))
    return agent.ask("What colour is it?", [PICTURE], folder)


def test_a_call_its_picture_and_the_answer(tmp_path: Path) -> None:
    model = Watched(calling("zoom_in", PART, "Closer."), ANSWER)
    done = run(tmp_path, model)
    assert (done.answer, done.end["reason"]) == ("blue", "answered")
    assert done.end["cited"] == ["tool_image_1"]
    assert done.end["rests_on"] == ["input_image_1", "tool_image_1"]
    assert [call["outcome"] for call in done.calls] == ["found"]
    last = model.seen[-1]
    assert [message.role for message in last] == ["system", "user", "assistant", "tool", "user"]
    assert [picture.name for picture in last[-1].pictures] == ["tool_image_1"]
    assert "tool_image_1 shows" in last[-2].text and "Turns left: 14" in last[-1].text
    assert done.used("cost") == pytest.approx(0.01)
    done.check()
    assert Trajectory.read(tmp_path) == done


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("zoom", {}, "expected one of the tools zoom_in, got 'zoom'"),
        ("zoom_in", '{"image": ', "expected its arguments as JSON"),
        ("zoom_in", "[]", "expected its arguments as an object"),
        ("zoom_in", {"image": "input_image_1"}, "box: expected it, got nothing"),
        (
            "zoom_in",
            {**PART, "image": "input_image_2"},
            "nothing is called 'input_image_2'; there is input_image_1",
        ),
        ("zoom_in", {**PART, "box": [0, 0, 2000, 5]}, "expected 0 ≤ left < right ≤ 1000"),
        ("zoom_in", {**PART, "scale": float("nan")}, "NaN is no JSON"),
        ("zoom_in", {**PART, "colour": 1}, "colour: no such argument"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, name: str, arguments, said: str) -> None:
    model = Watched(calling(name, arguments), "Answer: none")
    done = run(tmp_path, model)
    assert said in model.seen[-1][3].text and model.seen[-1][3].text.startswith("Error: ")
    assert [call["outcome"] for call in done.calls] == ["refused"]
    assert len(done.artifacts) == 1


def test_one_tool_a_turn(tmp_path: Path) -> None:
    two = calling("zoom_in", PART)
    two = Reply("", calls=(*two.calls, ToolCall("c2", "zoom_in", json.dumps(PART))))
    model = Watched(two, ANSWER)
    done = run(tmp_path, model)
    tools = [message for message in model.seen[-1] if message.role == "tool"]
    assert [tool.answers for tool in tools] == ["c1", "c2"]
    assert tools[1].text.startswith("Not done: one tool a turn")
    assert len(done.artifacts) == 2


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"turns": 2}, "turns"),
        ({"max_tokens": 200}, "tokens"),
        ({"max_cost": 0.015}, "money"),
        ({"max_seconds": 1e-9}, "time"),
    ],
)
def test_budgets_end_in_a_question_without_tools(tmp_path: Path, limits, why: str) -> None:
    model = Watched(*[calling("zoom_in", PART)] * 2, "Answer: late\nEvidence: none")
    if why == "time":
        model.replies = [calling("zoom_in", PART), "Answer: late"]
    done = run(tmp_path, model, **limits)
    assert done.answer == "late" and why in done.end["reason"]
    last = model.seen[-1]
    assert {message.role for message in last} == {"system", "user", "assistant"}
    assert f"No more tools: {done.end['reason']}" in last[-1].text


def test_an_empty_and_a_cut_reply_are_told(tmp_path: Path) -> None:
    model = Watched(Reply("", finish="stop"), Reply("I think that", finish="length"), "Answer: 1")
    done = run(tmp_path, model)
    assert "it was empty" in model.seen[1][-1].text and "be brief" in model.seen[2][-1].text
    assert done.calls == () and done.answer == "1"


def test_a_model_without_tools_of_its_own(tmp_path: Path) -> None:
    asked = f"Closer.\n```tool\n{json.dumps({'name': 'zoom_in', 'arguments': PART})}\n```\nand more"
    model = Watched(asked, "```tool\nnot JSON\n```", ANSWER, native=False)
    done = run(tmp_path, model)
    assert [call["outcome"] for call in done.calls] == ["found", "refused"]
    assert [message.role for message in model.seen[1]] == ["system", "user", "assistant", "user"]
    assert '"name": "zoom_in"' in model.seen[0][0].text
    assert "and more" not in model.seen[1][2].text and "```tool" in model.seen[1][2].text
    assert [picture.name for picture in model.seen[1][3].pictures] == ["tool_image_1"]


def test_what_was_never_made_is_flagged(tmp_path: Path) -> None:
    done = run(tmp_path, Watched("Answer: 3\nEvidence: boxes_1, depth_map_2, input_image_1"))
    assert done.end["unsupported"] == ["boxes_1", "depth_map_2"]
    assert done.end["cited"] == ["input_image_1"]


class TestKilled:
    """A kill loses at most the turn in which it came."""

    @pytest.mark.parametrize("turn", range(4))
    def test_at_any_turn(self, tmp_path: Path, turn: int) -> None:
        replies = [calling("zoom_in", PART, number=n) for n in range(3)] + [ANSWER]
        whole = run(tmp_path / "whole", Watched(*replies))
        failing = [*replies[:turn], ChatError("gone", transient=False)]
        with pytest.raises(ChatError):
            run(tmp_path / "cut", Watched(*failing))
        file = tmp_path / "cut" / FILE
        with file.open("ab") as stream:
            stream.write(b'{"kind": "turn", "tu')  # as a kill leaves it
        (tmp_path / "cut" / f"tool_image_{turn + 1}.png").write_bytes(b"torn")
        done = run(tmp_path / "cut", Watched(*replies[turn:]))
        done.check()
        assert done.messages() and done.artifacts == whole.artifacts
        assert done.end["answer"] == whole.end["answer"]
        assert [m.to_dict() for m in done.messages()] == [m.to_dict() for m in whole.messages()]

    def test_a_finished_one_asks_nobody(self, tmp_path: Path) -> None:
        first = run(tmp_path, Watched(ANSWER))
        assert run(tmp_path, Watched()) == first

    def test_another_question_is_refused(self, tmp_path: Path) -> None:
        run(tmp_path, Watched(ANSWER))
        agent = Agent(Watched(ANSWER), [ZoomIn()])
        with pytest.raises(InputError, match="began with another question"):
            agent.ask("What else?", [PICTURE], tmp_path)
        with pytest.raises(InputError, match="began with another settings"):
            run(tmp_path, Watched(ANSWER), turns=3)
        with pytest.raises(InputError, match="began with another artefacts"):
            Agent(Watched(ANSWER), [ZoomIn()]).ask("What colour is it?", [PICTURE[:9]], tmp_path)


@pytest.mark.parametrize("rung", RUNGS)
def test_each_rung_has_its_part(tmp_path: Path, rung: str) -> None:
    again = {**PART, "image": "tool_image_1"}
    replies = [calling("zoom_in", PART), calling("zoom_in", again, number=2), ANSWER]
    model = Watched(*(replies if rung != "no-tools" else [ANSWER]))
    if rung == "no-tools":
        del model.answer_or_call
    done = run(tmp_path, model, rung=rung)
    if rung == "no-tools":
        assert done.calls == () and "tool" not in model.seen[0][0].text
        return
    outcomes = [call["outcome"] for call in done.calls]
    assert outcomes == ["found", "found" if rung == "full" else "refused"]
    first = model.seen[1][3].text
    assert first.startswith(
        "{" if rung == "raw" else ("tool_image_1" if rung == "full" else "(not kept)")
    )
    assert bool(model.seen[1][-1].pictures) == (rung == "full")
    assert ("What there is now" in model.seen[1][-1].text) == (rung in ("memory", "full"))


class TestMemory:
    def test_kinds_come_back(self, tmp_path: Path) -> None:
        from perception_programs import DepthMap, Detections
        from perception_programs.harness import Cameras, Page, Reference

        memory = Memory(tmp_path)
        boxes = Detections(
            [[0, 0, 9, 9], [1, 2, 3, 4]],
            [0.5, 0.25],
            ("a\n", "b"),
            masks=np.ones((2, 20, 30), bool),
            size=(30, 20),
            runner_up_labels=(None, "c"),
            runner_up_scores=[0, 0.1],
            threshold=0.2,
        )
        depth = DepthMap(
            np.linspace(1, 9, 12, dtype=np.float32).reshape(3, 4), "metric", size=(8, 6)
        )
        cameras = Cameras(
            ("input_image_1", "input_image_2"),
            np.stack([np.eye(4)] * 2),
            np.stack([np.eye(3)] * 2),
            False,
            np.array([0.5]),
        )
        given = {
            "image": PICTURE,
            "boxes": boxes,
            "depth": depth,
            "camera": cameras,
            "array": np.arange(5),
            "value": {"a": [1, 2.5, None, "é"]},
            "page": Page("http://x/", "t", "text"),
            "reference": Reference("http://x/"),
        }
        for kind, value in given.items():
            memory.add(kind, value, made_by="test")
        again = Memory(tmp_path, memory.artifacts)
        for artifact in memory.artifacts:
            value, was = again.value(artifact.handle), given[artifact.kind]
            if artifact.kind in ("image", "array"):
                np.testing.assert_array_equal(value, was)
            elif artifact.kind in ("value", "page", "reference"):
                assert value == was
            else:
                for name in vars(was):
                    np.testing.assert_array_equal(getattr(value, name), getattr(was, name))
                    if isinstance(getattr(was, name), tuple):
                        assert getattr(value, name) == getattr(was, name)
        assert again.array("boxes_1").shape == (2, 4) and again.url("page_1") == "http://x/"
        with pytest.raises(InputError, match=r"expected a handle of kind image \(tool_image_1\)"):
            again.image("depth_1")
        with pytest.raises(InputError, match="there is depth_1"):
            again.get("depth_2")
        (tmp_path / "value_1.json").write_text("{}")
        with pytest.raises(InputError, match="not the file that was written"):
            Memory(tmp_path, memory.artifacts).value("value_1")

    def test_objects_are_refused(self, tmp_path: Path) -> None:
        memory = Memory(tmp_path)
        for kind, value in (
            ("array", np.array([object()])),
            ("value", {"a": float("nan")}),
            ("boxes", 3),
            ("sound", 1),
        ):
            with pytest.raises(InputError):
                memory.add(kind, value, made_by="test")
        assert len(memory) == 0


def test_a_script_file_can_call(tmp_path: Path) -> None:
    lines = [
        {"contains": "tool_image_1 shows", "answer": ANSWER},
        {"contains": "", "answer": "", "call": {"name": "zoom_in", "arguments": PART}},
    ]
    (tmp_path / "script.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = run(tmp_path / "run", ScriptedModel.read(tmp_path / "script.jsonl"))
    assert done.answer == "blue" and len(done.calls) == 1


def test_half_a_surrogate_pair_is_written_and_read_again(tmp_path: Path) -> None:
    """Models write such a thing at times; it has no UTF-8."""
    done = run(tmp_path, Watched("So: \ud83d\nAnswer: \ud83d"))
    assert Trajectory.read(tmp_path).answer == done.answer == "\ud83d"
    memory = Memory(tmp_path)
    assert memory.value(memory.add("value", ["\ud83d", "é"], made_by="test").handle) == [
        "\ud83d",
        "é",
    ]
    assert "é" in (tmp_path / "value_1.json").read_text(encoding="utf-8")
