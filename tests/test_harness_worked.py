"""The worked trajectories: real tools on real pictures, and a page that shows what comes."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from perception_programs.harness import Trajectory
from test_docs import ROOT

SCRIPTS = ROOT / "examples" / "harness_worked"
PAGE = ROOT / "docs" / "harness-worked.md"
NAMES = [
    file.stem
    for file in sorted(SCRIPTS.glob("*.py"))
    if not file.stem.startswith("_") and file.stem != "write_page"
]
_SLOW = {"camera_motion"}
CASES = [pytest.param(name, marks=pytest.mark.slow) if name in _SLOW else name for name in NAMES]
_MEASURED = re.compile(r"^\d+,\d+,\d+,\d+ \d+(?= )", re.MULTILINE)  # a box and its score
_ESTIMATED = re.compile(
    r"^.*(?:°|spots).*$", re.MULTILINE
)  # a camera's motion; its own test has the truth


@pytest.fixture(scope="module", autouse=True)
def folder_of_the_scripts() -> Iterator[None]:
    """They import their neighbours by name, as they do when one is run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield
        for name in (*NAMES, "_turns", "write_page"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def done(
    folder_of_the_scripts: None, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[ModuleType, Trajectory]]:
    """Each script that has what it needs, and its trajectory, run when it is first asked for."""

    class Done(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            script = importlib.import_module(name)
            why = importlib.import_module("write_page").missing(script)
            if why is not None:
                pytest.skip(f"{name}: {why}")
            self[name] = script, script.main(tmp_path_factory.mktemp(name))
            return self[name]

    return Done()


def outcomes(trajectory: Trajectory) -> list[tuple[str, str]]:
    return [(call["name"], call["outcome"]) for call in trajectory.calls]


@pytest.mark.parametrize("name", CASES)
def test_each_ends_in_an_answer_that_rests_on_what_was_made(name: str, done: Any) -> None:
    _, trajectory = done[name]
    trajectory.check()
    assert trajectory.end["reason"] == "answered"
    assert trajectory.end["cited"] and not trajectory.end["unsupported"]
    assert trajectory.end["rests_on"]
    assert not [what for _, what in outcomes(trajectory) if what == "refused"]


@pytest.mark.parametrize("name", CASES)
def test_the_page_shows_what_comes(name: str, done: Any) -> None:
    """All of it but for the last digits of boxes and scores, in which machines differ."""
    script, trajectory = done[name]
    turns = importlib.import_module("_turns")
    page = importlib.import_module("write_page")
    section = turns.section(script, trajectory, page.IMAGES)
    shown = PAGE.read_text(encoding="utf-8")
    title = section.partition("\n")[0]
    assert f"\n{title}\n" in shown, "run examples/harness_worked/write_page.py"
    part = re.split(r"\n(?=## )", shown[shown.index(f"\n{title}\n") + 1 :])[0]
    assert_alike(part.strip(), section.strip())


def assert_alike(shown: str, made: str) -> None:
    assert steady(shown) == steady(made)
    rows = [
        np.array([re.split("[, ]", row) for row in _MEASURED.findall(text)], float)
        for text in (shown, made)
    ]
    np.testing.assert_allclose(*rows, rtol=0.02, atol=2)


def steady(text: str) -> str:
    """A section without the numbers that machines measure differently."""
    return _ESTIMATED.sub(
        lambda line: re.sub(r"\d+(\.\d+)?", "#", line[0]), _MEASURED.sub("#", text)
    )


@pytest.mark.parametrize("name", CASES)
def test_the_pictures_of_the_page_are_those_of_the_run(name: str, done: Any) -> None:
    script, trajectory = done[name]
    turns = importlib.import_module("_turns")
    page = importlib.import_module("write_page")
    for handle in getattr(script, "PICTURES", ()):
        kept = Image.open(ROOT / "docs" / page.IMAGES / turns.picture_name(script, handle))
        made = Image.fromarray(trajectory.memory().image(handle))
        assert kept.size == made.size
        difference = np.asarray(kept.convert("RGB"), float) - np.asarray(made, float)
        assert np.abs(difference).mean() < 6  # of 255: JPEG's own error


def test_nothing_else_stands_on_the_page() -> None:
    shown = PAGE.read_text(encoding="utf-8")
    assert len(re.findall(r"^## ", shown, re.MULTILINE)) == len(NAMES)
    pictures = set(re.findall(r"\]\((images/harness-worked/[^)]+)\)", shown))
    there = {
        f"images/harness-worked/{one.name}"
        for one in (PAGE.parent / "images/harness-worked").iterdir()
    }
    assert pictures == there


def test_small_letters_are_read_right_only_when_enlarged(done: Any) -> None:
    _, trajectory = done["zoom_to_read"]
    memory = trajectory.memory()
    assert outcomes(trajectory) == [
        ("read_text", "found"),
        ("zoom_in", "found"),
        ("read_text", "found"),
    ]
    whole, part = memory.value("boxes_1"), memory.value("boxes_2")
    assert "YAMAHA" not in whole.labels and "YAMAHA" in part.labels
    assert part.scores.max() > 0.95 and trajectory.answer == "YAMAHA"


def test_words_are_counted_after_the_doubtful_line_is_read_again(done: Any) -> None:
    script, trajectory = done["read_and_compute"]
    memory = trajectory.memory()
    scores = memory.value("boxes_1").scores
    assert (scores < 0.9).sum() == 1, "the reader itself says which line it misread"
    assert memory.value("value_1") == script.TRUTH and trajectory.answer == str(script.TRUTH)
    assert trajectory.end["rests_on"] == [
        "input_image_1", "boxes_1", "tool_image_1", "boxes_2", "value_1"
    ]  # fmt: skip


def test_the_coin_with_two_boxes_is_counted_once(done: Any) -> None:
    script, trajectory = done["count_without_doubles"]
    memory = trajectory.memory()
    assert len(memory.value("boxes_1")) == script.TRUTH + 1
    counted = memory.value("value_1")
    assert counted == {"boxes": 25, "doubles": 1, "coins": script.TRUTH}
    assert trajectory.answer == str(script.TRUTH)
    said = [m.text for m in trajectory.messages() if m.answers == "call-python_coding"]
    assert f"boxes {script.DOUBLE + 1} and 25 share" in said[0]
