"""What goes into a sandbox and what comes out of it. Whatever comes out may be anything."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import describe, is_array, to_numpy
from .._plain import refuse_constant
from ..errors import InputError
from ..images import RGB, is_picture, load_image

__all__ = ["PICTURES", "decoded", "read_file", "read_value", "told", "write_bindings"]

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")

_LARGEST_JSON = 16 * 1024**2
_PLAIN_KINDS = "biufcUS"


def write_bindings(folder: Path, bindings: Mapping[str, Any]) -> dict[str, str]:
    """Write what code may use into a folder, and say what each is.

    A PIL image becomes a picture, a numpy array an array, and plain data what JSON makes of it.

    Raises:
        InputError: a name that is no variable's, or a value that is none of these.
    """
    forms: dict[str, tuple[str, str]] = {}
    said = {}
    for number, (name, value) in enumerate(bindings.items()):
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
            raise InputError(f"bindings: expected the name of a variable, got {describe(name)}")
        form, file = _written(folder, number, name, value)
        forms[name] = (form, file)
        said[name] = told(value)
    (folder / "bindings.json").write_text(json.dumps(forms), encoding="utf-8")
    return said


def told(value: Any) -> str:
    """What a binding is, in a few words."""
    if is_array(value):
        return f"array {'×'.join(map(str, value.shape))} {to_numpy(value).dtype}"
    if is_picture(value) and hasattr(value, "size"):
        return f"picture {value.size[0]}×{value.size[1]}"
    if isinstance(value, (list, tuple, dict, str)):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


def read_file(path: Path, most: int) -> bytes:
    """The bytes of a regular file of at most so many; a link, a pipe or a device is refused.

    Raises:
        InputError: it is something else, larger, or gone.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"{path.name}: cannot be opened: {error.strerror}") from None
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise InputError(f"{path.name}: expected a file, got something else")
    with os.fdopen(handle, "rb") as file:
        if found.st_size > most:
            raise InputError(f"{path.name}: expected at most {most} bytes, got {found.st_size}")
        return file.read(most)


def read_value(folder: Path, told_of: Mapping[str, Any], most: int, pixels: int) -> Any:
    """A value that code left: an array, a picture or plain data.

    Raises:
        InputError: it is none of these, or too large.
    """
    file, form = told_of.get("file"), told_of.get("form")
    stem, _, suffix = str(file).partition(".")
    if not stem.isascii() or not stem.isdigit() or suffix not in ("npy", "png", "json"):
        raise InputError("what was left has no file of ours")
    data = read_file(folder / str(file), most)
    if form == "array" and suffix == "npy":
        return _array(data)
    if form == "picture" and suffix == "png":
        return decoded(data, str(file), pixels)
    if form == "value" and suffix == "json":
        return _plain(data)
    raise InputError(f"{file}: expected an array, a picture or plain data")


def decoded(data: bytes, name: str, pixels: int) -> RGB:
    """A picture out of a file's bytes, unless it is larger than `pixels`.

    Raises:
        InputError: it is none, or larger.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            width, height = image.size
    except Exception as error:  # whatever a decoder may raise on bytes of any kind
        raise InputError(f"{name}: cannot be read as a picture ({type(error).__name__})") from None
    if width * height > pixels:
        raise InputError(f"{name}: expected at most {pixels} pixels, got {width}×{height}")
    return load_image(data)


def _written(folder: Path, number: int, name: str, value: Any) -> tuple[str, str]:
    if is_array(value):
        array = to_numpy(value)
        if array.dtype.kind not in _PLAIN_KINDS:
            raise InputError(f"bindings: {name}: expected numbers or texts, got {describe(value)}")
        np.save(folder / f"{number}.npy", np.ascontiguousarray(array), allow_pickle=False)
        return "array", f"{number}.npy"
    if hasattr(value, "save") and is_picture(value):
        value.convert("RGB").save(folder / f"{number}.png", compress_level=1)
        return "picture", f"{number}.png"
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"bindings: {name}: expected an array, a picture or what JSON can hold: {error}"
        ) from None
    (folder / f"{number}.json").write_text(text, encoding="utf-8")
    return "value", f"{number}.json"


def _array(data: bytes) -> npt.NDArray[Any]:
    """An array file, whose header says no more than it holds."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = read(stream)
        if dtype.kind not in _PLAIN_KINDS or dtype.hasobject:
            raise InputError("an array that was left: expected numbers or texts, got other things")
        if prod(shape) * dtype.itemsize != len(data) - stream.tell():
            raise InputError("an array that was left: its header and its size differ")
        stream.seek(0)
        return np.asarray(np.load(stream, allow_pickle=False))
    except InputError:
        raise
    except Exception as error:  # whatever numpy raises on bytes of any kind
        raise InputError(
            f"an array that was left cannot be read ({type(error).__name__})"
        ) from None


def _plain(data: bytes) -> Any:
    if len(data) > _LARGEST_JSON:
        raise InputError(f"what was left: expected at most {_LARGEST_JSON} bytes of plain data")
    try:
        return json.loads(data, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise InputError("what was left cannot be read as plain data") from None
