"""Boxes that a language model wrote, as JSON somewhere in its answer.

Gemini writes `[y, x, y, x]` from 0 to 1000, Qwen3-VL `[x, y, x, y]` from 0 to 1000, Qwen2.5-VL pixels
of the image as it was resized for it, others what the prompt asked for. The numbers do not tell which,
so that the frame has to be said. Nothing is repaired: what cannot be read is an error that names it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import describe
from .._plain import plain_number, unique_keys
from ..errors import InputError
from ..geometry import Size, to_size
from ._check import check_text
from ._connect import with_scores

__all__ = ["FRAMES", "BoxFrame", "read_answer"]

_ORDERS = ("xyxy", "yxyx", "xywh")


@dataclass(frozen=True)
class BoxFrame:
    """In which order a model writes the four numbers of a box, and how far they run.

    Attributes:
        order: `xyxy`, `yxyx` or `xywh`.
        width: what the right border of the image is called: 1000, 1, or a width in pixels.
        height: what its lower border is called.

    Raises:
        InputError: another order, or a border that is not above 0.

    >>> BoxFrame("yxyx", 1000, 1000) == FRAMES["gemini"]
    True
    """

    order: str
    width: float
    height: float

    def __post_init__(self) -> None:
        if self.order not in _ORDERS:
            raise InputError(f"order: expected one of {', '.join(_ORDERS)}, got {self.order!r}")
        for name in ("width", "height"):
            side = plain_number(getattr(self, name), name)
            if not side > 0:
                raise InputError(f"{name}: expected a number above 0, got {side}")

    @classmethod
    def of(cls, frame: Any) -> BoxFrame:
        """A `BoxFrame` as it is, or the one of a name in `FRAMES`."""
        if isinstance(frame, BoxFrame):
            return frame
        if isinstance(frame, str) and frame in FRAMES:
            return FRAMES[frame]
        raise InputError(
            f"frame: expected one of {', '.join(FRAMES)}, or a BoxFrame such as "
            f'BoxFrame("xyxy", 1024, 768) for pixels of an image of 1024×768, got {describe(frame)}'
        )

    def corners(self, numbers: Sequence[float], name: str) -> list[float]:
        """Four numbers in this frame as xyxy fractions of the image.

        Raises:
            InputError: they reach outside the frame, or can only be fractions where it is larger.
        """
        a, b, c, d = numbers
        x0, y0, x1, y1 = {
            "xyxy": (a, b, c, d),
            "yxyx": (b, a, d, c),
            "xywh": (a, b, a + c, b + d),
        }[self.order]
        within = all(0 <= x <= self.width for x in (x0, x1)) and all(
            0 <= y <= self.height for y in (y0, y1)
        )
        tiny = max(self.width, self.height) > 2 and max(numbers) <= 1
        if not within or (tiny and any(number != round(number) for number in numbers)):
            raise InputError(
                f"{name}: expected {self.order} in a frame of {self.width:g}×{self.height:g}, got "
                f"{list(numbers)}; is the frame another?"
            )
        return [x0 / self.width, y0 / self.height, x1 / self.width, y1 / self.height]


FRAMES: Mapping[str, BoxFrame] = {
    "gemini": BoxFrame("yxyx", 1000, 1000),
    "qwen3-vl": BoxFrame("xyxy", 1000, 1000),
}
"""Models whose frame does not depend on the image."""

_BOX_KEYS = ("box_2d", "bbox_2d", "bbox", "box", "bounding_box", "boundingBox")
_LABEL_KEYS = ("label", "name", "class_name", "class", "category")
_SCORE_KEYS = ("score", "confidence")
_SIDES = (
    ("x0", "y0", "x1", "y1"),
    ("x1", "y1", "x2", "y2"),
    ("xmin", "ymin", "xmax", "ymax"),
    ("x_min", "y_min", "x_max", "y_max"),
    ("left", "top", "right", "bottom"),
    ("x", "y", "width", "height"),
    ("x", "y", "w", "h"),
    ("left", "top", "width", "height"),
)
"""Keys that name the numbers of a box, in the orders xyxy and xywh."""

_FENCE = re.compile(r"^[ \t]*```[ \t]*(\w*)[ \t]*\r?\n(.*?)(?:^[ \t]*```|\Z)", re.M | re.S)
_SOMETHING = re.compile(r"\S")
_START = re.compile(r"""[\[{](?=\s*(?:["'\d\[{\]}-]|\Z))""")  # in prose: not "[see below]"


def read_answer(
    answer: Any,
    *,
    size: Size,
    frame: BoxFrame | str,
    label: str | None,
    score: float | None,
) -> dict[str, Any]:
    """The fields of `Detections`, as `Detections.from_answer` says."""
    stated, size = BoxFrame.of(frame), to_size(size)
    values = _values(answer) if isinstance(answer, str) else [answer]
    if not values:
        raise InputError(f"answer: expected boxes as JSON, or [] for none, got {describe(answer)}")
    objects = [one for value in values for one in _objects(value)]
    names = [f"answer, object {number}" for number in range(1, len(objects) + 1)]
    boxes = [_corners(one, stated, name) for one, name in zip(objects, names, strict=True)]
    return {
        "boxes": np.array(boxes).reshape(-1, 4) * np.array([*size] * 2),
        "scores": with_scores([_entry(one, _SCORE_KEYS) for one in objects], score),
        "labels": tuple(_label(one, label, name) for one, name in zip(objects, names, strict=True)),
        "size": size,
    }


def _values(answer: str) -> list[Any]:
    """The JSON values in an answer: those of its fences if it has any, else those within its prose."""
    fences = [(kind.lower(), text) for kind, text in _FENCE.findall(answer)]
    for wanted in ("json", ""):
        texts = [text for kind, text in fences if kind == wanted]
        if texts:
            return [value for text in texts for value in _decoded(text, prose=False)]
    return [value for value in _decoded(answer, prose=True) if not _is_citation(value)]


def _decoded(text: str, *, prose: bool) -> Iterator[Any]:
    """JSON values one after the other; in prose, with words around them.

    Raises:
        InputError: something begins like a value and is none.
    """
    decoder = json.JSONDecoder(object_pairs_hook=unique_keys)
    begin = _START if prose else _SOMETHING
    match = begin.search(text)
    while match:
        try:
            value, end = decoder.raw_decode(text, match.start())
        except InputError as error:
            raise InputError(f"answer: {error}") from error
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"answer: expected JSON, which may have been cut short, got "
                f"{describe(text[match.start() :])}: {error}"
            ) from error
        yield value
        match = begin.search(text, end)


def _is_citation(value: Any) -> bool:
    """Whether a value that stands in prose is no box but a list of other numbers, such as `[1]`."""
    numbers = isinstance(value, list) and bool(value) and all(map(_is_number, value))
    return numbers and len(value) != 4


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _objects(value: Any, *, inside: bool = False) -> list[Any]:
    """The objects in a JSON value: dicts that hold a box, and bare boxes of four numbers."""
    if isinstance(value, Mapping):
        if _boxes(value):
            return [value]
        lists = [entry for entry in value.values() if isinstance(entry, list)]
        if len(lists) == 1 and not inside:
            return _objects(lists[0])
    elif isinstance(value, list):
        if value and all(map(_is_number, value)) and len(value) == 4:
            return [value]
        if not inside:
            return [one for entry in value for one in _objects(entry, inside=True)]
    raise InputError(
        f"answer: expected objects with a box under one of {', '.join(_BOX_KEYS)}, or lists of four "
        f"numbers, got {describe(value) if not isinstance(value, Mapping) else describe(list(value))}"
    )


def _boxes(one: Mapping[str, Any]) -> list[Any]:
    """What an object has for a box: the entries of the usual keys, and its own sides."""
    entries = [one[key] for key in _BOX_KEYS if key in one]
    return entries + ([one] if any(set(sides) <= set(one) for sides in _SIDES) else [])


def _corners(one: Any, frame: BoxFrame, name: str) -> list[float]:
    """The corners of an object's box, as fractions of the image."""
    candidates = [one] if isinstance(one, list) else _boxes(one)
    if len(candidates) != 1:
        raise InputError(f"{name}: expected one box, got {len(candidates)}")
    (box,) = candidates
    if isinstance(box, Mapping):  # sides that have names
        named = [sides for sides in _SIDES if set(sides) <= set(box)]
        if len(named) != 1:
            raise InputError(f"{name}: expected the sides of one box, got {describe(list(box))}")
        frame = BoxFrame("xywh" if named[0][2][0] == "w" else "xyxy", frame.width, frame.height)
        box = [box[side] for side in named[0]]
    if not isinstance(box, list) or len(box) != 4:
        raise InputError(f"{name}: expected a box of four numbers, got {describe(box)}")
    return frame.corners([plain_number(number, name) for number in box], name)


def _entry(one: Any, keys: Sequence[str]) -> Any:
    """The first of the keys that an object has; None for a bare box."""
    return next((one[key] for key in keys if isinstance(one, Mapping) and key in one), None)


def _label(one: Any, label: str | None, name: str) -> str:
    said = _entry(one, _LABEL_KEYS)
    if said is None and label is None:
        raise InputError(
            f"{name}: expected a label under one of {', '.join(_LABEL_KEYS)}, got none; label= is "
            "given to boxes that come without"
        )
    return check_text(label if said is None else said, name)
