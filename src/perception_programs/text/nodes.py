"""YAML as nodes that know where they stand and how they were written, before any reading of them.

YAML's own loaders turn `no` into false and `12:30` into 750, follow aliases and build objects from
tags. A program needs none of that, so its block is read from the parser's events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from ..errors import InputError
from .source import Source

__all__ = ["Leaf", "Node", "Series", "Table", "read_yaml"]

_MAX_DEPTH = 100
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# libyaml refuses the escape of a lone surrogate, which a Python string can hold; the parser in Python
# takes it.
_SURROGATE = re.compile(r"\\(?:u|U0000)[dD][89a-fA-F]")
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class Leaf:
    """A scalar as it was written; `plain` where it stands without quotes."""

    position: int
    text: str
    plain: bool


@dataclass
class Series:
    """A list."""

    position: int
    nodes: list[Node]


@dataclass
class Table:
    """A mapping: of each key, where it stands and its value."""

    position: int
    nodes: dict[str, tuple[int, Node]]


Node: TypeAlias = Leaf | Series | Table


def read_yaml(source: Source) -> Node:
    """The one node of `source`.

    Raises:
        InputError: not YAML, empty, several documents, nested too deeply, a key twice, or an anchor,
            alias or tag; the message names the line.
    """
    if odd := _UNPRINTABLE.search(source.text):
        code = ord(odd.group())
        raise source.error(odd.start(), f"expected printable characters, got U+{code:04X}")
    events = _events(source)
    first = next(events, None)
    if first is None:
        raise source.error(0, "expected the keys of a program, got an empty block")
    root = _node(source, events, first, 0)
    for event in events:
        raise source.error(event.start_mark.index, "expected one YAML document, got another")
    return root


def _events(source: Source) -> Iterator[Any]:
    """The events of nodes; what can't be parsed or isn't allowed is an error that names the line."""
    position = 0
    try:
        for event in _parsed(source.text):
            position = event.start_mark.index
            if isinstance(event, yaml.NodeEvent):
                _refuse_references(source, event)
                yield event
            elif isinstance(event, yaml.CollectionEndEvent):
                yield event
    except InputError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark is not None:
            position = mark.index
        problem = ": ".join(filter(None, (error.context, error.problem)))
        raise source.error(position, f"expected YAML: {problem}") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise source.error(position, f"expected YAML: {error}") from None


def _parsed(text: str) -> Iterator[Any]:
    loader = yaml.SafeLoader if _SURROGATE.search(text) else _LOADER
    yield from yaml.parse(text, Loader=loader)


def _refuse_references(source: Source, event: Any) -> None:
    if isinstance(event, yaml.AliasEvent):
        found = f"the alias *{event.anchor}"
    elif event.anchor is not None:
        found = f"the anchor &{event.anchor}"
    elif event.tag is not None:
        found = f"the tag {event.tag}"
    else:
        return
    raise source.error(event.start_mark.index, f"expected plain YAML, got {found}")


def _node(source: Source, events: Iterator[Any], event: Any, depth: int) -> Node:
    position = event.start_mark.index
    if isinstance(event, yaml.ScalarEvent):
        return Leaf(position, event.value, not event.style)
    if depth == _MAX_DEPTH:
        raise source.error(position, f"expected at most {_MAX_DEPTH} levels, got more")
    if isinstance(event, yaml.SequenceStartEvent):
        series = Series(position, [])
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            series.nodes.append(_node(source, events, event, depth + 1))
        return series
    table = Table(position, {})
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        at = event.start_mark.index
        if not isinstance(event, yaml.ScalarEvent):
            raise source.error(at, "expected a word as key, got a list or a mapping")
        if event.value in table.nodes:
            raise source.error(at, f"expected each key once, got {event.value!r} twice")
        table.nodes[event.value] = at, _node(source, events, next(events), depth + 1)
    return table
