"""The tools for agents that smolagents or LangChain run: each framework's own kind of tool."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from ..errors import InputError, MissingExtraError, install_command
from .toolbox import Toolbox

if TYPE_CHECKING:
    from ._langchain import LangchainTools
    from ._smolagents import SmolagentsTools

__all__ = ["langchain_tools", "smolagents_tools"]


def smolagents_tools(**options: Any) -> SmolagentsTools:
    """The tools for an agent of smolagents: a list of its `Tool`s, and a way into an agent that exists.

    The list is what an agent is made with; its tools answer with the program's text. `add_to(agent)`
    gives an agent tools that draw too: it shows the drawings to the model with the step's observations.

    Args:
        options: what `Toolbox` takes: `root`, `given`, `experts`, `limits`, `only`.

    Raises:
        InputError: what `Toolbox` refuses.
        MissingExtraError: smolagents or pydantic is not installed.
    """
    if find_spec("smolagents") is None:
        raise MissingExtraError(
            f"smolagents_tools needs smolagents: {install_command('smolagents')}"
        )
    from ._smolagents import SmolagentsTools

    return SmolagentsTools(Toolbox(**options))


def langchain_tools(drawings: Literal["result"] | None = None, **options: Any) -> LangchainTools:
    """The tools for LangChain and LangGraph: a list of its tools, and a middleware for `create_agent`.

    The list is what an agent, a `ToolNode` or `bind_tools` takes; its tools answer with the program's
    text, and with the program as data in the message's artifact. `middleware` brings tools that draw
    too, and shows the drawings in a user turn after the tools' messages, where every model that sees
    pictures looks.

    Args:
        drawings: `result` lets the tools of the list draw too and puts a drawing beside the text of the
            tool's message, which some models see (those of Anthropic, for one) and others refuse.
        options: what `Toolbox` takes: `root`, `given`, `experts`, `limits`, `only`.

    Raises:
        InputError: another place for drawings, or what `Toolbox` refuses.
        MissingExtraError: LangChain or pydantic is not installed.
    """
    if drawings not in ("result", None):
        raise InputError(f"drawings: expected result or None, got {drawings!r}")
    if find_spec("langchain_core") is None:
        raise MissingExtraError(f"langchain_tools needs langchain: {install_command('langchain')}")
    from ._langchain import LangchainTools

    return LangchainTools(Toolbox(**options), drawings)
