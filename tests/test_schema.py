"""The JSON Schema: it takes what the library writes and refuses what the library refuses."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from perception_programs.errors import InputError
from perception_programs.program import PerceptionProgram
from perception_programs.text import schema
from strategies import EXAMPLES, QUICK, programs

VALIDATOR = Draft202012Validator(schema())


def as_data(program):
    return json.loads(json.dumps(program.to_dict()))


def test_it_is_a_schema():
    Draft202012Validator.check_schema(schema())
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema() is not schema()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_modality_is_valid(name):
    VALIDATOR.validate(as_data(EXAMPLES[name]))


@QUICK
@given(programs(surrogates=False))
def test_any_program_is_valid(program):
    VALIDATOR.validate(as_data(program))


@pytest.mark.parametrize(
    "change",
    [
        {"modality": None},
        {"modality": " "},
        {"granularity": 3},
        {"items": None},
        {"items": {}},
        {"items": [[]]},
        {"items": [{"p": 1.5}]},
        {"items": [{"p": True}]},
        {"items": [{"p": [1]}]},
        {"items": [{"c": [1]}]},
        {"items": [{"c": [1, 2, 3]}]},
        {"items": [{"c": [1, 2, 3, 4, 5]}]},
        {"items": [{"c": [0, 1001]}]},
        {"items": [{"c": [-1, 0]}]},
        {"items": [{"c": [0.5, 0]}]},
        {"items": [{"c": ["0", 0]}]},
        {"items": [{"c": 3}]},
        {"items": [{"r": []}]},
        {"items": [{"r": ["a"]}]},
        {"items": [{"r": [True]}]},
        {"items": [{"r": True}]},
        {"items": [{"r": {}}]},
        {"items": [{"b": 3}]},
        {"items": [{"i": 3}]},
        {"items": [{"label": "a"}]},
        {"relations": [[1, "is"]]},
        {"relations": [[1, "is", 2, 3]]},
        {"relations": [[1, "", 2]]},
        {"relations": [[None, "is", 2]]},
        {"relations": [{}]},
        {"grid": {"rows": 1}},
        {"grid": {"rows": 0, "cols": 1}},
        {"grid": {"rows": 1, "cols": 1, "cells": 1}},
        {"grid": 3},
        {"note": 3},
        {"meta": 3},
        {"images": []},
    ],
)
def test_what_the_library_refuses_is_invalid(change):
    data = {"modality": "a", "granularity": "b", "items": [], **change}
    assert not VALIDATOR.is_valid(data)
    with pytest.raises(InputError):
        PerceptionProgram.from_dict(data)


@pytest.mark.parametrize("key", ["modality", "granularity", "items"])
def test_a_key_that_is_missing_is_invalid(key):
    data = {"modality": "a", "granularity": "b", "items": []}
    VALIDATOR.validate(data)
    del data[key]
    assert not VALIDATOR.is_valid(data)
