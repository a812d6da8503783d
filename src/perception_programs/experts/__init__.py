"""Vision tools: one file each, image or images to a result."""

from .base import Card, Expert
from .registry import available, load

__all__ = ["Card", "Expert", "available", "load"]
