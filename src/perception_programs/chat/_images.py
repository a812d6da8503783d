"""Pictures as they are sent to a model: an image file within the provider's limits."""

from __future__ import annotations

import base64
import io
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..images import ImageLike, open_picture, to_pil

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["IMAGE_BYTES", "SMALLEST_IMAGE_BYTES", "EncodedImage", "encode_image", "shrunk"]

IMAGE_BYTES = 5 * 1024**2
"""The default limit, in bytes of base64: the tightest of the large providers' (Anthropic's)."""

SMALLEST_IMAGE_BYTES = 4096
"""The least that may be asked for: below it the headers of a file take most of the room."""

_JPEG_QUALITY = 95
_FEW_COLOURS = 4096  # a drawing, a plot or a colour scale has fewer, a photograph more
_MEDIA_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png"}
_ORIENTATION = 0x0112  # the EXIF tag; 1 is upright


@dataclass(frozen=True)
class EncodedImage:
    """An image file in memory.

    Attributes:
        data: the file.
        media_type: `image/png` or `image/jpeg`.
    """

    data: bytes
    media_type: str

    @property
    def url(self) -> str:
        """It as a data URL."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"


def encode_image(
    source: ImageLike, *, long_side: int | None = None, limit: int = IMAGE_BYTES
) -> EncodedImage:
    """A picture as a file to send.

    An upright RGB file in JPEG or PNG that is within the limits is sent as it is, its metadata
    included. Any other is drawn upright in RGB and becomes a PNG if it has few colours, so that
    letters and lines keep their edges, and otherwise a JPEG of quality 95 with full colour
    resolution.

    Args:
        source: what `load_image` takes.
        long_side: the most pixels of the longer side; larger pictures are scaled down.
        limit: the most bytes once encoded in base64; larger files become a JPEG, and smaller
            until they fit.

    Raises:
        InputError: it is not a picture, or cannot be read.

    >>> import numpy as np
    >>> encode_image(np.zeros((20, 40), np.uint8)).media_type
    'image/png'
    """
    unchanged = _as_it_is(source, long_side, limit)
    if unchanged is not None:
        return unchanged
    image = shrunk(to_pil(source), long_side)
    if image.getcolors(_FEW_COLOURS) is not None:
        drawing = EncodedImage(_saved(image, "PNG"), _MEDIA_TYPES["PNG"])
        if _base64_size(drawing.data) <= limit:
            return drawing
    data, factor = _saved(image, "JPEG"), 1.0
    while _base64_size(data) > limit:
        # The size of a file grows about as its area; the last factor makes up for "about".
        factor *= min(0.9, math.sqrt(limit / _base64_size(data)) * 0.95)
        data = _saved(_scaled(image, factor), "JPEG")
    return EncodedImage(data, _MEDIA_TYPES["JPEG"])


def _as_it_is(source: ImageLike, long_side: int | None, limit: int) -> EncodedImage | None:
    """The file that `source` is, if it can be sent unchanged."""
    data = _file_bytes(source)
    if data is None or _base64_size(data) > limit:
        return None
    with open_picture(io.BytesIO(data), _called(source, data), "image") as image:
        upright = image.getexif().get(_ORIENTATION, 1) == 1
        plain = image.mode == "RGB" and "transparency" not in image.info
        fits = long_side is None or max(image.size) <= long_side
        one = getattr(image, "n_frames", 1) == 1
        kind = _MEDIA_TYPES.get(image.format or "")
    return EncodedImage(data, kind) if kind and upright and plain and fits and one else None


def _file_bytes(source: ImageLike) -> bytes | None:
    """The bytes of an image file given as a path or as bytes; None for any other picture."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, (str, os.PathLike)):
        try:  # a pipe is not opened: it would be waited for
            return Path(source).read_bytes() if Path(source).is_file() else None
        except (OSError, ValueError):  # no such file: `load_image` says what is wrong with it
            return None
    return None


def _called(source: ImageLike, data: bytes) -> str:
    if isinstance(source, (str, os.PathLike)):
        return repr(os.fspath(source))
    return f"{len(data)} bytes of image data"


def _base64_size(data: bytes) -> int:
    return 4 * ((len(data) + 2) // 3)


def shrunk(image: Image.Image, long_side: int | None) -> Image.Image:
    """The picture with its longer side at most so long, in pixels; never enlarged."""
    if long_side is None or max(image.size) <= long_side:
        return image
    return _scaled(image, long_side / max(image.size))


def _scaled(image: Image.Image, factor: float) -> Image.Image:
    from PIL import Image

    width, height = (max(1, math.floor(side * factor + 0.5)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)


def _saved(image: Image.Image, kind: str) -> bytes:
    file = io.BytesIO()
    if kind == "PNG":
        image.save(file, kind)
    else:
        image.save(file, kind, quality=_JPEG_QUALITY, subsampling="4:4:4")
    return file.getvalue()
