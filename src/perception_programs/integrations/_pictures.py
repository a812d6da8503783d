"""Pictures from callers that are not trusted: sizes are checked before anything is decoded."""

from __future__ import annotations

import base64
import binascii
import io
import re
import warnings
from typing import TYPE_CHECKING

from ..errors import InputError
from ..images import RGB, load_image
from ._limits import Limits, RefusedError

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["check_header", "decode_base64", "decode_picture"]

# Pillow reads far more, among them formats that run other programs (EPS).
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM")
_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\s-]{64,}")


def decode_base64(text: str, limit: int, what: str) -> bytes | None:
    """The bytes of a data URL, or of plain base64; None where `text` is neither.

    Raises:
        RefusedError: it is larger than `limit`, or broken.
    """
    header = _DATA_URL.match(text)
    if header is None and (len(text) < 64 or not _BASE64.fullmatch(text)):
        return None
    start = header.end() if header else 0
    if (len(text) - start) * 3 // 4 > limit + 3:
        raise RefusedError(f"{what}: expected at most {limit:,} bytes, got {len(text):,} of base64")
    plain = re.sub(r"\s", "", text[start:]).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise RefusedError(f"{what}: broken base64: {error}") from None


def decode_picture(data: bytes, name: str, limits: Limits, what: str) -> RGB:
    """A picture file as RGB.

    Raises:
        RefusedError: it is no picture, of a format that is not read, truncated, or too large.
    """
    with _opened(data, name, limits, what) as image:
        try:
            return load_image(image)
        except InputError as error:
            raise RefusedError(f"{what}: {name} is damaged: {error.__cause__ or error}") from None


def check_header(data: bytes, name: str, limits: Limits, what: str) -> None:
    """Refuse a picture file that is too large to decode.

    Raises:
        RefusedError: it is, or it is no picture.
    """
    _opened(data, name, limits, what).close()


def _opened(data: bytes, name: str, limits: Limits, what: str) -> Image.Image:
    """A picture whose header has been read and no pixel."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
    except (UnidentifiedImageError, ModuleNotFoundError):  # as in `images.open_picture`
        known = ", ".join(_FORMATS)
        raise RefusedError(f"{what}: expected a picture ({known}), {name} is none") from None
    except Image.DecompressionBombError:
        raise RefusedError(
            f"{what}: expected at most {limits.pixels:,} pixels, {name} has far more"
        ) from None
    except Exception as error:  # the readers of damaged files raise of every kind
        raise RefusedError(f"{what}: {name} is damaged: {error}") from None
    width, height = image.size
    if width * height > limits.pixels:
        image.close()
        raise RefusedError(
            f"{what}: expected at most {limits.pixels:,} pixels, {name} has {width}×{height}"
        )
    return image
