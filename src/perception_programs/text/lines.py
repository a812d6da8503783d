"""The lines of a block, each with its place, and the words in one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import InputError
from .quoting import unquoted
from .source import Source

__all__ = ["WORD", "Line", "Lines"]

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_BARE = r"[A-Za-z_][A-Za-z0-9_.-]*"
WORD = f"(?:{_QUOTED}|{_BARE})"
"""A pattern: a string between double quotes, or a word that needs none."""

_CHUNK = re.compile(rf'\s*([()]|(?:{_QUOTED}|[^\s"()])+)\s*')


@dataclass(frozen=True)
class Line:
    """A line that isn't blank: how far it is indented, and what it says after that."""

    source: Source
    position: int
    indent: int
    text: str

    def error(self, message: str) -> InputError:
        """An error whose message begins with the number of this line."""
        return self.source.error(self.position, message)

    def chunks(self, start: int = 0) -> list[str]:
        """What spaces part, from `start` on; a parenthesis is one by itself, quotes hold together.

        Raises:
            InputError: a quote that nothing closes.
        """
        found = []
        while start < len(self.text):
            match = _CHUNK.match(self.text, start)
            if match is None:
                raise self.error("expected a double quote that closes the string, got none")
            found.append(match[1])
            start = match.end()
        return found

    def string(self, chunk: str) -> str:
        """The string that a `WORD` stands for.

        Raises:
            InputError: an escape that is none.
        """
        try:
            return unquoted(chunk) if chunk.startswith('"') else chunk
        except InputError as error:
            message = str(error)
        raise self.error(message)


class Lines:
    """Lines that are taken one after the other."""

    def __init__(self, lines: list[Line], end: Line) -> None:
        self._lines = lines
        self._next = 0
        self.end = end

    @classmethod
    def of(cls, source: Source) -> Lines:
        """The lines of a text, without blank ones."""
        lines, position = [], 0
        for text in source.text.split("\n"):
            said = text.strip(" \t")
            if said:
                lines.append(Line(source, position, len(text) - len(text.lstrip(" \t")), said))
            position += len(text) + 1
        return cls(lines, Line(source, max(0, len(source.text) - 1), 0, ""))

    def peek(self) -> Line | None:
        """The next line, which stays the next."""
        return self._lines[self._next] if self._next < len(self._lines) else None

    def take(self, expected: str) -> Line:
        """The next line.

        Raises:
            InputError: there is none.
        """
        line = self.peek()
        if line is None:
            raise self.end.error(f"expected {expected}, got the end of the block")
        self._next += 1
        return line

    def deeper(self, than: Line) -> Lines:
        """The lines that follow and are indented more than `than`, taken out of these."""
        start = self._next
        while (line := self.peek()) is not None and line.indent > than.indent:
            self._next += 1
        return Lines(self._lines[start : self._next], than)
