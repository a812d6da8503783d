"""The shapes of arrays in NPY and NPZ files, read without reading the arrays."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, cast

import numpy as np

from ._limits import RefusedError

__all__ = ["check_arrays"]

_PIXEL = 32  # bytes: four channels of the widest numbers


def check_arrays(data: bytes, pixels: int, name: str, what: str) -> None:
    """Refuse an array file that would fill more memory than a map of so many pixels.

    A few kilobytes of NPZ can unpack to gigabytes; but no more is unpacked than a header asks for.

    Raises:
        RefusedError: it would, or it is no such file.
    """
    try:
        for shape, dtype in _headers(data):
            if math.prod(shape) * dtype.itemsize > pixels * _PIXEL:
                raise RefusedError(
                    f"{what}: expected an array of at most {pixels:,} pixels, {name} has one of shape "
                    f"{'×'.join(map(str, shape))} and type {dtype}"
                )
    except RefusedError:
        raise
    except Exception as error:  # the readers of damaged files raise of every kind
        raise RefusedError(f"{what}: {name} is no array file, or damaged: {error}") from None


def _headers(data: bytes) -> Iterator[tuple[tuple[int, ...], np.dtype[np.generic]]]:
    """Shape and type of each array."""
    if not data.startswith(b"PK"):
        yield _header(io.BytesIO(data))
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            with archive.open(member) as opened:
                yield _header(cast(BinaryIO, opened))


def _header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    version = np.lib.format.read_magic(file)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(file)
    return shape, dtype
