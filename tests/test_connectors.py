"""Results of other libraries, read and made: round trips, and the traps on the way."""

from __future__ import annotations

import dataclasses
import json
import sys
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from perception_programs import (
    DepthMap,
    Detections,
    InputError,
    Matches,
    MissingExtraError,
    Segmentation,
    detection_program,
)
from perception_programs.results import coco_file
from strategies import HOSTILE, QUICK

SIZE = (64, 48)
LABELS = ("cat", "dog", *HOSTILE)


@st.composite
def detections(draw: st.DrawFn, masks: bool = False) -> Detections:
    """Any detections on an image of 64×48 pixels."""
    count = draw(st.integers(0, 4))
    sides = [st.floats(0, side, width=32) for side in (*SIZE, *SIZE)]
    boxes = [[draw(side) for side in sides] for _ in range(count)]
    if count and max(max(box) for box in boxes) <= 1:  # which would read as fractions
        boxes[0] = [1, 2, 30, 40]
    found = Detections(
        np.array(boxes, np.float32).reshape(-1, 4),
        np.array([draw(st.floats(0, 1, width=32)) for _ in range(count)], np.float32),
        tuple(draw(st.sampled_from(LABELS)) for _ in range(count)),
        size=SIZE,
    )
    if not masks:
        return found
    drawn = np.random.default_rng(draw(st.integers(0, 9))).random((count, 48, 64)) > 0.5
    return dataclasses.replace(found, masks=drawn)


def same(one: Detections, other: Detections) -> bool:
    """Whether nothing was lost, to the last bit."""
    masks = (one.masks is None) == (other.masks is None)
    return (
        np.array_equal(one.boxes, other.boxes)
        and np.array_equal(one.scores, other.scores)
        and one.labels == other.labels
        and one.size == other.size
        and masks
        and (one.masks is None or np.array_equal(one.masks, other.masks))
    )


CAT = Detections([[10, 20, 30, 40]], [0.5], ("cat",), size=SIZE)


class TestCoco:
    @QUICK
    @given(detections())
    def test_results_round_trip(self, found: Detections) -> None:
        names = dict(enumerate(LABELS, 1))
        rows = json.loads(json.dumps(found.to_coco(image=7, names=names)))
        assert same(Detections.from_coco(rows, size=SIZE, names=names, image=7), found)

    @QUICK
    @given(detections(), detections())
    def test_files_round_trip(self, one: Detections, other: Detections) -> None:
        data = json.loads(json.dumps(coco_file({"a.jpg": one, "b.jpg": other})))
        assert same(Detections.from_coco(data, image="a.jpg"), one)
        assert same(Detections.from_coco(data, image=2), other)

    @QUICK
    @given(detections(masks=True))
    def test_masks_round_trip(self, found: Detections) -> None:
        data = json.loads(json.dumps(coco_file({"a.jpg": found})))
        assert same(Detections.from_coco(data, image=1, masks=True), found)

    def annotation(self, **more: Any) -> dict[str, Any]:
        row = {"id": 1, "image_id": 5, "category_id": 3, "bbox": [1, 2, 3, 4], "iscrowd": 0, **more}
        return {
            "images": [{"id": 5, "file_name": "a.jpg", "width": 64, "height": 48}],
            "annotations": [row],
            "categories": [{"id": 3, "name": "car"}],
        }

    def test_annotations_have_no_score_of_their_own(self) -> None:
        with pytest.raises(InputError, match="score="):
            Detections.from_coco(self.annotation(), image=5)
        found = Detections.from_coco(self.annotation(), score=1)  # the only image need not be named
        assert found.scores.tolist() == [1] and found.labels == ("car",) and found.size == SIZE

    def test_a_crowd_is_no_single_object(self) -> None:
        found = Detections.from_coco(self.annotation(iscrowd=1), score=1)
        assert found.labels == ("car (crowd)",)

    def test_one_image_of_many(self) -> None:
        row = {"bbox": [1, 2, 3, 4], "score": 0.5, "category": "a"}
        rows = [{**row, "image_id": 1}, {**row, "image_id": 2, "category": "b"}]
        assert Detections.from_coco(rows, size=SIZE, image="2").labels == ("b",)
        assert len(Detections.from_coco(rows, size=SIZE, image=3)) == 0  # found nothing there
        with pytest.raises(InputError, match="image= says which"):
            Detections.from_coco(rows, size=SIZE)
        for wrong in (3, "rows", [3]):
            with pytest.raises(InputError, match="COCO"):
                Detections.from_coco(wrong, size=SIZE)
        with pytest.raises(InputError, match="0 of 1"):
            Detections.from_coco(self.annotation(), image="b.jpg", score=1)

    @pytest.mark.parametrize(
        "change",
        [
            {"images": 3},
            {"images": [3]},
            {"images": [{"id": 5}]},
            {"images": []},
            {"annotations": None},
            {"categories": {}},
            {"categories": [{"id": 4, "name": "van"}]},
            {"annotations": [{"image_id": 5}]},
            {"annotations": [{"image_id": 5, "bbox": [1, 2, 3], "category_id": 3}]},
        ],
    )
    def test_broken_files(self, change: dict[str, Any]) -> None:
        with pytest.raises(InputError):
            Detections.from_coco({**self.annotation(), **change}, score=1)

    def test_polygons(self) -> None:
        square = [10, 10, 20, 10, 20, 20, 10, 20]
        found = Detections.from_coco(self.annotation(segmentation=[square]), score=1, masks=True)
        assert found.masks[0, 10:20, 10:20].all() and found.masks.sum() == 100
        runs = {"size": [48, 64], "counts": [48, 48, 48 * 62]}  # the second column
        found = Detections.from_coco(self.annotation(segmentation=runs), score=1, masks=True)
        assert found.masks[0, :, 1].all() and found.masks.sum() == 48

    @pytest.mark.parametrize(
        "segmentation",
        [
            None,
            [],
            "abc",
            [[1, 2]],
            [[1, 2, 3, 4, "a", 6]],
            {"size": [9, 9], "counts": [81]},
            {"size": [48, 64], "counts": [5]},
            {"size": [48, 64], "counts": [-1, 3073]},
            {"size": [48, 64], "counts": "oooooooooooo"},
            {"size": [48, 64], "counts": "PPP"},
            {"size": [48, 64], "counts": "é"},
            {"size": [48, 64], "counts": 7},
            {"size": [48, 64]},
        ],
    )
    def test_broken_segmentations(self, segmentation: Any) -> None:
        with pytest.raises(InputError, match="segmentation of object 0"):
            Detections.from_coco(self.annotation(segmentation=segmentation), score=1, masks=True)

    def test_names_must_hold_the_labels(self) -> None:
        with pytest.raises(InputError, match="a number for"):
            CAT.to_coco(image=1, names={1: "dog"})
        with pytest.raises(InputError, match="one number for 'cat'"):
            CAT.to_coco(image=1, names={1: "cat", 2: "cat"})


class TestFiftyone:
    @QUICK
    @given(detections())
    def test_round_trip(self, found: Detections) -> None:
        made = json.loads(json.dumps(found.to_fiftyone()))
        assert same(Detections.from_fiftyone(made, size=SIZE), found)
        assert same(Detections.of(made, size=SIZE), found)

    def test_objects_and_bare_lists(self) -> None:
        one = {"label": "cat", "bounding_box": [0.25, 0.5, 0.5, 0.25], "confidence": 0.5}
        for found in ([one], SimpleNamespace(detections=[SimpleNamespace(**one)])):
            assert Detections.of(found, size=(100, 80)).boxes.tolist() == [[25, 40, 75, 60]]

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"bounding_box": [100, 50, 20, 20]}, "fractions"),
            ({"bounding_box": [0.1, 0.2, 0.3]}, "bounding_box"),
            ({"bounding_box": None}, "'bounding_box'"),
            ({"confidence": None}, "score="),
            ({"label": None}, "label"),
        ],
    )
    def test_refusals(self, change: dict[str, Any], words: str) -> None:
        one = {"label": "cat", "bounding_box": [0.1, 0.2, 0.3, 0.4], "confidence": 0.5}
        with pytest.raises(InputError, match=words):
            Detections.from_fiftyone([{**one, **change}], size=SIZE)
        with pytest.raises(InputError, match="FiftyOne"):
            Detections.from_fiftyone(3, size=SIZE)


class TestPipelineBoxes:
    ROW: ClassVar = {
        "score": 0.5,
        "label": "cat",
        "box": {"xmin": 1, "ymin": 2, "xmax": 30, "ymax": 40},
    }

    @QUICK
    @given(detections())
    def test_round_trip(self, found: Detections) -> None:
        wide = (found.boxes[:, 2:] > found.boxes[:, :2]).all(axis=1).tolist()
        made = Detections.from_pipeline(found.to_pipeline(), size=SIZE)
        assert np.array_equal(made.boxes, found.boxes[wide])
        labels = [label.strip() for label, kept in zip(found.labels, wide, strict=True) if kept]
        assert list(made.labels) == labels

    def test_traps(self) -> None:
        beyond = {**self.ROW, "box": {"xmin": 40, "ymin": 30, "xmax": 70, "ymax": 90}}
        padding = {**self.ROW, "box": {"xmin": 5, "ymin": 48, "xmax": 60, "ymax": 62}}
        found = Detections.of([self.ROW, {**beyond, "label": " dog"}, padding], size=SIZE)
        assert found.boxes.tolist() == [[1, 2, 30, 40], [40, 30, 64, 48]]
        assert found.labels == ("cat", "dog")
        assert len(Detections.from_pipeline([], size=SIZE)) == 0

    @pytest.mark.parametrize(
        ("output", "words"),
        [
            ([[ROW]], "output\\[0\\]"),
            ({"label": "cat"}, "list of dicts"),
            ([{"label": "cat", "score": 0.5}], "box"),
            ([{**ROW, "box": [1, 2, 3, 4]}], "xmin"),
            ([{**ROW, "label": 3}], "label"),
            ([{**ROW, "score": None}], "score="),
        ],
    )
    def test_refusals(self, output: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            Detections.from_pipeline(output, size=SIZE)

    def test_names_have_no_meaning(self) -> None:
        with pytest.raises(InputError, match="names"):
            Detections.of([self.ROW], size=SIZE, names=["a"])


def segment(label: str, mask: Any, score: float | None = None) -> dict[str, Any]:
    return {"label": label, "score": score, "mask": Image.fromarray(np.uint8(mask) * 255)}


class TestPipelineSegments:
    LEFT = np.arange(8) < np.full((6, 1), 4)
    TOP = np.arange(6)[:, None] < np.full((1, 8), 3)

    @QUICK
    @given(st.integers(0, 9), st.integers(1, 3))
    def test_round_trip(self, seed: int, count: int) -> None:
        classes = np.random.default_rng(seed).integers(0, count, (6, 8))
        found = Segmentation(classes, {0: "sky", 2: "sea"})
        made = Segmentation.from_pipeline(found.to_pipeline())
        names = np.vectorize(found.name)(classes)
        assert (np.vectorize(made.name)(made.classes) == names).all()

    def test_segments_become_the_image_s_size(self) -> None:
        (mask,) = Segmentation([[1]], {1: "sky"}, size=(8, 6)).to_pipeline()
        assert mask["mask"].size == (8, 6) and mask["score"] is None

    def test_overlaps(self) -> None:
        both = [segment("sky", self.LEFT, 0.5), segment("sea", self.TOP, 0.9)]
        found = Segmentation.from_pipeline(both)
        assert found.name(found.classes[0, 0]) == "sea" and found.name(found.classes[5, 0]) == "sky"
        assert found.name(found.classes[5, 7]) == "unlabelled"
        with pytest.raises(InputError, match="overlap"):
            Segmentation.from_pipeline([segment("sky", self.LEFT), segment("sea", self.TOP)])
        same_label = [segment("sky", self.LEFT), segment("sky", self.TOP)]
        assert (Segmentation.from_pipeline(same_label).classes == (self.LEFT | self.TOP)).all()

    def test_nothing_found(self) -> None:
        assert not Segmentation.from_pipeline([], size=(8, 6)).classes.any()
        empty = [segment("sky", np.zeros((6, 8), bool), 0.5)]
        assert not Segmentation.from_pipeline(empty).classes.any()
        assert len(Detections.from_pipeline(empty)) == 0
        with pytest.raises(InputError, match="size"):
            Segmentation.from_pipeline([])

    def test_each_mask_an_object(self) -> None:
        twice = [segment("cat", self.LEFT, 0.9), segment("cat", ~self.LEFT, 0.8)]
        found = Detections.of(twice)
        assert found.boxes.tolist() == [[0, 0, 4, 6], [4, 0, 8, 6]] and found.size == (8, 6)
        assert (found.masks[1] == ~self.LEFT).all()
        with pytest.raises(InputError, match="score="):
            Detections.from_pipeline([segment("cat", self.LEFT)])
        with pytest.raises(InputError, match="8×6"):
            Detections.from_pipeline(twice, size=SIZE)

    @pytest.mark.parametrize(
        "output",
        [
            3,
            "ab",
            [3],
            [[segment("a", LEFT)]],
            [{"label": "a", "mask": None, "score": None}],
            [{"label": "a", "mask": LEFT * 0.3, "score": None}],
            [{"label": "a", "mask": np.uint8(LEFT) * 100, "score": None}],
            [segment("a", LEFT), segment("b", LEFT[1:])],
        ],
    )
    def test_refusals(self, output: Any) -> None:
        with pytest.raises(InputError):
            Segmentation.from_pipeline(output)


class TestPipelineMatches:
    ROW: ClassVar = {
        "keypoint_image_0": {"x": 5, "y": 6},
        "keypoint_image_1": {"x": 7, "y": 8},
        "score": 0.5,
    }

    @QUICK
    @given(st.integers(0, 9), st.integers(0, 4), st.booleans())
    def test_round_trip(self, seed: int, count: int, scored: bool) -> None:
        points = np.random.default_rng(seed).random((2, count, 2)).astype(np.float32) * 40
        found = Matches(*points, np.ones(count) if scored else None, size1=SIZE, size2=(50, 90))
        made = Matches.from_pipeline(found.to_pipeline(), size1=SIZE, size2=(50, 90), swapped=False)
        assert np.array_equal(made.points1, points[0]) and np.array_equal(made.points2, points[1])
        assert (made.confidence is None) == (not scored) or not count

    def test_sides_are_put_right(self) -> None:
        found = Matches.from_pipeline([self.ROW], size1=(20, 10), size2=(10, 40), swapped=True)
        assert found.points1.tolist() == [[10, 3]] and found.points2.tolist() == [[1.75, 32]]
        square = Matches.from_pipeline([self.ROW], size1=(9, 9), threshold=0.2)
        assert square.points1.tolist() == [[5, 6]] and square.threshold == np.float32(0.2)

    def test_output_from_elsewhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "transformers.pipelines.keypoint_matching", raising=False)
        with pytest.raises(InputError, match="swapped"):
            Matches.from_pipeline([self.ROW], size1=(20, 10))
        assert len(Matches.from_pipeline([], size1=(20, 10))) == 0

    @pytest.mark.parametrize(
        "output",
        [
            [[ROW]],
            3,
            [3],
            [{**ROW, "keypoint_image_0": 3}],
            [{**ROW, "score": "a"}],
            [{"score": 1}],
        ],
    )
    def test_refusals(self, output: Any) -> None:
        with pytest.raises(InputError):
            Matches.from_pipeline(output, size1=(9, 9), swapped=False)


def test_depth_of_a_batch_and_of_another_size() -> None:
    output = {"predicted_depth": np.ones((1, 3, 4), np.float32)}
    with pytest.raises(InputError, match=r"output\[0\]"):
        DepthMap.from_pipeline([output], kind="relative")
    assert DepthMap.from_pipeline(output, kind="metric", size=(40, 30)).size == (40, 30)


@pytest.mark.parametrize("name", ["supervision", "ultralytics"])
def test_what_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    ways = {
        "supervision": CAT.to_supervision,
        "ultralytics": lambda: CAT.to_ultralytics(np.zeros((48, 64, 3), np.uint8)),
    }
    with pytest.raises(MissingExtraError, match=f"pip install {name}"):
        ways[name]()


def test_labels_of_others_are_one_line_in_a_program() -> None:
    for label in HOSTILE:
        found = Detections.of(
            [{"label": label, "bounding_box": [0.1, 0.2, 0.3, 0.4], "confidence": 0.5}], size=SIZE
        )
        program = detection_program(found)
        assert type(program).from_text(str(program)).items[0].b is not None
        assert str(program).count("\n  - ") == 1
