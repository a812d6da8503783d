"""The capabilities: one file a task."""

from __future__ import annotations

from .catalogue import available, open_capabilities
from .coding import PythonCoding
from .depth import DepthEstimation
from .grounding import VisualGrounding
from .text import ReadText, TextLine
from .zoom import ZoomIn

__all__ = [
    "DepthEstimation",
    "PythonCoding",
    "ReadText",
    "TextLine",
    "VisualGrounding",
    "ZoomIn",
    "available",
    "open_capabilities",
]
