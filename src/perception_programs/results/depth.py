"""Depth maps, with their polarity and unit."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._arrays import Field, describe, is_tensor, to_field, to_numpy
from .._plain import plain_number
from ..errors import InputError, MissingExtraError, install_command
from ..geometry import Size, to_size
from ._check import UNSET, Result, check_mask
from ._files import read_depth_file

__all__ = ["DepthKind", "DepthMap"]

DepthKind = Literal["relative", "metric", "normalised"]

_KINDS = ("relative", "metric", "normalised")
_SLACK = 1e-6  # resizing leaves normalised maps this far outside [0, 1]
_NEAREST = float(1 / np.finfo(np.float32).max)  # metres; what is not beyond has no inverse
_BOTH_WAYS = (
    'say kind="relative" if bigger is nearer (scale unknown), '
    'or kind="metric" if the values are metres from the camera'
)


@dataclass(frozen=True, eq=False)
class DepthMap(Result):
    """Depth of every pixel of an image.

    Attributes:
        values: H×W float32, numpy or a torch tensor (which stays on its device).
        kind: `normalised`: in [0, 1], 1 is nearest; `relative`: bigger is nearer, scale and shift
            unknown; `metric`: metres from the camera, bigger is farther.
        mask: H×W bool, True where the value is to be trusted, or None. Non-finite values are
            never valid, nor are metric values that are not positive: sensors write 0 for no reading.
        size: `(width, height)` of the source image; the map's own size when not given. A map of
            another size covers the same picture, each axis by its own factor.

    Raises:
        InputError: wrong dimensions, an unknown kind, no valid pixel, or values outside [0, 1]
            in a map that is not said to be relative or metric.
    """

    values: Field
    kind: DepthKind = "normalised"
    mask: Any = None
    size: Size = UNSET

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in _KINDS:
            raise InputError(
                f"kind: expected one of {', '.join(_KINDS)}, got {self.kind!r}; disparity is relative, "
                "metres are metric"
            )
        values = to_field(self.values, 2, "depth", "an H×W map")
        if 0 in tuple(values.shape):
            raise InputError(f"depth: expected at least one pixel, got {describe(values)}")
        height, width = (int(n) for n in values.shape)
        set_field = object.__setattr__
        set_field(self, "values", values)
        set_field(self, "size", (width, height) if self.size is None else to_size(self.size))
        if self.mask is not None:
            set_field(self, "mask", check_mask(self.mask, (height, width), values, "mask"))
        valid = self.valid()
        if not bool(valid.any()):
            raise InputError(
                f"depth: expected at least one valid value, got none among {width}×{height} pixels "
                "(NaN, infinity and masked pixels are not valid, nor are metres of 0 or less)"
            )
        if self.kind == "normalised":
            self._check_range(valid)

    def _check_range(self, valid: Any) -> None:
        low, high = _extremes(self.values, valid)
        if low < -_SLACK or high > 1 + _SLACK:
            raise InputError(
                "depth: expected normalised values in [0, 1], 1 nearest, "
                f"got values from {low:.4g} to {high:.4g}; {_BOTH_WAYS}"
            )

    def valid(self) -> Any:
        """H×W bool: where the map can be read."""
        values = self.values
        valid = values.isfinite() if is_tensor(values) else np.isfinite(values)
        if self.kind == "metric":
            valid = valid & (values > _NEAREST)
        return valid if self.mask is None else valid & self.mask

    def inverse(self) -> Field:
        """H×W, bigger is nearer on every kind: the values, or 1 / metres for a metric map."""
        if self.kind != "metric":
            return self.values
        if is_tensor(self.values):
            return self.values.reciprocal()
        with np.errstate(divide="ignore", over="ignore"):
            return np.reciprocal(self.values)

    def limits(self) -> tuple[float, float]:
        """The values of `inverse` that stand for nearness 0 and nearness 1."""
        if self.kind == "normalised":
            return 0.0, 1.0
        return _extremes(self.inverse(), self.valid())

    def nearness(self) -> Field:
        """H×W float32 in [0, 1], 1 is nearest, NaN where invalid.

        A relative map is scaled between its own extremes; a metric map is scaled the same way
        after inversion (1 / metres), so that both kinds of one scene read alike. A map that is
        constant has no order and reads 0.5 throughout.
        """
        low, high = self.limits()
        field, valid = self.inverse(), self.valid()
        if is_tensor(field):
            wide = field if field.device.type == "mps" else field.double()
            near = (wide - low) / (high - low) if high > low else wide.new_full(wide.shape, 0.5)
            return near.clamp(0, 1).masked_fill(~valid, float("nan")).float()
        with np.errstate(invalid="ignore"):  # of what is not valid
            wide = np.subtract(field, low, dtype=np.float64)
            near = np.clip(wide / (high - low), 0, 1) if high > low else np.full_like(wide, 0.5)
        return np.where(valid, near, np.nan).astype(np.float32)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        kind: DepthKind | None = None,
        scale: float | None = None,
        key: str | None = None,
    ) -> DepthMap:
        """A depth map from a file: 8 or 16-bit PNG, TIFF, NPY, NPZ, PFM, and EXR where OpenCV reads it.

        Args:
            path: the file.
            kind: as in the class; `normalised` when not given. Integers of a `normalised` or
                `relative` file are divided by their type's maximum, so that full white is 1. When
                `kind` is not given and integers stay below half of that, the file is refused: it
                may well hold millimetres.
            scale: what one unit is divided by, e.g. 1000 for a file in millimetres, 256 for KITTI.
                Required for `metric` integers.
            key: name of the array in an NPZ that holds several.

        Raises:
            InputError: no such file, truncated, not a single channel, `scale` missing, or `kind`.
        """
        values = read_depth_file(path, key)
        if scale is not None:
            divisor = plain_number(scale, "scale")
            if not divisor > 0:
                raise InputError(f"scale: expected a positive number, got {scale!r}")
            values = to_numpy(to_field(values, 2, "depth", "an H×W map")) / np.float64(divisor)
        elif values.dtype.kind in "iub":
            if kind == "metric":
                raise InputError(
                    f"scale: expected how many units of {os.fspath(path)!r} make a metre (1000 if it "
                    f"holds millimetres, 256 in KITTI), since its values are {values.dtype}"
                )
            top = 1 if values.dtype.kind == "b" else np.iinfo(values.dtype).max
            if kind is None and 2 * int(values.max(initial=0)) < top:
                raise InputError(
                    f"depth: expected kind= for {os.fspath(path)!r}, whose integers end at "
                    f'{int(values.max(initial=0))} of {top}: kind="metric" with scale=1000 if it '
                    'holds millimetres, kind="normalised" or kind="relative" if white is near'
                )
            values = values / np.float64(top)
        return cls(values, kind or "normalised")

    @classmethod
    def from_pipeline(cls, output: Any, *, kind: DepthKind, size: Size = UNSET) -> DepthMap:
        """A depth map from transformers' `depth-estimation`: its dict with `predicted_depth`, H×W or 1×H×W.

        The picture under `depth` is not read: it is rounded to 8 bits, and stretched, so that neither
        metres nor a constant map survive in it.

        Args:
            output: the dict of one image.
            kind: what the model predicts, which the dict does not tell: `relative` (Depth Anything, DPT)
                or `metric` (Depth Pro, ZoeDepth, GLPN, the metric Depth Anything).
            size: `(width, height)` of the source image, where the map is of another size.
        """
        if isinstance(output, (list, tuple)):
            raise InputError("depth: expected the dict of one image, got a list; pass output[0]")
        if not hasattr(output, "get") or output.get("predicted_depth") is None:
            raise InputError(
                f"depth: expected a dict with 'predicted_depth', got {describe(output)}"
            )
        values = output["predicted_depth"]
        if len(getattr(values, "shape", ())) == 3 and values.shape[0] == 1:
            values = values[0]
        return cls(values, kind, size=size)

    def to_pipeline(self) -> dict[str, Any]:
        """As the dict of transformers' `depth-estimation`: `predicted_depth`, and `depth`, an 8-bit picture.

        The values are a tensor, with NaN where they are not valid, which is black in the picture. The
        kind and the size of the source image have no place in it.

        Raises:
            MissingExtraError: torch is not installed.
        """
        try:
            import torch
        except ImportError as error:
            raise MissingExtraError(
                f"torch is not installed: {install_command('models')}"
            ) from error
        from PIL import Image

        valid, values = to_numpy(self.valid()), to_numpy(self.values)
        low, high = _extremes(values, valid)
        wide = np.where(valid, values, low).astype(np.float64) - low
        picture = wide * (255 / (high - low) if high > low else 0)
        kept = torch.from_numpy(np.where(valid, values, np.float32(np.nan)))
        return {"predicted_depth": kept, "depth": Image.fromarray(picture.astype(np.uint8))}


def _extremes(field: Field, valid: Any) -> tuple[float, float]:
    if is_tensor(field):
        return (
            float(field.masked_fill(~valid, float("inf")).min()),
            float(field.masked_fill(~valid, float("-inf")).max()),
        )
    array = to_numpy(field)
    return (
        float(np.min(array, where=valid, initial=np.inf)),
        float(np.max(array, where=valid, initial=-np.inf)),
    )
