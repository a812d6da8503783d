"""The connectors against the libraries themselves; each test skips where its library is missing."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from perception_programs import DepthMap, Detections, InputError, Matches, Segmentation
from perception_programs.results import coco_file
from strategies import QUICK
from test_connectors import CAT, SIZE, detections, same


def library(name: str) -> Any:
    """A module, or a skip; what it warns of on import is no fault of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError:
            pytest.skip(f"{name} is not installed")


@pytest.fixture
def picture() -> Image.Image:
    """A textured picture that is wider than high."""
    from skimage.data import astronaut

    return Image.fromarray(astronaut()[:240, :480])


class TestSupervision:
    @QUICK
    @given(detections(masks=True))
    def test_round_trip(self, found: Detections) -> None:
        library("supervision")
        assert same(Detections.of(found.to_supervision(), size=SIZE), found)

    def test_numbers_and_what_has_none(self) -> None:
        sv = library("supervision")
        made = CAT.to_supervision(names={7: "cat", 8: "dog"})
        assert made.class_id.tolist() == [7]
        made.data = {}
        assert same(Detections.from_supervision(made, size=SIZE, names={7: "cat"}), CAT)
        assert len(Detections.of(sv.Detections.empty(), size=SIZE)) == 0
        drawn = sv.Detections(xyxy=np.array([[1, 2, 3, 4]]), class_id=np.array([0]))
        with pytest.raises(InputError, match="score="):
            Detections.of(drawn, size=SIZE, names=["cat"])
        found = Detections.from_supervision(drawn, size=SIZE, names=["cat"], score=1)
        assert found.scores.tolist() == [1]

    def test_compact_masks(self) -> None:
        sv = library("supervision")
        if not hasattr(sv, "CompactMask"):
            pytest.skip("this supervision has no compact masks")
        masks = np.zeros((1, 48, 64), bool)
        masks[0, 22:30, 12:20] = True
        made = CAT.to_supervision()
        made.mask = sv.CompactMask.from_dense(masks, made.xyxy, (48, 64))
        assert (Detections.of(made, size=SIZE).masks == masks).all()

    def test_supervision_reads_what_is_written(self) -> None:
        sv = library("supervision")
        library("torch")
        made = sv.Detections.from_transformers(CAT.to_transformers(), id2label={0: "cat"})
        assert same(Detections.of(made, size=SIZE), CAT)

    def test_answers_of_models_read_alike(self) -> None:
        sv = library("supervision")
        answer = '```json\n[{"box_2d": [543, 40, 728, 200], "label": "cat"}]\n```'
        theirs = sv.Detections.from_vlm(sv.VLM.GOOGLE_GEMINI_2_5, answer, resolution_wh=(640, 480))
        ours = Detections.from_answer(answer, size=(640, 480), frame="gemini", score=1)
        np.testing.assert_allclose(ours.boxes, theirs.xyxy, atol=1e-3)
        answer = '```json\n[{"bbox_2d": [139, 768, 315, 954], "label": "cat"}]\n```'
        theirs = sv.Detections.from_vlm(sv.VLM.QWEN_3_VL, answer, resolution_wh=(640, 480))
        ours = Detections.from_answer(answer, size=(640, 480), frame="qwen3-vl", score=1)
        np.testing.assert_allclose(ours.boxes, theirs.xyxy, atol=1e-3)


class TestUltralytics:
    @QUICK
    @given(detections(masks=True))
    def test_round_trip(self, found: Detections) -> None:
        library("ultralytics.engine.results")
        made = found.to_ultralytics(np.zeros((48, 64, 3), np.uint8))
        assert same(Detections.of(made), found)
        assert same(Detections.of(made.numpy()), found)

    def test_the_picture_is_kept_blue_first(self) -> None:
        library("ultralytics.engine.results")
        red = np.zeros((48, 64, 3), np.uint8)
        red[..., 0] = 255
        made = CAT.to_ultralytics(red, names={2: "cat"})
        assert made.orig_img[0, 0].tolist() == [0, 0, 255]
        assert made.boxes.cls.tolist() == [2] and made.plot().shape == (48, 64, 3)
        with pytest.raises(InputError, match="64×48"):
            CAT.to_ultralytics(red[:9])

    def test_oriented_boxes_are_refused(self) -> None:
        results = library("ultralytics.engine.results")
        torch = library("torch")
        turned = torch.tensor([[30.0, 20, 10, 5, 0.3, 0.9, 0]])
        made = results.Results(np.zeros((48, 64, 3), np.uint8), "a", {0: "ship"}, obb=turned)
        with pytest.raises(InputError, match="oriented"):
            Detections.of(made)
        obb = made.obb
        found = Detections.from_boxes(obb.xyxy, obb.conf, obb.cls, names=made.names, size=SIZE)
        assert found.labels == ("ship",)


class TestCocoTools:
    @QUICK
    @given(st.integers(0, 99), st.floats(0, 1))
    def test_codes_are_the_same(self, seed: int, share: float) -> None:
        coder = library("pycocotools.mask")
        masks = np.random.default_rng(seed).random((1, 48, 64)) < share
        found = Detections([[1, 2, 3, 4]], [0.5], ("cat",), masks, SIZE)
        (row,) = found.to_coco(image=1, names=["cat"])
        theirs = coder.encode(np.asfortranarray(masks[0].astype(np.uint8)))
        assert row["segmentation"] == {"size": [48, 64], "counts": theirs["counts"].decode()}

    @QUICK
    @given(st.integers(0, 99), st.integers(3, 8))
    def test_polygons_differ_at_the_border_only(self, seed: int, corners: int) -> None:
        coder = library("pycocotools.mask")
        angles = np.sort(np.random.default_rng(seed).random(corners)) * 2 * np.pi
        part = (np.stack([32 + 20 * np.cos(angles), 24 + 20 * np.sin(angles)], 1)).ravel().tolist()
        data = coco_file({"a.jpg": CAT})
        data["annotations"][0]["segmentation"] = [part]
        ours = Detections.from_coco(data, masks=True).masks[0]
        (code,) = coder.frPyObjects([part], 48, 64)
        border = np.abs(np.diff(np.pad(ours.astype(int), 1, mode="edge"), axis=0)).sum()
        assert abs(int(ours.sum()) - int(coder.area(code))) <= 2 * border + 4 * corners

    def test_the_evaluation_reads_what_is_written(self, capsys: pytest.CaptureFixture[str]) -> None:
        coco = library("pycocotools.coco")
        truth = coco.COCO()
        truth.dataset = coco_file({"a.jpg": CAT}, names={3: "cat"})
        truth.createIndex()
        read = truth.loadRes(CAT.to_coco(image=1, names={3: "cat"}))
        assert read.loadAnns(read.getAnnIds())[0]["bbox"] == [10, 20, 20, 20]


class TestTransformers:
    @QUICK
    @given(detections(masks=True))
    def test_dicts_round_trip(self, found: Detections) -> None:
        library("torch")
        assert same(Detections.of(found.to_transformers(), size=SIZE), found)

    def test_zero_shot_object_detection(self, tmp_path: Path, picture: Image.Image) -> None:
        transformers = library("transformers")
        library("torch")
        from toy_detection import toy_detection

        place = toy_detection(tmp_path, "owlv2")
        pipe = transformers.pipeline(
            "zero-shot-object-detection",
            model=transformers.Owlv2ForObjectDetection.from_pretrained(place),
            image_processor=transformers.Owlv2ImageProcessor.from_pretrained(place),
            tokenizer=transformers.AutoTokenizer.from_pretrained(place),
        )
        output = pipe(picture, candidate_labels="cat, dog", threshold=0.0)
        # The traps are there: what is seen in the padded square, and a space at the label.
        assert max(row["box"]["ymax"] for row in output) > 241
        assert {row["label"] for row in output} == {"cat", " dog"}
        found = Detections.of(output, size=picture.size)
        assert 0 < len(found) < len(output) and set(found.labels) == {"cat", "dog"}
        with pytest.raises(InputError, match=r"output\[0\]"):
            Detections.from_pipeline(pipe([picture], candidate_labels=["cat"]), size=picture.size)

    def test_keypoint_matching(self, tmp_path: Path, picture: Image.Image) -> None:
        transformers = library("transformers")
        torch = library("torch")
        from toy_matching import toy_matching

        place = toy_matching(tmp_path, "efficientloftr")
        model = transformers.EfficientLoFTRForKeypointMatching.from_pretrained(place)
        processor = transformers.EfficientLoFTRImageProcessor.from_pretrained(place)
        pipe = transformers.pipeline("keypoint-matching", model=model, image_processor=processor)
        found = Matches.from_pipeline(pipe([picture, picture]), size1=picture.size)

        with torch.no_grad():
            outputs = model(**processor([picture, picture], return_tensors="pt"))
        (right,) = processor.post_process_keypoint_matching(outputs, [((240, 480), (240, 480))])
        order = right["matching_scores"].argsort(descending=True, stable=True)
        # As good as the pixel that the pipeline cuts off, twice as wide once it is put right.
        assert len(found) == len(order) > 5
        expected = {tuple(row) for row in right["keypoints0"][order].tolist()}
        for x, y in found.points1.tolist():
            assert any(abs(x - a) <= 2 and abs(y - b) <= 1 for a, b in expected)

    def test_depth_estimation(self, tmp_path: Path, picture: Image.Image) -> None:
        transformers = library("transformers")
        library("torch")
        from toy_depth import toy_depth

        place = toy_depth(tmp_path, "depth-anything-v2-small")
        pipe = transformers.pipeline(
            "depth-estimation",
            model=transformers.AutoModelForDepthEstimation.from_pretrained(place),
            image_processor=transformers.AutoImageProcessor.from_pretrained(place),
        )
        output = pipe(picture)
        depth = DepthMap.from_pipeline(output, kind="relative")
        assert depth.size == picture.size
        made = depth.to_pipeline()
        assert (made["predicted_depth"] == output["predicted_depth"]).all()
        levels = np.asarray(made["depth"]).astype(int) - np.asarray(output["depth"])
        assert np.abs(levels).max() <= 1

    def test_depth_keeps_what_is_invalid(self) -> None:
        library("torch")
        made = DepthMap(np.array([[0, 2.0], [3, np.inf]]), "metric").to_pipeline()
        assert np.asarray(made["depth"]).tolist() == [[0, 0], [255, 0]]
        depth = DepthMap.from_pipeline(made, kind="metric")
        assert np.asarray(depth.valid()).tolist() == [[False, True], [True, False]]
        assert not np.asarray(DepthMap(np.full((2, 2), 0.5)).to_pipeline()["depth"]).any()

    def test_semantic_segmentation(self, picture: Image.Image) -> None:
        transformers = library("transformers")
        torch = library("torch")
        config = transformers.SegformerConfig(
            depths=[1, 1, 1, 1],
            hidden_sizes=[8, 8, 8, 8],
            num_attention_heads=[1, 1, 1, 1],
            decoder_hidden_size=8,
            id2label={0: "sky", 1: "sea", 2: "sand"},
        )
        torch.manual_seed(0)
        pipe = transformers.pipeline(
            "image-segmentation",
            model=transformers.SegformerForSemanticSegmentation(config),
            image_processor=transformers.SegformerImageProcessor(size={"height": 64, "width": 64}),
        )
        output = pipe(picture)
        found = Segmentation.from_pipeline(output)
        assert found.size == picture.size and set(found.names.values()) <= {"sky", "sea", "sand"}
        for row in output:
            named = np.vectorize(found.name)(found.classes) == row["label"]
            assert (named == (np.asarray(row["mask"]) > 0)).all()
        with pytest.raises(InputError, match="score="):
            Detections.of(output)

    def test_panoptic_segmentation(self, picture: Image.Image) -> None:
        transformers = library("transformers")
        torch = library("torch")
        config = transformers.MaskFormerConfig(
            backbone_config=transformers.SwinConfig(
                embed_dim=8,
                depths=[1, 1, 1, 1],
                num_heads=[1, 1, 1, 1],
                window_size=4,
                out_features=["stage1", "stage2", "stage3", "stage4"],
            ),
            decoder_config=transformers.DetrConfig(
                d_model=16,
                decoder_layers=1,
                decoder_ffn_dim=16,
                decoder_attention_heads=2,
                num_queries=6,
                backbone_config=transformers.ResNetConfig(),
            ),
            fpn_feature_size=32,
            mask_feature_size=32,
            id2label={0: "cat", 1: "dog"},
        )
        torch.manual_seed(1)
        model = transformers.MaskFormerForInstanceSegmentation(config)
        model.class_predictor.bias.data[-1] = -9  # never "no object"
        pipe = transformers.pipeline(
            "image-segmentation",
            model=model,
            image_processor=transformers.MaskFormerImageProcessor(size={"height": 64, "width": 64}),
        )
        output = pipe(picture, threshold=0.0, mask_threshold=0.0, overlap_mask_area_threshold=0.0)
        assert output
        found = Detections.of(output)
        assert found.size == picture.size and found.masks.sum(axis=0).max() == 1
        classes = Segmentation.from_pipeline(output)
        assert ((classes.classes > 0) == found.masks.any(axis=0)).all()
