"""Programs as Markdown: what a notebook shows where it takes no HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..program import PerceptionProgram
from ._facts import facts, given_up, in_short, shown_text
from ._type import visible

__all__ = ["fact_list", "fenced", "plain", "to_markdown"]

_LONGEST_LINE = 500  # characters of a name, a label or a fact
_FENCE = re.compile(r"`{3,}")
_MARKS = re.compile(r"[\\`*_\[\]|~$#]")  # $: notebooks read it as mathematics
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto)(?=:)|\bwww(?=\.)")


def to_markdown(program: PerceptionProgram) -> str:
    """A program as Markdown: what it is in a line, and its text in a fence that the text cannot close.

    Whatever stands in the program reads as text: no label becomes a heading, a link, a picture or HTML.
    The text is cut after 40,000 characters, and a line beneath says how many are missing. Pictures are
    left out.

    >>> from perception_programs import Item
    >>> print(to_markdown(PerceptionProgram("depth", "point", (Item("A", (1, 2), 0.5),))))
    **depth** · point · 1 item
    <BLANKLINE>
    ```text
    <perceptionprogram>
    modality: depth
    granularity: point
    items:
      - p: A
        c: [1, 2]
        r: 0.5
    </perceptionprogram>
    ```
    """
    modality, *rest = map(plain, in_short(program))
    parts = [" · ".join([f"**{modality}**", *rest])]
    if "fitted" in (said := facts(program)):
        parts.append(plain(f"fitted: {said['fitted']}"))
    if steps := given_up(program):
        parts.append("\n".join([f"- {plain(f'given up: {step}')}" for step in steps]))
    text, cut = shown_text(program)
    parts.append(fenced(text))
    if cut:
        parts.append(f"… {cut} characters more")
    return "\n\n".join(parts)


def fenced(text: str) -> str:
    r"""Text in a fence longer than any run of backticks in it, so that nothing in it ends the fence.

    >>> print(fenced("a\n```\nb"))
    ````text
    a
    ```
    b
    ````
    """
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def plain(text: str) -> str:
    r"""Text as one line of Markdown that stands for itself, cut with a mark where it is very long.

    What hides or reorders text is an escape; what Markdown, HTML or the mathematics of a notebook would
    take for more than text is escaped.

    >>> print(plain("a|b <i> *c* $x$ http://d"))
    a\|b &lt;i&gt; \*c\* \$x\$ http\://d
    """
    if len(text) > _LONGEST_LINE:
        text = f"{text[:_LONGEST_LINE]}… {len(text) - _LONGEST_LINE} characters more"
    line = _MARKS.sub(r"\\\g<0>", " ".join(visible(text).split()))
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _ADDRESS.sub(r"\g<0>\\", line)


def fact_list(facts: Mapping[str, str]) -> str:
    """Facts by name, a line each."""
    return "\n".join(f"- {plain(name)}: {plain(value)}" for name, value in facts.items())
