"""What is said to a language model: messages made of text and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .._arrays import describe
from ..errors import InputError
from ..images import ImageLike

__all__ = ["Message", "Part", "Picture", "Role", "Text"]

Role: TypeAlias = Literal["system", "user", "assistant"]

_ROLES = ("system", "user", "assistant")


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
class Message:
    """One turn of a conversation.

    Attributes:
        role: who says it: `system`, `user` or `assistant`. Pictures are in user turns only.
        parts: the text and pictures, in the order they are read.

    Raises:
        InputError: another role, no parts, or a picture that is not in a user turn.

    >>> Message("user", (Text("Which is nearer?"),)).text
    'Which is nearer?'
    """

    role: Role
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if self.role not in _ROLES:
            raise InputError(f"role: expected {', '.join(_ROLES)}, got {self.role!r}")
        if isinstance(self.parts, str) or not all(
            isinstance(p, (Text, Picture)) for p in self.parts
        ):
            raise InputError(f"parts: expected Text and Picture, got {describe(self.parts)}")
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise InputError("parts: expected at least one, got none")
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
        return {
            "role": self.role,
            "parts": [
                {"text": part.text, "kind": part.kind}
                if isinstance(part, Text)
                else {"picture": part.name}
                for part in self.parts
            ],
        }
