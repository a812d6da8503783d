"""Numbers, words and plain data on one line of YAML, and what a node of YAML stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .._plain import rounded
from .nodes import Leaf, Node, Series
from .quoting import plain_or_quoted, quoted

__all__ = [
    "data",
    "data_of",
    "decimal",
    "entry",
    "read_plain",
    "read_text",
    "read_word_or_number",
    "value",
]

_KEY_LIMIT = 1000  # YAML takes a longer key only behind a question mark

_NULLS = ("", "~", "null", "Null", "NULL")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,4000})")
_NUMBER = re.compile(
    r"[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?|\.?(?:inf|nan))", re.IGNORECASE
)


def decimal(number: float) -> str:
    """A number in its shortest form that YAML 1.1 and 1.2 both read as a float.

    >>> decimal(1.0), decimal(0.13), decimal(-0.0), decimal(1e-05)
    ('1.0', '0.13', '0.0', '1.0e-05')
    """
    mantissa, e, exponent = repr(number + 0.0).partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def value(given: Any) -> str:
    """A coordinate, reading or identifier; other numbers than integers at 4 significant digits."""
    if isinstance(given, tuple):
        return f"[{', '.join(map(value, given))}]"
    if isinstance(given, str):
        return plain_or_quoted(given)
    if isinstance(given, float):
        return decimal(rounded(given))
    return "null" if given is None else str(given)


def data(given: Any) -> str:
    """What `meta` holds, on one line and with every digit.

    >>> data({"size": (640, 480), "share": 0.123456, "of": "a.png"})
    '{size: [640, 480], share: 0.123456, of: "a.png"}'
    """
    if isinstance(given, Mapping):
        entries = (entry(key, inner, between=" ") for key, inner in given.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(given, tuple):
        return f"[{', '.join(map(data, given))}]"
    if isinstance(given, str):
        return quoted(given)
    if isinstance(given, bool):
        return "true" if given else "false"
    return decimal(given) if isinstance(given, float) else value(given)


def entry(key: str, given: Any, *, between: str) -> str:
    """A key of a mapping and what it holds; `between` parts them where the key is long."""
    name = plain_or_quoted(key)
    if len(name) <= _KEY_LIMIT:
        return f"{name}: {data(given)}"
    return f"? {name}{between}: {data(given)}"


def data_of(node: Node, scalar: Callable[[Leaf], Any]) -> Any:
    """Plain data of a node whose scalars are read by `scalar`."""
    if isinstance(node, Leaf):
        return scalar(node)
    if isinstance(node, Series):
        return [data_of(inner, scalar) for inner in node.nodes]
    return {key: data_of(inner, scalar) for key, (_, inner) in node.nodes.items()}


def read_text(leaf: Leaf) -> str | None:
    """The scalar as a string, whatever it looks like."""
    return None if leaf.plain and leaf.text in _NULLS else leaf.text


def read_word_or_number(leaf: Leaf) -> str | int | float | None:
    """The scalar as a number, if it is one and not quoted."""
    text = leaf.text
    if not leaf.plain or not text:
        return read_text(leaf)
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return read_text(leaf)


def read_plain(leaf: Leaf) -> str | int | float | bool | None:
    """The scalar as what `data` printed: a number, a truth value or a string."""
    if leaf.plain and leaf.text in ("true", "false"):
        return leaf.text == "true"
    return read_word_or_number(leaf)
