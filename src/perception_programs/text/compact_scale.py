"""How many decimals the style `compact` keeps: readings become integers of one unit, said once."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .._plain import rounded
from ..errors import InputError
from ..program import RELIABILITY_PLACES, Item, PerceptionProgram, numbers_in
from .values import decimal

__all__ = ["Scale", "places", "read", "written"]

_UNITS = {
    "tenths": 1,
    "hundredths": 2,
    "thousandths": 3,
    "ten-thousandths": 4,
    "hundred-thousandths": 5,
    "millionths": 6,
}
_NAMES = {decimals: unit for unit, decimals in _UNITS.items()}

_USUAL = 3  # thousandths, unless all readings are far larger or smaller than 1
_FEWEST = 2  # below this only large readings go
_TOO_LARGE = 10**9  # units; longer integers would be harder to read than decimals


def places(program: PerceptionProgram) -> int | None:
    """How many decimals of its readings, the parts' included, the style `compact` keeps.

    Three where the largest reading is from 0.1 to 10, so that three or four digits stay; fewer where all
    are larger, more where all are smaller, and only two where the third is always 0. Readings that are
    integers stay what they are, at any number of places. What is parsed back is
    `program.rounded(places=places(program))`.

    Returns:
        The number, or None where readings are so large, so small or so far apart that they are printed
        as decimals at 4 significant digits, as in the style `paper`; then what is parsed back is
        `program.rounded()`.

    >>> from perception_programs import Item
    >>> places(PerceptionProgram("depth", "patch", [Item(1, r=(0.25, 0.12345))]))
    3
    >>> places(PerceptionProgram("depth", "patch", [Item(1, r=(2.5, 81.25))]))
    2
    """
    columns = list(_columns(program))
    kept = _needed(columns)
    while kept is not None:
        columns = [[_short(number, kept) for number in column] for column in columns]
        # Rounding may make the largest reading larger (9.9996), or all of a column 0.
        needed = _needed(columns)
        if needed is not None and needed >= kept:
            return kept
        kept = needed
    return None


def _columns(program: PerceptionProgram) -> Iterator[list[float | int]]:
    """The numbers at each position of the readings of a program, then those of its parts."""
    columns: dict[int, list[float | int]] = defaultdict(list)
    for item in program.items:
        if isinstance(item.r, tuple):
            for n, number in enumerate(item.r):
                if number is not None:
                    columns[n].append(number)
        else:
            columns[0] += numbers_in(item.r)
    yield from columns.values()
    for item in program.items:
        if item.parts is not None:
            yield from _columns(item.parts)


def _needed(columns: Sequence[Sequence[float | int]]) -> int | None:
    numbers = [number for column in columns for number in column]
    if all(isinstance(number, int) for number in numbers):
        return 0
    largest = max(abs(number) for number in numbers)
    sizes = [max(map(abs, column)) for column in columns if any(column)]
    most = max(_USUAL, _decimals(largest))
    # A reading of several numbers may join a share of 1 and a motion of hundreds of pixels.
    needed = min(most, max(map(_decimals, sizes), default=_USUAL))
    if needed > max(_UNITS.values()) or largest * 10**needed >= _TOO_LARGE:
        return None
    while needed > _FEWEST and all(_short(n, needed - 1) == _short(n, needed) for n in numbers):
        needed -= 1
    return needed


def _decimals(largest: float | int) -> int:
    """Decimals of which three or four digits stay of a number as large as this."""
    size = rounded(float(largest))
    if size == 0:
        return _USUAL
    exponent = math.floor(math.log10(size))
    return max(0, _USUAL - exponent) if size >= 1 else _USUAL - 1 - exponent


def _short(number: float | int, decimals: int) -> float | int:
    return round(number, decimals) if isinstance(number, float) else number


@dataclass(frozen=True)
class Scale:
    """The unit of numbers in a block.

    Attributes:
        r: decimals that an integer of a reading stands for; None where numbers are as they are.
        q: the same of a reliability.
    """

    r: int | None = None
    q: int | None = None

    @classmethod
    def of(cls, program: PerceptionProgram) -> Scale:
        """The scale that a program, its parts included, is printed at."""
        decimals = places(program)
        if decimals is None:
            return cls()
        has_q = any(isinstance(item.q, float | int) for item in _all_items(program))
        return cls(decimals, RELIABILITY_PLACES if has_q else None)

    def __str__(self) -> str:
        """What the first line says of it; nothing where numbers are as they are."""
        said = {name: _NAMES[n] for name, n in (("r", self.r), ("q", self.q)) if n}
        if len(set(said.values())) == 1:
            return f"{' and '.join(said)} in {next(iter(said.values()))}"
        return ", ".join(f"{name} in {unit}" for name, unit in said.items())

    @classmethod
    def read(cls, said: str) -> Scale:
        """The scale of which the first line says this.

        Raises:
            InputError: it isn't how a scale is said.
        """
        found: dict[str, int] = {}
        for part in filter(None, said.split(", ")):
            match = _SAID.fullmatch(part)
            names = match[1].split(" and ") if match else []
            if match is None or match[2] not in _UNITS or found.keys() & set(names):
                raise InputError(f"expected a scale such as r in thousandths, got {part[:60]!r}")
            found |= dict.fromkeys(names, _UNITS[match[2]])
        return cls(found.get("r"), found.get("q"))


_SAID = re.compile(r"(r|q|r and q) in (\S+)")


def _all_items(program: PerceptionProgram) -> Iterator[Item]:
    for item in program.items:
        yield item
        if item.parts is not None:
            yield from _all_items(item.parts)


def written(number: float | int, decimals: int | None) -> str:
    """A number as an integer of the unit that so many decimals make, or as it is.

    >>> written(0.98765, 3), written(2, 3), written(2, None), written(0.98765, None)
    ('988', '2000', '2', '0.9877')
    """
    if isinstance(number, int):
        return str(number * 10 ** (decimals or 0))
    if decimals is None:
        return decimal(rounded(number))
    return str(int(f"{number:.{decimals}f}".replace(".", "")))


def read(text: str, decimals: int | None) -> float | int:
    """The number that `written` printed.

    Raises:
        InputError: it is none, or far too long.
    """
    if _INTEGER.fullmatch(text):
        units = int(text)
        return units / 10**decimals if decimals else units
    if _DECIMAL.fullmatch(text):
        return float(text)
    raise InputError(f"expected a number, got {text[:60]!r}")


_INTEGER = re.compile(r"[-+]?[0-9]{1,100}")
_DECIMAL = re.compile(r"[-+]?[0-9]+\.[0-9]*(?:e[-+]?[0-9]+)?")
