"""What a capability is: typed arguments in, a finding out, whatever does the work behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..chat import Usage
from ..errors import InputError

if TYPE_CHECKING:
    from ..program import PerceptionProgram

__all__ = ["Capability", "Finding", "New", "unusable"]

Form = Literal["found", "none", "unusable"]


@dataclass(frozen=True, eq=False)
class New:
    """A value for the memory to keep.

    Attributes:
        kind: one of `KINDS`.
        value: what such a kind holds.
        sources: handles of what it was made from.
        show: whether the model is to see it: pictures only.
        about: a few words about it; by default its size.
    """

    kind: str
    value: Any = field(repr=False)
    sources: tuple[str, ...] = ()
    show: bool = False
    about: str | None = None

    def __post_init__(self) -> None:
        if self.show and self.kind != "image":
            raise InputError(f"show: expected a picture to show, got one of kind {self.kind}")


@dataclass(frozen=True, eq=False)
class Finding:
    """What a capability found, before it is put into words.

    Attributes:
        form: which of the template's forms says it: `found`; `none`, where the tool worked and there is
            nothing; `unusable`, where what it gave says nothing, and `fields["why"]` why.
        fields: numbers and short texts for the template's blanks. Texts are foreign: they are quoted,
            on one line, and cut.
        passages: long foreign texts for the template's blanks: each line is marked.
        program: the finding as a program, or None.
        new: what the memory is to keep, by the name of its blank, which holds the handle.
        raw: the tool's own output as plain data, for a comparison with what is made of it here.
        usage: what models took that the capability asked.
        phrases: for a blank, the name of the template's own sentence that goes in.
    """

    form: Form
    fields: Mapping[str, str | int | float] = field(default_factory=dict)
    passages: Mapping[str, str] = field(default_factory=dict)
    program: PerceptionProgram | None = None
    new: Mapping[str, New] = field(default_factory=dict)
    raw: Any = None
    usage: tuple[Usage, ...] = ()
    phrases: Mapping[str, str] = field(default_factory=dict)


def unusable(why: str, *, raw: Any = None, **fields: str | int | float) -> Finding:
    """The finding of a tool whose output says nothing.

    Args:
        why: what is wrong with it.
        raw: the output.
        fields: what else the template's form has blanks for.

    >>> unusable("all of the depth is one value", image="input_image_1").form
    'unusable'
    """
    return Finding("unusable", {**fields, "why": why}, raw=raw)


class Capability:
    """A task that an agent can have done, with a backend that it does not see.

    A capability has `async def call(self, memory, ...) -> Finding`. After the memory come the arguments
    as a model gives them: plain data, and artefacts by their handles. Their types become the schema that
    a model is told, and its template says what each is for. An argument that cannot be used raises
    InputError, a tool that fails ToolError: the model reads the message and may try again.

    Attributes:
        name: what a model calls it, and the name of its template.
        call: does it.
    """

    name: str
    call: Callable[..., Awaitable[Finding]]

    def settings(self) -> Mapping[str, Any]:
        """Plain data of what decides its findings: the backend and its options."""
        return {}
