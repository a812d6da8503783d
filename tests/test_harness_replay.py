"""A trajectory once more, without its model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from perception_programs import DepthMap, InputError
from perception_programs.chat import Reply
from perception_programs.harness import Agent, Finding, New, Templates, Trajectory
from perception_programs.harness.capabilities import DepthEstimation, ZoomIn
from perception_programs.harness.replay import replay
from perception_programs.harness.trajectory import FILE
from test_harness import ANSWER, PART, PICTURE, Watched, calling, run


class Brighter(ZoomIn):
    """Another version of the tool: what it cuts out is brighter."""

    async def call(self, memory, image: str, box: list[float], scale: float = 2.0) -> Finding:
        found = await ZoomIn.call(self, memory, image, box, scale)
        part = found.new["part"]
        brighter = np.clip(np.asarray(part.value).astype(int) + 9, 0, 255).astype(np.uint8)
        new = {"part": New("image", brighter, part.sources, show=True, about=part.about)}
        return Finding(found.form, found.fields, new=new, raw=found.raw)

    call.__doc__ = ZoomIn.call.__doc__


def planted(image) -> DepthMap:
    height, width = image.shape[:2]
    values = np.linspace(1, 4, width * height, dtype=np.float32).reshape(height, width)
    return DepthMap(values, "metric")


def worked(folder: Path) -> Trajectory:
    wrong = calling("zoom_in", {**PART, "scale": 99}, number=2)
    return run(folder, Watched(calling("zoom_in", PART), wrong, Reply("", finish="stop"), ANSWER))


def test_the_same_tools_do_the_same(tmp_path: Path) -> None:
    was = worked(tmp_path / "a")
    done = replay(tmp_path / "a", tmp_path / "b")
    assert (done.differences, done.played) == ((), {})
    again = Trajectory.read(tmp_path / "b")
    again.check()
    assert again.artifacts == was.artifacts and again.start == was.start
    assert again.end == was.end and len(again.turns) == 3
    assert [m.to_dict() for m in again.messages()] == [m.to_dict() for m in was.messages()]
    assert again == done.trajectory


def test_another_version_of_a_tool_is_found_out(tmp_path: Path) -> None:
    worked(tmp_path / "a")
    done = replay(tmp_path / "a", tmp_path / "b", capabilities=[Brighter()])
    (found,) = done.differences
    assert (found.turn, found.what) == (1, "artefact tool_image_1")
    assert found.recorded.partition("sha256")[0] == found.replayed.partition("sha256")[0]


def test_another_wording_is_found_out(tmp_path: Path) -> None:
    worked(tmp_path / "a")
    text = Templates().texts["zoom_in.yaml"].replace("$part shows", "Here: $part shows")
    changed = Templates().with_text("zoom_in.yaml", text)
    done = replay(tmp_path / "a", tmp_path / "b", templates=changed)
    assert [(one.turn, one.what) for one in done.differences] == [
        (0, "configuration: templates"),
        (1, "words"),
    ]
    assert "Here: tool_image_1 shows" in done.differences[1].replayed


def test_what_cannot_be_opened_is_played(tmp_path: Path) -> None:
    model = Watched(
        calling("depth_estimation", {"image": "input_image_1"}),
        calling("zoom_in", {**PART, "image": "tool_image_1"}, number=2),
        ANSWER,
    )
    agent = Agent(model, [DepthEstimation(planted), ZoomIn()])
    was = agent.ask("How far?", [PICTURE], tmp_path / "a")
    done = replay(tmp_path / "a", tmp_path / "b")
    assert (
        list(done.played) == ["depth_estimation"] and "planted" in done.played["depth_estimation"]
    )
    assert done.differences == () and done.trajectory.artifacts == was.artifacts
    done.trajectory.check()
    again = replay(
        tmp_path / "a", tmp_path / "c", capabilities=[ZoomIn(), DepthEstimation(planted)]
    )
    assert (again.differences, again.played) == ((), {})


def test_what_asks_a_model_runs_only_where_it_is_given(tmp_path: Path) -> None:
    from perception_programs.harness.capabilities.coding import PythonCoding

    class Adding(PythonCoding):
        async def call(self, memory, objective: str, bindings: list[str]) -> Finding:
            fields = {"bindings": ", ".join(bindings)}
            new = {"result": New("value", len(objective), tuple(bindings))}
            return Finding(
                "unusable", {**fields, "tries": 1, "why": "-"}, {"passage": "-"}, new=new
            )

        call.__doc__ = PythonCoding.call.__doc__

    coding = Adding(coder=Watched())
    arguments = {"objective": "Count.", "bindings": ["input_image_1"]}
    model = Watched(calling("python_coding", arguments), calling("zoom_in", PART, number=2), ANSWER)
    Agent(model, [coding, ZoomIn()]).ask("How many?", [PICTURE], tmp_path / "a")
    played = replay(tmp_path / "a", tmp_path / "b")
    assert played.differences == () and list(played.played) == ["python_coding"]
    again = replay(tmp_path / "a", tmp_path / "c", capabilities=[coding])
    assert (again.differences, again.played) == ((), {})


def test_evidence_that_is_no_longer_made(tmp_path: Path) -> None:
    class Blind(ZoomIn):
        async def call(self, memory, image: str, box: list[float], scale: float = 2.0) -> Finding:
            return Finding("unusable", {"image": image, "why": "it is dark"})

        call.__doc__ = ZoomIn.call.__doc__

    worked(tmp_path / "a")
    done = replay(tmp_path / "a", tmp_path / "b", capabilities=[Blind()])
    said = {one.what: one for one in done.differences}
    assert said["outcome"].replayed == "unusable"
    assert said["artefact tool_image_1"].replayed == "not made"
    assert said["evidence: unsupported"].replayed == "tool_image_1"
    assert done.trajectory.end["unsupported"] == ["tool_image_1"]


def test_what_is_refused(tmp_path: Path) -> None:
    worked(tmp_path / "a")
    with pytest.raises(InputError, match="expected a fresh folder"):
        replay(tmp_path / "a", tmp_path / "a")
    with pytest.raises(InputError, match="no trajectory"):
        replay(tmp_path / "nowhere", tmp_path / "b")
    (tmp_path / "a" / "tool_image_1.png").write_bytes(b"other")
    with pytest.raises(InputError, match="not the file that was written"):
        replay(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_stopped_one_is_replayed_as_far_as_it_is(tmp_path: Path) -> None:
    worked(tmp_path / "a")
    file = tmp_path / "a" / FILE
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-1]), encoding="utf-8")
    done = replay(tmp_path / "a", tmp_path / "b")
    assert done.trajectory.end is None and len(done.trajectory.turns) == 3
    assert json.loads(lines[-1])["kind"] == "end" and not asyncio.iscoroutine(done)
