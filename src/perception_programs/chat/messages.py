"""What is said to a language model: messages made of text and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from .._arrays import describe
from ..errors import InputError
from ..images import ImageLike

__all__ = ["Message", "Part", "Picture", "Role", "Text", "ToolCall"]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

_ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True)
class Text:
    """A piece of text.

    Attributes:
        text: what is said.
        kind: what it is for: `question`, `program`, …; models never see it, token counts do.
    """

    text: str
    kind: str = "question"

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InputError(f"text: expected a string, got {describe(self.text)}")


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture, in whatever form `load_image` takes; it is decoded when a model is sent it.

    Attributes:
        image: the picture.
        name: what it is called in records, or None.
    """

    image: ImageLike = field(repr=False)
    name: str | None = None


Part: TypeAlias = Text | Picture


@dataclass(frozen=True)
class ToolCall:
    """A tool that a model asks for.

    Attributes:
        id: what the answer to it refers to.
        name: of the tool.
        arguments: as the model wrote them: JSON, it should be.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: who says it: `system`, `user`, `assistant`, or `tool` for what a tool answered. Pictures
            are in user turns only.
        parts: the text and pictures, in the order they are read.
        calls: the tools that an assistant asks for in this turn.
        answers: of a tool's turn, the `id` of the call that it answers.

    Raises:
        InputError: another role, no parts and no calls, a picture that is not in a user turn, or calls
            and answers in turns that have none.

    >>> Message("user", (Text("Which is nearer?"),)).text
    'Which is nearer?'
    """

    role: Role
    parts: tuple[Part, ...]
    calls: tuple[ToolCall, ...] = ()
    answers: str | None = None

    def __post_init__(self) -> None:
        if self.role not in _ROLES:
            raise InputError(f"role: expected {', '.join(_ROLES)}, got {self.role!r}")
        if isinstance(self.parts, str) or not all(
            isinstance(p, (Text, Picture)) for p in self.parts
        ):
            raise InputError(f"parts: expected Text and Picture, got {describe(self.parts)}")
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "calls", tuple(self.calls))
        if not self.parts and not self.calls:
            raise InputError("parts: expected at least one, got none")
        if self.calls and self.role != "assistant":
            raise InputError(f"calls: expected them of the assistant only, got one of {self.role}")
        if (self.answers is not None) != (self.role == "tool"):
            raise InputError(
                f"answers: expected the call's id in a tool's turn and only there, got "
                f"{self.answers!r} for {self.role}"
            )
        if self.role != "user" and any(isinstance(part, Picture) for part in self.parts):
            raise InputError(
                f"parts: expected pictures in user turns only, got one for {self.role}"
            )

    @property
    def text(self) -> str:
        """All of its text, a blank line between the pieces."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """Its pictures, in order."""
        return tuple(part for part in self.parts if isinstance(part, Picture))

    def to_dict(self) -> Mapping[str, Any]:
        """Plain data for a record: all of its text, and of pictures their names only."""
        data: dict[str, Any] = {
            "role": self.role,
            "parts": [
                {"text": part.text, "kind": part.kind}
                if isinstance(part, Text)
                else {"picture": part.name}
                for part in self.parts
            ],
        }
        if self.calls:
            data["calls"] = [asdict(call) for call in self.calls]
        if self.answers is not None:
            data["answers"] = self.answers
        return data
