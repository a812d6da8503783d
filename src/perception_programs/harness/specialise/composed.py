"""A capability that is made of others: a fixed sequence of steps, written as data."""

from __future__ import annotations

import asyncio
import inspect
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...chat import Usage
from ...chat.schema import schema_of
from ...errors import InputError, ToolError
from ..capability import Capability, Finding, New
from ..memory import Artifact, Memory
from ..rendering import Templates
from .definition import REFERENCE, TYPES, Definition, Step

__all__ = ["Composed", "with_composed"]


class Composed(Capability):
    """Runs the steps of a definition, one after the other, as one tool.

    A step that finds nothing, or nothing that can be used, ends it; what the steps before it made is kept.

    Args:
        definition: the steps.
        capabilities: those that it is made of, and perhaps others.
    """

    def __init__(self, definition: Definition, capabilities: Iterable[Capability]) -> None:
        self.name = definition.name
        self.definition = definition
        there = {one.name: one for one in capabilities}
        self._tools = {step.tool: there[step.tool] for step in definition.steps}
        self.call = self._function()

    def settings(self) -> dict[str, Any]:
        """The definition, and the settings of the tools."""
        tools = {name: dict(one.settings()) for name, one in self._tools.items()}
        return {"definition": self.definition.to_dict(), "tools": tools}

    def _function(self) -> Any:
        """What does it, with the signature that a model is told of."""
        kinds = {key: TYPES[about["type"]] for key, about in self.definition.arguments.items()}
        defaults = {key: about.get("default") for key, about in self.definition.arguments.items()}

        async def call(memory: Memory, **arguments: Any) -> Finding:
            given = {key: value for key, value in defaults.items() if value is not None}
            return await self._run(memory, {**given, **arguments})

        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
            if defaults[key] is None
            else inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=defaults[key]
            )
            for key, kind in kinds.items()
        ]
        described = "\n".join(
            f"    {key}: {' '.join(about['description'].split())}"
            for key, about in self.definition.arguments.items()
        )
        call.__name__ = self.name
        call.__doc__ = f"{self.definition.description}\n\nArgs:\n    memory: -\n{described}\n"
        call.__annotations__ = {"memory": Memory, **kinds, "return": Finding}
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter("memory", plain, annotation=Memory), *parameters]
        )
        return call

    async def _run(self, memory: Memory, arguments: Mapping[str, Any]) -> Finding:
        with tempfile.TemporaryDirectory(prefix="p2-composed-") as folder:
            run = _Running(_Draft(Path(folder), memory), arguments)
            for step in self.definition.steps:
                found = await run.step(step, self._tools[step.tool])
                if found.form != "found":
                    said: dict[str, Any] = {"step": step.name, "tool": step.tool}
                    if found.form == "unusable":
                        said["why"] = found.fields.get("why", "it gave no reason")
                    return run.finding(found.form, said)
            return run.finding("found", {})


class _Draft(Memory):
    """A memory with what another has, which keeps what is added in a folder of its own."""

    def __init__(self, folder: Path, behind: Memory) -> None:
        super().__init__(folder, behind.artifacts)
        self._behind = behind

    def read_bytes(self, artifact: Artifact) -> bytes:
        """The file of an artefact, wherever it is."""
        if artifact.handle in self._behind:
            return self._behind.read_bytes(artifact)
        return super().read_bytes(artifact)


class _Running:
    """One call: what its steps made and said so far."""

    def __init__(self, memory: _Draft, arguments: Mapping[str, Any]) -> None:
        self.memory, self.arguments = memory, arguments
        self.handles: dict[str, dict[str, str]] = {}
        self.fields: dict[str, Any] = {}
        self.passages: dict[str, str] = {}
        self.phrases: dict[str, str] = {}
        self.new: dict[str, New] = {}
        self.raw: dict[str, Any] = {}
        self.usage: list[Usage] = []
        self.program: Any = None

    async def step(self, step: Step, tool: Capability) -> Finding:
        """Do a step and keep what it gave."""
        try:
            given = {key: self._value(value) for key, value in step.arguments.items()}
            found = await tool.call(self.memory, **schema_of(tool.call).check(given))
        except InputError as error:
            raise InputError(f"step {step.name} ({step.tool}): {error}") from None
        except ToolError as error:
            raise ToolError(f"step {step.name} ({step.tool}): {error}") from None
        self.usage += found.usage
        self.raw[step.name] = found.raw
        made = self.handles.setdefault(step.name, {})
        for key, new in found.new.items():
            # The memory behind gives the same handles: they are added there in this order.
            kept = await asyncio.to_thread(self._add, step.tool, new)
            made[key] = kept.handle
            self.new[f"{step.name}_{key}"] = new
        if found.form == "found":
            self.fields |= {f"{step.name}_{key}": value for key, value in found.fields.items()}
            self.passages |= {f"{step.name}_{key}": text for key, text in found.passages.items()}
            self.phrases |= {
                f"{step.name}_{key}": f"{step.name}_{chosen}"
                for key, chosen in found.phrases.items()
            }
            self.program = found.program or self.program
        return found

    def _add(self, tool: str, new: New) -> Artifact:
        return self.memory.add(
            new.kind, new.value, made_by=tool, about=new.about, sources=new.sources
        )

    def finding(self, form: Any, fields: Mapping[str, Any]) -> Finding:
        """What all of it found."""
        found = form == "found"
        return Finding(
            form,
            self.fields if found else fields,
            self.passages if found else {},
            self.program if found else None,
            self.new,
            self.raw,
            tuple(self.usage),
            self.phrases if found else {},
        )

    def _value(self, value: Any) -> Any:
        """An argument with what its references stand for."""
        if isinstance(value, list):
            return [self._value(part) for part in value]
        if not isinstance(value, str):
            return value
        whole = REFERENCE.fullmatch(value)
        if whole is not None and not whole["dollar"]:
            return self._referred(whole)
        return REFERENCE.sub(
            lambda match: "$" if match["dollar"] else str(self._referred(match)), value
        )

    def _referred(self, match: re.Match[str]) -> Any:
        name, key = match["name"], match["key"]
        if key is None:
            return self.arguments[name]
        made = self.handles[name]
        if key not in made:
            there = ", ".join(made) or "nothing"
            raise InputError(f"${name}.{key}: expected what that step kept ({there}), got {key!r}")
        return made[key]


def with_composed(templates: Templates, definitions: Iterable[Definition]) -> Templates:
    """Wording that has composed tools too."""
    for one in definitions:
        templates = templates.with_text(f"{one.name}.yaml", one.template(templates))
    return templates
