"""Sequences of frames: a program a step, all read by one expert."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from .._arrays import describe, is_array, is_floating
from ..errors import InputError
from ..experts import registry
from ..program import PerceptionProgram
from ..results import DepthMap, FlowField
from ._motion import expert_options
from ._segments import check_times, in_seconds
from .depth import depth_program
from .flow import flow_program

__all__ = ["depth_programs", "flow_programs"]


def flow_programs(
    frames: Iterable[Any], *, times: Sequence[float] | None = None, **options: Any
) -> list[PerceptionProgram]:
    """A flow program for each step from one frame to the next.

    Each says in its note and its `meta` which step it is: `step` (from 1), `steps`, and with `times` the
    `times` of its two frames.

    Args:
        frames: pictures, of which each two that follow each other are a step; or a `FlowField` or H×W×2
            array for each step.
        times: of the frames, in seconds, one more than there are steps.
        options: of `flow_program`. An expert is loaded once for all steps.

    Raises:
        InputError: fewer than two pictures, no flow at all, times that do not increase or are not as
            many, or what `flow_program` refuses.

    >>> import numpy as np
    >>> steps = flow_programs([np.full((8, 8, 2), -2.0), np.full((8, 8, 2), 3.0)], times=[0, 0.5, 1], grid=1)
    >>> [(step.items[0].r, step.meta["times"]) for step in steps]
    [('left', (0.0, 0.5)), ('right', (0.5, 1.0))]
    """
    given = _frames(frames)
    flows = [_is_flow(frame) for frame in given]
    if any(flows) and not all(flows):
        raise InputError("frames: expected pictures, or the flow of each step, got both")
    if not any(flows) and len(given) < 2:
        raise InputError(f"frames: expected at least two pictures, got {len(given)}")
    steps = [(flow,) for flow in given] if any(flows) else list(pairwise(given))
    known = check_times(times, len(steps) + 1)
    if not any(flows):
        made_with = expert_options(options.get("check", False), options.get("reliability"))
        options["expert"] = _loaded("flow", options.get("expert"), made_with)
    programs = [flow_program(*step, **options) for step in steps]
    return _numbered(programs, known, 1)


def depth_programs(
    frames: Iterable[Any], *, times: Sequence[float] | None = None, **options: Any
) -> list[PerceptionProgram]:
    """A depth program for each frame.

    Each says in its note and its `meta` which frame it is: `step` (from 1), `steps`, and with `times` its
    `time`. Nearness runs from the farthest to the nearest of each frame alone; only metres
    (`units="m"`) and maps given as nearness are on one scale.

    Args:
        frames: pictures, `DepthMap`s or H×W arrays.
        times: of the frames, in seconds.
        options: of `depth_program`. An expert is loaded once for all frames.

    Raises:
        InputError: no frame, times that do not increase or are not as many, or what `depth_program`
            refuses.
    """
    given = _frames(frames)
    known = check_times(times, len(given))
    if not any(isinstance(f, DepthMap) or (is_array(f) and f.ndim == 2) for f in given):
        options["expert"] = _loaded("depth", options.get("expert"), {})
    programs = [depth_program(frame, **options) for frame in given]
    return _numbered(programs, known, 0)


def _frames(frames: Any) -> list[Any]:
    if isinstance(frames, (str, bytes, Mapping)) or not isinstance(frames, Iterable):
        raise InputError(f"frames: expected a series of frames, got {describe(frames)}")
    given = list(frames)
    if not given:
        raise InputError("frames: expected at least one, got none")
    return given


def _is_flow(frame: Any) -> bool:
    return isinstance(frame, FlowField) or (
        is_array(frame)
        and len(frame.shape) == 3
        and 2 in (frame.shape[0], frame.shape[-1])
        and is_floating(frame)
    )


def _loaded(modality: str, expert: Any, made_with: Mapping[str, Any]) -> Any:
    """The expert itself, so that no step loads it again."""
    if expert is None:
        return registry.default(modality, **made_with)
    return registry.load(expert, **made_with) if isinstance(expert, str) else expert


def _numbered(
    programs: Sequence[PerceptionProgram], times: Sequence[float] | None, ahead: int
) -> list[PerceptionProgram]:
    """The programs, each saying which it is; `ahead` frames lie between the first and last of one."""
    said, what = in_seconds(times), "Step" if ahead else "Frame"
    numbered = []
    for n, program in enumerate(programs):
        note, where = f"{what} {n + 1} of {len(programs)}", dict[str, Any]()
        if times is not None and said is not None:
            if ahead:
                note += f", from {said[n]} to {said[n + ahead]} s"
                where["times"] = (times[n], times[n + ahead])
            else:
                note += f", at {said[n]} s"
                where["time"] = times[n]
        numbered.append(
            replace(
                program,
                note=f"{note}. {program.note or ''}".strip(),
                meta={**program.meta, "step": n + 1, "steps": len(programs), **where},
            )
        )
    return numbered
