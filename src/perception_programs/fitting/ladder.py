"""The steps by which a program is made to fit, and the search along them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from .._arrays import describe
from .._plain import check_count
from ..errors import InputError
from ..geometry import FRAME
from ..program import PerceptionProgram
from ..tokens import estimate_tokens
from .cells import asked_items, coarser_grids, merged_quarters, without_cells
from .forms import Forms, with_sentence
from .lists import fewer_detections, fewer_matches

__all__ = ["Count", "Place", "fit"]

Count: TypeAlias = Callable[[str], int]
"""How many tokens a text is: a tokenizer's own count, or any other measure of length."""

Place: TypeAlias = tuple[float, float]
"""(x, y) in the 0-1000 frame."""

_PLACES = 2  # decimals of readings once precision is given up


@dataclass(frozen=True)
class _Fitted:
    """A program on its way down, with what has been given up for it."""

    program: PerceptionProgram
    given_up: tuple[str, ...] = ()

    def less(self, program: PerceptionProgram, what: str) -> _Fitted:
        return _Fitted(program, (*self.given_up, what))


class _Budget:
    def __init__(self, most: int, count: Count) -> None:
        self.most = most
        self._count = count
        self._counted: dict[int, tuple[PerceptionProgram, int]] = {}

    def tokens(self, program: PerceptionProgram) -> int:
        """How many the program takes. One that was counted before is not printed again."""
        if id(program) not in self._counted:
            self._counted[id(program)] = program, self._counted_anew(program)
        return self._counted[id(program)][1]

    def _counted_anew(self, program: PerceptionProgram) -> int:
        found = self._count(program.to_text())
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

    def holds(self, program: PerceptionProgram) -> bool:
        return self.tokens(program) <= self.most


def fit(
    program: PerceptionProgram,
    max_tokens: int,
    count: Count | None = None,
    *,
    style: str | None = None,
    around: Iterable[Place] = (),
) -> PerceptionProgram:
    """The program at no more than `max_tokens`, having given up as little as that takes.

    The steps, of which each is taken only if it saves tokens and those before it were not enough:

    1. **style**: `compact` in place of `paper`. No fact is lost but digits beyond its precision.
    2. **precision**: readings to two decimals.
    3. **relations**, but for those among points that were asked about, which go last of all.
    4. **parts**: programs inside items.
    5. **items**, as many as fit. Matches: the nearest to the points asked about first, then spread
       evenly. Detections and objects of a scene: the surest of each label first, then the second of
       each, and so on. Adaptive grids: the four quarters that differ least become one cell again.
       Grids: fewer, larger cells, made from whole finer ones. Where even one cell is too
       much, only the points that were asked about.

    The note says in a sentence what a reader must know of steps 3 to 5. `meta["fit"]` has the budget,
    the tokens used, the style, and a list of what was given up. The result prints in the style that was
    chosen: `str(result)` is what was counted. With `meta=True` it is longer than that.

    Args:
        program: what shall fit.
        max_tokens: the budget for the whole block, tags and note included.
        count: a text's number of tokens; by default an estimate that needs no tokenizer.
        style: the one style that is allowed; by default `paper` if that fits, else `compact`.
        around: places in the 0-1000 frame near which matches matter most, beside the points that the
            program itself was asked about.

    Raises:
        InputError: the budget is too small for anything honest; the message says how many tokens the
            least would take. Or an argument that is none.

    >>> from perception_programs import depth_program
    >>> import numpy as np
    >>> program = depth_program(np.linspace(0, 1, 4096).reshape(64, 64), grid=8)
    >>> small = fit(program, 240)
    >>> small.style, small.grid, small.meta["fit"]["given_up"][-1]
    ('compact', Grid(rows=4, cols=4), 'grid: 8x8 to 4x4 cells')
    """
    if not isinstance(program, PerceptionProgram):
        raise InputError(f"program: expected a PerceptionProgram, got {describe(program)}")
    most = check_count(max_tokens, "max_tokens")
    if count is not None and not callable(count):
        raise InputError(f"count: expected a function of a text, got {describe(count)}")
    if style == "json":
        raise InputError("style: expected paper or compact, got 'json', which leaves nothing out")
    budget = _Budget(most, count or estimate_tokens)
    places = _places(around)
    least = start = _Fitted(replace(program, style=style or "paper"))
    if not budget.holds(start.program):
        for step in _steps(style, places):
            least = step(least, budget)
            if budget.holds(least.program):
                break
        else:
            raise InputError(
                f"max_tokens: expected at least {budget.tokens(least.program)} for this "
                f"{program.modality} program, the fewest it can honestly be said in, got {most}"
            )
    return _told(least, budget)


def _places(around: Iterable[Place]) -> list[Place]:
    try:
        places = [(float(x), float(y)) for x, y in around]
    except (TypeError, ValueError):
        raise InputError(
            f"around: expected places (x, y) in the 0-{FRAME} frame, got {describe(around)}"
        ) from None
    for place in places:
        if not all(0 <= v <= FRAME for v in place):
            raise InputError(f"around: expected places from 0 to {FRAME}, got {place}")
    return places


def _told(fitted: _Fitted, budget: _Budget) -> PerceptionProgram:
    program = fitted.program
    about: dict[str, Any] = {
        "max_tokens": budget.most,
        "tokens": budget.tokens(program),
        "style": program.style,
        "given_up": list(fitted.given_up),
    }
    return replace(program, meta={**program.meta, "fit": about})


_Step: TypeAlias = Callable[[_Fitted, _Budget], _Fitted]


def _steps(style: str | None, places: list[Place]) -> list[_Step]:
    first: list[_Step] = [_compact] if style is None else []

    def matches(fitted: _Fitted, budget: _Budget) -> _Fitted:
        return _most(fitted, budget, fewer_matches(fitted.program, places))

    def detections(fitted: _Fitted, budget: _Budget) -> _Fitted:
        return _most(fitted, budget, fewer_detections(fitted.program))

    fewer = [_other_relations, _parts, matches, detections, _cells, _relations]
    return [*first, _precision, *fewer]


def _cells(fitted: _Fitted, budget: _Budget) -> _Fitted:
    """Fewer cells; where even one is too much, the points that were asked about alone."""
    fewer = fitted
    for forms in (merged_quarters, coarser_grids):
        fewer = _most(fewer, budget, forms(fewer.program))
        if budget.holds(fewer.program):
            return fewer
    alone = without_cells(fitted.program)
    if alone is None:
        return fewer
    return _if_shorter(fewer, budget, alone, f"cells: all {len(fitted.program) - len(alone)}")


def _most(fitted: _Fitted, budget: _Budget, forms: Forms | None) -> _Fitted:
    """The first of a row of ever smaller forms that fits, or the last."""
    if forms is None or not forms.count:
        return fitted
    low, high = 0, forms.count - 1
    while low < high:
        middle = (low + high) // 2
        if budget.holds(forms.make(middle)[0]):
            high = middle
        else:
            low = middle + 1
    return _if_shorter(fitted, budget, *forms.make(low))


def _if_shorter(fitted: _Fitted, budget: _Budget, program: PerceptionProgram, what: str) -> _Fitted:
    shorter = budget.tokens(program) < budget.tokens(fitted.program)
    return fitted.less(program, what) if shorter else fitted


def _compact(fitted: _Fitted, budget: _Budget) -> _Fitted:
    program = replace(fitted.program, style="compact")
    return _if_shorter(fitted, budget, program, "style: paper to compact")


def _precision(fitted: _Fitted, budget: _Budget) -> _Fitted:
    program = fitted.program.rounded(places=_PLACES)
    return _if_shorter(fitted, budget, program, f"precision: readings to {_PLACES} decimals")


def _other_relations(fitted: _Fitted, budget: _Budget) -> _Fitted:
    """Without the relations that are not among points that were asked about."""
    asked = {item.p for item in asked_items(fitted.program)}
    kept = tuple(r for r in fitted.program.relations if {r.subject, r.object} <= asked)
    return _with_relations(fitted, budget, kept)


def _relations(fitted: _Fitted, budget: _Budget) -> _Fitted:
    return _with_relations(fitted, budget, ())


def _with_relations(fitted: _Fitted, budget: _Budget, kept: tuple[Any, ...]) -> _Fitted:
    cut = len(fitted.program.relations) - len(kept)
    if not cut:
        return fitted
    program = replace(fitted.program, relations=kept)
    program = with_sentence(program, f"Relations left out: {cut}.")
    return _if_shorter(fitted, budget, program, f"relations: {cut}")


def _parts(fitted: _Fitted, budget: _Budget) -> _Fitted:
    cut = sum(item.parts is not None for item in fitted.program.items)
    if not cut:
        return fitted
    items = tuple(replace(item, parts=None) for item in fitted.program.items)
    program = with_sentence(
        replace(fitted.program, items=items), f"Parts left out: those of {cut} items."
    )
    return _if_shorter(fitted, budget, program, f"parts: of {cut} items")
