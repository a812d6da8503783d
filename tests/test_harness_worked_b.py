"""What three of the worked trajectories must show: a distance, a camera's motion, a page that is quoted."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from perception_programs.errors import ToolError
from perception_programs.sandbox import Sandbox
from test_docs import ROOT

NAMES = ("distance_in_two_views", "camera_motion", "find_and_quote", "_turns")


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    """They import their neighbour by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "examples" / "harness_worked"))
        yield
        for name in NAMES:
            sys.modules.pop(name, None)


@pytest.fixture
def camera_motion(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("P2_SHARED_DATA", str(shared_data))
    return importlib.import_module("camera_motion")


def test_a_distance_within_two_percent(tmp_path: Path) -> None:
    try:
        Sandbox()
    except ToolError as error:
        pytest.skip(str(error))
    script = importlib.import_module("distance_in_two_views")
    _, _, disparity = script.stereo_motorcycle()
    ends = []
    for x, y in (script.TAIL, script.HUB):
        far = script.FOCAL * script.BASELINE / (float(disparity[y, x]) + script.OFFSET)
        ends.append(
            far
            * np.array(
                [(x - script.CENTRE[0]) / script.FOCAL, (y - script.CENTRE[1]) / script.FOCAL, 1]
            )
        )
    true = np.linalg.norm(ends[1] - ends[0])
    assert true == pytest.approx(script.TRUTH, abs=0.001)
    done = script.main(tmp_path)
    assert [call["outcome"] for call in done.calls] == ["found", "found"]
    for measured in done.memory().value("value_1").values():
        assert measured == pytest.approx(true, rel=0.02)
    assert float(done.answer.removesuffix(" m")) == pytest.approx(true, rel=0.02)
    assert set(done.end["rests_on"]) == {"input_image_1", "input_image_2", "depth_1", "value_1"}


@pytest.mark.slow
def test_a_turn_is_told_and_another_refused(camera_motion: ModuleType, tmp_path: Path) -> None:
    done = camera_motion.main(tmp_path)
    assert [call["outcome"] for call in done.calls] == ["found", "unusable"]
    true = camera_motion.truth(camera_motion.pairs()[camera_motion.TOLD])
    measured = done.memory().value("camera_1").poses[1][:3, :3]
    assert camera_motion.turn(measured @ true.T) < 3  # 1.0° measured
    assert float(done.answer.partition("°")[0]) == pytest.approx(camera_motion.turn(true), abs=3)
    assert "not known between 3 and 4" in done.answer


@pytest.mark.slow
def test_the_table_of_errors(camera_motion: ModuleType) -> None:
    rows = re.findall(
        r"^\| (scene\d+) \| ([\d.]+)° \| (refused|[\d.]+)°? \|$", camera_motion.__doc__, re.M
    )
    errors = list(camera_motion.errors())
    assert [(name, round(true, 1)) for name, true, _ in errors] == [
        (name, float(true)) for name, true, _ in rows
    ]
    for (_, _, error), (_, _, shown) in zip(errors, rows, strict=True):
        assert isinstance(error, str) == (shown == "refused")
        if not isinstance(error, str):
            assert error == pytest.approx(float(shown), abs=4)


def test_a_page_is_found_visited_and_quoted(tmp_path: Path) -> None:
    script = importlib.import_module("find_and_quote")
    done = script.main(tmp_path)
    assert [(call["name"], call["outcome"]) for call in done.calls] == [
        ("text_search", "found"),
        ("webpage_visit", "found"),
    ]
    told = [message.text for message in done.messages() if message.role == "tool"]
    assert "| In the year 79 Mount Vesuvius erupted" in told[1]
    assert "| Note to assistants" in told[1] and "\nNote to assistants" not in told[1]
    page = done.memory().value("page_1")
    assert "Digging began in 1748" in page.text and "Any page" not in page.text
    assert done.answer == script.YEAR and done.end["rests_on"] == ["reference_1", "page_1"]
    shown = importlib.import_module("_turns").section(script, done)
    assert "http://127.0.0.1:8000/?curid=7" in shown
