"""Running an expert on behalf of a converter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from .._arrays import describe
from ..errors import InputError, ToolError
from ..experts import registry
from ..experts.base import Expert, installed_version

__all__ = ["ExpertLike", "check_unused", "run_expert"]

ExpertLike = str | Expert | None
"""The name of an expert, an expert, or None for the best one that is installed."""

Result = TypeVar("Result")


def run_expert(
    modality: str,
    expert: ExpertLike,
    kind: type[Result],
    *inputs: Any,
    made_with: Mapping[str, Any] | None = None,
    **options: Any,
) -> tuple[Result, dict[str, Any]]:
    """The expert's result for the inputs, and what `meta` shall say of it.

    Args:
        modality: what the program is about.
        expert: which; one that is already loaded is taken as it is.
        kind: the type of its result.
        inputs: what it is called with.
        made_with: what it is loaded with, if it is loaded here.
        options: named arguments of the call.

    Raises:
        InputError: the expert is of another modality, or is no expert.
        MissingExtraError: none is installed.
        ToolError: the expert returned something else than a result of its modality.
    """
    if expert is None:
        expert = registry.default(modality, **(made_with or {}))
    elif isinstance(expert, str):
        expert = registry.load(expert, **(made_with or {}))
    if isinstance(expert, type) or not isinstance(expert, Expert):
        raise InputError(f"expert: expected a name or an expert, got {describe(expert)}")
    card = expert.card
    if card.modality != modality:
        raise InputError(
            f"expert: expected one for {modality}, got {card.name!r} for {card.modality}"
        )
    result = expert(*inputs, **options)
    if not isinstance(result, kind):
        raise ToolError(f"expert {card.name!r}: expected {kind.__name__}, got {describe(result)}")
    meta = {
        "expert": card.name,
        "library": card.library,
        "version": installed_version(card.library) or "unknown",
    }
    if card.checkpoint is not None:
        meta["checkpoint"] = card.checkpoint
    return result, meta


def check_unused(what: str, **options: Any) -> None:
    """Refuse options that would be ignored beside an input of kind `what`.

    Raises:
        InputError: one of them is not None.
    """
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name}: has no meaning beside {what}; got {describe(value)}")
