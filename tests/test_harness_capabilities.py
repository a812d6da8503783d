"""What the capabilities find, say and refuse, whatever does the work behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness_findings import HEIGHT, HOSTILE, PICTURE, WIDTH, assert_harmless, found_by, told
from perception_programs import (
    DepthMap,
    Detections,
    InputError,
    MissingExtraError,
    ToolError,
    WeightsError,
)
from perception_programs.harness.capabilities import (
    DepthEstimation,
    VisualGrounding,
    _backend,
    depth,
)
from perception_programs.harness.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory(tmp_path)
    made.add("image", PICTURE, made_by="user")
    return made


def cups(*boxes: Sequence[float], label: str = "cup", **more: Any) -> Any:
    """A detector that always finds the same; what it was asked for is in its `asked`."""

    def detector(image: Any, *, labels: Sequence[str]) -> Detections:
        detector.asked = labels  # type: ignore[attr-defined]
        rows, scores = [box[:4] for box in boxes], [box[4] for box in boxes]
        given = {"size": (image.shape[1], image.shape[0]), **more}
        return Detections(rows, scores, (label,) * len(rows), **given)

    return detector


CUP = (20, 10, 60, 50, 0.9)


class TestVisualGrounding:
    def test_found(self, memory: Memory) -> None:
        masks = np.zeros((2, HEIGHT, WIDTH), bool)
        masks[:, 10:50, 20:60] = True
        detector = cups(CUP, (22, 11, 61, 52, 0.4), masks=masks)
        finding, words = found_by(VisualGrounding(detector), memory, [" cup ", "cup", "plate"])
        assert detector.asked == ["cup", "plate"]
        assert words.startswith('2 found in "input_image_1" for "cup, plate"')
        assert "Kept as boxes_1; drawn in tool_image_1" in words and "100,100,300,500 9" in words
        kept = memory.value("boxes_1")
        np.testing.assert_array_equal(kept.masks, masks)
        assert len(kept) == 2, "two boxes around one thing are not made one"
        assert memory.get("boxes_1").sources == memory.get("tool_image_1").sources
        assert finding.new["drawing"].show and memory.image("tool_image_1").std() > 0
        assert finding.raw[0] == {"label": "cup", "score": 0.9, "box": [20.0, 10.0, 60.0, 50.0]}

    def test_none(self, memory: Memory) -> None:
        finding, words = found_by(VisualGrounding(cups(threshold=0.25)), memory, ["cup"])
        assert finding.form == "none" and not finding.new and finding.raw == []
        assert 'None of "cup" was found in "input_image_1" above a score of 0.25' in words
        assert "That does not prove that there is none" in words

    def test_a_threshold_holds_for_any_detector(self, memory: Memory) -> None:
        second = {"runner_up_labels": ("bowl", None, "jug"), "runner_up_scores": [0.1, 0, 0.05]}
        boxes = [CUP, (0, 0, 9, 9, 0.3), (9, 9, 19, 19, 0.29)]
        finding, _ = found_by(
            VisualGrounding(cups(*boxes, **second), threshold=0.3), memory, ["cup"]
        )
        kept = memory.value("boxes_1")
        assert [row["score"] for row in finding.raw] == [0.9, 0.3]
        assert kept.runner_up_labels == ("bowl", None) and kept.threshold == 0.3
        finding, words = found_by(VisualGrounding(cups(CUP), threshold=0.95), memory, ["cup"])
        assert finding.form == "none" and "above a score of 0.95" in words

    def test_unusable(self, memory: Memory) -> None:
        def broken(image: Any, *, labels: Sequence[str]) -> Detections:
            raise ToolError("detector: scores are NaN")

        finding, words = found_by(VisualGrounding(broken), memory, ["cup"])
        assert finding.form == "unusable" and not finding.new
        assert "scores are NaN" in words and words.endswith("Do not guess from it.")

    @pytest.mark.parametrize(
        ("answer", "said"),
        [([], "expected Detections, got"), (cups(size=(9, 9))(PICTURE, labels=[]), "of 200×100")],
    )
    def test_another_answer(self, memory: Memory, answer: Any, said: str) -> None:
        with pytest.raises(ToolError, match=said):
            found_by(VisualGrounding(lambda image, labels: answer), memory, ["cup"])

    @pytest.mark.parametrize(
        "queries", [[], ["cup"] * 21, ["cup", ""], ["  "], ["x" * 81], ["cup\nplate"], ["c\u202e"]]
    )
    def test_queries_that_cannot_be(self, memory: Memory, queries: list[str]) -> None:
        with pytest.raises(InputError, match="queries: expected"):
            found_by(VisualGrounding(cups(CUP)), memory, queries)

    @pytest.mark.parametrize("label", HOSTILE)
    def test_hostile_labels(self, tmp_path: Path, label: str) -> None:
        arguments = {"image": "input_image_1", "queries": ["cup"]}
        said = told(VisualGrounding(cups(CUP, label=label)), arguments, tmp_path)
        assert_harmless(said)
        memory = Memory(tmp_path / "kept")
        memory.add("image", PICTURE, made_by="user")
        found_by(VisualGrounding(cups(CUP, label=label)), memory, ["cup"])
        assert memory.value("boxes_1").labels == (label,), "kept as it came"

    def test_a_named_detector_is_loaded_once_and_late(
        self, memory: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loads: list[Any] = []

        def load(name: str, **options: Any) -> Any:
            loads.append((name, options))
            return cups(CUP)

        monkeypatch.setattr(_backend, "load", load)
        grounding = VisualGrounding("owlv2-base", threshold=0.2, device="cpu")
        assert loads == [] and grounding.settings()["expert"]["name"] == "owlv2-base"
        for _ in range(2):
            found_by(grounding, memory, ["cup"])
        assert loads == [("owlv2-base", {"threshold": 0.2, "device": "cpu"})]

    @pytest.mark.parametrize(
        "error",
        [
            MissingExtraError("no extra"),
            WeightsError("no weights"),
            InputError("weights: no folder"),
        ],
    )
    def test_one_that_cannot_be_loaded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        def load(name: str, **options: Any) -> Any:
            raise error

        monkeypatch.setattr(_backend, "load", load)
        arguments = {"image": "input_image_1", "queries": ["cup"]}
        assert told(VisualGrounding(), arguments, tmp_path / "a")[0] == f"Error: {error}"
        del arguments["queries"]
        assert told(DepthEstimation(), arguments, tmp_path / "b")[0] == f"Error: {error}"

    def test_backends_that_cannot_be(self) -> None:
        with pytest.raises(InputError, match=r"expert: expected one of .*llmdet-tiny.* got 'sift'"):
            VisualGrounding("sift")
        with pytest.raises(InputError, match="expected a name or a callable"):
            VisualGrounding(3)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="device: has no meaning"):
            VisualGrounding(cups(CUP), device="cpu")
        with pytest.raises(InputError, match="threshold"):
            VisualGrounding(threshold=1.5)


RAMP = np.tile(np.linspace(1, 5, WIDTH, dtype=np.float32), (HEIGHT, 1))


class TestDepthEstimation:
    def test_metres(self, memory: Memory) -> None:
        values = RAMP.copy()
        values[:20] = np.nan
        finding, words = found_by(DepthEstimation(DepthMap(values, "metric")), memory)
        assert "kept as depth_1; the map is tool_image_1" in words
        assert "Its values are metres from the camera, bigger is farther" in words
        assert "in metres" in words and finding.new["drawing"].show
        assert memory.get("depth_1").about == "200×100, metres from 1 to 5"
        np.testing.assert_array_equal(memory.value("depth_1").values, values)
        assert finding.raw["kind"] == "metric" and finding.raw["size"] == [WIDTH, HEIGHT]
        assert finding.raw["values"][0] == [None] * 16, "unknown, not 0"
        assert finding.raw["values"][-1][0] == pytest.approx(1.12, abs=0.01)

    @pytest.mark.parametrize("kind", ["relative", "normalised"])
    def test_without_a_scale(self, memory: Memory, kind: Any) -> None:
        _, words = found_by(DepthEstimation(lambda image: DepthMap(RAMP / 5, kind)), memory)
        assert "no distances and no ratios can be computed" in words and "metres" not in words
        assert memory.get("depth_1").about == "200×100, bigger is nearer, no scale"

    @pytest.mark.parametrize(
        ("make", "why"),
        [
            (lambda image: DepthMap(np.full_like(RAMP, np.nan)), "at least one valid value"),
            (lambda image: DepthMap(np.full_like(RAMP, 2), "metric"), "it is 2 everywhere"),
            (lambda image: DepthMap(RAMP, "metric", RAMP > 4.2), "only 20% of the picture"),
            (lambda image: DepthMap(np.where(RAMP > 4.2, RAMP, 0), "metric"), "only 20%"),
        ],
    )
    def test_unusable(self, memory: Memory, make: Any, why: str) -> None:
        finding, words = found_by(DepthEstimation(make), memory)
        assert finding.form == "unusable" and not finding.new
        assert why in words and words.endswith("Do not guess from it.")

    def test_another_answer(self, memory: Memory) -> None:
        with pytest.raises(ToolError, match="of 200×100 pixels, got that of one of 200×50"):
            found_by(DepthEstimation(DepthMap(RAMP[:50], "metric")), memory)
        with pytest.raises(ToolError, match="expected a DepthMap"):
            found_by(DepthEstimation(lambda image: RAMP), memory)
        small = DepthMap(RAMP[:50], "metric", size=(WIDTH, HEIGHT))
        assert found_by(DepthEstimation(small), memory)[0].form == "found"

    def test_a_known_map_is_told_from_another(self) -> None:
        one, other = (DepthEstimation(DepthMap(RAMP + n, "metric")).settings() for n in (0, 1))
        assert one != other

    def test_the_preferred_expert(self, monkeypatch: pytest.MonkeyPatch) -> None:
        present: set[str] = set()
        monkeypatch.setattr(depth, "is_present", lambda card: card.name in present)
        assert depth.preferred_expert() == "zoedepth-nyu-kitti"
        entries = depth.available("depth")
        installed = {name: replace(entry, requires=()) for name, entry in entries.items()}
        monkeypatch.setattr(depth, "available", lambda modality: installed)
        present |= {"depth-anything-v2-small"}
        assert depth.preferred_expert() == "depth-anything-v2-small", "what is here comes first"
        present |= {"depth-anything-v2-metric-indoor-small"}
        assert depth.preferred_expert() == "depth-anything-v2-metric-indoor-small"

    def test_backends_that_cannot_be(self) -> None:
        with pytest.raises(InputError, match="expert: expected one of"):
            DepthEstimation("owlv2-base")
        with pytest.raises(InputError, match="device: has no meaning beside a DepthMap"):
            DepthEstimation(DepthMap(RAMP, "metric"), device="cpu")
