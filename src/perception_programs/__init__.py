"""Turn the output of vision tools into text a language model can read.

Importing this package imports nothing else; each name loads what it needs when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import InputError, MissingExtraError, ToolError, WeightsError
    from .geometry import Grid
    from .images import load_image
    from .program import Item, PerceptionProgram, Relation
    from .programs import (
        albedo_program,
        correspondence_program,
        depth_program,
        depth_programs,
        depth_summary,
        detection_program,
        flow_program,
        flow_programs,
        flow_summary,
        jigsaw_program,
        points_program,
        reconcile,
        scene_program,
        segmentation_program,
        semantic_program,
        similarity_program,
    )
    from .programs._as_program import as_program
    from .results import (
        DepthMap,
        Detections,
        EdgeScores,
        FlowField,
        Matches,
        Points,
        PointScores,
        Segmentation,
    )
    from .view import compare

__version__ = "0.1.0"

_HOMES = {
    ".errors": ("InputError", "MissingExtraError", "ToolError", "WeightsError"),
    ".geometry": ("Grid",),
    ".images": ("load_image",),
    ".program": ("Item", "PerceptionProgram", "Relation"),
    ".programs._as_program": ("as_program",),
    ".programs": (
        "albedo_program",
        "correspondence_program",
        "depth_program",
        "depth_programs",
        "depth_summary",
        "detection_program",
        "flow_program",
        "flow_programs",
        "flow_summary",
        "jigsaw_program",
        "points_program",
        "reconcile",
        "scene_program",
        "segmentation_program",
        "semantic_program",
        "similarity_program",
    ),
    ".results": (
        "DepthMap",
        "Detections",
        "EdgeScores",
        "FlowField",
        "Matches",
        "PointScores",
        "Points",
        "Segmentation",
    ),
    ".view": ("compare",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DepthMap",
    "Detections",
    "EdgeScores",
    "FlowField",
    "Grid",
    "InputError",
    "Item",
    "Matches",
    "MissingExtraError",
    "PerceptionProgram",
    "PointScores",
    "Points",
    "Relation",
    "Segmentation",
    "ToolError",
    "WeightsError",
    "__version__",
    "albedo_program",
    "as_program",
    "compare",
    "correspondence_program",
    "depth_program",
    "depth_programs",
    "depth_summary",
    "detection_program",
    "flow_program",
    "flow_programs",
    "flow_summary",
    "jigsaw_program",
    "load_image",
    "points_program",
    "reconcile",
    "scene_program",
    "segmentation_program",
    "semantic_program",
    "similarity_program",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
