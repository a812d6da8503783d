"""The capabilities: one file a task."""

from __future__ import annotations

from .zoom import ZoomIn

__all__ = ["ZoomIn"]
