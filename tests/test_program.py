"""The schema types: what they take in, what they refuse, and that they are values."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given

from perception_programs import Grid, InputError, Item, PerceptionProgram, Relation
from perception_programs.program import Meta, rounded
from strategies import EXAMPLES, QUICK, programs


def program(*items, **fields):
    return PerceptionProgram("depth", "patch", items, **fields)


def test_numpy_scalars_become_plain_numbers():
    item = Item(np.int64(3), np.array([1, 2], np.int32), np.float32(0.1))
    assert (item.p, item.c, item.r) == (3, (1, 2), 0.1)
    assert [type(v) for v in (item.p, item.c[0], item.r)] == [int, int, float]
    readings = Item(r=np.array([0.1, 0.25], np.float32)).r
    assert readings == (0.1, 0.25) and type(readings[0]) is float
    assert Item(r=np.float16(0.1)).r == 0.1
    assert Item(r=np.float64(0.1)).r == 0.1
    relation = Relation(np.int8(1), "is", np.uint8(2))
    assert (type(relation.subject), type(relation.object)) == (int, int)
    grid = program(Item(1), grid=np.int64(3)).grid
    assert grid == Grid(3, 3) and type(grid.rows) is int
    meta = Meta(
        {"size": np.array([640, 480]), "share": np.float32(0.1), "deep": {"n": np.int64(1)}}
    )
    assert meta.to_dict() == {"size": [640, 480], "share": 0.1, "deep": {"n": 1}}
    for style in ("paper", "json"):
        text = program(item, meta=meta).to_text(style, meta=True)
        assert "np." not in text and "0.1" in text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"p": 1.0}, "p: expected an integer or a string, got float 1.0"),
        ({"p": True}, "p: expected a number, got bool True"),
        ({"p": [1]}, "p: expected a number, got list [1]"),
        ({"c": 3}, "c: expected (x, y), (x0, y0, x1, y1), a name or None, got int 3"),
        ({"c": (1, 2, 3)}, "c: expected (x, y), (x0, y0, x1, y1)"),
        ({"c": ()}, "c: expected (x, y), (x0, y0, x1, y1)"),
        ({"c": (1, 2.5)}, "c: expected integers from 0 to 1000, got tuple (1, 2.5)"),
        ({"c": (1, 2.0)}, "c: expected integers from 0 to 1000"),
        ({"c": (1, 1001)}, "c: expected integers from 0 to 1000, got tuple (1, 1001)"),
        ({"c": (-1, 0)}, "c: expected integers from 0 to 1000"),
        ({"c": (1, True)}, "c: expected a number, got bool True"),
        ({"c": (1, "2")}, "c: expected a number, got str '2'"),
        ({"c": (5, 0, 4, 0)}, "c: expected x0 <= x1 and y0 <= y1, got tuple (5, 0, 4, 0)"),
        ({"c": (0, 5, 0, 4)}, "c: expected x0 <= x1 and y0 <= y1"),
        ({"r": float("nan")}, "r: expected a finite number, got nan"),
        ({"r": np.float32("inf")}, "r: expected a finite number, got inf"),
        ({"r": (0.1, float("nan"))}, "r: expected a finite number, got nan"),
        ({"r": np.array([np.nan])}, "r: expected a finite number, got nan"),
        ({"r": ()}, "r: expected at least one number, got an empty series"),
        ({"r": ("a",)}, "r: expected a number, got str 'a'"),
        ({"r": True}, "r: expected a number, got bool True"),
        ({"r": {"min": 1}}, "r: expected a number, got dict"),
        ({"r": 1j}, "r: expected a number, got complex"),
        ({"b": 3}, "b: expected a string or None, got int 3"),
        ({"i": ["A"]}, "i: expected a string or None, got list ['A']"),
    ],
)
def test_items_that_are_refused(fields, message):
    with pytest.raises(InputError) as caught:
        Item(**fields)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ((1, "", 2), "predicate: expected a word, got str ''"),
        ((1, None, 2), "predicate: expected a word, got None"),
        ((None, "is", 2), "subject: expected a number, got None"),
        ((1, "is", 2.5), "object: expected an integer or a string, got float 2.5"),
    ],
)
def test_relations_that_are_refused(ends, message):
    with pytest.raises(InputError) as caught:
        Relation(*ends)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"modality": ""}, "modality: expected a word, got str ''"),
        ({"granularity": None}, "granularity: expected a word, got None"),
        ({"items": [{"p": 1}]}, "items: expected Items, got dict"),
        ({"items": [Item(1), Item(1)]}, "expected one item for each identifier, got p 1 twice"),
        ({"items": [Item("A", "x"), Item("A", "x")]}, "got p 'A' twice"),
        ({"items": [Item(5)], "grid": (2, 2)}, "items: expected p from 1 to 4, got 5"),
        ({"items": [Item(0)], "grid": (2, 2)}, "items: expected p from 1 to 4, got 0"),
        ({"relations": [(1, "is", 1)]}, "relations: expected Relations, got tuple"),
        ({"relations": [Relation(1, "is", 2)]}, "relations: expected the p of an item, got 2"),
        ({"relations": [Relation("1", "is", 1)]}, "expected the p of an item, got '1'"),
        ({"grid": (0, 1)}, "grid: expected rows to be an integer of at least 1, got int 0"),
        ({"grid": "2x2"}, "grid: expected a number or (rows, cols)"),
        ({"note": 3}, "note: expected a string or None, got int 3"),
        ({"meta": {"loss": float("nan")}}, "meta: expected a finite number, got nan"),
        ({"meta": {"loss": {1, 2}}}, "meta: expected a number, got set"),
    ],
)
def test_programs_that_are_refused(fields, message):
    with pytest.raises(InputError) as caught:
        PerceptionProgram(
            **{"modality": "depth", "granularity": "patch", "items": [Item(1)], **fields}
        )
    assert message in str(caught.value)


def test_one_identifier_may_stand_for_several_candidates_targets_and_unnamed_items():
    items = [Item("left", (0, 0), i="A"), Item("left", (0, 0), i="B"), Item(1, "A"), Item(1, "B")]
    assert len(program(*items, Item(c=(1, 2)), Item(c=(1, 2)))) == 6


def test_programs_are_immutable_values():
    one, other = EXAMPLES["depth"], copy.deepcopy(EXAMPLES["depth"])
    assert one == other and hash(one) == hash(other) and one is not other
    assert one != EXAMPLES["flow"]
    assert Item(1, [1, 2], [3, 4]) == Item(1, (1, 2), (3, 4))
    assert len({Item(1), Item(1), Item(2)}) == 2
    for value, name in ((one, "note"), (one.items[0], "r"), (Relation(1, "is", 1), "predicate")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)
    with pytest.raises(TypeError):
        one.meta["expert"] = "another"
    source = [Item(1)]
    built = program(*source)
    source.append(Item(2))
    assert len(built) == 1


def test_meta_and_pictures_do_not_decide_whether_programs_are_equal():
    bare = program(Item(1))
    assert bare == program(Item(1), meta={"expert": "midas"}) == bare.with_images("a.png")
    assert bare.with_images("a.png", "b.png").images == ("a.png", "b.png")
    assert bare.images == ()


def test_meta_is_a_plain_copy():
    inner = [1, 2]
    data = {"size": inner, "deep": {"none": None, "yes": True}}
    meta = program(meta=data).meta
    inner.append(3)
    data["late"] = 1
    assert meta == {"size": (1, 2), "deep": {"none": None, "yes": True}}
    assert meta.to_dict() == {"size": [1, 2], "deep": {"none": None, "yes": True}}
    assert repr(meta) == "{'size': (1, 2), 'deep': {'none': None, 'yes': True}}"


def test_pickling_keeps_all_but_the_pictures():
    one = EXAMPLES["depth"].with_images(object())
    for back in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
        assert back == one
        assert back.meta == one.meta
        assert back.images in ((), one.images)
    assert pickle.loads(pickle.dumps(one)).images == ()
    assert copy.copy(one).images == copy.deepcopy(one).images == one.images


@QUICK
@given(programs())
def test_dicts_and_pickles_are_inverses(any_program):
    back = PerceptionProgram.from_dict(any_program.to_dict())
    assert back == any_program and back.meta == any_program.meta
    assert pickle.loads(pickle.dumps(any_program)) == any_program


@QUICK
@given(programs(surrogates=False))
def test_json_is_the_inverse_with_every_digit(any_program):
    for indent in (None, 2):
        text = any_program.to_json(indent=indent)
        back = PerceptionProgram.from_json(text)
        assert text.isascii()
        assert back == any_program and back.meta == any_program.meta
        assert PerceptionProgram.from_json(text.encode()) == any_program


def test_dicts_hold_plain_data():
    data = EXAMPLES["depth"].to_dict()
    assert list(data) == [
        "modality",
        "granularity",
        "grid",
        "note",
        "items",
        "relations",
        "meta",
    ]
    assert data["items"][0] == {"p": 1, "c": [250, 250], "r": [0.12991, 0.21341], "b": "sky"}
    assert data["items"][2] == {"p": 3, "c": [250, 750], "r": None}
    assert data["relations"] == [[2, "in_front_of", 1]]
    assert data["grid"] == {"rows": 2, "cols": 2}
    assert json.loads(json.dumps(data)) == data
    assert EXAMPLES["point-detection"].to_dict()["items"][0] == {
        "p": None,
        "c": [10, 10],
        "r": None,
        "b": "REF",
        "i": "first",
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": 3}, "items: expected a list, got int 3"),
        ({"items": "abc"}, "items: expected a list, got str 'abc'"),
        ({"items": [{"p": 1}, {"c": (1, 2, 3)}]}, "item 2: c: expected (x, y)"),
        ({"items": [{"p": 1}, {"z": 2}]}, "item 2: expected keys p, c, r, b, i, q, parts, got 'z'"),
        ({"items": [[1]]}, "item 1: expected a mapping, got list [1]"),
        ({"relations": 3}, "relations: expected a list, got int 3"),
        ({"relations": [[1, "is"]]}, "relation 1: expected [subject, predicate, object]"),
        ({"relations": ["abc"]}, "relation 1: expected [subject, predicate, object]"),
        ({"relations": [[1, 2, 3]]}, "relation 1: predicate: expected a word, got int 2"),
        ({"grid": 3}, "grid: expected a mapping, got int 3"),
        ({"grid": {"rows": 1}}, "grid: expected the key 'cols', got rows"),
        ({"grid": {"rows": 1, "cols": 1.0}}, "grid: expected cols to be an integer"),
        ({"grid": {"rows": 1, "cols": 1, "n": 1}}, "grid: expected keys rows, cols, got 'n'"),
        ({"meta": 3}, "meta: expected a mapping, got int 3"),
        ({"meta": [1]}, "meta: expected a mapping, got list [1]"),
        ({"pictures": []}, "program: expected keys modality, granularity, items, grid"),
    ],
)
def test_dicts_that_are_refused(change, message):
    data = {"modality": "depth", "granularity": "patch", "items": [], **change}
    with pytest.raises(InputError) as caught:
        PerceptionProgram.from_dict(data)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("data", [None, [], "abc", 3])
def test_what_is_no_dict_is_refused(data):
    with pytest.raises(InputError, match="program: expected a mapping, got"):
        PerceptionProgram.from_dict(data)


def test_a_dict_without_a_key_says_which():
    with pytest.raises(InputError, match="expected the key 'granularity', got modality, items"):
        PerceptionProgram.from_dict({"modality": "depth", "items": []})
    with pytest.raises(InputError, match="expected the key 'modality', got none"):
        PerceptionProgram.from_dict({})


@pytest.mark.parametrize("text", ["", "{", "[1, 2", b"\xff\xfe", "[" * 100_000])
def test_json_that_is_broken_is_refused(text):
    with pytest.raises(InputError, match="program: expected JSON: "):
        PerceptionProgram.from_json(text)


def test_rounding_is_to_significant_digits():
    assert [rounded(v) for v in (0.123456, 123456.0, 1e-7 / 3)] == [0.1235, 123500.0, 3.333e-08]
    assert rounded(0.123456, 2) == 0.12
    one = program(Item(1, r=(0.123456, 123456)), Item(2, r="left"), Item(3), Item(4, r=1 / 3))
    assert [item.r for item in one.rounded().items] == [(0.1235, 123456), "left", None, 0.3333]
    assert one.rounded(1).items[3].r == 0.3
    assert one.rounded().rounded() == one.rounded()
    assert EXAMPLES["depth"].rounded().meta == EXAMPLES["depth"].meta


def test_the_empty_program_and_its_length():
    empty = program()
    assert len(empty) == 0
    assert str(empty) == empty.to_text() == empty.to_text("paper")
