"""Capabilities over real networks at toy size, loaded by the names that a configuration gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
pytest.importorskip("transformers")

from harness_findings import found_by, told  # noqa: E402
from perception_programs import DepthMap, Detections  # noqa: E402
from perception_programs.harness.capabilities import (  # noqa: E402
    DepthEstimation,
    VisualGrounding,
    open_capabilities,
)
from perception_programs.harness.memory import Memory  # noqa: E402
from toy_depth import toy_depth  # noqa: E402
from toy_detection import CLASSES, toy_detection  # noqa: E402

NOISE = np.random.default_rng(0).integers(0, 256, (4, 5, 3), dtype=np.uint8)
PICTURE = NOISE[np.arange(96) * 4 // 96][:, np.arange(128) * 5 // 128]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory(tmp_path / "memory")
    made.add("image", PICTURE, made_by="user")
    return made


@pytest.mark.parametrize("name", ["llmdet-tiny", "owlv2-base", "sam3"])
def test_a_detector_by_its_name(name: str, memory: Memory, tmp_path: Path) -> None:
    options = {"expert": name, "threshold": 0.0, "weights": toy_detection(tmp_path, name)}
    (grounding,) = open_capabilities({"visual_grounding": options})
    finding, words = found_by(grounding, memory, list(CLASSES))
    assert finding.form == "found" and "boxes_1" in words
    kept = memory.value("boxes_1")
    assert isinstance(kept, Detections) and len(kept) == finding.fields["count"] > 0
    assert (kept.masks is not None) == (name == "sam3")
    assert [row["label"] for row in finding.raw] == list(kept.labels)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("depth-anything-v2-metric-indoor-small", "metres"), ("dpt-large", "relative")],
)
def test_a_depth_expert_by_its_name(name: str, unit: str, memory: Memory, tmp_path: Path) -> None:
    options = {"expert": name, "weights": toy_depth(tmp_path, name), "device": "cpu"}
    (estimation,) = open_capabilities({"depth_estimation": options})
    finding, _ = found_by(estimation, memory)
    if finding.form == "found":  # a network of random weights may give one depth everywhere
        assert finding.phrases["unit"] == unit
        assert memory.value("depth_1").size == (128, 96)
    else:
        assert "everywhere" in finding.fields["why"]


def test_a_network_that_gives_nan_says_so(memory: Memory, tmp_path: Path) -> None:
    name = "depth-anything-v2-small"
    estimation = DepthEstimation(name, weights=toy_depth(tmp_path, name), device="cpu")
    estimation._backend._tool = expert = estimation._backend._make()
    with torch.no_grad():
        for weight in expert._model.parameters():
            weight.fill_(float("nan"))
    finding, words = found_by(estimation, memory)
    assert finding.form == "unusable" and "Do not guess from it." in words


def test_tensors_come_to_the_host(memory: Memory) -> None:
    values = torch.linspace(1, 5, 128).repeat(96, 1)
    mask = torch.ones(96, 128, dtype=torch.bool)
    found_by(DepthEstimation(lambda image: DepthMap(values, "metric", mask)), memory)
    kept = memory.value("depth_1")
    assert isinstance(kept.values, np.ndarray) and kept.valid().all()


@pytest.mark.parametrize("kind", [DepthEstimation, VisualGrounding])
def test_weights_that_are_not_there_are_told(kind: Any, tmp_path: Path) -> None:
    """They are no finding about the picture."""
    name, more = (
        ("dpt-large", {}) if kind is DepthEstimation else ("owlv2-base", {"queries": ["x"]})
    )
    arguments = {"image": "input_image_1", **more}
    said = told(kind(name, weights=tmp_path / "nowhere"), arguments, tmp_path / "run")[0]
    assert said.startswith("Error: ") and "nowhere" in said
