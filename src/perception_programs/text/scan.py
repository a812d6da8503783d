"""The programs in a longer text, whatever their style, in order of appearance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from ..program import PerceptionProgram
from .source import Source

__all__ = ["Style", "programs_in"]


class Style(Protocol):
    """A way to print a program and to read it back; a module with these three functions is one."""

    def render(self, program: PerceptionProgram, *, meta: bool) -> str:
        """The program as text."""

    def find(self, source: Source, start: int) -> int | None:
        """Where the next program of this style begins at or after `start`, or None."""

    def read(self, source: Source, start: int) -> tuple[PerceptionProgram, int]:
        """The program that begins at `start`, as `find` gave it, and where it ends.

        Raises:
            InputError: it is broken; the message names the line.
        """


def programs_in(text: str, styles: Mapping[str, Style]) -> Iterator[tuple[int, PerceptionProgram]]:
    """Each program in `text` with the line it begins on.

    Raises:
        InputError: a program that is broken; the message names the line.
    """
    source = Source(text)
    position = 0
    upcoming = {style: style.find(source, 0) for style in styles.values()}
    while True:
        for style, start in upcoming.items():
            # Inside a program just read, a find of another style is part of that program.
            if start is not None and start < position:
                upcoming[style] = style.find(source, position)
        found = [(start, style) for style, start in upcoming.items() if start is not None]
        if not found:
            return
        start, style = min(found, key=lambda pair: pair[0])
        program, position = style.read(source, start)
        yield source.line(start), program
