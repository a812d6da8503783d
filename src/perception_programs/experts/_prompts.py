"""From the labels a user asks for to what a text encoder is given.

A grounding model reads all labels as one text, with a dot after each; its encoder takes 256 tokens.
So labels lose their own dots, go into as many texts as their tokens need, and each is found again by
where its tokens stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from .._arrays import describe
from ..errors import InputError

__all__ = ["check_fits", "check_labels", "check_tokenizer", "fold", "in_passes", "phrase", "spans"]


def check_tokenizer(tokenizer: Any) -> None:
    """Refuse a tokenizer without words, which transformers makes up when a folder has none.

    Raises:
        ValueError: it knows nothing but its special tokens.
    """
    if len(tokenizer) <= len(tokenizer.all_special_ids):
        raise ValueError("its tokenizer has no words; the tokenizer's files are missing")


def check_labels(labels: object, key: Callable[[str], str]) -> dict[str, str]:
    """The distinct labels: what `key` makes of each, and the label as it was first spelt.

    Args:
        labels: a list of strings.
        key: gives labels that mean the same one value, and an empty one to a label without words.

    Raises:
        InputError: no labels, one that is no string, or one without words.
    """
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise InputError(
            f'labels: expected what to look for, such as ["cat", "dog"], got {describe(labels)}'
        )
    distinct: dict[str, str] = {}
    for label in labels:
        if not isinstance(label, str) or not key(label):
            raise InputError(f"labels: expected words, got {describe(label)}")
        distinct.setdefault(key(label), str(label))
    if not distinct:
        raise InputError('labels: expected what to look for, such as ["cat", "dog"], got none')
    return distinct


def check_fits(texts: Sequence[str], tokenizer: Any, longest: int) -> None:
    """Refuse texts that a text encoder would not take whole.

    Args:
        texts: what to look for, each a text of its own.
        tokenizer: the encoder's.
        longest: tokens that it takes, with those that open and close a text.

    Raises:
        InputError: one is too long.
    """
    for text, tokens in zip(texts, tokenizer(list(texts), verbose=False)["input_ids"], strict=True):
        if len(tokens) > longest:
            raise InputError(
                f"labels: expected at most {longest} tokens, got {len(tokens)} in {describe(text)}"
            )


def fold(label: str) -> str:
    """A label without the differences that do not count: capitals, spaces, underscores.

    >>> fold(" Traffic_Light ")
    'traffic light'
    """
    return " ".join(label.casefold().replace("_", " ").split())


def phrase(label: str) -> str:
    """A label as a grounding model's prompt may hold it: small letters, nothing that ends a phrase.

    Its text encoder ends a phrase at a dot or a question mark, and reads `[SEP]` as a mark of its own.

    >>> phrase("St. Bernard")
    'st bernard'
    """
    return " ".join(re.sub(r"[.?\[\]]", " ", label.lower()).split())


def in_passes(phrases: Sequence[str], lengths: Sequence[int], budget: int) -> list[list[str]]:
    """The phrases in order, split so that each part fits a text encoder.

    Args:
        phrases: what to look for.
        lengths: tokens of each.
        budget: tokens that a text may have, besides those that open and close it.

    Raises:
        InputError: a phrase that does not fit, or that has no tokens.

    >>> in_passes(["cat", "red panda", "dog"], [1, 2, 1], budget=5)
    [['cat', 'red panda'], ['dog']]
    """
    passes: list[list[str]] = []
    room = 0
    for text, length in zip(phrases, lengths, strict=True):
        if not 0 < length < budget:
            raise InputError(
                f"labels: expected phrases of 1 to {budget - 1} tokens, got {length} in {describe(text)}"
            )
        cost = length + 1  # and the dot behind it
        if not passes or cost > room:
            passes.append([])
            room = budget
        passes[-1].append(text)
        room -= cost
    return passes


def spans(tokens: Sequence[int], delimiters: Collection[int]) -> list[list[int]]:
    """The positions of each phrase's tokens: the runs between delimiters.

    >>> spans([101, 3869, 1012, 11420, 2000, 1012, 102], {101, 102, 1012})
    [[1], [3, 4]]
    """
    found: list[list[int]] = []
    last = True
    for position, token in enumerate(tokens):
        if token not in delimiters:
            if last:
                found.append([])
            found[-1].append(position)
        last = token in delimiters
    return found
