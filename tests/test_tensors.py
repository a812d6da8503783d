"""Torch tensors: read without importing torch, reduced where they are."""

from __future__ import annotations

import numpy as np
import pytest

import perception_programs as pp
from perception_programs import InputError
from perception_programs.geometry import Grid, cell_medians, cell_statistics

torch = pytest.importorskip("torch")

FIELD = np.random.default_rng(0).normal(5, 2, (93, 131)).astype(np.float32)
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("holes", [False, True])
def test_statistics_equal_numpy_s(device: str, holes: bool) -> None:
    field = FIELD.copy()
    if holes:
        field[:30, :40] = np.nan
        field[50, 60] = np.inf
    tensor = torch.from_numpy(field).to(device)
    for grid in (Grid(10, 10), Grid(7, 16), Grid(93, 131)):
        ours, theirs = cell_statistics(tensor, grid), cell_statistics(field, grid)
        for name in ("min", "max", "mean", "count"):
            a, b = getattr(ours, name), getattr(theirs, name)
            assert isinstance(a, np.ndarray)
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(
            cell_medians(tensor, grid)[0], cell_medians(field, grid)[0], rtol=1e-6
        )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["relative", "metric"])
@pytest.mark.parametrize("masked", [False, True])
def test_depth_programs_equal_numpy_s(device: str, kind: str, masked: bool) -> None:
    field = np.abs(FIELD) + 0.1
    mask = FIELD > 4 if masked else None
    program = pp.depth_program(torch.from_numpy(field).to(device), kind=kind, mask=mask)
    expected = pp.depth_program(field, kind=kind, mask=mask)
    assert dict(program.meta) == dict(expected.meta)
    for ours, theirs in zip(program.items, expected.items, strict=True):
        assert ours.c == theirs.c
        assert ours.r == (theirs.r if theirs.r is None else pytest.approx(theirs.r, abs=1e-6))
    near = pp.DepthMap(torch.from_numpy(field).to(device), kind, mask).nearness()
    np.testing.assert_allclose(near.cpu(), pp.DepthMap(field, kind, mask).nearness(), atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_number_types_become_single(dtype: str) -> None:
    tensor = torch.linspace(0, 1, 40).repeat(20, 1).to(getattr(torch, dtype))
    depth = pp.DepthMap(tensor)
    assert depth.values.dtype == torch.float32
    assert len(pp.depth_program(tensor).items) == 100


def test_gradients_and_views_are_no_obstacle() -> None:
    tensor = torch.rand(30, 40, requires_grad=True)
    assert len(pp.depth_program(tensor).items) == 100
    assert len(pp.depth_program(tensor.detach().t()).items) == 100


def test_flow() -> None:
    uv = np.random.default_rng(1).normal(0, 3, (40, 50, 2)).astype(np.float32)
    assert pp.flow_program(torch.from_numpy(uv)) == pp.flow_program(uv)
    with pytest.raises(InputError, match="move the first axis"):
        pp.flow_program(torch.zeros(2, 40, 50))


def test_albedo_and_similarity() -> None:
    field = np.random.default_rng(2).random((40, 50), np.float32)
    assert pp.albedo_program(torch.from_numpy(field)) == pp.albedo_program(field)
    ours = pp.similarity_program({"A": torch.from_numpy(field)}).rounded()
    assert ours == pp.similarity_program({"A": field}).rounded()


def test_detections_and_matches() -> None:
    found = {
        "boxes": torch.tensor([[1.0, 2, 3, 4]]),
        "scores": torch.tensor([0.5], dtype=torch.float16),
        "labels": torch.tensor([1]),
    }
    program = pp.detection_program(found, size=(10, 10), names=["", "cat"])
    assert program.items[0].b == "cat" and program.items[0].r == 0.5
    none = {"boxes": torch.empty(0, 4), "scores": torch.empty(0), "labels": torch.empty(0)}
    assert len(pp.detection_program(none, size=(10, 10), names=["a"]).items) == 0
    points = torch.tensor([[1.0, 2.0]])
    assert pp.Matches(points, points, size1=(5, 5)).points1.tolist() == [[1, 2]]


def test_pictures() -> None:
    picture = torch.randint(0, 256, (3, 20, 31), dtype=torch.uint8)
    assert (pp.load_image(picture) == picture.permute(1, 2, 0).numpy()).all()


def test_ambiguous_shapes_are_refused() -> None:
    for tensor in (torch.rand(1, 20, 30), torch.randint(0, 5, (20, 30))):
        with pytest.raises(InputError, match="may be a depth map or a grey picture"):
            pp.depth_program(tensor)


def test_mask_as_a_tensor() -> None:
    values = torch.linspace(0, 1, 40).repeat(20, 1)
    mask = torch.ones(20, 40, dtype=torch.bool)
    mask[:, :4] = False
    assert pp.depth_program(values, mask=mask).meta["masked_pixels"] == 80
    assert pp.depth_program(values.numpy(), mask=mask).meta["masked_pixels"] == 80
