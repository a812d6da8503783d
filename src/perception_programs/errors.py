"""The errors this package raises on purpose."""

from __future__ import annotations

__all__ = ["InputError", "MissingExtraError", "ToolError", "WeightsError", "install_command"]


class InputError(ValueError):
    """What was passed in cannot be used; the message says what was expected and what came."""


class MissingExtraError(ImportError):
    """An optional dependency is not installed; the message gives the command that installs it."""


class WeightsError(RuntimeError):
    """A model's weights cannot be had; the message says which, where to put them, what else works."""


class ToolError(RuntimeError):
    """A vision tool ran and failed on an input that was valid."""


def install_command(extra: str) -> str:
    """The command that installs an optional dependency, for a `MissingExtraError`.

    >>> install_command("eval")
    "python -m pip install 'perception-programs[eval]'"
    """
    return f"python -m pip install 'perception-programs[{extra}]'"
