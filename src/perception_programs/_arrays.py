"""Arrays of any library, taken in without importing that library."""

from __future__ import annotations

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


def dims(shape: Any) -> str:
    """A shape as text: `480×640×3`, or `a single number`."""
    return "×".join(str(int(n)) for n in shape) if len(shape) else "a single number"


def describe(value: object) -> str:
    """What `value` is, for the second half of an error message."""
    if is_array(value):
        array: Any = value
        return f"an array of shape {dims(array.shape)} and type {str(array.dtype).removeprefix('torch.')}"
    if isinstance(value, (str, bytes)):
        return f"{type(value).__name__} {value[:60]!r}"
    if value is None:
        return "None"
    if isinstance(value, (int, float, bool, tuple, list)):
        text = repr(value)
        return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}"
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def to_numpy(value: Any) -> npt.NDArray[Any]:
    """A host array of `value`; half and bfloat16 tensors come back as float32."""
    if is_tensor(value):
        tensor = value.detach()
        if tensor.is_floating_point() and tensor.element_size() < 4:
            tensor = tensor.float()
        return np.asarray(tensor.cpu().numpy())
    return np.asarray(value)


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
        return value.detach().float()
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected {shape} of real numbers, got {describe(value)}")
    return read_only(array.astype(np.float32, copy=False))
