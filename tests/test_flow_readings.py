"""Flow: mean motion, points that are asked about, and how surely."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from perception_programs import (
    FlowField,
    InputError,
    PerceptionProgram,
    Points,
    Segmentation,
    flow_program,
)
from perception_programs.cli import main
from perception_programs.experts import load
from perception_programs.geometry import Grid
from perception_programs.programs.flow import NO_MOTION

FIELD = np.random.default_rng(3).normal(size=(36, 50, 2)).astype(np.float32)


def uniform(u: float, v: float, height: int = 20, width: int = 30) -> np.ndarray:
    return np.tile(np.float32([u, v]), (height, width, 1))


def halves(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.concatenate([left, right], axis=1)


class TestMean:
    def test_each_component_over_the_cell(self) -> None:
        program = flow_program(FIELD, grid=(3, 2), reading="mean", still=0)
        for item, (x0, y0, x1, y1) in zip(program.items, Grid(3, 2).boxes((50, 36)), strict=True):
            cell = FIELD[y0:y1, x0:x1].reshape(-1, 2).astype(float)
            means = (*cell.mean(axis=0), np.hypot(*cell.T).mean())
            assert item.r == pytest.approx(means, abs=1e-6)
        assert program.meta["reading"] == "mean" and program.meta["still"] == 0

    def test_the_magnitude_tells_of_motion_that_cancels(self) -> None:
        field = halves(uniform(-4, 3), uniform(4, -3))
        assert flow_program(field, grid=1, reading="mean").items[0].r == (0.0, 0.0, 5.0)

    def test_a_dead_zone(self) -> None:
        field = halves(uniform(0.3, 0.3), uniform(0.5, 0))
        program = flow_program(field, grid=(1, 2), reading="mean")
        assert [item.r for item in program.items] == ["still", (0.5, 0.0, 0.5)]
        assert "still: the magnitude is below 0.5." in program.note
        assert "60 wide and 20 high" in program.note
        wide = flow_program(field, grid=(1, 2), reading="mean", still=1)
        assert {item.r for item in wide.items} == {"still"}

    def test_what_is_unknown_is_left_out(self) -> None:
        field = halves(uniform(2, 1), uniform(3, 4))
        field[:5, :30] = np.nan
        field[:, 30:] = np.nan
        program = flow_program(field, grid=(1, 2), reading="mean", reliability="number")
        assert program.items[0].r == pytest.approx((2, 1, math.sqrt(5)))
        assert (program.items[0].q, program.items[1].r, program.items[1].q) == (0.75, None, 0)
        assert "null: nothing could be measured there" in program.note

    def test_no_minus_zero(self) -> None:
        program = flow_program(uniform(-0.0, 3), grid=1, reading="mean")
        assert str(program.items[0].r) == "(0.0, 3.0, 3.0)"

    def test_a_check_leaves_out_what_is_not_confirmed(self) -> None:
        field, sure = halves(uniform(2, 0), uniform(0.1, 0)), np.ones((20, 60), np.float32)
        field[:8, :30], sure[:8, :30] = 90, 0
        flow = FlowField(field, sure)
        program = flow_program(flow, grid=(1, 2), reading="mean", check=True)
        assert [item.r for item in program.items] == [(2.0, 0.0, 2.0), "still"]
        sure[:12, :30] = 0
        program = flow_program(FlowField(field, sure), grid=(1, 2), reading="mean", check=True)
        assert [item.r for item in program.items] == [NO_MOTION, "still"]
        assert program.meta["consistent"] == (0.4, 1.0)
        with pytest.raises(InputError, match="check: expected a flow with its confidence"):
            flow_program(field, reading="mean", check=True)

    @settings(max_examples=25, deadline=None)
    @given(
        st.integers(1, 4),
        st.integers(1, 4),
        st.sampled_from(["paper", "compact", "json"]),
        st.sampled_from([None, "number", "words"]),
        st.booleans(),
    )
    def test_text_is_read_back(
        self, rows: int, cols: int, style: str, how: str | None, points: bool
    ) -> None:
        places = {"A": (3, 4), "7": (49, 35)} if points else None
        program = flow_program(
            FIELD * 3, grid=(rows, cols), reading="mean", points=places, reliability=how, still=2
        )
        read = PerceptionProgram.from_text(program.to_text(style))
        if style == "compact":
            from perception_programs.text.compact import places as decimals

            assert read == program.rounded(places=decimals(program))
        else:
            assert read == (program if style == "json" else program.rounded())

    @pytest.mark.parametrize("check", [False, True])
    def test_tensors_read_as_arrays_do(self, check: bool) -> None:
        torch = pytest.importorskip("torch")
        sure = (FIELD[..., 0] < 0.5).astype(np.float32)
        options = {"grid": 3, "reading": "mean", "points": {"A": (9, 9)}, "reliability": "number"}
        here = flow_program(FlowField(FIELD, sure), check=check, **options)
        flow = FlowField(torch.tensor(FIELD), torch.tensor(sure))
        assert flow_program(flow, check=check, **options).rounded() == here.rounded()

    def test_a_translation_of_pictures(self) -> None:
        from skimage.data import astronaut

        first = astronaut()[100:340, 100:400]
        second = astronaut()[98:338, 106:406]
        program = flow_program(first, second, expert="dis", grid=3, reading="mean")
        u, v, _ = program.items[4].r
        assert (u, v) == pytest.approx((-6, 2), abs=0.2)


class TestPoints:
    def test_the_median_of_a_disc(self) -> None:
        field = uniform(3, -4, 40, 60)
        field[20, 30] = 1000  # one wrong pixel in five
        program = flow_program(field, grid=None, points={"A": (30, 20)}, reading="mean")
        assert program.items[0].r == (3.0, -4.0, 5.0)
        assert (program.granularity, program.grid) == ("point", None)
        assert program.items[0].c == (500, 500) and program.items[0].p == "A"
        assert "close around the point" in program.note

    def test_after_the_cells(self) -> None:
        field = halves(uniform(2, 0), uniform(-2, 0))
        points = Points.from_dict({"B": (50, 10), "A": (5, 10)}, (60, 20))
        program = flow_program(field, grid=(1, 2), points=points)
        assert [(item.p, item.r) for item in program.items] == [
            (1, "right"),
            (2, "left"),
            ("B", "left"),
            ("A", "right"),
        ]
        assert program.granularity == "patch" and program.meta["disc_radius"] == 1
        assert "Items with a letter for p are points" in program.note

    def test_names(self) -> None:
        ground = np.zeros((20, 30), int)
        ground[:, 20:] = 1
        labels = Segmentation(ground, ["road", "car"])
        program = flow_program(uniform(1, 0), grid=1, points={"A": (25, 3)}, labels=labels)
        assert [item.b for item in program.items] == ["road", "car"]
        alone = flow_program(uniform(1, 0), grid=None, points={"A": (25, 3)}, labels=labels)
        assert alone.items[0].b == "car" and "b: what is there." in alone.note
        with pytest.raises(InputError, match="labels: expected a segmentation of"):
            flow_program(uniform(1, 0, 9), grid=None, points={"A": (2, 3)}, labels=labels)

    def test_nothing_there(self) -> None:
        field = uniform(1, 1)
        field[:9, :9] = np.nan
        program = flow_program(field, grid=None, points={"A": (2, 2), "B": (20, 10)})
        assert [item.r for item in program.items] == [None, "right"]
        assert program.meta["unread_points"] == 1 and "null: nothing" in program.note

    def test_checked(self) -> None:
        sure = np.ones((20, 30), np.float32)
        sure[:, :15] = 0
        flow = FlowField(uniform(2, 0), sure)
        program = flow_program(
            flow, grid=None, points={"A": (4, 4), "B": (25, 4)}, check=True, reliability="number"
        )
        assert [(item.r, item.q) for item in program.items] == [(NO_MOTION, 0), ("right", 1)]
        assert "fewer than half of the pixels there" in program.note

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"grid": None}, "grid: expected a number or .rows, cols., or points alone"),
            ({"points": {"A": (99, 1)}}, "points: expected 'A' within 30×20"),
            ({"points": {}}, "points: expected"),
            ({"points": {"2.1": (1, 1)}}, "points: expected a letter beside cells"),
            ({"reading": "median"}, "reading: expected direction or mean, got str 'median'"),
            ({"reading": "mean", "still": -1}, "still: expected a number of pixels of at least 0"),
            ({"reliability": True}, "reliability: expected number, words or None"),
        ],
    )
    def test_what_is_refused(self, options: dict[str, object], said: str) -> None:
        with pytest.raises(InputError, match=said):
            flow_program(uniform(1, 0), **options)


class TestReliability:
    def test_what_the_reverse_direction_confirms(self) -> None:
        sure = np.zeros((20, 30), np.float32)
        sure[:, :15] = 1
        sure[:5, 15:] = 1
        program = flow_program(FlowField(uniform(2, 0), sure), grid=(1, 2), reliability="number")
        assert [item.q for item in program.items] == [1, 0.25]
        assert program.note.endswith(
            "q: share of the cell's pixels that the reverse direction confirms, from 0 to 1."
        )

    def test_frames_go_through_the_expert_both_ways(self) -> None:
        rng = np.random.default_rng(0)
        first = np.kron(rng.integers(0, 256, (20, 24, 3)), np.ones((4, 4, 1))).astype(np.uint8)
        second = np.roll(first, 3, axis=1)
        second[:, :40] = rng.integers(0, 256, (80, 40, 3))  # what was there is seen no more
        words = flow_program(first, second, expert="dis", grid=(1, 2), reliability="words")
        assert words.items[0].q == "doubtful" and words.items[1].q == "sure"
        plain = flow_program(first, second, expert=load("dis"), grid=(1, 2), reliability="words")
        assert "could be read" in plain.note and "confirms" in words.note

    def test_nothing_is_said_unless_asked(self) -> None:
        assert all(item.q is None for item in flow_program(uniform(1, 0)).items)


def test_on_the_command_line(tmp_path, capsys) -> None:
    np.save(tmp_path / "field.npy", uniform(3, -4))
    line = f"flow {tmp_path}/field.npy --reading mean --still 1 --point A=3,4 --reliability number"
    assert main([*line.split(), "--points-only"]) == 0
    program = PerceptionProgram.from_text(capsys.readouterr().out)
    assert [(i.p, i.r, i.q) for i in program.items] == [("A", (3.0, -4.0, 5.0), 1)]
    assert main([*line.split(), "--grid", "1"]) == 0
    assert len(PerceptionProgram.from_text(capsys.readouterr().out)) == 2
