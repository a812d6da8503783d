"""What LiteLLM's errors mean, where its own words hide it."""

from __future__ import annotations

import re

__all__ = ["malformed"]

_INVALID = "Invalid response object"
"""How LiteLLM's words start where it cannot read a server's reply."""

_FIELD = re.compile(
    r"^(\S+)\n\s+(Input should be [^\[\n]+?)\s*\[.*input_type=(\w+)\]", re.MULTILINE
)
"""What pydantic says of one field of a message."""


def malformed(error: Exception) -> str | None:
    r"""What is wrong with the form of a server's reply; None if that is not the error.

    It is what the server does with every request, and not a broken connection.

    >>> malformed(ValueError("Invalid response object ...\ncontent\n  Input should be a valid string "
    ...     "[type=string_type, input_value=[], input_type=list]"))
    "the server's reply is not as OpenAI's protocol has it: content: expected a valid string, got list"
    """
    text = str(error)
    found = _FIELD.search(text) if _INVALID in text else None
    if found is None:
        return None
    expected = found[2].replace("Input should be", "expected", 1)
    return (
        "the server's reply is not as OpenAI's protocol has it: "
        f"{found[1]}: {expected}, got {found[3]}"
    )
