"""The capabilities: one file a task."""

from __future__ import annotations

from .affine_sift import AffineSIFT
from .camera import CameraTrajectory
from .catalogue import available, open_capabilities
from .coding import PythonCoding
from .depth import DepthEstimation
from .grounding import VisualGrounding
from .page import WebpageVisit
from .search import ImageSearch, TextSearch
from .text import ReadText, TextLine
from .zoom import ZoomIn

__all__ = [
    "AffineSIFT",
    "CameraTrajectory",
    "DepthEstimation",
    "ImageSearch",
    "PythonCoding",
    "ReadText",
    "TextLine",
    "TextSearch",
    "VisualGrounding",
    "WebpageVisit",
    "ZoomIn",
    "available",
    "open_capabilities",
]
