"""What each recipe measures, and the programs and pictures it makes of that."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..images import RGB, ImageLike
from ..program import PerceptionProgram
from ..programs import (
    correspondence_program,
    depth_program,
    detection_program,
    flow_program,
    jigsaw_program,
    semantic_program,
)
from ..view import completed_picture, tool_caption, tool_picture
from .samples import Sample
from .tools import Tools

__all__ = [
    "Evidence",
    "NamedProgram",
    "ToolPicture",
    "asked_object",
    "jigsaw",
    "localisation",
    "multi_view",
    "relative_depth",
    "semantic",
    "visual_correspondence",
]

Experts = Mapping[str, str]

_REFERENCE = "REF"
_ASKED = re.compile(r"\bencloses (?:the|a|an)\s+(.+?)\s*\?\s*$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class NamedProgram:
    """A program of a recipe.

    Attributes:
        name: what the recipe's readers know it by.
        title: what a prompt calls it.
        program: the program, which knows the pictures it is about.
    """

    name: str
    title: str
    program: PerceptionProgram


@dataclass(frozen=True, eq=False)
class ToolPicture:
    """A tool's output as a picture, drawn when it is first looked at.

    Attributes:
        caption: what it shows and how it is to be read.
        draw: what draws it.
    """

    caption: str
    draw: Callable[[], RGB]

    @functools.cached_property
    def image(self) -> RGB:
        """The picture."""
        return self.draw()


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the tools say about a question.

    Attributes:
        programs: as text, in the order that a prompt has them.
        pictures: as pictures: the paper's Raw Tool setting.
    """

    programs: tuple[NamedProgram, ...]
    pictures: tuple[ToolPicture, ...]


def relative_depth(sample: Sample, tools: Tools, experts: Experts) -> Evidence:
    """The marked points, and the nearness of each cell."""
    marks = tools.points(sample, 1, sample.letters)
    image = sample.images[0].load()
    depth = tools.ask("depth", experts["depth"], image)
    program = depth_program(image, grid=tools.grid, relations=tools.relations, expert=depth)
    return Evidence(
        (
            NamedProgram("points", "The marked points", marks.program),
            NamedProgram("depth", "Depth", program),
        ),
        (_drawn(depth.result),),
    )


def multi_view(sample: Sample, tools: Tools, experts: Experts) -> Evidence:
    """Which way each cell moves from the first to the second image."""
    first, second = (image.load() for image in sample.images)
    flow = tools.ask("flow", experts["flow"], first, second)
    program = flow_program(first, second, grid=tools.grid, expert=flow)
    title = "Optical flow from the first to the second image"
    return Evidence((NamedProgram("flow", title, program),), (_drawn(flow.result),))


def visual_correspondence(sample: Sample, tools: Tools, experts: Experts) -> Evidence:
    """The reference point, the candidates, and the spots that both images show."""
    reference = tools.points(sample, 1, [_REFERENCE])
    candidates = tools.points(sample, 2, sample.letters)
    first, second = (image.load() for image in sample.images)
    matches = tools.ask("correspondence", experts["correspondence"], first, second)
    program = correspondence_program(first, second, limit=tools.matches, expert=matches)
    return Evidence(
        (
            NamedProgram("reference", "The marked point of the first image", reference.program),
            NamedProgram("candidates", "The marked points of the second image", candidates.program),
            NamedProgram("matches", "Matching points of the two images", program),
        ),
        (_drawn(matches.result, first, second),),
    )


def jigsaw(sample: Sample, tools: Tools, experts: Experts) -> Evidence:
    """How well each piece, the images from the second on, continues the first image."""
    image, *rest = (image.load() for image in sample.images)
    if len(rest) != len(sample.letters):
        raise InputError(
            f"{sample.id}: expected one option for each of {len(rest)} pieces, got "
            f"{', '.join(sample.letters)}"
        )
    pieces = dict(zip(sample.letters, rest, strict=True))
    seams = tools.ask("jigsaw", experts["jigsaw"], image, pieces)
    program = jigsaw_program(image, pieces, expert=seams)
    pictures = tuple(
        ToolPicture(
            f"The first image completed with candidate {letter}",
            functools.partial(completed_picture, image, piece),
        )
        for letter, piece in pieces.items()
    )
    title = "How well candidates A (the second image) and B (the third image) fit"
    return Evidence((NamedProgram("seams", title, program),), pictures)


def localisation(sample: Sample, tools: Tools, experts: Experts) -> Evidence:
    """The candidate boxes, and where a detector finds the object that is asked for."""
    label = asked_object(sample)
    marks = tools.boxes(sample, 1, sample.letters)
    image = sample.images[0].load()
    found = tools.ask("detection", experts["detection"], image, labels=[label])
    program = detection_program(image, labels=[label], expert=found)
    return Evidence(
        (
            NamedProgram("boxes", "The candidate boxes", marks.program),
            NamedProgram("detections", "Detected objects", program),
        ),
        (_drawn(found.result, image),),
    )


def semantic(sample: Sample, tools: Tools, experts: Experts) -> Evidence:
    """The reference point, and how alike each candidate is to it."""
    reference = tools.points(sample, 1, [_REFERENCE])
    candidates = tools.points(sample, 2, sample.letters)
    first, second = (image.load() for image in sample.images)
    places: dict[str, Any] = {
        "reference": reference.places[_REFERENCE],
        "candidates": candidates.places,
    }
    scores = tools.ask("semantic", experts["semantic"], first, second, **places)
    program = semantic_program(first, second, **places, expert=scores)
    return Evidence(
        (
            NamedProgram("reference", "The marked point of the first image", reference.program),
            NamedProgram("similarity", "The marked points of the second image", program),
        ),
        (_drawn(scores.result, second),),
    )


def asked_object(sample: Sample) -> str:
    """The object that a question of localisation is about: its label, or what its question ends with.

    Raises:
        InputError: it has several labels, or none and another question.
    """
    if len(sample.labels) == 1:
        return sample.labels[0]
    asked = _ASKED.search(sample.question)
    if sample.labels or asked is None:
        got = f"the labels {', '.join(sample.labels)}" if sample.labels else repr(sample.question)
        raise InputError(
            f"{sample.id}: expected one label, or a question that ends '… encloses the X?', got {got}"
        )
    return asked[1]


def _drawn(result: Any, *images: ImageLike) -> ToolPicture:
    return ToolPicture(tool_caption(result), functools.partial(tool_picture, result, *images))
