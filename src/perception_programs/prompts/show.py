"""A conversation as text that a person can read: dry runs, reports, tests."""

from __future__ import annotations

from collections.abc import Sequence

from ..chat import Message, Part, Text

__all__ = ["render"]


def render(messages: Sequence[Message]) -> str:
    """All turns as one text; a picture is `[image]`, or `[image: name]` where it has a name.

    >>> print(render([Message("user", (Text("Which is nearer?"),))]))
    ── user ──
    Which is nearer?
    """
    return "\n\n".join(
        f"── {message.role} ──\n" + "\n\n".join(map(_shown, message.parts)) for message in messages
    )


def _shown(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    return "[image]" if part.name is None else f"[image: {' '.join(part.name.split())}]"
