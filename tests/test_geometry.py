"""The frame, the grid and the statistics of its cells."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception_programs import Grid, InputError
from perception_programs.geometry import (
    cell_medians,
    cell_statistics,
    denormalise,
    feature_peak,
    neighbours,
    normalise,
    normalise_box,
    to_size,
)

sizes = st.tuples(st.integers(1, 300), st.integers(1, 300))


@st.composite
def sizes_and_grids(draw: st.DrawFn) -> tuple[tuple[int, int], Grid]:
    width, height = draw(sizes)
    return (width, height), Grid(
        draw(st.integers(1, min(height, 24))), draw(st.integers(1, min(width, 24)))
    )


@given(sizes_and_grids())
def test_cells_partition_the_image(case: tuple[tuple[int, int], Grid]) -> None:
    (width, height), grid = case
    covered = np.zeros((height, width), int)
    boxes = list(grid.boxes((width, height)))
    for x0, y0, x1, y1 in boxes:
        covered[y0:y1, x0:x1] += 1
    assert (covered == 1).all()
    assert len(boxes) == grid.count


@given(sizes_and_grids())
def test_centres_lie_in_their_cells_and_in_the_frame(case: tuple[tuple[int, int], Grid]) -> None:
    size, grid = case
    for (x, y), (x0, y0, x1, y1) in zip(grid.centres(size), grid.boxes(size), strict=True):
        assert 0 <= x <= 1000 and 0 <= y <= 1000
        assert math.floor(1000 * x0 / size[0]) <= x <= math.floor(1000 * (x1 - 1) / size[0])
        assert math.floor(1000 * y0 / size[1]) <= y <= math.floor(1000 * (y1 - 1) / size[1])


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), sizes)
def test_normalised_coordinates_stay_in_the_frame(
    x: float, y: float, size: tuple[int, int]
) -> None:
    assert all(0 <= n <= 1000 and isinstance(n, int) for n in normalise(x, y, size))


@given(st.data(), sizes)
def test_normalising_is_exact_for_pixels(data: st.DataObject, size: tuple[int, int]) -> None:
    x = data.draw(st.integers(0, size[0]))
    assert normalise(x, 0, size)[0] == 1000 * x // size[0]
    back, _ = denormalise(*normalise(x, 0, size), size)
    assert back <= x < back + size[0] / 1000 + 1e-9


def test_first_cell_of_a_336_pixel_side_is_at_47() -> None:
    assert Grid.of(10).centres((336, 336))[0] == (47, 47)


@given(st.integers(1, 12), st.integers(1, 12))
def test_neighbours_are_each_pair_once(rows: int, cols: int) -> None:
    pairs = list(neighbours(Grid(rows, cols)))
    assert len(pairs) == len({frozenset(pair) for pair in pairs}) == 2 * rows * cols - rows - cols
    assert pairs == sorted(pairs)
    for a, b in pairs:
        assert b - a in (1, cols)


@st.composite
def fields(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray | None, Grid]:
    (width, height), grid = draw(sizes_and_grids())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    field = rng.normal(draw(st.sampled_from([0.0, 0.5, 1000.0])), 1, (height, width)).astype(
        np.float32
    )
    if draw(st.booleans()):
        field[rng.random((height, width)) < 0.3] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    mask = rng.random((height, width)) < 0.6 if draw(st.booleans()) else None
    return field, mask, grid


@settings(max_examples=60, deadline=None)
@given(fields())
def test_statistics_equal_those_of_each_cell(
    case: tuple[np.ndarray, np.ndarray | None, Grid],
) -> None:
    field, mask, grid = case
    height, width = field.shape
    found = cell_statistics(field, grid, mask)
    valid = np.isfinite(field) if mask is None else np.isfinite(field) & mask
    for cell, (x0, y0, x1, y1) in enumerate(grid.boxes((width, height))):
        values = field[y0:y1, x0:x1][valid[y0:y1, x0:x1]].astype(np.float64)
        low, high, mean, count = (
            s.ravel()[cell] for s in (found.min, found.max, found.mean, found.count)
        )
        assert count == len(values)
        if count == 0:
            assert math.isnan(low) and math.isnan(high) and math.isnan(mean)
            continue
        assert (low, high) == (values.min(), values.max())
        assert mean == pytest.approx(values.mean(), rel=1e-6, abs=1e-6)


def test_mean_of_a_large_map_is_exact_to_a_millionth() -> None:
    rng = np.random.default_rng(0)
    field = rng.random((2160, 3840), np.float32)
    found = cell_statistics(field, Grid(2, 3))
    exact = field.reshape(2, 1080, 3, 1280).mean(axis=(1, 3), dtype=np.float64)
    assert np.abs(found.mean - exact).max() < 1e-6


def test_medians_leave_out_what_is_not_finite() -> None:
    field = np.array([[1, 2, np.nan, np.nan], [3, np.inf, np.nan, np.nan]], np.float32)
    medians, count = cell_medians(field, Grid(1, 2))
    assert medians[0, 0] == 2 and math.isnan(medians[0, 1])
    assert count.tolist() == [[3, 0]]


def test_grid_finer_than_the_image_is_refused() -> None:
    with pytest.raises(InputError, match=r"10 rows × 10 columns for an image of 8×20 pixels"):
        Grid.of(10).edges((8, 20))


@pytest.mark.parametrize("value", [0, -1, "10", 2.5, (3,), (1, 2, 3), None, (0, 4), True])
def test_what_is_no_grid_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="grid: expected"):
        Grid.of(value)


def test_grids_from_numpy_numbers() -> None:
    assert Grid.of(np.int64(4)) == Grid.of((4, 4)) == Grid.of([np.int32(4), 4]) == Grid(4, 4)


@pytest.mark.parametrize("value", [None, 5, (0, 3), (3, -1), (1.5, 2), "ab", (1, 2, 3)])
def test_what_is_no_size_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="size: expected"):
        to_size(value)


def test_boxes_normalise_by_corner() -> None:
    assert normalise_box([0, 0, 640, 480], (640, 480)) == (0, 0, 1000, 1000)
    with pytest.raises(InputError, match="finite"):
        normalise_box([0, 0, math.nan, 1], (640, 480))


def test_a_peak_is_at_its_cell_s_centre() -> None:  # FAULTS 14
    similarity = np.zeros((32, 32))
    similarity[10, 5] = 1
    assert feature_peak(similarity, (512, 512)) == (88.0, 168.0)


def test_a_flat_map_has_no_peak() -> None:  # FAULTS 14
    assert feature_peak(np.full((32, 32), 0.7), (512, 512)) is None
    twice = np.zeros((4, 4))
    twice[0, 0] = twice[3, 3] = 1
    assert feature_peak(twice, (64, 64)) is None
    with pytest.raises(InputError, match="finite"):
        feature_peak(np.full((2, 2), np.nan), (64, 64))
