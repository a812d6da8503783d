"""Depth: what cells read, points that are asked about, and how surely."""

from __future__ import annotations

from typing import ClassVar

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from perception_programs import (
    DepthMap,
    InputError,
    PerceptionProgram,
    Points,
    Segmentation,
    depth_program,
)
from perception_programs.programs._points import asked_points, disc_pixels, ranks
from perception_programs.tokens import estimate_tokens

RAMP = np.tile(np.linspace(0, 1, 100, dtype=np.float32), (60, 1))


class TestReadings:
    def test_each_in_nearness(self) -> None:
        near = RAMP.copy()
        near[:6, :4] = 1.0
        low, median, high = depth_program(near, grid=(5, 5), reading="range+median").items[0].r
        assert depth_program(near, grid=(5, 5)).items[0].r == (low, high) == (0.0, 1.0)
        assert depth_program(near, grid=(5, 5), reading="median").items[0].r == median
        assert median == pytest.approx(float(np.median(near[:12, :20])), abs=1e-6)

    def test_metres_are_measured_as_metres(self) -> None:
        metres = np.array([[1.0, 2.0, 4.0, np.nan]])
        program = depth_program(
            metres, kind="metric", grid=1, units="m", reading="range+median", reliability="number"
        )
        assert program.items[0].r == (1.0, 2.0, 4.0) and program.items[0].q == 0.75
        assert "[smallest, median, largest] distance" in program.note

    def test_a_constant_map(self) -> None:
        program = depth_program(
            np.full((9, 9), 3.0), kind="relative", grid=3, reading="range+median"
        )
        assert {item.r for item in program.items} == {(0.5, 0.5, 0.5)}

    def test_masks_are_left_out_of_medians(self) -> None:
        near, mask = np.zeros((4, 4)), np.ones((4, 4), bool)
        near[:, 2:] = 0.5
        mask[:, :2] = False
        mask[0, 2:] = False
        program = depth_program(
            near, kind="normalised", mask=mask, grid=(1, 2), reading="median", reliability="words"
        )
        assert [(item.r, item.q) for item in program.items] == [(None, "doubtful"), (0.5, "fair")]
        assert "null: nothing" in program.note and "fair from 0.5" in program.note

    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 2**32 - 1), st.sampled_from(["normalised", "relative", "metric"]))
    def test_the_median_lies_in_the_range(self, seed: int, kind: str) -> None:
        random = np.random.default_rng(seed)
        near = random.random((13, 17)).astype(np.float32)
        near[random.random(near.shape) < 0.4] = np.nan
        near[0, 0] = 0.5
        program = depth_program(near, kind=kind, grid=4, reading="range+median")
        assert PerceptionProgram.from_text(str(program)) == program.rounded()
        for item in program.items:
            assert item.r is None or item.r[0] <= item.r[1] <= item.r[2]

    def test_refused(self) -> None:
        for options, said in (
            ({"reading": "mean"}, "reading: expected range, median"),
            ({"reading": None}, "reading: expected"),
            ({"reading": ["range"]}, "reading: expected"),
            ({"split": "wide"}, "split: expected a number"),
            ({"units": "m"}, "metric map"),
            ({"reliability": "yes"}, "reliability: expected"),
            ({"grid": None}, "grid: expected"),
        ):
            with pytest.raises(InputError, match=said):
                depth_program(RAMP, **options)


class TestPoints:
    PLACES: ClassVar = {"A": (10, 30), "B": (90, 30), "C": (50, 5), "D": (50, 55)}

    def test_alone(self) -> None:
        program = depth_program(RAMP, grid=None, points=self.PLACES)
        assert (program.granularity, program.grid) == ("point", None)
        assert [item.p for item in program.items] == list("ABCD")
        assert [item.b for item in program.items] == [f"rank {n} of 4" for n in (4, 1, 2, 2)]
        assert program.items[0].r == pytest.approx(10 / 99, abs=1e-6)
        assert program.items[0].c == (100, 500)
        pairs = [(r.subject, r.object) for r in program.relations]
        assert pairs == [("B", "C"), ("B", "D"), ("B", "A"), ("C", "A"), ("D", "A")]
        assert PerceptionProgram.from_text(str(program)) == program.rounded()
        short = depth_program(RAMP, grid=None, points=self.PLACES, relations=False)
        assert estimate_tokens(short.to_text("compact")) < 170

    def test_after_cells(self) -> None:
        points = Points.from_dict(self.PLACES, (100, 60))
        program = depth_program(RAMP, grid=2, points=points, tau=0.6, reliability="number")
        assert [item.p for item in program.items] == [1, 2, 3, 4, *"ABCD"]
        assert [(r.subject, r.object) for r in program.relations] == [("B", "A")]
        assert program.granularity == "patch" and program.items[-1].q == 1.0
        cells = depth_program(RAMP, grid=2, tau=0.6)
        assert program.items[0].r == cells.items[0].r

    def test_labels_stand_before_the_rank(self) -> None:
        labels = Segmentation((RAMP > 0.5).astype(int), ["wall", "chair"])
        program = depth_program(RAMP, grid=None, points={"A": (90, 9)}, labels=labels)
        assert program.items[0].b == "chair, rank 1 of 1"

    def test_an_unread_point_has_no_rank(self) -> None:
        near = RAMP.copy()
        near[:20, :20] = np.nan
        program = depth_program(
            near, grid=None, points={"A": (5, 5), "B": (50, 50)}, reliability="number"
        )
        first, second = program.items
        assert (first.r, first.b, first.q) == (None, None, 0.0)
        assert second.b == "rank 1 of 1" and "null:" in program.note
        assert program.meta["unread_points"] == 1 and not program.relations

    def test_a_disc_outvotes_a_stray_pixel(self) -> None:
        near = np.full((50, 50), 0.25)
        near[20, 20] = 1.0
        assert depth_program(near, grid=None, points={"A": (20, 20)}).items[0].r == 0.25

    def test_metres(self) -> None:
        metres = np.where(RAMP > 0.5, 2.0, 8.0)
        program = depth_program(
            metres, kind="metric", units="m", grid=None, points={"A": (9, 9), "B": (90, 9)}
        )
        assert [(item.r, item.b) for item in program.items] == [
            (8.0, "rank 2 of 2"),
            (2.0, "rank 1 of 2"),
        ]

    def test_a_map_of_another_size(self) -> None:
        depth = DepthMap(RAMP, size=(1000, 600))
        program = depth_program(depth, grid=None, points={"A": (105, 300), "B": (1000, 600)})
        assert program.items[0].r == pytest.approx(10 / 99, abs=1e-6)
        assert program.items[1].c == (1000, 1000) and program.items[1].r == 1.0

    def test_numbers_will_do_without_cells(self) -> None:
        program = depth_program(RAMP, grid=None, points={"1": (1, 2), "2.1": (90, 2)})
        assert [item.p for item in program.items] == ["1", "2.1"]
        assert PerceptionProgram.from_text(program.to_text("compact")).items[1].p == "2.1"

    def test_fewer_relations(self) -> None:
        program = depth_program(RAMP, grid=None, points=self.PLACES, relations=1)
        assert [(r.subject, r.object) for r in program.relations] == [("B", "A")]
        assert program.meta["relations_cut"] == 4
        assert not depth_program(RAMP, grid=None, points=self.PLACES, relations=False).relations

    @pytest.mark.parametrize(
        ("points", "said"),
        [
            ({"A": (200, 5)}, "within 100×60"),
            ({}, "at least one point"),
            ({"A": (1, 2, 3, 4)}, "got boxes"),
            ({" ": (1, 2)}, "each letter once"),
            (
                {"17.3": (1, 2)},
                "a letter beside cells, got '17.3', .* grid=None leaves the cells out",
            ),
            ("A", "letter: "),
            (Points.from_dict({"A": (1, 2)}, (50, 60)), "of an image of 100×60"),
            (Points([[1, 1], [2, 2]], labels=("A", "A"), size=(100, 60)), "each letter once"),
        ],
    )
    def test_refused(self, points: object, said: str) -> None:
        with pytest.raises(InputError, match=said):
            depth_program(RAMP, points=points)

    def test_only_a_few_pixels_are_taken_from_a_tensor(self) -> None:
        torch = pytest.importorskip("torch")
        program = depth_program(torch.tensor(RAMP), grid=None, points=self.PLACES)
        assert program == depth_program(RAMP, grid=None, points=self.PLACES)
        plain = depth_program(torch.tensor(RAMP), grid=4, reading="range+median", adaptive=True)
        assert plain == depth_program(RAMP, grid=4, reading="range+median", adaptive=True)


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.tuples(st.integers(1, 80), st.integers(1, 80)),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
    st.floats(0, 12),
)
def test_discs(
    shape: tuple[int, int], size: tuple[int, int], share: tuple[float, float], radius: float
) -> None:
    place = (share[0] * size[0], share[1] * size[1])
    rows, columns = disc_pixels(shape, place, size, radius)
    y, x = np.mgrid[: shape[0], : shape[1]]
    across = (x + 0.5) * size[0] / shape[1] - 0.5 - place[0]
    down = (y + 0.5) * size[1] / shape[0] - 0.5 - place[1]
    away = np.hypot(across, down)
    found = np.zeros(shape, bool)
    found[rows, columns] = True
    assert found.any() and len(rows) == found.sum()
    assert away[found].min() == pytest.approx(away.min())
    sure = np.abs(away - radius) > 1e-6
    wanted = (away <= radius) if (away <= radius).any() else away <= away.min() + 1e-9
    assert (found == wanted)[sure & (np.abs(away - away.min()) > 1e-6)].all()


def test_asked_points_keep_their_order_and_decimals() -> None:
    points = asked_points({"B": (1.1, 2), "A": (3, 4.7)}, (10, 10))
    assert list(points.items()) == [("B", (1.1, 2.0)), ("A", (3.0, 4.7))]


def test_ranks_are_shared() -> None:
    assert ranks({"A": 1.0, "B": 1.0, "C": 0.0, "D": None}) == {"A": 1, "B": 1, "C": 3}
