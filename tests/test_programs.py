"""Converters: what a result becomes, number by number, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perception_programs as pp
from perception_programs import (
    DepthMap,
    Detections,
    EdgeScores,
    FlowField,
    InputError,
    Matches,
    MissingExtraError,
    PerceptionProgram,
    Points,
    PointScores,
    Relation,
    Segmentation,
    ToolError,
)
from perception_programs.experts import Card
from perception_programs.programs.flow import NO_MOTION

RAMP = np.tile(np.linspace(1, 9, 64), (64, 1))


class Fake:
    """An expert that returns what it is given."""

    def __init__(self, modality: str, result: object) -> None:
        self.card = Card(name="fake", modality=modality, library="numpy", checkpoint="none/at-all")
        self.result = result
        self.seen: list[object] = []

    def __call__(self, *images: object, **options: object) -> object:
        self.seen.append((images, options))
        return self.result

    def batch(self, *images: object, **options: object) -> list[object]:
        return [self(*images, **options)]


class TestDepth:
    def test_polarity(self) -> None:  # FAULTS 1
        relative = pp.depth_program(RAMP, kind="relative", grid=(1, 4))
        metric = pp.depth_program(RAMP, kind="metric", grid=(1, 4))
        assert [item.r for item in relative.items] == sorted(item.r for item in relative.items)
        assert [item.r for item in metric.items] == sorted(
            (i.r for i in metric.items), reverse=True
        )
        with pytest.raises(InputError, match=r'kind="relative".*kind="metric"'):
            pp.depth_program(RAMP)

    def test_readings_are_the_cells_extremes(self) -> None:
        near = np.random.default_rng(0).random((60, 90), np.float32)
        program = pp.depth_program(near, grid=(3, 2))
        cell = near[20:40, 45:90]
        assert program.items[3].r == (pytest.approx(cell.min()), pytest.approx(cell.max()))
        assert program.items[3].p == 4 and program.grid == pp.Grid(3, 2)
        assert program.items[0].c == (244, 150)

    def test_constant(self) -> None:  # FAULTS 5
        program = pp.depth_program(np.full((32, 32), 3.0), kind="relative")
        assert {item.r for item in program.items} == {(0.5, 0.5)}
        assert program.relations == ()

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_what_is_not_finite_is_masked_and_counted(self, bad: float) -> None:  # FAULTS 5
        values = RAMP.copy()
        values[3, 3] = bad
        program = pp.depth_program(values, kind="relative")
        assert program.meta["masked_pixels"] == 1 and "empty_cells" not in program.meta
        for style in ("paper", "json"):
            assert "nan" not in program.to_text(style).lower()
            assert "inf" not in program.to_text(style).lower()

    def test_a_negative_distance_is_masked(self) -> None:  # FAULTS 5
        values = RAMP.copy()
        values[0, 0] = -2
        assert pp.depth_program(values, kind="metric").meta["masked_pixels"] == 1
        assert "masked_pixels" not in pp.depth_program(values, kind="relative").meta

    def test_an_empty_cell_reads_null(self) -> None:
        mask = np.ones((64, 64), bool)
        mask[:32, :32] = False
        program = pp.depth_program(RAMP, kind="relative", mask=mask, grid=2)
        assert program.items[0].r is None and program.items[1].r is not None
        assert program.meta["empty_cells"] == 1 and program.meta["masked_pixels"] == 32 * 32
        assert "null: nothing could be measured there" in program.note
        assert all(1 not in (r.subject, r.object) for r in program.relations)

    def test_all_nan(self) -> None:  # FAULTS 5
        with pytest.raises(InputError, match="none among 8×8 pixels"):
            pp.depth_program(np.full((8, 8), np.nan), kind="relative", grid=2)

    def test_relations_follow_the_means(self) -> None:
        near = np.zeros((20, 20), np.float32)
        near[:10, 10:] = 1
        near[10:, :10] = 0.1
        program = pp.depth_program(near, grid=2)
        assert program.relations == (Relation(2, "in_front_of", 1), Relation(2, "in_front_of", 4))
        assert pp.depth_program(near, grid=2, tau=0.05).relations == (
            Relation(2, "in_front_of", 1),
            Relation(3, "in_front_of", 1),
            Relation(2, "in_front_of", 4),
            Relation(3, "in_front_of", 4),
        )
        assert pp.depth_program(near, grid=2, relations=False).relations == ()

    def test_a_cap_keeps_the_strongest_and_counts_the_rest(self) -> None:
        near = np.tile(np.float32([0, 0.2, 1]), (3, 1))
        program = pp.depth_program(near, grid=(1, 3), relations=1)
        assert program.relations == (Relation(3, "in_front_of", 2),)
        assert program.meta["relations_cut"] == 1
        none = pp.depth_program(near, grid=(1, 3), relations=0)
        assert "relations:" not in str(none)
        with pytest.raises(InputError, match="relations: expected"):
            pp.depth_program(near, grid=(1, 3), relations=-1)

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.floats(0, 1))
    def test_relations_are_antisymmetric(self, seed: int, side: int, tau: float) -> None:
        near = np.random.default_rng(seed).random((24, 24), np.float32)
        program = pp.depth_program(near, grid=side, tau=tau)
        pairs = {(r.subject, r.object) for r in program.relations}
        assert len(pairs) == len(program.relations)
        assert not any((b, a) in pairs for a, b in pairs)

    def test_labels_come_from_a_segmentation(self) -> None:
        classes = np.zeros((64, 64), int)
        classes[:, 40:] = 1
        labels = Segmentation(classes, ["wall", "chair"])
        program = pp.depth_program(RAMP, kind="relative", grid=(1, 2), labels=labels)
        assert [item.b for item in program.items] == ["wall", "chair"]
        with pytest.raises(InputError, match="labels: expected a segmentation of"):
            pp.depth_program(RAMP, kind="relative", labels=np.zeros((3, 3), int))

    def test_ambiguous_arrays_are_refused_both_ways_named(self) -> None:
        for source in (RAMP.astype(np.uint8), RAMP[None], RAMP[..., None]):
            with pytest.raises(
                InputError, match=r"may be a depth map or a grey picture.*load_image"
            ):
                pp.depth_program(source)

    def test_integers_with_a_kind_are_depth(self) -> None:
        assert len(pp.depth_program(RAMP.astype(np.uint8), kind="relative").items) == 100

    def test_a_picture_needs_an_expert(self) -> None:
        picture = np.zeros((20, 30, 3), np.uint8)
        depth = DepthMap(np.tile(np.linspace(0, 1, 30), (20, 1)))
        expert = Fake("depth", depth)
        program = pp.depth_program(picture, expert=expert, grid=2)
        assert program.meta["expert"] == "fake" and program.meta["checkpoint"] == "none/at-all"
        assert program.meta["version"] == np.__version__
        assert program.images[0] is picture and expert.seen[0][0][0] is picture
        with pytest.raises(ToolError, match="expected DepthMap"):
            pp.depth_program(picture, expert=Fake("depth", 3))
        with pytest.raises(InputError, match="'sift' for correspondence"):
            pp.depth_program(picture, expert="sift")
        with pytest.raises(InputError, match="expert: expected a name or an expert"):
            pp.depth_program(picture, expert=3)

    def test_options_that_would_be_ignored_are_refused(self) -> None:
        depth = DepthMap(RAMP, "relative")
        with pytest.raises(InputError, match="kind: has no meaning beside a DepthMap"):
            pp.depth_program(depth, kind="metric")
        with pytest.raises(InputError, match="expert: has no meaning beside a depth map"):
            pp.depth_program(RAMP, kind="relative", expert="dis")
        with pytest.raises(InputError, match="mask: has no meaning beside a picture"):
            pp.depth_program("a.png", mask=RAMP > 0)

    @pytest.mark.parametrize("source", [None, 3, [1, 2], np.zeros((2, 2, 7)), {}])
    def test_other_things(self, source: object) -> None:
        with pytest.raises(InputError, match="depth: expected"):
            pp.depth_program(source)

    def test_grid_finer_than_the_map(self) -> None:
        with pytest.raises(InputError, match="grid: expected at most one cell a pixel"):
            pp.depth_program(np.zeros((5, 5)), grid=10)

    def test_bad_tau(self) -> None:
        for tau in (-1, float("nan"), "a", None):
            with pytest.raises(InputError, match="tau: expected"):
                pp.depth_program(np.zeros((20, 20)), tau=tau)


class TestFlow:
    def test_sign_of_the_mean(self) -> None:
        uv = np.zeros((20, 20, 2), np.float32)
        uv[:10, :10, 0] = -1
        uv[:10, 10:, 0] = 2
        uv[10:, :10, 1] = -5
        program = pp.flow_program(uv, grid=2)
        assert [item.r for item in program.items] == ["left", "right", "right", "right"]
        assert program.relations == ()

    def test_unknown_vectors(self) -> None:
        uv = np.full((20, 20, 2), -1.0)
        uv[:10, :10] = np.nan
        uv[0, 19, 1] = np.inf
        program = pp.flow_program(uv, grid=2)
        assert [item.r for item in program.items] == [None, "left", "left", "left"]
        assert program.meta["masked_pixels"] == 101 and program.meta["empty_cells"] == 1

    def test_pictures_go_through_the_expert(self) -> None:
        frames = np.zeros((20, 30, 3), np.uint8), np.zeros((20, 30, 3), np.uint8)
        program = pp.flow_program(*frames, expert=Fake("flow", FlowField(np.ones((20, 30, 2)))))
        assert program.meta["expert"] == "fake" and len(program.images) == 2

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("a.png",), "got only str 'a.png'"),
            ((np.zeros((2, 8, 8)),), "move the first axis"),
            ((np.zeros((8, 8, 2)), "b.png"), "second: has no meaning"),
            (("a.png", 3), "second: expected a picture"),
            ((FlowField(np.ones((4, 4, 2))), "b.png"), "second: has no meaning"),
        ],
    )
    def test_refusals(self, arguments: tuple[object, ...], words: str) -> None:
        with pytest.raises(InputError) as caught:
            pp.flow_program(*arguments)
        assert words in str(caught.value)

    def test_frames_of_two_sizes(self) -> None:
        with pytest.raises(InputError, match="30×20 and 20×30"):
            pp.flow_program(
                np.zeros((20, 30, 3), np.uint8), np.zeros((30, 20, 3), np.uint8), expert="dis"
            )


class TestCorrespondence:
    def test_each_image_has_its_own_frame_and_floors(self) -> None:
        matches = Matches([[99.9, 49.9]], [[50, 10]], size1=(100, 50), size2=(200, 40))
        item = pp.correspondence_program(matches).items[0]
        assert item.c == (999, 998) and item.r == (250, 250)

    def test_none_found(self) -> None:  # FAULTS 6
        none = Matches([], [], size1=(9, 9), threshold=0.25)
        text = str(pp.correspondence_program(none))
        assert text.count("none found") == 1 and "0.25" in text and "items: []" in text

    def test_a_limit_keeps_the_surest_in_their_order(self) -> None:
        points = [[1, 1], [2, 2], [3, 3], [4, 4]]
        sure = Matches(points, points, [0.1, 0.9, 0.2, 0.8], size1=(10, 10))
        program = pp.correspondence_program(sure, limit=2)
        assert [item.c for item in program.items] == [(200, 200), (400, 400)]
        assert program.meta["matches_cut"] == 2
        unsure = pp.correspondence_program(Matches(points, points, size1=(10, 10)), limit=1)
        assert unsure.items[0].c == (100, 100)
        assert "matches_cut" not in pp.correspondence_program(sure, limit=9).meta
        for limit in (0, -1, 2.5, True):
            with pytest.raises(InputError, match="limit: expected"):
                pp.correspondence_program(sure, limit=limit)

    def test_needs_two_pictures(self) -> None:
        with pytest.raises(InputError, match="two pictures"):
            pp.correspondence_program("a.png")
        with pytest.raises(InputError, match="second: has no meaning"):
            pp.correspondence_program(Matches([], [], size1=(9, 9)), "b.png")


class TestJigsaw:
    def test_items(self) -> None:
        def border(value: float) -> dict[str, object]:
            return {"structural": value, "colour": value, "edge": 0.3, "box": (0, 0, 4, 50)}

        scores = EdgeScores(
            {"A": {"left": border(0.9), "top": {**border(0.6), "box": (0, 0, 100, 4)}}},
            {"A": (100, 50)},
        )
        program = pp.jigsaw_program(scores)
        assert [(i.i, i.p, i.c) for i in program.items] == [
            ("A", "left", (0, 0, 40, 1000)),
            ("A", "top", (0, 0, 1000, 80)),
        ]
        assert [item.r for item in program.items] == pytest.approx([0.7, 0.5])
        assert program.meta["parts"]["A"]["left"]["edge"] == 0.3

    def test_refusals(self) -> None:
        picture = np.zeros((20, 30, 3), np.uint8)
        with pytest.raises(InputError, match="candidates: expected"):
            pp.jigsaw_program(picture)
        with pytest.raises(InputError, match="candidates: expected"):
            pp.jigsaw_program(picture, [picture])
        with pytest.raises(InputError, match="got 40×40"):
            pp.jigsaw_program(picture, {"A": np.zeros((40, 40, 3), np.uint8)})


class TestDetection:
    FOUND = Detections(
        [[64, 48, 320, 240], [0, 0, 640, 480]], [0.9, 0.25], ("cat", "sofa"), size=(640, 480)
    )

    def test_boxes_are_normalised(self) -> None:
        program = pp.detection_program(self.FOUND)
        assert [item.c for item in program.items] == [(100, 100, 500, 500), (0, 0, 1000, 1000)]
        assert [item.r for item in program.items] == [0.9, 0.25]

    def test_threshold(self) -> None:
        program = pp.detection_program(self.FOUND, threshold=0.9)
        assert [item.b for item in program.items] == ["cat"]
        assert program.meta["below_threshold"] == 1 and program.meta["threshold"] == 0.9

    def test_none_found(self) -> None:  # FAULTS 6
        text = str(pp.detection_program(self.FOUND, threshold=0.95))
        assert text.count("none found") == 1 and "0.95" in text and "items: []" in text
        empty = Detections([], [], (), size=(5, 5), threshold=0.3)
        assert "at least 0.3: none found" in str(pp.detection_program(empty))

    def test_foreign_results(self) -> None:
        rows = [{"bbox": [64, 48, 64, 48], "score": 0.5, "category_id": 1}]
        program = pp.detection_program(rows, size=(640, 480), names=["", "cup"])
        assert program.items[0].b == "cup" and program.items[0].c == (100, 100, 200, 200)

    def test_a_picture_needs_labels(self) -> None:
        expert = Fake("detection", self.FOUND)
        for labels in ([], (), "cat"):
            with pytest.raises(InputError, match="labels: expected what to look for"):
                pp.detection_program("a.png", labels=labels, expert=expert)
        pp.detection_program("a.png", labels=("cat", "dog"), expert=expert)
        assert expert.seen[0][1] == {"labels": ["cat", "dog"]}

    def test_names_of_classes_are_not_labels_to_look_for(self) -> None:
        with pytest.raises(InputError, match="labels: has no meaning"):
            pp.detection_program(self.FOUND, labels=["cat"])


class TestSemantic:
    SCORES = PointScores(
        {"A": (10, 20), "B": (30, 40)}, {"A": 0.2, "B": 0.8}, (5, 5), (50, 50), (100, 100)
    )

    def test_items(self) -> None:
        program = pp.semantic_program(self.SCORES)
        assert [(i.p, i.c, i.r) for i in program.items] == [
            ("A", (100, 200), 0.2),
            ("B", (300, 400), 0.8),
        ]
        assert program.meta["reference"] == (100, 100) and "[100, 100]" in program.note

    def test_pictures_need_points(self) -> None:
        with pytest.raises(InputError, match="without reference"):
            pp.semantic_program("a.png", "b.png", candidates={"A": (1, 2)})
        expert = Fake("semantic", self.SCORES)
        program = pp.semantic_program(
            "a.png", "b.png", reference=(1, 2), candidates={"A": (1, 2)}, expert=expert
        )
        assert expert.seen[0][1]["reference"] == (1, 2) and program.images == ("a.png", "b.png")


class TestPoints:
    def test_one_image(self) -> None:
        program = pp.points_program({"A": (10, 20), "B": (0, 0)}, size=(100, 100))
        assert [(i.p, i.c, i.b, i.i) for i in program.items] == [
            (None, (100, 200), "A", None),
            (None, (0, 0), "B", None),
        ]
        assert program.granularity == "pixels"

    def test_boxes(self) -> None:
        program = pp.points_program({"A": (0, 0, 50, 25)}, size=(100, 100))
        assert (
            program.items[0].c == (0, 0, 500, 250) and "upper left and lower right" in program.note
        )

    def test_several_images_say_which(self) -> None:
        one = Points.from_dict({"REF": (1, 1)}, size=(10, 10), image="first.png")
        two = Points.from_dict({"A": (5, 5)}, size=(50, 50), image="second.png")
        program = pp.points_program(one, two)
        assert [(item.i, item.c) for item in program.items] == [
            ("first.png", (100, 100)),
            ("second.png", (100, 100)),
        ]
        same = Points.from_dict({"A": (5, 5)}, size=(50, 50), image="first.png")
        assert [item.i for item in pp.points_program(one, same).items] == ["image 1", "image 2"]

    def test_none(self) -> None:
        empty = Points(points=[], labels=(), size=(10, 10))
        assert "none found" in str(pp.points_program(empty))

    def test_refusals(self) -> None:
        with pytest.raises(InputError, match="at least one"):
            pp.points_program()
        with pytest.raises(InputError, match="size: expected"):
            pp.points_program({"A": (1, 2)})
        with pytest.raises(InputError, match="within 10×10"):
            pp.points_program({"A": (11, 2)}, size=(10, 10))
        with pytest.raises(InputError, match="dict of points or a picture"):
            pp.points_program(3)
        mixed = (
            Points.from_dict({"A": (0, 0, 5, 5)}, (9, 9)),
            Points.from_dict({"A": (1, 1)}, (9, 9)),
        )
        with pytest.raises(InputError, match="boxes on another"):
            pp.points_program(*mixed)


class TestSegmentationAndOthers:
    def test_dominant_class_and_share(self) -> None:
        classes = np.zeros((10, 20), int)
        classes[:, 12:] = 7
        program = pp.segmentation_program(classes, {0: "road", 7: "car"}, grid=(1, 2))
        assert [(i.b, i.r) for i in program.items] == [("road", 1.0), ("car", 0.8)]
        assert program.relations == (Relation(1, "adjacent_to", 2),)
        assert pp.segmentation_program(classes, grid=(1, 2)).items[1].b == "7"

    def test_equal_shares_take_the_lowest_number(self) -> None:
        assert pp.segmentation_program(np.array([[3, 1]]), grid=1).items[0].b == "1"

    def test_segmentation_refusals(self) -> None:
        with pytest.raises(InputError, match="names: has no meaning"):
            pp.segmentation_program(Segmentation(np.zeros((4, 4), int)), ["a"])
        with pytest.raises(InputError, match="segmentation: expected"):
            pp.segmentation_program(np.zeros((4, 4)))

    def test_albedo(self) -> None:
        albedo = np.tile(np.repeat([0.2, 0.25, 1.4], 4), (4, 1))
        program = pp.albedo_program(albedo, grid=(1, 3))
        assert [item.r for item in program.items] == pytest.approx([0.2, 0.25, 1.0], abs=1e-6)
        assert program.relations == (
            Relation(1, "about the same as", 2),
            Relation(2, "is darker than", 3),
        )
        with pytest.raises(InputError, match="finite"):
            pp.albedo_program(np.full((4, 4), np.nan), grid=1)
        gap = albedo.copy()
        gap[:, :4] = np.nan
        holed = pp.albedo_program(gap, grid=(1, 3))
        assert holed.items[0].r is None and holed.meta["masked_pixels"] == 16

    def test_similarity(self) -> None:
        maps = {"A": np.array([[1.0, 0.5]]), "B": np.array([[0.2, np.nan]])}
        program = pp.similarity_program(maps, grid=(1, 2))
        assert [(i.p, i.c, i.r) for i in program.items] == [
            (1, "A", 1.0),
            (2, "A", 0.5),
            (1, "B", pytest.approx(0.2)),
            (2, "B", None),
        ]
        for bad in ({}, None, {"A": np.zeros(3)}, {"A": np.full((2, 2), np.nan)}, np.zeros((2, 2))):
            with pytest.raises(InputError, match=r"target"):
                pp.similarity_program(bad, grid=1)


def test_experts_that_do_not_exist_yet_say_what_to_pass() -> None:
    from perception_programs.experts import registry

    for modality in ("depth", "detection", "semantic"):
        if registry.available(modality):
            continue
        with pytest.raises(MissingExtraError, match=f"{modality}_program"):
            registry.default(modality)


def test_true_disparity_reads_in_the_order_of_the_truth(
    motorcycle: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    _, _, disparity = motorcycle
    program = pp.depth_program(disparity, kind="relative")
    middles = np.array([sum(item.r) / 2 for item in program.items])
    height, width = disparity.shape
    truth = np.array(
        [
            (np.nanmin(disparity[y0:y1, x0:x1]) + np.nanmax(disparity[y0:y1, x0:x1])) / 2
            for x0, y0, x1, y1 in program.grid.boxes((width, height))
        ]
    )
    assert (np.argsort(middles, kind="stable") == np.argsort(truth, kind="stable")).all()


def test_every_program_survives_both_styles(
    snapshot_programs: dict[str, PerceptionProgram],
) -> None:
    for program in snapshot_programs.values():
        assert PerceptionProgram.from_text(str(program)) == program.rounded()
        assert PerceptionProgram.from_text(program.to_text("json")) == program
        back = PerceptionProgram.from_json(program.to_json())
        assert back == program and dict(back.meta) == dict(program.meta)


class TestReliability:
    def test_flow_that_must_earn_its_reading(self) -> None:
        uv = np.zeros((20, 40, 2), np.float32)
        uv[:, :10, 0], uv[:, 10:20, 0], uv[:, 20:30, 0] = -3, -3, 0.1
        uv[:, 30:, 0] = np.nan
        confidence = np.ones((20, 40), np.float32)
        confidence[5:, 10:20] = 0
        flow = FlowField(uv, confidence)
        program = pp.flow_program(flow, grid=(1, 4), check=True)
        assert [item.r for item in program.items] == ["left", NO_MOTION, NO_MOTION, None]
        assert program.meta["consistent"] == (1, 0.25, 1, None)
        assert NO_MOTION in program.note and NO_MOTION not in pp.flow_program(flow, grid=2).note
        assert PerceptionProgram.from_text(str(program)) == program
        with pytest.raises(InputError, match="check: expected a flow with its confidence"):
            pp.flow_program(uv[:, :30], check=True)

    def test_two_near_identical_frames(self) -> None:  # FAULTS 17
        rng = np.random.default_rng(0)
        frame = np.kron(rng.integers(0, 256, (12, 16, 3)), np.ones((10, 10, 1))).astype(np.uint8)
        noisy = np.clip(frame + rng.normal(0, 1, frame.shape), 0, 255).astype(np.uint8)
        program = pp.flow_program(frame, noisy, expert="dis", check=True, grid=4)
        assert {item.r for item in program.items} == {NO_MOTION}
        moved = pp.flow_program(frame, np.roll(frame, -4, axis=1), expert="dis", check=True, grid=4)
        assert [item.r for item in moved.items].count("left") >= 12

    def test_matches_say_which_disagree(self) -> None:
        points = [[1, 1], [2, 2], [3, 3]]
        matches = Matches(points, points, size1=(9, 9), inliers=np.array([True, False, True]))
        assert pp.correspondence_program(matches).meta["outliers"] == (2,)

    def test_detections_say_what_came_second(self) -> None:
        found = Detections(
            [[1, 2, 3, 4], [1, 2, 3, 4]], [0.9, 0.5], ("cat", "dog"), size=(9, 9),
            runner_up_labels=("dog", None), runner_up_scores=[0.8, 0],
        )  # fmt: skip
        program = pp.detection_program(found)
        assert program.meta["runner_up"] == (("dog", 0.8), None)
        assert "runner_up" not in pp.detection_program(TestDetection.FOUND).meta

    def test_metres(self) -> None:
        metres = np.tile(np.linspace(0.5, 4, 40), (20, 1))
        program = pp.depth_program(metres, kind="metric", grid=(1, 2), units="m")
        assert program.items[0].r == (0.5, pytest.approx(2.205, abs=1e-3))
        assert program.meta["units"] == "m" and "in metres" in program.note
        assert program.relations == (Relation(1, "in_front_of", 2),)
        with pytest.raises(InputError, match="metric map"):
            pp.depth_program(metres, kind="relative", units="m")
        with pytest.raises(InputError, match="units: expected"):
            pp.depth_program(metres, kind="metric", units="feet")
