"""What a model is told of a tool, and the check of what it sends: made of a signature and its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from ..errors import InputError, MissingExtraError, install_command

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Schema", "schema_of"]

_SECTION = re.compile(r"^(Args|Raises|Returns):$", re.MULTILINE)
_ARGUMENT = re.compile(r"^    (\w+): ", re.MULTILINE)


@dataclass(frozen=True)
class Schema:
    """A tool as it is described to a model.

    Attributes:
        description: what it is for.
        parameters: the JSON Schema of its arguments: an object without references, whose optional
            keys may be left out.
        model: the same as a type, which checks them.
    """

    description: str
    parameters: dict[str, Any]
    model: type[BaseModel] = field(repr=False)

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that were given, each of its type.

        Raises:
            InputError: one is missing, unknown or of another type; the message names each.
        """
        from pydantic import ValidationError

        try:
            checked = self.model.model_validate(arguments)
        except ValidationError as error:
            wrong = [self._wrong(one) for one in error.errors(include_url=False)]
            raise InputError("; ".join(dict.fromkeys(wrong))) from None
        return {name: getattr(checked, name) for name in checked.model_fields_set}

    def _wrong(self, error: Mapping[str, Any]) -> str:
        place = ".".join(str(part)[:40] for part in error["loc"])
        if error["type"] == "extra_forbidden":
            return f"{place}: no such argument; expected {', '.join(self.parameters['properties'])}"
        if error["type"] == "missing":
            return f"{place}: expected it, got nothing"
        came = repr(error["input"])
        said = str(error["msg"]).removeprefix("Input should be ")
        return f"{place}: expected {said}, got {came if len(came) <= 80 else came[:80] + '…'}"


@cache
def schema_of(*functions: Callable[..., Any]) -> Schema:
    """The schema of a tool that hands on what one function returns to the next.

    The first parameter of each is the caller's or the last one's result, so a model is not told of it;
    the others are its arguments. What the tool is for is said by the first function.

    Raises:
        MissingExtraError: pydantic is not installed.
    """
    try:
        from pydantic import ConfigDict, Field, create_model
    except ImportError as error:
        raise MissingExtraError(
            f"tool schemas need pydantic: {install_command('tools')}"
        ) from error
    fields: dict[str, Any] = {}
    for function in functions:
        said = _arguments(function)
        hints = get_type_hints(function, include_extras=True)
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
            about = " ".join([said[name], *_kinds(hints[name])])
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[name] = (hints[name], Field(default, description=about))
    name = functions[0].__name__
    config = ConfigDict(extra="forbid", protected_namespaces=())
    model = create_model(f"{name}_arguments", __config__=config, **fields)
    return Schema(_description(functions[0]), _plain(model.model_json_schema()), model)


def _docstring(function: Callable[..., Any]) -> list[str]:
    """What stands before, in and after each section."""
    return _SECTION.split(inspect.getdoc(function) or "")


def _description(function: Callable[..., Any]) -> str:
    """The paragraphs before the sections, each on one line."""
    paragraphs = _docstring(function)[0].strip().split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _arguments(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring says of each argument, on one line."""
    sections = _docstring(function)
    text = sections[sections.index("Args") + 1] if "Args" in sections else ""
    parts = _ARGUMENT.split(text)
    return {
        name: " ".join(said.split()) for name, said in zip(parts[1::2], parts[2::2], strict=True)
    }


def _kinds(hint: Any) -> list[str]:
    """What is said of a kind of argument by annotations anywhere in its type."""
    said = [text for text in getattr(hint, "__metadata__", ()) if isinstance(text, str)]
    for inner in get_args(hint):
        said += _kinds(inner)
    return said


def _plain(schema: Any) -> Any:
    """A schema as every provider takes it: no titles, and null neither as a type nor as a default."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: {name: _plain(part) for name, part in value.items()}
        if key == "properties"
        else _plain(value)
        for key, value in schema.items()
        if key != "title" and not (key == "default" and value is None)
    }
    some = [part for part in kept.get("anyOf", ()) if part != {"type": "null"}]
    if "anyOf" in kept and len(some) == 1:
        del kept["anyOf"]
        kept = some[0] | kept
    return kept
