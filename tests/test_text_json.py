"""The style `json`: lossless, ASCII, one item a line, and errors that name the line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from perception_programs.errors import InputError
from perception_programs.program import Item, PerceptionProgram, Relation
from strategies import EXAMPLES, HOSTILE, QUICK, programs


def test_a_program_byte_for_byte():
    program = PerceptionProgram(
        "depth",
        "patch",
        [Item(1, (250, 500), (0.12991, 1.0), "sky"), Item(2, (750, 500), None, "<b>é")],
        [Relation(2, "in_front_of", 1)],
        (1, 2),
        meta={"expert": "midas", "size": (640, 480)},
    )
    assert program.to_text("json") == (
        '{"modality": "depth", "granularity": "patch", "grid": {"rows": 1, "cols": 2}, '
        '"note": null, "items": [\n'
        '{"p": 1, "c": [250, 500], "r": [0.12991, 1.0], "b": "sky"},\n'
        '{"p": 2, "c": [750, 500], "r": null, "b": "\\u003cb>\\u00e9"}\n'
        '], "relations": [\n'
        '[2, "in_front_of", 1]\n'
        '], "meta": {"expert": "midas", "size": [640, 480]}}'
    )
    assert PerceptionProgram("a", "b", []).to_text("json") == (
        '{"modality": "a", "granularity": "b", "grid": null, "note": null, '
        '"items": [], "relations": [], "meta": {}}'
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_modality_comes_back_with_every_digit_and_meta(name):
    program = EXAMPLES[name]
    back = PerceptionProgram.from_text(program.to_text("json"))
    assert back == program
    assert back.meta == program.meta
    assert back == PerceptionProgram.from_json(program.to_text("json"))


@QUICK
@given(programs(surrogates=False))
def test_any_program_comes_back(program):
    text = program.to_text("json")
    assert json.loads(text) == program.to_dict()
    assert text.isascii() and "<" not in text and "\x7f" not in text
    back = PerceptionProgram.from_text(text)
    assert back == program
    assert back.meta == program.meta
    rows = sum(len(rows) + 1 for rows in (program.items, program.relations) if rows)
    assert len(text.splitlines()) == 1 + rows


@pytest.mark.parametrize("label", [*HOSTILE, "\ud800", "x" * 10_000])
def test_hostile_labels_stay_on_one_line_and_come_back(label):
    program = PerceptionProgram(
        "a", "b", [Item(label, label, label, label, label)], [Relation(label, "is", label)]
    )
    text = program.to_text("json")
    assert len(text.splitlines()) == 5
    assert text.replace("\n", "").isprintable()
    assert PerceptionProgram.from_text(text) == program


TEXT = """\
The tool said:
```json
{"modality": "depth", "granularity": "patch", "grid": {"rows": 1, "cols": 2},
"note": null, "items": [
{"p": 1, "c": [250, 500], "r": [0.1, 0.2]},
{"p": 2, "c": [750, 500], "r": [0.3, 0.4]}
], "relations": [
[1, "in_front_of", 2]
], "meta": {}}
```
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"depth"', '" "', 3, "modality: expected a word"),
        ('"rows": 1', '"rows": 0', 3, "expected rows to be an integer of at least 1"),
        ('"grid"', '"grod"', 3, "got 'grod'"),
        ('"note": null', '"note": 3', 4, "note: expected a string or None"),
        ('"note"', '"grid"', 4, "expected a key that is new, in double quotes, got 'grid'"),
        ('"note"', "7", 4, "expected a key that is new, in double quotes, got 7"),
        ('"note": null', '"note" null', 4, "expected JSON: :, got 'n'"),
        ('"items"', '"list"', 3, "expected the key 'items'"),
        ("[250, 500]", "[250, 1001]", 5, "item 1: c: expected integers from 0 to 1000"),
        (
            '{"p": 1,',
            '{"p": 1, "z": 1,',
            5,
            "item 1: expected keys p, c, r, b, i, q, parts, got 'z'",
        ),
        ('{"p": 1,', '{"p": 1, "p": 1,', 5, "expected each key once, got 'p' twice"),
        ("0.3", "NaN", 6, "expected a finite number, got NaN"),
        ("0.3", "-Infinity", 6, "expected a finite number, got -Infinity"),
        ("0.3", "1e999", 6, "item 2: r: expected a finite number, got inf"),
        ("0.3", "9" * 5000, 6, "5000"),
        ("0.3", "0,3.", 6, "expected JSON: Expecting ',' delimiter"),
        ('"p": 2', '"p": 1', 6, "expected one item for each identifier, got p 1 twice"),
        ('"p": 2', '"p": 3', 6, "expected p from 1 to 2, got 3"),
        ("0.4]}", "0.4]};", 6, "expected JSON: , or ], got ';'"),
        ('of", 2', 'of", 3', 8, "expected the p of an item, got 3"),
        (', "in_front_of"', "", 8, "relation 1: expected [subject, predicate, object]"),
        ('"meta": {}', '"meta": 3', 9, "meta: expected a mapping, got int 3"),
        ('"meta": {}', '"meta": ' + '{"a":' * 100_000, 9, "JSON nested too deeply"),
        ('"meta": {}}\n```\n', '"meta": {}', 9, "expected JSON: , or }, got the end of the text"),
    ],
)
def test_errors_name_the_line_in_the_whole_text(old, new, line, message):
    assert TEXT.count(old) == 1
    for text in (TEXT.replace(old, new), TEXT.replace(old, new).replace("\n", "\r\n")):
        with pytest.raises(InputError) as caught:
            PerceptionProgram.from_text(text)
        assert message in str(caught.value)
        assert str(caught.value).startswith(f"line {line}: ")


def test_meta_that_json_can_nest_and_a_program_cannot():
    nested = '{"a": ' * 600 + "1" + "}" * 600
    with pytest.raises(InputError, match=r"^line \d: meta: expected at most 32 levels, got more"):
        PerceptionProgram.from_text(TEXT.replace('"meta": {}', f'"meta": {nested}'))
