"""How far each place in a picture is from the camera."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._arrays import describe, to_numpy
from ..._plain import decimals
from ...errors import InputError, ToolError
from ...experts import available
from ...experts._weights import is_present
from ...images import RGB
from ...programs import depth_program
from ...results import DepthMap
from ...view import tool_picture
from ..capability import Capability, Finding, New, unusable
from ..memory import Memory
from ._backend import Backend, expert_backend

__all__ = ["DepthEstimation", "preferred_expert"]

_ANY_SCENE = "zoedepth-nyu-kitti"  # the metric one that tells rooms and streets apart itself
_LEAST_KNOWN = 0.5  # share of the pixels; of a map with fewer, most of the picture is unknown
_FLAT = 1e-4  # relative spread of the values; rounding alone gives as much
_RAW_CELLS = 16  # a side: all pixels would fill any model's context


class DepthEstimation(Capability):
    """Estimates the depth of every pixel.

    Args:
        expert: a depth expert by name, which is loaded when it is first wanted; `default` for
            `preferred_expert()`; a callable that takes a picture and returns a `DepthMap`; or a `DepthMap` that
            is known already, of every picture of its size.
        options: what a named expert is loaded with: `device`, `weights`, …

    Raises:
        InputError: no such expert, or options beside one that is loaded.

    >>> import asyncio, tempfile
    >>> metres = np.tile(np.linspace(1, 5, 200, dtype=np.float32), (100, 1))
    >>> memory = Memory(tempfile.mkdtemp())
    >>> picture = memory.add("image", np.zeros((100, 200, 3), np.uint8), made_by="user").handle
    >>> known = DepthEstimation(DepthMap(metres, "metric"))
    >>> asyncio.run(known.call(memory, picture)).phrases
    {'unit': 'metres'}
    """

    name = "depth_estimation"

    def __init__(
        self,
        expert: str | Callable[..., DepthMap] | DepthMap = "default",
        **options: Any,
    ) -> None:
        self._backend = _backend(expert, options)

    def settings(self) -> dict[str, Any]:
        """The expert."""
        return {"expert": self._backend.facts}

    async def call(self, memory: Memory, image: str) -> Finding:
        """Estimate how far each place in a picture is.

        Args:
            memory: what was gathered.
            image: the handle of a picture.
        """
        picture = memory.image(image)
        await self._backend.ready()
        try:
            answer = await self._backend.run(picture)
        except (InputError, ToolError) as error:  # such as a network's NaN, or too thin a picture
            return unusable(str(error), image=image)
        depth = _on_host(answer, picture)
        raw = _raw(depth)
        why = _says_nothing(depth)
        if why is not None:
            return unusable(why, image=image, raw=raw)
        metric = depth.kind == "metric"
        program = await asyncio.to_thread(
            lambda: depth_program(
                depth, units="m" if metric else "nearness", reading="median", relations=False
            )
        )
        return Finding(
            "found",
            {"image": image},
            program=program,
            new={
                "depth": New("depth", depth, (image,), about=_about(depth)),
                "drawing": New(
                    "image",
                    tool_picture(depth),
                    (image,),
                    show=True,
                    about=f"the depth of {image}, yellow is near",
                ),
            },
            raw=raw,
            phrases={"unit": "metres" if metric else "relative"},
        )


def preferred_expert() -> str:
    """The depth expert that `default` stands for.

    A metric one comes before those without a scale, and one whose weights are on this machine before those
    that would have to be downloaded.

    >>> preferred_expert() in available("depth")
    True
    """
    entries = available("depth")
    names = sorted(entries, key=lambda name: (name != _ANY_SCENE, not _is_metric(name)))
    here = [name for name in names if entries[name].installed and is_present(entries[name].card)]
    return (here or names)[0]


def _is_metric(name: str) -> bool:
    return (available("depth")[name].card.polarity or "").startswith("metric")


def _backend(expert: str | Callable[..., DepthMap] | DepthMap, options: dict[str, Any]) -> Backend:
    if isinstance(expert, DepthMap):
        if options:
            raise InputError(f"{next(iter(options))}: has no meaning beside a DepthMap")
        values, valid = to_numpy(expert.values), to_numpy(expert.valid())
        digest = hashlib.sha256(values.tobytes() + valid.tobytes()).hexdigest()
        facts = {"name": "DepthMap", "kind": expert.kind, "digest": f"sha256:{digest}"}
        return Backend({**facts, "size": list(expert.size)}, lambda: lambda _: expert)
    return expert_backend(preferred_expert() if expert == "default" else expert, "depth", options)


def _on_host(answer: Any, picture: RGB) -> DepthMap:
    """The map that the expert returned, with numpy's arrays, if it is of this picture.

    Raises:
        ToolError: it is something else.
    """
    if not isinstance(answer, DepthMap):
        raise ToolError(f"depth_estimation: expected a DepthMap, got {describe(answer)}")
    height, width = picture.shape[:2]
    if answer.size != (width, height):
        raise ToolError(
            f"depth_estimation: expected the depth of a picture of {width}×{height} pixels, "
            f"got that of one of {answer.size[0]}×{answer.size[1]}"
        )
    mask = None if answer.mask is None else to_numpy(answer.mask)
    return replace(answer, values=to_numpy(answer.values), mask=mask)


def _says_nothing(depth: DepthMap) -> str | None:
    """Why nothing can be told from a map, or None where something can."""
    valid: npt.NDArray[np.bool_] = to_numpy(depth.valid())
    share = float(valid.mean())
    if share < _LEAST_KNOWN:
        return f"only {share:.0%} of the picture has a depth"
    known = to_numpy(depth.values)[valid].astype(np.float64)
    low, high = float(known.min()), float(known.max())
    if high - low <= _FLAT * max(abs(low), abs(high)):
        return f"it is {low:.4g} everywhere, so it tells no place from another"
    return None


def _about(depth: DepthMap) -> str:
    """Size, kind, and for metres the range."""
    width, height = depth.size
    if depth.kind != "metric":
        return f"{width}×{height}, bigger is nearer, no scale"
    known = to_numpy(depth.values)[to_numpy(depth.valid())]
    return f"{width}×{height}, metres from {known.min():.3g} to {known.max():.3g}"


def _raw(depth: DepthMap) -> dict[str, Any]:
    """The expert's numbers at evenly spread pixels, as they are; None where there is none."""
    values, valid = to_numpy(depth.values), to_numpy(depth.valid())
    rows, columns = (
        ((np.arange(min(n, _RAW_CELLS)) + 0.5) * n / min(n, _RAW_CELLS)).astype(int)
        for n in values.shape
    )
    some, known = decimals(values[np.ix_(rows, columns)]), valid[np.ix_(rows, columns)]
    return {
        "kind": depth.kind,
        "size": list(depth.size),
        "values": [
            [value if ok else None for value, ok in zip(row, oks, strict=True)]
            for row, oks in zip(some, known.tolist(), strict=True)
        ],
    }
