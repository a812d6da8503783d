"""Python over what was gathered: a model writes the program, the sandbox runs it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..._arrays import to_numpy
from ..._plain import check_count
from ...chat import ChatError, ChatModel, Message, Text, Usage, ask
from ...errors import InputError, ToolError
from ...images import to_pil
from ...results import DepthMap, Detections
from ...sandbox import Limits, Outcome, Sandbox
from ..capability import Capability, Finding, New
from ..kinds import Cameras, Page, Reference
from ..memory import Memory
from ..rendering import Templates

__all__ = ["PythonCoding"]

_BLOCK = re.compile(r"^```(?:python|py)?[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_LONGEST = 1500  # characters of a value that is shown
_SHOWN = 4000  # of what a program printed
_MOST_BINDINGS = 12


class PythonCoding(Capability):
    """Has a program written and runs it; a program that fails is written again, with what went wrong.

    What a program can use of an artefact, by its handle:

    | artefact | variables |
    |---|---|
    | picture | `tool_image_1`, a PIL image |
    | boxes | `boxes_1`, N×4 pixels (left, top, right, bottom); `boxes_1_labels`, `boxes_1_scores`, and `boxes_1_masks` where there are masks |
    | depth | `depth_1`, H×W, not a number where nothing is known |
    | cameras | `camera_1`, N×4×4; `camera_1_intrinsics`, `camera_1_metric` |
    | array, value | itself |
    | page, reference | `page_1`, its text, and `page_1_url`; `reference_1_url` |

    Args:
        coder: the model that writes the programs.
        tries: how many programs may fail.
        limits: what a program may use.
        isolation: as `Sandbox` takes it.
        allow_unisolated: likewise.
        templates: with the text `coder.txt`.

    Raises:
        InputError: `tries` is below 1.
    """

    name = "python_coding"

    def __init__(
        self,
        coder: ChatModel,
        *,
        tries: int = 3,
        limits: Limits | None = None,
        isolation: str = "auto",
        allow_unisolated: bool = False,
        templates: Templates | None = None,
    ) -> None:
        self._coder, self._tries = coder, check_count(tries, "tries")
        self._limits, self._templates = limits or Limits(), templates or Templates()
        self._isolation, self._unisolated = isolation, allow_unisolated

    def settings(self) -> Mapping[str, Any]:
        """The model that writes, how often it may, and what programs may use."""
        return {
            "coder": dict(self._coder.settings()),
            "tries": self._tries,
            "limits": asdict(self._limits),
            "isolation": self._isolation,
        }

    async def call(self, memory: Memory, objective: str, bindings: list[str]) -> Finding:
        """Have something computed.

        Args:
            memory: what was gathered.
            objective: what to compute.
            bindings: handles of what it needs.
        """
        if not objective.strip():
            raise InputError("objective: expected what to compute, got nothing")
        if len(bindings) > _MOST_BINDINGS:
            raise InputError(
                f"bindings: expected at most {_MOST_BINDINGS} handles, got {len(bindings)}"
            )
        handles = list(dict.fromkeys(bindings))
        variables, told = await asyncio.to_thread(_variables, memory, handles)
        box = await asyncio.to_thread(
            lambda: Sandbox(
                limits=self._limits,
                isolation=self._isolation,
                allow_unisolated=self._unisolated,
            )
        )
        listed = "\n".join(f"- {line}" for line in told) or "- none"
        asked = self._templates.fill("coder", bindings=listed)
        messages = [Message("user", (Text(f"{asked}\n\nThe objective:\n{objective.strip()}"),))]
        usage: list[Usage] = []
        said = ""
        wrong: str | None = None
        for _ in range(self._tries):
            try:
                reply, _ = await ask(self._coder, messages)
            except ChatError as error:
                raise ToolError(f"the model that writes programs gave no answer: {error}") from None
            usage.append(reply.usage)
            code = _code(reply.text)
            if code is None:
                wrong, said = "There is no ```python block in the reply.", ""
            else:
                outcome = await asyncio.to_thread(box.run, code, variables)
                wrong = _wrong(outcome)
                said = _said(outcome)
                if wrong is None:
                    return _finding(outcome, handles, said, usage)
            again = f"{wrong}\n\nThe variables are:\n{listed}\n\nWrite the whole program again."
            own = reply.text if reply.text.strip() else "(nothing)"
            messages += [Message("assistant", (Text(own),)), Message("user", (Text(again),))]
        last = "\n".join(part for part in (wrong, said) if part)
        return Finding(
            "unusable",
            {"tries": self._tries},
            {"passage": last[:_SHOWN]},
            raw={"error": wrong},
            usage=tuple(usage),
        )


def _variables(memory: Memory, handles: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """What a program can use, by its name, and a line that tells of each."""
    variables: dict[str, Any] = {}
    told: list[str] = []
    for handle in handles:
        artifact = memory.get(handle)
        value = memory.value(handle)
        for suffix, (one, about) in _parts(artifact.kind, value).items():
            variables[handle + suffix] = one
            told.append(f"{handle}{suffix}: {about}")
    return variables, told


def _parts(kind: str, value: Any) -> dict[str, tuple[Any, str]]:
    """An artefact's variables by what is put behind its handle, and what each is."""
    if isinstance(value, Detections):
        width, height = value.size
        parts: dict[str, tuple[Any, str]] = {
            "": (
                value.boxes.astype(float),
                f"{len(value)}×4 array, left, top, right, bottom in pixels of a {width}×{height} picture",
            ),
            "_labels": (list(value.labels), "list of their labels"),
            "_scores": ([float(score) for score in value.scores], "list of their scores, 0 to 1"),
        }
        if value.masks is not None:
            parts["_masks"] = (value.masks, f"{len(value)}×{height}×{width} array of bool")
        return parts
    if isinstance(value, DepthMap):
        return {"": (_depth(value), _depth_told(value))}
    if isinstance(value, Cameras):
        unit = "metres" if value.metric else "lengths of the first movement"
        return {
            "": (
                value.poses,
                f"{len(value.images)}×4×4 array, from the first camera's coordinates to each one's "
                f"(x right, y down, z forward), in {unit}",
            ),
            "_intrinsics": (value.intrinsics, f"{len(value.images)}×3×3 array, in pixels"),
            "_metric": (value.metric, "whether the poses are in metres"),
        }
    if isinstance(value, Page):
        return {"": (value.text, "text of a web page"), "_url": (value.url, "its address")}
    if isinstance(value, Reference):
        return {"": (value.snippet, "what a search says"), "_url": (value.url, "its address")}
    if kind == "image":
        return {"": (to_pil(value), f"PIL image, {value.shape[1]}×{value.shape[0]} pixels")}
    if isinstance(value, np.ndarray):
        shape = "×".join(map(str, value.shape)) or "one number"
        return {"": (value, f"array {shape}, {value.dtype}")}
    return {"": (value, f"{type(value).__name__}: {json.dumps(value)[:200]}")}


def _depth(depth: DepthMap) -> Any:
    values = to_numpy(depth.values).astype(np.float32)
    valid = np.isfinite(values) & (values > 0 if depth.kind == "metric" else True)
    if depth.mask is not None:
        valid &= to_numpy(depth.mask)
    return np.where(valid, values, np.nan)


def _depth_told(depth: DepthMap) -> str:
    meaning = {
        "metric": "metres from the camera",
        "relative": "bigger is nearer, scale and shift unknown",
        "normalised": "0 to 1, 1 is nearest",
    }[depth.kind]
    height, width = to_numpy(depth.values).shape
    about = (
        f" of a {depth.size[0]}×{depth.size[1]} picture" if depth.size != (width, height) else ""
    )
    return f"{height}×{width} array{about}, {meaning}; nan where nothing is known"


def _code(text: str) -> str | None:
    """The last block of Python in a reply, or None."""
    blocks = _BLOCK.findall(text)
    return blocks[-1] if blocks else None


def _wrong(outcome: Outcome) -> str | None:
    """What is to be put right; None where nothing is."""
    if outcome.error is not None:
        return f"The program failed: {outcome.error}"
    if outcome.problems and not outcome.values:
        return f"The program's result cannot be used: {'; '.join(outcome.problems)}"
    return None


def _said(outcome: Outcome) -> str:
    """What a program left and printed, for a reader."""
    parts = [f"{name} = {_shown(value)}" for name, value in outcome.values.items()]
    parts += [f"not taken out: {problem}" for problem in outcome.problems]
    if outcome.stdout.strip():
        parts.append(f"printed:\n{outcome.stdout.rstrip()}")
    return "\n".join(parts)[:_SHOWN]


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        if value.dtype == np.uint8 and value.ndim == 3:
            return f"a picture, {value.shape[1]}×{value.shape[0]} pixels"
        text = np.array2string(value, threshold=40, precision=6)
        shape = "×".join(map(str, value.shape))
        return f"array {shape}, {value.dtype}: {' '.join(text.split())}"[:_LONGEST]
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _finding(
    outcome: Outcome, handles: Sequence[str], said: str, usage: Sequence[Usage]
) -> Finding:
    """What a program found: its result and what else it left are kept, its pictures shown."""
    new: dict[str, New] = {}
    for name, value in outcome.values.items():
        new[name] = _new(value, handles)
    for number, (_, picture) in enumerate(outcome.pictures, 1):
        new[f"picture_{number}"] = New("image", picture, tuple(handles), show=True)
    form = "found" if "result" in new else "none"
    return Finding(
        form,  # type: ignore[arg-type]
        {"bindings": ", ".join(handles) or "nothing"},
        {"passage": said or "(it printed nothing)"},
        new=new,
        raw={
            "printed": outcome.stdout,
            "left": {name: _shown(value) for name, value in outcome.values.items()},
        },
        usage=tuple(usage),
    )


def _new(value: Any, handles: Sequence[str]) -> New:
    if isinstance(value, np.ndarray):
        if value.dtype == np.uint8 and value.ndim == 3 and value.shape[2] == 3:
            return New("image", value, tuple(handles), show=True)
        return New("array", value, tuple(handles))
    return New("value", value, tuple(handles))
