"""Relations in the style `compact`.

Those between neighbouring cells are the cells that have such a neighbour, by its side; they come in the
order of `neighbours`, so reading sorts them. All others are pairs in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeAlias

from ..geometry import Grid
from ..program import Relation
from .compact_fields import identifier, read_identifier, read_word, word
from .lines import WORD, Line, Lines

__all__ = ["begins_relations", "read_relations", "written_relations"]

Triple: TypeAlias = list[Any]
"""[subject, predicate, object]"""

_BY_SIDE = "relations of these cells to the neighbour on that side"
_PAIRS = "relations, first:second"
_STEPS = {"above": (-1, 0), "left": (0, -1), "right": (0, 1), "below": (1, 0)}
_SIDE = re.compile(rf"({WORD}) ({'|'.join(_STEPS)}):(?= )")
_END = rf"(?:{WORD}|[0-9.-]+)"
_ENDS = re.compile(_END)
_PAIR = re.compile(rf"(?P<subject>{_END}):(?P<objects>{_END}(?:,{_END})*)")


def written_relations(relations: Sequence[Relation], grid: Grid | None) -> Iterator[str]:
    """The lines of relations."""
    groups = _groups(relations, grid)
    beside = [triple for group in groups.values() for triple in group]
    if beside:
        yield _BY_SIDE
    for (predicate, side), group in groups.items():
        yield f"{word(predicate)} {side}: {' '.join(str(subject) for subject, *_ in group)}"
    rest = relations[len(beside) :]
    if rest:
        yield _PAIRS
    for predicate, same in groupby(rest, attrgetter("predicate")):
        pairs = (
            f"{identifier(subject)}:{','.join(identifier(r.object) for r in alike)}"
            for subject, alike in groupby(same, attrgetter("subject"))
        )
        yield f"{word(predicate)} {' '.join(pairs)}"


def _groups(
    relations: Sequence[Relation], grid: Grid | None
) -> dict[tuple[str, str], list[Triple]]:
    """The first relations by kind and side, up to one that is none of neighbours.

    None of them if sorting would not bring them back.
    """
    groups: dict[tuple[str, str], list[Triple]] = {}
    beside: list[Triple] = []
    for relation in relations:
        triple = [relation.subject, relation.predicate, relation.object]
        side = _side(triple, grid)
        if side is None:
            break
        beside.append(triple)
        groups.setdefault((relation.predicate, side), []).append(triple)
    again = sorted((triple for group in groups.values() for triple in group), key=_cells)
    return groups if again == beside else {}


def _side(triple: Triple, grid: Grid | None) -> str | None:
    """On which side of the subject the object is, if they are cells that share one."""
    subject, _, object_ = triple
    if grid is None or not isinstance(subject, int) or not isinstance(object_, int):
        return None
    if not 1 <= min(subject, object_) <= max(subject, object_) <= grid.count:
        return None
    (row, col), (other_row, other_col) = (divmod(n - 1, grid.cols) for n in (subject, object_))
    step = other_row - row, other_col - col
    return next((side for side, known in _STEPS.items() if known == step), None)


def _cells(triple: Triple) -> tuple[int, int]:
    """What relations of neighbours are sorted by; of the same two cells they stay as they are."""
    return min(triple[0], triple[2]), max(triple[0], triple[2])


def begins_relations(line: Line) -> bool:
    """Whether a line is the first of relations."""
    return line.text in (_BY_SIDE, _PAIRS)


def read_relations(lines: Lines, grid: Grid | None) -> list[tuple[Triple, Line]]:
    """The relations as plain data, each with the line it stands on.

    Raises:
        InputError: the message names the line.
    """
    found: list[tuple[Triple, Line]] = []
    line = lines.peek()
    if line is not None and line.text == _BY_SIDE:
        heading = lines.take("relations")
        if grid is None:
            raise heading.error("expected the grid of these cells in the first line, got none")
        while (line := lines.peek()) is not None and (match := _SIDE.match(line.text)):
            found += [(t, line) for t in _beside(lines.take("relations"), match, grid)]
        found.sort(key=lambda pair: _cells(pair[0]))
        line = lines.peek()
    if line is not None and line.text == _PAIRS:
        lines.take("relations")
        while (line := lines.peek()) is not None and not line.text.startswith("meta:"):
            found += [(triple, line) for triple in _pairs(lines.take("relations"))]
    return found


def _beside(line: Line, match: re.Match[str], grid: Grid) -> Iterator[Triple]:
    kind, (down, right) = line.string(match[1]), _STEPS[match[2]]
    for chunk in line.chunks(match.end()):
        subject = read_identifier(line, chunk)
        object_ = subject + down * grid.cols + right if isinstance(subject, int) else 0
        if _side([subject, kind, object_], grid) != match[2]:
            raise line.error(f"expected cells with a neighbour {match[2]}, got {chunk[:60]!r}")
        yield [subject, kind, object_]


def _pairs(line: Line) -> Iterator[Triple]:
    predicate, *pairs = line.chunks()
    kind = read_word(line, predicate)
    if not pairs:
        raise line.error(f"expected pairs such as 3:2 after {kind[:60]!r}, got none")
    for pair in pairs:
        match = _PAIR.fullmatch(pair)
        if match is None:
            raise line.error(f"expected a pair such as 3:2 or 3:2,4, got {pair[:60]!r}")
        subject = read_identifier(line, match["subject"])
        for object_ in _ENDS.findall(match["objects"]):
            yield [subject, kind, read_identifier(line, object_)]
