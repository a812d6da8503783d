"""The style `compact`: to the byte, back to an equal program, and an error with its line for all else."""

from __future__ import annotations

import time
from dataclasses import replace
from textwrap import dedent, indent

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perception_programs import InputError, Item, PerceptionProgram, Relation
from perception_programs.geometry import Grid
from perception_programs.program import Reading
from perception_programs.text.compact import places
from perception_programs.text.quoting import quoted, unquoted
from strategies import EXAMPLES, FLOATS, HOSTILE, NUMBERS, QUICK, grid_programs, programs, texts


def inside(program: PerceptionProgram) -> str:
    opening, _, rest = program.to_text("compact", meta=True).partition("\n")
    body, _, closing = rest.rpartition("\n")
    assert (opening, closing) == ("<perceptionprogram>", "</perceptionprogram>")
    return body


def block(body: str) -> str:
    return f"<perceptionprogram>\n{body}\n</perceptionprogram>"


def comes_back(program: PerceptionProgram) -> str:
    """The text of a program that is checked to be parsed to it, and to be printed alike again."""
    text = program.to_text("compact", meta=True)
    back = PerceptionProgram.from_text(text)
    assert back == program.rounded(places=places(program))
    assert back.meta == program.meta
    assert back.to_text("compact", meta=True) == text
    return text


def cells(rows: int, cols: int, reading: Reading = 0.5) -> list[Item]:
    return [
        Item(row * cols + col + 1, (15 * col, 15 * row), reading)
        for row in range(rows)
        for col in range(cols)
    ]


def listed(*readings: Reading) -> PerceptionProgram:
    return PerceptionProgram("a", "b", [Item(n, r=r) for n, r in enumerate(readings, 1)])


# --- to the byte ---------------------------------------------------------------------------------


def test_a_grid_byte_for_byte() -> None:
    items = [*EXAMPLES["depth"].items, Item("A", (10, 20), 0.75, "rank 1 of 1", q=0.98765)]
    relations = [
        Relation(2, "in_front_of", 1),
        Relation(2, "in_front_of", 4),
        Relation(4, "in_front_of", 3),
        Relation("A", "in_front_of", "A"),
    ]
    assert inside(replace(EXAMPLES["depth"], items=items, relations=relations)) == dedent(
        r"""
        compact: depth patch 2x2; r and q in thousandths
        note: "r = [min, max] of nearness; u < 0."
        centres y\x: 250 750
        r:
        250: 130,213 500,1000
        750: null 0,0
        b: S=sky T=tree
        250: S T
        750: - -
        items: p c r b q
        A 10,20 750 "rank 1 of 1" 988
        relations of these cells to the neighbour on that side
        in_front_of left: 2 4
        in_front_of below: 2
        relations, first:second
        in_front_of A:A
        meta: {expert: "midas", size: [640, 480], mask: {pixels: 12, share: 1.0e-05, ok: true}}
        """
    ).strip("\n")


def test_quarters_byte_for_byte() -> None:
    items = [
        Item(1, (0, 0, 333, 1000), (0.5, 1.0)),
        Item("2.1", (333, 0, 499, 500), (0.5, 1.0)),
        Item("2.2", (499, 0, 666, 500), None),
        Item("2.3.1", (333, 500, 416, 750), (0.25, 0.5)),
        Item("2.3.2", (416, 500, 499, 750), (0.25, 0.5)),
        Item("2.3.3", (333, 750, 416, 1000), (0.25, 0.5)),
        Item("2.3.4", (416, 750, 499, 1000), (0.25, 0.5)),
        Item("2.4", (499, 500, 666, 1000), (0.0, 0.25)),
        Item(3, (666, 0, 1000, 1000), (0.0, 0.125)),
    ]
    relations = [Relation("2.1", "in_front_of", 1), Relation("2.1", "in_front_of", "2.3.1")]
    program = PerceptionProgram("depth", "patch", items, relations, (1, 3))
    comes_back(program)
    assert inside(program) == dedent(
        r"""
        compact: depth patch 1x3; r in thousandths
        corners y\x, (upper-left upper-right lower-left lower-right) in quarters: 0 333 666
        r:
        0: 500,1000 (500,1000 null (250,500 250,500 250,500 250,500) 0,250) 0,125
        relations, first:second
        in_front_of 2.1:1,2.3.1
        """
    ).strip("\n")
    other = [replace(item, c=(333, 0, 500, 500)) if item.p == "2.1" else item for item in items]
    assert "\nitems: p c r\n" in comes_back(replace(program, items=other))


def test_lists_and_parts_byte_for_byte() -> None:
    parts = PerceptionProgram("depth", "patch", [Item(1, (500, 500), 0.25)], grid=(1, 1))
    items = [
        Item(1, (0, 0, 9, 9), (0.5, None), "fire hydrant", "one", 1, parts),
        Item(2, "no place", (-0.125,), None, "one", "in doubt", replace(parts, note="deep")),
        Item(3, None, "still", "12"),
    ]
    program = PerceptionProgram("scene", "object", items, grid=(9, 9))
    comes_back(program)
    assert inside(program) == dedent(
        r"""
        compact: scene object 9x9; r and q in thousandths
        items 1-3: i c r b q
        one 0,0,9,9 500,null "fire hydrant" 1000
          compact: depth patch 1x1
          centres y\x: 500
          r:
          500: 250
        one "no place" -125, - "in doubt"
          compact: depth patch 1x1
          note: "deep"
          centres y\x: 500
          r:
          500: 250
        - - still "12" -
        """
    ).strip("\n")


def test_targets_and_words_byte_for_byte() -> None:
    words = ["left", "look", "l", None]
    items = [Item(n, c, r, i="x") for c in "AB" for n, r in enumerate(words, 1)]
    assert inside(PerceptionProgram("similarity", "patch", items, grid=(2, 2))) == dedent(
        """
        compact: similarity patch 2x2
        cells, i=x, c=A:
        r: L=left O=look l=l
        L O
        l null
        cells, i=x, c=B:
        r: L=left O=look l=l
        L O
        l null
        """
    ).strip("\n")
    mixed = PerceptionProgram("flow", "patch", cells(1, 2, (12, -3)), grid=(1, 2))
    mixed = replace(mixed, items=[mixed.items[0], replace(mixed.items[1], r="still")])
    assert inside(mixed).endswith("\nr:\n0: 12,-3 still")


def test_identifiers_that_need_no_line_of_their_own() -> None:
    program = EXAMPLES["correspondence"]
    assert inside(program).endswith("\nitems 1-2: c r\n0,1000 12,30\n5,6 7,8")
    related = replace(program, relations=[Relation(1, "near", 2)])
    assert "\nitems: p c r\n1 0,1000 12,30\n2 5,6 7,8\n" in inside(related)
    assert inside(PerceptionProgram("a", "b", [Item(1)])).endswith("\nitems: p\n1")
    assert inside(PerceptionProgram("a", "b", [Item()])).endswith("\nitems: r\nnull")
    assert inside(PerceptionProgram("a", "b", [])).endswith("\nitems: none")


def test_relations_that_sorting_would_move_are_pairs() -> None:
    pairs = [(1, 2), (1, 4), (2, 3), (3, 6)]
    triples = [Relation(a, "is near to" if a % 2 else "no", b) for a, b in pairs]
    program = PerceptionProgram("depth", "patch", cells(2, 3), triples, (2, 3))
    assert inside(program).endswith(
        "\nrelations of these cells to the neighbour on that side\n"
        '"is near to" right: 1\n"is near to" below: 1 3\nno right: 2'
    )
    assert inside(replace(program, relations=triples[::-1])).endswith(
        '\nrelations, first:second\n"is near to" 3:6\nno 2:3\n"is near to" 1:4,2'
    )
    # Across the end of a row, numbers that follow each other are no neighbours.
    across = replace(program, relations=[Relation(3, "near", 4)])
    assert inside(across).endswith("\nrelations, first:second\nnear 3:4")


def test_more_words_than_letters_are_spelled() -> None:
    items = [replace(item, r=f"w{item.p}") for item in cells(6, 9)]
    assert "\n0: w1 w2 w3" in comes_back(PerceptionProgram("a", "b", items, grid=(6, 9)))


@pytest.mark.parametrize(
    "change",
    [
        {"c": (15, 16)},
        {"c": (16, 15)},
        {"c": (15, 15, 15, 15)},
        {"c": "there"},
        {"c": None},
        {"p": 9},
        {"p": "5"},
        {"p": "5.1"},
        {"i": "A"},
        {"parts": EXAMPLES["flow"]},
    ],
)
def test_items_that_are_no_matrix_are_a_list(change: dict[str, object]) -> None:
    program = PerceptionProgram("depth", "patch", cells(2, 4), grid=(3, 4))
    assert "\nitems 1-8: c r\n" in comes_back(program)
    items = cells(3, 3)
    assert "\ncentres y\\x: 0 15 30\n" in comes_back(replace(program, items=items, grid=Grid(3, 3)))
    items[4] = replace(items[4], **change)
    if change.get("p") == 9:
        del items[8]
    text = comes_back(replace(program, items=items, grid=Grid(3, 3)))
    assert "\nitems" in text and "y\\x: 0 15" not in text


def test_meta_is_printed_only_when_asked_for() -> None:
    assert "meta" not in EXAMPLES["depth"].to_text("compact")
    assert "midas" in EXAMPLES["depth"].to_text("compact", meta=True)


# --- back to an equal program --------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_modality_comes_back(name: str) -> None:
    comes_back(EXAMPLES[name])


@QUICK
@given(programs())
@example(PerceptionProgram("a", "b", [Item(1, r="\ud83d\ude00"), Item(2, b="\udfff")]))
@example(PerceptionProgram("a", "b", [], meta={"k" * 1100: {'"' * 600: 1}, "b": {"c" * 1025: 2}}))
@example(listed((None,), (None, None), (5,)))
@example(PerceptionProgram("a", "b", [Item("12"), Item(12), Item("-"), Item("1.2"), Item("null")]))
def test_any_program_comes_back(program: PerceptionProgram) -> None:
    text = comes_back(program)
    assert text.splitlines() == text.split("\n")
    assert text.count("perceptionprogram>\n") == 1
    assert text.replace("\n", "").isprintable()


@QUICK
@given(grid_programs())
def test_any_grid_comes_back(program: PerceptionProgram) -> None:
    comes_back(program)


@QUICK
@given(st.lists(NUMBERS | FLOATS.map(lambda x: x % 1), min_size=1, max_size=3))
@example([0.09996, 0.05])
@example([9.9996])
@example([999.96, 0.5])
@example([50.5, 0.0004])
@example([2**62, 0.5])
@example([999999999.7])
@example([0.0000999996, 0.00001234])
@example([-0.0004, 1.0])
@example([1e300, 5e-324])
def test_any_numbers_come_back(numbers: list[float]) -> None:
    comes_back(listed(*numbers))
    comes_back(listed(tuple(numbers)))


@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_labels_stay_on_one_line_and_come_back(label: str) -> None:
    word = label if label.strip() else "a"
    items = [Item(label, label, label, label, label, label)]
    program = PerceptionProgram(word, word, items, [Relation(label, word, label)], note=label)
    assert len(comes_back(program).splitlines()) == 8
    grid = [replace(item, b=label, i=label, r=label, q=label) for item in cells(1, 1)]
    assert len(comes_back(PerceptionProgram("a", "b", grid, grid=(1, 1))).splitlines()) == 10


def test_long_labels_are_cut_as_in_the_paper_style() -> None:
    long = PerceptionProgram(
        "a", "b", [Item(1, r="r" * 300, b="b" * 300, i="i" * 300, q="q" * 300)]
    )
    (item,) = PerceptionProgram.from_text(long.to_text("compact")).items
    assert PerceptionProgram("a", "b", [item]) == PerceptionProgram.from_text(str(long))
    assert item.r == "r" * 300 and item.b == "b" * 170 + "…[+130 characters]"


@QUICK
@given(texts())
def test_quoted_strings_come_back(text: str) -> None:
    assert unquoted(quoted(text)) == text


def test_escapes_of_output_streams_are_read() -> None:
    assert unquoted(r'"na\xefve \u732b \U0001f642"') == "naïve 猫 🙂"


# --- precision -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("readings", "kept", "said"),
    [
        ([0.12345, 0.5], 3, "in thousandths\nitems 1-2: r\n123\n500"),
        ([(0.0, 9.8764)], 3, "in thousandths\nitems 1-1: r\n0,9876"),
        ([12.341, 80.0], 2, "in hundredths\nitems 1-2: r\n1234\n8000"),
        ([(123.41, 0.123)], 3, "in thousandths\nitems 1-1: r\n123410,123"),
        ([123.41, 456.0], 1, "in tenths\nitems 1-2: r\n1234\n4560"),
        ([1234.5, 9999.4], 0, "\nitems 1-2: r\n1234\n9999"),
        ([0.012345], 4, "in ten-thousandths\nitems 1-1: r\n123"),
        ([0.00012345], 6, "in millionths\nitems 1-1: r\n123"),
        ([0.000012345], None, "\nitems 1-1: r\n1.234e-05"),
        ([1e12, 0.5], None, "\nitems 1-2: r\n1000000000000.0\n0.5"),
        ([2**62, 0.98765], None, f"\nitems 1-2: r\n{2**62}\n0.9877"),
        ([0.25, 0.5], 2, "in hundredths\nitems 1-2: r\n25\n50"),
        ([0.0], 2, "in hundredths\nitems 1-1: r\n0"),
        ([(0.98765, 250.0, -1.5)], 3, "in thousandths\nitems 1-1: r\n988,250000,-1500"),
        ([1, 2**62], 0, f"\nitems 1-2: r\n1\n{2**62}"),
        (["left"], 0, "\nitems 1-1: r\nleft"),
    ],
)
def test_three_or_four_digits_stay(readings: list[Reading], kept: int | None, said: str) -> None:
    program = listed(*readings)
    assert places(program) == kept
    assert said in comes_back(program)


def test_rounding_to_places() -> None:
    parts = listed(0.98765)
    program = PerceptionProgram("a", "b", [Item(1, r=(0.12345, None, 7), q=0.98765, parts=parts)])
    (item,) = program.rounded(places=2).items
    assert (item.r, item.q, item.parts.items[0].r) == ((0.12, None, 7), 0.988, 0.99)
    assert program.rounded(places=None) == program.rounded()


# --- errors --------------------------------------------------------------------------------------

GRID = r"""
Here is the depth.

<perceptionprogram>
compact: depth patch 2x2; r in thousandths
note: "what it means"
centres y\x: 250 750
r:
250: 1,2 3,4
750: null 5,6
b: W=wall
250: W -
750: W W
items: p c r
A 10,20 700
relations of these cells to the neighbour on that side
in_front_of left: 2
relations, first:second
in_front_of A:1
meta: {expert: "midas"}
</perceptionprogram>

Which is closer?
""".removeprefix("\n")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("depth patch 2x2", "depth", 4, "expected a line such as compact: depth patch 10x10"),
        ("depth patch 2x2", "depth patch 0x2", 4, "expected rows to be an integer of at least 1"),
        ("depth patch 2x2", "depth patch", 6, "expected the grid of these cells in the first line"),
        ("depth patch", '" " patch', 4, "modality: expected a word"),
        ("depth patch", '"\\q" patch', 4, "expected an escape such as"),
        ("in thousandths", "in inches", 4, "expected a scale such as r in thousandths"),
        ("r in thou", "r in tenths, r in thou", 4, "expected a scale such as r in thousandths"),
        ('note: "what it means"', "note: what it means", 5, "expected a line that begins items"),
        ("x: 250 750", "x: 250", 6, "expected 2 numbers along the upper edge, got 1"),
        ("x: 250 750", "x: 250 1750", 6, "c: expected integers from 0 to 1000"),
        ("centres", "corners", 6, "expected cells that begin at 0, 500, got 250, 750"),
        ("centres", "cells", 6, "expected a line that begins items"),
        ("r:\n", "", 6, "expected a line r: and the rows of the matrix after it, got none"),
        ("250: 1,2 3,4", "1,2 3,4", 8, "expected row 1 of 2 of the matrix"),
        ("750: null 5,6\n", "", 9, "expected row 2 of 2 of the matrix, such as 49:"),
        ("250: 1,2 3,4", "250: 1,2", 8, "expected 2 cells in a row, got 1"),
        ("250: 1,2 3,4", "250: 1,2 3,x", 8, "r: expected a number, got 'x'"),
        ("250: 1,2 3,4", "250: 1,2 1.0e999", 8, "r: expected a finite number, got inf"),
        ("250: 1,2 3,4", f"250: 1,2 {'9' * 200}", 8, "r: expected a number, got '999"),
        ("250: 1,2 3,4", '250: 1,2 "3', 8, "expected a double quote that closes the string"),
        ("250: 1,2 3,4", "250: 1,2 (1 2 3)", 8, "expected ( and four quarters before ), got 3"),
        ("250: 1,2 3,4", "250: 1,2 (1 2 3 4", 8, "expected ) after four quarters"),
        ("250: 1,2 3,4", "250: 1,2 3) 4", 8, "expected ( and four quarters before )"),
        ("250: 1,2 3,4", f"250: 1,2 {'(' * 20}", 8, "expected cells cut at most 10 times"),
        ("250: 1,2 3,4", "250: 1,2 (1 2 3 4)", 10, "expected the same cells and edges"),
        ("b: W=wall", "b: wall", 10, "expected letters such as L=left"),
        ("b: W=wall", "b: W=wall W=tree", 10, "expected letters such as L=left, each once"),
        ("b: W=wall", "r: W=wall", 10, "expected each field once, got r twice"),
        ("250: W -", "250: V -", 11, "expected one of the letters W, got 'V'"),
        ("items: p c r", "items: p c s", 13, "expected the end of the program"),
        ("items: p c r", "items: p c c", 13, "expected each field once, got p c c"),
        ("items: p c r", "items 1-1: p c r", 13, "expected each field once, got p c r"),
        ("items: p c r", "items 1-2: b c r", 13, "expected 2 items, got 1"),
        ("A 10,20 700", "A 10,20", 14, "expected 3 fields, p c r, got 2"),
        ("A 10,20 700", "1 10,20 700", 14, "expected one item for each identifier, got p 1 twice"),
        ("A 10,20 700", "1.5e3 10,20 700", 14, "expected a word, a number or a string in quotes"),
        ("A 10,20 700", "A 10,2000 700", 14, "item 5: c: expected integers from 0 to 1000"),
        ("A 10,20 700", "A 10 700", 14, "item 5: c: expected (x, y)"),
        ("A 10,20 700", "A 10,20 700\n  B 5,5 600", 15, "expected a line such as compact:"),
        (
            "on that side\n",
            "on that side\n" + "near up: 1\n",
            16,
            "expected the end of the program",
        ),
        ("left: 2", "left: 1", 16, "expected cells with a neighbour left, got '1'"),
        ("left: 2", "left: A", 16, "expected cells with a neighbour left, got 'A'"),
        ("left: 2", "right: 9", 16, "expected cells with a neighbour right, got '9'"),
        ("A:1", "A:B", 18, "relations: expected the p of an item, got 'B'"),
        ("A:1", "A:", 18, "expected a pair such as 3:2 or 3:2,4, got 'A:'"),
        ("in_front_of A:1", "in_front_of", 18, "expected pairs such as 3:2 after 'in_front_of'"),
        ("in_front_of A:1", "-3 A:1", 18, "expected a word, a number or a string in quotes"),
        ('{expert: "midas"}', "{expert: [}", 19, "expected YAML"),
        ('{expert: "midas"}', "3", 19, "meta: expected a mapping, got int 3"),
        ('{expert: "midas"}', "{}\nmore", 20, "expected the end of the program, got 'more'"),
    ],
)
def test_errors_name_the_line_in_the_whole_text(
    old: str, new: str, line: int, message: str
) -> None:
    assert PerceptionProgram.from_text(GRID).grid == Grid(2, 2)
    assert old in GRID
    text = GRID.replace(old, new, 1)
    for variant in (text, text.replace("\n", "\r\n")):
        with pytest.raises(InputError) as caught:
            PerceptionProgram.from_text(variant)
        assert message in str(caught.value)
        assert str(caught.value).startswith(f"line {line}: ")
    with pytest.raises(InputError, match=f"^line {line + 2}: "):
        PerceptionProgram.from_text("\n\n" + indent(text, "   "))


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("compact: a b", 2, "expected a line that begins items"),
        ("compact: a b\nitems 1-2: c", 3, "expected 2 items, got 0"),
        ("compact: a b 2x1\ncells:\nr:\n1", 5, "expected row 2 of 2 of the matrix"),
        ("compact: a b 999999999x999999999\ncells:\nr:\n1", 5, "expected 999999999 cells in a row"),
        (
            "compact: a b\nrelations of these cells to the neighbour on that side",
            3,
            "expected a line that begins items",
        ),
        (
            "compact: a b\nitems: none\nrelations of these cells to the neighbour on that side",
            4,
            "expected the grid of these cells",
        ),
    ],
)
def test_blocks_that_end_too_soon(body: str, line: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        PerceptionProgram.from_text(block(body))
    assert str(caught.value).startswith(f"line {line}: ")
    assert message in str(caught.value)


def test_what_is_wrong_in_parts_is_told_with_its_place() -> None:
    inner = listed(1)
    for _ in range(7):
        inner = PerceptionProgram("a", "b", [Item("p", (5, 5), parts=inner)])
    text = comes_back(PerceptionProgram("a", "b", [Item("p", (5, 5), parts=inner)]))
    deepest = text.replace("items 1-1: r\n", "items: p parts\n")
    with pytest.raises(InputError, match=r"^line 27: expected a line that begins items"):
        PerceptionProgram.from_text(deepest)
    with pytest.raises(InputError, match=r"^line 7: item 1: parts: item 1: c: expected integers"):
        PerceptionProgram.from_text(text.replace("\n  p 5,5", "\n  p 5,5000", 1))
    last = text.split("\n")[-2]
    deeper = text.replace(last, f"{last}\n{' ' * 40}compact: a b\n{' ' * 40}items: none")
    with pytest.raises(InputError, match="expected at most 8 levels of programs, got more"):
        PerceptionProgram.from_text(deeper)


PIECES = (
    *'()":=,;-x\\\n 019L.[{',
    "null",
    "99999999999999999999",
    "1e999",
    "r:",
    "cells:",
    "items: p c",
    "items 1-3: c",
    "compact: a b 2x2",
    "\n  compact: a b",
    "corners y\\x: 0 500",
    "(1 2 3 4)",
    "relations, first:second",
    " left: 3",
    "meta: {}",
    "\\q",
    "\x00",
    "\ud800",
)


@QUICK
@given(
    grid_programs() | programs() | st.sampled_from(list(EXAMPLES.values())),
    st.randoms(use_true_random=False),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4),
)
def test_a_text_that_was_changed_gives_a_program_or_an_input_error(
    program: PerceptionProgram, random: object, pieces: list[str]
) -> None:
    body = inside(program)
    for piece in pieces:
        at = random.randrange(len(body) + 1)
        lines = body.split("\n")
        n = random.randrange(len(lines))
        body = random.choice(
            [
                body[:at] + piece + body[at:],
                body[:at] + body[at + random.randint(1, 4) :],
                "\n".join(lines[:n] + lines[n + 1 :]),
                "\n".join(lines[:n] + lines[n : n + 1] * 2 + lines[n + 1 :]),
                "\n".join([*lines[:n], "  " + lines[n], *lines[n + 1 :]]),
            ]
        )
    try:
        found = PerceptionProgram.all_from_text(block(body))
    except InputError as error:
        assert str(error).startswith("line ")
    else:
        for other in found:
            comes_back(other)


def test_thousands_of_items_are_quick() -> None:
    count = 5_000
    matches = [Item(n, (n % 1000, 7), (n % 999, 8)) for n in range(1, count + 1)]
    program = PerceptionProgram("correspondence", "keypoint", matches)
    grid = PerceptionProgram("depth", "patch", cells(64, 64), grid=(64, 64))
    start = time.perf_counter()
    comes_back(program)
    comes_back(grid)
    quotes = block('compact: a b\nitems: b\n"' + '\\"' * 50_000)
    with pytest.raises(InputError, match="double quote"):
        PerceptionProgram.from_text(quotes)
    assert time.perf_counter() - start < 20  # quadratic would be minutes; the slack is for slow CI
