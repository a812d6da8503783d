"""Programs that a model writes, over what was gathered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from isolation import needs_isolation
from perception_programs import DepthMap, Detections, InputError, ToolError
from perception_programs.chat import ChatError, ScriptedModel
from perception_programs.harness import Cameras, Memory, Page, Reference, Templates
from perception_programs.harness.capabilities.coding import PythonCoding
from perception_programs.sandbox import Limits

pytestmark = needs_isolation


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """One artefact of each kind."""
    memory = Memory(tmp_path)
    add = memory.add
    add("image", np.full((6, 8, 3), 200, np.uint8), made_by="user")
    boxes = Detections(
        [[0, 0, 4, 3], [1, 1, 5, 5]],
        [0.9, 0.5],
        ("cat", "dog\n"),
        np.ones((2, 6, 8), bool),
        size=(8, 6),
    )
    add("boxes", boxes, made_by="test")
    values = np.array([[1.0, 0.0], [np.nan, 4.0]], np.float32)
    add(
        "depth",
        DepthMap(values, "metric", mask=[[True, True], [True, False]], size=(8, 6)),
        made_by="test",
    )
    cameras = Cameras(("input_image_1",), np.eye(4)[None], np.eye(3)[None], True, np.zeros(0))
    add("camera", cameras, made_by="test")
    add("array", np.arange(4), made_by="test")
    add("value", {"a": 1}, made_by="test")
    add("page", Page("http://x/", "t", "Some text."), made_by="test")
    add("reference", Reference("http://y/", "t", "A snippet."), made_by="test")
    return memory


def called(memory: Memory, *replies: str, bindings=(), objective="Compute it.", **options):
    seen = []
    queue = list(replies)

    def model(messages):
        seen.append(list(messages))
        return queue.pop(0)

    capability = PythonCoding(coder=ScriptedModel(model), **options)
    finding = asyncio.run(capability.call(memory, objective, list(bindings)))
    return finding, seen


def block(code: str) -> str:
    return f"Here it is:\n```python\n{code}\n```\nDone."


def test_every_kind_is_there(memory: Memory) -> None:
    handles = [artifact.handle for artifact in memory.artifacts]
    code = (
        "assert input_image_1.size == (8, 6)\n"
        "assert boxes_1.shape == (2, 4) and boxes_1_labels == ['cat', 'dog\\n'] and boxes_1_masks.all()\n"
        "assert depth_1[0, 0] == 1 and np.isnan(depth_1).sum() == 3\n"
        "assert camera_1.shape == (1, 4, 4) and camera_1_metric and camera_1_intrinsics.shape == (1, 3, 3)\n"
        "assert array_1.sum() == 6 and value_1 == {'a': 1}\n"
        "assert page_1 == 'Some text.' and page_1_url == 'http://x/' and reference_1_url == 'http://y/'\n"
        "print('all there')\nresult = round(float(boxes_1_scores[0]), 3)"
    )
    finding, seen = called(memory, block(code), bindings=handles)
    assert finding.form == "found", finding.passages
    assert finding.new["result"].value == 0.9 and finding.new["result"].sources == tuple(handles)
    assert "all there" in finding.passages["passage"]
    told = seen[0][0].text
    assert "- boxes_1: 2×4 array, left, top, right, bottom in pixels of a 8×6 picture" in told
    assert "- depth_1: 2×2 array of a 8×6 picture, metres from the camera; nan" in told
    assert "Compute it." in told
    text = Templates().render("python_coding", finding, {"result": "value_2"})
    assert "The result is kept as value_2." in text and "| result = 0.9" in text


def test_only_what_is_named_is_there(memory: Memory) -> None:
    finding, _ = called(
        memory, block("result = sorted(n for n in dir() if n[0] != '_')"), bindings=["value_1"]
    )
    assert finding.new["result"].value == ["np", "publish", "value_1"]


def test_a_failure_goes_back_to_the_coder(memory: Memory) -> None:
    finding, seen = called(
        memory, "No program.", block("1 / 0"), block("result = 7"), bindings=["array_1"]
    )
    assert finding.new["result"].value == 7 and len(finding.usage) == 3
    assert "no ```python block" in seen[1][-1].text
    assert "ZeroDivisionError: division by zero; line 1: 1 / 0" in seen[2][-1].text
    assert "- array_1: array 4, int64" in seen[2][-1].text


def test_no_program_works(memory: Memory) -> None:
    finding, seen = called(memory, *[block("raise ValueError('no cat')")] * 2, tries=2)
    assert finding.form == "unusable" and len(seen) == 2
    text = Templates().render("python_coding", finding, {})
    assert "in 2 tries" in text and "| The program failed: ValueError: no cat" in text
    assert "Do not guess the result." in text


def test_pictures_arrays_and_nothing(memory: Memory) -> None:
    code = (
        "from PIL import Image\nImage.new('RGB', (4, 4), 'red').save('a.png')\n"
        "publish('grid', np.zeros((2, 2)))\npublish('part', input_image_1.crop((0, 0, 2, 2)))"
    )
    finding, _ = called(memory, block(code), bindings=["input_image_1"])
    assert finding.form == "none"
    assert {name: (new.kind, new.show) for name, new in finding.new.items()} == {
        "grid": ("array", False),
        "part": ("image", True),
        "picture_1": ("image", True),
    }
    assert "and left no result" in Templates().render("python_coding", finding, {})


def test_a_result_that_cannot_be_kept(memory: Memory) -> None:
    finding, seen = called(
        memory, block("result = object()"), block("result = float('nan')"), block("result = 1")
    )
    assert finding.form == "found" and "a object cannot be taken out" in seen[1][-1].text
    assert "cannot be used: result" in seen[2][-1].text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"objective": " "}, "objective: expected"),
        ({"bindings": ["depth_9"]}, "nothing is called 'depth_9'"),
        ({"bindings": [f"value_{n}" for n in range(13)]}, "at most 12 handles"),
    ],
)
def test_arguments_that_cannot_be(memory: Memory, arguments: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        called(memory, block("1"), **arguments)
    with pytest.raises(InputError, match="tries"):
        PythonCoding(coder=ScriptedModel("x"), tries=0)


def test_a_coder_that_gives_no_answer(memory: Memory) -> None:
    def gone(messages):
        raise ChatError("gone", transient=False)

    with pytest.raises(ToolError, match="gave no answer: gone"):
        asyncio.run(PythonCoding(coder=ScriptedModel(gone)).call(memory, "x", []))


def test_limits_hold(memory: Memory) -> None:
    finding, _ = called(
        memory, block("while True: pass"), tries=1, limits=Limits(cpu_seconds=1, wall_seconds=2)
    )
    assert finding.form == "unusable" and "it was ended after" in finding.passages["passage"]
