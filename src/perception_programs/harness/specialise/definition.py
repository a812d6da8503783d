"""The definition of a composed tool: a sequence of steps as data, checked before anything runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._arrays import describe
from ...chat.schema import schema_of
from ...errors import InputError
from ..capability import Capability
from ..rendering import Templates, blanks

__all__ = ["REFERENCE", "TYPES", "Definition", "Step"]

TYPES: Mapping[str, Any] = {
    "handle": str,
    "handles": list[str],
    "text": str,
    "texts": list[str],
    "number": float,
    "integer": int,
    "box": list[float],
}
"""What the arguments of a composed tool can be."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
REFERENCE = re.compile(r"\$(?:(?P<dollar>\$)|(?P<name>[a-z]\w*)(?:\.(?P<key>[a-z]\w*))?)?")
"""A place in an argument of a step: an argument of the tool, or `step.key`; or `$$` for a `$`."""

_MOST_STEPS, _MOST_ARGUMENTS, _LONGEST = 8, 8, 4000
_KEYS = ("name", "version", "description", "arguments", "steps", "found")
_NONE = "The step $step, which is $tool, found nothing. What the steps before it made is kept."
_UNUSABLE = (
    "The step $step, which is $tool, gave nothing that can be used: $why. Do not guess from it."
)


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        name: what later steps call it.
        tool: the capability.
        arguments: as its own, with `$argument` and `$step.key` where a value comes from elsewhere.
    """

    name: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Definition:
    """A composed tool, checked against the tools that it is made of.

    Attributes:
        name: what a model calls it.
        version: from 1.
        description: what it is for.
        arguments: the type and the description of each, and a default where it may be left out.
        steps: in order.
        found: the sentence when all steps found something, with `$step_blank` for the blanks of a step.
    """

    name: str
    version: int
    description: str
    arguments: Mapping[str, Mapping[str, Any]]
    steps: tuple[Step, ...]
    found: str

    @classmethod
    def read(
        cls, text: str, capabilities: Iterable[Capability], templates: Templates
    ) -> Definition:
        """A definition from YAML.

        Args:
            text: the YAML.
            capabilities: what it may be made of; none that is composed itself.
            templates: their wording, which says which blanks each has.

        Raises:
            InputError: it is no definition: a key, a type, a name, a tool or an argument that does not
                fit, or a reference to what is not there.
        """
        import yaml

        try:
            data = yaml.safe_load(text)
        except (yaml.YAMLError, RecursionError) as error:
            raise InputError(f"tool: expected YAML: {' '.join(str(error).split())}") from None
        if not isinstance(data, dict) or not {*_KEYS} - {"version"} <= data.keys() <= {*_KEYS}:
            raise InputError(f"tool: expected the keys {', '.join(_KEYS)}, got {describe(data)}")
        made = cls(
            data["name"],
            data.get("version", 1),
            data["description"],
            data["arguments"],
            _steps(data["steps"]),
            data["found"],
        )
        _check_texts(made, templates)
        _check_arguments(made)
        _check_steps(made, {one.name: one for one in capabilities}, templates)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `read` takes it."""
        return {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "arguments": {key: dict(about) for key, about in self.arguments.items()},
            "steps": [
                {"name": one.name, "tool": one.tool, "arguments": dict(one.arguments)}
                for one in self.steps
            ],
            "found": self.found,
        }

    def to_yaml(self) -> str:
        """The same as YAML."""
        import yaml

        text: str = yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=100)
        return text

    def template(self, templates: Templates) -> str:
        """The template of the tool, as YAML; its phrases are those of its steps' tools."""
        import yaml

        phrases = {
            f"{step.name}_{key}": sentence
            for step in self.steps
            for key, sentence in templates.wording(step.tool).phrases.items()
        }
        text: str = yaml.safe_dump(
            {
                "version": self.version,
                "description": self.description,
                "arguments": {key: about["description"] for key, about in self.arguments.items()},
                "phrases": phrases,
                "found": self.found,
                "none": _NONE,
                "unusable": _UNUSABLE,
            },
            sort_keys=False,
            allow_unicode=True,
        )
        return text


def _steps(data: Any) -> tuple[Step, ...]:
    if not isinstance(data, list) or not 1 <= len(data) <= _MOST_STEPS:
        raise InputError(f"steps: expected a list of 1 to {_MOST_STEPS}, got {describe(data)}")
    for number, one in enumerate(data, 1):
        if not isinstance(one, dict) or one.keys() != {"name", "tool", "arguments"}:
            raise InputError(
                f"step {number}: expected name, tool and arguments, got {describe(one)}"
            )
        if not isinstance(one["arguments"], dict) or not isinstance(one["tool"], str):
            raise InputError(f"step {number}: expected a tool's name and its arguments by name")
    return tuple(Step(one["name"], one["tool"], one["arguments"]) for one in data)


def _check_texts(made: Definition, templates: Templates) -> None:
    if not isinstance(made.name, str) or not _NAME.fullmatch(made.name) or len(made.name) > 40:
        raise InputError(f"name: expected lower case with underscores, got {made.name!r}")
    if f"{made.name}.yaml" in templates.texts:
        raise InputError(f"name: a capability is called {made.name!r} already")
    if not isinstance(made.version, int) or isinstance(made.version, bool) or made.version < 1:
        raise InputError(f"version: expected a whole number from 1, got {made.version!r}")
    for what, text in (("description", made.description), ("found", made.found)):
        if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
            raise InputError(f"{what}: expected a text of at most {_LONGEST} characters")


def _check_arguments(made: Definition) -> None:
    arguments = made.arguments
    if not isinstance(arguments, dict) or not 1 <= len(arguments) <= _MOST_ARGUMENTS:
        raise InputError(f"arguments: expected 1 to {_MOST_ARGUMENTS}, got {describe(arguments)}")
    for key, about in arguments.items():
        fits = isinstance(about, dict) and {"type", "description"} <= about.keys()
        if not fits or not about.keys() <= {"type", "description", "default"}:
            raise InputError(f"arguments: {key}: expected type and description, got {about!r}")
        if about["type"] not in TYPES:
            raise InputError(
                f"arguments: {key}: expected a type of {', '.join(TYPES)}, got {about['type']!r}"
            )
        if not isinstance(about["description"], str) or not about["description"].strip():
            raise InputError(f"arguments: {key}: expected a description")
    for name in [*arguments, *(step.name for step in made.steps)]:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "memory":
            raise InputError(f"tool: expected a name in lower case with underscores, got {name!r}")
    names = [*arguments, *(step.name for step in made.steps)]
    if len(set(names)) < len(names):
        raise InputError("tool: expected arguments and steps of different names")


def _check_steps(made: Definition, tools: Mapping[str, Capability], templates: Templates) -> None:
    """Check what each step takes, and what it refers to."""
    known: dict[str, set[str]] = {}
    used = set[str]()
    for step in made.steps:
        tool = tools.get(step.tool)
        if tool is None or _is_composed(tool):
            there = ", ".join(name for name, one in tools.items() if not _is_composed(one))
            raise InputError(f"step {step.name}: expected a tool of {there}, got {step.tool!r}")
        parameters = schema_of(tool.call).parameters
        unknown = [key for key in step.arguments if key not in parameters["properties"]]
        missing = [key for key in parameters.get("required", ()) if key not in step.arguments]
        if unknown or missing:
            wanted = ", ".join(parameters["properties"])
            raise InputError(
                f"step {step.name}: expected the arguments {wanted} of {step.tool}, got "
                f"{', '.join(map(str, step.arguments)) or 'none'}"
            )
        for name, key in _references(step.arguments, step.name):
            if key is None and name not in made.arguments:
                raise InputError(f"step {step.name}: ${name}: no such argument")
            if key is not None and key not in known.get(name, ()):
                raise InputError(f"step {step.name}: ${name}.{key}: no earlier step keeps that")
            used |= {name} if key is None else set()
        found = templates.wording(step.tool).forms["found"]
        known[step.name] = blanks(found, step.tool) - {"program"}
    idle = [key for key in made.arguments if key not in used]
    if idle:
        raise InputError(f"arguments: {idle[0]}: no step uses it")
    said = {f"{step}_{blank}" for step, names in known.items() for blank in names}
    unknown = sorted(blanks(made.found, "found") - said - {"program"})
    if unknown:
        raise InputError(f"found: nothing fills ${unknown[0]}; there is {', '.join(sorted(said))}")


def _references(value: Any, where: str) -> list[tuple[str, str | None]]:
    """The references anywhere in some arguments."""
    if isinstance(value, dict):
        return [one for part in value.values() for one in _references(part, where)]
    if isinstance(value, list):
        return [one for part in value for one in _references(part, where)]
    if not isinstance(value, str):
        return []
    found = list(REFERENCE.finditer(value))
    if any(match[0] == "$" for match in found):
        raise InputError(f"step {where}: a $ that begins no name; write $$ for one")
    return [(match["name"], match["key"]) for match in found if match["name"]]


def _is_composed(tool: Capability) -> bool:
    return isinstance(getattr(tool, "definition", None), Definition)
