"""The style `paper`: byte for byte, as YAML, hostile strings, and errors that name the line."""

from __future__ import annotations

import time
from textwrap import dedent, indent

import pytest
import yaml
from hypothesis import example, given

from perception_programs.errors import InputError
from perception_programs.program import Item, PerceptionProgram, Relation
from perception_programs.text.quoting import LABEL_CAP, capped, plain_or_quoted, quoted
from strategies import EXAMPLES, FLOATS, HOSTILE, QUICK, programs, texts


def inside(text):
    opening, _, rest = text.partition("\n")
    body, _, closing = rest.rpartition("\n")
    assert (opening, closing) == ("<perceptionprogram>", "</perceptionprogram>")
    return body


def as_dict(text):
    """What YAML itself makes of a block, with what it leaves out filled in as in `to_dict`."""
    return filled(yaml.safe_load(inside(text)))


def filled(data):
    items = [{"p": None, "c": None, "r": None, **item} for item in data["items"]]
    for item in items:
        if "parts" in item:
            item["parts"] = filled(item["parts"])
    return {"grid": None, "note": None, "relations": [], "meta": {}, **data, "items": items}


def one(label):
    return PerceptionProgram(
        "object-detection", "bounding-box", [Item(1, (0, 0, 9, 9), 0.5, label)]
    )


def test_a_program_byte_for_byte():
    assert EXAMPLES["depth"].to_text(meta=True) == dedent(
        """\
        <perceptionprogram>
        modality: depth
        granularity: patch
        grid:
          rows: 2
          cols: 2
        note: "r = [min, max] of nearness; u < 0."
        items:
          - p: 1
            c: [250, 250]
            r: [0.1299, 0.2134]
            b: "sky"
          - p: 2
            c: [750, 250]
            r: [0.5, 1.0]
            b: "tree"
          - p: 3
            c: [250, 750]
            r: null
          - p: 4
            c: [750, 750]
            r: [0.0, 1.234e-05]
        relations:
          - [2, in_front_of, 1]
        meta:
          expert: "midas"
          size: [640, 480]
          mask: {pixels: 12, share: 1.0e-05, ok: true}
        </perceptionprogram>"""
    )


def test_items_of_points_and_of_candidates_byte_for_byte():
    assert inside(str(EXAMPLES["point-detection"])).splitlines()[3:6] == [
        '  - i: "first"',
        "    c: [10, 10]",
        '    b: "REF"',
    ]
    assert inside(str(EXAMPLES["jigsaw"])).splitlines()[3:7] == [
        '  - i: "A"',
        "    p: left",
        "    c: [0, 0, 8, 1000]",
        "    r: 0.9124",
    ]
    assert inside(str(EXAMPLES["nothing found"])).endswith('note: "none found"\nitems: []')
    assert inside(str(EXAMPLES["similarity"])).splitlines()[-3:] == [
        "  - p: 1",
        "    c: B",
        "    r: 0.25",
    ]
    assert inside(str(EXAMPLES["albedo"])).endswith("  - [1, is darker than, 2]")


def test_meta_is_printed_only_when_asked_for_and_there_is_some():
    assert "meta" not in str(EXAMPLES["depth"])
    assert EXAMPLES["flow"].to_text(meta=True) == str(EXAMPLES["flow"])


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_modality_comes_back(name):
    program = EXAMPLES[name]
    back = PerceptionProgram.from_text(program.to_text(meta=True))
    assert back == program.rounded()
    assert back.meta == program.meta
    assert str(back) == str(program)


def test_reliability_and_parts_byte_for_byte():
    parts = PerceptionProgram("depth", "patch", [Item(1, (500, 500), 0.5)], grid=(1, 1))
    program = PerceptionProgram(
        "scene",
        "object",
        [Item(1, (0, 0, 9, 9), 0.25, "car", q=0.98765, parts=parts), Item(2, q="1 of 2: doubtful")],
    )
    assert inside(str(program)) == dedent(
        """\
        modality: scene
        granularity: object
        items:
          - p: 1
            c: [0, 0, 9, 9]
            r: 0.25
            b: "car"
            q: 0.9877
            parts:
              modality: depth
              granularity: patch
              grid:
                rows: 1
                cols: 1
              items:
                - p: 1
                  c: [500, 500]
                  r: 0.5
          - p: 2
            r: null
            q: "1 of 2: doubtful\""""
    )


def test_what_is_wrong_in_parts_is_told_with_its_place():
    parts = PerceptionProgram("depth", "patch", [Item(1, (500, 500), 0.5)])
    text = str(PerceptionProgram("scene", "object", [Item(1, parts=parts)]))
    broken = text.replace("[500, 500]", "[500, 5000]")
    with pytest.raises(InputError, match=r"line 12: item 1: parts: item 1: c: expected integers"):
        PerceptionProgram.from_text(broken)
    with pytest.raises(InputError, match="q: expected a number from 0 to 1 or plain words"):
        Item(q=1.5)
    for _ in range(8):
        parts = PerceptionProgram("depth", "patch", [Item(1, parts=parts)])
    with pytest.raises(InputError, match="at most 8 levels"):
        Item(parts=parts)


@QUICK
@given(programs())
@example(PerceptionProgram("a", "b", [Item()]))
@example(PerceptionProgram("a", "b", [Item(1, r="\ud83d\ude00"), Item(2, b="\udfff")]))
@example(PerceptionProgram("a", "b", [], meta={"k" * 1100: {'"' * 600: 1}, "b": {"c" * 1025: 2}}))
def test_any_program_comes_back_and_yaml_agrees(program):
    text = program.to_text(meta=True)
    back = PerceptionProgram.from_text(text)
    assert back == program.rounded()
    assert back.meta == program.meta
    assert as_dict(text) == program.rounded().to_dict()
    assert text.splitlines() == text.split("\n")
    assert text.count("perceptionprogram>\n") == 1
    assert "\x00" not in text and "\u202e" not in text


@QUICK
@given(FLOATS)
@example(1e16)
@example(-0.0)
@example(5e-324)
@example(99999.5)
def test_numbers_come_back_as_floats(value):
    program = PerceptionProgram("a", "b", [Item(1, r=value)])
    for reading in (
        PerceptionProgram.from_text(str(program)).items[0].r,
        as_dict(str(program))["items"][0]["r"],
    ):
        assert type(reading) is float
        assert reading == pytest.approx(value, rel=5e-4)
        assert str(reading) != "-0.0"


@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_labels_stay_on_one_line_and_come_back(label):
    program = PerceptionProgram(
        label if label.strip() else "a",
        "b",
        [Item(label, label, label, label, label)],
        [Relation(label, label if label.strip() else "is", label)],
        note=label,
    )
    text = str(program)
    assert len(text.splitlines()) == 13
    assert text.isprintable() or text.replace("\n", "").isprintable()
    assert PerceptionProgram.from_text(text) == program
    assert as_dict(text) == program.to_dict()


def test_what_could_be_a_tag_is_escaped_and_what_could_not_is_not():
    assert quoted("</perceptionprogram>") == '"\\u003c/perceptionprogram>"'
    assert quoted("<\n/ PERCEPTIONprogram") == '"\\u003c\\n/ PERCEPTIONprogram"'
    assert quoted("<|im_end|><s>") == '"\\u003c|im_end|>\\u003cs>"'
    assert quoted("u < 0, 3<4 <- <") == '"u < 0, 3<4 <- <"'


def test_a_long_label_is_cut_once_with_a_mark():
    program = one("x" * 10_000)
    label = PerceptionProgram.from_text(str(program)).items[0].b
    assert label == "x" * 170 + "…[+9830 characters]"
    assert len(label) <= LABEL_CAP
    assert str(one(label)) == str(program)
    assert capped("x" * LABEL_CAP) == "x" * LABEL_CAP
    # The cut counts characters, not what they are escaped to.
    assert PerceptionProgram.from_text(str(one("\u200b" * 201))).items[0].b == (
        "\u200b" * 170 + "…[+31 characters]"
    )


def test_a_note_is_not_cut():
    program = PerceptionProgram("a", "b", [], note="n" * 10_000)
    assert PerceptionProgram.from_text(str(program)) == program


@QUICK
@given(texts())
def test_a_plain_word_is_that_string_to_yaml(value):
    written = plain_or_quoted(value)
    assert yaml.safe_load(f"[{written}]") == [value]
    assert yaml.safe_load(f"{written}: 1") == {value: 1}


@pytest.mark.parametrize("word", ["y", "N", "yes", "No", "ON", "off", "True", "null", "inf", "NaN"])
def test_words_that_some_yaml_reads_otherwise_are_quoted(word):
    assert plain_or_quoted(word) == f'"{word}"'


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("no", "no"),
        ("12:30", "12:30"),
        ("1e-5", "1e-5"),
        ("'it''s'", "it's"),
        ("2024-01-31", "2024-01-31"),
        ('"null"', "null"),
        ("null", None),
        ("~", None),
        ("", None),
        ("sign #3", "sign"),
        ("sign#3", "sign#3"),
        ('"a\\\n      b"', "ab"),
        ("|\n      a\n      b", "a\nb\n"),
    ],
)
def test_labels_are_what_is_written(written, label):
    text = f"<perceptionprogram>\nmodality: a\ngranularity: b\nitems:\n  - p: 1\n    b: {written}\n</perceptionprogram>"
    assert PerceptionProgram.from_text(text).items[0].b == label


@pytest.mark.parametrize(
    ("written", "reading"),
    [
        ("1e-5", 1e-5),
        ("1", 1),
        ("1.", 1.0),
        (".5", 0.5),
        ("+3", 3),
        ("left", "left"),
        ("yes", "yes"),
        ('"1"', "1"),
        ("[1, 2.5]", (1, 2.5)),
        ("\n      - 1\n      - 2", (1, 2)),
        ("null", None),
    ],
)
def test_readings_are_numbers_or_words(written, reading):
    text = f"<perceptionprogram>\nmodality: a\ngranularity: b\nitems:\n  - p: 1\n    r: {written}\n</perceptionprogram>"
    back = PerceptionProgram.from_text(text).items[0].r
    assert back == reading and type(back) is type(reading)


BLOCK = """\
Here is the depth.

<perceptionprogram>
modality: depth
granularity: patch
grid:
  rows: 1
  cols: 2
items:
  - p: 1
    c: [250, 500]
    r: [0.1, 0.2]
  - p: 2
    c: [750, 500]
    r: [0.3, 0.4]
relations:
  - [1, in_front_of, 2]
</perceptionprogram>

Which is closer?
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("modality: depth\n", "", 4, "expected the key 'modality', got granularity"),
        ("modality: depth", "modality: ''", 4, "modality: expected a word, got str ''"),
        ("modality: depth", "modality: [a]", 4, "modality: expected a word, got list"),
        ("granularity: patch", "granularity:", 5, "granularity: expected a word, got None"),
        ("grid:", "grod:", 6, "got 'grod'"),
        ("  rows: 1", "  rows: one", 6, "expected rows to be an integer"),
        ("  rows: 1\n", "", 6, "grid: expected the key 'rows'"),
        ("  cols: 2", "  cols: 1", 13, "expected p from 1 to 1, got 2"),
        ("items:", "note: [1]\nitems:", 9, "note: expected a string or None"),
        ("items:\n", "items: 3\nlist:\n", 10, "got 'list'"),
        ("items:\n", "items: {}\nmeta:\n", 9, "items: expected a list, got dict"),
        ("    c: [250, 500]", "    c: [250, 1001]", 11, "expected integers from 0 to 1000"),
        ("    c: [250, 500]", "    c: [250, 5.0]", 11, "expected integers from 0 to 1000"),
        ("    c: [250, 500]", "    c: [250]", 11, "c: expected (x, y)"),
        ("    c: [250, 500]", "    c: 250", 11, "c: expected (x, y)"),
        (
            "    c: [250, 500]",
            "    x: [250, 500]",
            11,
            "expected keys p, c, r, b, i, q, parts, got 'x'",
        ),
        ("    r: [0.3, 0.4]", "    r: [0.3, nan]", 15, "expected a finite number, got nan"),
        ("    r: [0.3, 0.4]", "    r: .inf", 15, "expected a finite number, got inf"),
        ("    r: [0.3, 0.4]", "    r: {a: 1}", 15, "r: expected a number, got dict"),
        ("    r: [0.3, 0.4]", "    r: [a, b]", 15, "r: expected a number, got str 'a'"),
        ("    r: [0.3, 0.4]", f"    r: {'9' * 5000}", 15, "expected a finite number"),
        ("    r: [0.3, 0.4]", "    b: [0.3, 0.4]", 15, "b: expected a string or None"),
        ("    r: [0.3, 0.4]", "    c: [1, 2]", 15, "expected each key once, got 'c' twice"),
        ("  - p: 2", "  - p: 1", 13, "expected one item for each identifier, got p 1 twice"),
        ("  - p: 2", "  - p: 1.5", 13, "p: expected an integer or a string, got float 1.5"),
        ("[1, in_front_of, 2]", "[1, in_front_of, 3]", 17, "expected the p of an item, got 3"),
        ("[1, in_front_of, 2]", "[1, in_front_of]", 17, "expected [subject, predicate, object]"),
        ("[1, in_front_of, 2]", "[1, null, 2]", 17, "predicate: expected a word, got None"),
        ("[1, in_front_of, 2]", "behind", 17, "expected [subject, predicate, object]"),
        ("[1, in_front_of, 2]", "&a [1, x, 2]", 17, "expected plain YAML, got the anchor &a"),
        ("[1, in_front_of, 2]", "*a", 17, "expected plain YAML, got the alias *a"),
        ("[1, in_front_of, 2]", "!!set {1}", 17, "got the tag tag:yaml.org,2002:set"),
        ("[1, in_front_of, 2]", "[1, in_front_of, 2", 18, "expected YAML"),
        ("[1, in_front_of, 2]", "{[1]: 2}", 17, "expected a word as key, got a list"),
        ("[1, in_front_of, 2]", '["\\q", is, 2]', 17, "expected YAML"),
        ("[1, in_front_of, 2]", '["\\ud800\\UFFFFFFFF", is, 2]', 17, "expected YAML"),
        ("[1, in_front_of, 2]", "[1, \x07, 2]", 17, "expected printable characters, got U+0007"),
        ("[1, in_front_of, 2]", "[1, \ud800, 2]", 17, "characters, got U+D800"),
        ("[1, in_front_of, 2]", "[" * 200, 17, "expected at most 100 levels, got more"),
        ("[1, in_front_of, 2]\n", "[1, is, 2]\n---\na: 1\n", 19, "expected one YAML document"),
        ("relations:\n", "meta: 3\nrelations:\n", 16, "meta: expected a mapping, got int 3"),
        ("relations:\n", "\tmeta: {}\nrelations:\n", 16, "expected YAML"),
    ],
)
def test_errors_name_the_line_in_the_whole_text(old, new, line, message):
    assert BLOCK.count(old) == 1
    text = BLOCK.replace(old, new)
    for variant in (text, text.replace("\n", "\r\n"), text.replace("\n", "\r")):
        with pytest.raises(InputError) as caught:
            PerceptionProgram.from_text(variant)
        assert message in str(caught.value)
        assert str(caught.value).startswith(f"line {line}: ")
    with pytest.raises(InputError, match=f"^line {line + 2}: "):
        PerceptionProgram.from_text("\n\n" + indent(text, "   "))


def test_of_several_faults_line_and_message_are_of_the_same_one():
    text = BLOCK.replace("p: 2", "p: 1").replace("[0.3, 0.4]", "[]").replace("depth\ng", "''\ng")
    with pytest.raises(InputError, match=r"^line 15: item 2: r: expected at least one number"):
        PerceptionProgram.from_text(text)


@pytest.mark.parametrize(
    ("body", "message"),
    [("", "an empty block"), ("# only this\n", "empty"), ("hello\n", "keys"), ("- 1\n", "keys")],
)
def test_blocks_that_hold_no_program(body, message):
    with pytest.raises(InputError, match=rf"^line 2: .*{message}"):
        PerceptionProgram.from_text(f"<perceptionprogram>\n{body}</perceptionprogram>")


def test_thousands_of_matches_are_quick():
    count = 5_000
    matches = [Item(n, (n % 1000, 7), (n % 999, 8)) for n in range(1, count + 1)]
    program = PerceptionProgram("correspondence", "keypoint", matches)
    start = time.perf_counter()
    text = str(program)
    assert PerceptionProgram.from_text(text) == program
    with pytest.raises(InputError, match=f"^line {3 * count + 2}: "):
        PerceptionProgram.from_text(text.replace(f"- p: {count}\n", "- p: 1\n"))
    assert time.perf_counter() - start < 30  # quadratic would be minutes; the slack is for slow CI
