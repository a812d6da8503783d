"""Which pairs agree with one geometry of the two views, and how `Matches` carry it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perception_programs import InputError, Matches
from perception_programs.experts import load
from perception_programs.experts._epipolar import Verification, agreeing

Points = tuple[np.ndarray, np.ndarray, np.ndarray]


def two_views(flat: bool = False, right: int = 80, wrong: int = 30) -> Points:
    """Points of a scene as two cameras see them, then pairs at random; and which are which."""
    rng = np.random.default_rng(0)
    spots = rng.uniform((-2, -1.5, 4), (2, 1.5, 9), (right, 3))
    if flat:
        spots[:, 2] = 6 + spots[:, 0]
    turn, shift = np.deg2rad(12), np.array([-1.5, 0.2, 0.4])
    rotation = np.array(
        [[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]]
    )
    views = []
    for seen in (spots, spots @ rotation.T + shift):
        points = 500 * seen[:, :2] / seen[:, 2:] + (320, 240)
        random = rng.uniform((0, 0), (640, 480), (wrong, 2))
        views.append(np.concatenate([points, random]).astype(np.float32))
    return views[0], views[1], np.arange(right + wrong) < right


@pytest.mark.parametrize(("flat", "geometry"), [(False, "epipolar"), (True, "homography")])
def test_right_pairs_agree_and_wrong_ones_do_not(flat: bool, geometry: str) -> None:
    first, second, right = two_views(flat)
    flags = agreeing(first, second, tolerance=2.0, geometry=geometry)
    assert flags.dtype == np.bool_ and flags[right].mean() >= 0.95
    # One in many random pairs happens to lie near its epipolar line.
    assert flags[~right].mean() <= (0.2 if geometry == "epipolar" else 0.0)
    assert (flags == agreeing(first, second, tolerance=2.0, geometry=geometry)).all()


@pytest.mark.parametrize("geometry", ["epipolar", "homography"])
@pytest.mark.parametrize("count", [0, 1, 7, 8, 40])
def test_pairs_that_determine_nothing(geometry: str, count: int) -> None:
    rng = np.random.default_rng(1)
    line = np.stack([np.arange(count), np.arange(count)], axis=1)
    for points in (np.zeros((count, 2)), line, rng.uniform(0, 99, (count, 2))):
        flags = agreeing(points, points[::-1], tolerance=1.0, geometry=geometry)
        assert flags.shape == (count,)
        assert count >= 8 or not flags.any()


def test_verification_options() -> None:
    first, second, _ = two_views()
    assert Verification(None, 2.0)(first, second) is None
    assert Verification("epipolar", 2.0)(first, second).sum() > 70
    with pytest.raises(InputError, match="verify: expected 'epipolar', 'homography' or None"):
        Verification("magsac", 2.0)
    for tolerance in (0, -1, float("nan")):
        with pytest.raises(InputError, match="tolerance: expected a positive"):
            Verification("epipolar", tolerance)


def test_sift_says_that_its_pairs_agree(motorcycle: Points) -> None:
    left, right, _ = (image[:200, :300] for image in motorcycle)
    matches = load("sift")(left, right)
    assert len(matches) > 20 and matches.inliers.all()
    assert len(load("sift")(left, np.zeros_like(right)).inliers) == 0


class TestInliers:
    POINTS = ((1.0, 2.0), (3.0, 4.0))

    def matches(self, inliers: Any) -> Matches:
        return Matches(self.POINTS, self.POINTS, size1=(10, 10), inliers=inliers)

    def test_absent_by_default(self) -> None:
        assert self.matches(None).inliers is None

    @pytest.mark.parametrize("form", [list, tuple, np.array])
    def test_forms(self, form: Any) -> None:
        inliers = self.matches(form([True, False])).inliers
        assert inliers.dtype == np.bool_ and inliers.tolist() == [True, False]
        assert not inliers.flags.writeable

    def test_none_of_none(self) -> None:
        assert len(Matches([], [], size1=(5, 5), inliers=[]).inliers) == 0

    @pytest.mark.parametrize("wrong", [[True], [1, 0], [0.5, 0.5], True, [[True, False]], "ab"])
    def test_refused(self, wrong: Any) -> None:
        with pytest.raises(InputError, match="inliers: expected 2 booleans"):
            self.matches(wrong)
