"""Reconciling programs: statements of different tools that cannot both be right, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .._arrays import describe
from .._plain import plain_number
from ..errors import InputError
from ..program import Item, PerceptionProgram, Relation
from ._cells import FRAME_NOTE, check_tau
from ._checks_base import Limits, Outcome, Source, Statement
from ._checks_depth import points_in_cells, two_albedos, two_depths
from ._checks_motion import matches_and_flow, two_flows, two_matchings
from ._checks_objects import objects_and_depth, two_detections, two_segmentations
from ._checks_scores import two_choices

__all__ = ["reconcile"]

_BOXES = ("object-detection", "scene")
_CHOICES = ("semantic", "jigsaw", "similarity")


@dataclass(frozen=True)
class _Check:
    """One way in which statements can disagree.

    Attributes:
        name: what is compared; a key of `meta["compared"]`.
        first, second: the modalities of the two programs; none for the second where a program is
            compared with itself.
        compare: makes the comparisons.
        rule: when two statements disagree, with the names of limits in braces.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    compare: Callable[[Source, Source, Limits], Outcome]
    rule: str


_DEPTH_RULE = (
    "depth: what one program reads at a place is more than {tau:.4g} outside of what the other reads "
    "there, which for a median includes the cells around it; in metres, {tau:.4g} of the logarithm. "
    "Where two experts have no common scale, two places are in opposite order, by more than {tau:.4g} "
    "in both: c and r[0] are of the place in front, r[1] of the one behind."
)
_CHECKS = (
    _Check("depth", ("depth",), ("depth",), two_depths, _DEPTH_RULE),
    _Check(
        "points in cells",
        ("depth",),
        (),
        points_in_cells,
        "points in cells: a point reads more than {tau:.4g} outside of the range of its cell.",
    ),
    _Check(
        "albedo",
        ("albedo",),
        ("albedo",),
        two_albedos,
        "albedo: a cell differs by more than {tau:.4g} from what the other program reads in it and "
        "around it.",
    ),
    _Check(
        "flow",
        ("flow",),
        ("flow",),
        two_flows,
        "flow: opposite directions, or motions more than {pixels:.4g} pixels apart and more than half "
        "the longer one.",
    ),
    _Check(
        "matches",
        ("correspondence",),
        ("correspondence",),
        two_matchings,
        "matches: from one spot, to places that are more than {spread:.4g} thousandths apart.",
    ),
    _Check(
        "matches and flow",
        ("correspondence",),
        ("flow",),
        matches_and_flow,
        "matches and flow: a match goes the other way than its cell and those around it, or more than "
        "{pixels:.4g} pixels elsewhere.",
    ),
    _Check(
        "labels",
        _BOXES,
        _BOXES,
        two_detections,
        "labels: boxes with an intersection over union of at least {iou:.4g} have different labels.",
    ),
    _Check(
        "classes",
        ("segmentation",),
        ("segmentation",),
        two_segmentations,
        "classes: one cell is mostly of two classes.",
    ),
    _Check(
        "objects and depth",
        (),
        ("depth",),
        objects_and_depth,
        "objects and depth: one box is said to be in front of another while the depth program reads the "
        "middle of the other nearer by more than {tau:.4g} (r: at the first, at the second), or an "
        "object's nearness is as far outside of what is read in the middle of its box.",
    ),
    _Check(
        "choices",
        _CHOICES,
        _CHOICES,
        two_choices,
        "choices: the best candidates differ, each ahead by more than {margin:.4g}.",
    ),
)


def reconcile(
    programs: Iterable[PerceptionProgram],
    *,
    tau: float = 0.15,
    pixels: float = 2.0,
    spread: float = 20.0,
    iou: float = 0.5,
    margin: float = 0.05,
) -> PerceptionProgram:
    """A program of the statements of others that cannot both be right (`reconciliation`, `statement`).

    Everything that is compared is in the programs; nothing is decided or averaged. Each item is a
    statement in doubt: c its place, r what is said, b which program says it and of what, q how reliable
    that program holds it. Relations `disagrees_with` join those that contradict each other.
    `meta["compared"]` counts the comparisons of each kind, and `meta["disagreements"]` what came of them.

    Only what cannot be so is reported. A cell across an edge has a wide range, and disagrees only with
    what lies outside of it. Nearness from two experts is known up to an unknown scale, so that the
    order of places is compared; numbers are compared in metres, among maps given as nearness
    (`normalised`), and within what one expert read in one picture. Programs say which with their `meta`,
    which text leaves out unless asked for.

    Args:
        programs: of one picture, or of one pair of pictures, by whatever tools. Kinds without a
            check are left out of the comparison.
        tau: how far nearness or albedo may differ; for metres, their logarithm.
        pixels: how far two motions may differ.
        spread: how far apart, in thousandths of the picture, two matches from one spot may end.
        iou: from which intersection over union on two boxes are of one object.
        margin: by how much the best of several candidates must lead to be a choice.

    Raises:
        InputError: something among them is no program, or a limit is no number of at least 0.

    >>> near, far = (PerceptionProgram("depth", "patch", (Item(1, (500, 500), (low, low + 0.1)),),
    ...     grid=1, meta={"kind": "normalised", "expert": name})
    ...     for low, name in ((0.8, "one"), (0.2, "other")))
    >>> found = reconcile([near, far])
    >>> [(item.r, item.b) for item in found.items]
    [((0.8, 0.9), 'depth (one): cell 1'), ((0.2, 0.30000000000000004), 'depth (other): cell 1')]
    >>> found.relations
    (Relation(subject=1, predicate='disagrees_with', object=2),)
    """
    given = (("pixels", pixels), ("spread", spread), ("iou", iou), ("margin", margin))
    limits = Limits(check_tau(tau), **{name: _limit(value, name) for name, value in given})
    sources = _sources(programs)
    done = [(check, _outcome(check, sources, limits)) for check in _CHECKS]
    done = [(check, outcome) for check, outcome in done if outcome.compared]
    items, relations = _listed([pair for _, outcome in done for pair in outcome.pairs])
    compared = {check.name: outcome.compared for check, outcome in done}
    return PerceptionProgram(
        modality="reconciliation",
        granularity="statement",
        items=items,
        relations=relations,
        note=_note(sources, [check for check, _ in done], sum(compared.values()), limits, items),
        meta={
            "programs": [source.name for source in sources],
            "compared": compared,
            "disagreements": {check.name: len(outcome.pairs) for check, outcome in done},
        },
    )


def _limit(value: float, name: str) -> float:
    number = float(plain_number(value, name))
    if number < 0:
        raise InputError(f"{name}: expected a number of at least 0, got {value!r}")
    return number


def _sources(programs: Iterable[PerceptionProgram]) -> list[Source]:
    if isinstance(programs, PerceptionProgram):
        raise InputError("programs: expected several programs in a list, got a single one")
    if not isinstance(programs, Iterable):
        raise InputError(f"programs: expected PerceptionPrograms, got {describe(programs)}")
    given = list(programs)
    for program in given:
        if not isinstance(program, PerceptionProgram):
            raise InputError(f"programs: expected PerceptionPrograms, got {describe(program)}")
    names = []
    for program in given:
        expert = program.meta.get("expert")
        names.append(f"{program.modality} ({expert})" if expert else program.modality)
    return [
        Source(name if names.count(name) == 1 else f"{name}, program {n}", program)
        for n, (name, program) in enumerate(zip(names, given, strict=True), 1)
    ]


def _outcome(check: _Check, sources: list[Source], limits: Limits) -> Outcome:
    """The check made on every two programs that it is for."""
    compared, pairs = 0, list[tuple[Statement, Statement]]()
    for n, one in enumerate(sources):
        for m, other in enumerate(sources):
            if _applies(check, one, other, n, m):
                outcome = check.compare(one, other, limits)
                compared += outcome.compared
                pairs += outcome.pairs
    return Outcome(compared, tuple(pairs))


def _applies(check: _Check, one: Source, other: Source, n: int, m: int) -> bool:
    first, second = one.program.modality, other.program.modality
    if not check.second:
        return n == m and first in check.first
    if not check.first:  # anything that relates boxes
        return n != m and first != second and second in check.second
    if check.first == check.second:
        alike = first == second or check.first is _BOXES
        return n < m and alike and first in check.first and second in check.second
    return first in check.first and second in check.second


def _listed(
    pairs: list[tuple[Statement, Statement]],
) -> tuple[tuple[Item, ...], tuple[Relation, ...]]:
    """Each statement once, numbered as they come, and the pairs as relations."""
    numbers: dict[Statement, int] = {}
    relations = []
    for pair in pairs:
        first, second = (numbers.setdefault(said, len(numbers) + 1) for said in pair)
        relations.append(Relation(first, "disagrees_with", second))
    items = tuple(Item(n, said.c, said.r, said.b, q=said.q) for said, n in numbers.items())
    return items, tuple(dict.fromkeys(relations))


def _note(
    sources: list[Source],
    checks: list[_Check],
    compared: int,
    limits: Limits,
    items: tuple[Item, ...],
) -> str:
    if not checks:
        return (
            f"Nothing to compare: no two statements of the {len(sources)} programs are about the same "
            "thing."
        )
    rules = " ".join(check.rule.format_map(vars(limits)) for check in checks)
    if not items:
        return f"No disagreement was found in {compared} comparisons of statements. Compared were: {rules}"
    return (
        f"Each item is a statement in doubt, of {compared} comparisons made. p: its number. c: [x, y] "
        f"or [x0, y0, x1, y1] of what it is about; {FRAME_NOTE}. r: what is said. b: which program says "
        "it, and of what. disagrees_with: both cannot be right; nothing is decided here. Rules: "
        f"{rules}"
    )
