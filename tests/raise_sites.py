"""Where the package raises on purpose, read from its sources: class, file, lines, words of the message."""

from __future__ import annotations

import ast
import functools
import gc
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import perception_programs

SOURCES = Path(perception_programs.__file__).resolve().parent
GAP = "…"
"""What stands in a message for what only the call decides."""

_INSTALL = "install_command"


@dataclass(frozen=True)
class RaiseSite:
    """One place that makes an error.

    Attributes:
        kind: the error's class.
        file: of the sources, relative to the package.
        lines: first and last.
        message: its words, with a gap for each value; empty where the words come from elsewhere.
        extra: the optional dependency that it says to install, or None.
    """

    kind: str
    file: str
    lines: tuple[int, int]
    message: str
    extra: str | None = None


def parsed(path: Path) -> ast.Module:
    """A file's syntax tree, while nothing is collected.

    What is collected may be reported with a traceback, which parses its lines; Python 3.11 fails on a tree
    that is made while another is.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        if collecting:
            gc.enable()


def error_classes() -> dict[str, str]:
    """Public exceptions by name, and the class each is made from."""
    found = {}
    for file, tree in _trees():
        if any(part.startswith("_") for part in Path(file).parts if part != "__init__.py"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.bases:
                base = ast.unparse(node.bases[0])
                if base.endswith(("Error", "Exception")):
                    found[node.name] = base
    return found


@functools.cache
def raise_sites() -> list[RaiseSite]:
    """Every call of an error class in the package, also where it is returned to be raised elsewhere."""
    return [site for file, tree in _trees() for site in _sites(file, tree)]


@functools.cache
def raising_lines() -> frozenset[tuple[str, int]]:
    """File and line of all that a `raise` spans."""
    return frozenset(
        (file, line)
        for file, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


@functools.cache
def _trees() -> list[tuple[str, ast.Module]]:
    return [
        (path.relative_to(SOURCES).as_posix(), parsed(path))
        for path in sorted(SOURCES.rglob("*.py"))
    ]


def _sites(file: str, tree: ast.Module) -> Iterator[RaiseSite]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id.endswith("Error") and node.args:
            message = " ".join(_words(node.args[0]).split())
            lines = (node.lineno, node.end_lineno or node.lineno)
            yield RaiseSite(node.func.id, file, lines, message, _extra(node))


def _words(node: ast.expr) -> str:
    """The literal words of a message."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return re.sub(f"{GAP}+", GAP, "".join(map(_words, node.values)))
    return GAP


def _extra(call: ast.Call) -> str | None:
    for node in ast.walk(call):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == _INSTALL:
            argument = node.args[0]
            return argument.value if isinstance(argument, ast.Constant) else None
    return None
