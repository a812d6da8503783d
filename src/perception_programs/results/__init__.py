"""What vision tools return: frozen, validated results with units, polarity and frame explicit.

Arrays are float32 unless said, sizes are `(width, height)`, coordinates are pixels of the source
image. Arrays passed in are not copied; do not write to them afterwards.
"""

from ._coco import coco_file
from .depth import DepthMap
from .detections import Detections
from .flow import FlowField
from .matches import Matches
from .model_boxes import BoxFrame
from .points import Points
from .scores import EdgeScores, PointScores
from .segmentation import Segmentation

__all__ = [
    "BoxFrame",
    "DepthMap",
    "Detections",
    "EdgeScores",
    "FlowField",
    "Matches",
    "PointScores",
    "Points",
    "Segmentation",
    "coco_file",
]
