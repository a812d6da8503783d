"""Checks that several results share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import describe, dims, is_tensor, read_only, to_field, to_numpy
from .._plain import plain_number
from ..errors import InputError
from ..geometry import Size

__all__ = [
    "UNSET",
    "Frozen",
    "Result",
    "check_mask",
    "check_pixels",
    "check_text",
    "check_threshold",
    "class_names",
    "class_number",
    "coordinates",
    "labels_of",
    "vector",
]

UNSET: Any = None
"""Default of a size that the constructor fills in, or refuses to do without."""


def check_mask(value: Any, shape: tuple[int, ...], like: Any, name: str) -> Any:
    """`value` as a bool array of `shape` on the same side (host or device) as `like`."""
    field = to_field(value, len(shape), name, f"{dims(shape)} truth values, like the values")
    if tuple(field.shape) != shape:
        raise InputError(f"{name}: expected {dims(shape)}, like the values, got {describe(value)}")
    if bool((field != field).any()):
        raise InputError(f"{name}: expected truth values, got NaN among them")
    if is_tensor(like):
        return (field if is_tensor(field) else like.new_tensor(field)).to(like.device) != 0
    return read_only(to_numpy(field) != 0)


def coordinates(value: Any, columns: int, name: str) -> npt.NDArray[np.float32]:
    """`value` as an N×columns float32 host array of finite numbers; empty lists are N = 0."""
    shape = f"N×{columns} coordinates"
    if isinstance(value, (list, tuple)) and len(value) == 0:
        value = np.empty((0, columns), np.float32)
    array = to_numpy(to_field(value, 2, name, shape))
    if array.shape[1] != columns:
        raise InputError(f"{name}: expected {shape}, got {describe(value)}")
    if not np.isfinite(array).all():
        bad = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise InputError(f"{name}: expected finite numbers, got {array[bad].tolist()} in row {bad}")
    return read_only(array)


def vector(value: Any, length: int, name: str) -> npt.NDArray[np.float32]:
    """`value` as a float32 host array of `length` finite numbers."""
    array = to_numpy(to_field(value, 1, name, f"{length} numbers"))
    if array.shape != (length,):
        raise InputError(f"{name}: expected {length} numbers, got {describe(value)}")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: expected finite numbers, got NaN or infinity among them")
    return read_only(array)


def check_text(value: Any, name: str) -> str:
    """`value` if it is a string."""
    if not isinstance(value, str):
        raise InputError(f"{name}: expected a string, got {describe(value)}")
    return str(value)


def labels_of(value: Iterable[Any], length: int, name: str) -> tuple[str, ...]:
    """`value` as a tuple of `length` strings."""
    if isinstance(value, str):
        raise InputError(f"{name}: expected one string an entry, got the single string {value!r}")
    if not isinstance(value, Iterable):
        raise InputError(f"{name}: expected {length} strings, got {describe(value)}")
    labels = tuple(check_text(label, name) for label in value)
    if len(labels) != length:
        raise InputError(f"{name}: expected {length}, one an entry, got {len(labels)}")
    return labels


def class_names(names: Any) -> dict[int, str]:
    """What class numbers are called, as {number: name}.

    Takes a mapping whose keys are numbers (or strings of digits, as JSON has them), a list that names
    0, 1, 2…, or COCO's categories, a list of {"id": 1, "name": "person"}.

    Raises:
        InputError: something else, or a name that is no string.
    """
    if isinstance(names, (str, bytes)) or not isinstance(names, (Mapping, Sequence)):
        raise InputError(
            f"names: expected {{number: name}} or a list of names, got {describe(names)}"
        )
    if isinstance(names, Mapping):
        pairs = list(names.items())
    elif names and all(isinstance(row, Mapping) and {"id", "name"} <= set(row) for row in names):
        pairs = [(row["id"], row["name"]) for row in names]
    else:
        pairs = list(enumerate(names))
    known = {class_number(number, "names"): check_text(name, "names") for number, name in pairs}
    if len(known) < len(pairs):
        raise InputError(f"names: expected one name for each class, got {describe(names)}")
    return known


def class_number(value: Any, name: str) -> int:
    """`value` as a class number: an integer, a float that is one, or a string of digits."""
    try:
        if isinstance(value, (bool, bytes)):
            raise TypeError
        number = int(value)
        if not isinstance(value, str) and number != value:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: expected a class number, got {describe(value)}") from None
    return number


def check_threshold(value: Any) -> float | None:
    """`value` as a finite number, or None."""
    return None if value is None else float(plain_number(value, "threshold"))


def check_pixels(places: npt.NDArray[Any], size: Size, name: str) -> None:
    """Refuse coordinates that can only be fractions of the image: all in [0, 1], and not integers."""
    if not len(places) or max(size) <= 2 or places.min() < 0 or places.max() > 1:
        return
    if (places != np.round(places)).any():
        raise InputError(
            f"{name}: expected pixels of the {size[0]}×{size[1]} image, got fractions of it, "
            f"such as {places[0].tolist()}; multiply x by the width and y by the height"
        )


class Frozen(Mapping[Any, Any]):
    """A mapping that nobody can write to."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[Any, Any]) -> None:
        self._data = {k: Frozen(v) if isinstance(v, Mapping) else v for k, v in data.items()}

    def __getitem__(self, key: Any) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return repr(self._data)


class Result:
    """What every result has: its arrays stay read-only, also in a copy and after pickling.

    In a notebook it shows itself.
    """

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            frozen = read_only(value) if isinstance(value, np.ndarray) else value
            object.__setattr__(self, name, frozen)

    def _repr_html_(self) -> str:
        from ..view import result_to_html

        return result_to_html(self)

    def _repr_markdown_(self) -> str:
        from ..view import result_to_markdown

        return result_to_markdown(self)
