"""Programs within a budget: never over it, and what is left is what the documentation says."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

import perception_programs as pp
from perception_programs import Item, PerceptionProgram, Relation
from perception_programs.errors import InputError
from perception_programs.program import numbers_in
from perception_programs.tokens import estimate_tokens
from random_programs import MAKERS, field, random_program

RAMP = field(np.random.default_rng(3), (120, 90))


def words(text: str) -> int:
    """A tokenizer of another kind."""
    return len(text.split())


def least(program: PerceptionProgram, **options: object) -> int:
    """The budget that the error names as the smallest."""
    with pytest.raises(InputError, match="max_tokens: expected at least") as caught:
        program.fit(1, **options)
    return int(re.search(r"at least (\d+)", str(caught.value))[1])


@pytest.mark.parametrize("name", MAKERS)
def test_never_over_the_budget(name: str) -> None:
    rng = np.random.default_rng(sum(map(ord, name)))
    for _ in range(3):
        program = MAKERS[name](rng)
        for count in (estimate_tokens, words, len):
            smallest, whole = least(program, count=count), count(str(program))
            for budget in {smallest, *rng.integers(smallest, whole + 10, 2).tolist()}:
                small = program.fit(budget, count=count)
                assert count(str(small)) <= budget
                assert small.meta["fit"]["tokens"] == count(str(small))
                again = PerceptionProgram.from_text(str(small))
                assert again.to_text(small.style) == str(small)


@pytest.mark.parametrize("seed", range(5))
def test_what_fits_is_left_alone(seed: int) -> None:
    program = random_program(np.random.default_rng(seed))
    same = program.fit(estimate_tokens(str(program)))
    assert same == program and str(same) == str(program)
    assert same.meta["fit"]["given_up"] == ()
    assert {k: v for k, v in same.meta.items() if k != "fit"} == dict(program.meta)


def test_the_style_goes_first_and_loses_nothing() -> None:
    program = pp.depth_program(RAMP)
    small = program.fit(estimate_tokens(program.to_text("compact")))
    assert small == program and str(small) == program.to_text("compact")
    assert small.meta["fit"]["given_up"] == ("style: paper to compact",)


def test_relations_go_before_cells() -> None:
    program = pp.depth_program(RAMP, tau=0.05)
    small = program.fit(estimate_tokens(program.to_text("compact")) - 5)
    assert small.relations == () and len(small) == 100
    assert f"Relations left out: {len(program.relations)}." in small.note


def test_coarser_grids_are_made_of_whole_finer_cells() -> None:
    fine = pp.depth_program(RAMP, grid=12, relations=False)
    seen = set()
    for budget in range(least(fine), estimate_tokens(fine.to_text("compact")), 40):
        small = fine.fit(budget)
        assert small.grid is not None
        coarse = pp.depth_program(RAMP, grid=small.grid, relations=False)
        seen.add(small.grid)
        for mine, made in zip(small.items, coarse.items, strict=True):
            assert mine.r == pytest.approx(made.r, abs=0.006) and mine.c == made.c
    assert len(seen) > 4


@pytest.mark.parametrize("modality", ["flow", "albedo", "similarity", "segmentation"])
def test_every_kind_of_cell_can_be_merged(modality: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(4):
        program = MAKERS[modality](rng)
        small = program.fit(least(program))
        assert small.grid is None or small.grid.count <= program.grid.count
        again = PerceptionProgram.from_text(str(small))
        assert len(again) == len(small)


def test_words_are_counted_when_cells_disagree() -> None:
    flow = np.zeros((40, 40, 2)) + 3
    flow[:, :10] = -3
    program = pp.flow_program(flow, grid=(4, 16))
    small = program.fit(least(program))
    assert small.grid == pp.Grid(1, 1) and small.items[0].r == "48 right, 16 left"


def test_asked_points_stay_when_the_cells_go() -> None:
    program = pp.depth_program(RAMP, points={"A": (10, 80), "B": (100, 40)})
    small = program.fit(least(program))
    assert [item.p for item in small.items] == ["A", "B"] and small.grid is None
    assert "The cells are left out." in small.note
    between = [r for r in program.relations if isinstance(r.subject, str)]
    roomy = program.fit(estimate_tokens(program.to_text("compact")) - 3)
    assert set(between) <= set(roomy.relations)


def test_quarters_become_whole_again() -> None:
    program = pp.depth_program(RAMP, grid=8, adaptive=True, relations=False)
    smaller = program.fit(estimate_tokens(program.to_text("compact")) - 30)
    assert len(smaller) < len(program)
    widest = max(np.ptp(numbers_in(item.r)) for item in program.items)
    assert max(np.ptp(numbers_in(item.r)) for item in smaller.items) <= widest + 0.3


def matches(count: int, **options: object) -> PerceptionProgram:
    starts = np.random.default_rng(1).uniform(0, 1000, (count, 2))
    found = pp.Matches(starts, starts, size1=(1000, 1000), size2=(1000, 1000))
    return pp.correspondence_program(found, **options)


@pytest.mark.parametrize("budget", [250, 500, 1000])
def test_matches_stay_spread_evenly(budget: int) -> None:
    program = matches(300)
    small = program.fit(budget)
    kept = np.array([item.c for item in small.items], float)
    every = np.array([item.c for item in program.items], float)
    assert 5 < len(kept) < 300 and set(small.items) <= set(program.items)
    apart = np.hypot(*(kept[:, None] - kept[None]).transpose(2, 0, 1))
    apart[np.diag_indices(len(kept))] = np.inf
    hole = np.hypot(*(every[:, None] - kept[None]).transpose(2, 0, 1)).min(axis=1).max()
    assert apart.min() >= hole - 1  # no spot is farther from a match than matches are apart
    assert f"Listed: {len(kept)} of 300 matches, evenly spread." in small.note


def test_matches_near_the_points_asked_about_stay_longest() -> None:
    program = matches(300)
    small = program.fit(200, around=[(500, 500)])
    nearest = sorted(program.items, key=lambda item: np.hypot(item.c[0] - 500, item.c[1] - 500))
    assert set(nearest[:4]) <= set(small.items)
    own = matches(300, around={"REF": (500, 500)})
    small = own.fit(least(own))
    assert [item.p for item in small.items] == ["REF"]


def test_detections_stay_by_score_within_label() -> None:
    rng = np.random.default_rng(2)
    program = MAKERS["object-detection"](rng)
    while len(program) < 20:
        program = MAKERS["object-detection"](rng)
    small = program.fit(estimate_tokens(program.to_text("compact")) * 2 // 3)
    assert 0 < len(small) < len(program)
    kept: dict[str, int] = {}
    for label in {item.b for item in program.items}:
        scores = sorted((item.r for item in program.items if item.b == label), reverse=True)
        mine = sorted((item.r for item in small.items if item.b == label), reverse=True)
        assert mine == pytest.approx(scores[: len(mine)], abs=0.006)
        kept[label] = len(mine)
        assert len(mine) == len(scores) or len(mine) >= max(kept.values()) - 1


def test_meta_that_goes_with_items_stays_with_them() -> None:
    boxes = [[n, n, n + 5, n + 5] for n in range(30)]
    found = pp.Detections(
        boxes,
        np.linspace(0.9, 0.3, 30),
        ("cat",) * 30,
        size=(100, 100),
        runner_up_labels=[f"dog {n}" for n in range(30)],
        runner_up_scores=[0.1] * 30,
    )
    small = pp.detection_program(found).fit(300)
    assert [row[0] for row in small.meta["runner_up"]] == [
        f"dog {item.p - 1}" for item in small.items
    ]


def test_relations_of_items_that_go_go_too() -> None:
    items = [Item(n, (n, n, n + 9, n + 9), None, "car", q=n / 40) for n in range(1, 40)]
    relations = [Relation(a.p, "left_of", b.p) for a, b in pairwise(items)]
    program = PerceptionProgram("scene", "object", items, relations, note="n")
    for budget in range(least(program), estimate_tokens(str(program)), 40):
        small = program.fit(budget)
        known = {item.p for item in small.items}
        assert all({r.subject, r.object} <= known for r in small.relations)


def test_parts_go_before_items() -> None:
    parts = pp.depth_program(RAMP, grid=6, relations=False)
    items = [Item(n, (n, n, n + 9, n + 9), 0.5, "car", parts=parts) for n in range(4)]
    small = PerceptionProgram("scene", "object", items).fit(200)
    assert len(small) == 4 and all(item.parts is None for item in small.items)
    assert "parts: of 4 items" in small.meta["fit"]["given_up"]


def test_one_style_only() -> None:
    program = pp.depth_program(RAMP)
    assert program.fit(2000, style="paper").style == "paper"
    assert program.fit(100_000, style="compact").style == "compact"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_tokens": 0}, "max_tokens: expected an integer of at least 1"),
        ({"max_tokens": 10.5}, "max_tokens: expected an integer of at least 1"),
        ({"count": 3}, "count: expected a function"),
        ({"count": lambda text: "many"}, "count: expected a function from a text"),
        ({"count": lambda text: -1}, "count: expected a function from a text"),
        ({"style": "json"}, "style: expected paper or compact, got 'json'"),
        ({"style": "prose"}, "style: expected one of paper"),
        ({"around": [(1, 2, 3)]}, "around: expected places"),
        ({"around": [(-1, 5)]}, "around: expected places from 0 to 1000"),
        ({"around": 7}, "around: expected places"),
    ],
)
def test_arguments_that_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pp.depth_program(RAMP).fit(**{"max_tokens": 500, **arguments})


def test_a_counter_may_return_any_kind_of_integer() -> None:
    program = pp.depth_program(RAMP)
    small = program.fit(500, count=lambda text: np.int64(estimate_tokens(text)))
    assert small == program.fit(500) and type(small.meta["fit"]["tokens"]) is int


def test_an_error_in_the_users_counter_is_the_users() -> None:
    with pytest.raises(ZeroDivisionError):
        pp.depth_program(RAMP).fit(500, count=lambda text: 1 // 0)
