"""Programs side by side: what each says, what it costs, and what was given up for that."""

from __future__ import annotations

import csv
import io
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

from .._arrays import describe
from .._plain import check_count
from ..errors import InputError
from ..program import PerceptionProgram
from ..tokens import estimate_tokens
from ._facts import given_up
from ._tables import table_html, table_markdown, table_text

__all__ = ["ComparedProgram", "ProgramComparison", "compare"]

Programs: TypeAlias = (
    PerceptionProgram | Sequence[PerceptionProgram] | Mapping[str, PerceptionProgram]
)
_ALL_STYLES = ("paper", "compact", "json")
_LONGEST_NAME, _LONGEST_WORDS = 60, 300  # characters
_NONE = "–"


@dataclass(frozen=True)
class ComparedProgram:
    """One program in one style, or within one budget.

    Attributes:
        name: what the program is called in the comparison.
        modality: what was measured.
        granularity: what an item stands for.
        items: how many there are.
        relations: how many there are.
        style: the style that was counted; None where the program does not fit its budget.
        budget: the most tokens it was allowed, or None.
        tokens: how many its text takes; None where it does not fit its budget.
        of_first: the share that is of the first row's, where the first row has any.
        of_paper: the share that is of the same program's in the style `paper`, before any budget.
        given_up: what `meta` says was left out when the program was made and when it was fitted.
        refused: why it does not fit its budget, or None.
        program: the program that was counted, in its style; the whole one where it does not fit.
    """

    name: str
    modality: str
    granularity: str
    items: int
    relations: int
    style: str | None
    budget: int | None
    tokens: int | None
    of_first: float | None
    of_paper: float | None
    given_up: tuple[str, ...]
    refused: str | None
    program: PerceptionProgram = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data, without the program."""
        row = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "program"}
        return {**row, "given_up": list(self.given_up)}


@dataclass(frozen=True)
class ProgramComparison:
    """A table of programs; `str` prints it, and a notebook shows it.

    Attributes:
        rows: the rows, in the order in which the programs were given.
        estimated: whether the tokens are an estimate.
    """

    rows: tuple[ComparedProgram, ...]
    estimated: bool

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ComparedProgram]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as plain data, for `pandas.DataFrame` and its like."""
        return [row.to_dict() for row in self.rows]

    def to_csv(self) -> str:
        """The rows as CSV; several things given up are separated by semicolons."""
        file = io.StringIO()
        names = [f.name for f in fields(ComparedProgram) if f.name != "program"]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for row in self.to_dicts():
            writer.writerow({**row, "given_up": "; ".join(row["given_up"])})
        return file.getvalue()

    def __str__(self) -> str:
        return table_text(*self._cells(), names=_NAMES, words=1)

    def _repr_html_(self) -> str:
        return table_html(*self._cells(), names=_NAMES, words=1)

    def _repr_markdown_(self) -> str:
        return table_markdown(*self._cells(), names=_NAMES, words=1)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """The table as text: its heads, and its rows without the columns that would say nothing."""
        tokens = "tokens (estimate)" if self.estimated else "tokens"
        head = ["program", "modality", "granularity", "style", "items", "relations", tokens]
        head += ["of the first", "of its paper style", "given up"]
        rows = [_row(row) for row in self.rows]
        shares = [[row[head.index(name)] for row in rows] for name in head[-3:-1]]
        idle = {"relations"} if not any(row.relations for row in self.rows) else set()
        idle |= {"of the first"} if shares[0] == shares[1] else set()
        kept = [n for n, name in enumerate(head) if name not in idle]
        return [head[n] for n in kept], [[row[n] for n in kept] for row in rows]


_NAMES = 4  # columns before those of numbers


def compare(
    programs: Programs,
    *,
    styles: Iterable[str] | str | None = None,
    budgets: Iterable[int] | int = (),
    count: Callable[[str], int] | None = None,
) -> ProgramComparison:
    """A table of several programs, or of one in several styles and within several budgets.

    Args:
        programs: one program, a list of them, or a mapping from a name to each. Those of a list are
            called by their modality.
        styles: the styles to count each in; by default the one in which it prints, and for one program
            without a name every style.
        budgets: further rows: each program fitted to so many tokens (`PerceptionProgram.fit`). One that
            cannot be honestly said in so few has a row that says so.
        count: a text's number of tokens; by default an estimate that needs no tokenizer.

    Raises:
        InputError: no program or something else, an unknown style, or a budget that is no number of
            tokens.

    >>> from perception_programs import depth_program
    >>> import numpy as np
    >>> depth = depth_program(np.linspace(0, 1, 4096).reshape(64, 64), grid=8, relations=False)
    >>> table = compare({"ramp": depth}, styles=["paper", "compact"])
    >>> print(table)
    program  modality  granularity  style    items  tokens (estimate)  of its paper style  given up
    ramp     depth     patch        paper       64              2,073              100.0%  –
    ramp     depth     patch        compact     64                417               20.1%  –
    """
    named = _named(programs)
    alone = isinstance(programs, PerceptionProgram)
    chosen = _styles(styles, _ALL_STYLES if alone else None)
    limits = _budgets(budgets)
    if count is not None and not callable(count):
        raise InputError(f"count: expected a function of a text, got {describe(count)}")
    measure = count or estimate_tokens
    rows = [
        row
        for name, program in named.items()
        for row in _rows(name, program, chosen, limits, measure)
    ]
    first = rows[0].tokens
    return ProgramComparison(
        tuple(replace(row, of_first=_share(row.tokens, first)) for row in rows), count is None
    )


def _rows(
    name: str,
    program: PerceptionProgram,
    styles: Sequence[str] | None,
    budgets: Sequence[int],
    count: Callable[[str], int],
) -> Iterator[ComparedProgram]:
    paper = _count(replace(program, style="paper"), count)
    for style in styles if styles is not None else (program.style,):
        printed = replace(program, style=style)
        yield _compared(name, printed, None, _count(printed, count), paper)
    for budget in budgets:
        try:
            fitted = program.fit(budget, count)
        except InputError as error:
            row = _compared(name, program, budget, None, paper)
            yield replace(row, style=None, given_up=(), refused=str(error))
        else:
            yield _compared(name, fitted, budget, _count(fitted, count), paper)


def _compared(
    name: str, program: PerceptionProgram, budget: int | None, tokens: int | None, paper: int
) -> ComparedProgram:
    return ComparedProgram(
        name=name,
        modality=program.modality,
        granularity=program.granularity,
        items=len(program),
        relations=len(program.relations),
        style=program.style,
        budget=budget,
        tokens=tokens,
        of_first=None,
        of_paper=_share(tokens, paper),
        given_up=given_up(program),
        refused=None,
        program=program,
    )


def _share(tokens: int | None, whole: int | None) -> float | None:
    return tokens / whole if tokens is not None and whole else None


def _count(program: PerceptionProgram, count: Callable[[str], int]) -> int:
    found = count(program.to_text())
    try:
        tokens = -1 if isinstance(found, bool) else operator.index(found)
    except TypeError:
        tokens = -1
    if tokens < 0:
        raise InputError(
            f"count: expected a function from a text to its number of tokens, got {describe(found)} "
            "from it"
        )
    return tokens


def _named(programs: Any) -> dict[str, PerceptionProgram]:
    """Each program by its name, in order."""
    if isinstance(programs, PerceptionProgram):
        programs = [programs]
    if isinstance(programs, Mapping):
        for name in programs:
            if not isinstance(name, str) or not name.strip():
                raise InputError(f"programs: expected names with something in them, got {name!r}")
        pairs = list(programs.items())
    elif isinstance(programs, Iterable) and not isinstance(programs, (str, bytes)):
        pairs = [(None, program) for program in programs]
    else:
        pairs = [(None, programs)]
    for _, program in pairs:
        if not isinstance(program, PerceptionProgram):
            raise InputError(
                "programs: expected a PerceptionProgram, a list of them or {name: program}, got "
                f"{describe(program)}"
            )
    if not pairs:
        raise InputError("programs: expected at least one, got none")
    return {
        name or called: program
        for called, (name, program) in zip(_by_modality(pairs), pairs, strict=True)
    }


def _by_modality(pairs: Sequence[tuple[Any, PerceptionProgram]]) -> Iterator[str]:
    """A name for each program: its modality, numbered where several have it."""
    total = Counter(program.modality for _, program in pairs)
    so_far: Counter[str] = Counter()
    for _, program in pairs:
        so_far[program.modality] += 1
        number = f" {so_far[program.modality]}" if total[program.modality] > 1 else ""
        yield f"{program.modality}{number}"


def _styles(styles: Any, default: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if styles is None:
        return default
    names = (styles,) if isinstance(styles, str) else styles
    if not isinstance(names, Iterable) or not (found := tuple(names)):
        raise InputError(f"styles: expected names of styles, got {describe(styles)}")
    return found


def _budgets(budgets: Any) -> tuple[int, ...]:
    if isinstance(budgets, Iterable) and not isinstance(budgets, (str, bytes, Mapping)):
        return tuple(check_count(budget, "budgets") for budget in budgets)
    return (check_count(budgets, "budgets"),)


def _row(row: ComparedProgram) -> list[str]:
    limit = "" if row.budget is None else f" (≤ {row.budget:,})"
    lost = "; ".join(row.given_up) if row.refused is None else row.refused
    return [
        _cut(row.name, _LONGEST_NAME) + limit,
        _cut(row.modality, _LONGEST_NAME),
        _cut(row.granularity, _LONGEST_NAME),
        row.style or _NONE,
        str(row.items),
        str(row.relations),
        _NONE if row.tokens is None else f"{row.tokens:,}",
        _percent(row.of_first),
        _percent(row.of_paper),
        _cut(lost, _LONGEST_WORDS) or _NONE,
    ]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _percent(share: float | None) -> str:
    return _NONE if share is None else f"{share:.1%}"
