"""What the options of the commands take: text to a value, or a usage error."""

from __future__ import annotations

import argparse
import re

__all__ = [
    "grid",
    "labelled_file",
    "labelled_point",
    "modality_expert",
    "pixel_size",
    "point",
    "words",
]


def grid(text: str) -> tuple[int, int]:
    """`10` or `6x8` (rows x columns) as (rows, cols)."""
    match = re.fullmatch(r"(\d{1,6})(?:[xX×](\d{1,6}))?", text)
    if match is None or "0" in (match[1].lstrip("0") or "0", (match[2] or "1").lstrip("0") or "0"):
        raise argparse.ArgumentTypeError(f"expected 10 or ROWSxCOLS such as 6x8, got {text!r}")
    return int(match[1]), int(match[2] or match[1])


def pixel_size(text: str) -> tuple[int, int]:
    """`640x480` as (width, height)."""
    match = re.fullmatch(r"([1-9]\d{0,8})[xX×]([1-9]\d{0,8})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected WIDTHxHEIGHT such as 640x480, got {text!r}")
    return int(match[1]), int(match[2])


def point(text: str) -> tuple[float, float]:
    """`120,80.5` as (x, y)."""
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected X,Y such as 120,80, got {text!r}") from None
    return x, y


def labelled_file(text: str) -> tuple[str, str]:
    """`A=piece.png` as ("A", "piece.png")."""
    label, _, file = text.partition("=")
    if not label or not file:
        raise argparse.ArgumentTypeError(f"expected LETTER=FILE such as A=piece.png, got {text!r}")
    return label, file


def labelled_point(text: str) -> tuple[str, tuple[float, float]]:
    """`A=120,80` as ("A", (120.0, 80.0))."""
    label, _, place = text.partition("=")
    if not label:
        raise argparse.ArgumentTypeError(f"expected LETTER=X,Y such as A=120,80, got {text!r}")
    return label, point(place)


def modality_expert(text: str) -> tuple[str, str]:
    """`depth=NAME` as ("depth", "NAME")."""
    modality, _, name = text.partition("=")
    if not modality or not name:
        raise argparse.ArgumentTypeError(f"expected MODALITY=NAME such as flow=dis, got {text!r}")
    return modality, name


def words(text: str) -> list[str]:
    """`cat, dog` as ["cat", "dog"]."""
    found = [word.strip() for word in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"expected words such as cat,dog, got {text!r}")
    return found
