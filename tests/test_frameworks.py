"""smolagents and LangChain run the tools; scripted models stand in for real ones and are shown everything.

The question needs two tools: where are the marked points, and which of them is nearer?
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from perception_programs import DepthMap, InputError, MissingExtraError, PerceptionProgram
from perception_programs.demo.pictures import marked

pytest.importorskip("pydantic")

from perception_programs.integrations import langchain_tools, smolagents_tools
from perception_programs.integrations.toolbox import TOOLS

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "Which of the marked points of street.png is nearer to the camera?"
NEARER = "A is nearer."
BLOCK = re.compile(r"<perceptionprogram>.*?</perceptionprogram>", re.DOTALL)

Call = tuple[str, dict[str, Any]]


@pytest.fixture
def options(motorcycle: Any, tmp_path: Path) -> dict[str, Any]:
    """A real picture with A on the front wheel and B before the bench, and its true disparity."""
    left, _, disparity = motorcycle
    places = {"A": (600, 370), "B": (200, 320)}
    Image.fromarray(marked(left, places)).save(tmp_path / "street.png")
    return {"root": tmp_path, "given": {"measured": DepthMap(disparity, "relative")}}


def programs_in(text: str) -> list[PerceptionProgram]:
    """The programs that a text shows, each of which parses."""
    return [PerceptionProgram.from_text(block) for block in BLOCK.findall(text)]


def picture_at(url: str) -> Image.Image:
    assert url.startswith("data:image/")
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))


def street_of(options: dict[str, Any]) -> Image.Image:
    with Image.open(options["root"] / "street.png") as street:
        return street.convert("RGB")


def looks_like(drawing: Image.Image, options: dict[str, Any]) -> bool:
    """Whether a drawing is one on the picture: of its size, and neither it nor another picture."""
    ground = np.asarray(street_of(options), np.float32)
    if drawing.width != ground.shape[1] or drawing.height < ground.shape[0]:
        return False
    seen = np.asarray(drawing.convert("RGB"), np.float32)[: ground.shape[0]]
    same = (np.abs(seen - ground).max(axis=2) < 60).mean()
    return same > 0.3 and not np.array_equal(seen, ground)


def first_call() -> Call:
    return "find_points", {"image": "street.png"}


def second_call(found: PerceptionProgram) -> Call:
    """What a model does with what it read: it asks for the depth where the points are."""
    points = {item.b: list(item.c[:2]) for item in found.items}
    asked = {"depth_map": "measured", "image": "street.png", "points": points, "overlay": True}
    return "depth", asked


def answer(found: PerceptionProgram) -> str:
    (nearest,) = [item.p for item in found.items if str(item.b).startswith("rank 1 ")]
    return f"{nearest} is nearer."


# smolagents


def scripted(turns: Callable[[list[str]], Any], code: bool = False) -> Any:
    """A model of smolagents that notes each request as an OpenAI-style API would get it.

    Args:
        turns: the reply, given all texts of the request.
        code: whether replies are code; otherwise they are (name, arguments), or a list of these.
    """
    smolagents = pytest.importorskip("smolagents")
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

    class Scripted(smolagents.Model):
        def __init__(self) -> None:
            super().__init__(model_id="scripted")
            self.requests: list[dict[str, Any]] = []

        def generate(self, messages: Any, **kwargs: Any) -> Any:
            request = self._prepare_completion_kwargs(
                messages, convert_images_to_image_urls=True, **kwargs
            )
            self.requests.append(request)
            reply = turns(texts_of(request))
            if code:
                return smolagents.ChatMessage(role="assistant", content=f"<code>\n{reply}\n</code>")
            calls = [
                ChatMessageToolCall(
                    id=f"call_{len(self.requests)}_{n}",
                    type="function",
                    function=ChatMessageToolCallFunction(name=name, arguments=arguments),
                )
                for n, (name, arguments) in enumerate(reply if isinstance(reply, list) else [reply])
            ]
            return smolagents.ChatMessage(role="assistant", content=None, tool_calls=calls)

    return Scripted()


def parts_of(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for message in request["messages"]:
        yield from message["content"]


def texts_of(request: dict[str, Any]) -> list[str]:
    return [part["text"] for part in parts_of(request) if part["type"] == "text"]


def images_of(request: dict[str, Any]) -> list[Image.Image]:
    return [
        picture_at(part["image_url"]["url"])
        for part in parts_of(request)
        if part["type"] == "image_url"
    ]


def two_calls(texts: list[str]) -> Call:
    found = programs_in(texts[-1])
    if not found:
        return first_call()
    if found[-1].modality == "depth":
        return "final_answer", {"answer": answer(found[-1])}
    return second_call(found[-1])


def two_calls_in_code(texts: list[str]) -> str:
    name, arguments = two_calls(texts)
    call = f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return call if name == "final_answer" else f"print({call})"


def agent_of(kind: str, model: Any, **more: Any) -> Any:
    smolagents = importlib.import_module("smolagents")
    return getattr(smolagents, kind)(tools=[], model=model, verbosity_level=-1, **more)


@pytest.mark.parametrize("kind", ["ToolCallingAgent", "CodeAgent"])
def test_an_agent_of_smolagents_sees_text_and_drawing(kind: str, options: dict[str, Any]) -> None:
    model = scripted(two_calls_in_code, code=True) if kind == "CodeAgent" else scripted(two_calls)
    agent = smolagents_tools(**options).add_to(agent_of(kind, model))
    assert agent.run(QUESTION) == NEARER
    start, after_points, after_depth = model.requests
    assert images_of(start) == images_of(after_points) == []
    assert [len(item.c) for item in programs_in(texts_of(after_points)[-1])[-1].items] == [2, 2]
    (drawing,) = images_of(after_depth)
    assert looks_like(drawing, options)
    text = texts_of(after_depth)[-1]
    (program,) = programs_in(text)[-1:]
    assert program.modality == "depth" and [item.p for item in program.items] == ["A", "B"]
    assert text.rstrip().endswith("Image 1 of this step: The drawing of what depth found.")
    assert agent.memory.steps[-1].observations_images is None  # shown once, not with every step


def test_what_a_model_of_smolagents_is_told(options: dict[str, Any]) -> None:
    model = scripted(lambda texts: ("final_answer", {"answer": "done"}))
    agent = smolagents_tools(**options).add_to(agent_of("ToolCallingAgent", model))
    agent.run(QUESTION)
    told = {tool["function"]["name"]: tool["function"] for tool in model.requests[0]["tools"]}
    assert set(told) == {*TOOLS, "final_answer"}
    for name in TOOLS:
        schema = smolagents_tools().toolbox.schemas[name]
        parameters = told[name]["parameters"]
        assert told[name]["description"] == schema.description
        assert list(parameters["properties"]) == list(schema.parameters["properties"])
        assert parameters["required"] == schema.parameters.get("required", [])
        for key, about in parameters["properties"].items():
            whole = schema.parameters["properties"][key]
            assert about["type"] == whole["type"] and whole["description"] in about["description"]


def test_a_list_of_smolagents_tools_answers_in_text_alone(options: dict[str, Any]) -> None:
    pytest.importorskip("smolagents")
    tools = smolagents_tools(**options, only=["find_points", "depth"])
    assert [tool.name for tool in tools] == ["find_points", "depth"]
    assert not any("overlay" in tool.inputs for tool in tools)
    assert tools[1](depth_map="measured", image="street.png", overlay=True).startswith(
        "Error: depth: overlay: drawings are not shown to you here"
    )
    model = scripted(two_calls)
    agent = agent_of("ToolCallingAgent", model)
    agent.tools.update({tool.name: tool for tool in tools})
    assert "find_points" in agent.tools and tools.add_to(agent) is agent
    assert agent.run(QUESTION) == NEARER and len(images_of(model.requests[-1])) == 1


def test_mistakes_are_results_that_a_model_of_smolagents_reads(options: dict[str, Any]) -> None:
    replies: list[Any] = [
        [
            ("find_points", {"image": "nowhere.png"}),
            ("depth", {"depth_map": "measured", "grid": [2, 2], "kind": None}),
        ],
        ("depth", {"depth_map": "measured", "grid": [0, 2], "overlay": True}),
        ("final_answer", {"answer": "done"}),
    ]
    queue = iter(replies)
    model = scripted(lambda texts: next(queue))
    agent = smolagents_tools(**options).add_to(agent_of("ToolCallingAgent", model))
    agent.run(QUESTION)
    said = texts_of(model.requests[1])[-1]
    assert "Error: find_points: image: expected a file under the root" in said
    assert [program.modality for program in programs_in(said)] == ["depth"]
    assert "Error: depth: grid: expected [rows, cols]" in texts_of(model.requests[2])[-1]
    assert str(options["root"]) not in str(model.requests)


def test_drawings_of_calls_at_once_and_of_the_task(options: dict[str, Any]) -> None:
    street = street_of(options)
    queue = iter(
        [
            [
                ("find_points", {"image": "street.png", "overlay": True}),
                ("depth", {"depth_map": "measured", "image": "street.png", "overlay": True}),
            ],
            ("final_answer", {"answer": "done"}),
        ]
    )
    model = scripted(lambda texts: next(queue))
    agent = smolagents_tools(**options).add_to(agent_of("ToolCallingAgent", model))
    mine = [street]
    agent.run(QUESTION, images=mine)
    assert mine == [street]  # smolagents hands the list itself to every step
    said = texts_of(model.requests[1])[-1]
    assert {program.modality for program in programs_in(said)} == {"point-detection", "depth"}
    for number in (2, 3):
        assert f"Image {number} of this step: The drawing of what " in said
    assert len(images_of(model.requests[1])) - len(images_of(model.requests[0])) == 3


def test_pictures_come_as_variables_too(options: dict[str, Any]) -> None:
    """smolagents has pictures in variables: by name in a tool call, themselves in code."""
    street = street_of(options)
    depth = options["given"]["measured"]
    variables = {"photo": street, "near": depth, "pieces": {"A": street.crop((371, 250, 741, 500))}}
    called = scripted(lambda texts: next(calls))
    calls = iter(
        [
            ("depth", {"image": "photo", "depth_map": "near", "grid": [1, 2], "overlay": True}),
            ("final_answer", {"answer": "done"}),
        ]
    )
    agent = smolagents_tools().add_to(agent_of("ToolCallingAgent", called))
    agent.run(QUESTION, additional_args=dict(variables))
    assert programs_in(texts_of(called.requests[-1])[-1]) and images_of(called.requests[-1])
    lines = iter(
        [
            "print(depth(photo, near, grid=(1, 2)))\nprint(jigsaw(photo, pieces))",
            "print(depth(photo, image=photo))\nprint(find_points([photo]))\nprint(find_points(1, 2, 3, 4, 5, 6))",
            "final_answer('done')",
        ]
    )
    coding = scripted(lambda texts: next(lines), code=True)
    smolagents_tools().add_to(agent_of("CodeAgent", coding)).run(
        QUESTION, additional_args=dict(variables)
    )
    said = texts_of(coding.requests[1])[-1]
    assert [program.modality for program in programs_in(said)] == ["depth", "jigsaw"]
    wrong = texts_of(coding.requests[2])[-1]
    assert "Error: depth: image: expected it once, got it by place and by name" in wrong
    assert "Error: find_points: image: expected a valid string" in wrong
    assert "Error: find_points: expected at most 5 arguments, got 6" in wrong


def test_a_path_in_a_variable_stays_below_the_root(options: dict[str, Any]) -> None:
    pytest.importorskip("smolagents")
    outside = options["root"].parent / "outside.png"
    Image.new("RGB", (40, 40)).save(outside)
    find_points = smolagents_tools(**options)[0]
    assert find_points(outside).startswith("Error: find_points: image: expected a file under")
    assert programs_in(find_points(options["root"] / "street.png"))
    assert programs_in(find_points((options["root"] / "street.png").read_bytes()))


# LangChain


def chat(turns: Callable[[list[Any]], Any]) -> Any:
    """A chat model of LangChain that notes its requests and the tools that it is given."""
    pytest.importorskip("langchain_core")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.utils.function_calling import convert_to_openai_tool

    requests: list[list[Any]] = []
    told: list[dict[str, Any]] = []

    class Scripted(GenericFakeChatModel):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
            requests.append(list(messages))
            reply = turns(requests[-1])
            if isinstance(reply, str):
                message = AIMessage(content=reply)
            else:
                calls = reply if isinstance(reply, list) else [reply]
                message = AIMessage(
                    content="",
                    tool_calls=[
                        {"name": name, "args": arguments, "id": f"call_{len(requests)}_{n}"}
                        for n, (name, arguments) in enumerate(calls)
                    ],
                )
            return ChatResult(generations=[ChatGeneration(message=message)])

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            told[:] = [convert_to_openai_tool(tool) for tool in tools]
            return self

    model = Scripted(messages=iter([]))
    return model, requests, told


def two_turns(messages: list[Any]) -> Any:
    results = [message for message in messages if message.type == "tool"]
    found = [program for result in results for program in programs_in(result.text)]
    if not found:
        return first_call()
    return answer(found[-1]) if found[-1].modality == "depth" else second_call(found[-1])


def pictures_in(message: Any) -> list[Image.Image]:
    """The pictures of a message as they would be sent to an OpenAI-style API."""
    from langchain_core.messages import convert_to_openai_messages

    content = convert_to_openai_messages(message)["content"]
    if isinstance(content, str):
        return []
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return [picture_at(url) for url in urls]


def created(model: Any, **more: Any) -> Any:
    return pytest.importorskip("langchain.agents").create_agent(model, **more)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_an_agent_of_langchain_sees_text_and_drawing(how: str, options: dict[str, Any]) -> None:
    model, requests, _ = chat(two_turns)
    agent = created(model, middleware=[langchain_tools(**options).middleware])
    asked = {"messages": [("user", QUESTION)]}
    done = agent.invoke(asked) if how == "sync" else asyncio.run(agent.ainvoke(asked))
    assert done["messages"][-1].content == NEARER
    assert [[message.type for message in request] for request in requests] == [
        ["human"],
        ["human", "ai", "tool"],
        ["human", "ai", "tool", "ai", "tool", "human"],
    ]
    result, turn = requests[2][-2:]
    assert isinstance(result.content, str)
    program = PerceptionProgram.from_text(result.content)
    assert [item.p for item in program.items] == ["A", "B"]
    assert PerceptionProgram.from_dict(result.artifact["program"]).rounded() == program
    assert turn.content[0]["text"] == "The drawing of what depth (call call_2_0) found:"
    (drawing,) = pictures_in(turn)
    assert looks_like(drawing, options)


def test_what_a_model_of_langchain_is_told(options: dict[str, Any]) -> None:
    tools = None
    for overlay in (True, False):
        model, _, told = chat(lambda messages: "done")
        tools = langchain_tools(**options)
        more = {"middleware": [tools.middleware]} if overlay else {"tools": [*tools]}
        created(model, **more).invoke({"messages": [("user", QUESTION)]})
        assert [tool["function"]["name"] for tool in told] == list(TOOLS)
        for tool in told:
            schema = tools.toolbox.schemas[tool["function"]["name"]]
            assert tool["function"]["description"] == schema.description
            wanted = {**schema.parameters["properties"]}
            wanted.pop("overlay") if not overlay else None
            assert tool["function"]["parameters"]["properties"] == wanted
            required = tool["function"]["parameters"].get("required", [])
            assert required == schema.parameters.get("required", [])


def test_drawings_of_calls_at_once_stand_after_all_results(options: dict[str, Any]) -> None:
    calls = [
        ("find_points", {"image": "street.png", "overlay": True}),
        ("depth", {"depth_map": "measured", "grid": [2, 2]}),
        ("depth", {"depth_map": "measured", "image": "street.png", "overlay": True}),
        ("flow", {"first": "street.png"}),
        ("mine", {"count": 3}),
    ]
    replies = iter([calls, "done"])
    model, requests, _ = chat(lambda messages: next(replies))

    def mine(count: int) -> str:
        """A tool of the agent's own."""
        return f"counted to {count}"

    tools = langchain_tools(**options)
    agent = created(model, tools=[mine], middleware=[tools.middleware])
    agent.invoke({"messages": [("user", QUESTION)]})
    *_, points, _, depth, flow, own, turn = requests[1]
    assert [message.type for message in requests[1][2:]] == ["tool"] * 5 + ["human"]
    said = [block["text"] for block in turn.content if block["type"] == "text"]
    assert ["find_points" in said[0], "depth" in said[1], len(said)] == [True, True, 2]
    assert len(pictures_in(turn)) == 2 and own.content == "counted to 3"
    assert points.status == depth.status == "success" and flow.status == "error"
    assert flow.content.startswith("Error: flow: first, second: expected two images")


def test_drawings_beside_the_text_where_they_are_wanted(options: dict[str, Any]) -> None:
    model, requests, _ = chat(two_turns)
    tools = langchain_tools("result", **options)
    agent = created(model, tools=[*tools])
    done = agent.invoke({"messages": [("user", QUESTION)]})
    assert done["messages"][-1].content == NEARER
    result = requests[2][-1]
    assert result.type == "tool" and len(programs_in(result.text)) == 1
    (drawing,) = pictures_in(result)
    assert looks_like(drawing, options)


def test_a_checkpoint_keeps_the_conversation(options: dict[str, Any]) -> None:
    memory = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver()
    model, requests, _ = chat(
        lambda messages: "again" if len(messages) > 6 else two_turns(messages)
    )
    tools = langchain_tools(**options)
    agent = created(model, middleware=[tools.middleware], checkpointer=memory)
    thread = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": [("user", QUESTION)]}, thread)
    done = agent.invoke({"messages": [("user", "And which is farther?")]}, thread)
    assert done["messages"][-1].content == "again"
    assert (
        sum(len(pictures_in(message)) for message in requests[-1] if message.type == "human") == 1
    )


def test_mistakes_are_results_that_a_model_of_langchain_reads(options: dict[str, Any]) -> None:
    pytest.importorskip("langchain_core")
    find_points, depth = langchain_tools(**options, only=["find_points", "depth"])
    for tool, arguments, said in (
        (find_points, {"image": "nowhere.png"}, "image: expected a file under the root"),
        (find_points, {"imgae": "street.png"}, "imgae: no such argument; expected image"),
        (find_points, {}, "image: expected it, got nothing"),
        (depth, {"depth_map": "measured", "overlay": True}, "overlay: drawings are not shown"),
    ):
        call = {"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"}
        message = tool.invoke(call)
        assert message.status == "error" and message.content.startswith(f"Error: {tool.name}: ")
        assert said in message.content and str(options["root"]) not in message.content


# Both


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from perception_programs.integrations import frameworks

    monkeypatch.setattr(frameworks, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"smolagents: .*perception-programs\[smolagents\]"):
        smolagents_tools()
    with pytest.raises(MissingExtraError, match=r"perception-programs\[langchain\]"):
        langchain_tools()
    with pytest.raises(InputError, match="drawings: expected result or None, got 'user'"):
        langchain_tools("user")  # type: ignore[arg-type]


def test_options_are_the_toolbox_s() -> None:
    for library, make in (("smolagents", smolagents_tools), ("langchain_core", langchain_tools)):
        if importlib.util.find_spec(library) is None:
            continue
        with pytest.raises(InputError, match="only: expected names among"):
            make(only=["dephts"])


@pytest.mark.parametrize("library", ["smolagents", "langchain"])
def test_the_page_s_code_runs(
    library: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of the page that need the library, with a scripted model as `model`."""
    page = (ROOT / "docs" / "agent-frameworks.md").read_text(encoding="utf-8")
    before, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    (section,) = [one for one in sections if one.lower().startswith(library)]
    model = (
        scripted(two_calls_in_code, code=True) if library == "smolagents" else chat(two_turns)[0]
    )
    created(model) if library == "langchain" else None
    monkeypatch.chdir(options["root"])
    namespace: dict[str, Any] = {"__name__": "__main__", "model": model}
    for code in re.findall(
        r"^```py(?:thon)?\n(.*?)^```$", before + section, re.MULTILINE | re.DOTALL
    ):
        exec(compile(code, "agent-frameworks.md", "exec"), namespace)
    assert namespace["answer"] == NEARER
