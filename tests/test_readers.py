"""Answers read from programs by rule."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import perception_programs as pp
from perception_programs import InputError, Item, PerceptionProgram
from perception_programs.blink import readers


def points(**places: tuple[float, ...]) -> PerceptionProgram:
    return pp.points_program(places, size=(1000, 1000))


def detections(*rows: tuple[str, float, tuple[float, ...]]) -> PerceptionProgram:
    return PerceptionProgram(
        "object-detection",
        "bounding-box",
        tuple(Item(p=n, c=c, r=r, b=b) for n, (b, r, c) in enumerate(rows, 1)),
    )


class TestRelativeDepth:
    NEAR = np.tile(np.linspace(0, 1, 100), (100, 1))

    def test_the_nearest_cell_s_middle_decides(self) -> None:
        depth = pp.depth_program(self.NEAR)
        assert readers.relative_depth(points(A=(100, 500), B=(800, 500), C=(420, 0)), depth) == "B"

    def test_a_tie_is_no_answer(self) -> None:  # not the first option
        depth = pp.depth_program(self.NEAR)
        assert readers.relative_depth(points(A=(800, 100), B=(800, 900)), depth) is None

    def test_a_cell_without_a_reading_is_no_answer(self) -> None:
        near = self.NEAR.copy()
        near[:10, :10] = np.nan
        depth = pp.depth_program(near)
        assert readers.relative_depth(points(A=(10, 10), B=(800, 900)), depth) is None

    def test_the_median_decides_where_it_is_said(self) -> None:
        near = np.zeros((100, 100))
        near[:, 50:] = 0.6
        near[:60, :50] = 0.5
        near[70:90, 10] = 1.0  # widens the range of the left half
        asked = points(A=(300, 500), B=(800, 500))
        ranges, both = (
            pp.depth_program(near, grid=(1, 2), reading=reading)
            for reading in ("range", "range+median")
        )
        assert readers.relative_depth(asked, both) == "B"
        near[:, 50:] = 0.4
        assert readers.relative_depth(asked, pp.depth_program(near, grid=(1, 2))) == "A"
        assert ranges.items[0].r == (0.0, 1.0)

    def test_the_smallest_box_that_holds_the_point(self) -> None:
        depth = PerceptionProgram(
            "depth",
            "patch",
            (
                Item(p="1.1", c=(0, 0, 500, 500), r=(0.1, 0.3)),
                Item(p="1.2", c=(500, 0, 1000, 500), r=(0.5, 0.5)),
                Item(p="all", c=(0, 0, 1000, 1000), r=(0.4, 0.4)),
            ),
        )
        assert readers.relative_depth(points(A=(499, 0), B=(1000, 499)), depth) == "B"
        assert readers.relative_depth(points(A=(499, 0), B=(0, 500)), depth) == "B"
        assert readers.relative_depth(points(A=(500, 500), B=(0, 500)), depth) is None  # one cell

    def test_a_point_of_the_program_itself(self) -> None:
        near = self.NEAR.copy()
        near[50, 30] = near[49:52, 29:32] = 1.0
        places = {"A": (30, 50), "B": (80, 50)}
        asked = pp.points_program(places, size=(100, 100))
        assert readers.relative_depth(asked, pp.depth_program(near, reading="median")) == "B"
        both = pp.depth_program(near, reading="median", points=places)
        alone = pp.depth_program(near, grid=None, points=places)
        assert readers.relative_depth(asked, both) == "A"
        assert readers.relative_depth(asked, alone) == "A"
        other = points(A=(300, 500), Z=(800, 500))
        assert readers.relative_depth(other, both) == "A"
        assert readers.relative_depth(other, alone) is None  # nothing is said about Z

    def test_adaptive(self) -> None:
        near = self.NEAR.copy()
        near[40:60, 20:30] = 0.95
        depth = pp.depth_program(near, grid=8, adaptive=True, reading="median")
        assert readers.relative_depth(points(A=(250, 500), B=(700, 500)), depth) == "A"

    def test_no_points(self) -> None:
        assert readers.relative_depth(points(), pp.depth_program(self.NEAR)) is None

    def test_wrong_programs(self) -> None:
        with pytest.raises(InputError, match="expected a depth program, got 'flow'"):
            readers.relative_depth(points(A=(1, 1)), pp.flow_program(np.ones((20, 20, 2))))
        twice = pp.points_program(
            pp.Points([[1, 1], [2, 2]], labels=("A", "A"), size=(1000, 1000)),
        )
        with pytest.raises(InputError, match="'A' twice"):
            readers.relative_depth(twice, pp.depth_program(self.NEAR))


def test_multi_view_reads_mean_motion_and_gives_asked_points_no_vote() -> None:
    uv = np.zeros((30, 30, 2))
    uv[:, :10, 0], uv[:, 10:, 0] = 5, -5
    right = {letter: (n, 5) for n, letter in enumerate("ABCD")}
    program = pp.flow_program(uv, grid=(1, 3), reading="mean", points=right)
    assert readers.multi_view(program) == "A"
    assert readers.multi_view(pp.flow_program(uv, grid=None, points=right)) == "B"


def test_multi_view_takes_the_majority() -> None:
    uv = np.ones((20, 20, 2))
    uv[:, :15, 0] = -1
    program = pp.flow_program(uv, grid=(4, 4))
    assert readers.multi_view(program) == "A"
    assert readers.multi_view(program, {"right": "A", "left": "B"}) == "B"
    uv[:, 10:, 0] = 1
    assert readers.multi_view(pp.flow_program(uv, grid=(4, 4))) is None
    unread = PerceptionProgram("flow", "patch", (Item(p=1, c=(5, 5)),))
    assert readers.multi_view(unread) is None


def test_jigsaw_takes_the_larger_mean() -> None:
    def program(*readings: tuple[str, str, float]) -> PerceptionProgram:
        return PerceptionProgram(
            "jigsaw", "border", tuple(Item(p=p, i=i, r=r) for i, p, r in readings)
        )

    rows = ("A", "left", 0.9), ("A", "top", 0.1), ("B", "left", 0.6), ("B", "top", 0.6)
    assert readers.jigsaw(program(*rows)) == "B"
    assert readers.jigsaw(program(("A", "top", 0.5), ("B", "top", 0.5))) is None
    assert readers.jigsaw(program()) is None


def test_semantic_takes_the_largest() -> None:
    def program(**scores: float | None) -> PerceptionProgram:
        return PerceptionProgram(
            "semantic", "point", tuple(Item(p=k, r=v) for k, v in scores.items())
        )

    assert readers.semantic(program(A=-0.5, B=-0.2, C=-0.9)) == "B"
    assert readers.semantic(program(A=0.5, B=0.5)) is None
    assert readers.semantic(program(A=0.5, B=None)) is None


class TestCorrespondence:
    MATCHES = pp.correspondence_program(
        pp.Matches([[100, 100], [800, 800]], [[300, 300], [500, 500]], size1=(1000, 1000))
    )
    OPTIONS = points(A=(120, 120), B=(310, 310), C=(600, 600))

    def test_oracle_and_naive(self) -> None:
        reference = points(REF=(110, 120))
        assert readers.visual_correspondence(reference, self.MATCHES, self.OPTIONS) == "B"
        assert readers.naive_correspondence(reference, self.OPTIONS) == "A"

    def test_nothing_to_go_by(self) -> None:
        none = pp.correspondence_program(pp.Matches([], [], size1=(1000, 1000)))
        reference = points(REF=(110, 120))
        assert readers.visual_correspondence(reference, none, self.OPTIONS) is None
        assert readers.naive_correspondence(reference, points(A=(100, 120), B=(120, 120))) is None
        with pytest.raises(InputError, match="one reference point, got 2"):
            readers.naive_correspondence(points(A=(1, 1), B=(2, 2)), self.OPTIONS)


class TestLocalisation:
    BOXES = points(A=(0, 0, 400, 400), B=(100, 100, 500, 500))

    def test_larger_overlap(self) -> None:
        found = detections(("dog", 0.9, (0, 0, 100, 100)), ("Cat ", 0.8, (120, 110, 500, 480)))
        assert readers.localisation(self.BOXES, found, "cat") == "B"
        assert readers.localisation(self.BOXES, found, "dog") == "A"

    def test_surest_detection_counts(self) -> None:
        found = detections(("cat", 0.5, (0, 0, 400, 400)), ("cat", 0.6, (100, 100, 500, 500)))
        assert readers.localisation(self.BOXES, found, "cat") == "B"

    def test_none(self) -> None:
        assert readers.localisation(self.BOXES, detections(), "cat") is None
        far = detections(("cat", 0.5, (900, 900, 950, 950)))
        assert readers.localisation(self.BOXES, far, "cat") is None
        tie = detections(("cat", 0.5, (100, 100, 400, 400)))
        assert readers.localisation(self.BOXES, tie, "cat") is None


def test_real_jigsaws_are_all_read_right(shared_data: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(shared_data / "blink/Jigsaw/val-00000-of-00001.parquet").to_pylist()
    wrong = []
    for row in rows:
        image, a, b = (row[f"image_{n}"]["bytes"] for n in (1, 2, 3))
        program = PerceptionProgram.from_text(str(pp.jigsaw_program(image, {"A": a, "B": b})))
        if f"({readers.jigsaw(program)})" != row["answer"]:
            wrong.append(row["idx"])
    assert len(rows) == 75
    assert wrong == []


def test_the_reader_s_ceiling_on_true_depth(
    motorcycle: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """A finer grid answers more of the questions about five random points."""
    disparity = motorcycle[2]
    height, width = disparity.shape
    rng = np.random.default_rng(0)
    ys, xs = np.nonzero(np.isfinite(disparity))
    spread = np.nanmax(disparity) - np.nanmin(disparity)
    programs = [
        pp.depth_program(disparity, kind="relative", grid=n, relations=False) for n in (10, 32)
    ]
    right, asked = [0, 0], 0
    while asked < 60:
        chosen = rng.choice(len(ys), 5, replace=False)
        values = disparity[ys[chosen], xs[chosen]]
        first, second = np.sort(values)[::-1][:2]
        if first - second < 0.02 * spread:
            continue
        asked += 1
        marked = {"ABCDE"[n]: (xs[i], ys[i]) for n, i in enumerate(chosen)}
        program = pp.points_program(marked, size=(width, height))
        answer = "ABCDE"[int(np.argmax(values))]
        for n, depth in enumerate(programs):
            right[n] += readers.relative_depth(program, depth) == answer
    assert math.isclose(right[0] / asked, 0.54, abs_tol=0.2)
    assert right[0] < right[1]
