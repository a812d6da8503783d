"""Sequences of frames: a program a step, and one of the whole."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception_programs import (
    DepthMap,
    FlowField,
    InputError,
    PerceptionProgram,
    depth_program,
    depth_programs,
    depth_summary,
    flow_program,
    flow_programs,
    flow_summary,
)
from perception_programs.experts import registry
from perception_programs.tokens import estimate_tokens


def flow(u: float, v: float = 0) -> np.ndarray:
    return np.full((16, 16, 2), (u, v), float)


def metres(distance: float) -> DepthMap:
    return DepthMap(np.full((16, 16), distance), "metric")


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked for each time an expert is loaded; the default is `dis`."""
    asked: list[str] = []
    load = registry.load

    def counted(name: str, **options: Any) -> Any:
        asked.append(name)
        return load(name, **options)

    monkeypatch.setattr(registry, "load", counted)
    monkeypatch.setattr(registry, "default", lambda modality, **with_: counted("dis", **with_))
    return asked


class TestPrograms:
    def test_each_step_says_which_it_is(self) -> None:
        steps = flow_programs([flow(-2), FlowField(flow(3))], times=[0, 0.5, 2], grid=2)
        assert [step.meta["step"] for step in steps] == [1, 2]
        assert steps[1].meta["times"] == (0.5, 2.0) and steps[1].meta["steps"] == 2
        assert str(steps[1].note).startswith("Step 2 of 2, from 0.5 to 2 s. Each item is one cell")
        assert steps[1].items == flow_program(flow(3), grid=2).items
        assert PerceptionProgram.from_text(str(steps[0])) == steps[0].rounded()

    def test_depth_frames(self) -> None:
        frames = depth_programs(iter([metres(2), metres(3)]), units="m", grid=1)
        assert [frame.items[0].r for frame in frames] == [(2, 2), (3, 3)]
        assert str(frames[0].note).startswith("Frame 1 of 2. ") and "time" not in frames[0].meta
        assert depth_programs([metres(2)], times=[1.5])[0].meta["time"] == 1.5

    @pytest.mark.parametrize("expert", ["dis", None])
    def test_one_expert_for_all(self, loads: list[str], expert: str | None) -> None:
        rng = np.random.default_rng(0)
        picture = rng.integers(0, 255, (32, 64, 3), np.uint8)
        frames = [np.roll(picture, shift, axis=1) for shift in (0, 3, 6)]
        steps = flow_programs(frames, expert=expert, grid=1)
        assert [step.items[0].r for step in steps] == ["right", "right"]
        assert loads == ["dis"] and steps[1].images[0] is frames[1]

    @pytest.mark.parametrize("expert", ["dis", None])
    @pytest.mark.parametrize("option", [{"check": True}, {"reliability": "words"}])
    def test_what_needs_the_way_back_loads_it(
        self, loads: list[str], expert: str | None, option: dict[str, Any]
    ) -> None:
        picture = np.random.default_rng(0).integers(0, 255, (32, 64, 3), np.uint8)
        frames = [np.roll(picture, shift, axis=1) for shift in (0, 3, 6)]
        steps = flow_programs(frames, expert=expert, grid=1, **option)
        whole = flow_program(*frames[:2], expert="dis", grid=1, **option)
        assert steps[0].items == whole.items and loads == ["dis", "dis"]

    def test_times_are_told_apart(self) -> None:
        epoch = [1.7e9, 1.7e9 + 0.04, 1.7e9 + 0.08]
        steps = flow_programs([flow(3), flow(-3)], times=epoch, grid=1)
        assert str(steps[1].note).startswith("Step 2 of 2, from 1700000000.04 to 1700000000.08 s.")
        depths = depth_programs([metres(2), metres(3)], times=[1e-7, 3e-7], grid=1)
        assert str(depths[1].note).startswith("Frame 2 of 2, at 0.0000003 s.")
        single = depth_programs([metres(2)], times=[1234567.25])[0]
        assert str(single.note).startswith("Frame 1 of 1, at 1234567.25 s.")
        assert [i.b for i in flow_summary(steps).items] == [
            "1700000000-1700000000.04 s",
            "1700000000.04-1700000000.08 s",
        ]

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: flow_programs([]), "at least one, got none"),
            (lambda: flow_programs("film.mp4"), "a series of frames"),
            (lambda: flow_programs([flow(1), np.zeros((16, 16, 3), np.uint8)]), "got both"),
            (
                lambda: flow_programs([np.zeros((16, 16, 3), np.uint8)]),
                "at least two pictures, got 1",
            ),
            (lambda: flow_programs([flow(1)], times=[0]), "each of 2 frames, got 1"),
            (lambda: flow_programs([flow(1)], times=[1, 1]), "seconds that increase"),
            (lambda: flow_programs([flow(1)], times=3), "times: expected seconds"),
            (lambda: depth_programs([metres(1)], times=["now"]), "times: expected a number"),
        ],
    )
    def test_bad_input(self, call: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            call()


class TestFlowSummary:
    def test_steps_that_move_alike_are_one_segment(self) -> None:
        moves = [flow(3), flow(5), flow(0.1), flow(-4, 1), flow(1, 6), flow(0, -6)]
        summary = flow_summary(moves, times=np.arange(7) / 2)
        assert [(item.p, item.r, item.b) for item in summary.items] == [
            (1, "right", "0-1 s"),
            (2, "still", "1-1.5 s"),
            (3, "left", "1.5-2 s"),
            (4, "down", "2-2.5 s"),
            (5, "up", "2.5-3 s"),
        ]
        assert (summary.modality, summary.granularity) == ("flow", "segment")
        assert PerceptionProgram.from_text(str(summary)) == summary

    def test_means_are_of_the_dominant_cells(self) -> None:
        mixed = flow(4)
        mixed[:6] = -20
        steps = flow_programs([mixed, flow(2)], reading="mean", grid=8)
        (item,) = flow_summary(steps, reading="mean").items
        assert item.r == (3, 0, 3) and item.b == "steps 1-2" and item.q is None

    def test_sides_are_enough_for_words(self) -> None:
        steps = flow_programs([flow(3), flow(-3)], times=[0, 1, 2])
        assert [(item.r, item.b) for item in flow_summary(steps).items] == [
            ("right", "0-1 s"),
            ("left", "1-2 s"),
        ]
        with pytest.raises(InputError, match="sides alone"):
            flow_summary(steps, reading="mean")

    def test_merging_says_how_much_is_so(self) -> None:
        moves = [flow(3), flow(3), flow(-1), flow(3)]
        least = estimate_tokens(str(flow_summary([flow(3)]))) + 38
        summary = flow_summary(moves, max_tokens=least)
        assert [(item.r, item.q) for item in summary.items] == [("right", 0.75)]
        assert "q: the share" in str(summary.note) and summary.meta["segments_merged"] == 2

    @settings(deadline=None, max_examples=25)
    @given(
        st.lists(st.sampled_from(["left", "right", None]), min_size=1, max_size=40),
        st.integers(1, 900),
    )
    def test_never_over_the_budget(self, words: list[str | None], budget: int) -> None:
        step = flow_program(flow(3), grid=1)
        steps = [
            PerceptionProgram("flow", "patch", (type(step.items[0])(1, (437, 437), word),), grid=1)
            for word in words
        ]
        whole = flow_summary(steps)
        assert len(whole) == 1 + sum(a != b for a, b in pairwise(words))
        try:
            summary = flow_summary(steps, max_tokens=budget)
        except InputError as error:
            assert budget < int(str(error).split("at least ")[1].split(",")[0])
        else:
            assert estimate_tokens(str(summary)) <= budget
            if estimate_tokens(str(whole)) <= budget:
                assert summary == whole

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"max_tokens": 3}, r"max_tokens: expected at least \d+, which 1 segment take, got 3"),
            ({"max_tokens": 0}, "max_tokens: expected an integer"),
            ({"max_tokens": 9, "count": lambda text: "many"}, "count: expected a function"),
            ({"reading": "both"}, "reading: expected direction or mean"),
            ({"still": "no"}, "still: expected a number"),
            ({"grid": 3}, "grid: has no meaning beside flow programs"),
        ],
    )
    def test_bad_input(self, options: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            flow_summary(flow_programs([flow(3)]), **options)
        with pytest.raises(InputError, match="expected flow programs"):
            flow_summary([depth_program(metres(2)), flow(3)])

    def test_pictures_of_different_sizes_have_no_common_pixel(self) -> None:
        large = np.full((16, 32, 2), (3, 0), float)
        with pytest.raises(InputError, match="one size, got 16×16 in step 1 and 32×16 in step 3"):
            flow_summary([flow(3), flow(3), large])

    def test_steps_must_follow_each_other(self) -> None:
        apart = [
            *flow_programs([flow(3)], times=[0, 1], grid=1),
            *flow_programs([flow(3)], times=[5, 6], grid=1),
        ]
        with pytest.raises(InputError, match=r"one to 1\.0 s and then one from 5\.0 s"):
            flow_summary(apart)
        assert flow_summary(apart, times=[0, 1, 2]).items[0].b == "0-2 s"
        by_hand = PerceptionProgram("flow", "patch", apart[0].items, grid=1, meta={"times": 3})
        with pytest.raises(InputError, match="times of the two frames of step 1, got int 3"):
            flow_summary([by_hand])

    def test_any_count_will_do(self) -> None:
        moves = [flow(u) for u in (3, -3) * 8]
        summary = flow_summary(moves, max_tokens=900, count=len)
        assert len(str(summary)) <= 900 and 1 < len(summary) < 16
        assert (
            flow_summary(moves, max_tokens=900, count=lambda text: np.int64(len(text))) == summary
        )


class TestDepthSummary:
    def test_metres(self) -> None:
        rng = np.random.default_rng(0)
        path = [8, 7, 6, 6, 6, 6, 7, 8, 9]
        frames = [metres(d + rng.normal(0, 0.02)) for d in path]
        summary = depth_summary(frames, times=range(9), grid=2)
        assert [(item.c, item.r, item.b) for item in summary.items] == [
            ("whole picture", "nearer", "0-2 s"),
            ("whole picture", "steady", "2-5 s"),
            ("whole picture", "farther", "5-8 s"),
        ]
        change = depth_summary(frames, times=range(9), reading="change", grid=2).items[0].r
        assert change == pytest.approx((8, 6, -1), abs=0.1)

    def test_a_new_rate_is_a_new_segment(self) -> None:
        frames = [metres(d) for d in (20, 19, 18, 17, 13, 9, 5)]
        change = depth_summary(frames, times=range(7), reading="change", grid=1)
        assert [(item.r, item.b) for item in change.items] == [
            ((20, 17, -1), "0-3 s"),
            ((17, 5, -4), "3-6 s"),
        ]
        (word,) = depth_summary(frames, times=range(7), grid=1).items
        assert (word.r, word.b) == ("nearer", "0-6 s")
        near = [DepthMap(np.full((8, 8), v), "normalised") for v in (0.1, 0.2, 0.3, 0.6, 0.9)]
        rates = [item.r for item in depth_summary(near, reading="change", grid=1).items]
        assert rates == [pytest.approx((0.1, 0.3, 0.1)), pytest.approx((0.3, 0.9, 0.3))]

    def test_points_and_boxes(self) -> None:
        field = np.full((40, 40), 4.0)
        frames = []
        for distance in (4, 3, 2):
            field = field.copy()
            field[:20, :20] = distance
            frames.append(field)
        programs = depth_programs(
            frames, kind="metric", units="m", points={"A": (5, 5), "B": (30, 30)}, grid=4
        )
        found = depth_summary(programs)
        assert [(i.c, i.r, i.b) for i in found.items] == [
            ("point A", "nearer", "frames 1-3"),
            ("point B", "steady", "frames 1-3"),
        ]
        cells = depth_programs(frames, kind="metric", units="m", grid=4)
        boxes = {"cup": (0, 0, 500, 500), "wall": (500, 500, 1000, 1000)}
        assert [i.r for i in depth_summary(cells, boxes=boxes).items] == ["nearer", "steady"]
        each = [{"cup": (0, 0, 500, 500)}, {}, {"cup": (500, 0, 1000, 500)}]
        assert [i.r for i in depth_summary(cells, boxes=each).items] == ["steady"]

    def test_relative_frames_have_no_common_scale(self) -> None:
        ramp = np.tile(np.linspace(1, 4, 40), (40, 1))
        maps = [ramp, 2 * ramp, -ramp, -3 * ramp]
        with pytest.raises(InputError, match="relative to each frame alone"):
            depth_summary(maps, kind="relative")
        with pytest.raises(InputError, match="relative to each frame alone"):
            depth_summary([metres(2), metres(3)], units="nearness")
        points = {"A": (5, 5), "B": (30, 5)}
        summary = depth_summary(maps, kind="relative", points=points, times=[0, 1, 2, 3])
        assert [(item.r, item.b) for item in summary.items] == [
            ("B, A", "0-1 s"),
            ("A, B", "2-3 s"),
        ]
        assert "cannot be compared from frame to frame" in str(summary.note)

    def test_budget(self) -> None:
        frames = [metres(d) for d in (8, 4) * 10]
        assert len(depth_summary(frames, grid=1)) == 19
        summary = depth_summary(frames, grid=1, max_tokens=300)
        assert estimate_tokens(str(summary)) <= 300 and 1 <= len(summary) < 19
        assert "merged" in str(summary.note)

    @pytest.mark.parametrize(
        ("frames", "options", "message"),
        [
            ([metres(2)], {}, "at least two, got 1"),
            ([metres(2), metres(3)], {"reading": "word"}, "reading: expected trend or change"),
            ([metres(2), metres(3)], {"boxes": [{}]}, "one for each of 2 frames"),
            ([metres(2), metres(3)], {"boxes": [1, 2]}, "for each frame, got int 1"),
            ([metres(2), metres(3)], {"boxes": {"A": 3}}, r"expected \(x0, y0, x1, y1\) for 'A'"),
            ([metres(2), metres(3)], {"boxes": {"A": (0, 0, 2000, 1)}}, "corners from 0 to 1000"),
            ([metres(2), metres(3)], {"boxes": {}}, "read in two frames"),
        ],
    )
    def test_bad_input(self, frames: Any, options: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            depth_summary(frames, **options)
