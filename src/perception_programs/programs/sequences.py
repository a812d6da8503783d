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
from ._segments import check_times
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
        made_with = {"check": True} if options.get("check") else {}
        options["expert"] = _loaded("flow", options.get("expert"), made_with)
    programs = [flow_program(*step, **options) for step in steps]
    return [_numbered(program, n, len(steps), known, 1) for n, program in enumerate(programs)]


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
    return [_numbered(program, n, len(given), known, 0) for n, program in enumerate(programs)]


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
    program: PerceptionProgram, n: int, steps: int, times: Sequence[float] | None, ahead: int
) -> PerceptionProgram:
    """The program, saying which step it is; `ahead` frames lie between its first and its last."""
    said = f"Step {n + 1} of {steps}" if ahead else f"Frame {n + 1} of {steps}"
    where: dict[str, Any] = {"step": n + 1, "steps": steps}
    if times is not None and ahead:
        said += f", from {times[n]:.6g} to {times[n + ahead]:.6g} s"
        where["times"] = (times[n], times[n + ahead])
    elif times is not None:
        said += f", at {times[n]:.6g} s"
        where["time"] = times[n]
    note = f"{said}. {program.note or ''}".strip()
    return replace(program, note=note, meta={**program.meta, **where})
