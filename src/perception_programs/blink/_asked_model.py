"""The model that a run asks, which may be anybody's: what it must have before anything is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .._arrays import describe
from ..chat import ChatModel
from ..errors import InputError
from .reader_model import Reader

__all__ = ["check_model", "said_of"]

_MEMBERS = ("answer", "settings")


def check_model(model: object) -> None:
    """Refuse what is neither a chat model nor a reader.

    Raises:
        InputError: it lacks a name or a method; the message says which.
    """
    if isinstance(model, Reader):
        return
    for member in _MEMBERS:
        if not callable(getattr(model, member, None)):
            raise InputError(
                f"model: expected a ChatModel or a Reader, got {describe(model)}, which has no {member}()"
            )
    name: object = getattr(model, "name", None)
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"model: expected a name that is text, got {describe(name)}")


def said_of(model: ChatModel | Reader) -> dict[str, Any]:
    """A model's name and settings, for the header of a run's records.

    Raises:
        InputError: the settings are no mapping, or hold what JSON cannot; the message names the key.
    """
    given = model.settings()
    if not isinstance(given, Mapping):
        raise InputError(f"model: expected a mapping from settings(), got {describe(given)}")
    for key, value in given.items():
        if not isinstance(key, str) or key == "name":
            raise InputError(
                f"model: settings(): expected keys of text but 'name', got {key!r:.60}"
            )
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise InputError(
                f"model: settings(): {key}: expected plain data, as JSON has it, got {describe(value)}"
            ) from None
    return {"name": model.name, **given}
