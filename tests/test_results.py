"""Results: what they take, what they refuse, and the files they read and write."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from PIL import Image

from perception_programs import (
    DepthMap,
    Detections,
    EdgeScores,
    FlowField,
    InputError,
    Matches,
    Points,
    PointScores,
    Segmentation,
)

RAMP = np.tile(np.linspace(1, 9, 64), (64, 1))


class TestDepthMap:
    def test_polarity(self) -> None:  # FAULTS 1
        relative = DepthMap(RAMP, "relative").nearness()
        metric = DepthMap(RAMP, "metric").nearness()
        assert (np.diff(relative[0]) > 0).all() and (np.diff(metric[0]) < 0).all()
        for near in (relative, metric):
            assert near.min() == 0 and near.max() == 1 and near.dtype == np.float32

    def test_unspecified_outside_the_unit_range_names_both_ways(self) -> None:  # FAULTS 1
        with pytest.raises(InputError) as caught:
            DepthMap(RAMP)
        assert 'kind="relative"' in str(caught.value) and 'kind="metric"' in str(caught.value)
        assert "from 1 to 9" in str(caught.value)

    def test_metric_reads_like_its_inverse(self) -> None:
        metric = DepthMap(RAMP, "metric").nearness()
        inverse = DepthMap(1 / RAMP, "relative").nearness()
        assert np.allclose(metric, inverse, atol=1e-6)

    def test_constant(self) -> None:  # FAULTS 5
        assert (DepthMap(np.full((4, 4), 3.0), "relative").nearness() == 0.5).all()
        assert (DepthMap(np.full((4, 4), 0.3)).nearness() == np.float32(0.3)).all()

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("kind", ["relative", "metric", "normalised"])
    def test_values_that_are_not_finite_are_masked(self, bad: float, kind: str) -> None:  # FAULTS 5
        values = RAMP / 10
        values[3, 4] = bad
        depth = DepthMap(values, kind)
        assert (~depth.valid()).sum() == 1
        assert np.isnan(depth.nearness()).sum() == 1

    def test_negative(self) -> None:  # FAULTS 5
        values = RAMP.copy()
        values[0, 0] = -1
        assert DepthMap(values, "relative").valid().all()
        assert (~DepthMap(values, "metric").valid()).sum() == 1
        with pytest.raises(InputError, match=r"from -0\.1 to 0\.9"):
            DepthMap(values / 10)

    def test_all_invalid(self) -> None:  # FAULTS 5
        for values, kind in ((np.full((3, 4), np.nan), "relative"), (np.zeros((3, 4)), "metric")):
            with pytest.raises(InputError, match=r"none among 4×3 pixels"):
                DepthMap(values, kind)
        with pytest.raises(InputError, match="none among"):
            DepthMap(RAMP, "metric", mask=np.zeros_like(RAMP))

    def test_mask(self) -> None:
        mask = np.ones_like(RAMP, bool)
        mask[:, 32:] = False
        assert DepthMap(RAMP, "relative", mask).limits() == (1, np.float32(RAMP[0, 31]))
        with pytest.raises(InputError, match="mask: expected 64×64"):
            DepthMap(RAMP, "relative", mask[:3])

    @pytest.mark.parametrize(
        "values", [np.zeros(3), np.zeros((2, 2, 2)), "x", np.zeros((0, 4)), None, [["a"]]]
    )
    def test_what_is_no_map_is_refused(self, values: object) -> None:
        with pytest.raises(InputError, match="depth: expected"):
            DepthMap(values)

    def test_unknown_kind(self) -> None:
        with pytest.raises(InputError, match="'disparity'"):
            DepthMap(RAMP, "disparity")

    def test_size_defaults_to_its_own(self) -> None:
        assert DepthMap(np.zeros((3, 4))).size == (4, 3)
        assert DepthMap(np.zeros((3, 4)), size=(40, 30)).size == (40, 30)

    def test_frozen(self) -> None:
        depth = DepthMap(RAMP, "relative")
        with pytest.raises(dataclasses.FrozenInstanceError):
            depth.kind = "metric"
        with pytest.raises(ValueError, match="read-only"):
            depth.values[0, 0] = 5
        assert pickle.loads(pickle.dumps(depth)).size == depth.size

    def test_from_pipeline(self) -> None:
        depth = DepthMap.from_pipeline(
            {"predicted_depth": RAMP[None], "depth": None}, kind="relative"
        )
        assert depth.size == (64, 64)
        with pytest.raises(InputError, match="predicted_depth"):
            DepthMap.from_pipeline({"depth": 1}, kind="relative")


class TestDepthFiles:
    def test_16_bit_png_keeps_every_level(self, tmp_path: Path) -> None:  # FAULTS 4
        levels = np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16)
        Image.fromarray(levels).save(tmp_path / "d.png")
        values = DepthMap.open(tmp_path / "d.png").values.ravel()
        assert len(np.unique(values)) == 256 and (np.diff(values) > 0).all()
        assert values[0] == 0 and values[-1] == 1

    def test_8_bit_png(self, tmp_path: Path) -> None:
        Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16)).save(tmp_path / "d.png")
        assert np.allclose(DepthMap.open(tmp_path / "d.png").values.ravel(), np.arange(256) / 255)

    def test_millimetres(self, tmp_path: Path) -> None:
        Image.fromarray(np.full((4, 5), 1500, np.uint16)).save(tmp_path / "d.png")
        assert (DepthMap.open(tmp_path / "d.png", kind="metric", scale=1000).values == 1.5).all()
        with pytest.raises(InputError, match="1000 if it holds millimetres"):
            DepthMap.open(tmp_path / "d.png", kind="metric")
        with pytest.raises(InputError, match="scale: expected a positive"):
            DepthMap.open(tmp_path / "d.png", kind="metric", scale=0)

    @pytest.mark.parametrize("suffix", ["npy", "npz", "tiff", "pfm"])
    def test_float_files_round_trip(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"d.{suffix}"
        values = RAMP[:20, :30].astype(np.float32)
        if suffix == "npy":
            np.save(path, values)
        elif suffix == "npz":
            np.savez(path, depth=values)
        else:
            assert cv2.imwrite(str(path), values)
        assert (DepthMap.open(path, kind="relative").values == values).all()

    def test_exr_is_read_or_refused_with_its_name(self, tmp_path: Path) -> None:
        path = tmp_path / "d.exr"
        path.write_bytes(b"v/1\x01 not really")
        with pytest.raises(InputError, match=r"d\.exr"):
            DepthMap.open(path)

    def test_npz_with_several(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "d.npz", a=RAMP, b=RAMP)
        with pytest.raises(InputError, match="got a, b"):
            DepthMap.open(tmp_path / "d.npz", kind="relative")
        assert DepthMap.open(tmp_path / "d.npz", kind="relative", key="b").size == (64, 64)
        with pytest.raises(InputError, match="'c'"):
            DepthMap.open(tmp_path / "d.npz", kind="relative", key="c")

    def test_broken_files_are_named(self, tmp_path: Path) -> None:
        np.save(tmp_path / "d.npy", RAMP)
        Image.fromarray(np.arange(65536, dtype=np.uint16).reshape(256, 256)).save(
            tmp_path / "d.png"
        )
        cv2.imwrite(str(tmp_path / "d.pfm"), RAMP.astype(np.float32))
        for name in ("d.npy", "d.png", "d.pfm"):
            data = (tmp_path / name).read_bytes()
            (tmp_path / name).write_bytes(data[: len(data) // 2])
            with pytest.raises(InputError, match=name):
                DepthMap.open(tmp_path / name, kind="relative")
        (tmp_path / "empty.pfm").touch()
        with pytest.raises(InputError, match="empty"):
            DepthMap.open(tmp_path / "empty.pfm")
        with pytest.raises(InputError, match="no file"):
            DepthMap.open(tmp_path / "absent.png")
        with pytest.raises(InputError, match="path of a file"):
            DepthMap.open(RAMP)

    def test_pickled_objects_are_not_loaded(self, tmp_path: Path) -> None:
        np.save(tmp_path / "d.npy", np.array([{"a": 1}], object), allow_pickle=True)
        with pytest.raises(InputError, match=r"d\.npy"):
            DepthMap.open(tmp_path / "d.npy")

    def test_colours_are_refused_but_equal_channels_read(self, tmp_path: Path) -> None:
        grey = np.arange(16, dtype=np.uint8).reshape(4, 4) * 16
        Image.fromarray(np.dstack([grey] * 3)).save(tmp_path / "grey.png")
        assert np.allclose(DepthMap.open(tmp_path / "grey.png").values, grey / 255)
        Image.fromarray(np.dstack([grey, grey, 255 - grey])).save(tmp_path / "colour.png")
        with pytest.raises(InputError, match="coloured"):
            DepthMap.open(tmp_path / "colour.png")


class TestFlowField:
    UV = np.random.default_rng(0).normal(0, 5, (12, 17, 2)).astype(np.float32)

    def test_flo_round_trips_exactly(self, tmp_path: Path) -> None:
        uv = self.UV.copy()
        uv[2, 3] = np.nan
        FlowField(uv).save(tmp_path / "f.flo")
        assert np.array_equal(FlowField.open(tmp_path / "f.flo").uv, uv, equal_nan=True)

    def test_flo_is_the_one_opencv_reads(self, tmp_path: Path) -> None:
        FlowField(self.UV).save(tmp_path / "f.flo")
        assert (cv2.readOpticalFlow(str(tmp_path / "f.flo")) == self.UV).all()

    def test_kitti_round_trips_to_its_step(self, tmp_path: Path) -> None:
        uv = self.UV.copy()
        uv[0, 0] = np.nan
        FlowField(uv).save(tmp_path / "f.png")
        back = FlowField.open(tmp_path / "f.png")
        assert np.isnan(back.uv[0, 0]).all() and (~back.valid()).sum() == 1
        assert np.nanmax(np.abs(back.uv - uv)) <= 1 / 128

    def test_kitti_stores_u_in_red(self, tmp_path: Path) -> None:
        FlowField(np.full((4, 4, 2), [1.0, -2.0])).save(tmp_path / "f.png")
        blue, green, red = cv2.imread(str(tmp_path / "f.png"), cv2.IMREAD_UNCHANGED)[0, 0].tolist()
        assert (red, green, blue) == (32768 + 64, 32768 - 128, 1)

    def test_arrays(self, tmp_path: Path) -> None:
        np.save(tmp_path / "f.npy", self.UV)
        assert FlowField.open(tmp_path / "f.npy").size == (17, 12)

    def test_bad_files(self, tmp_path: Path) -> None:
        FlowField(self.UV).save(tmp_path / "f.flo")
        (tmp_path / "short.flo").write_bytes((tmp_path / "f.flo").read_bytes()[:-4])
        (tmp_path / "other.flo").write_bytes(b"no flow here")
        Image.new("RGB", (4, 4)).save(tmp_path / "rgb.png")
        (tmp_path / "x.mp4").touch()
        for name, words in (
            ("short.flo", "expected 1644 bytes, got 1640"),
            ("other.flo", "Middlebury"),
            ("rgb.png", "16 bits"),
            ("x.mp4", ".flo"),
            ("absent.flo", "no file"),
        ):
            with pytest.raises(InputError, match="flow: ") as caught:
                FlowField.open(tmp_path / name)
            assert words in str(caught.value) and name in str(caught.value)

    def test_bad_destinations(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no folder"):
            FlowField(self.UV).save(tmp_path / "no" / "f.flo")
        with pytest.raises(InputError, match=r"\.flo or \.png"):
            FlowField(self.UV).save(tmp_path / "f.txt")
        with pytest.raises(InputError, match="±512"):
            FlowField(np.full((4, 4, 2), 600.0)).save(tmp_path / "f.png")

    @pytest.mark.parametrize("shape", [(4, 4), (2, 8, 8), (4, 4, 3), (0, 4, 2), (4, 4, 2, 1)])
    def test_wrong_shapes(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(InputError, match="flow: expected"):
            FlowField(np.zeros(shape))

    def test_nothing_finite(self) -> None:
        with pytest.raises(InputError, match="finite"):
            FlowField(np.full((4, 4, 2), np.nan))

    def test_confidence_has_its_shape(self) -> None:
        assert FlowField(self.UV, np.ones((12, 17))).confidence.dtype == np.float32
        with pytest.raises(InputError, match="confidence"):
            FlowField(self.UV, np.ones((3, 3)))


class TestMatches:
    def test_fields(self) -> None:
        matches = Matches([[1, 2]], [[3, 4]], [0.5], size1=(10, 10))
        assert matches.size2 == (10, 10) and len(matches) == 1
        assert matches.points1.dtype == matches.confidence.dtype == np.float32

    def test_empty(self) -> None:  # FAULTS 6
        for empty in ([], np.empty((0, 2)), ()):
            assert len(Matches(empty, empty, size1=(5, 5))) == 0

    def test_half_precision_becomes_single(self) -> None:  # FAULTS 18
        points = np.array([[2049.0, 1.0]], np.float32)
        assert Matches(points, points, size1=(4000, 4000)).points1[0, 0] == 2049

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (([[1, 2]], [[1, 2], [3, 4]]), "1 and 2"),
            (([[1, 2, 3]], [[1, 2, 3]]), "N×2"),
            (([[99, 2]], [[1, 2]]), "within 10×10"),
            (([[1, 2]], [[1, -3]]), "points2"),
            (([[np.nan, 2]], [[1, 2]]), "row 0"),
            (("ab", [[1, 2]]), "points1"),
            (([[1, 2], [3]], [[1, 2], [3]]), "ragged"),
        ],
    )
    def test_refusals(self, arguments: tuple[object, object], words: str) -> None:
        with pytest.raises(InputError) as caught:
            Matches(*arguments, size1=(10, 10))
        assert words in str(caught.value)

    def test_size_is_needed(self) -> None:
        with pytest.raises(InputError, match="size1"):
            Matches([[1, 2]], [[1, 2]])


class TestDetections:
    SIZE = (1000, 500)

    def boxes(self, found: Detections) -> list[list[float]]:
        return found.boxes.round().tolist()

    def test_one_object_in_three_forms(self) -> None:  # FAULTS 10
        forms = {
            "xyxy": [[200, 50, 400, 150]],
            "xywh": [[200, 50, 200, 100]],
            "cxcywh": [[0.3, 0.2, 0.2, 0.2]],
        }
        for form, boxes in forms.items():
            found = Detections.from_boxes(boxes, [1], ["cat"], size=self.SIZE, form=form)
            assert self.boxes(found) == [[200, 50, 400, 150]]
        reversed_corners = Detections([[400, 150, 200, 50]], [1], ("cat",), size=self.SIZE)
        assert self.boxes(reversed_corners) == [[200, 50, 400, 150]]
        with pytest.raises(InputError, match="form"):
            Detections.from_boxes([[1, 2, 3, 4]], [1], ["a"], size=self.SIZE, form="yxyx")
        with pytest.raises(InputError, match="fractions"):
            Detections.from_boxes([[20, 2, 3, 4]], [1], ["a"], size=self.SIZE, form="cxcywh")

    def test_boxes_of_a_resized_image_are_mapped_back(self) -> None:  # FAULTS 2
        for resized, expected in (
            ((320, 240), [20, 40, 60, 80]),
            ((320, 320), [20, 30, 60, 60]),
        ):
            found = Detections.from_boxes(
                [[10, 20, 30, 40]], [1], ["a"], size=(640, 480), resized=resized
            )
            assert self.boxes(found) == [expected]
        with pytest.raises(InputError, match="resized"):
            Detections.from_boxes(
                [[0.1, 0.2, 0.1, 0.1]], [1], ["a"], size=(9, 9), form="cxcywh", resized=(5, 5)
            )

    def test_nothing_found(self) -> None:  # FAULTS 6
        for empty in ([], np.empty((0, 4)), np.empty(0)):
            assert (
                len(Detections.of({"boxes": empty, "scores": [], "labels": []}, size=self.SIZE))
                == 0
            )
        assert len(Detections.of([], size=self.SIZE)) == 0

    def test_transformers(self) -> None:
        found = {
            "boxes": np.array([[1.0, 2, 3, 4]]),
            "scores": np.array([0.5]),
            "labels": ["a cat"],
        }
        assert Detections.of(found, size=self.SIZE).labels == ("a cat",)
        numbered = {**found, "labels": np.array([7]), "text_labels": ["dog"]}
        assert Detections.of(numbered, size=self.SIZE).labels == ("dog",)
        with pytest.raises(InputError, match="names="):
            Detections.of({**found, "labels": np.array([7])}, size=self.SIZE)
        with pytest.raises(InputError, match="size"):
            Detections.of(found)
        with pytest.raises(InputError, match="'scores'"):
            Detections.of({"boxes": found["boxes"]}, size=self.SIZE)

    def test_torchvision(self) -> None:
        found = {
            "boxes": np.array([[1.0, 2, 3, 4]]),
            "scores": np.array([0.5]),
            "labels": np.array([2]),
            "masks": np.full((1, 1, 500, 1000), 0.7),
        }
        detections = Detections.from_torchvision(
            found, size=self.SIZE, names=["_", "person", "bicycle"]
        )
        assert detections.labels == ("bicycle",) and detections.masks.all()
        with pytest.raises(InputError, match="class 2"):
            Detections.of(found, size=self.SIZE, names={1: "person"})

    def test_ultralytics(self) -> None:
        boxes = SimpleNamespace(
            xyxy=np.array([[1.0, 2, 3, 4]]), conf=np.array([0.5]), cls=np.array([1.0])
        )
        result = SimpleNamespace(
            boxes=boxes, names={0: "a", 1: "b"}, orig_shape=(500, 1000), masks=None
        )
        detections = Detections.of(result)
        assert detections.labels == ("b",) and detections.size == self.SIZE
        small = SimpleNamespace(data=np.zeros((1, 160, 320)))
        with pytest.raises(InputError, match="retina_masks"):
            Detections.of(SimpleNamespace(**{**vars(result), "masks": small}))
        with pytest.raises(InputError, match="no detector"):
            Detections.of(SimpleNamespace(**{**vars(result), "boxes": None}))

    def test_supervision(self) -> None:
        result = SimpleNamespace(
            xyxy=np.array([[1.0, 2, 3, 4]]),
            confidence=np.array([0.5]),
            class_id=np.array([1]),
            data={"class_name": np.array(["cat"])},
            mask=None,
        )
        assert Detections.of(result, size=self.SIZE).labels == ("cat",)
        bare = SimpleNamespace(**{**vars(result), "data": {}})
        assert Detections.of(bare, size=self.SIZE, names=["a", "b"]).labels == ("b",)
        with pytest.raises(InputError, match="confidence"):
            Detections.of(SimpleNamespace(**{**vars(result), "confidence": None}), size=self.SIZE)

    def test_coco(self) -> None:
        rows = [{"image_id": 1, "bbox": [10, 20, 30, 40], "score": 0.5, "category_id": 3}]
        found = Detections.of(rows, size=self.SIZE, names={3: "car"})
        assert self.boxes(found) == [[10, 20, 40, 60]] and found.labels == ("car",)
        assert Detections.of([{**rows[0], "category": "van"}], size=self.SIZE).labels == ("van",)
        with pytest.raises(InputError, match="image_id"):
            Detections.of([rows[0], {**rows[0], "image_id": 2}], size=self.SIZE, names={3: "car"})
        with pytest.raises(InputError, match="'score'"):
            Detections.of([{"bbox": [1, 2, 3, 4], "category": "a"}], size=self.SIZE)

    def test_overshoot_is_clipped_but_another_frame_is_refused(self) -> None:
        found = Detections([[-0.4, 0, 1000.6, 500]], [1], ("a",), size=self.SIZE)
        assert self.boxes(found) == [[0, 0, 1000, 500]]
        with pytest.raises(InputError, match="mapped back"):
            Detections([[0, 0, 1300, 500]], [1], ("a",), size=self.SIZE)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"scores": [3.2]}, "sigmoid"),
            ({"scores": [0.1, 0.2]}, "1 numbers"),
            ({"labels": ()}, "expected 1"),
            ({"labels": "a"}, "single string"),
            ({"labels": (3,)}, "string"),
            ({"masks": np.ones((1, 3, 3))}, "1×500×1000"),
            ({"boxes": [[np.inf, 0, 1, 1]]}, "finite"),
        ],
    )
    def test_refusals(self, change: dict[str, object], words: str) -> None:
        good = {"boxes": [[1, 2, 3, 4]], "scores": [0.5], "labels": ("a",), "size": self.SIZE}
        with pytest.raises(InputError) as caught:
            Detections(**{**good, **change})
        assert words in str(caught.value)

    def test_unknown_objects_are_refused(self) -> None:
        with pytest.raises(InputError, match="ultralytics"):
            Detections.of(3)


class TestPointsAndScores:
    def test_points(self) -> None:
        points = Points.from_dict({"A": (1, 2), "B": (3, 4)}, size=(10, 10))
        assert points.labels == ("A", "B") and points.boxes is None and len(points) == 2
        boxes = Points.from_dict({"A": (5, 6, 1, 2)}, size=(10, 10))
        assert boxes.boxes.tolist() == [[1, 2, 5, 6]] and boxes.points is None
        assert len(Points.from_dict({}, size=(10, 10))) == 0

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"points": [[1, 2]], "boxes": [[1, 2, 3, 4]], "labels": ("A",)}, "both"),
            ({"labels": ()}, "neither"),
            ({"points": [[11, 2]], "labels": ("A",)}, "'A' within 10×10"),
            ({"points": [[1, 2]], "labels": ()}, "expected 1"),
            ({"points": [[1, 2]], "labels": ("A",), "image": 3}, "image"),
        ],
    )
    def test_point_refusals(self, arguments: dict[str, object], words: str) -> None:
        with pytest.raises(InputError) as caught:
            Points(**arguments, size=(10, 10))
        assert words in str(caught.value)

    def test_mixed_dict(self) -> None:
        with pytest.raises(InputError, match="for each"):
            Points.from_dict({"A": (1, 2), "B": (1, 2, 3, 4)}, size=(10, 10))

    def test_scores_of_a_map_take_the_cell_s_value(self) -> None:
        similarity = np.zeros((32, 32))
        similarity[0, 5] = 0.9
        scores = PointScores.from_similarity(
            similarity, {"A": (80, 0), "B": (95.9, 15), "C": (96, 0), "D": (512, 512)},
            reference=(1, 1), size1=(512, 512),
        )  # fmt: skip
        assert scores.scores == {"A": 0.9, "B": 0.9, "C": 0.0, "D": 0.0}

    def test_score_refusals(self) -> None:
        with pytest.raises(InputError, match=r"\['A'\], got \['B'\]"):
            PointScores({"A": (1, 1)}, {"B": 1.0}, (1, 1), (5, 5))
        with pytest.raises(InputError, match="reference"):
            PointScores({"A": (1, 1)}, {"A": 1.0}, (9, 1), (5, 5))
        with pytest.raises(InputError, match="candidate 'A'"):
            PointScores({"A": (9, 1)}, {"A": 1.0}, (1, 1), (5, 5))
        with pytest.raises(InputError, match="finite"):
            PointScores({"A": (1, 1)}, {"A": np.nan}, (1, 1), (5, 5))

    def test_edge_scores(self) -> None:
        border = {"structural": 0.2, "colour": 0.4, "edge": 0.9, "box": (0, 0, 4, 10)}
        scores = EdgeScores({"A": {"left": border}}, {"A": (10, 10)})
        assert scores.mean("A", "left") == pytest.approx(0.5)
        for change, words in (
            ({"edge": 1.2}, r"\[0, 1\]"),
            ({"box": (0, 0, 40, 10)}, "within 10×10"),
            ({"extra": 1}, "expected"),
        ):
            with pytest.raises(InputError, match=words):
                EdgeScores({"A": {"left": {**border, **change}}}, {"A": (10, 10)})
        with pytest.raises(InputError, match="borders among"):
            EdgeScores({"A": {"right": border}}, {"A": (10, 10)})
        with pytest.raises(InputError, match="sizes"):
            EdgeScores({"A": {"left": border}}, {"B": (10, 10)})


class TestSegmentation:
    def test_names(self, tmp_path: Path) -> None:
        classes = np.array([[0, 1], [2, 1]], np.uint8)
        assert Segmentation(classes, ["sky", "sea"]).name(1) == "sea"
        assert Segmentation(classes, {2: "sand"}).name(0) == "0"
        Image.fromarray(classes).save(tmp_path / "s.png")
        assert (Segmentation.open(tmp_path / "s.png").classes == classes).all()
        palette = Image.fromarray(classes)
        palette.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0])
        palette.save(tmp_path / "p.png")
        assert (Segmentation.open(tmp_path / "p.png").classes == classes).all()
        np.save(tmp_path / "s.npy", classes)
        assert Segmentation.open(tmp_path / "s.npy").size == (2, 2)

    def test_refusals(self, tmp_path: Path) -> None:
        for classes in (np.zeros((2, 2)), np.zeros(3, int), "x", np.zeros((0, 2), int)):
            with pytest.raises(InputError, match="segmentation: expected"):
                Segmentation(classes)
        with pytest.raises(InputError, match="names"):
            Segmentation(np.zeros((2, 2), int), {"a": "b"})
        with pytest.raises(InputError, match="names"):
            Segmentation(np.zeros((2, 2), int), [3])
        Image.new("RGB", (3, 3)).save(tmp_path / "c.png")
        with pytest.raises(InputError, match="mode RGB"):
            Segmentation.open(tmp_path / "c.png")
        (tmp_path / "t.png").write_bytes(b"\x89PNG")
        with pytest.raises(InputError, match=r"t\.png"):
            Segmentation.open(tmp_path / "t.png")


class TestWhatUsersMistake:
    """Inputs that would otherwise give wrong evidence without a word."""

    def test_a_millimetre_file_without_its_kind(self, tmp_path: Path) -> None:
        Image.fromarray(np.full((4, 5), 6900, np.uint16)).save(tmp_path / "mm.png")
        with pytest.raises(InputError, match=r"integers end at 6900 of 65535.*scale=1000"):
            DepthMap.open(tmp_path / "mm.png")
        assert DepthMap.open(tmp_path / "mm.png", kind="normalised").values[0, 0] < 0.2

    def test_names_in_every_form(self) -> None:
        row = [{"bbox": [1, 2, 3, 4], "score": 0.5, "category_id": 1}]
        for names in (
            {1: "person"},
            {"1": "person"},
            ["_", "person"],
            [{"id": 1, "name": "person", "supercategory": "x"}],
        ):
            assert Detections.of(row, size=(9, 9), names=names).labels == ("person",)
        for names in ("names.json", {1: 5}, {"a": "b"}, 5, [["x"]]):
            with pytest.raises(InputError, match="names: expected"):
                Detections.of(row, size=(9, 9), names=names)

    def test_fractions_are_no_pixels(self) -> None:
        with pytest.raises(InputError, match=r"pixels of the 640×480 image, got fractions"):
            Detections([[0.4, 0.3, 0.6, 0.7]], [0.5], ("a",), size=(640, 480))
        with pytest.raises(InputError, match="fractions"):
            Points.from_dict({"A": (0.5, 0.5)}, size=(640, 480))
        assert len(Detections([[0, 0, 1, 1]], [0.5], ("a",), size=(640, 480))) == 1

    def test_yolo_rows(self) -> None:
        found = Detections.from_boxes(
            [[0.3, 0.2, 0.2, 0.2]], [1], [16], size=(1000, 500), form="cxcywh", names={16: "dog"}
        )
        assert found.labels == ("dog",)

    def test_coco_annotations_are_no_results(self) -> None:
        with pytest.raises(InputError, match="annotation file"):
            Detections.of({"images": [], "annotations": [], "categories": []}, size=(9, 9))
