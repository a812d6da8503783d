"""Plain data: what a program is made of inside, whatever it was given as."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from ._arrays import describe, is_series
from .errors import InputError

__all__ = [
    "Meta",
    "check_count",
    "decimals",
    "optional_text",
    "plain_identifier",
    "plain_number",
    "plain_text",
    "refuse_constant",
    "rounded",
    "unique_keys",
]

DIGITS = 4
"""Significant digits of a reading in text."""

_LARGEST_INTEGER = 1 << 63  # larger ones cannot be read back by every YAML and JSON reader
_DEEPEST = 32  # levels of `meta`; far from Python's own limit, past which nothing can be printed


def check_count(value: Any, name: str) -> int:
    """`value`, if it is an integer of at least 1.

    Raises:
        InputError: it is not; the message begins with `name`.
    """
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"{name}: expected an integer of at least 1, got {describe(value)}")
    return number


def plain_number(value: Any, name: str) -> float | int:
    """`value` as a Python int or float.

    A float32 becomes the float with its shortest decimal form: 0.1, not 0.10000000149.

    Raises:
        InputError: not a number, NaN or infinity, or an integer of more than 64 bits.
    """
    if isinstance(value, (bool, str, bytes, bytearray)) or len(getattr(value, "shape", ())) > 0:
        raise InputError(f"{name}: expected a number, got {describe(value)}")
    try:
        number = _number(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: expected a number, got {describe(value)}") from None
    if isinstance(number, int) and abs(number) >= _LARGEST_INTEGER:
        raise InputError(f"{name}: expected an integer of at most 64 bits, got a longer one")
    if not math.isfinite(number):
        raise InputError(f"{name}: expected a finite number, got {number}")
    return number


def _number(value: Any) -> float | int:
    width = getattr(getattr(value, "dtype", None), "itemsize", 8)
    half = "bfloat16" not in str(getattr(value, "dtype", ""))
    if getattr(value, "mask", False) or getattr(getattr(value, "dtype", None), "kind", "f") in "mM":
        raise TypeError  # masked, a date or a duration
    if hasattr(value, "item"):  # numpy scalars, and arrays and tensors without axes
        value = value.item()
    if isinstance(value, bool):
        raise TypeError
    if hasattr(value, "__index__"):
        return int(value.__index__())
    number = float(value)
    return _shortest(number, width) if width < 8 and half and math.isfinite(number) else number


def _shortest(value: float, width: int) -> float:
    """The float with the fewest digits that is `value` in a float type of `width` bytes."""
    form = {2: "e", 4: "f"}.get(width)
    if form is None:
        return value
    for digits in range(3, 9):
        short = float(f"{value:.{digits}g}")
        try:
            if struct.unpack(form, struct.pack(form, short))[0] == value:
                return short
        except OverflowError:  # rounded up past the largest of that type
            continue
    return value


def plain_text(value: Any, name: str, expected: str = "a string") -> str:
    """`value` as a Python string, if it is one of any kind (numpy's too)."""
    if not isinstance(value, str):
        raise InputError(f"{name}: expected {expected}, got {describe(value)}")
    return str.__str__(value)  # not str(value), which an enum answers with its own name


def optional_text(value: Any, name: str) -> str | None:
    """`value` as a Python string, or None."""
    return None if value is None else plain_text(value, name, "a string or None")


def plain_identifier(value: Any, name: str) -> int | str:
    """`value` as a Python string or int."""
    if isinstance(value, str):
        return plain_text(value, name)
    number = plain_number(value, name)
    if not isinstance(number, int):
        raise InputError(f"{name}: expected an integer or a string, got {describe(value)}")
    return number


def decimals(array: Any) -> list[Any]:
    """A float32 array as nested lists of the floats with the fewest digits: 57.6, not 57.599998."""
    return array.astype(str).astype(float).tolist() if array.size else array.tolist()  # type: ignore[no-any-return]


def rounded(value: float, digits: int = DIGITS) -> float:
    """`value` at `digits` significant digits.

    >>> rounded(0.123456)
    0.1235
    """
    short = float(f"{value:.{digits}g}")
    return short if math.isfinite(short) else value


class Meta(Mapping[str, Any]):
    """Where a program came from: an immutable mapping of plain data.

    >>> Meta({"expert": "dis"})["expert"]
    'dis'
    """

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any] | None = None, *, level: int = 0) -> None:
        if data is not None and not isinstance(data, Mapping):
            raise InputError(f"meta: expected a mapping, got {describe(data)}")
        items = {} if data is None else data
        self._data = {str(key): _plain(value, level + 1) for key, value in items.items()}
        if len(self._data) < len(items):
            raise InputError(
                f"meta: expected keys that differ as text, got {describe(list(items))}"
            )

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return repr(self._data)

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict of lists and dicts."""
        return {key: _jsonable(value) for key, value in self._data.items()}


def _plain(value: Any, level: int) -> Any:
    if level > _DEEPEST:
        raise InputError(f"meta: expected at most {_DEEPEST} levels, got more")
    if value is None or isinstance(value, bool):
        return value
    if str(getattr(value, "dtype", "")) in ("bool", "torch.bool") and not is_series(value):
        return bool(value)
    if isinstance(value, str):
        return plain_text(value, "meta")
    if isinstance(value, Mapping):
        return Meta(value, level=level)
    if is_series(value):
        return tuple(_plain(v, level + 1) for v in value)
    return plain_number(value, "meta")


def _jsonable(value: Any) -> Any:
    if isinstance(value, Meta):
        return value.to_dict()
    return [_jsonable(v) for v in value] if isinstance(value, tuple) else value


def refuse_constant(constant: str) -> NoReturn:
    """For `json.loads` (`parse_constant`): refuses NaN and the infinities, which are no JSON.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{constant} is no JSON")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The dict of a JSON object's pairs, for `object_pairs_hook`.

    Raises:
        InputError: a key occurs twice; JSON readers would take the last without a word.
    """
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise InputError(f"expected each key once, got {key[:60]!r} twice")
        data[key] = value
    return data
