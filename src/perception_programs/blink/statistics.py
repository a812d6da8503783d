"""How sure an accuracy is, and whether two of them differ on the same samples."""

from __future__ import annotations

from .._statistics import CONFIDENCE, Comparison, compare, wilson

__all__ = ["CONFIDENCE", "Comparison", "compare", "wilson"]
