"""Converters: a tool's result, or the picture to run it on, to a perception program."""

from ._depth_segments import depth_summary
from ._flow_segments import flow_summary
from .albedo import albedo_program
from .correspondence import correspondence_program
from .depth import depth_program
from .detection import detection_program
from .flow import flow_program
from .jigsaw import jigsaw_program
from .points import points_program
from .reconciliation import reconcile
from .scene import scene_program
from .segmentation import segmentation_program
from .semantic import semantic_program
from .sequences import depth_programs, flow_programs
from .similarity import similarity_program

__all__ = [
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
]
