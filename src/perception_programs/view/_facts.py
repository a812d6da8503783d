"""What is said of a program beside its text, wherever it is shown."""

from __future__ import annotations

from collections.abc import Mapping

from ..program import PerceptionProgram
from ._type import visible_lines

__all__ = ["LONGEST_TEXT", "counted", "facts", "given_up", "in_short", "shown_text"]

LONGEST_TEXT = 40_000
"""So many characters of a program's text are shown."""

_CUT = {
    "matches_cut": "matches",
    "below_threshold": "detections below the threshold",
    "relations_cut": "relations",
}
"""What `meta` counts as left out when a program was made, and what those are."""


def counted(number: int, what: str) -> str:
    """How many of something, in words.

    >>> counted(1, "item"), counted(12, "item")
    ('1 item', '12 items')
    """
    return f"{number} {what}" + ("" if number == 1 else "s")


def in_short(program: PerceptionProgram) -> list[str]:
    """What a program is, in a few words each."""
    said = [program.modality, program.granularity]
    if program.grid is not None:
        said.append(f"{program.grid.rows} × {program.grid.cols} cells")
    said.append(counted(len(program.items), "item"))
    if program.relations:
        said.append(counted(len(program.relations), "relation"))
    if "expert" in program.meta:
        said.append(f"expert {program.meta['expert']}")
    return said


def facts(program: PerceptionProgram) -> dict[str, str]:
    """What a program is, by name; only what there is."""
    grid, fitted = program.grid, _fitted(program)
    rows = {
        "modality": program.modality,
        "granularity": program.granularity,
        "grid": None if grid is None else f"{grid.rows} rows × {grid.cols} columns",
        "items": str(len(program.items)),
        "relations": str(len(program.relations)) if program.relations else None,
        "expert": program.meta.get("expert"),
        "fitted": fitted,
        "given up": "; ".join(given_up(program)) or None,
        "note": program.note,
    }
    return {name: str(value) for name, value in rows.items() if value is not None}


def _fitted(program: PerceptionProgram) -> str | None:
    about = program.meta.get("fit")
    if not isinstance(about, Mapping) or not {"tokens", "max_tokens", "style"} <= set(about):
        return None
    return f"{about['tokens']} of {about['max_tokens']} tokens, style {about['style']}"


def given_up(program: PerceptionProgram) -> tuple[str, ...]:
    """What `meta` says was left out by choice: when the program was made, and when it was fitted.

    What could not be measured (masked pixels, empty cells) was not given up; the program says it itself.

    >>> given_up(PerceptionProgram("a", "b", (), meta={"matches_cut": 12}))
    ('12 matches',)
    """
    counts = ((program.meta.get(key), what) for key, what in _CUT.items())
    cut = [f"{n} {what}" for n, what in counts if isinstance(n, int) and not isinstance(n, bool)]
    about = program.meta.get("fit")
    steps = about.get("given_up", ()) if isinstance(about, Mapping) else ()
    return (*cut, *map(str, steps if isinstance(steps, (list, tuple)) else (steps,)))


def shown_text(program: PerceptionProgram) -> tuple[str, int]:
    """A program's text with what hides or reorders text as escapes, and how many characters are cut off."""
    text = program.to_text()
    kept = text[:LONGEST_TEXT]
    return visible_lines(kept), len(text) - len(kept)
