"""One loader for pictures: anything that is one becomes an H×W×3 uint8 RGB array, upright.

Transparent pixels are composited on white, palettes and greys become RGB, 16-bit greys are
scaled, EXIF orientation is applied. No URL is ever opened.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._arrays import describe, is_array, to_numpy
from .errors import InputError

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["RGB", "ImageLike", "image_name", "is_picture", "load_image", "to_pil"]

ImageLike: TypeAlias = Any
"""A path, the bytes of an image file, a PIL image, or an array H×W, H×W×1, H×W×3 or H×W×4
(torch tensors also channels first)."""

RGB: TypeAlias = npt.NDArray[np.uint8]
"""H×W×3, 0-255, red first, row 0 at the top."""

_CHANNELS = (1, 3, 4)
_RESULT_FILES = {
    ".npy": "DepthMap.open or FlowField.open",
    ".npz": "DepthMap.open or FlowField.open",
    ".pfm": "DepthMap.open",
    ".exr": "DepthMap.open",
    ".flo": "FlowField.open",
    ".json": "PerceptionProgram.from_json or Detections.from_coco",
}


def load_image(source: ImageLike) -> RGB:
    """A picture as an H×W×3 uint8 RGB array, upright.

    Args:
        source: a path, the bytes of an image file, a PIL image, or an array or tensor: H×W (grey),
            H×W×1, H×W×3 (RGB) or H×W×4 (RGBA); tensors also 3×H×W. 16-bit unsigned integers are read
            as 0-65535, others as 0-255 (or 0-65535 when any value exceeds 255), floats as 0-1 (or
            0-255 when any value exceeds 1).

    Raises:
        InputError: it is not a picture, or the file cannot be read; the message names the file.

    >>> import numpy as np
    >>> load_image(np.zeros((20, 40), np.uint8)).shape
    (20, 40, 3)
    """
    if isinstance(source, (str, os.PathLike)):
        return _from_file(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        return _decode(io.BytesIO(data), f"{len(data)} bytes of image data")
    if _is_pil(source):
        return _from_pil(source, "the PIL image")
    if is_array(source):
        return _from_array(source)
    raise InputError(
        "image: expected a path, the bytes of an image file, a PIL image or an array, "
        f"got {describe(source)}"
    )


def to_pil(source: ImageLike) -> Image.Image:
    """A picture as an upright RGB PIL image; takes what `load_image` takes."""
    from PIL import Image

    return Image.fromarray(load_image(source))


def is_picture(source: object) -> bool:
    """Whether `source` is of a kind that `load_image` takes as a picture without doubt.

    A 2-D array is not: it may as well be a map of depths or classes.
    """
    if isinstance(source, (str, os.PathLike, bytes, bytearray, memoryview)) or _is_pil(source):
        return True
    if not is_array(source):
        return False
    shape = tuple(source.shape)  # type: ignore[attr-defined]
    return len(shape) == 3 and (shape[-1] in _CHANNELS or _channels_first(shape))


def image_name(source: object) -> str | None:
    """The file name of a picture given as a path; None for any other."""
    return Path(source).name if isinstance(source, (str, os.PathLike)) else None


def _channels_first(shape: tuple[int, ...]) -> bool:
    """Whether the first axis must be the colours: the last cannot be, nor is this a flow field."""
    return len(shape) == 3 and shape[0] in _CHANNELS and shape[-1] not in (*_CHANNELS, 2)


def _is_pil(source: object) -> bool:
    return any(c.__module__ == "PIL.Image" and c.__name__ == "Image" for c in type(source).__mro__)


def _from_file(source: str | os.PathLike[str]) -> RGB:
    path = Path(source)
    text = os.fspath(source)
    if "://" in text or text.startswith("data:"):
        raise InputError(f"image: expected a local file, got the URL {text[:80]!r}; fetch it first")
    opener = _RESULT_FILES.get(path.suffix.lower())
    if opener:
        raise InputError(
            f"image: expected a picture, got {text!r}, a tool's result; read it with {opener}"
        )
    try:
        if text and path.is_dir():
            raise InputError(f"image: expected a file, got the folder {text!r}")
        there = path.is_file()
    except OSError as error:  # a name that is too long
        raise InputError(f"image: {text[:80]!r} is no path: {error.strerror}") from None
    if not there:
        raise InputError(f"image: no file {text!r}")
    return _decode(path, repr(text))


def _decode(source: Any, name: str) -> RGB:
    with open_picture(source, name, "image") as image:
        return _from_pil(image, name)


@contextmanager
def open_picture(source: Any, name: str, what: str) -> Iterator[Image.Image]:
    """A picture file, decoded, as the PIL image that it is, and closed afterwards.

    Args:
        source: a path or a binary file.
        name: what it is called in an error.
        what: what it should be: `image`, `depth`, …

    Raises:
        InputError: Pillow cannot read it, or it is too large to be opened unasked.
    """
    from PIL import Image, UnidentifiedImageError

    image = None
    try:
        with warnings.catch_warnings():
            # Pillow warns of large pictures from half the size that it refuses.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(source)
            image.load()
    except (UnidentifiedImageError, ModuleNotFoundError):
        # The latter where ultralytics has put its opener in place, which looks for more formats.
        raise InputError(
            f"{what}: expected a picture, but {name} is in no format Pillow reads"
        ) from None
    except Image.DecompressionBombError as error:
        raise InputError(f"{what}: {name} is too large to open: {error}") from error
    except Exception as error:  # decoders of damaged files raise of every kind
        if image is not None:
            image.close()
        raise InputError(f"{what}: {name} cannot be decoded: {error}") from error
    with image:
        yield image


def _from_pil(image: Image.Image, name: str) -> RGB:
    from PIL import Image, ImageOps

    try:
        image.load()  # what was opened and not yet read
        image = ImageOps.exif_transpose(image)
    except Exception as error:  # decoders of damaged files raise of every kind
        raise InputError(f"image: {name} cannot be decoded: {error}") from error
    if image.width == 0 or image.height == 0:
        raise InputError(f"image: expected at least one pixel, got {name} of {image.size}")
    if image.mode.startswith("I") or image.mode == "F":
        return _from_array(np.asarray(image), name)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        white = Image.new("RGBA", rgba.size, "white")
        image = Image.alpha_composite(white, rgba)
    return np.ascontiguousarray(np.asarray(image.convert("RGB")))


def _from_array(source: Any, name: str | None = None) -> RGB:
    name = name or describe(source)
    try:
        array = to_numpy(source)
    except InputError as error:
        raise InputError(f"image: {error}") from None
    if _channels_first(array.shape):
        array = np.moveaxis(array, 0, -1)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[-1] not in _CHANNELS or 0 in array.shape:
        raise InputError(f"image: expected H×W, H×W×1, H×W×3 or H×W×4, got {name}")
    levels = _to_uint8(array, name)
    if levels.shape[-1] == 4:
        alpha = levels[..., 3:].astype(np.float32) / 255
        levels = np.rint(levels[..., :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(levels, (*levels.shape[:2], 3)))


def _to_uint8(array: npt.NDArray[Any], name: str) -> RGB:
    kind = array.dtype.kind
    if array.dtype == np.uint8:
        return array
    if kind == "b":
        return array.astype(np.uint8) * np.uint8(255)
    if kind not in "iuf":
        raise InputError(f"image: expected numbers, got {name}")
    if kind == "f" and not np.isfinite(array).all():
        raise InputError(f"image: expected finite numbers, got {name} with NaN or infinity in it")
    low, high = float(array.min()), float(array.max())
    if low < 0:
        raise InputError(f"image: expected no negative numbers, got {low:g} in {name}")
    full = _full_scale(array.dtype, high)
    if high > full:
        raise InputError(f"image: expected numbers up to {full:g}, got {high:g} in {name}")
    return np.rint(array.astype(np.float64) * (255 / full)).astype(np.uint8)


def _full_scale(dtype: np.dtype[Any], high: float) -> float:
    """The number that means white. Wider integers hold 8-bit levels, or 16-bit ones past 255."""
    if dtype.kind == "f":
        return 1.0 if high <= 1 else 255.0
    if dtype.kind == "u" and dtype.itemsize == 2:
        return 65535.0
    return 255.0 if high <= 255 else 65535.0
