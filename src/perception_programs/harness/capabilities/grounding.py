"""Finding things in a picture by their names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..._arrays import describe
from ..._plain import decimals
from ...errors import InputError, ToolError
from ...experts._detector import check_fraction
from ...geometry import Size
from ...images import RGB
from ...program import PerceptionProgram
from ...programs import detection_program
from ...results import Detections
from ...view import overlay
from ..capability import Capability, Finding, New, unusable
from ..memory import Memory
from ._backend import expert_backend

__all__ = ["VisualGrounding"]

_MOST_QUERIES = 20
_LONGEST_QUERY = 80  # characters; grounding models take names, not descriptions


class VisualGrounding(Capability):
    """Finds what is asked for by name, with a detector.

    Boxes are kept as the detector gives them. Two around one thing are not made one, since only the question
    tells whether they are; code over the boxes can.

    Args:
        expert: a detector by name, which is loaded when it is first wanted, or a callable that takes a picture
            and `labels=` and returns `Detections`.
        threshold: the least score of a box; by default the detector's own.
        options: what a named detector is loaded with: `device`, `weights`, …

    Raises:
        InputError: no such detector, or an option that does not fit.

    >>> import asyncio, tempfile
    >>> def detector(image, *, labels):
    ...     return Detections([[20, 10, 60, 50]], [0.9], (labels[0],), size=(200, 100))
    >>> memory = Memory(tempfile.mkdtemp())
    >>> picture = memory.add("image", np.zeros((100, 200, 3), np.uint8), made_by="user").handle
    >>> found = asyncio.run(VisualGrounding(detector).call(memory, picture, ["red cup"]))
    >>> found.program.items
    (Item(p=1, c=(100, 100, 300, 500), r=0.9, b='red cup'),)
    """

    name = "visual_grounding"

    def __init__(
        self,
        expert: str | Callable[..., Detections] = "llmdet-tiny",
        *,
        threshold: float | None = None,
        **options: Any,
    ) -> None:
        self._threshold = None if threshold is None else check_fraction("threshold", threshold)
        if isinstance(expert, str) and threshold is not None:
            options["threshold"] = threshold
        self._backend = expert_backend(expert, "detection", options)

    def settings(self) -> dict[str, Any]:
        """The detector and its threshold."""
        return {"expert": self._backend.facts, "threshold": self._threshold}

    async def call(self, memory: Memory, image: str, queries: list[str]) -> Finding:
        """Find things in a picture by name.

        Args:
            memory: what was gathered.
            image: the handle of a picture.
            queries: what to look for, one short name each.
        """
        asked = _checked(queries)
        picture = memory.image(image)
        await self._backend.ready()
        try:
            answer = await self._backend.run(picture, labels=asked)
        except ToolError as error:
            return unusable(str(error), image=image)
        found = self._above(_detections(answer, (picture.shape[1], picture.shape[0])))
        fields = {"image": image, "queries": ", ".join(asked)}
        raw = _raw(found)
        if not len(found):
            return Finding("none", {**fields, "threshold": found.threshold or 0.0}, raw=raw)
        program = detection_program(found)
        drawing = await asyncio.to_thread(_drawn, program, picture)
        about = f"the boxes drawn on {image}, with their numbers"
        return Finding(
            "found",
            {**fields, "count": len(found)},
            program=program,
            new={
                "boxes": New("boxes", found, (image,)),
                "drawing": New("image", drawing, (image,), show=True, about=about),
            },
            raw=raw,
        )

    def _above(self, found: Detections) -> Detections:
        """The boxes whose score reaches the threshold."""
        if self._threshold is None:
            return found
        least = max(self._threshold, found.threshold or 0.0)
        keep = np.flatnonzero(found.scores >= np.float32(least)).tolist()
        seconds = found.runner_up_labels
        return replace(
            found,
            boxes=found.boxes[keep],
            scores=found.scores[keep],
            labels=tuple(found.labels[row] for row in keep),
            masks=None if found.masks is None else found.masks[keep],
            threshold=least,
            runner_up_labels=None if seconds is None else tuple(seconds[row] for row in keep),
            runner_up_scores=None if seconds is None else found.runner_up_scores[keep],
        )


def _checked(queries: list[str]) -> list[str]:
    """The distinct names that were asked for."""
    if not 1 <= len(queries) <= _MOST_QUERIES:
        raise InputError(f"queries: expected 1 to {_MOST_QUERIES} names, got {len(queries)}")
    for query in queries:
        if not query.strip() or len(query) > _LONGEST_QUERY or not query.isprintable():
            raise InputError(
                f"queries: expected names of 1 to {_LONGEST_QUERY} characters on one line, "
                f"got {describe(query)}"
            )
    return list(dict.fromkeys(query.strip() for query in queries))


def _detections(answer: Any, size: Size) -> Detections:
    """What the detector returned, if it is about this picture.

    Raises:
        ToolError: it is something else.
    """
    if not isinstance(answer, Detections):
        raise ToolError(f"visual_grounding: expected Detections, got {describe(answer)}")
    if answer.size != size:
        raise ToolError(
            f"visual_grounding: expected boxes of a picture of {size[0]}×{size[1]} pixels, "
            f"got some of {answer.size[0]}×{answer.size[1]}"
        )
    return answer


def _drawn(program: PerceptionProgram, picture: RGB) -> Any:
    """The boxes with their numbers, and with what they are where that differs."""
    one_name = len({item.b for item in program.items}) == 1
    items = [
        replace(item, b=str(item.p) if one_name else f"{item.p} {item.b}", r=None)
        for item in program.items
    ]
    return overlay(replace(program, items=tuple(items)), picture)


def _raw(found: Detections) -> list[dict[str, Any]]:
    """The boxes as detectors commonly return them: pixels, score, label."""
    rows = zip(found.labels, decimals(found.scores), decimals(found.boxes), strict=True)
    return [{"label": label, "score": score, "box": box} for label, score, box in rows]
