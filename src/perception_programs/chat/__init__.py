"""Language models that read text and pictures: any provider, a local one, or a script."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from .litellm_model import LiteLLMModel, estimate_cost
from .messages import Message, Part, Picture, Role, Text, ToolCall
from .model import ChatError, ChatModel, Reply, ToolModel, ToolSpec, Usage
from .retry import ask
from .scripted import ScriptedModel

__all__ = [
    "ChatError",
    "ChatModel",
    "LiteLLMModel",
    "LocalModel",
    "Message",
    "Part",
    "Picture",
    "Reply",
    "Role",
    "ScriptedModel",
    "Text",
    "ToolCall",
    "ToolModel",
    "ToolSpec",
    "Usage",
    "ask",
    "estimate_cost",
    "open_model",
]


_PLACES = {"local": "FOLDER or a name on the hub", "scripted": "FILE"}
"""What follows a kind of model and its colon."""


def open_model(spec: str, **options: Any) -> ChatModel:
    """A model by what a person writes on a command line.

    Args:
        spec: `local:FOLDER_OR_HUB_NAME`, a model of transformers on this machine;
            `scripted:FILE`, answers from a file; or a name that LiteLLM understands
            (`gpt-5-mini`, `gemini/gemini-2.5-pro`), with `base_url` the name that a server of
            your own gives its model.
        options: what the class of the model takes (`LocalModel`, `LiteLLMModel`).

    Raises:
        InputError: no such model.
        MissingExtraError: the library that it needs is not installed.
    """
    kind, _, place = spec.partition(":")
    if kind in _PLACES and not place.strip():
        raise InputError(f"model: expected {kind}:{_PLACES[kind]}, got {spec!r}")
    if kind == "local":
        from .local import LocalModel

        return LocalModel(place, **options)
    if kind == "scripted":
        if options:
            raise InputError(f"model: a script takes no options, got {', '.join(sorted(options))}")
        return ScriptedModel.read(place)
    return LiteLLMModel(spec, **options)


def __getattr__(name: str) -> Any:
    if name == "LocalModel":
        from .local import LocalModel

        return LocalModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
