"""Learned matchers, by way of kornia and transformers."""

from __future__ import annotations

from ..base import Entry

__all__ = ["ENTRIES"]

ENTRIES: tuple[Entry, ...] = ()
