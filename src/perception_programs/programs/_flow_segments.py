"""The dominant motion of a sequence, segment by segment."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import fmean
from typing import Any, Literal

from .._arrays import describe
from .._plain import plain_number, rounded
from ..errors import InputError
from ..program import Item, PerceptionProgram, Reading, numbers_in
from ._checks_base import size_of
from ._experts import check_unused
from ._segments import Count, Segment, check_times, fitting, in_seconds, span
from .sequences import flow_programs

__all__ = ["flow_summary"]

_STILL = 0.5  # pixels
_PICTURE = "whole picture"
_Vector = tuple[float, float]


def flow_summary(
    steps: Iterable[Any],
    *,
    times: Sequence[float] | None = None,
    reading: Literal["direction", "mean"] = "direction",
    still: float = _STILL,
    max_tokens: int | None = None,
    count: Count | None = None,
    **options: Any,
) -> PerceptionProgram:
    """One program of how a sequence moves (`flow`, `segment`): the dominant motion, segment by segment.

    The dominant motion of a step is that of most of its cells: `left`, `right`, `up`, `down` by the
    larger component of their motion, or `still`. Steps that follow each other and move alike are one
    segment. An item is a segment: b from when to when, r how it moves, and q which share of its steps does
    so, where not all do.

    Args:
        steps: flow programs, as `flow_programs` makes them, or what it takes: pictures or flows. Cells
            that read means (`reading="mean"`) are best; those that read sides tell `left` and `right`.
        times: of the frames, in seconds; those that the programs say when not given.
        reading: `direction` for the word; `mean` for (u, v, magnitude), the mean motion of the dominant
            cells, in pixels a step, u to the right and v down.
        still: how many pixels a step count as no motion.
        max_tokens: the most tokens the whole text may have. Neighbouring segments that differ least are
            merged until it fits.
        count: how many tokens a text is; by default an estimate.
        options: of `flow_programs`, where pictures or flows are given.

    Raises:
        InputError: no flow programs, or none can be made; steps of pictures of different sizes, whose
            pixels are not the same; times of steps that do not follow each other; a budget that not even
            one segment fits; means asked of programs that read sides only.

    >>> def step(motion):
    ...     return PerceptionProgram("flow", "patch", (Item(1, (500, 500), motion),), grid=1)
    >>> summary = flow_summary([step((-4, 0, 4)), step((-2, 0, 2)), step("still")], times=[0, 1, 2, 3])
    >>> [(item.r, item.b) for item in summary.items]
    [('left', '0-2 s'), ('still', '2-3 s')]
    """
    programs = _flow_programs(steps, times, options)
    _check_sizes(programs)
    known = _times(programs, times)
    if reading not in ("direction", "mean"):
        raise InputError(f"reading: expected direction or mean, got {describe(reading)}")
    limit = float(plain_number(still, "still"))
    moves = [_dominant(program, limit) for program in programs]
    if reading == "mean" and not all(vector for word, vector in moves if word):
        raise InputError(
            'reading: expected programs whose cells read means for "mean", got sides alone; make them '
            'with flow_program(..., reading="mean")'
        )
    words = [word for word, _ in moves]
    clock = in_seconds(known)
    vectors = [vector or _UNITS.get(word or "", (0.0, 0.0)) for word, vector in moves]

    def cost(segment: Segment) -> float:
        return _spread(vectors[segment.first : segment.last + 1])

    def say(segments: Sequence[Segment]) -> PerceptionProgram:
        items = tuple(
            _item(n, segment, words, vectors, known, clock, reading)
            for n, segment in enumerate(segments, 1)
        )
        return PerceptionProgram(
            modality="flow",
            granularity="segment",
            items=items,
            note=_note(items, reading, known, len(segments) < len(runs)),
            meta={
                "steps": len(programs),
                "segments_merged": len(runs) - len(segments),
                **({} if known is None else {"times": known}),
            },
        )

    numbered = groupby(range(len(words)), key=words.__getitem__)
    groups = [list(group) for _, group in numbered]
    runs = [Segment(_PICTURE, group[0], group[-1]) for group in groups]
    return fitting(runs, cost, say, max_tokens, count)


_UNITS: Mapping[str, _Vector] = {
    "left": (-1.0, 0.0),
    "right": (1.0, 0.0),
    "up": (0.0, -1.0),
    "down": (0.0, 1.0),
}


def _flow_programs(
    steps: Any, times: Sequence[float] | None, options: Mapping[str, Any]
) -> list[PerceptionProgram]:
    given = list(steps) if isinstance(steps, Iterable) else steps
    made = isinstance(given, list) and any(isinstance(s, PerceptionProgram) for s in given)
    if not made:
        return flow_programs(given, times=times, **{"reading": "mean", **options})
    for step in given:
        if not isinstance(step, PerceptionProgram) or step.modality != "flow":
            raise InputError(f"steps: expected flow programs, got {describe(step)}")
    check_unused("flow programs", **options)
    return given


def _check_sizes(programs: Sequence[PerceptionProgram]) -> None:
    """Refuse steps of pictures of different sizes; those that say none are taken for the others'."""
    sizes = {n: size for n, p in enumerate(programs, 1) if (size := size_of(p)) is not None}
    first = next(iter(sizes), 0)
    for n, size in sizes.items():
        if size != sizes[first]:
            said = " and ".join(
                f"{w}×{h} in step {k}" for k, (w, h) in ((first, sizes[first]), (n, size))
            )
            raise InputError(f"steps: expected the flow of pictures of one size, got {said}")


def _times(
    programs: Sequence[PerceptionProgram], times: Sequence[float] | None
) -> tuple[float, ...] | None:
    """The times of the frames, one more than there are steps, where they are known."""
    if times is None:
        said = [program.meta.get("times") for program in programs]
        if None in said:
            return None
        times = _in_a_row(said)
    return check_times(times, len(programs) + 1)


def _in_a_row(said: Sequence[Any]) -> list[float]:
    """The times of all frames, from those of the two frames of each step."""
    for n, pair in enumerate(said, 1):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(
                f'meta["times"]: expected the times of the two frames of step {n}, got {describe(pair)}'
            )
    for (_, end), (start, _) in pairwise(said):
        if start != end:
            raise InputError(
                f"steps: expected steps that follow each other, got one to {end} s and then one from "
                f"{start} s; times= says others"
            )
    return [said[0][0], *(end for _, end in said)]


def _dominant(program: PerceptionProgram, still: float) -> tuple[str | None, _Vector | None]:
    """The word that most cells of a step move by, and their mean motion if they say it."""
    cells = [(_word(item.r, still), numbers_in(item.r)) for item in _cells(program)]
    words = Counter(word for word, _ in cells if word is not None)
    if not words:
        return None, None
    word = words.most_common(1)[0][0]
    vectors = [numbers[:2] for said, numbers in cells if said == word and len(numbers) >= 2]
    if word == "still":
        return word, (0.0, 0.0)
    if not vectors:
        return word, None
    u, v = (fmean(axis) for axis in zip(*vectors, strict=True))
    return word, (u, v)


def _cells(program: PerceptionProgram) -> list[Item]:
    """The cells of a flow program; points that are asked about may come after them."""
    if program.grid is None:
        return list(program.items)
    return [item for item in program.items if isinstance(item.p, int)]


def _word(reading: Reading, still: float) -> str | None:
    numbers = numbers_in(reading)
    if len(numbers) >= 2:
        u, v = numbers[:2]
        if math.hypot(u, v) < still:
            return "still"
        if abs(u) >= abs(v):
            return "left" if u < 0 else "right"
        return "up" if v < 0 else "down"
    return reading if isinstance(reading, str) and reading in (*_UNITS, "still") else None


def _spread(vectors: Sequence[_Vector]) -> float:
    """The sum of squared distances from the mean."""
    means = [fmean(axis) for axis in zip(*vectors, strict=True)]
    off = [(u - means[0], v - means[1]) for u, v in vectors]
    return sum(x * x + y * y for x, y in off)  # not `**`, which refuses what is too large


def _item(
    n: int,
    segment: Segment,
    words: Sequence[str | None],
    vectors: Sequence[_Vector],
    times: Sequence[float] | None,
    clock: Sequence[str] | None,
    reading: str,
) -> Item:
    steps = range(segment.first, segment.last + 1)
    lasting = Counter[str | None]()
    for step in steps:
        lasting[words[step]] += 1 if times is None else times[step + 1] - times[step]  # type: ignore[assignment]
    word, most = lasting.most_common(1)[0]
    when = (
        span(segment.first, segment.last, None, "step")
        if clock is None
        else span(segment.first, segment.last + 1, clock)
    )
    said: Reading = word
    if reading == "mean" and word is not None:
        alike = [vectors[step] for step in steps if words[step] == word]
        u, v = (rounded(fmean(axis)) for axis in zip(*alike, strict=True))
        said = (u, v, rounded(math.hypot(u, v)))
    share = rounded(most / lasting.total())
    return Item(n, _PICTURE, said, when, q=share if len(lasting) > 1 else None)


def _note(
    items: Sequence[Item], reading: str, times: Sequence[float] | None, is_merged: bool
) -> str:
    when = "from when to when, in seconds" if times is not None else "which steps between frames"
    said = {
        "direction": "left, right, up or down, which way what is seen moves in the picture, or still",
        "mean": "[u, v, magnitude], its mean motion in pixels of the picture from one frame to the next, "
        "u to the right and v down",
    }[reading]
    parts = [
        "Each item is a segment of a sequence of frames. p: its number. c: what it is about. "
        f"r: the motion that most cells of the picture have: {said}. b: {when}."
    ]
    if any(item.q is not None for item in items):
        parts.append("q: the share of the segment in which it is so.")
    if any(item.r is None for item in items):
        parts.append("null: no motion could be read.")
    if is_merged:
        parts.append("Short or similar segments are merged with those beside them.")
    return " ".join(parts)
