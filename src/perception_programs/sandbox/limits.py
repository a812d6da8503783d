"""What code in a sandbox may use."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .._plain import plain_number
from ..errors import InputError

__all__ = ["Limits"]

_MIB = 1024**2


@dataclass(frozen=True)
class Limits:
    """What code may use; what goes beyond is ended, with all processes that it started.

    Attributes:
        cpu_seconds: of processor time for one run, all processes together.
        wall_seconds: for one run.
        memory_bytes: of address space for each process, and of memory for all of them together.
        file_bytes: of any one file.
        disk_bytes: of all files that it wrote.
        files: how many of them there may be.
        processes: at once, threads included.
        open_files: at once, for each process.
        output_characters: of what it prints that are kept; the rest is dropped and counted.
        pixels: of a picture that is taken out.

    Raises:
        InputError: one is not above 0.
    """

    cpu_seconds: float = 20.0
    wall_seconds: float = 30.0
    memory_bytes: int = 2048 * _MIB
    file_bytes: int = 64 * _MIB
    disk_bytes: int = 256 * _MIB
    files: int = 5000
    processes: int = 64
    open_files: int = 128
    output_characters: int = 20_000
    pixels: int = 64_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            if plain_number(getattr(self, field.name), field.name) <= 0:
                raise InputError(
                    f"{field.name}: expected more than 0, got {getattr(self, field.name)}"
                )
