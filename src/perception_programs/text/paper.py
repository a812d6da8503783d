"""The style `paper`: the published block, valid YAML between its tags.

Numbers: integers as they are; other numbers at 4 significant digits in their shortest form and always
with a decimal point (`1.0`, `0.1299`, `1.0e-05`), because without it YAML 1.1 reads `1e-05` as a word.
Strings: labels (`b`, `i`, a `q` in words), the note and what `meta` holds are always quoted; words (`modality`, `p`,
predicates, …) only where a reader could take them for something else. Labels are cut at `LABEL_CAP`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from .._plain import rounded
from ..program import Item, PerceptionProgram, Relation
from .build import Path, build
from .nodes import Leaf, Node, Series, Table, read_yaml
from .quoting import capped, plain_or_quoted, quoted
from .source import Source
from .tags import CLOSING, OPENING, block_at, next_tag

__all__ = ["find", "read", "render"]

find = next_tag

_KEY_LIMIT = 1000  # YAML takes a longer key only behind a question mark

_NULLS = ("", "~", "null", "Null", "NULL")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,4000})")
_NUMBER = re.compile(
    r"[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?|\.?(?:inf|nan))", re.IGNORECASE
)


def render(program: PerceptionProgram, *, meta: bool = False) -> str:
    """`program` between tags; where it came from only when `meta` is true."""
    return "\n".join([OPENING, *_keys(program, meta), CLOSING])


def _keys(program: PerceptionProgram, meta: bool) -> list[str]:
    lines = [
        f"modality: {plain_or_quoted(program.modality)}",
        f"granularity: {plain_or_quoted(program.granularity)}",
    ]
    if program.grid is not None:
        lines += ["grid:", f"  rows: {program.grid.rows}", f"  cols: {program.grid.cols}"]
    if program.note is not None:
        lines.append(f"note: {quoted(program.note)}")
    lines.append("items:" if program.items else "items: []")
    for item in program.items:
        lines += _item(item, meta)
    if program.relations:
        lines.append("relations:")
        lines += [_relation(relation) for relation in program.relations]
    if meta and program.meta:
        lines.append("meta:")
        entries = program.meta.items()
        lines += ["  " + _entry(key, value, between="\n  ") for key, value in entries]
    return [line for entry in lines for line in entry.split("\n")]


def _item(item: Item, meta: bool) -> Iterator[str]:
    fields = []
    if item.i is not None:
        fields.append(f"i: {quoted(capped(item.i))}")
    if item.p is not None:
        fields.append(f"p: {_value(item.p)}")
    if item.c is not None:
        fields.append(f"c: {_value(item.c)}")
    # A reading is missing where an item was to have one, which is an item that says what was read.
    if item.r is not None or item.p is not None:
        fields.append(f"r: {_value(item.r)}")
    if item.b is not None:
        fields.append(f"b: {quoted(capped(item.b))}")
    if item.q is not None:
        fields.append(f"q: {quoted(capped(item.q)) if isinstance(item.q, str) else _value(item.q)}")
    if item.parts is not None:
        fields += ["parts:", *(f"  {line}" for line in _keys(item.parts, meta))]
    for n, text in enumerate(fields or ["{}"]):
        yield f"    {text}" if n else f"  - {text}"


def _relation(relation: Relation) -> str:
    subject, object_ = _value(relation.subject), _value(relation.object)
    return f"  - [{subject}, {plain_or_quoted(relation.predicate)}, {object_}]"


def _value(value: Any) -> str:
    """A coordinate, reading or identifier."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return plain_or_quoted(value)
    if isinstance(value, float):
        return _decimal(rounded(value))
    return "null" if value is None else str(value)


def _decimal(value: float) -> str:
    """A number in its shortest form that YAML 1.1 and 1.2 both read as a float.

    >>> _decimal(1.0), _decimal(0.13), _decimal(-0.0), _decimal(1e-05)
    ('1.0', '0.13', '0.0', '1.0e-05')
    """
    mantissa, e, exponent = repr(value + 0.0).partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def _entry(key: str, value: Any, *, between: str) -> str:
    name = plain_or_quoted(key)
    if len(name) <= _KEY_LIMIT:
        return f"{name}: {_data(value)}"
    return f"? {name}{between}: {_data(value)}"


def _data(value: Any) -> str:
    """What `meta` holds, on one line and with every digit."""
    if isinstance(value, Mapping):
        entries = (_entry(key, inner, between=" ") for key, inner in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_data, value))}]"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _decimal(value) if isinstance(value, float) else _value(value)


def read(source: Source, start: int) -> tuple[PerceptionProgram, int]:
    """The program whose opening tag is at `start`, and where its closing tag ends.

    Strings are taken as they are written, whatever YAML would make of them: `b: no` is the label "no".

    Raises:
        InputError: a tag without its other half, YAML that is broken, or a program that is; the
            message names the line.
    """
    inside, end = block_at(source, start)
    root = read_yaml(inside)
    if not isinstance(root, Table):
        raise inside.error(root.position, "expected the keys of a program, got another text")
    return build(_program(root), inside, partial(_position, root)), end


def _program(table: Table) -> dict[str, Any]:
    return {key: _READERS.get(key, _any)(node) for key, (_, node) in table.nodes.items()}


def _parts(node: Node) -> Any:
    return _program(node) if isinstance(node, Table) else _any(node)


def _any(node: Node, scalar: Callable[[Leaf], Any] | None = None) -> Any:
    """Plain data of a node whose scalars are read by `scalar`: words and numbers, if not given."""
    scalar = scalar or _word_or_number
    if isinstance(node, Leaf):
        return scalar(node)
    if isinstance(node, Series):
        return [_any(inner, scalar) for inner in node.nodes]
    return {key: _any(inner, scalar) for key, (_, inner) in node.nodes.items()}


def _text(node: Node) -> Any:
    return _any(node, _word)


def _meta(node: Node) -> Any:
    return _any(node, _word_number_or_truth)


def _items(node: Node) -> Any:
    if not isinstance(node, Series):
        return _any(node)
    return [
        {key: _FIELD_READERS.get(key, _any)(value) for key, (_, value) in row.nodes.items()}
        if isinstance(row, Table)
        else _any(row)
        for row in node.nodes
    ]


def _relations(node: Node) -> Any:
    if not isinstance(node, Series):
        return _any(node)
    return [
        [(_text if n == 1 else _any)(inner) for n, inner in enumerate(row.nodes)]
        if isinstance(row, Series)
        else _any(row)
        for row in node.nodes
    ]


_READERS: Mapping[str, Callable[[Node], Any]] = {
    "modality": _text,
    "granularity": _text,
    "note": _text,
    "items": _items,
    "relations": _relations,
    "meta": _meta,
}
_FIELD_READERS: Mapping[str, Callable[[Node], Any]] = {"b": _text, "i": _text, "parts": _parts}


def _word(leaf: Leaf) -> str | None:
    return None if leaf.plain and leaf.text in _NULLS else leaf.text


def _word_or_number(leaf: Leaf) -> str | int | float | None:
    text = leaf.text
    if not leaf.plain or not text:
        return _word(leaf)
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return _word(leaf)


def _word_number_or_truth(leaf: Leaf) -> str | int | float | bool | None:
    if leaf.plain and leaf.text in ("true", "false"):
        return leaf.text == "true"
    return _word_or_number(leaf)


def _position(root: Node, path: Path) -> int:
    node, position = root, root.position
    for step in path:
        if isinstance(node, Series) and isinstance(step, int):
            node = node.nodes[step]
            position = node.position
        elif isinstance(node, Table) and step in node.nodes:
            position, node = node.nodes[str(step)]
        else:
            break
    return position
