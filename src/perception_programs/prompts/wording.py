"""The wording of prompts: text files beside this module, with `$name` where something goes in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from string import Template
from types import MappingProxyType

__all__ = ["digest", "fill", "names"]

_SUFFIX = ".txt"


@cache
def _files() -> Mapping[str, bytes]:
    """The bytes of every template by its name."""
    folder = resources.files(__package__).joinpath("templates")
    found = {
        entry.name.removesuffix(_SUFFIX): entry.read_bytes()
        for entry in folder.iterdir()
        if entry.name.endswith(_SUFFIX)
    }
    return MappingProxyType(dict(sorted(found.items())))


@cache
def _template(name: str) -> Template:
    text = _files()[name].decode("utf-8")
    return Template(text.replace("\r\n", "\n").removesuffix("\n"))


def names(prefix: str) -> tuple[str, ...]:
    """The names of the templates that begin with `prefix`, without it, in order."""
    return tuple(name.removeprefix(prefix) for name in _files() if name.startswith(prefix))


def fill(name: str, **values: str | int) -> str:
    """A template with its blanks filled in; a `$` inside a value is only a character."""
    return _template(name).substitute(values)


def digest() -> str:
    """The SHA-256 of all templates, names and bytes: what a run writes down about its wording.

    >>> len(digest())
    64
    """
    total = hashlib.sha256()
    for name, data in _files().items():
        total.update(f"{name}\n{len(data)}\n".encode())
        total.update(data)
    return total.hexdigest()
