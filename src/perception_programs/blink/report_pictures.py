"""The pictures of a report's page: each question's own, and its programs drawn on them."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..images import to_pil
from ..program import PerceptionProgram
from ..view.overlay import draw
from .coordinates import Coordinates
from .report_redrawn import Redrawn, tool_captions
from .run_tables import RunTable
from .samples import Sample

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Album", "pictures_of"]

_PICTURE = 512  # pixels of the long side
_OVERLAY = 900  # of a drawing, which has letters on it
_QUALITY = 80
_SEVERAL = ("correspondence", "jigsaw", "semantic")
_ORDINALS = ("first", "second", "third", "fourth")
_NOT_KEPT = "A run does not keep its tool pictures, and they could not be drawn again: "
_IMAGE = re.compile(rf"\bimage (\d{{1,2}})\b|\b({'|'.join(_ORDINALS)}) image\b", re.IGNORECASE)


class Album:
    """Pictures by number, each kept once as an address that holds it.

    Args:
        samples: the questions of each task.
        redraw: whether tool pictures are drawn again, with the experts that a run had.
        coordinates: those that runs had.

    Attributes:
        addresses: `data:` addresses, in the order of their numbers.
    """

    def __init__(
        self,
        samples: Mapping[str, Sequence[Sample]],
        *,
        redraw: bool = False,
        coordinates: Coordinates | None = None,
    ) -> None:
        self.addresses: list[str] = []
        self._redrawn = Redrawn(coordinates) if redraw else None
        self._samples = {task: {s.id: s for s in own} for task, own in samples.items()}
        self._known: dict[str, int | str] = {}

    def question(self, task: str, key: str) -> list[tuple[str, int | str]]:
        """The pictures of a question: what each is called, and its number or why there is none."""
        sample = self._samples.get(task, {}).get(key)
        if sample is None:
            return []
        return [
            (
                f"image {number}" if len(sample.images) > 1 else "image",
                self._number(
                    f"{task}/{key}/{number}", lambda n=number: sample.images[n - 1].load(), _PICTURE
                ),
            )
            for number in range(1, len(sample.images) + 1)
        ]

    def asked(self, task: str, key: str) -> str | None:
        """The text of a question; None without it."""
        sample = self._samples.get(task, {}).get(key)
        return None if sample is None else sample.question

    def tools(self, run: RunTable, record: Mapping[str, Any]) -> list[tuple[str, int | str]]:
        """The tool pictures of a record's prompt: what it called each, and its number.

        Where they cannot be drawn, one entry with what they were called and why not.
        """
        captions, key = tool_captions(record), record["id"]
        if not captions:
            return []
        sample = self._samples.get(run.task, {}).get(key)
        if sample is None:
            found: Any = "the report was made without this question (--source says where it is)"
        elif self._redrawn is None:
            found = "the report was not asked to (redraw)"
        else:
            found = self._redrawn.pictures(run, sample)
        if not isinstance(found, str) and len(found) != len(captions):
            found = f"the prompt had {len(captions)}, and the tools now draw {len(found)}"
        if isinstance(found, str):
            return [("; ".join(captions), _NOT_KEPT + found)]
        experts = json.dumps(run.header.get("tools"), sort_keys=True)
        return [
            (
                caption,
                self._number(
                    f"{run.task}/{key}/{n} {experts}", lambda p=picture: p.image, _OVERLAY
                ),
            )
            for n, (caption, picture) in enumerate(zip(captions, found, strict=True), 1)
        ]

    def program(
        self, task: str, key: str, program: PerceptionProgram, title: str
    ) -> int | str | None:
        """The number of a program's drawing, or why there is none; None without the question."""
        sample = self._samples.get(task, {}).get(key)
        if sample is None:
            return None
        where = json.dumps([task, key, title, program.to_dict()], sort_keys=True)

        def drawn() -> Image.Image:
            images = [
                sample.images[number].load()
                for number in pictures_of(program, title, len(sample.images))
            ]
            # At the size that is shown, so that no lettering shrinks.
            return draw(program.with_images(*images), None, None, _OVERLAY)

        return self._number(where, drawn, _OVERLAY)

    def _number(self, where: str, make: Any, longest: int) -> int | str:
        if where not in self._known:
            try:
                address = _address(to_pil(make()), longest)
            except (OSError, ValueError) as error:
                self._known[where] = str(error)
            else:
                self._known[where] = len(self.addresses)
                self.addresses.append(address)
        return self._known[where]


def pictures_of(program: PerceptionProgram, title: str, count: int) -> list[int]:
    """Which pictures of a question a program is about, counted from 0.

    Programs don't say. Those of several pictures take all, in order; marked points take the pictures
    that their items name in `i` (`image 2`), or the one that the title names (`the second image`);
    any other program takes the first.

    Args:
        program: the program.
        title: what it is called in the prompt.
        count: how many pictures the question has.

    Raises:
        InputError: a picture that the question doesn't have.
    """
    if program.modality in _SEVERAL:
        return list(range(count))
    if program.modality != "point-detection":
        return [0]
    names = [name for name in dict.fromkeys(item.i for item in program.items) if name is not None]
    found = [_named(name) for name in names or [title]]
    # Pictures that have names of their own are there in order.
    known = [number for number in found if number is not None]
    numbers = known if len(known) == len(found) else list(range(len(found)))
    if not all(0 <= number < count for number in numbers):
        raise InputError(f"{title}: expected points on {count} images, got {', '.join(names)}")
    return numbers


def _named(text: str) -> int | None:
    """The picture that a text names, counted from 0, or None."""
    match = _IMAGE.search(text)
    if match is None:
        return None
    return int(match[1]) - 1 if match[1] else _ORDINALS.index(match[2].lower())


def _address(picture: Image.Image, longest: int) -> str:
    from PIL import Image as Images

    small = picture.convert("RGB")
    small.thumbnail((longest, longest), Images.Resampling.LANCZOS, reducing_gap=2.0)
    file = io.BytesIO()
    # Without subsampling of colour, thin coloured lines and letters stay sharp.
    small.save(file, "JPEG", quality=_QUALITY, subsampling=0, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
