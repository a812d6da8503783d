"""A text that came from outside, and the line of each place in it."""

from __future__ import annotations

from bisect import bisect_left

from .._arrays import describe
from ..errors import InputError

__all__ = ["Source"]


class Source:
    r"""A text with `\n` newlines that knows which line a position is on.

    Attributes:
        text: the text; `\r\n` and `\r` have become `\n` and a leading byte-order mark is gone, so
            that positions are in this text and not in the one passed in. Lines are the same in both.

    Raises:
        InputError: what was passed in is not a string.
    """

    def __init__(self, text: str, first_line: int = 1) -> None:
        if not isinstance(text, str):
            raise InputError(f"text: expected a string, got {describe(text)}")
        self.text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        self._first_line = first_line
        self._newlines: list[int] | None = None

    def line(self, position: int) -> int:
        """The number of the line that `position` is on, counted from 1 (or from `first_line`)."""
        if self._newlines is None:
            self._newlines = [n for n, char in enumerate(self.text) if char == "\n"]
        return self._first_line + bisect_left(self._newlines, position)

    def error(self, position: int, message: str) -> InputError:
        """An error whose message begins with the line of `position`."""
        return InputError(f"line {self.line(position)}: {message}")
