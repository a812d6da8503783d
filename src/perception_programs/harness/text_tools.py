"""Tools for models that have no way of their own to ask for them: a block at the end of a reply."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..chat import ChatModel, Message, Reply, Text, ToolCall, ToolSpec
from .rendering import Templates

__all__ = ["TextTools", "without_tools"]

_BLOCK = re.compile(r"^```tool[ \t]*\n(.*?)(?:^```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


class TextTools:
    """A model that asks for tools in its text, as one that asks for them natively.

    The tools are described at the end of its first message; what they answer is said in user turns.

    Args:
        model: any model.
        templates: with the text `text-tools.txt`, which tells how to ask.
    """

    def __init__(self, model: ChatModel, templates: Templates) -> None:
        self.name = model.name
        self._model = model
        self._templates = templates

    def settings(self) -> Mapping[str, Any]:
        """Those of the model, and that it asks in text."""
        return {"text_tools": True, **self._model.settings()}

    async def answer(self, messages: Sequence[Message]) -> Reply:
        """The model's answer."""
        return await self._model.answer(without_tools(messages))

    async def answer_or_call(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """The model's answer, or the tool that the block at its end asks for."""
        described = "\n".join(
            json.dumps(
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
                ensure_ascii=False,
            )
            for tool in tools
        )
        first, *rest = without_tools(messages)
        told = Text(self._templates.fill("text-tools", tools=described), kind="tools")
        reply = await self._model.answer([Message(first.role, (*first.parts, told)), *rest])
        return _with_call(reply, number=len(messages))

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _with_call(reply: Reply, number: int) -> Reply:
    """The reply with the call that its text holds, if it does; what stands after it is dropped."""
    block = _BLOCK.search(reply.text)
    if block is None:
        return reply
    name, arguments = "", block[1].strip()
    try:
        asked = json.loads(arguments)
        name, arguments = str(asked["name"]), json.dumps(asked["arguments"])
    except (ValueError, TypeError, KeyError, RecursionError):
        pass  # the loop answers a call of no name, or of broken arguments
    call = ToolCall(f"text-{number}", name, arguments)
    return Reply(
        reply.text[: block.start()].rstrip(), reply.usage, reply.model, "tool_calls", (call,)
    )


def without_tools(messages: Sequence[Message]) -> list[Message]:
    """The conversation in system, user and assistant turns, those of one role in a row as one."""
    plain: list[Message] = []
    for message in messages:
        role, parts = message.role, list(message.parts)
        if message.role == "tool":
            role = "user"
        for call in message.calls:
            asked = _asked(call)
            parts.append(Text(f"```tool\n{asked}\n```", kind="call"))
        if plain and plain[-1].role == role:
            parts = [*plain.pop().parts, *parts]
        plain.append(Message(role, tuple(parts)))
    return plain


def _asked(call: ToolCall) -> str:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return call.arguments
    return json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False)
