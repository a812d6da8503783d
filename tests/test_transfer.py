"""Where a point of one image is in another: planted warps, real matches, and what is refused."""

from __future__ import annotations

import json

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from perception_programs import (
    InputError,
    Matches,
    PerceptionProgram,
    Points,
    correspondence_program,
    points_program,
)
from perception_programs.blink.readers import visual_correspondence
from perception_programs.cli import main
from perception_programs.experts import load
from perception_programs.programs._transfer import transferred

SIZE = (640, 480)


def planted(
    matrix: np.ndarray, count: int = 120, wrong: float = 0.0, noise: float = 0.0, seed: int = 0
) -> Matches:
    """Matches of an image and its picture under a homography, some anywhere at all."""
    rng = np.random.default_rng(seed)
    starts = rng.uniform(0, 1, (6 * count, 2)) * SIZE
    ends = under(matrix, starts) + rng.normal(0, 1, starts.shape) * noise
    seen = ((ends >= 0) & (ends <= SIZE)).all(axis=1)
    starts, ends = starts[seen][:count], ends[seen][:count]
    lost = rng.random(len(ends)) < wrong
    ends[lost] = rng.uniform(0, 1, (int(lost.sum()), 2)) * SIZE
    return Matches(starts, ends, size1=SIZE)


def under(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    mapped = np.c_[points, np.ones(len(points))] @ matrix.T
    return mapped[:, :2] / mapped[:, 2:]


def asked(matrix: np.ndarray, count: int = 25, seed: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Places amid the first image whose picture lies amid the second, and that picture."""
    points = np.random.default_rng(seed).uniform(0.1, 0.9, (20 * count, 2)) * SIZE
    ends = under(matrix, points)
    seen = ((ends > 0) & (ends < SIZE)).all(axis=1)
    return points[seen][:count], ends[seen][:count]


TURNED = np.array([[0.82, -0.5, 170.0], [0.5, 0.82, -100.0], [0.0, 0.0, 1.0]])
SHEARED = np.array([[1.15, 0.2, -60.0], [-0.1, 0.85, 50.0], [0.0, 0.0, 1.0]])
TILTED = np.array([[1.2, 0.1, -40.0], [0.05, 1.1, -20.0], [3e-4, 2e-4, 1.0]])
WARPS = pytest.mark.parametrize("matrix", [TURNED, SHEARED, TILTED])


def errors(matches: Matches, points: np.ndarray, truth: np.ndarray) -> np.ndarray:
    found = [one.place for one in transferred(matches, map(tuple, points))]
    assert None not in found
    return np.hypot(*(np.array(found) - truth).T)


class TestPlanted:
    @pytest.mark.parametrize("matrix", [TURNED, SHEARED])
    def test_an_affine_map_is_found_exactly(self, matrix: np.ndarray) -> None:
        assert errors(planted(matrix), *asked(matrix)).max() < 0.01

    @WARPS
    @pytest.mark.parametrize("wrong", [0, 0.3])
    def test_better_than_the_nearest_match(self, matrix: np.ndarray, wrong: float) -> None:
        matches = planted(matrix, 150, wrong, noise=0.7)
        points, truth = asked(matrix)
        nearest = np.hypot(*(points[:, None] - matches.points1[None]).T).argmin(axis=0)
        moved = points + matches.points2[nearest] - matches.points1[nearest]
        estimated = errors(matches, points, truth)
        for other in (matches.points2[nearest], moved):
            assert np.median(estimated) < np.median(np.hypot(*(other - truth).T)) / 2
        assert np.percentile(estimated, 90) < 6.4  # a hundredth of the longer side

    @settings(max_examples=20, deadline=None)
    @given(st.floats(-3.1, 3.1), st.floats(0.5, 2), st.floats(-0.3, 0.3), st.integers(0, 10**6))
    def test_any_affine_map(self, angle: float, zoom: float, shear: float, seed: int) -> None:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        matrix = np.eye(3)
        matrix[:2, :2] = zoom * turn @ [[1, shear], [0, 1]]
        matrix[:2, 2] = np.array(SIZE) / 2 - matrix[:2, :2] @ (np.array(SIZE) / 2)
        matches = planted(matrix, seed=seed)
        assert errors(matches, *asked(matrix, 5, seed)).max() < 0.05

    @WARPS
    def test_the_spread_bounds_the_error(self, matrix: np.ndarray) -> None:
        matches = planted(matrix, 150, 0.2, noise=1)
        points, truth = asked(matrix)
        found = transferred(matches, map(tuple, points))
        off = [
            np.hypot(*((np.array(one.place) - end) * 1000 / np.array(SIZE)))
            for one, end in zip(found, truth, strict=True)
        ]
        assert np.mean([o <= 3 * one.spread for o, one in zip(off, found, strict=True)]) > 0.9

    def test_the_spread_grows_beyond_the_matches(self) -> None:
        matches = planted(TURNED, 400, noise=1)
        near = matches.points1[:, 0] < 320
        half = Matches(matches.points1[near], matches.points2[near], size1=SIZE)
        amid, beyond = transferred(half, [(200, 240), (420, 240)])
        assert beyond.spread > 2 * amid.spread

    def test_known_outliers_are_left_out(self) -> None:
        matches = planted(TURNED, 60, wrong=0.7, seed=2)
        right = np.hypot(*(under(TURNED, matches.points1) - matches.points2).T) < 1
        assert right.mean() < 0.4
        flagged = Matches(matches.points1, matches.points2, size1=SIZE, inliers=right)
        assert errors(flagged, *asked(TURNED)).max() < 0.1


class TestFew:
    @pytest.mark.parametrize("count", range(2, 12))
    def test_a_shift_of_any_number(self, count: int) -> None:
        starts = np.random.default_rng(count).uniform(100, 200, (count, 2))
        (found,) = transferred(
            Matches(starts, starts + np.array([30, -20]), size1=SIZE), [(150, 150)]
        )
        assert found.place == pytest.approx((180, 130), abs=1e-3)
        assert found.spread == pytest.approx(0, abs=1e-3) and found.share == pytest.approx(1)

    def test_two_that_disagree_say_so(self) -> None:
        matches = Matches([(100, 100), (110, 100)], [(100, 100), (410, 100)], size1=SIZE)
        (found,) = transferred(matches, [(104, 100)])
        assert found.spread > 100

    def test_one(self) -> None:
        (found,) = transferred(Matches([(100, 100)], [(90, 95)], size1=SIZE), [(110, 100)])
        assert (found.place, found.spread, found.share) == ((100, 95), None, None)

    def test_none_near(self) -> None:
        matches = Matches([(10, 10)], [(9, 9)], size1=SIZE)
        far, near = transferred(matches, [(171, 10), (169, 10)])
        assert far.place is None and near.place is not None
        assert transferred(Matches([], [], size1=SIZE), [(1, 1)])[0].place is None

    @settings(max_examples=40, deadline=None)
    @given(
        st.lists(st.tuples(*[st.sampled_from([0, 1, 50, 50.5, 320])] * 4), min_size=1, max_size=25)
    )
    def test_any_matches_give_finite_numbers(self, rows: list[tuple[float, ...]]) -> None:
        points = np.array(rows, np.float32)
        matches = Matches(points[:, :2], points[:, 2:], size1=SIZE)
        for found in transferred(matches, [(0, 0), (50, 50), (330, 40)]):
            assert found.place is None or np.isfinite(found.place).all()
            assert found.spread is None or 0 <= found.spread < np.inf
            assert found.share is None or 0 <= found.share <= 1

    def test_matches_on_a_line_or_a_spot(self) -> None:
        x = np.linspace(100, 300, 30)
        line = np.stack([x, x / 2], axis=1)
        matches = Matches(line, line * 0.8 + 20, size1=SIZE)
        (found,) = transferred(matches, [(200, 110)])
        assert found.place == pytest.approx((180, 108), abs=0.1)
        spot = np.full((30, 2), 50.0)
        (found,) = transferred(Matches(spot, spot + 3, size1=SIZE), [(52, 50)])
        assert found.place == pytest.approx((55, 53))


class TestProgram:
    MATCHES = planted(TURNED, 80, noise=0.5)

    def test_points_after_the_matches(self) -> None:
        program = correspondence_program(self.MATCHES, around={"REF": (300, 200)})
        plain = correspondence_program(self.MATCHES)
        assert program.items[:-1] == plain.items
        ref = program.items[-1]
        x, y = under(TURNED, np.array([[300.0, 200.0]]))[0]
        assert ref.p == "REF" and ref.c == (468, 416)
        assert ref.r == pytest.approx((1000 * x / 640, 1000 * y / 480), abs=3)
        assert ref.b.startswith("spread ") and 1 <= int(ref.b.split()[1]) <= 5
        assert program.note.startswith(plain.note) and "b: the spread" in program.note

    def test_points_alone(self) -> None:
        points = Points.from_dict({"REF": (300, 200), "X": (320, 100)}, SIZE)
        program = correspondence_program(self.MATCHES, around=points, limit=0)
        assert [item.p for item in program.items] == ["REF", "X"]
        assert program.granularity == "point" and program.meta["matches_cut"] == 80
        for style in ("paper", "compact", "json"):
            assert PerceptionProgram.from_text(program.to_text(style)) == program

    def test_the_nearest_are_kept_wrong_ones_last(self) -> None:
        starts = [(10, 10), (50, 50), (40, 40), (52, 50), (100, 100)]
        right = [True, True, True, False, True]
        matches = Matches(starts, starts, size1=(200, 200), inliers=np.array(right))
        program = correspondence_program(matches, around={"A": (51, 50)}, limit=2)
        assert [item.c for item in program.items[:-1]] == [(250, 250), (200, 200)]
        every = correspondence_program(matches, around={"A": (51, 50)}, limit=5)
        assert every.items[4].c == (260, 250) and every.meta["outliers"] == (5,)

    def test_what_cannot_be_seen(self) -> None:
        program = correspondence_program(
            Matches(
                [(10, 10), (20, 20), (10, 30)], [(80, 10), (90, 20), (80, 30)], size1=(100, 400)
            ),
            around={"IN": (25, 20), "OUT": (60, 20), "FAR": (20, 300)},
            limit=0,
        )
        inside, outside, far = program.items
        assert inside.r == (950, 50)
        assert (outside.r, outside.b) == (None, "outside the second image, spread 1")
        assert (far.r, far.b) == (None, None)
        assert program.meta["unread_points"] == 2 and "null: it lies outside" in program.note

    def test_no_matches_at_all(self) -> None:
        empty = Matches([], [], size1=SIZE, threshold=0.2)
        program = correspondence_program(
            empty, around={"REF": (1, 1)}, limit=3, reliability="words"
        )
        assert program.items[0].r is None and "none found" in program.note
        assert "q:" not in program.note

    def test_a_reader_takes_the_point(self) -> None:
        options = {"A": under(TURNED, np.array([[300.0, 200.0]]))[0], "B": (250, 200)}
        letter = visual_correspondence(
            points_program({"REF": (300, 200)}, size=SIZE),
            correspondence_program(self.MATCHES, around={"REF": (300, 200)}),
            points_program({k: tuple(map(float, v)) for k, v in options.items()}, size=SIZE),
        )
        assert letter == "A"

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"limit": 0}, "limit: expected at least 1 match, got 0"),
            ({"limit": -1, "around": {"A": (1, 1)}}, "limit: expected at least 0 matches, got -1"),
            ({"around": {"A": (700, 1)}}, "points: expected 'A' within 640×480"),
            ({"around": [1, 2]}, "around: expected"),
        ],
    )
    def test_what_is_refused(self, options: dict[str, object], said: str) -> None:
        with pytest.raises(InputError, match=said):
            correspondence_program(self.MATCHES, **options)

    def test_on_the_command_line(self, tmp_path, capsys) -> None:
        rows = [[x, y] for x in (10, 30, 50) for y in (10, 40, 70)]
        moved = [[x + 5, y] for x, y in rows]
        data = {"points1": rows, "points2": moved, "size1": [100, 100]}
        file = tmp_path / "matches.json"
        file.write_text(json.dumps(data), encoding="utf-8")
        assert main(f"match {file} --point REF=20,20 --limit 0 --reliability number".split()) == 0
        (ref,) = PerceptionProgram.from_text(capsys.readouterr().out).items
        assert (ref.p, ref.c, ref.r, ref.q) == ("REF", (200, 200), (250, 200), 1)


def test_real_matches() -> None:
    """SIFT's matches of a photograph and its picture under a known homography."""
    import cv2
    from skimage.data import astronaut

    first = np.ascontiguousarray(astronaut()[:480, :480])
    second = cv2.warpPerspective(first, TILTED, SIZE)
    matches = load("sift")(first, second)
    points, truth = asked(TILTED, 60)
    seen = points[:, 0] < 470
    estimated = errors(matches, points[seen], truth[seen])
    assert np.median(estimated) < 2 and np.percentile(estimated, 90) < 8
