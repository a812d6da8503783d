"""Replies in JSON, where its structure and not its words tells the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

__all__ = ["plain_json"]

_TRIES = 16  # brackets at which JSON may start
_TRUE = frozenset({"true", "yes", "correct", "right"})
_FALSE = frozenset({"false", "no", "incorrect", "wrong", "not correct"})
_KEYS = frozenset({"answer", "final", "final_answer", "choice", "option", "prediction", "answers"})
_VERDICTS = frozenset({"correct", "is_correct", "true", "valid", "selected"})
_OTHERS = frozenset(
    [
        "second",
        "third",
        "next",
        "best2",
        "runner",
        "alternative",
        "naive",
        "example",
        "sample",
        "wrong",
        "incorrect",
        "initial",
        "previous",
        "earlier",
        "prior",
        "original",
        "first",
        "secondary",
        "fallback",
        "backup",
        "worst",
        "rejected",
        "distractor",
        "eliminated",
        "your",
        "user",
        "tool",
    ]
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


def plain_json(text: str, options: Mapping[str, str]) -> str:
    """`text`; JSON that it ends with is said in words, if it judges or lists options."""
    found = _at_end(text)
    if found is None:
        return text
    start, value = found
    said = _said(value, options, alone=not re.search(r"\w", text[:start].replace("json", "")))
    return text if said is None else text[:start] + said


def _at_end(text: str) -> tuple[int, object] | None:
    """The JSON that a text ends with, and where that starts."""
    decoder = json.JSONDecoder()
    for match in list(re.finditer(r"[{\[]", text))[:_TRIES]:
        try:
            value, stop = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if not re.search(r"\w", text[stop:]):
            return match.start(), value
    return None


def _said(value: object, options: Mapping[str, str], *, alone: bool) -> str | None:
    if isinstance(value, list):
        return _listed(value) if alone and all(isinstance(v, str) for v in value) else None
    if not isinstance(value, dict):
        return None
    judged = _judged(value, options)
    if judged is not None:
        return judged
    kept = {k: v for k, v in value.items() if _OTHERS.isdisjoint(_parts(k))}
    for key, part in kept.items():
        verdict = _verdict(part) if key.casefold() in _VERDICTS else None
        if verdict is False:
            return "Answer: none"
        if key.casefold() not in _KEYS:
            continue
        nested = _judged(part, options) if isinstance(part, dict) else None
        if isinstance(part, list) and part and all(isinstance(v, str) for v in part):
            nested = _listed(part)
        if isinstance(part, str) and re.fullmatch(r"\s*[A-Z](\s*[,;/]\s*[A-Z])+\s*", part):
            nested = _listed(re.findall("[A-Z]", part))
        if nested is not None:
            return nested
    return None if len(kept) == len(value) else json.dumps(kept, ensure_ascii=False)


def _listed(items: list[str]) -> str:
    return f"Answer: {items[0]}" if len(set(items)) == 1 else "Answer: none"


def _judged(value: Mapping[str, object], options: Mapping[str, str]) -> str | None:
    """The only option that is called true, where each has a verdict."""
    verdicts = {key: _verdict(part) for key, part in value.items()}
    if not verdicts or not verdicts.keys() <= options.keys() or None in verdicts.values():
        return None
    true = [key for key, verdict in verdicts.items() if verdict]
    return f"Answer: {true[0]}" if len(true) == 1 else "Answer: none"


def _verdict(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    low = value.strip(" .").casefold() if isinstance(value, str) else ""
    return True if low in _TRUE else False if low in _FALSE else None


def _parts(key: str) -> set[str]:
    return {part.casefold() for part in _PART.findall(key)}
