"""The rules of `readers`, put to the programs of a recipe by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import InputError
from ..program import PerceptionProgram
from . import readers
from ._gather import asked_object
from .samples import Sample

__all__ = [
    "jigsaw",
    "localisation",
    "multi_view",
    "naive_correspondence",
    "relative_depth",
    "semantic",
    "visual_correspondence",
]

Programs = Mapping[str, PerceptionProgram]


def relative_depth(programs: Programs, sample: Sample) -> str | None:
    """The nearest point; points bear the letters of the options."""
    return readers.relative_depth(programs["points"], programs["depth"])


def multi_view(programs: Programs, sample: Sample) -> str | None:
    """The option that says the direction in which most cells move.

    Raises:
        InputError: left and right are not one option each.
    """
    return readers.multi_view(programs["flow"], _sides(sample))


def visual_correspondence(programs: Programs, sample: Sample) -> str | None:
    """The option where the match nearest to the reference point lands."""
    return readers.visual_correspondence(
        programs["reference"], programs["matches"], programs["candidates"]
    )


def naive_correspondence(programs: Programs, sample: Sample) -> str | None:
    """The option nearest to the reference point's own coordinates."""
    return readers.naive_correspondence(programs["reference"], programs["candidates"])


def jigsaw(programs: Programs, sample: Sample) -> str | None:
    """The piece that fits better; pieces bear the letters of the options."""
    return readers.jigsaw(programs["seams"])


def localisation(programs: Programs, sample: Sample) -> str | None:
    """The box that overlaps most with the surest detection of the object that is asked for."""
    return readers.localisation(programs["boxes"], programs["detections"], asked_object(sample))


def semantic(programs: Programs, sample: Sample) -> str | None:
    """The candidate that is most alike."""
    return readers.semantic(programs["similarity"])


def _sides(sample: Sample) -> dict[str, str]:
    """The letter of the option that says left, and of the one that says right."""
    found = {}
    for side in ("left", "right"):
        letters = [
            letter
            for letter, text in sample.options.items()
            if re.search(rf"\b{side}\b", text, re.IGNORECASE)
        ]
        if len(letters) != 1:
            raise InputError(
                f"{sample.id}: expected one option that says {side!r}, got {dict(sample.options)}"
            )
        found[side] = letters[0]
    return found
