"""Shows the examples of docstrings as code.

Griffe looks for examples under a heading of their own; ours stand at the end of a docstring without one, and
Markdown would take `>>>` for three quotations.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

__all__ = ["FencedExamples", "fenced"]

_EXAMPLE = re.compile(r"^([ \t]*)>>> .*(?:\n\1(?!```).*\S.*)*", re.MULTILINE)


def fenced(text: str) -> str:
    """A docstring with each run of examples between fences.

    A run goes on to the next empty line, as for doctest.
    """
    return _EXAMPLE.sub(lambda run: f"{run[1]}```pycon\n{run[0]}\n{run[1]}```", text)


class FencedExamples(griffe.Extension):
    """Puts fences around the examples of every docstring before it is rendered."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called with each module, class, function and attribute once it is read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
