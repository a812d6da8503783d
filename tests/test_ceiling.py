"""The ceiling of relative depth by grid."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perception_programs import DepthMap, InputError
from perception_programs.blink.ceiling import accuracy_by_grid, point_questions
from perception_programs.geometry import Grid


@pytest.fixture(scope="module")
def truth(motorcycle: tuple[np.ndarray, np.ndarray, np.ndarray]) -> DepthMap:
    return DepthMap(motorcycle[2], kind="relative")


class TestQuestions:
    def test_the_nearest_is_nearest_beyond_doubt(self, truth: DepthMap) -> None:
        near = np.asarray(truth.nearness())
        answers = set()
        for question in point_questions(truth, 200, seed=1, gap=0.05):
            values = {letter: near[y, x] for letter, (x, y) in question.points.items()}
            assert list(values) == list("ABCDE") and np.isfinite(list(values.values())).all()
            second, first = sorted(values.values())[-2:]
            assert first - second >= 0.05 and values[question.answer] == first
            answers.add(question.answer)
        assert answers == set("ABCDE")

    def test_seeded(self, truth: DepthMap) -> None:
        first, again, other = (point_questions(truth, 20, seed=s) for s in (3, 3, 4))
        assert first == again and first != other

    def test_more_questions_begin_with_the_fewer(self, truth: DepthMap) -> None:
        assert point_questions(truth, 5, seed=0) == point_questions(truth, 20, seed=0)[:5]

    @pytest.mark.parametrize(
        ("values", "options", "said"),
        [
            (np.full((20, 20), 0.5), {}, "found 0 in 3000 draws"),
            (np.array([[0.1, np.nan], [np.nan, 0.9]]), {}, "at least 5 valid pixels, got 2"),
            (np.eye(9), {"points": 1}, "points: expected 2 to 26, got 1"),
            (np.eye(9), {"gap": 0}, "gap: expected a share"),
        ],
    )
    def test_maps_without_questions(
        self, values: np.ndarray, options: dict[str, float], said: str
    ) -> None:
        with pytest.raises(InputError, match=said):
            point_questions(DepthMap(values), 3, seed=0, **options)


class TestAccuracy:
    @pytest.mark.parametrize(
        ("n", "grids"),
        [(200, (10, 32)), pytest.param(1000, (10, 16, 32), marks=pytest.mark.slow)],
    )
    def test_the_published_reading(self, truth: DepthMap, n: int, grids: tuple[int, ...]) -> None:
        # What a sketch on the array itself gave for 1,000 questions of its own.
        sketch = {10: (0.54, 0.67), 16: (0.61, 0.78), 32: (0.78, 0.87)}
        error = math.sqrt(0.25 / n + 0.25 / 1000)  # of the difference of two samples, at most
        for found in accuracy_by_grid(truth, grids, n=n, seed=0):
            assert found.n == n
            for right, share in zip(
                (found.middles, found.means), sketch[found.grid.rows], strict=True
            ):
                assert abs(right / n - share) < 2 * error

    def test_a_cell_a_pixel_misses_nothing(self) -> None:
        ramp = DepthMap(np.random.default_rng(0).permutation(400).reshape(20, 20) / 399)
        (found,) = accuracy_by_grid(ramp, [(20, 20)], n=100)
        assert (found.grid, found.middles, found.means) == (Grid(20, 20), 100, 100)

    def test_one_cell_decides_nothing(self) -> None:
        (found,) = accuracy_by_grid(DepthMap(np.eye(20) * 0.5), [1], n=20, points=2)
        assert (found.middles, found.means) == (0, 0)

    def test_a_map_of_another_size(self) -> None:
        with pytest.raises(InputError, match="a map of its source's size, 80×80"):
            accuracy_by_grid(DepthMap(np.eye(40), size=(80, 80)), [10])
