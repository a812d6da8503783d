"""How a name becomes an expert."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._arrays import describe
from ..errors import InputError, MissingExtraError, install_command
from . import catalogue
from ._weights import cached_revision, check_obtainable
from .base import Entry, Expert
from .cache import CachedExpert, ResultCache

__all__ = ["available", "check", "default", "load"]

_FILES = {"depth": " (DepthMap.open reads a file of depths)"}


def available(modality: str | None = None) -> dict[str, Entry]:
    """The experts by name, of one modality or of all; whether each is installed is in its entry.

    >>> "dis" in available("flow")
    True
    """
    return catalogue.entries(modality)


def load(
    name: str,
    *,
    device: str = "auto",
    dtype: str = "auto",
    weights: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | bool | None = False,
    **options: Any,
) -> Expert:
    """An expert by name.

    Args:
        name: one of `available()`.
        device: `auto`, or where its model shall run; experts without a model run on the host.
        dtype: `auto`, or the number type its model computes in.
        weights: a local folder or file, in place of a download; for experts that have weights.
        cache: whether results are kept on disk (True: in the user's cache folder), or the folder.
        options: passed to the expert's class.

    Raises:
        InputError: an unknown name (the nearest are named), or options it does not take.
        MissingExtraError: what it needs is not installed; the message gives the command.
        WeightsError: its weights are not on this machine and cannot be had.
    """
    entry = check(name, weights=weights)
    if entry.card.extra is None:
        _check_no_model(name, device=device, dtype=dtype, weights=weights)
        arguments = options
    else:
        model = {"card": entry.card, "device": device, "dtype": dtype, "weights": weights}
        arguments = {**entry.options, **options, **model}
    module, _, attribute = entry.target.partition(":")
    factory = getattr(importlib.import_module(module, __package__), attribute)
    try:
        expert: Expert = factory(**arguments)
    except TypeError as error:
        if options and "argument" in str(error):
            raise InputError(f"expert {name!r}: {error}") from error
        raise
    if weights is not None:  # a program shall not say that it came from the hub's checkpoint
        expert.card = replace(expert.card, checkpoint=f"local:{Path(weights).resolve().name}")
    if cache is None or cache is False:
        return expert
    if cache is not True and not isinstance(cache, (str, os.PathLike)):
        raise InputError(f"cache: expected True, False or a folder, got {describe(cache)}")
    folder = None if cache is True else cache
    identity = {**entry.options, **options, "dtype": dtype, "weights": _identity(entry, weights)}
    return CachedExpert(expert, identity, ResultCache(folder))


def check(name: str, *, weights: str | os.PathLike[str] | None = None) -> Entry:
    """What `load` needs of an expert: that it is installed, and its weights are here or can be had.

    Nothing is imported or loaded to find out, so that it can be known before a long run.

    Args:
        name: one of `available()`.
        weights: a local folder or file, in place of a download.

    Raises:
        InputError: an unknown name (the nearest are named).
        MissingExtraError: what it needs is not installed; the message gives the command.
        WeightsError: its weights are not on this machine and cannot be had.
    """
    table = catalogue.entries()
    entry = table.get(name) if isinstance(name, str) else None
    if entry is None:
        near = difflib.get_close_matches(str(name).lower(), table, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"expert: expected one of {', '.join(table)}, got {name!r}{hint}")
    if not entry.installed:
        raise MissingExtraError(f"expert {name!r} needs an extra: {_install(entry)}")
    if entry.needs_download and weights is None:
        check_obtainable(entry.card)
    return entry


def default(modality: str, **options: Any) -> Expert:
    """The best expert of a modality that is installed, loaded with `options`.

    Raises:
        MissingExtraError: there is none.
        WeightsError: its weights are not on this machine and cannot be had.
    """
    entries = catalogue.entries(modality)
    for name, entry in entries.items():
        if entry.installed:
            return load(name, **options)
    if not entries:
        raise MissingExtraError(
            f"this version has no expert that reads {modality} from a picture: "
            f"run one of your own and pass its result to {modality}_program"
            f"{_FILES.get(modality, '')}"
        )
    first = next(iter(entries.values()))
    raise MissingExtraError(f"no expert for {modality} is installed: {_install(first)}")


def _identity(entry: Entry, weights: str | os.PathLike[str] | None) -> str | None:
    """What tells one set of weights from another of the same name: a folder's files, a revision."""
    if weights is not None:
        path = Path(weights)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        stamps = [(str(f.relative_to(path)), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
        return f"{path.resolve()} {stamps}"
    hub = entry.needs_download and importlib.util.find_spec("huggingface_hub") is not None
    return cached_revision(entry.card.checkpoint) if hub else None


def _install(entry: Entry) -> str:
    return install_command(str(entry.card.extra))


def _check_no_model(name: str, *, device: str, dtype: str, weights: Any) -> None:
    if device not in ("auto", "cpu"):
        raise InputError(f"device: expected 'auto' or 'cpu' for {name!r}, got {device!r}")
    if dtype not in ("auto", "float32"):
        raise InputError(f"dtype: expected 'auto' or 'float32' for {name!r}, got {dtype!r}")
    if weights is not None:
        raise InputError(f"weights: expert {name!r} has none, got {os.fspath(weights)!r}")
