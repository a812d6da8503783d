"""What some function returned, told apart by its type and made into a program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._arrays import describe, is_array, is_floating
from ..errors import InputError
from ..geometry import Size
from ..images import is_picture
from ..program import PerceptionProgram
from ..results import (
    DepthMap,
    Detections,
    EdgeScores,
    FlowField,
    Matches,
    Points,
    PointScores,
    Segmentation,
)
from ..results._fiftyone import is_fiftyone
from ..results._pipelines import is_pipeline
from .albedo import albedo_program
from .correspondence import correspondence_program
from .depth import depth_program
from .detection import detection_program
from .flow import flow_program
from .jigsaw import jigsaw_program
from .points import points_program
from .segmentation import segmentation_program
from .semantic import semantic_program
from .similarity import similarity_program

__all__ = ["CONVERTERS", "check_options", "program_of"]

CONVERTERS: dict[str, Callable[..., PerceptionProgram]] = {
    "depth": depth_program,
    "flow": flow_program,
    "correspondence": correspondence_program,
    "detection": detection_program,
    "segmentation": segmentation_program,
    "semantic": semantic_program,
    "points": points_program,
    "jigsaw": jigsaw_program,
    "albedo": albedo_program,
    "similarity": similarity_program,
}
"""By modality, what makes a program of a result."""

_MODALITIES: dict[type, str] = {
    DepthMap: "depth",
    FlowField: "flow",
    Matches: "correspondence",
    Detections: "detection",
    Segmentation: "segmentation",
    PointScores: "semantic",
    Points: "points",
    EdgeScores: "jigsaw",
}
_PICTURES_ONLY = {
    "correspondence": {"second"},
    "detection": {"labels"},
    "flow": {"second"},
    "jigsaw": {"candidates"},
    "semantic": {"second", "reference", "candidates"},
}
"""What a converter takes beside pictures and not beside a result."""


def check_options(modality: str, options: Mapping[str, Any]) -> None:
    """Refuse what the converter of a result does not take.

    Raises:
        InputError: no such modality or option.
    """
    if modality not in CONVERTERS:
        raise InputError(
            f"modality: expected one of {', '.join(CONVERTERS)}, got {describe(modality)}"
        )
    converter = CONVERTERS[modality]
    beside = _PICTURES_ONLY.get(modality, set()) | {"expert"}
    known = [
        name for name in list(inspect.signature(converter).parameters)[1:] if name not in beside
    ]
    for name in options:
        if name not in known:
            raise InputError(
                f"{name}: no such option of {converter.__name__} beside a result; "
                f"expected {', '.join(known)}"
            )


def _modality_of(returned: Any, name: str) -> str:
    """Which modality a result is of.

    Args:
        returned: the result.
        name: the function that returned it, for the message.

    Raises:
        InputError: it may be of several, or of none; the message has the ways to say it.
    """
    for kind, modality in _MODALITIES.items():
        if isinstance(returned, kind):
            return modality
    if isinstance(returned, Mapping) and returned.get("predicted_depth") is not None:
        return "depth"
    if _is_detections(returned):
        return "detection"
    if is_array(returned) and tuple(returned.shape[2:]) == (2,) and is_floating(returned):
        return "flow"
    raise InputError(
        f"{name}: {describe(returned)} {_may_be(returned)}; say which, such as "
        f'@as_program("{_likely(returned)}"), or return a result that says it: '
        f"{', '.join(kind.__name__ for kind in _MODALITIES)}"
    )


def program_of(
    returned: Any,
    modality: str | None,
    options: Mapping[str, Any],
    sizes: Sequence[Size],
    name: str,
) -> PerceptionProgram:
    """The program of a result.

    Args:
        returned: the result.
        modality: what it is of; None where its type says so.
        options: of the converter.
        sizes: `(width, height)` of its pictures, as far as they are known.
        name: the function that returned it, for the message.

    Raises:
        InputError: it does not say what it is of, or cannot be read as that.
    """
    if isinstance(returned, tuple):
        parts = " and ".join(map(describe, returned)) or "nothing"
        raise InputError(
            f"{name}: expected one result, got a tuple of {parts}; say what the program is made of, "
            "such as pick=lambda returned: returned[1]"
        )
    if is_picture(returned):
        how = "which has the shape of a picture" if is_array(returned) else "a picture"
        raise InputError(
            f"{name}: expected what was measured, got {describe(returned)}, {how}; return that, or "
            "both and pick=lambda returned: returned[1]"
        )
    modality = modality or _modality_of(returned, name)
    result, rest = _as_result(returned, modality, dict(options), sizes)
    return CONVERTERS[modality](result, **rest)


def _as_result(
    returned: Any, modality: str, options: dict[str, Any], sizes: Sequence[Size]
) -> tuple[Any, dict[str, Any]]:
    """What the converter takes, and the options that are left for it."""
    if isinstance(returned, tuple(_MODALITIES)):
        return returned, options
    if modality == "depth":
        return _depth(returned, options, sizes)
    if modality == "segmentation" and is_pipeline(returned):
        return Segmentation.from_pipeline(returned, **_sized(sizes)), options
    if modality == "correspondence" and isinstance(returned, list) and sizes:
        return Matches.from_pipeline(returned, size1=sizes[0], size2=sizes[-1]), options
    if modality in ("detection", "points") and sizes and not hasattr(returned, "orig_shape"):
        return returned, {"size": sizes[0], **options}
    return returned, options


def _depth(
    returned: Any, options: dict[str, Any], sizes: Sequence[Size]
) -> tuple[Any, dict[str, Any]]:
    """A depth map of the size of its picture, where that is known."""
    if isinstance(returned, Mapping):
        if "kind" not in options:
            raise InputError(
                "kind: expected relative or metric, which a pipeline's dict does not tell, such as "
                '@as_program("depth", kind="relative")'
            )
        kind = options.pop("kind")
        return DepthMap.from_pipeline(returned, kind=kind, **_sized(sizes)), options
    if not sizes or not is_array(returned) or len(returned.shape) != 2:
        return returned, options
    known = {key: options.pop(key) for key in ("kind", "mask") if key in options}
    return DepthMap(returned, size=sizes[0], **known), options


def _sized(sizes: Sequence[Size]) -> dict[str, Size]:
    return {"size": sizes[0]} if sizes else {}


def _is_detections(returned: Any) -> bool:
    """Whether it is what a detector returns; masks of a segmentation pipeline may be either."""
    if hasattr(returned, "xyxy") and hasattr(returned, "confidence"):
        return True
    if hasattr(returned, "boxes") and hasattr(returned, "orig_shape"):
        return True
    if isinstance(returned, Mapping):
        return "boxes" in returned or is_fiftyone(returned)
    if not isinstance(returned, list) or not returned:
        return False
    rows = [row for row in returned if isinstance(row, Mapping)]
    boxed = len(rows) == len(returned) and all("box" in row or "bbox" in row for row in rows)
    return boxed or is_fiftyone(returned)


def _may_be(returned: Any) -> str:
    if is_array(returned) and len(returned.shape) == 2:
        what = "depth or albedo" if is_floating(returned) else "segmentation or depth"
        return f"may be {what}"
    if is_pipeline(returned):
        return "may be segmentation, or detection of an object a mask"
    if isinstance(returned, Mapping):
        return "may be points or similarity"
    return "does not say what was measured"


def _likely(returned: Any) -> str:
    if is_pipeline(returned) or (
        is_array(returned) and len(returned.shape) == 2 and not is_floating(returned)
    ):
        return "segmentation"
    return "points" if isinstance(returned, Mapping) else "depth"
