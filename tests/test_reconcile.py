"""Statements of different programs that cannot both be right."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, islice
from typing import Any

import numpy as np
import pytest

from perception_programs import (
    InputError,
    Item,
    PerceptionProgram,
    Relation,
    albedo_program,
    depth_program,
    flow_program,
    reconcile,
)
from planted_scenes import KINDS, consistent, is_found, planted


def cells(
    readings: list[Any], modality: str = "depth", grid: tuple[int, int] = (1, 2), **meta: Any
) -> PerceptionProgram:
    items = [
        Item(n, (500 * n - 250, 500) if grid == (1, 2) else None, r)
        for n, r in enumerate(readings, 1)
    ]
    return PerceptionProgram(modality, "patch", tuple(items), grid=grid, meta=meta)


def said(found: PerceptionProgram) -> list[tuple[Any, str]]:
    return [(item.r, str(item.b)) for item in found.items]


class TestPlanted:
    """The benchmark, `benchmarks/reconcile.py`, has a hundred of each."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_contradictions_are_found(self, kind: str) -> None:
        for seed in (3, 7):
            case = planted(kind, seed)
            assert is_found(case, reconcile(case.programs)), seed

    def test_a_consistent_scene_has_none(self) -> None:
        kinds = groupby(consistent(4), key=lambda program: program.modality)
        found = reconcile([program for _, group in kinds for program in islice(group, 2)])
        assert found.relations == () and found.items == ()
        assert all(count > 0 for count in found.meta["compared"].values())
        assert set(found.meta["disagreements"].values()) == {0}
        total = sum(found.meta["compared"].values())
        assert f"No disagreement was found in {total} comparisons" in str(found.note)


class TestWhatIsSaid:
    def test_a_statement_is_an_item_and_is_said_once(self) -> None:
        near, far = cells([(0.8, 0.9), (0.1, 0.2)]), cells([(0.1, 0.2), (0.1, 0.2)])
        near, far = (
            replace(p, meta={"kind": "normalised", "expert": n})
            for p, n in ((near, "a"), (far, "b"))
        )
        third = replace(far, meta={"kind": "normalised", "expert": "c"})
        found = reconcile([near, far, third], tau=0.2)
        assert (found.modality, found.granularity) == ("reconciliation", "statement")
        assert said(found) == [
            ((0.8, 0.9), "depth (a): cell 1"),
            ((0.1, 0.2), "depth (b): cell 1"),
            ((0.1, 0.2), "depth (c): cell 1"),
        ]
        pairs = [(r.subject, r.predicate, r.object) for r in found.relations]
        assert pairs == [(1, "disagrees_with", 2), (1, "disagrees_with", 3)]
        assert found.meta["compared"] == {"depth": 6} and found.meta["disagreements"] == {
            "depth": 2
        }
        assert "more than 0.2 outside" in str(found.note)
        assert PerceptionProgram.from_text(str(found)) == found.rounded()

    def test_reliability_comes_along(self) -> None:
        one, other = (cells([r, None], kind="normalised") for r in ((0.8, 0.9), (0.1, 0.2)))
        one = replace(one, items=(replace(one.items[0], q="sure"), one.items[1]))
        found = reconcile([one, other])
        assert [item.q for item in found.items] == ["sure", None]
        assert [item.b for item in found.items] == [
            "depth, program 1: cell 1",
            "depth, program 2: cell 1",
        ]

    def test_a_point_called_by_a_number_is_no_cell(self) -> None:
        ramp = np.tile(np.linspace(0, 1, 100), (100, 1))
        program = depth_program(ramp, grid=2, points={"2": (10, 10)})
        found = reconcile([program])
        assert found.items == () and found.meta["compared"] == {"points in cells": 1}

    def test_words_where_shares_are_expected_are_not_compared(self) -> None:
        by_hand = cells(["most", "most"], "segmentation")
        assert reconcile([by_hand, by_hand]).meta["compared"] == {}

    def test_nothing_to_compare_is_not_nothing_found(self) -> None:
        found = reconcile(
            [cells([(0.1, 0.2), None], kind="normalised"), cells(["left", "left"], "flow")]
        )
        assert found.meta["compared"] == {} and "Nothing to compare" in str(found.note)
        assert "Nothing to compare" in str(reconcile([]).note)

    @pytest.mark.parametrize(
        ("programs", "limits", "message"),
        [
            (cells([None, None]), {}, "several programs"),
            (3, {}, "expected PerceptionPrograms"),
            ([3], {}, "expected PerceptionPrograms, got int 3"),
            ([], {"tau": -1}, "tau: expected"),
            ([], {"pixels": "far"}, "pixels: expected a number"),
            ([], {"iou": -0.5}, "iou: expected a number of at least 0"),
            (
                [cells(["left", "left"], "flow", size="x")] * 2,
                {},
                r'meta\["size"\] of a flow program: expected \(width, height\) in pixels, got str',
            ),
            (
                [cells(["left", "left"], "flow", still="no")] * 2,
                {},
                r'meta\["still"\]: expected a num',
            ),
        ],
    )
    def test_bad_input(self, programs: Any, limits: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            reconcile(programs, **limits)


class TestDepth:
    def test_ranges_that_meet_agree(self) -> None:
        one = cells([(0.1, 0.9), (0.1, 0.2)], kind="normalised")
        other = cells([(0.85, 0.95), (0.1, 0.2)], kind="normalised")
        assert reconcile([one, other]).relations == ()

    def test_relative_maps_have_no_common_scale(self) -> None:
        ramp = np.tile(np.linspace(0, 1, 100), (100, 1))
        straight = depth_program(ramp, kind="relative")
        assert reconcile([straight, depth_program(ramp**3, kind="relative")]).relations == ()
        turned = reconcile([straight, depth_program(1 - ramp, kind="relative")])
        first, second = (
            turned.items[n - 1] for n in (turned.relations[0].subject, turned.relations[0].object)
        )
        assert "in front of" in first.b and first.b.split(": ")[1] != second.b.split(": ")[1]
        assert first.r[0] > first.r[1] and second.r[0] > second.r[1]

    def test_text_without_meta_is_compared_by_order(self) -> None:
        pair = [cells([(0.8, 0.9), (0.1, 0.2)]), cells([(0.4, 0.5), (0.1, 0.2)])]
        assert reconcile(pair).relations == ()
        assert reconcile([replace(p, meta={"kind": "normalised"}) for p in pair]).relations

    def test_metres_compare_as_ratios(self) -> None:
        metres = {"units": "m", "kind": "metric"}
        two, more, far = (cells([(d, d + 0.1), (9.0, 9.5)], **metres) for d in (2.0, 2.3, 3.0))
        assert reconcile([two, more]).relations == ()
        assert [item.r for item in reconcile([two, far]).items] == [(2.0, 2.1), (3.0, 3.1)]

    def test_metres_and_nearness_are_opposite(self) -> None:
        metres = cells([(2.0, 2.1), (9.0, 9.5)], units="m", kind="metric")
        near, turned = cells([(0.8, 0.9), (0.1, 0.2)]), cells([(0.1, 0.2), (0.8, 0.9)])
        assert reconcile([metres, near]).relations == ()
        assert len(reconcile([metres, turned]).relations) == 1

    def test_medians_of_small_grids_are_compared_as_they_are(self) -> None:
        light, dark = (albedo_program(np.tile([a, 0.8], (10, 5)), grid=(1, 2)) for a in (0.8, 0.8))
        assert reconcile([light, dark]).relations == ()
        dark = replace(dark, items=(replace(dark.items[0], r=0.2), dark.items[1]))
        assert [item.r for item in reconcile([light, dark]).items] == [light.items[0].r, 0.2]

    def test_a_strip_that_covers_half_of_its_cells_is_no_contradiction(self) -> None:
        one, other = np.full((100, 100), 0.2), np.full((100, 100), 0.2)
        one[24:30], other[26:30] = 0.9, 0.9  # a bar over 60% and 40% of the third row
        assert reconcile([albedo_program(m) for m in (one, other)]).relations == ()

    def test_a_point_outside_the_range_of_its_cell(self) -> None:
        program = depth_program(np.full((50, 50), 0.5), points={"A": (12, 12)}, grid=5)
        assert reconcile([program]).meta["compared"] == {"points in cells": 1}
        *rest, point = program.items
        found = reconcile([replace(program, items=(*rest, replace(point, r=0.9)))])
        assert said(found) == [(0.9, "depth: point A"), ((0.5, 0.5), "depth: cell 7")]

    def test_adaptive_cells(self) -> None:
        near = np.zeros((64, 64))
        near[:32, :32] = 1
        near[40:44, 40:44] = 0.5
        programs = [depth_program(near, adaptive=True), depth_program(near, grid=4)]
        assert reconcile(programs).relations == ()
        found = reconcile([programs[0], depth_program(1 - near, grid=4)])
        assert found.relations and found.meta["compared"]["depth"] > 8


class TestMotion:
    def test_still_against_a_displacement(self) -> None:
        still = cells(["still", "left"], "flow", still=0.5)
        moving = cells([(5.0, 0.0, 5.0), (-5.0, 0.0, 5.0)], "flow")
        assert said(reconcile([still, moving])) == [
            ("still", "flow, program 1: cell 1"),
            ((5.0, 0.0, 5.0), "flow, program 2: cell 1"),
        ]

    def test_what_is_unreliable_contradicts_nothing(self) -> None:
        assert (
            reconcile(
                [cells(["no reliable motion", None], "flow"), cells(["left", "left"], "flow")]
            ).meta["compared"]
            == {}
        )

    def test_a_match_against_a_cell_of_a_small_grid(self) -> None:
        flow = flow_program(np.full((100, 200, 2), -4.0), grid=(1, 2))
        match = PerceptionProgram(
            "correspondence",
            "keypoint",
            (Item(1, (300, 500), (350, 480)), Item(2, (700, 500), (680, 460))),
            meta={"size1": (200, 100), "size2": (200, 100)},
        )
        found = reconcile([match, flow])
        assert said(found) == [
            ((350, 480), "correspondence: match 1, which moves by (10, -2) pixels"),
            ("left", "flow: cell 1"),
        ]


class TestObjects:
    def boxes(self, *labels: str, modality: str = "object-detection") -> PerceptionProgram:
        items = [
            Item(n, (100 * n, 100, 100 * n + 300, 600), 0.9, b) for n, b in enumerate(labels, 1)
        ]
        return PerceptionProgram(modality, "bounding-box", tuple(items))

    @pytest.mark.parametrize(
        ("one", "other", "count"),
        [
            (("cat",), ("dog",), 1),
            (("cat",), ("Cat",), 0),
            (("motorcycle",), ("yellow motorcycle",), 0),
            (("person", "horse"), ("person", "horse"), 0),
            (("person", "horse"), ("person",), 0),
        ],
    )
    def test_labels(self, one: tuple[str, ...], other: tuple[str, ...], count: int) -> None:
        assert len(reconcile([self.boxes(*one), self.boxes(*other)]).relations) == count

    def test_in_front_of_but_behind(self) -> None:
        boxes = (
            Item(1, (0, 0, 400, 1000), (0.3,), "cat"),
            Item(2, (600, 0, 1000, 1000), (0.8,), "dog"),
        )
        scene = PerceptionProgram("scene", "object", boxes, (Relation(1, "in_front_of", 2),))
        depth = depth_program(np.tile(np.linspace(0, 1, 100), (100, 1)), kind="relative")
        found = reconcile([scene, depth])
        assert [item.b for item in found.items] == [
            "scene: box 1 (cat) in front of box 2 (dog)",
            "depth: box 2 (dog) nearer than box 1 (cat)",
        ]
        assert found.items[0].r == (0.3, 0.8) and found.items[1].r[0] > 0.6 > found.items[1].r[1]
        turned = replace(scene, relations=(Relation(2, "in_front_of", 1),))
        assert reconcile([turned, depth]).relations == ()
