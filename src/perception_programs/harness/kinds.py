"""The kinds of artefact that a memory keeps, and how each lies on disk without loss.

| kind | value | files |
|---|---|---|
| `image` | H×W×3 uint8 RGB | `.png` |
| `boxes` | `Detections` (their labels are the words, for text that was read) | `.npz` |
| `depth` | `DepthMap` | `.npz` |
| `camera` | `Cameras` | `.npz` |
| `array` | a numpy array of numbers or truth values | `.npz` |
| `value` | plain data: what JSON holds | `.json` |
| `page` | `Page`: the text of a web page | `.json` |
| `reference` | `Reference`: an address that a search found | `.json` |
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._arrays import describe, to_numpy
from ..errors import InputError
from ..images import load_image
from ..results import DepthMap, Detections

if TYPE_CHECKING:
    from ..geometry import Size

__all__ = ["KINDS", "Cameras", "Kind", "Page", "Reference", "size_of"]


@dataclass(frozen=True, eq=False)
class Cameras:
    """Where the cameras of several pictures stood.

    Attributes:
        images: handles of the pictures, in order.
        poses: N×4×4 float64, each from the first camera's coordinates to its own (x right, y down,
            z forward); the first is the identity.
        intrinsics: N×3×3 float64, in pixels.
        metric: whether translations are metres; otherwise the first that is not 0 has the length 1.
        overlap: N-1 float64 in [0, 1], how much each picture and the one before show of one another: the
            share that the matched spots span, in the one where it is less.
    """

    images: tuple[str, ...]
    poses: npt.NDArray[np.float64]
    intrinsics: npt.NDArray[np.float64]
    metric: bool
    overlap: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Page:
    """A web page's text.

    Attributes:
        url: where it was found, after redirections.
        title: its title, or an empty string.
        text: its main text.
    """

    url: str
    title: str
    text: str


@dataclass(frozen=True)
class Reference:
    """A thing that a search found.

    Attributes:
        url: its address.
        title: what the search calls it.
        snippet: what the search says of it.
    """

    url: str
    title: str = ""
    snippet: str = ""


@dataclass(frozen=True)
class Kind:
    """How one kind of value is kept.

    Attributes:
        prefix: what handles begin with.
        suffix: of its file.
        write: the bytes of the file; raises InputError for another kind of value.
        read: the value again.
        tell: a few words about a value: its size, how many.
    """

    prefix: str
    suffix: str
    write: Callable[[Any], bytes]
    read: Callable[[bytes], Any]
    tell: Callable[[Any], str]


def size_of(value: Any) -> Size | None:
    """`(width, height)` of the picture that a value is, or is about; None where it is about none."""
    if isinstance(value, np.ndarray) and value.ndim == 3:
        return value.shape[1], value.shape[0]
    return getattr(value, "size", None) if isinstance(value, (Detections, DepthMap)) else None


def _expect(value: Any, kind: type, name: str) -> None:
    if not isinstance(value, kind):
        raise InputError(f"{name}: expected {kind.__name__}, got {describe(value)}")


def _png(value: Any) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(load_image(value)).save(file, "PNG")
    return file.getvalue()


def _npz(arrays: Mapping[str, Any]) -> bytes:
    """Named arrays as a file; what is None is left out, and what holds objects refused."""
    file = io.BytesIO()
    kept = {key: to_numpy(value) for key, value in arrays.items() if value is not None}
    if any(value.dtype.hasobject for value in kept.values()):
        raise InputError("array: expected numbers or truth values, got objects")
    np.savez_compressed(file, allow_pickle=False, **kept)
    return file.getvalue()


def _arrays(data: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def _result(kind: type) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """Writer and reader of a dataclass of arrays, strings and numbers: one entry a field."""
    names = [field.name for field in dataclasses.fields(kind)]

    def write(value: Any) -> bytes:
        _expect(value, kind, kind.__name__.lower())
        fields = {name: getattr(value, name) for name in names}
        texts = {key: fields.pop(key) for key in names if _is_text(fields[key])}
        return _npz({**fields, "texts": json.dumps(texts)})

    def read(data: bytes) -> Any:
        arrays = _arrays(data)
        texts = json.loads(str(arrays.pop("texts")))
        plain = {key: _unwrapped(value) for key, value in arrays.items()}
        lists = {
            key: tuple(value) if isinstance(value, list) else value for key, value in texts.items()
        }
        return kind(**plain, **lists)

    return write, read


def _is_text(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(isinstance(one, str) or one is None for one in value)
    return isinstance(value, str)


def _unwrapped(value: Any) -> Any:
    """A number that was written as an array without axes; a pair of integers as a tuple."""
    if value.ndim == 0:
        return value.item()
    return tuple(value.tolist()) if value.shape == (2,) and value.dtype.kind == "i" else value


def _json(value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "backslashreplace")  # half of a surrogate pair stays JSON
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"value: expected what JSON can hold: {error}") from None


def _record(kind: type) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    def write(value: Any) -> bytes:
        _expect(value, kind, kind.__name__.lower())
        return _json(dataclasses.asdict(value))

    return write, lambda data: kind(**json.loads(data))


def _tell_boxes(found: Detections) -> str:
    names = list(dict.fromkeys(found.labels))
    said = ", ".join(name if len(name) <= 24 else f"{name[:23]}…" for name in names[:4])
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    count = f"{len(found)} box{'' if len(found) == 1 else 'es'}"
    return f"{count}{f': {said}{more}' if names else ''}"


def _tell_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{describe(value)}, {len(text)} characters"


def _tell_array(value: npt.NDArray[Any]) -> str:
    shape = "×".join(map(str, value.shape)) or "one number"
    return f"{shape}, {value.dtype}"


_BOXES, _DEPTH, _CAMERAS = _result(Detections), _result(DepthMap), _result(Cameras)
_PAGE, _REFERENCE = _record(Page), _record(Reference)

KINDS: Mapping[str, Kind] = {
    "image": Kind(
        "tool_image", ".png", _png, load_image, lambda v: f"{v.shape[1]}×{v.shape[0]} pixels"
    ),
    "boxes": Kind("boxes", ".npz", *_BOXES, _tell_boxes),
    "depth": Kind("depth", ".npz", *_DEPTH, lambda v: f"{v.size[0]}×{v.size[1]}, {v.kind}"),
    "camera": Kind(
        "camera",
        ".npz",
        *_CAMERAS,
        lambda v: f"{len(v.images)} poses, {'metres' if v.metric else 'scale unknown'}",
    ),
    "array": Kind(
        "array", ".npz", lambda v: _npz({"array": v}), lambda d: _arrays(d)["array"], _tell_array
    ),
    "value": Kind("value", ".json", _json, json.loads, _tell_value),
    "page": Kind("page", ".json", *_PAGE, lambda v: f"{len(v.text)} characters of {v.url[:80]}"),
    "reference": Kind("reference", ".json", *_REFERENCE, lambda v: v.title[:60] or v.url[:80]),
}
"""The kinds by name."""
