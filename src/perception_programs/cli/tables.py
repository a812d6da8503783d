"""Columns of text for the terminal, and numbers with their nouns."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["counted", "table"]


def counted(number: int, noun: str) -> str:
    """How many of something, in words.

    >>> counted(1, "sample"), counted(1000, "sample")
    ('1 sample', '1,000 samples')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of one length, the first of them the heads, in columns two spaces apart."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
