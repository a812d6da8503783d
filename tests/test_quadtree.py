"""Adaptive grids: what they cover, what they cost, and that they are no worse than plain ones."""

from __future__ import annotations

import time

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from perception_programs import DepthMap, Grid, InputError, PerceptionProgram, depth_program
from perception_programs.geometry import normalise
from perception_programs.programs._depth_cells import middle_of
from perception_programs.programs._quadtree import (
    adaptive_cells,
    base_boxes,
    mean_error,
    pixels_of,
    touching,
)


@st.composite
def maps(draw: st.DrawFn) -> np.ndarray:
    """Ramps with boxes before them, noise, and holes."""
    height, width = draw(st.integers(1, 60)), draw(st.integers(1, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    near = np.linspace(0, 0.5, width)[None] + np.zeros((height, 1))
    for _ in range(draw(st.integers(0, 4))):
        x, y = random.integers(0, width), random.integers(0, height)
        near[y : y + height // 3 + 1, x : x + width // 3 + 1] = random.random()
    near = near + draw(st.sampled_from([0, 0, 0.02, 0.5])) * random.random(near.shape)
    near[random.random(near.shape) < draw(st.sampled_from([0, 0, 0.3, 0.95]))] = np.nan
    if np.isnan(near).all():
        near[0, 0] = 0.5
    return near.astype(np.float32)


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, Grid]:
    near = draw(maps())
    rows = draw(st.integers(1, min(8, near.shape[0])))
    return near, Grid(rows, draw(st.integers(1, min(8, near.shape[1]))))


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(["range", "median"]), st.sampled_from([0.0, 0.05, 0.3]))
def test_it_is_a_partition_within_the_budget_and_no_worse(
    case: tuple[np.ndarray, Grid], reading: str, split: float
) -> None:
    near, grid = case
    height, width = near.shape
    middle = middle_of(reading)
    base, cells = adaptive_cells(near, grid, middle, split)
    assert base.count <= len(cells) <= grid.count
    times = np.zeros(near.shape, int)
    for cell in cells:
        x0, y0, x1, y1 = pixels_of(cell.box, (width, height))
        assert x0 < x1 and y0 < y1  # never below one pixel
        times[y0:y1, x0:x1] += 1
    assert (times == 1).all()
    boxes = [cell.box for cell in cells]
    assert sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in boxes) == 1_000_000
    plain = mean_error(near, base_boxes(grid), middle)
    assert mean_error(near, boxes, middle) <= plain


@settings(max_examples=40, deadline=None)
@given(cases())
def test_names_say_boxes(case: tuple[np.ndarray, Grid]) -> None:
    base, cells = adaptive_cells(*case, middle_of("median"), 0.05)
    assert [c.name for c in cells] == sorted(
        (c.name for c in cells), key=lambda name: [int(n) for n in str(name).split(".")]
    )
    for cell in cells:
        number, *quarters = (int(n) for n in str(cell.name).split("."))
        assert isinstance(cell.name, str) == bool(quarters)
        x0, y0, x1, y1 = base_boxes(base)[number - 1]
        for quarter in quarters:
            x, y = (x0 + x1) // 2, (y0 + y1) // 2
            x0, x1 = (x0, x) if quarter % 2 else (x, x1)
            y0, y1 = (y0, y) if quarter < 3 else (y, y1)
        assert cell.box == (x0, y0, x1, y1)


@given(st.integers(1, 4000), st.integers(1, 40))
def test_a_pixel_lies_where_its_place_in_the_frame_does(width: int, columns: int) -> None:
    boxes = base_boxes(Grid(1, columns))
    for box in boxes:
        x0, _, x1, _ = pixels_of(box, (width, 1))
        for x in {x0, x1 - 1} if x0 < x1 else ():
            assert box[0] <= normalise(x, 0, (width, 1))[0] < box[2]
    ends = [pixels_of(box, (width, 1)) for box in boxes]
    assert [end[0] for end in ends] == [0, *(end[2] for end in ends[:-1])] and ends[-1][2] == width


@settings(max_examples=30, deadline=None)
@given(cases())
def test_touching_cells_are_those_with_pixels_side_by_side(case: tuple[np.ndarray, Grid]) -> None:
    near, grid = case
    _, cells = adaptive_cells(near, grid, middle_of("range"), 0.0)
    owner = np.zeros(near.shape, int)
    for n, cell in enumerate(cells):
        x0, y0, x1, y1 = pixels_of(cell.box, (near.shape[1], near.shape[0]))
        owner[y0:y1, x0:x1] = n
    beside = set()
    for first, second in ((owner[:, :-1], owner[:, 1:]), (owner[:-1], owner[1:])):
        pairs = np.stack([first.ravel(), second.ravel()], axis=1)
        beside |= {(min(a, b), max(a, b)) for a, b in pairs.tolist() if a != b}
    assert beside <= set(touching([cell.box for cell in cells]))


def test_detail_is_where_it_is_needed() -> None:
    near = np.full((120, 120), 0.2, np.float32)
    near[70:90, 75:95] = 0.9
    program = depth_program(near, grid=6, adaptive=True)
    assert len(program) <= 36
    sizes = {str(item.p): item.c[2] - item.c[0] for item in program.items}
    least = min(sizes.values())
    small = [item for item in program.items if item.c[2] - item.c[0] == least]
    assert all(item.c[0] >= 500 and item.c[1] >= 500 for item in small)


def test_the_program() -> None:
    near = np.full((100, 150), 0.25)
    near[:50, :30] = 0.75
    labels = (near > 0.5).astype(int)
    program = depth_program(
        near,
        grid=(4, 6),
        adaptive=True,
        reading="range+median",
        labels=labels,
        reliability="number",
    )
    assert PerceptionProgram.from_text(str(program)) == program.rounded()
    assert PerceptionProgram.from_json(program.to_json()) == program
    assert program.granularity == "patch" and program.meta["adaptive"] == {
        "cells": 24,
        "split": 0.05,
    }
    boxes = {item.p: item.c for item in program.items}
    for relation in program.relations:
        pair = [boxes[relation.subject], boxes[relation.object]]
        assert list(touching(pair)) == [(0, 1)]
    assert {item.b for item in program.items} == {"0", "1"}
    assert {item.q for item in program.items} == {1.0}
    assert "17.1 to 17.4" in program.note and "share of the cell's pixels" in program.note


def test_units_and_masks() -> None:
    metres = np.full((60, 60), 4.0)
    metres[:, 30:] = 2.0
    metres[:10, :10] = 0  # not measured
    depth = DepthMap(metres, kind="metric")
    program = depth_program(depth, grid=6, adaptive=True, units="m", reading="median", split=0.0)
    readings = {item.r for item in program.items}
    assert readings <= {4.0, 2.0, None} and {4.0, 2.0} <= readings
    assert program.meta["masked_pixels"] == 100
    for relation in program.relations:
        front, back = (
            next(item.r for item in program.items if item.p == p)
            for p in (relation.subject, relation.object)
        )
        assert front < back  # in metres, in front is less


def test_a_map_of_another_size_than_its_picture() -> None:
    near = np.tile(np.linspace(0, 1, 64, dtype=np.float32), (48, 1))
    small = depth_program(DepthMap(near), grid=4, adaptive=True)
    large = depth_program(DepthMap(near, size=(640, 480)), grid=4, adaptive=True)
    assert [i.c for i in small.items] == [i.c for i in large.items]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"grid": 50}, "at most one cell a pixel"),
        ({"grid": None}, "adaptive: expected a grid of cells to cut"),
        ({"grid": 3, "split": -1}, "split: expected"),
        ({"grid": 3, "split": "much"}, "split: expected"),
    ],
)
def test_bad_options(options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        depth_program(np.eye(20), adaptive=True, **options)


def test_a_grid_finer_than_the_frame() -> None:
    with pytest.raises(InputError, match="1/1000 of the picture"):
        adaptive_cells(np.zeros((1, 1500), np.float32), Grid(1, 1200), middle_of("range"), 0.05)


def test_large_maps_take_about_a_second() -> None:
    y, x = np.mgrid[:1080, :1920]
    near = (np.hypot(x - 900, y - 500) / 1200 + 0.3 * (x % 400 < 60)).clip(0, 1).astype(np.float32)
    start = time.process_time()
    depth_program(near, grid=10, adaptive=True, reading="median", relations=False)
    assert time.process_time() - start < 4
