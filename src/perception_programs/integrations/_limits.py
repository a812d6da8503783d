"""How much a tool reads, and the error with which it refuses."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ToolError

__all__ = ["CELLS", "ENTRIES", "Limits", "RefusedError"]

CELLS = 2500
"""The most cells of a grid: one a pixel would be a text of many megabytes."""

ENTRIES = 100
"""The most points, labels or candidates of a call."""


@dataclass(frozen=True)
class Limits:
    """How large the inputs of a call may be.

    Attributes:
        pixels: of a picture, and of a map in a file. A picture's header is checked before it is decoded.
        bytes: of a file, and of a picture in base64 once it is decoded.
    """

    pixels: int = 25_000_000
    bytes: int = 20 * 1024**2


class RefusedError(ToolError):
    """A refusal in words chosen here: they repeat what the caller sent and tell nothing of this machine."""
