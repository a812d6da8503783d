"""The estimate of tokens: near o200k's counts, which are written down here, and linear."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception_programs import InputError, PerceptionProgram
from perception_programs.tokens import estimate_tokens
from sample_prompts import prompts

# o200k and Qwen of the snapshot programs, by tiktoken; `benchmarks/token_estimate.py --counts` prints
# them anew when a program's text changes.
COUNTS = json.loads("""
{"depth": {"paper": [416, 458], "compact": [244, 280], "json": [445, 513]},
"depth-holes": {"paper": [288, 312], "compact": [203, 223], "json": [327, 361]},
"flow": {"paper": [256, 282], "compact": [146, 158], "json": [272, 300]},
"correspondence": {"paper": [149, 162], "compact": [117, 130], "json": [180, 198]},
"correspondence-none": {"paper": [50, 50], "compact": [46, 46], "json": [81, 85]},
"jigsaw": {"paper": [292, 314], "compact": [209, 231], "json": [446, 471]},
"object-detection": {"paper": [179, 194], "compact": [134, 148], "json": [195, 214]},
"object-detection-none": {"paper": [47, 48], "compact": [43, 44], "json": [79, 83]},
"semantic": {"paper": [146, 160], "compact": [119, 135], "json": [194, 222]},
"point-detection": {"paper": [100, 110], "compact": [76, 86], "json": [138, 150]},
"point-detection-two": {"paper": [153, 167], "compact": [107, 121], "json": [206, 224]},
"point-detection-boxes": {"paper": [107, 115], "compact": [92, 100], "json": [136, 146]},
"segmentation": {"paper": [346, 376], "compact": [202, 230], "json": [364, 412]},
"albedo": {"paper": [308, 334], "compact": [209, 227], "json": [335, 395]},
"similarity": {"paper": [261, 277], "compact": [115, 131], "json": [304, 388]},
"scene": {"paper": [687, 734], "compact": [482, 546], "json": [797, 847]}}
""")
PROSE = (
    "A language model that guesses when it is shown a depth map reasons well once the same evidence is "
    "written down. What most of its mistakes come from was never in its text: a cell's range says "
    "little about the point inside it, and a reader can't tell which of two overlapping ranges lies "
    "nearer. So we print the readings, say what they mean, and leave the comparison to the model."
)
PROSE_COUNT = 79


def error(estimate: int, count: int) -> float:
    return abs(estimate / count - 1)


@pytest.mark.parametrize("style", ["paper", "compact", "json"])
@pytest.mark.parametrize("name", sorted(COUNTS))
def test_programs(name: str, style: str, snapshot_programs: dict[str, PerceptionProgram]) -> None:
    text = snapshot_programs[name].to_text(style)
    o200k, qwen = COUNTS[name][style]
    assert error(estimate_tokens(text), o200k) < 0.06
    assert error(estimate_tokens(text, digits=1), qwen) < 0.06


def test_every_sample_program_is_counted(
    snapshot_programs: dict[str, PerceptionProgram],
) -> None:
    assert set(COUNTS) == set(snapshot_programs)


def test_prose() -> None:
    assert error(estimate_tokens(PROSE), PROSE_COUNT) < 0.05


@pytest.mark.parametrize("separator", [" ", ", ", ",", "\t", " | "])
def test_tables_of_integers(separator: str) -> None:
    """A number of three digits is a token, its separator another; a space belongs to no number."""
    table = np.random.default_rng(0).integers(100, 1000, (32, 32))
    text = "\n".join(separator.join(map(str, row)) for row in table)
    each = {" ": 2, ", ": 3, ",": 2, "\t": 2, " | ": 3}[separator]
    assert error(estimate_tokens(text), 32 * 32 * each) < 0.02
    assert error(estimate_tokens(text, digits=1), 32 * 32 * (each + 2)) < 0.02


def test_conversations() -> None:
    text = "\n\n".join(message.text for message in prompts()["depth.p2.one-shot"])
    assert error(estimate_tokens(text), 1737) < 0.03


def test_what_tokenizers_keep_whole() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens(" " * 50) == 1
    assert estimate_tokens("-" * 60) == 1
    assert estimate_tokens("\n\n\n") == 1
    assert estimate_tokens(" don't") <= 2
    assert estimate_tokens("LRLLRLRRLRLLRLRR") > estimate_tokens(" representation")


def test_other_writing_is_not_free() -> None:
    assert (
        20 < estimate_tokens("在这张图片里，左边的椅子比右边的桌子离相机更近。") < 32
    )  # 24 characters
    assert 3 <= estimate_tokens("🚀🎉") <= 6


@pytest.mark.parametrize(
    "unit", ["a", "A", "é", " ", "\n", "7", ".", "a'", "A1", " \n", "_", "1, "]
)
def test_time_is_linear(unit: str) -> None:
    """A quadratic cut would take minutes on this."""
    text = unit * (300_000 // len(unit))
    start = time.perf_counter()
    estimate_tokens(text)
    assert time.perf_counter() - start < 5


@given(st.text(), st.text())
def test_never_negative_and_more_text_is_not_fewer(first: str, second: str) -> None:
    """Joining two texts may join two pieces into one, never more than that."""
    separate = estimate_tokens(first) + estimate_tokens(second)
    together = estimate_tokens(f"{first}\n{second}")
    assert together >= 0
    assert abs(together - separate) <= 3 + 0.4 * separate


@pytest.mark.parametrize("value", [None, 3, b"text", ["text"]])
def test_only_text(value: object) -> None:
    with pytest.raises(InputError, match="text: expected a string"):
        estimate_tokens(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("digits", [0, 4, "3", None])
def test_only_one_to_three_digits(digits: object) -> None:
    with pytest.raises(InputError, match="digits: expected 1, 2 or 3"):
        estimate_tokens("text", digits=digits)  # type: ignore[arg-type]
