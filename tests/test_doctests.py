"""The examples in the docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import perception_programs
from conftest import import_or_skip

MODULES = [
    m.name for m in pkgutil.walk_packages(perception_programs.__path__, "perception_programs.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    result = doctest.testmod(import_or_skip(name))
    assert result.failed == 0


def test_there_are_examples() -> None:
    core = [name for name in MODULES if ".experts." not in name]
    finder = doctest.DocTestFinder()
    counted = sum(
        len(test.examples) for name in core for test in finder.find(importlib.import_module(name))
    )
    assert counted >= 20
