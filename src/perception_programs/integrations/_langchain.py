"""The tools as LangChain runs them, and the middleware that shows their drawings to every model."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..chat._images import EncodedImage
from ..errors import MissingExtraError, ToolError, install_command
from ._offers import called, parameters
from .toolbox import Toolbox, caption

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import BaseMessage, HumanMessage
    from langchain_core.tools import StructuredTool

__all__ = ["LangchainTools"]

Block = dict[str, Any]


class LangchainTools(list["StructuredTool"]):
    """The tools as a list of LangChain's.

    Attributes:
        toolbox: the tools themselves.
    """

    def __init__(self, toolbox: Toolbox, drawings: str | None = None) -> None:
        self.toolbox = toolbox
        beside = drawings == "result"
        super().__init__(_tools(toolbox, draws=beside, beside=beside))

    @property
    def middleware(self) -> AgentMiddleware[Any, Any]:
        """A middleware for `create_agent` that brings the tools, with `overlay`, and shows the drawings.

        They stand in a user turn after the tools' messages, once for all calls of a reply, and stay in
        the conversation. An agent that has it needs the list no more.

        Raises:
            MissingExtraError: langchain is not installed, only its core.
        """
        try:
            from langchain.agents.middleware import AgentMiddleware
        except ImportError as error:
            raise MissingExtraError(
                f"the middleware needs langchain: {install_command('langchain')}"
            ) from error
        tools = _tools(self.toolbox, draws=True, beside=False)

        class PerceptionPrograms(AgentMiddleware):  # type: ignore[misc]
            """Perception programs: the tools, and their drawings where the model looks."""

            def __init__(self) -> None:
                super().__init__()
                self.tools = tools

            def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
                turn = _turn(state["messages"], {tool.name for tool in tools})
                return None if turn is None else {"messages": [turn]}

        return PerceptionPrograms()


def _tools(toolbox: Toolbox, *, draws: bool, beside: bool) -> list[StructuredTool]:
    """A tool of LangChain for each.

    Args:
        toolbox: the tools.
        draws: whether they know `overlay`.
        beside: whether a drawing stands in the message's content, beside the text.
    """
    return [_tool(toolbox, name, draws, beside) for name in toolbox.schemas]


def _tool(toolbox: Toolbox, name: str, draws: bool, beside: bool) -> StructuredTool:
    from langchain_core.tools import StructuredTool, ToolException

    def run(**arguments: Any) -> tuple[str | list[Block], dict[str, Any]]:
        try:
            result = called(toolbox, name, arguments, draws)
        except ToolError as error:
            raise ToolException(f"Error: {error}") from error
        picture = None if result.drawing is None else _picture(result.drawing)
        content: str | list[Block] = result.text
        if beside and picture is not None:
            content = [{"type": "text", "text": result.text}, picture]
        # Plain data, so that a checkpoint can keep it.
        return content, {"program": result.data, "drawing": picture}

    return StructuredTool.from_function(
        run,
        name=name,
        description=toolbox.schemas[name].description,
        args_schema=parameters(toolbox, name, draws),
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _picture(drawing: EncodedImage) -> Block:
    """A picture as LangChain's content block."""
    data = base64.b64encode(drawing.data).decode("ascii")
    return {"type": "image", "base64": data, "mime_type": drawing.media_type}


def _turn(messages: Sequence[BaseMessage], names: Iterable[str]) -> HumanMessage | None:
    """The user turn with the drawings of the tools' messages at the end; None where there are none."""
    from langchain_core.messages import HumanMessage, ToolMessage

    blocks: list[Block] = []
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            break
        artifact = message.artifact
        ours = message.name in names and isinstance(artifact, Mapping)
        if ours and artifact.get("drawing"):
            said = caption(str(message.name), message.tool_call_id)
            blocks = [{"type": "text", "text": said}, artifact["drawing"], *blocks]
    return HumanMessage(content=blocks) if blocks else None
