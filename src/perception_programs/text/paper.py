"""The style `paper`: the published block, valid YAML between its tags.

Numbers: integers as they are; other numbers at 4 significant digits in their shortest form and always
with a decimal point (`1.0`, `0.1299`, `1.0e-05`), because without it YAML 1.1 reads `1e-05` as a word.
Strings: labels (`b`, `i`, a `q` in words), the note and what `meta` holds are always quoted; words (`modality`, `p`,
predicates, …) only where a reader could take them for something else. Labels are cut at `LABEL_CAP`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ..program import Item, PerceptionProgram, Relation
from .build import Path, build
from .nodes import Node, Series, Table, read_yaml
from .quoting import capped, plain_or_quoted, quoted
from .source import Source
from .tags import CLOSING, OPENING, block_at, next_tag, opens_compact
from .values import data_of, entry, read_plain, read_text, read_word_or_number, value

__all__ = ["find", "read", "render"]


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
        lines += ["  " + entry(key, held, between="\n  ") for key, held in entries]
    return [line for text in lines for line in text.split("\n")]


def _item(item: Item, meta: bool) -> Iterator[str]:
    fields = []
    if item.i is not None:
        fields.append(f"i: {quoted(capped(item.i))}")
    if item.p is not None:
        fields.append(f"p: {value(item.p)}")
    if item.c is not None:
        fields.append(f"c: {value(item.c)}")
    # A reading is missing where an item was to have one, which is an item that says what was read.
    if item.r is not None or item.p is not None:
        fields.append(f"r: {value(item.r)}")
    if item.b is not None:
        fields.append(f"b: {quoted(capped(item.b))}")
    if item.q is not None:
        fields.append(f"q: {quoted(capped(item.q)) if isinstance(item.q, str) else value(item.q)}")
    if item.parts is not None:
        fields += ["parts:", *(f"  {line}" for line in _keys(item.parts, meta))]
    for n, text in enumerate(fields or ["{}"]):
        yield f"    {text}" if n else f"  - {text}"


def _relation(relation: Relation) -> str:
    subject, object_ = value(relation.subject), value(relation.object)
    return f"  - [{subject}, {plain_or_quoted(relation.predicate)}, {object_}]"


def find(source: Source, start: int) -> int | None:
    """Where the next tag begins that is not the one before a block of the style `compact`."""
    position = next_tag(source, start)
    while position is not None and opens_compact(source, position):
        position = next_tag(source, position + 1)
    return position


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


def _any(node: Node) -> Any:
    return data_of(node, read_word_or_number)


def _text(node: Node) -> Any:
    return data_of(node, read_text)


def _meta(node: Node) -> Any:
    return data_of(node, read_plain)


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
