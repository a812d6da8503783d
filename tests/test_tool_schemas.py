"""The tools for agents: what a model is told, what it may send, and what it gets back."""

from __future__ import annotations

import base64
import inspect
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from perception_programs import (
    DepthMap,
    Detections,
    FlowField,
    InputError,
    Matches,
    PerceptionProgram,
    PointScores,
    Segmentation,
    ToolError,
)

pytest.importorskip("pydantic")

from perception_programs.integrations import (
    Limits,
    Toolbox,
    anthropic_tools,
    gemini_tools,
    openai_tools,
)
from perception_programs.integrations.toolbox import TOOLS

SIZE = (120, 80)
PICTURE = np.random.default_rng(0).integers(0, 255, (80, 120, 3), np.uint8)
RAMP = np.tile(np.linspace(0, 1, 120), (80, 1))
CLASSES = np.repeat([[0, 1]], 60, axis=1).repeat(80, axis=0)

GIVEN: dict[str, Any] = {
    "photo": PICTURE,
    "next": np.roll(PICTURE, -4, axis=1),
    "depth": DepthMap(RAMP),
    "motion": FlowField(np.full((80, 120, 2), -2.0)),
    "classes": Segmentation(CLASSES, ("grass", "sky")),
    "boxes": Detections([[10, 10, 50, 60]], [0.9], ["cat"], size=SIZE),
    "pairs": Matches([[10, 10]], [[20, 10]], size1=SIZE, size2=SIZE),
    "scores": PointScores({"A": (50, 50), "B": (9, 9)}, {"A": 0.8, "B": 0.1}, (10, 10), SIZE, SIZE),
    "map": RAMP.astype(np.float32),
}

# One call of each tool that needs no weights.
CALLS: dict[str, dict[str, Any]] = {
    "find_points": {"image": "photo"},
    "depth": {"depth_map": "depth", "image": "photo"},
    "flow": {"first": "photo", "second": "next"},
    "correspondence": {"matches": "pairs", "first": "photo", "second": "next"},
    "semantic": {"scores": "scores", "first": "photo", "second": "next"},
    "jigsaw": {"image": "photo", "candidates": {"A": "piece", "B": "piece"}},
    "detection": {"detections": "boxes", "image": "photo"},
    "segmentation": {"segmentation": "classes", "image": "photo"},
    "albedo": {"albedo": "map", "image": "photo"},
    "similarity": {"targets": {"A": "map"}},
    "scene": {
        "image": "photo",
        "detections": "boxes",
        "depth_map": "depth",
        "flow_field": "motion",
    },
}
GIVEN["piece"] = PICTURE[40:, 60:]


@pytest.fixture(scope="module")
def tools() -> Toolbox:
    return Toolbox(given=GIVEN, experts={"flow": "dis"})


def encoded(image: np.ndarray) -> str:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


# What a model is told.


@pytest.mark.parametrize("name", TOOLS)
def test_schemas_are_what_the_signatures_say(tools: Toolbox, name: str) -> None:
    import jsonschema

    schema = tools.schemas[name]
    jsonschema.Draft202012Validator.check_schema(schema.parameters)
    signature = inspect.signature(TOOLS[name])
    own = list(signature.parameters)[1:]
    properties = schema.parameters["properties"]
    assert list(properties) == [*own, "style", "max_tokens", "overlay"]
    needed = [n for n in own if signature.parameters[n].default is inspect.Parameter.empty]
    assert schema.parameters.get("required", []) == needed
    assert schema.parameters["additionalProperties"] is False
    assert schema.description.splitlines()[0] == (TOOLS[name].__doc__ or "").splitlines()[0]
    for text in (schema.description, *(p["description"] for p in properties.values())):
        assert text and "\n " not in text and "inputs:" not in text


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from parts(value)
    if isinstance(schema, list):
        for value in schema:
            yield from parts(value)


@pytest.mark.parametrize("name", TOOLS)
def test_schemas_keep_to_what_every_provider_reads(tools: Toolbox, name: str) -> None:
    for part in parts(tools.schemas[name].parameters):
        assert not {"$ref", "$defs", "anyOf", "oneOf", "prefixItems", "title"} & set(part)
        assert part.get("type") != "null" and part.get("default", "") is not None
        assert part.get("type") != "array" or "items" in part


def test_a_new_argument_needs_a_description() -> None:
    from perception_programs.chat.schema import schema_of

    def tool(inputs: object, size: int) -> None:
        """A tool.

        Args:
            inputs: where from.
        """

    with pytest.raises(KeyError, match="size"):
        schema_of(tool)


# What it gets back.


@pytest.mark.parametrize("name", TOOLS)
def test_each_tool_gives_a_program_that_parses(tools: Toolbox, name: str) -> None:
    for style in ("paper", "compact", "json"):
        result = tools.call(name, {**CALLS[name], "style": style})
        program = PerceptionProgram.from_dict(result.data)
        read = PerceptionProgram.from_text(result.text)
        assert (read.modality, len(read)) == (program.modality, len(program))
        assert result.drawing is None


@pytest.mark.parametrize("name", [name for name in TOOLS if name != "similarity"])
def test_each_tool_draws_when_asked(tools: Toolbox, name: str) -> None:
    drawing = tools.call(name, {**CALLS[name], "overlay": True}).drawing
    assert drawing is not None
    with Image.open(io.BytesIO(drawing.data)) as image:
        assert max(image.size) <= 1568 and min(image.size) >= 80


def test_programs_fit_a_budget(tools: Toolbox) -> None:
    whole = tools.call("depth", CALLS["depth"])
    short = tools.call("depth", {**CALLS["depth"], "max_tokens": 400})
    assert len(short.text) < len(whole.text) / 3
    assert short.data["meta"]["fit"]
    with pytest.raises(ToolError, match="tokens"):
        tools.call("depth", {**CALLS["depth"], "max_tokens": 3})


def test_places_go_in_as_they_come_out(tools: Toolbox) -> None:
    places = {"A": [0, 0], "B": [1000, 1000], "C": [333, 667]}
    for name in ("depth", "flow"):
        items = tools.call(name, {**CALLS[name], "points": places}).data["items"]
        found = {item["p"]: item["c"] for item in items}
        assert found["A"] == [0, 0] and found["C"] == [333, 667] and found["B"] == [1000, 1000]


def test_pictures_come_in_three_ways(tmp_path: Any) -> None:
    Image.fromarray(PICTURE).save(tmp_path / "photo.png")
    tools = Toolbox(root=tmp_path, given={"known": PICTURE}, experts={"flow": "dis"})
    plain = encoded(PICTURE)
    texts = {
        tools.call("flow", {"first": source, "second": "known"}).text
        for source in (
            "photo.png",
            str(tmp_path / "photo.png"),
            "known",
            plain,
            f"data:image/png;base64,{plain}",
            plain.replace("+", "-").replace("/", "_"),
        )
    }
    assert len(texts) == 1


def test_results_come_in_files(tmp_path: Any) -> None:
    np.save(tmp_path / "depth.npy", RAMP)
    np.savez(tmp_path / "classes.npz", CLASSES)
    GIVEN["motion"].save(tmp_path / "motion.flo")
    boxes = [{"bbox": [10, 10, 40, 50], "score": 0.9, "category_id": 0, "image_id": 1}]
    (tmp_path / "boxes.json").write_text(json.dumps(boxes), encoding="utf-8")
    tools = Toolbox(root=tmp_path, given={"photo": PICTURE}, experts={"flow": "dis"})
    scene = tools.call(
        "scene",
        {
            "image": "photo",
            "depth_map": "depth.npy",
            "segmentation": "classes.npz",
            "flow_field": "motion.flo",
            "detections": "boxes.json",
            "names": ["cat"],
        },
    )
    item = scene.data["items"][0]
    assert item["b"] == "cat" and item["r"][1:] == [-2.0, -2.0] and 0 < item["r"][0] < 0.5


def test_experts_are_chosen_and_kept() -> None:
    class Flat:
        card = type(
            "Card",
            (),
            {"name": "flat", "modality": "depth", "library": "numpy", "checkpoint": None},
        )

        def __call__(self, image: Any) -> DepthMap:
            return DepthMap(np.full(np.shape(image)[:2], 0.25))

        def batch(self, images: Any) -> list[DepthMap]:
            return [self(image) for image in images]

    tools = Toolbox(given=GIVEN, experts={"depth": Flat(), "flow": "dis"})
    assert tools.call("depth", {"image": "photo"}).data["meta"]["expert"] == "flat"
    assert tools.call("flow", CALLS["flow"]).data["meta"]["expert"] == "dis"
    with pytest.raises(ToolError, match="expected one for depth, got 'dis'"):
        tools.call("depth", {"image": "photo", "expert": "dis"})


# What it is told when it is wrong.

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("dept", {}, "expected one of the tools find_points, depth"),
    ("find_points", {}, "image: expected it"),
    ("find_points", {"image": "photo", "sytle": "json"}, "sytle: no such argument; expected image"),
    ("find_points", {"image": 3}, "image: expected a valid string, got 3"),
    ("find_points", {"image": "other"}, "one of the names photo, next"),
    ("find_points", {"image": "depth"}, "'depth' is another result"),
    ("find_points", {"image": "https://a.b/c.png"}, "URLs are not opened"),
    ("find_points", {"image": "data:image/png;base64,@@"}, "broken base64"),
    ("find_points", {"image": "A" * 400}, "expected a picture"),
    ("depth", {}, "expected image or depth_map"),
    ("depth", {"image": "photo", "kind": "metric"}, "expected depth_map"),
    ("depth", {"depth_map": "photo"}, "expected DepthMap"),
    ("depth", {"depth_map": "depth", "points": {"A": [1]}}, r"points 'A': expected \[x, y\]"),
    ("depth", {"depth_map": "depth", "points": {"A": [1, 1001]}}, "from 0 to 1000"),
    ("depth", {"depth_map": "depth", "points": {"A": [1, float("nan")]}}, "from 0 to 1000"),
    ("depth", {"depth_map": "depth", "grid": [1000, 1000]}, "at most 2500 cells"),
    ("depth", {"depth_map": "depth", "grid": [0, 3]}, "rows, cols"),
    ("depth", {"depth_map": "depth", "style": "yaml"}, "style: expected 'paper', 'compact' or"),
    ("depth", {"depth_map": "depth", "overlay": True}, "expected the picture too"),
    ("flow", {"first": "photo"}, "expected two images, or flow_field"),
    ("flow", {"first": "photo", "second": "piece"}, "size"),
    ("semantic", {"first": "photo", "second": "next"}, "reference and candidates"),
    ("detection", {"detections": "boxes", "labels": ["cat"]}, "made already"),
    ("detection", {"image": "photo", "labels": ["a"] * 101}, "at most 100"),
    ("scene", {"image": "photo", "detections": "pairs"}, "expected Detections"),
]


@pytest.mark.parametrize(("name", "arguments", "says"), WRONG)
def test_mistakes_are_explained(
    tools: Toolbox, name: str, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(ToolError, match=says) as caught:
        tools.call(name, arguments)
    assert len(str(caught.value)) < 600 and "\n" not in str(caught.value)


def test_nothing_of_this_machine_is_told(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from perception_programs import WeightsError

    tools = Toolbox(root=tmp_path, given={"photo": PICTURE}, experts={"flow": "dis"})

    def failing(error: Exception) -> str:
        def tool(inputs: Any, image: str) -> PerceptionProgram:
            raise error

        monkeypatch.setitem(TOOLS, "find_points", tool)
        with pytest.raises(ToolError) as caught:
            tools.call("find_points", {"image": "photo"})
        return str(caught.value)

    text = failing(WeightsError("put them into the cache at /home/me/.cache/hub, or C:\\hub\\a b"))
    assert "home" not in text and "C:" not in text and "put them into the cache" in text
    inside = failing(InputError(f"depth: {str(tmp_path / 'maps' / 'd.npy')!r} cannot be read"))
    assert "'maps/d.npy'" in inside and str(tmp_path) not in inside
    assert "secret" not in failing(KeyError("secret")) and "secret" in caplog.text


def test_limits_come_before_decoding(tmp_path: Any) -> None:
    Image.fromarray(PICTURE).save(tmp_path / "photo.png")
    few = Toolbox(root=tmp_path, limits=Limits(pixels=100))
    with pytest.raises(ToolError, match=r"at most 100 pixels, 'photo.png' has 120×80"):
        few.call("find_points", {"image": "photo.png"})
    with pytest.raises(ToolError, match=r"at most 100 pixels"):
        few.call("find_points", {"image": encoded(PICTURE)})
    small = Toolbox(root=tmp_path, limits=Limits(bytes=100))
    for source in ("photo.png", encoded(PICTURE)):
        with pytest.raises(ToolError, match="at most 100 bytes"):
            small.call("find_points", {"image": source})


def test_only_some_tools() -> None:
    tools = openai_tools(only=["depth", "flow"])
    assert [tool["function"]["name"] for tool in tools.schemas] == ["depth", "flow"]
    with pytest.raises(InputError, match="only: expected names among"):
        Toolbox(only=["dephts"])
    with pytest.raises(InputError, match="api: expected chat or responses"):
        openai_tools("completions")  # type: ignore[arg-type]


# The shapes of the providers, checked by the types that their own packages ship.

ASKED = [
    ("1", "depth", {**CALLS["depth"], "overlay": True}),
    ("2", "flow", CALLS["flow"]),
    ("3", "flow", {"first": "nowhere", "second": "next"}),
]


def test_openai_chat() -> None:
    pytest.importorskip("openai")
    from openai.types.chat import (
        ChatCompletionMessage,
        ChatCompletionMessageParam,
        ChatCompletionToolParam,
    )
    from pydantic import TypeAdapter

    tools = openai_tools(given=GIVEN)
    TypeAdapter(list[ChatCompletionToolParam]).validate_python(tools.schemas)
    calls = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
        for i, n, a in ASKED
    ]
    calls.append({"id": "4", "type": "function", "function": {"name": "f", "arguments": "{"}})
    reply = {"role": "assistant", "content": None, "tool_calls": calls}
    messages = tools.answer(ChatCompletionMessage.model_validate(reply))
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(messages)
    assert [m["role"] for m in messages] == ["tool"] * 4 + ["user"]
    assert [m["tool_call_id"] for m in messages[:4]] == ["1", "2", "3", "4"]
    assert all(isinstance(m["content"], str) for m in messages[:4])
    assert PerceptionProgram.from_text(messages[0]["content"]).modality == "depth"
    assert messages[2]["content"].startswith("Error: flow: first: expected")
    assert messages[3]["content"].startswith("Error: arguments: expected JSON")
    caption, image = messages[4]["content"]
    assert "call 1" in caption["text"]
    assert image["image_url"]["url"].startswith(("data:image/png;base64,", "data:image/jpeg"))
    assert tools.answer(reply) == messages and tools.answer(calls) == messages
    assert tools.answer({"role": "assistant", "content": "done"}) == []


def test_openai_responses() -> None:
    pytest.importorskip("openai")
    from openai.types.responses import ResponseFunctionToolCall, ResponseInputItemParam, ToolParam
    from pydantic import TypeAdapter

    tools = openai_tools("responses", given=GIVEN)
    TypeAdapter(list[ToolParam]).validate_python(tools.schemas)
    calls = [
        ResponseFunctionToolCall(
            type="function_call", call_id=i, name=n, arguments=json.dumps(a), id=f"fc_{i}"
        )
        for i, n, a in ASKED
    ]
    items = tools.answer(calls)
    TypeAdapter(list[ResponseInputItemParam]).validate_python(items)
    assert [item["call_id"] for item in items] == ["1", "2", "3"]
    assert [part["type"] for part in items[0]["output"]] == ["input_text", "input_image"]
    assert isinstance(items[1]["output"], str) and items[2]["output"].startswith("Error: ")


def test_anthropic() -> None:
    anthropic = pytest.importorskip("anthropic")
    from pydantic import TypeAdapter

    tools = anthropic_tools(given=GIVEN)
    TypeAdapter(list[anthropic.types.ToolParam]).validate_python(tools.schemas)
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "Let me look."}]
    blocks += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in ASKED]
    reply = anthropic.types.Message.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "a model",
            "content": blocks,
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    (message,) = tools.answer(reply)
    TypeAdapter(anthropic.types.MessageParam).validate_python(message)
    assert message["role"] == "user"
    first, second, third = message["content"]
    assert [first["tool_use_id"], second["tool_use_id"], third["tool_use_id"]] == ["1", "2", "3"]
    assert [part["type"] for part in first["content"]] == ["text", "image"]
    assert third["is_error"] is True and "is_error" not in first
    with Image.open(io.BytesIO(base64.b64decode(first["content"][1]["source"]["data"]))) as image:
        assert image.size[0] >= 120


def test_gemini() -> None:
    types = pytest.importorskip("google.genai.types")
    tools = gemini_tools(given=GIVEN)
    config = types.GenerateContentConfig(tools=tools.schemas)
    assert len(config.tools[0].function_declarations) == len(TOOLS)
    calls = [{"function_call": {"id": i, "name": n, "args": a}} for i, n, a in ASKED]
    content = {"role": "model", "parts": [{"text": "Let me look."}, *calls]}
    reply = types.GenerateContentResponse.model_validate({"candidates": [{"content": content}]})
    contents = tools.answer(reply)
    checked = [types.Content.model_validate(content) for content in contents]
    assert [content.role for content in checked] == ["user", "user"]
    responses = [part.function_response for part in checked[0].parts]
    assert [response.id for response in responses] == ["1", "2", "3"]
    assert list(responses[0].response) == ["output"] and list(responses[2].response) == ["error"]
    caption, drawing = checked[1].parts
    assert "call 1" in caption.text and drawing.inline_data.mime_type.startswith("image/")
    assert tools.answer(content) == contents
    assert tools.answer(reply.function_calls) == contents


def test_a_drawing_stays_below_the_providers_limit() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (2400, 3200, 3), np.uint8)
    tools = anthropic_tools(given={"noise": noise, "depth": DepthMap(np.ones((24, 32)))})
    call = {"depth_map": "depth", "image": "noise", "overlay": True}
    (message,) = tools.answer([{"type": "tool_use", "id": "1", "name": "depth", "input": call}])
    assert len(message["content"][0]["content"][1]["source"]["data"]) <= 5 * 1024**2


def test_replies_of_another_kind_are_refused() -> None:
    for tools in (openai_tools(), openai_tools("responses"), anthropic_tools(), gemini_tools()):
        with pytest.raises(InputError, match="reply: expected"):
            tools.answer("call the tool depth, please")
