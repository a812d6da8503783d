"""The header of a run's records: what made them, and what it must say to go on from or to be counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from ._record import check_types
from ._record_shape import check_number, check_text, value_of

__all__ = ["FORMAT", "check_forms", "check_header"]

FORMAT = 1
"""The version of the files of a run."""

_NEEDED: Mapping[str, tuple[type, ...]] = {
    "task": (str,),
    "setting": (str,),
    "model": (dict,),
    "source": (dict,),
}
_FORMS: Mapping[str, tuple[type, ...]] = {
    "source": (dict,),
    "place": (str,),
    "tools": (dict,),
    "prompts": (dict,),
    "package": (str,),
    "created": (str,),
}


def check_header(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The header in the first line of a file of records.

    Args:
        row: the object of that line.
        name: of the file, for messages.

    Raises:
        InputError: it is none, of another format, or says something in another form than a run does.
    """
    where = f"{name}, line 1"
    header = row.get("header")
    if not isinstance(header, dict):
        raise InputError(f"{where}: expected the header of a run, got keys {', '.join(row)[:80]}")
    if header.get("format") != FORMAT:
        raise InputError(f"{where}: expected format {FORMAT}, got {header.get('format')!r}")
    check_types(header, _NEEDED, where)
    check_types(header["model"], {"name": (str,)}, f"{where}: model")
    check_forms(header, where)
    return header


def check_forms(header: Mapping[str, Any], where: str) -> None:
    """Check the form of what a header says, be it compared with another's or not.

    Raises:
        InputError: a run does not say it so; the message starts with `where`.
    """
    check_types(header, {key: kind for key, kind in _FORMS.items() if key in header}, where)
    if "source" in header:
        _check_source(header["source"], f"{where}: source")
    _check_tools(header.get("tools", {}), f"{where}: tools")


def _check_tools(tools: Mapping[str, Any], where: str) -> None:
    """Check what a header says of the tools, as far as there were any."""
    if "experts" in tools:
        check_types(tools, {"experts": (dict,)}, where)
        check_types(tools["experts"], dict.fromkeys(tools["experts"], (dict,)), f"{where}: experts")
        for modality, about in tools["experts"].items():
            check_types(about, {"name": (str,)}, f"{where}: experts: {modality}")
    if "coordinates" in tools:
        check_types(tools, {"coordinates": (str, type(None))}, where)


def _check_source(source: Mapping[str, Any], where: str) -> None:
    """Check what the header of a run says of its questions.

    Raises:
        InputError: it does not say where they came from; the message starts with `where`.
    """
    check_text(value_of(source, "kind", where), f"{where}: kind")
    for key in ("name", "split", "revision"):
        if source.get(key) is not None:
            check_text(source[key], f"{where}: {key}")
    if source.get("n") is not None:
        check_number(source["n"], f"{where}: n")
