"""Reading the text in a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..._arrays import describe
from ...errors import InputError, MissingExtraError, ToolError, WeightsError, install_command
from ...experts._detector import check_fraction
from ...experts.base import installed_version
from ...geometry import Size
from ...images import RGB
from ...programs import detection_program
from ...results import Detections
from ...text.quoting import capped, quoted
from ..capability import Capability, Finding, New, unusable
from ..memory import Memory
from ._backend import Backend

__all__ = ["ReadText", "TextLine"]

Boxes: TypeAlias = npt.NDArray[np.float64]
Truths: TypeAlias = npt.NDArray[np.bool_]

_SAME_ROW = 0.5  # share of the lesser height that two lines of one row have in common
_NOTE = (
    "Each item is one line of text. c: [x0, y0, x1, y1], the upper left and lower right corner of the box "
    "around it; x runs right and y runs down, both scaled to 0-1000. r: how sure the reading is, from 0 to 1. "
    "b: its words."
)


@dataclass(frozen=True)
class TextLine:
    """A line of text as a reader gives it.

    Attributes:
        text: its words.
        score: how sure the reading is, from 0 to 1.
        corners: (x, y) of the corners of a polygon around it, in pixels.
    """

    text: str
    score: float
    corners: tuple[tuple[float, float], ...]


class ReadText(Capability):
    """Reads the lines of text in a picture.

    Lines come from the top down, and those that stand beside each other from left to right, so that two columns
    are read across: which lines belong to one column is for the reader of the boxes to say. Lines without words
    are left out.

    Args:
        backend: `rapidocr`, which brings its models and asks no network for any; or a callable that takes a
            picture and returns `TextLine`s in any order.
        threshold: least score of a line.

    Raises:
        InputError: no such backend, or a threshold outside 0 to 1.

    >>> import asyncio, tempfile
    >>> memory = Memory(tempfile.mkdtemp())
    >>> picture = memory.add("image", np.zeros((100, 200, 3), np.uint8), made_by="user").handle
    >>> def reader(image):
    ...     return [TextLine("EXIT", 0.98, ((20, 10), (60, 12), (60, 30), (20, 28)))]
    >>> asyncio.run(ReadText(reader).call(memory, picture)).passages
    {'text': 'EXIT'}
    """

    name = "read_text"

    def __init__(
        self,
        backend: str | Callable[[RGB], Iterable[TextLine]] = "rapidocr",
        *,
        threshold: float = 0.5,
    ) -> None:
        self._threshold = check_fraction("threshold", threshold)
        if callable(backend):
            self._backend = Backend.given(backend)
        elif backend == "rapidocr":
            version = installed_version("rapidocr")
            self._backend = Backend({"name": "rapidocr", "version": version}, _RapidOCR)
        else:
            raise InputError(f"backend: expected 'rapidocr' or a callable, got {backend!r}")

    def settings(self) -> dict[str, Any]:
        """The backend and the threshold."""
        return {"backend": self._backend.facts, "threshold": self._threshold}

    async def call(self, memory: Memory, image: str) -> Finding:
        """Read the text in a picture.

        Args:
            memory: what was gathered.
            image: the handle of a picture.
        """
        picture = memory.image(image)
        await self._backend.ready()
        try:
            lines = _checked(await self._backend.run(picture), (picture.shape[1], picture.shape[0]))
        except ToolError as error:
            return unusable(str(error), image=image)
        lines = _in_order(
            [line for line in lines if line.score >= self._threshold and line.text.strip()]
        )
        raw = [{"text": one.text, "score": one.score, "box": one.corners} for one in lines]
        if not lines:
            return Finding("none", {"image": image}, raw=raw)
        found = self._as_boxes(lines, picture)
        return Finding(
            "found",
            {"image": image, "count": len(lines)},
            {"text": "\n".join(line.text for line in lines)},
            replace(detection_program(found), note=_NOTE),
            {"boxes": New("boxes", found, (image,))},
            raw,
        )

    def _as_boxes(self, lines: list[TextLine], picture: RGB) -> Detections:
        """The box around each line's polygon, within the picture."""
        height, width = picture.shape[:2]
        boxes = np.clip(_boxes(lines), 0, [width, height, width, height])
        return Detections(
            boxes,
            [line.score for line in lines],
            tuple(line.text for line in lines),
            size=(width, height),
            threshold=self._threshold,
        )


def _checked(answer: Any, size: Size) -> list[TextLine]:
    """What a backend returned.

    Raises:
        ToolError: it is something else than lines.
    """
    lines = list(answer) if isinstance(answer, Iterable) else [answer]
    return [_plain(line, size) for line in lines]


def _plain(line: Any, size: Size) -> TextLine:
    """A line with Python's own numbers.

    Raises:
        ToolError: it is none, has numbers that cannot be, or lies outside the picture: a backend that scales
            pictures and forgets it gives such lines.
    """
    if not isinstance(line, TextLine):
        raise ToolError(f"read_text: expected TextLines, got {describe(line)}")
    if not isinstance(line.text, str):
        raise ToolError(f"read_text: expected a string as a line's text, got {describe(line.text)}")
    said = f"line {quoted(capped(line.text))}"
    try:
        score = check_fraction("score", line.score)
        corners = np.array(line.corners, np.float64)
    except InputError as error:
        raise ToolError(f"read_text: {said}: {error}") from None
    except (TypeError, ValueError):  # rows of different lengths, or no numbers
        corners = np.empty(0)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 2:
        raise ToolError(f"read_text: {said}: expected two corners (x, y) or more")
    if not np.isfinite(corners).all():
        raise ToolError(f"read_text: {said}: expected finite corners")
    if (corners.max(axis=0) < 0).any() or (corners.min(axis=0) > size).any():
        raise ToolError(f"read_text: {said}: expected corners within {size[0]}×{size[1]} pixels")
    return TextLine(line.text, score, tuple((x, y) for x, y in corners.tolist()))


def _boxes(lines: list[TextLine]) -> Boxes:
    """N×4: left, top, right and bottom of each line's polygon."""
    ends = [(np.min(line.corners, axis=0), np.max(line.corners, axis=0)) for line in lines]
    return np.array(ends, np.float64).reshape(-1, 4)


def _in_order(lines: list[TextLine]) -> list[TextLine]:
    """Rows from the top down, each from left to right.

    A line belongs to the row above it if it stands beside all of that row and at the height of some of it:
    a fixed number of pixels would join the rows of small print, and part the words of a large, tilted one.
    """
    boxes = _boxes(lines)
    rows: list[list[int]] = []
    for n in np.argsort(boxes[:, 1] + boxes[:, 3], kind="stable").tolist():
        row = boxes[rows[-1]] if rows else boxes[:0]
        if len(row) and _is_beside(boxes[n], row).all() and _at_height(boxes[n], row).any():
            rows[-1].append(n)
        else:
            rows.append([n])
    return [lines[n] for row in rows for n in sorted(row, key=lambda n: float(boxes[n, 0]))]


def _is_beside(box: Boxes, row: Boxes) -> Truths:
    """Which boxes of a row a box has no column in common with."""
    beside: Truths = (box[2] <= row[:, 0]) | (row[:, 2] <= box[0])
    return beside


def _at_height(box: Boxes, row: Boxes) -> Truths:
    """Which boxes of a row stand beside a good part of a box, or it beside theirs."""
    common = np.minimum(box[3], row[:, 3]) - np.maximum(box[1], row[:, 1])
    level: Truths = common > _SAME_ROW * np.minimum(box[3] - box[1], row[:, 3] - row[:, 1])
    return level


class _RapidOCR:
    """RapidOCR with the models of its own wheel, and no others: those that it lacks it would download."""

    def __init__(self) -> None:
        try:
            import rapidocr
        except ImportError:
            raise MissingExtraError(
                f"read_text needs rapidocr and onnxruntime: {install_command('harness')}"
            ) from None
        folder = Path(rapidocr.__file__).parent / "models"
        parts = {"Det": "*_det_*.onnx", "Cls": "*_cls_*.onnx", "Rec": "*_rec_*.onnx"}
        models = {f"{part}.model_path": _only(folder, name) for part, name in parts.items()}
        self._read: Any = rapidocr.RapidOCR(
            params={**models, "Global.log_level": "critical", "Global.text_score": 0.0}
        )

    def __call__(self, picture: RGB) -> list[TextLine]:
        found = self._read(np.ascontiguousarray(picture[..., ::-1]))  # it takes arrays for BGR
        if getattr(found, "txts", None) is None or found.boxes is None:
            return []
        corners = np.asarray(found.boxes, np.float64).round(2).tolist()
        return [
            TextLine(text, round(float(score), 4), tuple((x, y) for x, y in polygon))
            for text, score, polygon in zip(found.txts, found.scores, corners, strict=True)
        ]


def _only(folder: Path, pattern: str) -> str:
    """The one model of a kind.

    Raises:
        WeightsError: there is none, or a choice.
    """
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise WeightsError(
            f"read_text: expected one model {pattern} in {folder}, got {len(found)}; "
            f"{install_command('harness')} brings it"
        )
    return str(found[0])
