"""What comes nearer and what goes farther in a sequence, segment by segment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Any, Literal

from .._arrays import describe
from .._plain import rounded
from ..errors import InputError
from ..geometry import FRAME
from ..program import Item, PerceptionProgram, Reading, numbers_in
from ..results import DepthMap
from ._cells import check_tau
from ._checks_base import Place
from ._checks_depth import depth_places, in_metres, nearness
from ._experts import check_unused
from ._segments import Count, Segment, check_times, fitting, in_seconds, span
from ._trends import Series, misfit, order_of, rate_segments, trend, trend_segments
from .sequences import depth_programs

__all__ = ["depth_summary"]

_PICTURE = "whole picture"
_ORDER = "order of the points"


def depth_summary(
    frames: Iterable[Any],
    *,
    times: Sequence[float] | None = None,
    reading: Literal["trend", "change"] = "trend",
    boxes: Mapping[str, Sequence[float]] | Sequence[Mapping[str, Sequence[float]]] | None = None,
    tau: float = 0.05,
    max_tokens: int | None = None,
    count: Count | None = None,
    **options: Any,
) -> PerceptionProgram:
    """One program of what comes nearer and what goes farther in a sequence (`depth`, `segment`).

    What is followed are the points of the programs, where points were asked about, and `boxes`; without
    either, the whole picture. A box, or the picture, reads the median of its cells, of each the median or
    the middle of its range. An item is a segment of one of them: c which, b from when to when, r `nearer`,
    `farther` or `steady`.

    Only one scale for all frames allows for that: metres (`units="m"`), or maps given as nearness
    (`kind="normalised"`), if theirs is one. A relative map says how near things are to each other in its
    frame alone. Of such programs only the order of points is told: an item is a segment in which it
    stays the same, r the letters from the nearest to the farthest.

    Args:
        frames: depth programs, as `depth_programs` makes them, or what it takes: depth maps or pictures.
        times: of the frames, in seconds; those that the programs say when not given.
        reading: `trend` for the word; `change` for (at the beginning, at the end, change per second, or
            per frame where times are unknown), in metres or nearness; a new segment begins where the
            rate changes, not only where the word does.
        boxes: {name: (x0, y0, x1, y1)} in the 0-1000 frame, or one such mapping for each frame.
        tau: how much nearness must change to be a change, or, in metres, its logarithm: 0.05 is a
            twentieth of the distance. Half of it is taken for noise.
        max_tokens: the most tokens the whole text may have. Neighbouring segments that are most nearly
            one line are merged until it fits.
        count: how many tokens a text is; by default an estimate.
        options: of `depth_programs`, where maps or pictures are given.

    Raises:
        InputError: no depth programs, or none can be made; fewer than two; no common scale, and no
            points whose order could be told; a budget that not even one segment fits.

    >>> import numpy as np
    >>> maps = [DepthMap(np.full((8, 8), metres), "metric") for metres in (8, 7, 6, 6, 6)]
    >>> summary = depth_summary(maps, times=[0, 1, 2, 3, 4], grid=1)
    >>> [(item.r, item.b) for item in summary.items]
    [('nearer', '0-2 s'), ('steady', '2-4 s')]
    """
    if reading not in ("trend", "change"):
        raise InputError(f"reading: expected trend or change, got {describe(reading)}")
    limit, programs = check_tau(tau), _depth_programs(frames, times, options)
    known = _times(programs, times)
    if _one_scale(programs):
        return _trends(programs, known, boxes, reading, limit, max_tokens, count)
    if boxes is not None or not any(not place.is_cell for place in depth_places(programs[0])):
        raise InputError(
            "frames: expected one scale for all, got nearness that is relative to each frame alone; "
            'metric maps with units="m" have one, and maps given as nearness (kind="normalised"); '
            "with points= their order can be told"
        )
    return _orders(programs, known, limit, max_tokens, count)


def _depth_programs(
    frames: Any, times: Sequence[float] | None, options: Mapping[str, Any]
) -> list[PerceptionProgram]:
    given = list(frames) if isinstance(frames, Iterable) else frames
    if isinstance(given, list) and any(isinstance(f, PerceptionProgram) for f in given):
        for frame in given:
            if not isinstance(frame, PerceptionProgram) or frame.modality != "depth":
                raise InputError(f"frames: expected depth programs, got {describe(frame)}")
        check_unused("depth programs", **options)
    else:
        metric = [isinstance(f, DepthMap) and f.kind == "metric" for f in given or [None]]
        in_metres_ = {"units": "m"} if all(metric) or options.get("kind") == "metric" else {}
        given = depth_programs(given, times=times, **{**in_metres_, **options})
    if len(given) < 2:
        raise InputError(f"frames: expected at least two, got {len(given)}")
    return given


def _times(
    programs: Sequence[PerceptionProgram], times: Sequence[float] | None
) -> tuple[float, ...] | None:
    if times is None:
        said = [program.meta.get("time") for program in programs]
        if any(time is None for time in said):
            return None
        times = said  # type: ignore[assignment]
    return check_times(times, len(programs))


def _one_scale(programs: Sequence[PerceptionProgram]) -> bool:
    metres = [in_metres(program) for program in programs]
    return all(metres) or (
        not any(metres) and all(p.meta.get("kind") == "normalised" for p in programs)
    )


def _middle(place: Place) -> float:
    """The median of a place; the middle of its range, where that is all there is."""
    return median(numbers_in(place.item.r))


def _readings(
    program: PerceptionProgram, boxes: Mapping[str, Sequence[float]] | None
) -> dict[str, float]:
    """What each thing that is followed reads in one frame."""
    found = depth_places(program)
    cells = [place for place in found if place.is_cell]
    read = {f"point {p.item.p}": _middle(p) for p in found if not p.is_cell}
    for name, box in (boxes or {}).items():
        inside = [_middle(cell) for cell in cells if _within(cell, box, name)]
        read |= {name: median(inside)} if inside else {}
    if not read and boxes is None and cells:
        read[_PICTURE] = median(map(_middle, cells))
    return read


def _within(cell: Place, box: Any, name: str) -> bool:
    """Whether a cell's centre lies in a box, or the box's centre in the cell."""
    try:
        x0, y0, x1, y1 = map(float, box)
    except (TypeError, ValueError):
        raise InputError(
            f"boxes: expected (x0, y0, x1, y1) for {name!r}, got {describe(box)}"
        ) from None
    if not (0 <= x0 <= x1 <= FRAME and 0 <= y0 <= y1 <= FRAME):
        raise InputError(
            f"boxes: expected corners from 0 to {FRAME} for {name!r}, got {describe(box)}"
        )
    a0, b0, a1, b1 = cell.box
    centre_in = x0 <= (a0 + a1) / 2 <= x1 and y0 <= (b0 + b1) / 2 <= y1
    return centre_in or (a0 <= (x0 + x1) / 2 < a1 and b0 <= (y0 + y1) / 2 < b1)


def _boxes_of(boxes: Any, frames: int) -> list[Mapping[str, Sequence[float]] | None]:
    if boxes is None or isinstance(boxes, Mapping):
        return [boxes] * frames
    if not isinstance(boxes, Sequence) or len(boxes) != frames:
        raise InputError(
            f"boxes: expected a mapping, or one for each of {frames} frames, got {describe(boxes)}"
        )
    for frame in boxes:
        if frame is not None and not isinstance(frame, Mapping):
            raise InputError(
                f"boxes: expected {{name: (x0, y0, x1, y1)}} for each frame, got {describe(frame)}"
            )
    return list(boxes)


def _trends(
    programs: Sequence[PerceptionProgram],
    times: Sequence[float] | None,
    boxes: Any,
    reading: str,
    tau: float,
    max_tokens: int | None,
    count: Count | None,
) -> PerceptionProgram:
    metres = in_metres(programs[0])
    read = [
        _readings(*pair) for pair in zip(programs, _boxes_of(boxes, len(programs)), strict=True)
    ]
    names = list(dict.fromkeys(name for frame in read for name in frame))
    frames = {name: [n for n, frame in enumerate(read) if name in frame] for name in names}
    # A rate is told in metres, so it is in metres that one stays the same.
    rates, clock = reading == "change", in_seconds(times)
    ratio = rates and metres

    def value(number: float) -> float:
        return number if rates else nearness([number], metres)[0]

    series = {
        name: [
            (float(n if times is None else times[n]), value(read[n][name])) for n in frames[name]
        ]
        for name in names
    }
    found = [
        segment
        for name, own in series.items()
        for segment in (
            rate_segments(name, own, tau, ratio=ratio) if rates else trend_segments(name, own, tau)
        )
    ]
    if not found:
        raise InputError("frames: expected something that can be read in two frames, got none")

    def say(segments: Sequence[Segment]) -> PerceptionProgram:
        items = []
        for n, segment in enumerate(segments, 1):
            own = frames[segment.target]
            ends = own[segment.first], own[segment.last]
            known = series[segment.target]
            said = _change(known, segment) if rates else trend(known, segment, tau)
            items.append(Item(n, segment.target, said, span(*ends, clock)))
        merged = len(found) - len(segments)
        note = _trend_note(reading, "m" if metres else "nearness", tau, times, merged > 0)
        return _summary(items, note, len(programs), times, merged)

    def cost(segment: Segment) -> float:
        return misfit(series[segment.target], segment, ratio=ratio)

    return fitting(found, cost, say, max_tokens, count)


def _change(series: Series, segment: Segment) -> Reading:
    """What a segment reads at its beginning, at its end, and the change between them for each unit of
    time.
    """
    (start, first), (end, last) = series[segment.first], series[segment.last]
    return rounded(first), rounded(last), rounded((last - first) / (end - start))


def _summary(
    items: Iterable[Item],
    note: str,
    frames: int,
    times: Sequence[float] | None,
    merged: int,
) -> PerceptionProgram:
    meta: dict[str, Any] = {"frames": frames, "segments_merged": merged}
    meta |= {} if times is None else {"times": times}
    return PerceptionProgram("depth", "segment", tuple(items), note=note, meta=meta)


def _trend_note(
    reading: str, units: str, tau: float, times: Sequence[float] | None, is_merged: bool
) -> str:
    per = "second" if times is not None else "frame"
    scale = "distance in metres" if units == "m" else "nearness from 0 (far) to 1 (near)"
    least = f"{100 * tau:.4g}% of its distance" if units == "m" else f"{tau:.4g} of nearness"
    said = {
        "trend": f"whether it gets nearer or farther, by more than {least}, or stays steady",
        "change": f"[at the beginning, at the end, change per {per}] of its {scale}",
    }[reading]
    return _segment_note(f"c: what it is about. r: {said}.", times, is_merged)


def _segment_note(about: str, times: Sequence[float] | None, is_merged: bool) -> str:
    when = "from when to when, in seconds" if times is not None else "which frames"
    note = f"Each item is a segment of a sequence of frames. p: its number. {about} b: {when}."
    return f"{note} Similar segments are merged with those beside them." if is_merged else note


def _orders(
    programs: Sequence[PerceptionProgram],
    times: Sequence[float] | None,
    tau: float,
    max_tokens: int | None,
    count: Count | None,
) -> PerceptionProgram:
    """Segments in which points stay in one order, for frames without a common scale."""
    orders: list[tuple[str, ...]] = []
    for program in programs:
        values = {
            str(place.item.p): nearness([_middle(place)], in_metres(program))[0]
            for place in depth_places(program)
            if not place.is_cell
        }
        orders.append(order_of(values, orders[-1] if orders else sorted(values), tau))
    clock = in_seconds(times)
    groups = [list(group) for _, group in groupby(range(len(orders)), key=orders.__getitem__)]
    found = [Segment(_ORDER, group[0], group[-1]) for group in groups]

    def longest(segment: Segment) -> tuple[tuple[str, ...], int]:
        part = orders[segment.first : segment.last + 1]
        return max(((order, part.count(order)) for order in part), key=lambda pair: pair[1])

    def cost(segment: Segment) -> float:
        return float(segment.last - segment.first + 1 - longest(segment)[1])

    def say(segments: Sequence[Segment]) -> PerceptionProgram:
        items = []
        for n, segment in enumerate(segments, 1):
            order, lasting = longest(segment)
            whole = segment.last - segment.first + 1
            share = None if lasting == whole else rounded(lasting / whole)
            when = span(segment.first, segment.last, clock)
            items.append(Item(n, _ORDER, ", ".join(order), when, q=share))
        merged = len(found) - len(segments)
        about = "c: what it is about. r: the points from the nearest to the farthest; how near they are "
        about += "cannot be compared from frame to frame."
        about += " q: the share of the frames in which it is so." if merged else ""
        return _summary(
            items, _segment_note(about, times, merged > 0), len(programs), times, merged
        )

    return fitting(found, cost, say, max_tokens, count)
