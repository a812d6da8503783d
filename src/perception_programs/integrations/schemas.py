"""The tools for the APIs of OpenAI, Anthropic and Gemini: what a request offers, what answers a reply.

Where an API lets a tool's result hold pictures, the drawing of a program stands there; where it does not,
it stands in a user turn after the results, which every model that sees pictures looks at.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..chat._images import EncodedImage
from ..errors import InputError, ToolError
from .toolbox import Toolbox, ToolResult, caption

__all__ = ["ProviderTools", "anthropic_tools", "gemini_tools", "openai_tools"]


@dataclass(frozen=True)
class _Answer:
    """One call and what came of it."""

    id: str | None
    name: str
    text: str
    drawing: EncodedImage | None = None
    failed: bool = False


@dataclass(frozen=True)
class ProviderTools:
    """The tools in the shape of one provider's API.

    Attributes:
        schemas: what goes into a request as its tools.
        toolbox: the tools themselves, for calls of other shapes.
    """

    schemas: list[dict[str, Any]]
    toolbox: Toolbox
    _calls: Callable[[Any], Iterable[tuple[str | None, str, Any]]] = field(repr=False)
    _messages: Callable[[Sequence[_Answer]], list[dict[str, Any]]] = field(repr=False)

    def answer(self, reply: Any) -> list[dict[str, Any]]:
        """The messages that answer the tool calls of a model's reply; none where it called nothing.

        Each call is answered, also one that failed or that names a tool which does not exist: the
        model reads why, and may try again.

        Args:
            reply: the model's message, as the provider's own client returns it or as plain data, or a
                list of its calls (where it also called tools of your own, those that are for these).

        Returns:
            What goes after that message into the next request.

        Raises:
            InputError: it is no reply of this provider's.
        """
        answers = [self._answer(*call) for call in self._calls(reply)]
        return self._messages(answers) if answers else []

    def _answer(self, call_id: str | None, name: str, arguments: Any) -> _Answer:
        try:
            result: ToolResult = self.toolbox.call(name, _object(arguments))
        except ToolError as error:
            return _Answer(call_id, name, f"Error: {error}", failed=True)
        return _Answer(call_id, name, result.text, result.drawing)


def openai_tools(api: Literal["chat", "responses"] = "chat", **options: Any) -> ProviderTools:
    """The tools for OpenAI's Chat Completions or Responses API, and for every server that speaks them.

    A drawing goes into a user turn after the tools' messages (`chat`), or into the call's output
    (`responses`).

    Args:
        api: which of the two.
        options: what `Toolbox` takes: `root`, `given`, `experts`, `limits`, `only`.

    Raises:
        InputError: another API, or what `Toolbox` refuses.

    >>> tools = openai_tools(only=["find_points"])
    >>> tools.schemas[0]["function"]["parameters"]["required"]
    ['image']
    """
    toolbox = Toolbox(**options)
    described = [
        {"name": name, "description": schema.description, "parameters": schema.parameters}
        for name, schema in toolbox.schemas.items()
    ]
    if api == "chat":
        wrapped = [{"type": "function", "function": one} for one in described]
        return ProviderTools(wrapped, toolbox, _chat_calls, _chat_messages)
    if api == "responses":
        # Strict schemas know no optional keys.
        flat = [{"type": "function", "strict": False, **one} for one in described]
        return ProviderTools(flat, toolbox, _responses_calls, _responses_items)
    raise InputError(f"api: expected chat or responses, got {api!r}")


def anthropic_tools(**options: Any) -> ProviderTools:
    """The tools for Anthropic's Messages API. A drawing stands in the tool's result.

    Args:
        options: what `Toolbox` takes: `root`, `given`, `experts`, `limits`, `only`.

    Raises:
        InputError: what `Toolbox` refuses.
    """
    toolbox = Toolbox(**options)
    schemas = [
        {"name": name, "description": schema.description, "input_schema": schema.parameters}
        for name, schema in toolbox.schemas.items()
    ]
    return ProviderTools(schemas, toolbox, _anthropic_calls, _anthropic_messages)


def gemini_tools(**options: Any) -> ProviderTools:
    """The tools for the Gemini API: `schemas` is what `GenerateContentConfig` takes as its tools.

    A drawing goes into a user turn after the functions' responses, because not every Gemini sees
    pictures inside them.

    Args:
        options: what `Toolbox` takes: `root`, `given`, `experts`, `limits`, `only`.

    Raises:
        InputError: what `Toolbox` refuses.
    """
    toolbox = Toolbox(**options)
    functions = [
        {
            "name": name,
            "description": schema.description,
            "parameters_json_schema": schema.parameters,
        }
        for name, schema in toolbox.schemas.items()
    ]
    schemas = [{"function_declarations": functions}]
    return ProviderTools(schemas, toolbox, _gemini_calls, _gemini_contents)


def _object(arguments: Any) -> Any:
    """Arguments as data; some APIs have them as the JSON that the model wrote."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolError(f"arguments: expected JSON: {error}") from None


def _of(thing: Any, name: str) -> Any:
    """A field of plain data or of a client's object; None where it has none."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _listed(reply: Any, *path: str) -> list[Any]:
    """The list that a reply holds at `path`, or the reply itself if it is a list."""
    found = reply
    if not isinstance(reply, (list, tuple)):
        for name in path:
            found = _of(found, name)
    if found is None and (isinstance(reply, Mapping) or hasattr(reply, path[-1])):
        return []
    if not isinstance(found, (list, tuple)):
        raise InputError(
            f"reply: expected a message with {'.'.join(path)}, or a list of calls, got "
            f"{type(reply).__name__}"
        )
    return list(found)


def _chat_calls(reply: Any) -> Iterable[tuple[str | None, str, Any]]:
    for call in _listed(reply, "tool_calls"):
        function = _of(call, "function")
        yield _of(call, "id"), _of(function, "name"), _of(function, "arguments")


def _chat_messages(answers: Sequence[_Answer]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": answer.id, "content": answer.text} for answer in answers
    ]
    parts: list[dict[str, Any]] = []
    for answer in answers:
        if answer.drawing:
            parts.append({"type": "text", "text": caption(answer.name, answer.id)})
            parts.append({"type": "image_url", "image_url": {"url": answer.drawing.url}})
    return [*messages, {"role": "user", "content": parts}] if parts else messages


def _responses_calls(reply: Any) -> Iterable[tuple[str | None, str, Any]]:
    for item in _listed(reply, "output"):
        if _of(item, "type") == "function_call":
            yield _of(item, "call_id"), _of(item, "name"), _of(item, "arguments")


def _responses_items(answers: Sequence[_Answer]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function_call_output",
            "call_id": answer.id,
            "output": answer.text
            if answer.drawing is None
            else [
                {"type": "input_text", "text": answer.text},
                {"type": "input_image", "image_url": answer.drawing.url, "detail": "auto"},
            ],
        }
        for answer in answers
    ]


def _anthropic_calls(reply: Any) -> Iterable[tuple[str | None, str, Any]]:
    for block in _listed(reply, "content"):
        if _of(block, "type") == "tool_use":
            yield _of(block, "id"), _of(block, "name"), _of(block, "input")


def _anthropic_messages(answers: Sequence[_Answer]) -> list[dict[str, Any]]:
    blocks = []
    for answer in answers:
        content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}]
        if answer.drawing:
            source = {
                "type": "base64",
                "media_type": answer.drawing.media_type,
                "data": base64.b64encode(answer.drawing.data).decode("ascii"),
            }
            content.append({"type": "image", "source": source})
        block = {"type": "tool_result", "tool_use_id": answer.id, "content": content}
        blocks.append(block | ({"is_error": True} if answer.failed else {}))
    return [{"role": "user", "content": blocks}]


def _gemini_calls(reply: Any) -> Iterable[tuple[str | None, str, Any]]:
    candidates = _of(reply, "candidates")
    content = _of(candidates[0], "content") if candidates else _of(reply, "content") or reply
    for part in _listed(content, "parts"):
        call = _of(part, "function_call") or (part if _of(part, "args") is not None else None)
        if call is not None:
            yield _of(call, "id"), _of(call, "name"), _of(call, "args")


def _gemini_contents(answers: Sequence[_Answer]) -> list[dict[str, Any]]:
    responses, drawings = [], []
    for answer in answers:
        response: dict[str, Any] = {"name": answer.name}
        response |= {} if answer.id is None else {"id": answer.id}
        response["response"] = {"error" if answer.failed else "output": answer.text}
        responses.append({"function_response": response})
        if answer.drawing:
            data = {"mime_type": answer.drawing.media_type, "data": answer.drawing.data}
            drawings += [{"text": caption(answer.name, answer.id)}, {"inline_data": data}]
    contents: list[dict[str, Any]] = [{"role": "user", "parts": responses}]
    return [*contents, {"role": "user", "parts": drawings}] if drawings else contents
