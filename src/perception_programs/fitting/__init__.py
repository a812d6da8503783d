"""Programs within a budget of tokens, by giving up what matters least first."""

from .ladder import fit

__all__ = ["fit"]
