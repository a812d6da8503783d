"""Perception programs where an agent calls them: tool schemas, an MCP server."""

from .schemas import ProviderTools, anthropic_tools, gemini_tools, openai_tools
from .toolbox import Limits, Toolbox, ToolResult

__all__ = [
    "Limits",
    "ProviderTools",
    "ToolResult",
    "Toolbox",
    "anthropic_tools",
    "gemini_tools",
    "openai_tools",
]
