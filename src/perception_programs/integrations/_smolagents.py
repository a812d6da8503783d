"""The tools as smolagents runs them: a call gives text, and a step's drawings go to the model with it."""

from __future__ import annotations

import base64
import os
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from ..chat._images import EncodedImage
from ..errors import ToolError
from ..images import to_pil
from ._inputs import Picture, ResultFile
from ._offers import called, parameters
from .toolbox import TOOLS, Toolbox, caption

if TYPE_CHECKING:
    from smolagents import ActionStep, Tool

__all__ = ["SmolagentsTools"]

Agent = TypeVar("Agent", bound=Any)

_VARIABLE = "Or a variable that holds it."

Drawings = deque[tuple[str, EncodedImage]]
"""What was drawn and is yet to be shown, each with the name of its tool."""


class SmolagentsTools(list["Tool"]):
    """The tools as a list of smolagents `Tool`s.

    Attributes:
        toolbox: the tools themselves.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox
        super().__init__(_tool(toolbox, name) for name in toolbox.schemas)

    def add_to(self, agent: Agent) -> Agent:
        """Give an agent the tools, with `overlay`, and show its model what they draw.

        A drawing is among the images of the step in which it was made, and so in the agent's memory, as
        the images of other steps are. Tools of the same names that the agent has are replaced.

        Args:
            agent: a `ToolCallingAgent`, a `CodeAgent`, or another of smolagents.

        Returns:
            The agent.
        """
        from smolagents import ActionStep

        # A store for each agent: of two that run at once, neither is shown the other's drawings.
        drawings: Drawings = deque()
        agent.tools.update({tool.name: _tool(self.toolbox, tool.name, drawings) for tool in self})
        agent.step_callbacks.register(ActionStep, lambda step: _show(step, drawings))
        return agent


def _tool(toolbox: Toolbox, name: str, drawings: Drawings | None = None) -> Tool:
    """One tool; what it draws waits in `drawings` to be shown, and without these it does not draw."""
    from smolagents import Tool

    class ProgramTool(Tool):  # type: ignore[misc]
        """A tool that writes a perception program."""

        output_type = "string"
        skip_forward_signature_validation = True  # the toolbox checks the arguments

        def __init__(self) -> None:
            self.name = name
            self.description = toolbox.schemas[name].description
            self.inputs = _inputs(parameters(toolbox, name, drawings is not None), _objects(name))
            super().__init__()

        def forward(self, *args: Any, **kwargs: Any) -> str:
            """The program as text, or what is wrong with the call."""
            # An error is text too: raised, it would take with it the results of the calls beside it.
            try:
                arguments = _named(name, self.inputs, args, kwargs)
                return _text(toolbox, name, arguments, drawings)
            except ToolError as error:
                return f"Error: {error}"

    return ProgramTool()


def _text(
    toolbox: Toolbox, name: str, arguments: Mapping[str, Any], drawings: Drawings | None
) -> str:
    """The text of the program that a call makes; its drawing is put into the store."""
    plain, given = _plain(arguments, _objects(name))
    result = called(toolbox, name, plain, drawings is not None, given)
    if result.drawing is not None and drawings is not None:
        drawings.append((name, result.drawing))
    return result.text


def _show(step: ActionStep, drawings: Drawings) -> None:
    """Put the drawings among the images of a step, and say beside its text what they are."""
    shown = [drawings.popleft() for _ in range(len(drawings))]
    if not shown:
        return
    # A new list: the one that is there may be the task's, which all steps share.
    earlier = list(step.observations_images or [])
    step.observations_images = [*earlier, *(to_pil(drawing.data) for _, drawing in shown)]
    said = [
        f"Image {number} of this step: {caption(name).removesuffix(':')}."
        for number, (name, _) in enumerate(shown, len(earlier) + 1)
    ]
    step.observations = "\n".join([*filter(None, [step.observations]), *said])


def _objects(name: str) -> set[str]:
    """The arguments of a tool that are pictures or results, which here may come as objects."""
    hints = get_type_hints(TOOLS[name], include_extras=True)
    return {key for key, hint in hints.items() if _holds_object(hint)}


def _holds_object(hint: Any) -> bool:
    return hint in (Picture, ResultFile) or any(_holds_object(part) for part in get_args(hint))


def _inputs(schema: Mapping[str, Any], objects: set[str]) -> dict[str, dict[str, Any]]:
    """The arguments as smolagents has them: what may be left out is nullable."""
    needed = schema.get("required", ())
    return {
        key: {
            **about,
            # smolagents checks types by itself, and has none for "a path or a picture".
            "type": "any" if key in objects and about["type"] == "string" else about["type"],
            "description": _said(about, key in objects, key in needed),
            **({} if key in needed else {"nullable": True}),
        }
        for key, about in schema["properties"].items()
    }


def _said(about: Mapping[str, Any], is_object: bool, needed: bool) -> str:
    """What an argument is, with all that the prompt of a `CodeAgent` does not take from a schema."""
    said = [about["description"]]
    said += [_VARIABLE] if is_object else []
    said += [f"One of: {', '.join(about['enum'])}."] if "enum" in about else []
    return " ".join(said if needed else [*said, "Optional."])


def _named(
    name: str, inputs: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments by name, without those that are None: smolagents has models leave out by null.

    Raises:
        ToolError: there are more than the tool has, or one comes twice.
    """
    if len(args) > len(inputs):
        raise ToolError(f"{name}: expected at most {len(inputs)} arguments, got {len(args)}")
    by_place = dict(zip(inputs, args, strict=False))
    twice = [key for key in by_place if key in kwargs]
    if twice:
        raise ToolError(f"{name}: {twice[0]}: expected it once, got it by place and by name")
    return {key: value for key, value in {**by_place, **kwargs}.items() if value is not None}


def _plain(
    arguments: Mapping[str, Any], objects: set[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments with a name in place of each object, and the objects by these names."""
    given: dict[str, Any] = {}

    def named(value: Any, what: str) -> Any:
        if isinstance(value, dict):
            return {key: named(part, f"{what}, {key}") for key, part in value.items()}
        if isinstance(value, os.PathLike):
            return os.fspath(value)  # to be looked for where paths are, under the root
        if isinstance(value, (bytes, bytearray)):
            return base64.b64encode(value).decode("ascii")  # to be decoded within the limits
        if isinstance(value, (str, int, float, list)):
            return value
        given[f"({what})"] = value
        return f"({what})"

    plain = {
        key: named(value, f"the variable of {key}") if key in objects else value
        for key, value in arguments.items()
    }
    return plain, given
