"""Scenes: planted ones whose relations are known, and what holds of any."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perception_programs as pp
from perception_programs import (
    DepthMap,
    Detections,
    FlowField,
    InputError,
    PerceptionProgram,
    Segmentation,
    scene_program,
)
from perception_programs.experts import Card
from strategies import QUICK

SIZE = (1000, 500)
ORDERS = ("in_front_of", "left_of", "above")


def planted(
    things: Iterable[tuple[str, tuple[int, int, int, int], float, tuple[float, float]]],
    camera: tuple[float, float] = (0.0, 0.0),
) -> dict[str, Any]:
    """Boxes that are filled, in their order, with one nearness and one motion, on a far background."""
    things = list(things)
    depth = np.full(SIZE[::-1], 0.05, np.float32)
    uv = np.tile(np.array(camera, np.float32), (SIZE[1], SIZE[0], 1))
    for _, (x0, y0, x1, y1), near, motion in things:
        depth[y0:y1, x0:x1] = near
        uv[y0:y1, x0:x1] = motion
    boxes = [thing[1] for thing in things]
    labels = [thing[0] for thing in things]
    scores = np.linspace(0.9, 0.5, len(things))
    found = Detections(np.array(boxes).reshape(-1, 4), scores, labels, size=SIZE)
    return {"depth": DepthMap(depth), "detections": found, "flow": FlowField(uv)}


def triples(program: PerceptionProgram) -> set[tuple[object, str, object]]:
    return {(r.subject, r.predicate, r.object) for r in program.relations}


def entailed(program: PerceptionProgram) -> set[tuple[object, str, object]]:
    """The relations, with those that follow from two others of an order."""
    found = triples(program)
    while True:
        more = {
            (a, p, d) for a, p, b in found for c, q, d in found if p == q and b == c and p in ORDERS
        }
        if more <= found:
            return found
        found |= more


# Three scenes, each with every relation there is in it.
STREET = [
    ("person", (100, 100, 250, 460), 0.9, (-6.0, 0.5)),
    ("bicycle", (700, 150, 900, 350), 0.5, (0.0, 0.0)),
    ("sign", (400, 20, 500, 90), 0.3, (0.0, 0.0)),
]
DESK = [  # the camera moves, so that all that lies still moves to the left
    ("table", (100, 200, 900, 500), 0.65, (-3.0, 0.0)),
    ("laptop", (200, 220, 500, 420), 0.75, (-3.0, 0.0)),
    ("ball", (600, 300, 700, 400), 0.7, (4.0, 5.0)),
]
QUEUE = [  # one behind the other, each partly hidden by the next
    ("first", (0, 200, 300, 500), 0.9, (0.0, 0.0)),
    ("second", (270, 150, 500, 480), 0.6, (0.0, -2.0)),
    ("third", (480, 140, 700, 470), 0.3, (0.0, 2.0)),
    ("fourth", (690, 130, 900, 460), 0.25, (0.0, 0.3)),
]
KNOWN = {
    "street": (
        planted(STREET),
        {
            (1, "in_front_of", 2),
            (2, "in_front_of", 3),
            (1, "left_of", 3),
            (3, "left_of", 2),
            (3, "above", 1),
            (3, "above", 2),
            (1, "moving_left", "background"),
        },
    ),
    "desk": (
        planted(DESK, camera=(-3.0, 0.0)),
        {
            (2, "left_of", 3),
            (2, "inside", 1),
            (3, "inside", 1),
            (3, "moving_right", "background"),
            (3, "moving_down", "background"),
        },
    ),
    "queue": (
        planted(QUEUE),
        {
            (1, "in_front_of", 2),
            (2, "in_front_of", 3),
            (2, "in_front_of", 4),
            *((n, "left_of", n + 1) for n in (1, 2, 3)),
            (1, "overlaps", 2),
            (2, "moving_up", "background"),
            (3, "moving_down", "background"),
        },
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_planted_relations(name: str) -> None:
    given, known = KNOWN[name]
    assert triples(scene_program(**given)) == known


@pytest.mark.parametrize("style", ["paper", "json"])
def test_a_reader_of_the_text_finds_them(style: str) -> None:
    """What is said of a relation in the note, worked out again from the items alone."""
    for results, _ in KNOWN.values():
        read = PerceptionProgram.from_text(scene_program(**results).to_text(style))
        *objects, ground = read.items
        found = set()
        for a in objects:
            for b in objects:
                if a.p != b.p:
                    found |= {(a.p, name, b.p) for name in _between(a, b)}
            found |= {(a.p, name, "background") for name in _moves(a, ground)}
        assert entailed(read) == found


def _between(a: pp.Item, b: pp.Item) -> Iterable[str]:
    ax0, ay0, ax1, ay1 = a.c
    bx0, by0, bx1, by1 = b.c
    if a.r[0] - b.r[0] > 0.15:
        yield "in_front_of"
    if (ax0 + ax1) / 2 < bx0 and ax1 < (bx0 + bx1) / 2:
        yield "left_of"
    if (ay0 + ay1) / 2 < by0 and ay1 < (by0 + by1) / 2:
        yield "above"
    areas = (ax1 - ax0) * (ay1 - ay0), (bx1 - bx0) * (by1 - by0)
    common = max(min(ax1, bx1) - max(ax0, bx0), 0) * max(min(ay1, by1) - max(ay0, by0), 0)
    if common >= 0.9 * areas[0] and areas[0] < areas[1]:
        yield "inside"
    elif common >= 0.1 * min(areas) and a.p < b.p and not common >= 0.9 * areas[1]:
        yield "overlaps"


def _moves(a: pp.Item, ground: pp.Item) -> Iterable[str]:
    u, v = (a.r[axis] - ground.r[axis] for axis in (1, 2))
    if abs(u) > 0.5 and abs(u) >= abs(v) / 2:
        yield "moving_left" if u < 0 else "moving_right"
    if abs(v) > 0.5 and abs(v) >= abs(u) / 2:
        yield "moving_up" if v < 0 else "moving_down"


boxes_of = st.lists(
    st.tuples(*[st.integers(0, 998)] * 2, *[st.integers(1, 999)] * 2).map(
        lambda b: (b[0], b[1], min(b[0] + b[2], 999), min(b[1] + b[3], 999))
    ),
    min_size=1,
    max_size=7,
)


def _free(boxes: list[tuple[int, int, int, int]], seed: int = 0, **options: Any) -> Any:
    """A scene of 1000×1000 pixels, so that the frame has no fractions to cut."""
    levels = np.random.default_rng(seed).random(len(boxes))
    depth = DepthMap(np.random.default_rng(seed).random((40, 40), np.float32), size=(1000, 1000))
    found = Detections(boxes, levels, ["thing"] * len(boxes), size=(1000, 1000))
    return scene_program(depth=depth, detections=found, **options)


@QUICK
@given(boxes_of)
def test_orders_have_no_circles_and_nothing_twice(boxes: list[tuple[int, int, int, int]]) -> None:
    program = _free(boxes)
    whole, said = entailed(program), triples(program)
    assert len(said) == len(program.relations)
    for a, predicate, b in whole:
        assert a != b and (b, predicate, a) not in whole
        if predicate in ORDERS:  # nothing that follows from the others is said
            middle = {c for x, p, c in whole if (x, p) == (a, predicate)}
            follows = any((c, predicate, b) in whole for c in middle)
            assert ((a, predicate, b) in said) is not follows
    kinds = [(frozenset((a, b)), _axis(predicate)) for a, predicate, b in said]
    assert len(set(kinds)) == len(kinds), "at most one relation a pair and axis"


def _axis(predicate: str) -> str:
    return {"inside": "contact", "overlaps": "contact"}.get(predicate, predicate)


@QUICK
@given(boxes_of, st.integers(0, 1), st.integers(1, 300))
def test_moving_all_boxes_changes_no_relation(
    boxes: list[tuple[int, int, int, int]], axis: int, shift: int
) -> None:
    shift = min(shift, 1000 - max(box[axis + 2] for box in boxes))
    moved = [tuple(v + shift * (n % 2 == axis) for n, v in enumerate(box)) for box in boxes]
    assert triples(_flat(moved)) == triples(_flat(boxes))


@QUICK
@given(boxes_of)
def test_a_mirror_turns_left_of_around(boxes: list[tuple[int, int, int, int]]) -> None:
    mirrored = [(1000 - x1, y0, 1000 - x0, y1) for x0, y0, x1, y1 in boxes]
    turned = {(b, p, a) if p == "left_of" else (a, p, b) for a, p, b in triples(_flat(boxes))}
    assert triples(_flat(mirrored)) == turned


def _flat(boxes: list[Any]) -> PerceptionProgram:
    return scene_program(
        detections=Detections(boxes, [0.5] * len(boxes), ["thing"] * len(boxes), size=(1000, 1000))
    )


def test_a_mirrored_picture_mirrors_its_program() -> None:
    given, known = KNOWN["street"]
    found = given["detections"]
    mirrored = scene_program(
        depth=DepthMap(given["depth"].values[:, ::-1]),
        detections=Detections(
            np.stack(
                [
                    1000 - found.boxes[:, 2],
                    found.boxes[:, 1],
                    1000 - found.boxes[:, 0],
                    found.boxes[:, 3],
                ],
                1,
            ),
            found.scores,
            found.labels,
            size=SIZE,
        ),
        flow=FlowField(given["flow"].uv[:, ::-1] * np.array([-1, 1], np.float32)),
    )
    turned = {(b, p, a) if p == "left_of" else (a, p, b) for a, p, b in known}
    assert triples(mirrored) == {
        (a, "moving_right" if p == "moving_left" else p, b) for a, p, b in turned
    }


class TestReadings:
    def test_all_fields(self) -> None:
        program = scene_program(**KNOWN["street"][0])
        person, *_, ground = program.items
        assert (person.p, person.c, person.b) == (1, (100, 200, 250, 920), "person")
        assert person.r == (0.9, -6.0, 0.5) and person.q == 0.9
        assert (ground.p, ground.c, ground.b, ground.r) == ("background", None, None, (0.05, 0, 0))
        assert program.meta["size"] == SIZE and program.meta["measured_in"] == {"middle": 3}
        assert (program.modality, program.granularity) == ("scene", "object")

    def test_only_what_is_given_is_read(self) -> None:
        given, _ = KNOWN["street"]
        found = {"detections": given["detections"]}
        near = scene_program(depth=given["depth"], **found)
        moving = scene_program(flow=given["flow"], **found)
        alone = scene_program(**found)
        assert [i.r for i in near.items] == [(0.9,), (0.5,), (0.3,)]
        assert [i.r for i in moving.items][:2] == [(-6.0, 0.5), (0.0, 0.0)]
        assert [i.r for i in alone.items] == [None] * 3 and "r: null" in str(alone.note)
        for program, absent in ((near, "u and v"), (moving, "nearness"), (alone, "in_front_of")):
            assert absent not in str(program)

    def test_the_middle_of_the_box_counts(self) -> None:
        """A far ground shows in all corners of the box, over more than half of it."""
        depth = np.full((100, 100), 0.1, np.float32)
        depth[20:80, 45:55] = 1.0
        depth[45:55, 20:80] = 1.0
        depth[35:65, 35:65] = 1.0
        program = scene_program(depth=depth, detections=_one((20, 20, 80, 80)))
        assert program.items[0].r == (1.0,)

    def test_other_boxes_do_not_count(self) -> None:
        """A sign hides most of a person's middle; of a frame around both only its border is seen."""
        depth = np.full((100, 100), 0.1, np.float32)
        depth[10:90, 10:90] = 0.5
        depth[20:80, 20:65] = 0.8
        boxes = [[10, 10, 90, 90], [20, 20, 65, 80], [0, 0, 100, 100]]
        found = Detections(boxes, [0.9] * 3, ["person", "sign", "frame"], size=(100, 100))
        person, sign, frame = scene_program(depth=depth, detections=found).items
        assert (person.r, sign.r) == ((0.5,), (0.8,))
        assert frame.r == (0.1,)

    def test_its_mask_counts_before_the_middle(self) -> None:
        depth = np.full((100, 100), 0.1, np.float32)
        depth[:, 60:64] = 0.8
        mask = np.zeros((1, 100, 100), bool)
        mask[0, 20:80, 60:64] = True
        found = Detections([[20, 20, 80, 80]], [0.5], ["post"], mask, size=(100, 100))
        program = scene_program(depth=depth, detections=found)
        assert program.items[0].r == (0.8,) and program.meta["measured_in"] == {"mask": 1}
        assert "its mask" in program.note and "middle" not in program.note

    def test_its_class_counts_before_the_middle(self) -> None:
        depth = np.full((100, 100), 0.1, np.float32)
        depth[:, 60:64] = 0.8
        classes = np.zeros((50, 50), int)  # at another resolution
        classes[:, 30:32] = 1
        names = {1: "Fence  post"}
        labels = Segmentation(classes, names, (100, 100))
        found = _one((20, 20, 80, 80), "fence post")
        program = scene_program(depth=depth, detections=found, segmentation=labels)
        assert program.items[0].r == (0.8,) and program.meta["measured_in"] == {"segmentation": 1}
        other = scene_program(depth=depth, detections=_one((0, 0, 50, 50)), segmentation=labels)
        assert other.meta["measured_in"] == {"middle": 1}

    def test_metres(self) -> None:
        metres = np.full((100, 100), 10.0, np.float32)
        metres[:, :50] = 2.0
        found = Detections(
            [[0, 0, 40, 90], [60, 0, 99, 90]], [0.9, 0.8], ["a", "b"], size=(100, 100)
        )
        depth = DepthMap(metres, "metric")
        program = scene_program(depth=depth, detections=found, units="m", cells=1)
        assert [i.r for i in program.items] == [(2.0,), (10.0,)]
        assert program.items[0].parts.items[0].r == (2.0, 2.0)
        assert (1, "in_front_of", 2) in triples(program)
        assert "in metres" in program.note and "1 / metres" in program.note
        with pytest.raises(InputError, match="units: expected a metric map"):
            scene_program(depth=metres / 10, detections=found, units="m")

    def test_what_cannot_be_read_is_null(self) -> None:
        given, _ = KNOWN["street"]
        depth = given["depth"].values.copy()
        depth[:, :300] = np.nan
        uv = given["flow"].uv.copy()
        uv[:, 600:, 0] = np.inf
        program = scene_program(depth=depth, detections=given["detections"], flow=uv)
        assert [i.r for i in program.items[:2]] == [(None, -6.0, 0.5), (0.5, None, None)]
        assert "null: could not be read." in program.note
        assert program.meta["masked_pixels"] == 300 * 500
        assert program.meta["unknown_vectors"] == 400 * 500
        assert not {t for t in triples(program) if t[1] == "in_front_of"} & {(1, "in_front_of", 2)}
        assert PerceptionProgram.from_text(str(program)) == program.rounded()

    def test_without_background_nothing_moves(self) -> None:
        uv = np.ones((100, 100, 2))
        program = scene_program(flow=uv, detections=_one((0, 0, 100, 100)))
        assert program.items[-1].r == (None, None) and not program.relations

    def test_tiny_boxes_are_read(self) -> None:
        depth = np.tile(np.linspace(0, 1, 100), (100, 1))
        boxes = [[99.9, 99.9, 100, 100], [0, 0, 0, 0], [50.2, 50, 50.4, 51]]
        found = Detections(boxes, [0.5] * 3, ["a", "b", "c"], size=(100, 100))
        items = scene_program(depth=depth, detections=found, flow=np.ones((100, 100, 2))).items
        assert [i.r[0] for i in items[:3]] == pytest.approx([1.0, 0.0, 50 / 99])


def _one(box: tuple[float, ...], label: str = "thing") -> Detections:
    return Detections([box], [0.5], [label], size=(100, 100))


class TestRegions:
    CLASSES = np.zeros((60, 100), int)
    CLASSES[10:30, 10:30] = 1
    CLASSES[10:40, 60:90] = 1
    CLASSES[50:, :] = 2
    CLASSES[0, 0] = 1  # a speck

    def test_connected_regions_are_the_objects(self) -> None:
        names = ["background", "car", "road"]
        depth = np.where(self.CLASSES == 1, 0.8, 0.3)
        program = scene_program(depth=depth, segmentation=Segmentation(self.CLASSES, names))
        assert [(i.b, i.c, i.q) for i in program.items] == [
            ("road", (0, 833, 1000, 1000), None),
            ("car", (600, 166, 900, 666), None),
            ("car", (100, 166, 300, 500), None),
        ]
        assert [i.r for i in program.items] == [(0.3,), (0.8,), (0.8,)]
        assert program.meta["measured_in"] == {"region": 3} and "over its region" in program.note
        assert program.meta["small_regions"] == 1 and "q:" not in program.note

    def test_specks_are_left_out_and_counted(self) -> None:
        classes = np.zeros((100, 100), int)
        classes[20:40, 20:40] = 1
        classes[::2, 60::2] = 1
        program = scene_program(segmentation=Segmentation(classes, {0: "wall", 1: "cat"}))
        assert [i.b for i in program.items] == ["wall", "cat"]
        assert program.meta["small_regions"] == 50 * 20

    def test_at_another_resolution(self) -> None:
        found = Segmentation(self.CLASSES, ["background", "car", "road"], (200, 120))
        program = scene_program(segmentation=found, depth=np.full((120, 200), 0.5))
        assert program.items[0].c == (0, 833, 1000, 1000) and program.meta["size"] == (200, 120)


class TestParts:
    NESTED = Detections(
        [[0, 0, 80, 80], [10, 10, 60, 60], [20, 20, 40, 40], [85, 0, 100, 50], [62, 62, 78, 78]],
        [0.9, 0.8, 0.7, 0.6, 0.5],
        ["room", "box", "ball", "door", "cat"],
        size=(100, 100),
    )
    DEPTH = np.tile(np.linspace(0, 1, 100), (100, 1))

    def scene(self, **options: Any) -> PerceptionProgram:
        return scene_program(depth=self.DEPTH, detections=self.NESTED, **options)

    def test_levels(self) -> None:
        def listed(program: PerceptionProgram) -> Any:
            return {i.p: listed(i.parts) if i.parts else {} for i in program.items}

        assert listed(self.scene()) == {1: {}, 2: {}, 3: {}, 4: {}, 5: {}}
        assert listed(self.scene(levels=2)) == {1: {2: {}, 3: {}, 5: {}}, 4: {}}
        assert listed(self.scene(levels=3)) == {1: {2: {3: {}}, 5: {}}, 4: {}}
        assert listed(self.scene(levels=8)) == listed(self.scene(levels=3))

    @QUICK
    @given(boxes_of, st.integers(1, 4))
    def test_each_object_is_listed_once(
        self, boxes: list[tuple[int, int, int, int]], levels: int
    ) -> None:
        def numbers(program: PerceptionProgram, level: int) -> list[Any]:
            assert level <= levels
            inner = (numbers(i.parts, level + 1) for i in program.items if i.parts)
            return sum(inner, [i.p for i in program.items])

        found = Detections(boxes, [0.5] * len(boxes), ["thing"] * len(boxes), size=(1000, 1000))
        program = scene_program(detections=found, levels=levels)
        assert sorted(numbers(program, 1)) == list(range(1, len(boxes) + 1))

    def test_relations_are_among_those_of_one_level(self) -> None:
        program = self.scene(levels=2)
        assert triples(program) == {(1, "left_of", 4), (4, "in_front_of", 1)}
        inner = program.items[0].parts
        assert (3, "inside", 2) in triples(inner) and (2, "left_of", 5) in triples(inner)
        assert inner.note is None and "parts: the objects inside it." in program.note
        assert PerceptionProgram.from_text(str(program)) == program.rounded()

    def test_cells(self) -> None:
        program = self.scene(levels=3, cells=(1, 2))
        parts = program.items[1].parts
        assert (parts.modality, parts.grid, program.items[1].b) == ("depth", pp.Grid(1, 2), "door")
        (left, right) = parts.items
        assert left.c == (880, 240) and right.c == (950, 240)
        assert left.r == pytest.approx((85 / 99, 91 / 99)) and right.r[1] == 1.0
        ball = program.items[0].parts.items[0].parts.items[0]
        assert ball.b == "ball" and len(ball.parts) == 2
        assert "1 × 2 cells" in program.note

    def test_cells_keep_to_the_object(self) -> None:
        mask = np.zeros((1, 100, 100), bool)
        mask[0, :, :50] = True
        found = Detections([[0, 0, 100, 100]], [1], ["half"], mask, size=(100, 100))
        parts = scene_program(depth=self.DEPTH, detections=found, cells=(1, 2)).items[0].parts
        assert parts.items[0].r == pytest.approx((0, 49 / 99)) and parts.items[1].r is None

    def test_a_box_of_fewer_pixels_than_cells_has_none(self) -> None:
        found = _one((10, 10, 12, 12))
        program = scene_program(depth=self.DEPTH, detections=found, cells=3)
        assert program.items[0].parts is None and program.meta["boxes_without_cells"] == 1
        assert "parts" not in str(program.note)
        both = Detections([[10, 10, 12, 12], [20, 20, 90, 90]], [1, 1], ["a", "b"], size=(100, 100))
        note = str(scene_program(depth=self.DEPTH, detections=both, cells=3).note)
        assert (
            "3 × 3 cells over its box, row by row (none in boxes of fewer pixels than that);"
            in note
        )

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"levels": 0}, "levels: expected an integer of at least 1"),
            ({"levels": 9}, "levels: expected at most 8, got 9"),
            ({"levels": 8, "cells": 2}, "levels: expected at most 7 beside cells"),
            ({"cells": 0}, "grid: expected a number"),
            ({"cells": 2, "depth": None}, "cells: expected depth="),
        ],
    )
    def test_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            scene_program(**{"depth": self.DEPTH, "detections": self.NESTED, **options})


class TestRelations:
    def test_none_and_a_cap(self) -> None:
        given, known = KNOWN["street"]
        assert scene_program(**given, relations=False).relations == ()
        few = scene_program(**given, relations=2)
        assert triples(few) < known and len(few.relations) == 2
        assert few.meta["relations_cut"] == len(known) - 2
        assert (1, "moving_left", "background") in triples(few)
        with pytest.raises(InputError, match="relations: expected"):
            scene_program(**given, relations=-1)

    def test_tau(self) -> None:
        given, _ = KNOWN["street"]
        assert (1, "in_front_of", 3) in triples(scene_program(**given, tau=0.45))
        assert "0.45" in scene_program(**given, tau=0.45).note
        with pytest.raises(InputError, match="tau"):
            scene_program(**given, tau=-1)

    def test_the_note_is_of_what_occurs(self) -> None:
        program = scene_program(**KNOWN["desk"][0])
        for relation in program.relations:
            assert relation.predicate in program.note
        for absent in ("above", "in_front_of:", "overlaps:", "moving_left", "null"):
            assert absent not in program.note

    def test_hundreds_of_objects(self) -> None:
        rng = np.random.default_rng(0)
        corners = rng.uniform(0, (1200, 700), (200, 2))
        boxes = np.hstack([corners, corners + rng.uniform(5, 80, (200, 2))])
        found = Detections(boxes, rng.random(200), ["thing"] * 200, size=(1280, 780))
        first = scene_program(
            depth=rng.random((780, 1280), np.float32),
            detections=found,
            flow=rng.normal(size=(780, 1280, 2)),
        )
        assert len(first) == 201 and first.relations


class Fake:
    """An expert that returns what it is given."""

    def __init__(self, modality: str, result: object) -> None:
        self.card = Card(name=f"fake {modality}", modality=modality, library="numpy")
        self.result = result
        self.seen: list[object] = []

    def __call__(self, *images: object, **options: object) -> object:
        self.seen.append((images, options))
        return self.result

    def batch(self, *images: object, **options: object) -> list[object]:
        return [self(*images, **options)]


class TestPictures:
    PICTURE = np.zeros((500, 1000, 3), np.uint8)

    def experts(self) -> dict[str, Fake]:
        given, _ = KNOWN["street"]
        names = {"depth": "depth", "detections": "detection", "flow": "flow"}
        return {names[key]: Fake(names[key], result) for key, result in given.items()}

    def test_experts_make_what_is_not_given(self) -> None:
        experts = self.experts()
        program = scene_program(
            self.PICTURE, self.PICTURE, labels=["person"], threshold=0.6, experts=experts
        )
        known = scene_program(**KNOWN["street"][0], threshold=0.6)
        assert program == known and len(program.images) == 2
        assert set(program.meta["experts"]) == {"depth", "detection", "flow"}
        assert program.meta["experts"]["depth"]["expert"] == "fake depth"
        assert experts["detection"].seen[0][1] == {"labels": ["person"], "threshold": 0.6}

    def test_only_that(self) -> None:
        given, _ = KNOWN["street"]
        experts = self.experts()
        program = scene_program(
            self.PICTURE,
            detections=given["detections"],
            experts={"depth": experts["depth"]},
        )
        assert set(program.meta["experts"]) == {"depth"} and len(program.items) == 3
        flat = scene_program(
            self.PICTURE, depth=False, labels=["x"], experts={"detection": experts["detection"]}
        )
        assert flat.items[0].r is None and flat.images
        assert flat.overlay().mode == "RGB"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"experts": {"flow": "dis"}}, "experts: expected only those"),
            ({"experts": {"colour": "x"}}, "experts: expected .* with keys among depth"),
            ({"experts": "dis"}, "experts: expected"),
            ({"labels": "dog", "experts": {}}, "labels: expected what to look for"),
            ({"labels": ["dog"], "detections": []}, "labels: expected a picture in which"),
            (
                {"second": PICTURE, "flow": np.zeros((500, 1000, 2))},
                "second: expected a first image",
            ),
            ({"image": 7}, "image: expected a picture, got int 7"),
            ({"image": DepthMap(np.eye(3))}, "image: expected a picture.*depth="),
        ],
    )
    def test_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            scene_program(**{"image": self.PICTURE, "depth": False, **options})


FOUND = {"boxes": [[10, 10, 50, 50]], "scores": [0.5], "labels": ["cat"]}


class TestInputs:
    def test_foreign_detections_have_the_size_of_the_rest(self) -> None:
        program = scene_program(depth=np.zeros((100, 200)), detections=FOUND)
        assert program.items[0].c == (50, 100, 250, 500)

    def test_sizes_must_agree(self) -> None:
        message = "one size, got depth 50×40, flow 50×40, detections 60×40"
        with pytest.raises(InputError, match=message):
            scene_program(
                depth=np.zeros((40, 50)),
                detections=Detections([], [], [], size=(60, 40)),
                flow=np.zeros((40, 50, 2)),
            )
        # A map of another resolution says which picture it is of.
        small = DepthMap(np.zeros((4, 6)), size=(60, 40))
        scene_program(depth=small, detections=Detections([], [], [], size=(60, 40)))

    def test_none_found(self) -> None:
        none = Detections([], [], [], size=(60, 40), threshold=0.3)
        program = scene_program(
            depth=np.zeros((40, 60)), detections=none, flow=np.zeros((40, 60, 2))
        )
        (ground,) = program.items
        assert (ground.p, ground.r) == ("background", (0.0, 0.0, 0.0)) and program.relations == ()
        none_found = "No object was found with a confidence of at least 0.3: none found."
        assert str(program.note).startswith(f"{none_found} background: what lies in no box. r: [")
        assert PerceptionProgram.from_text(str(program)) == program.rounded()
        still = scene_program(depth=np.zeros((40, 60)), detections=none)
        assert still.items == () and still.note == none_found
        assert scene_program(segmentation=np.zeros((9, 9), int)).items
        high = scene_program(detections=_one((0, 0, 9, 9)), threshold=0.9)
        assert high.items == () and high.meta["below_threshold"] == 1

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({}, "scene: expected detections= or segmentation="),
            ({"depth": np.zeros((9, 9))}, "scene: expected detections= or segmentation="),
            ({"depth": np.zeros((9, 9), int)}, "depth: expected a DepthMap or an H×W array"),
            ({"depth": np.arange(9.0).reshape(3, 3)}, r"kind=.*DepthMap\(values, kind\)"),
            ({"depth": "depth.png"}, "depth: expected a DepthMap or an H×W array"),
            ({"flow": np.zeros((9, 9))}, "flow: expected a FlowField"),
            ({"flow": np.zeros((9, 9, 3))}, "flow: expected an H×W×2 field"),
            ({"segmentation": np.zeros((9, 9))}, "segmentation: expected an H×W map of integers"),
            ({"detections": FOUND}, r"size.*Detections\.of"),
            ({"detections": 7}, "detections: expected Detections"),
            (
                {"segmentation": np.zeros((9, 9), int), "threshold": 0.5},
                "threshold: has no meaning",
            ),
            (
                {"detections": _one((0, 0, 9, 9)), "second": "b.png"},
                "second: expected a first image",
            ),
            ({"detections": _one((0, 0, 9, 9)), "units": "feet"}, "units: expected nearness or m"),
        ],
    )
    def test_refused(self, given: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            scene_program(**given)

    def test_same_input_same_text(self) -> None:
        given, _ = KNOWN["queue"]
        assert str(scene_program(**given)) == str(scene_program(**given))
