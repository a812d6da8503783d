"""The blocks between `<perceptionprogram>` and `</perceptionprogram>` in a longer text."""

from __future__ import annotations

import re
from textwrap import dedent

from .source import Source

__all__ = ["CLOSING", "OPENING", "block_at", "next_tag", "opens_compact"]

OPENING = "<perceptionprogram>"
CLOSING = "</perceptionprogram>"

# A tag counts where it has a line to itself; prose that mentions one opens nothing. Two more forms
# come from templates such as f"Depth: {program}. Which is closer?": an opening tag at the end of a
# line when the program's first key follows, and a closing tag at the start of a line, inside a block.
_OPENS_OR_CLOSES = re.compile(
    rf"^[^\S\n]*(?:{OPENING}|(?P<closing>{CLOSING}))[^\S\n]*$"
    rf"|{OPENING}(?=[^\S\n]*\n\s*(?:modality|compact)[^\S\n]*:)",
    re.MULTILINE,
)
_COMPACT = re.compile(r"\s*compact[^\S\n]*:")
_ENDS = re.compile(
    rf"^[^\S\n]*(?:(?P<closing>{CLOSING})|{OPENING}[^\S\n]*$)",
    re.MULTILINE,
)


def next_tag(source: Source, start: int) -> int | None:
    """Where the next tag begins, an opening or a stray closing one."""
    match = _OPENS_OR_CLOSES.search(source.text, start)
    return None if match is None else match.start()


def opens_compact(source: Source, start: int) -> bool:
    """Whether the tag that `next_tag` found opens a block of the style `compact`."""
    tag = _OPENS_OR_CLOSES.match(source.text, start)
    if tag is None or tag["closing"]:
        return False
    return _COMPACT.match(source.text, tag.end()) is not None


def block_at(source: Source, start: int) -> tuple[Source, int]:
    """The text between the tag that `next_tag` found and its closing tag, dedented; and where it ends.

    Raises:
        InputError: the tag is a closing one, or nothing closes it.
    """
    opening = _OPENS_OR_CLOSES.match(source.text, start)
    if opening is None or opening["closing"]:
        raise source.error(start, f"expected {OPENING} before {CLOSING}, got no opening tag")
    closing = _ENDS.search(source.text, opening.end())
    if closing is None:
        raise source.error(start, f"expected {CLOSING} after {OPENING}, got the end of the text")
    if closing["closing"] is None:
        raise source.error(
            start,
            f"expected {CLOSING} after {OPENING}, "
            f"got another opening tag on line {source.line(closing.start())}",
        )
    # A tag alone on its line ends before the newline, so the block begins with the line after it.
    begin = source.text.index("\n", opening.end()) + 1
    inside = dedent(source.text[begin : closing.start()])
    # One of YAML's two parsers stumbles over a tab at the end of a line.
    inside = "\n".join(line.rstrip(" \t") for line in inside.split("\n"))
    return Source(inside, source.line(begin)), closing.end()
