"""The analyses of the paper: what a model can rebuild by itself, how far things move, what grids hold.

Each gives a result with its rows as plain data, `summary()` as text and `write(folder)`, which leaves
the data as CSV and a plot as PNG.
"""

from .correspondence_reconstruction import (
    CorrespondenceReconstruction,
    correspondence_reconstruction,
)
from .depth_reconstruction import DepthReconstruction, depth_reconstruction
from .displacement import Displacement, displacement
from .grid_accuracy import ReaderByGrid, grid_accuracy

__all__ = [
    "CorrespondenceReconstruction",
    "DepthReconstruction",
    "Displacement",
    "ReaderByGrid",
    "correspondence_reconstruction",
    "depth_reconstruction",
    "displacement",
    "grid_accuracy",
]
