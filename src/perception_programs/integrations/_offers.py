"""What an agent framework is told of a tool, and the call of it, with drawings or without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ToolError
from .toolbox import Toolbox, ToolResult

__all__ = ["called", "parameters"]

_OVERLAY = "overlay"


def parameters(toolbox: Toolbox, name: str, draws: bool) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, without `overlay` where drawings reach nobody."""
    schema = toolbox.schemas[name].parameters
    kept = {key: value for key, value in schema["properties"].items() if draws or key != _OVERLAY}
    return {**schema, "properties": kept}


def called(
    toolbox: Toolbox,
    name: str,
    arguments: Mapping[str, Any],
    draws: bool,
    given: Mapping[str, Any] | None = None,
) -> ToolResult:
    """What `Toolbox.call` returns.

    Raises:
        ToolError: as there; or a drawing is asked for where it reaches nobody.
    """
    if not draws and arguments.get(_OVERLAY):
        raise ToolError(f"{name}: {_OVERLAY}: drawings are not shown to you here; call without it")
    return toolbox.call(name, arguments, given)
