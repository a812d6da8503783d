"""Arrays of any library, taken in without importing that library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import InputError

__all__ = [
    "Field",
    "describe",
    "dims",
    "is_array",
    "is_floating",
    "is_series",
    "is_tensor",
    "read_only",
    "to_field",
    "to_numpy",
]

Field: TypeAlias = Any
"""A float32 array: numpy on the host, or a torch tensor that stays on its device."""


def is_tensor(value: object) -> bool:
    """Whether `value` is a torch tensor; torch is not imported to find out."""
    return any(
        c.__name__ == "Tensor" and c.__module__.partition(".")[0] == "torch"
        for c in type(value).__mro__
    )


def is_array(value: object) -> bool:
    """Whether `value` is an array: numpy, torch, or anything with the array interface and a shape."""
    return (
        isinstance(value, np.ndarray)
        or is_tensor(value)
        or (hasattr(value, "__array__") and hasattr(value, "ndim"))
    )


def is_floating(value: Any) -> bool:
    """Whether an array holds floating-point numbers."""
    if is_tensor(value):
        return bool(value.is_floating_point())
    return bool(np.issubdtype(np.asarray(value).dtype, np.floating))


def is_series(value: Any) -> bool:
    """Whether `value` is a list, a tuple, or an array or tensor with one axis."""
    return (isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))) or (
        hasattr(value, "tolist") and len(getattr(value, "shape", ())) == 1
    )


def dims(shape: Any) -> str:
    """A shape as text: `480×640×3`, or `a single number`."""
    return "×".join(str(int(n)) for n in shape) if len(shape) else "a single number"


def describe(value: object) -> str:
    """What `value` is, for the second half of an error message."""
    if is_array(value):
        array: Any = value
        kind = str(getattr(array, "dtype", type(array).__name__)).removeprefix("torch.")
        return f"an array of shape {dims(array.shape)} and type {kind}"
    if isinstance(value, (str, bytes)):
        return f"{type(value).__name__} {value[:60]!r}"
    if value is None:
        return "None"
    if isinstance(value, (int, float, bool, tuple, list)):
        text = " ".join(repr(value).split())
        return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}"
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def to_numpy(value: Any) -> npt.NDArray[Any]:
    """A host array of `value`; half and bfloat16 tensors come back as float32.

    Raises:
        InputError: some of it is masked, or it holds no numbers that the host can have.
    """
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise InputError(f"expected an array without masked values, got {describe(value)}")
        return np.asarray(value.data)
    if not is_tensor(value):
        try:
            return np.asarray(value)
        except (TypeError, ValueError) as error:
            raise InputError(f"expected an array, got {describe(value)}: {error}") from error
    tensor = _readable(value)
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    return np.asarray(tensor.cpu().numpy())


def _readable(tensor: Any) -> Any:
    """The tensor without its gradient, if it is dense and has its numbers.

    Raises:
        InputError: it is sparse or quantised, or on the meta device.
    """
    if tensor.is_meta or tensor.is_quantized or str(tensor.layout) != "torch.strided":
        raise InputError(
            f"expected a dense tensor that holds numbers, got {describe(tensor)} "
            f"({tensor.device}, {tensor.layout})"
        )
    return tensor.detach()


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of `array` that cannot be written through; the data is not copied."""
    view = array.view()
    view.flags.writeable = False
    return view


def to_field(value: Any, ndim: int, name: str, shape: str) -> Field:
    """`value` as a float32 numpy array or torch tensor with `ndim` dimensions.

    Raises:
        InputError: `value` is not numeric, or not of the expected shape (`shape` words it).
    """
    if isinstance(value, (list, tuple)):
        try:
            value = np.asarray(value)
        except ValueError as error:
            raise InputError(
                f"{name}: expected {shape}, got a ragged {type(value).__name__}"
            ) from error
    if not is_array(value):
        raise InputError(f"{name}: expected {shape}, got {describe(value)}")
    if len(value.shape) != ndim:
        raise InputError(f"{name}: expected {shape}, got {describe(value)}")
    if is_tensor(value):
        if value.is_complex():
            raise InputError(f"{name}: expected {shape} of real numbers, got {describe(value)}")
        return _readable(value).float()
    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "fiub":
        value = np.ma.filled(value.astype(np.float32), np.nan)  # masked: not measured
    array = to_numpy(value)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected {shape} of real numbers, got {describe(value)}")
    with np.errstate(over="ignore"):  # too large for single precision: infinite, so not valid
        return read_only(array.astype(np.float32, copy=False))
