"""The one table of experts: what each is, where its class is, and what it needs."""

from __future__ import annotations

from ...errors import InputError
from ..base import Card, Entry
from . import depth, detection, flow, matching, offline, semantic

__all__ = ["MODALITIES", "card", "entries"]

MODALITIES = ("depth", "flow", "correspondence", "jigsaw", "semantic", "detection", "points")
"""What an expert may measure."""

# The first installed one of a modality is its default, so the best come first.
_TABLE: dict[str, Entry] = {
    entry.card.name: entry
    for room in (depth, flow, matching, semantic, detection, offline)
    for entry in room.ENTRIES
}


def entries(modality: str | None = None) -> dict[str, Entry]:
    """The experts by name, of one modality or of all.

    Raises:
        InputError: no such modality.
    """
    if modality is not None and modality not in MODALITIES:
        raise InputError(f"modality: expected one of {', '.join(MODALITIES)}, got {modality!r}")
    return {n: e for n, e in _TABLE.items() if modality is None or e.modality == modality}


def card(name: str) -> Card:
    """The card of an expert.

    Raises:
        InputError: there is none of that name.
    """
    if name not in _TABLE:
        raise InputError(f"expert: expected one of {', '.join(_TABLE)}, got {name!r}")
    return _TABLE[name].card
