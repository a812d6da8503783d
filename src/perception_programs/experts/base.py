"""What every expert is: a callable with a card."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

__all__ = ["Card", "Entry", "Expert", "installed_version"]


@functools.cache  # it parses a file each time, for the `meta` of every program
def installed_version(library: str) -> str | None:
    """The version of an installed distribution, or None where there is none of that name."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Card:
    """What a user should know of an expert before trusting it.

    Attributes:
        name: the name it is loaded by.
        modality: `depth`, `flow`, `correspondence`, `jigsaw`, `detection`, `semantic`, `points`.
        library: the installed library that does the work; its version goes into a program's `meta`.
        checkpoint: where its weights come from, or None when it has none.
        licence: of the weights, or of the method's implementation.
        extra: the optional dependency that installs it, or None.
        polarity: what bigger values mean, for depth; the sign convention, for flow.
        limits: sizes and conditions it works under.
        megabytes: size of the weights to download, where known.
    """

    name: str
    modality: str
    library: str
    checkpoint: str | None = None
    licence: str = ""
    extra: str | None = None
    polarity: str | None = None
    limits: str = ""
    megabytes: int | None = None


@dataclass(frozen=True)
class Entry:
    """Where an expert's class is, and what it needs.

    Attributes:
        card: what it is.
        target: `module:Class`, relative to this package.
        requires: modules that must be importable.
        options: what its class is made with, besides what the user says.
        needs_download: whether its weights come from the network.
    """

    card: Card
    target: str
    requires: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    needs_download: bool = False

    @property
    def modality(self) -> str:
        """What it measures."""
        return self.card.modality

    @property
    def installed(self) -> bool:
        """Whether everything it needs can be imported (nothing is imported to find out)."""
        return all(importlib.util.find_spec(module) is not None for module in self.requires)


@runtime_checkable
class Expert(Protocol):
    """A vision tool: image or images in, one result type out, in pixels of the source image."""

    card: Card

    def __call__(self, *images: Any, **options: Any) -> Any:
        """The result for one input."""
        ...

    def batch(self, *images: Any, **options: Any) -> list[Any]:
        """The results for many inputs, in order; equal to single calls."""
        ...
