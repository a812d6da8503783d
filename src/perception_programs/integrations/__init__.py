"""Perception programs where an agent calls them: tool schemas, agent frameworks, an MCP server."""

from .frameworks import langchain_tools, smolagents_tools
from .schemas import ProviderTools, anthropic_tools, gemini_tools, openai_tools
from .toolbox import Limits, Toolbox, ToolResult

__all__ = [
    "Limits",
    "ProviderTools",
    "ToolResult",
    "Toolbox",
    "anthropic_tools",
    "gemini_tools",
    "langchain_tools",
    "openai_tools",
    "smolagents_tools",
]
