"""Experts that need no framework and no weights."""

from ..base import Card, Entry

__all__ = ["ENTRIES"]

_DIS = Card(
    name="dis",
    modality="flow",
    library="opencv-python-headless",
    licence="Apache-2.0",
    polarity="pixels from the first frame to the second; u right, v down",
    limits="two frames of one size, at least 16 pixels a side; loses motion of small, fast objects",
)
_SIFT = Card(
    name="sift",
    modality="correspondence",
    library="opencv-python-headless",
    licence="Apache-2.0",
    limits="textured, rigid scenes; few matches across wide changes of view or light",
)
_SEAMS = Card(
    name="seams",
    modality="jigsaw",
    library="scikit-image",
    licence="BSD-3-Clause",
    limits="the missing corner is the lower right one, and candidates are as large as it",
)
_MARKERS = Card(
    name="markers",
    modality="points",
    library="opencv-python-headless",
    licence="MIT",
    limits="drawn red rings of radius 3 px to 7 % of the longer side, letters A to H or REF; "
    "axis-aligned rectangles in strong colours; small or blurred letters may be misread",
)

ENTRIES = (
    Entry(_DIS, ".dis:DIS"),
    Entry(_SIFT, ".sift:SIFT"),
    Entry(_SEAMS, ".seams:Seams"),
    Entry(_MARKERS, ".markers:Markers"),
)
