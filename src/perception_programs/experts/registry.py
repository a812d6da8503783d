"""The one table of experts, and how a name becomes one."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, MissingExtraError
from .base import Expert

__all__ = ["Entry", "available", "default", "load"]


@dataclass(frozen=True)
class Entry:
    """Where an expert's class is, and what it needs.

    Attributes:
        modality: what it measures.
        target: `module:Class`, relative to this package.
        extra: the optional dependency that installs it, or None.
        requires: modules that must be importable.
    """

    modality: str
    target: str
    extra: str | None = None
    requires: tuple[str, ...] = ()

    @property
    def installed(self) -> bool:
        """Whether everything it needs can be imported (nothing is imported to find out)."""
        return all(importlib.util.find_spec(module) is not None for module in self.requires)


# The first installed one of a modality is its default: the best first.
_TABLE: dict[str, Entry] = {
    "dis": Entry("flow", ".dis:DIS"),
    "sift": Entry("correspondence", ".sift:SIFT"),
    "seams": Entry("jigsaw", ".seams:Seams"),
    "markers": Entry("points", ".markers:Markers"),
}


def available(modality: str | None = None) -> dict[str, Entry]:
    """The experts by name, of one modality or of all; whether each is installed is in its entry.

    >>> list(available("flow"))
    ['dis']
    """
    return {n: e for n, e in _TABLE.items() if modality is None or e.modality == modality}


def load(
    name: str,
    *,
    device: str = "auto",
    dtype: str = "auto",
    weights: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Expert:
    """An expert by name.

    Args:
        name: one of `available()`.
        device: `auto`, or where its model shall run; experts without a model run on the host.
        dtype: `auto`, or the number type its model computes in.
        weights: a local folder or file, in place of a download; for experts that have weights.
        options: passed to the expert's class.

    Raises:
        InputError: an unknown name (the nearest are named), or options it does not take.
        MissingExtraError: what it needs is not installed; the message gives the command.
    """
    entry = _TABLE.get(name)
    if entry is None:
        near = difflib.get_close_matches(str(name), _TABLE, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"expert: expected one of {', '.join(_TABLE)}, got {name!r}{hint}")
    if not entry.installed:
        raise MissingExtraError(
            f"expert {name!r} needs an extra: python -m pip install 'perception-programs[{entry.extra}]'"
        )
    if entry.extra is None:
        _check_no_model(name, device=device, dtype=dtype, weights=weights)
    else:
        options |= {"device": device, "dtype": dtype, "weights": weights}
    module, _, attribute = entry.target.partition(":")
    factory = getattr(importlib.import_module(module, __package__), attribute)
    try:
        expert: Expert = factory(**options)
    except TypeError as error:
        if options and "argument" in str(error):
            raise InputError(f"expert {name!r}: {error}") from error
        raise
    return expert


def default(modality: str) -> Expert:
    """The best expert of a modality that is installed.

    Raises:
        MissingExtraError: there is none.
    """
    entries = available(modality)
    for name, entry in entries.items():
        if entry.installed:
            return load(name)
    if not entries:
        raise MissingExtraError(
            f"this version has no expert that reads {modality} from a picture: "
            f"run one of your own and pass its result to {modality}_program"
        )
    extra = next(iter(entries.values())).extra
    raise MissingExtraError(
        f"no expert for {modality} is installed: python -m pip install 'perception-programs[{extra}]'"
    )


def _check_no_model(name: str, *, device: str, dtype: str, weights: Any) -> None:
    if device not in ("auto", "cpu"):
        raise InputError(f"device: expected 'auto' or 'cpu' for {name!r}, got {device!r}")
    if dtype not in ("auto", "float32"):
        raise InputError(f"dtype: expected 'auto' or 'float32' for {name!r}, got {dtype!r}")
    if weights is not None:
        raise InputError(f"weights: expert {name!r} has none, got {os.fspath(weights)!r}")
