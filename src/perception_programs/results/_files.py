"""Files that hold depth maps and flow fields."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..images import open_picture

__all__ = ["existing_file", "read_array_file", "read_depth_file", "read_with_opencv"]


def existing_file(path: str | os.PathLike[str], name: str) -> Path:
    """`path` if a file stands there."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"{name}: expected the path of a file, got {type(path).__name__}")
    file = Path(path)
    try:
        there = file.is_file()
    except OSError as error:  # a name that is too long
        raise InputError(f"{name}: {os.fspath(path)[:80]!r} is no path: {error.strerror}") from None
    if not there:
        raise InputError(f"{name}: no file {os.fspath(path)!r}")
    return file


def read_array_file(file: Path, key: str | None, name: str) -> npt.NDArray[Any]:
    """The array in an NPY file, or the one of an NPZ; no pickled object is ever loaded."""
    try:
        with file.open("rb") as opened:
            data = np.load(opened, allow_pickle=False)
            if hasattr(data, "files"):
                return np.asarray(data[_named_array(data.files, key, f"{name}: {str(file)!r}")])
        if key is not None:
            raise InputError(f"key: expected an NPZ file beside it, got {str(file)!r}")
        return np.asarray(data)
    except InputError:
        raise
    except Exception as error:  # numpy and zipfile raise many kinds for a damaged file
        raise InputError(f"{name}: {str(file)!r} cannot be read: {error}") from error


def _named_array(names: Sequence[str], key: str | None, name: str) -> str:
    if key is None and len(names) == 1:
        return names[0]
    if key is None or key not in names:
        wanted = "one array, or key= to name it" if key is None else f"an array {key!r}"
        raise InputError(f"{name}: expected {wanted}, got {', '.join(names) or 'none'}")
    return key


def read_with_opencv(file: Path, name: str) -> npt.NDArray[Any]:
    """A picture file with its own type and channels (blue first), as OpenCV reads it."""
    import cv2

    data = np.fromfile(file, np.uint8)
    try:
        array = cv2.imdecode(data, cv2.IMREAD_UNCHANGED) if data.size else None
    except cv2.error as error:
        raise InputError(f"{name}: {str(file)!r} cannot be read: {error.err}") from error
    if array is None:
        raise InputError(
            f"{name}: {str(file)!r} is truncated, or in a format that this OpenCV "
            f"({cv2.__version__}) does not read"
        )
    return np.asarray(array)


def read_depth_file(path: str | os.PathLike[str], key: str | None) -> npt.NDArray[Any]:
    """An H×W array of the file's own type.

    Raises:
        InputError: the file is missing or broken, or holds more than one channel that differ.
    """
    file = existing_file(path, "depth")
    if key is not None and file.suffix.lower() != ".npz":
        raise InputError(f"key: expected an NPZ file beside it, got {str(file)!r}")
    if file.suffix.lower() in (".npy", ".npz"):
        array = read_array_file(file, key, "depth")
    elif file.suffix.lower() in (".png", ".tif", ".tiff"):
        array = _read_with_pillow(file)
    else:
        array = read_with_opencv(file, "depth")
    if array.ndim == 3 and (array.shape[-1] == 1 or _all_grey(array)):
        array = array[..., 0]
    elif array.ndim == 3 and array.shape[0] == 1 and array.shape[-1] not in (3, 4):
        array = array[0]
    if array.ndim != 2:
        raise InputError(
            f"depth: expected a single channel, got {array.shape} in {str(file)!r}; "
            "a coloured depth picture cannot be turned back into depth"
        )
    return array


def _all_grey(array: npt.NDArray[Any]) -> bool:
    """Whether the colours of each pixel are equal, as where a grey picture was saved in colour."""
    return array.shape[-1] in (3, 4) and all((array[..., c] == array[..., 0]).all() for c in (1, 2))


def _read_with_pillow(file: Path) -> npt.NDArray[Any]:
    """Pillow says what is wrong with a truncated file, where OpenCV returns half of it."""
    with open_picture(file, repr(str(file)), "depth") as image:
        plain = {"P": "RGB", "1": "L"}.get(image.mode)  # a palette may well be a colour map
        return np.asarray(image.convert(plain) if plain else image)
