"""Vision tools: one file each, image or images to a result."""

from .base import Card, Entry, Expert
from .registry import available, load

__all__ = ["Card", "Entry", "Expert", "available", "load"]
