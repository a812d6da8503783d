"""Optical flow fields."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._arrays import Field, describe, is_tensor, to_field, to_numpy
from ..errors import InputError
from ..geometry import Size
from ._check import Result
from ._files import existing_file, read_array_file, read_with_opencv

__all__ = ["FlowField"]

_FLO_MAGIC = np.float32(202021.25)
_FLO_UNKNOWN = 1e9  # Middlebury: a component beyond this marks an unknown vector
_KITTI_ZERO, _KITTI_SCALE = 1 << 15, 64.0


@dataclass(frozen=True, eq=False)
class FlowField(Result):
    """Motion of every pixel from the first frame to the second.

    Attributes:
        uv: H×W×2 float32 in pixels of the first frame, u to the right, v down; numpy or a torch
            tensor (which stays on its device). NaN or infinity marks an unknown vector.
        confidence: H×W float32, bigger is surer, or None.

    Raises:
        InputError: wrong dimensions, or no vector that is finite.
    """

    uv: Field
    confidence: Any = None

    def __post_init__(self) -> None:
        uv = to_field(self.uv, 3, "flow", "an H×W×2 field")
        if uv.shape[-1] != 2:
            hint = "; move the first axis to the end" if uv.shape[0] == 2 else ""
            raise InputError(f"flow: expected an H×W×2 field, got {describe(uv)}{hint}")
        if 0 in tuple(uv.shape):
            raise InputError(f"flow: expected at least one pixel, got {describe(uv)}")
        object.__setattr__(self, "uv", uv)
        if self.confidence is not None:
            confidence = to_field(self.confidence, 2, "confidence", "an H×W map")
            if tuple(confidence.shape) != tuple(uv.shape[:2]):
                raise InputError(
                    f"confidence: expected H×W like the flow, got {describe(confidence)}"
                )
            object.__setattr__(self, "confidence", confidence)
        if not bool(self.valid().any()):
            raise InputError("flow: expected at least one finite vector, got none")

    @property
    def size(self) -> Size:
        """`(width, height)` of the first frame."""
        return int(self.uv.shape[1]), int(self.uv.shape[0])

    def valid(self) -> Any:
        """H×W bool: where both components are finite."""
        finite = self.uv.isfinite() if is_tensor(self.uv) else np.isfinite(self.uv)
        return finite[..., 0] & finite[..., 1]

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, key: str | None = None) -> FlowField:
        """A flow field from a Middlebury `.flo`, a KITTI 16-bit PNG, an NPY or an NPZ file.

        Vectors that the file marks as unknown become NaN.

        Raises:
            InputError: no such file, or it is truncated or something else.
        """
        file = existing_file(path, "flow")
        suffix = file.suffix.lower()
        if suffix == ".flo":
            return cls(_read_flo(file))
        if suffix == ".png":
            return cls(_read_kitti(file))
        if suffix in (".npy", ".npz"):
            return cls(read_array_file(file, key, "flow"))
        raise InputError(f"flow: expected a .flo, .png, .npy or .npz file, got {str(file)!r}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the field as Middlebury `.flo` (exact) or KITTI 16-bit `.png` (steps of 1/64 pixel).

        Raises:
            InputError: another suffix, a folder that does not exist, or vectors beyond the
                ±512 pixels of a KITTI file.
        """
        if not isinstance(path, (str, os.PathLike)) or Path(path).is_dir():
            raise InputError(f"flow: expected the path of a file to write, got {path!r}")
        file = Path(path)
        if not file.parent.is_dir():
            raise InputError(f"flow: no folder {str(file.parent)!r} to write to")
        uv, valid = to_numpy(self.uv), to_numpy(self.valid())
        if file.suffix.lower() == ".flo":
            if np.abs(uv[valid]).max() > _FLO_UNKNOWN:
                raise InputError("flow: expected vectors below 1e9 pixels, which mark unknown ones")
            unknown = np.where(valid[..., None], uv, np.float32(1e10)).astype("<f4")
            with file.open("wb") as out:
                out.write(_FLO_MAGIC.astype("<f4").tobytes())
                out.write(np.array(self.size, "<i4").tobytes())
                out.write(unknown.tobytes())
        elif file.suffix.lower() == ".png":
            _write_kitti(file, uv, valid)
        else:
            raise InputError(f"flow: expected a .flo or .png file to write, got {str(file)!r}")


def _read_flo(file: Path) -> Any:
    data = file.read_bytes()
    if len(data) < 12 or np.frombuffer(data, "<f4", 1)[0] != _FLO_MAGIC:
        raise InputError(f"flow: {str(file)!r} does not begin like a Middlebury .flo file")
    width, height = (int(n) for n in np.frombuffer(data, "<i4", 2, offset=4))
    expected = 12 + 8 * width * height
    if width < 1 or height < 1 or len(data) != expected:
        raise InputError(
            f"flow: {str(file)!r} says {width}×{height} pixels, expected {expected} bytes, "
            f"got {len(data)}"
        )
    uv = np.frombuffer(data, "<f4", offset=12).reshape(height, width, 2).astype(np.float32)
    uv[(np.abs(uv) > _FLO_UNKNOWN).any(axis=-1)] = np.nan
    return uv


def _read_kitti(file: Path) -> Any:
    array = read_with_opencv(file, "flow")
    if array.dtype != np.uint16 or array.ndim != 3 or array.shape[-1] != 3:
        raise InputError(
            f"flow: expected a KITTI flow PNG, 16 bits and 3 channels, got {describe(array)} "
            f"in {str(file)!r}"
        )
    valid, v, u = np.moveaxis(array, -1, 0)  # OpenCV gives blue first; the file's red is u
    uv = (np.stack([u, v], axis=-1).astype(np.float32) - _KITTI_ZERO) / np.float32(_KITTI_SCALE)
    uv[valid == 0] = np.nan
    return uv


def _write_kitti(file: Path, uv: Any, valid: Any) -> None:
    import cv2

    levels = np.rint(np.where(valid[..., None], uv, 0) * _KITTI_SCALE + _KITTI_ZERO)
    if levels.min() < 0 or levels.max() > np.iinfo(np.uint16).max:
        raise InputError(
            "flow: expected vectors within ±512 pixels for a KITTI PNG; write a .flo file"
        )
    levels[~valid] = 0
    channels = np.stack([valid, levels[..., 1], levels[..., 0]], axis=-1).astype(np.uint16)
    ok, data = cv2.imencode(".png", channels)
    if not ok:
        raise InputError(f"flow: OpenCV could not encode {str(file)!r}")
    file.write_bytes(data.tobytes())
