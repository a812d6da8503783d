"""Programs in longer texts: prompts, transcripts, Markdown, tool-call JSON."""

from __future__ import annotations

import json
from textwrap import indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception_programs import InputError, PerceptionProgram
from perception_programs.program import Item
from perception_programs.text import STYLES, parse_all, parse_one, render
from perception_programs.text.compact import places
from strategies import EXAMPLES, HOSTILE

DEPTH, FLOW, JIGSAW = EXAMPLES["depth"], EXAMPLES["flow"], EXAMPLES["jigsaw"]


def test_programs_come_in_order_of_appearance_whatever_their_style():
    text = f"One:\n{FLOW}\nTwo: {JIGSAW.to_text('json')} three:\n\n{DEPTH}\n{FLOW.to_text('json')}"
    assert parse_all(text) == [FLOW, JIGSAW, DEPTH.rounded(), FLOW]
    with pytest.raises(InputError) as caught:
        parse_one(text)
    lines = [n for n, line in enumerate(text.split("\n"), 1) if "<perc" in line or '{"mod' in line]
    assert str(caught.value) == (
        f"text: expected one perception program, got 4, beginning at lines "
        f"{', '.join(map(str, lines))}; read them with PerceptionProgram.all_from_text"
    )


def test_only_some_lines_of_many_programs_are_named():
    with pytest.raises(InputError, match=r"got 50, beginning at lines 1, 15, 29, 43, 57, …; read"):
        parse_one(f"{FLOW}\n" * 50)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no program here",
        "Blocks stand between <perceptionprogram> and </perceptionprogram>.",
        "The tag is <perceptionprogram>",
        "<PerceptionProgram>\nmodality: a\n</PerceptionProgram>",
        "<perceptionprogram></perceptionprogram>",
        "{}",
        '{"modality": "text", "content": "a chat message"}',
        '{"modality": "depth"}',
        '{"modality": {"type": "string"}, "granularity": {"type": "string"}, "items": {}}',
        '{"modality": "a\nb", "items": []}',
        "{'modality': 'depth', 'granularity': 'patch', 'items': []}",
        '{"modality": "depth", …}',
    ],
)
def test_texts_without_a_program(text):
    assert PerceptionProgram.all_from_text(text) == []
    with pytest.raises(InputError, match="no perception program found"):
        PerceptionProgram.from_text(text)


@pytest.mark.parametrize("text", [None, 3, b"<perceptionprogram>", DEPTH])
def test_what_is_no_text(text):
    with pytest.raises(InputError, match="text: expected a string, got"):
        PerceptionProgram.from_text(text)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: text,
        lambda text: "\ufeff" + text,
        lambda text: f"Depth: {text}. Which is closer?",
        lambda text: f"- {text}",
        lambda text: indent(text, "    "),
        lambda text: indent(text, "\t"),
        lambda text: f"    {text}\n    Which is closer?",
        lambda text: f"1. Depth:\n{indent(text, '   ')}\n2. Answer.",
        lambda text: f"```yaml\n{text}\n```",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("\n", " \t\n"),
        lambda text: text.replace("program>\n", "program>\n\n\n"),
        lambda text: f"<tool_response>\n{text}\n</tool_response>",
        lambda text: f"{{\n{text}\n}}",
    ],
)
@pytest.mark.parametrize("style", STYLES)
def test_a_program_is_found_whatever_is_around_it(wrap, style):
    text = wrap(DEPTH.to_text(style))
    kept = places(DEPTH)  # which compact keeps, the style with the fewest digits
    assert PerceptionProgram.from_text(text).rounded(places=kept) == DEPTH.rounded(places=kept)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a\n<perceptionprogram>\nmodality: b\n", 2, "got the end of the text"),
        ("a\n\n  </perceptionprogram>\n", 3, "got no opening tag"),
        (f"{FLOW}\n</perceptionprogram>", 15, "got no opening tag"),
        (f"x\n<perceptionprogram>\nmodality: b\n{FLOW}", 2, "another opening tag on line 4"),
        ("a\nDepth: <perceptionprogram>\nmodality: b", 2, "got the end of the text"),
    ],
)
def test_a_tag_without_its_other_half(text, line, message):
    with pytest.raises(InputError) as caught:
        PerceptionProgram.all_from_text(text)
    assert str(caught.value).startswith(f"line {line}: ")
    assert message in str(caught.value)


def test_programs_in_the_json_of_a_tool_call():
    call = {"role": "tool", "content": [{"modality": "text"}, FLOW.to_dict(), JIGSAW.to_dict()]}
    assert parse_all(json.dumps(call)) == [FLOW, JIGSAW]
    assert parse_all(json.dumps(call, indent=2)) == [FLOW, JIGSAW]
    # A program within a string is text within text: it is found once that string is decoded.
    for style in STYLES:
        message = json.dumps({"role": "tool", "content": FLOW.to_text(style)})
        assert parse_all(message) == []
        assert parse_one(json.loads(message)["content"]) == FLOW


def test_a_program_inside_another_is_part_of_it():
    outer = PerceptionProgram("a", "b", [], meta={"of": FLOW.to_dict(), "text": str(FLOW)})
    for style in STYLES:
        found = parse_all(outer.to_text(style, meta=True))
        assert found == [outer]
        assert found[0].meta == outer.meta


def test_the_schema_in_a_prompt_is_no_program():
    from perception_programs.text import schema

    assert parse_all(json.dumps(schema(), indent=1)) == []


@pytest.mark.parametrize("style", STYLES)
def test_no_string_opens_or_closes_a_program(style):
    for label in HOSTILE:
        text = f"{label} {label}"
        item = Item(text, text, text, text, text)
        program = PerceptionProgram(f"m{label}", "g", [item], note=text, meta={text: [text]})
        assert parse_all(program.to_text(style, meta=True) + "\n\n" + str(FLOW)) == [program, FLOW]


FRAGMENTS = (
    "<perceptionprogram>",
    "</perceptionprogram>",
    "\n",
    "\r\n",
    " ",
    "modality: a",
    "compact: a b 1x2; r in tenths",
    "items 1-1: c r",
    "centres y\\x: 1 2",
    "r: L=left",
    "1: L L",
    "relations, first:second",
    "granularity: b",
    "items: []",
    "items:\n- p: 1",
    '{"modality": "a", "granularity": "b", "items": [',
    '{"p": 1}',
    "]}",
    "{",
    "}",
    '"',
    "\\",
    "- ",
    "&a *a !!b",
    "\x00",
    "\ud800",
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=25).map("".join))
def test_any_text_gives_programs_or_an_input_error(text):
    try:
        programs = parse_all(text)
    except InputError as error:
        assert str(error).startswith("line ")
    else:
        assert all(isinstance(program, PerceptionProgram) for program in programs)


def test_an_unknown_style():
    with pytest.raises(
        InputError, match="style: expected one of paper, compact, json, got str 'xml'"
    ):
        DEPTH.to_text("xml")
    with pytest.raises(InputError, match="style: expected one of paper, compact, json, got list"):
        render(DEPTH, [])
