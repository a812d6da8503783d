"""The wording of the benchmark's prompts: text files beside this module."""

from __future__ import annotations

from importlib import resources

__all__ = ["template"]


def template(name: str) -> str:
    """The text of a template, with `$name` where something goes in."""
    file = resources.files(__package__).joinpath("templates", f"{name}.txt")
    return file.read_text(encoding="utf-8").strip()
