"""RAFT in its real architecture, with random weights."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import perception_programs as pp
from perception_programs import FlowField, InputError, ToolError, WeightsError
from perception_programs.experts import Expert, available, load, registry

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")

from perception_programs.experts import _weights, raft  # noqa: E402
from toy_flow import toy_flow  # noqa: E402

NAMES = ["raft-large", "raft-small"]
SIZES = [(120, 120), (128, 132), (480, 854), (64, 256), (256, 64), (37, 53)]

Loader = Callable[..., Any]


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("flow")
    return {name: toy_flow(folder, name) for name in NAMES}


@pytest.fixture(scope="module")
def expert(toys: dict[str, Path]) -> Loader:
    """An expert by name; by default with one update and small frames, since the networks are whole."""

    def get(name: str, **options: Any) -> Any:
        options = {"updates": 1, "max_side": 160, **options}
        return load(name, weights=toys[name], device="cpu", **options)

    return get


def pair(height: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 256, (2, height, width, 3), dtype=np.uint8)
    return first, second


class Planted(torch.nn.Module):
    """Stands in for the network: answers what a function of the padded frames' shape says."""

    def __init__(self, answer: Callable[[int, int], Any]) -> None:
        super().__init__()
        self.answer = answer
        self.corr_block = torch.nn.Module()
        self.seen: list[tuple[Any, Any]] = []

    def forward(self, here: Any, there: Any, num_flow_updates: int) -> list[Any]:
        self.seen.append((here, there))
        return [self.answer(*here.shape[-2:])[None]]


def plant(made: Any, answer: Callable[[int, int], Any]) -> Planted:
    made._model = Planted(answer)
    return made._model


def constant(u: float, v: float) -> Callable[[int, int], Any]:
    return lambda height, width: torch.tensor([u, v]).view(2, 1, 1).expand(2, height, width)


class TestTable:
    def test_names_and_order(self) -> None:
        assert list(available("flow")) == ["raft-large", "raft-small", "dis"]

    @pytest.mark.parametrize("name", NAMES)
    def test_cards(self, name: str, expert: Loader) -> None:
        made = expert(name)
        assert isinstance(made, Expert) and made.card.checkpoint.startswith("local:")
        assert dataclasses.replace(made.card, checkpoint=None) == dataclasses.replace(
            available()[name].card, checkpoint=None
        )
        flow = torchvision.models.optical_flow
        weights = {
            "raft-large": flow.Raft_Large_Weights.C_T_SKHT_V2,
            "raft-small": flow.Raft_Small_Weights.C_T_V2,
        }[name]
        assert available()[name].card.checkpoint == weights.url
        assert abs(made.card.megabytes - weights.meta["num_params"] * 4 / 1e6) < 1
        assert "u right, v down" in made.card.polarity
        assert f"beyond {raft.RAFT.__init__.__kwdefaults__['max_side']} pixels" in made.card.limits


@pytest.mark.parametrize("name", NAMES)
class TestContract:
    @pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
    def test_any_size(self, name: str, size: tuple[int, int], expert: Loader) -> None:  # FAULTS 8
        flow = expert(name)(*pair(*size))
        assert isinstance(flow, FlowField) and flow.size == size[::-1]
        assert flow.uv.shape == (*size, 2) and flow.uv.dtype == torch.float32
        assert bool(flow.uv.isfinite().all()) and float(flow.uv.std()) > 0
        assert not flow.uv.is_inference() and flow.uv.is_contiguous()
        assert flow.confidence is None

    def test_a_batch_of_mixed_sizes_equals_single_calls(self, name: str, expert: Loader) -> None:
        made = expert(name)
        pairs = [pair(*size, seed) for seed, size in enumerate([(128, 132), (37, 53), (128, 132)])]
        found = made.batch(*zip(*pairs, strict=True))
        for flow, (first, second) in zip(found, pairs, strict=True):
            assert float((flow.uv - made(first, second).uv).abs().max()) < 1e-4
        assert made.batch([], []) == []
        with pytest.raises(ValueError, match="zip"):
            made.batch([pairs[0][0]], [])

    def test_nothing_global_changes_and_nothing_large_stays(
        self, name: str, toys: dict[str, Path]
    ) -> None:
        before = torch.random.get_rng_state(), torch.get_default_dtype(), torch.is_grad_enabled()
        made: Any = load(name, weights=toys[name], updates=1, device="cpu")
        made(*pair(128, 128))
        after = torch.random.get_rng_state(), torch.get_default_dtype(), torch.is_grad_enabled()
        assert torch.equal(before[0], after[0]) and before[1:] == after[1:]
        assert made._model.corr_block.corr_pyramid == []
        assert not made._model.training


class TestFrames:
    def test_grey_alpha_files_and_tensors(self, expert: Loader, tmp_path: Path) -> None:
        made = expert("raft-small")
        grey = pair(40, 48)[0][..., 0]
        same = np.repeat(grey[..., None], 3, axis=2)
        other = pair(40, 48, 1)[0]
        wanted = made(same, other).uv
        opaque = np.dstack([same, np.full_like(grey, 255)])
        Image.fromarray(same).save(tmp_path / "same.png")
        tensor = torch.from_numpy(same).permute(2, 0, 1)
        for source in (grey, opaque, tensor, Image.fromarray(grey), tmp_path / "same.png"):
            assert torch.equal(made(source, other).uv, wanted)

    def test_one_pair_in_three_types(self, expert: Loader) -> None:  # FAULTS 9
        made = expert("raft-small")
        frames = pair(130, 140)
        wanted = made(*frames).uv
        for change in (np.float32, lambda frame: frame / 255):
            assert torch.equal(made(*map(change, frames)).uv, wanted)

    def test_what_the_network_sees(self, expert: Loader) -> None:
        made = expert("raft-small")
        seen = plant(made, constant(0, 0)).seen
        red, blue = (
            np.full((130, 133, 3), colour, np.uint8) for colour in ((255, 0, 0), (0, 0, 255))
        )
        red[0, 0] = 0
        made(red, blue)
        (here, there), *_ = seen
        assert here.shape == there.shape == (1, 3, 136, 136)
        assert here[0, :, 68, 68].tolist() == [1, -1, -1]
        assert there[0, :, 68, 68].tolist() == [-1, -1, 1]
        assert here.dtype == torch.float32
        # 3 rows and 1 column before the first, repeated from the edge.
        black = here[0, 0] == -1
        assert black[:4, :2].all() and black.sum() == 8

    def test_frames_of_two_sizes(self, expert: Loader) -> None:
        with pytest.raises(InputError, match="frames of one size, got 40×30 and 30×40"):
            expert("raft-small")(pair(30, 40)[0], pair(40, 30)[0])

    @pytest.mark.parametrize(
        ("size", "limit", "wanted"),
        [
            ((2560, 1440), 1280, (1280, 720)),
            ((1440, 2560), 1280, (720, 1280)),
            ((4000, 4000), 1280, (1280, 1280)),
            ((854, 480), 1280, (854, 480)),
            ((256, 64), 1280, (512, 128)),
            ((64, 256), 1280, (128, 512)),
            ((53, 37), 1280, (183, 128)),
            ((1, 1), 1280, (128, 128)),
            ((3000, 10), 1280, (1280, 128)),
            ((10, 3000), 1280, (128, 1280)),
            ((500, 300), 128, (128, 128)),
        ],
    )
    def test_size_that_the_network_reads(
        self, size: tuple[int, int], limit: int, wanted: tuple[int, int]
    ) -> None:
        assert raft.network_size(size, limit) == wanted


class TestVectors:
    @pytest.mark.parametrize(
        ("size", "limit", "planted", "wanted"),
        [
            ((130, 133), 1280, (3, -2), (3, -2)),  # padded only
            ((64, 256), 1280, (8, 4), (4, 2)),  # twice as large both ways
            ((10, 3000), 1280, (1.28, 12.8), (3, 1)),  # each axis by its own factor
            ((400, 800), 400, (5, -7), (10, -14)),  # half as large
        ],
    )
    def test_are_in_pixels_of_the_source(
        self, size: Any, limit: int, planted: Any, wanted: Any, expert: Loader
    ) -> None:
        made = expert("raft-small", max_side=limit)
        plant(made, constant(*planted))
        uv = made(*pair(*size)).uv
        assert uv.shape == (*size, 2)
        assert uv.reshape(-1, 2).min(dim=0).values.tolist() == pytest.approx(wanted, rel=1e-5)
        assert uv.reshape(-1, 2).max(dim=0).values.tolist() == pytest.approx(wanted, rel=1e-5)

    def test_padding_is_cropped_where_it_was_added(self, expert: Loader) -> None:
        made = expert("raft-small")
        plant(
            made,
            lambda height, width: torch.stack(
                torch.meshgrid(
                    torch.arange(width).float(), torch.arange(height).float(), indexing="xy"
                )
            ),
        )
        uv = made(*pair(130, 133)).uv.numpy()  # 136×136: 1 column and 3 rows before
        y, x = np.mgrid[0:130, 0:133]
        assert np.array_equal(uv[..., 0], x + 1) and np.array_equal(uv[..., 1], y + 3)

    def test_places_follow_the_scale(self, expert: Loader) -> None:
        made = expert("raft-small", max_side=1280)
        plant(made, lambda height, width: torch.arange(width).float().expand(2, height, width))
        uv = made(*pair(64, 256)).uv.numpy()  # read at 512×128
        # Pixel x lies at 2x + 0.5 there; its motion of so many pixels is half as many here.
        assert np.allclose(uv[..., 0], (2 * np.arange(256) + 0.5) / 2, atol=1e-3)

    def test_left_stays_left_in_a_program(self, expert: Loader) -> None:
        made = expert("raft-small")
        plant(made, constant(-3, 0))
        program = pp.flow_program(*pair(64, 64), expert=made, grid=2)
        assert [item.r for item in program.items] == ["left"] * 4
        assert program.meta["expert"] == "raft-small"


class TestOptions:
    @pytest.mark.parametrize(
        ("option", "value"),
        [
            *(("max_side", v) for v in (127, 0, 1280.0, True, None)),
            *(("updates", v) for v in (0, -1, 2.5, True)),
        ],
    )
    def test_refused(self, option: str, value: Any, expert: Loader) -> None:
        with pytest.raises(InputError, match=rf"{option}: expected at least"):
            expert("raft-small", **{option: value})

    def test_other_network(self, expert: Loader) -> None:
        with pytest.raises(InputError, match="network: expected 'large' or 'small'"):
            expert("raft-small", network="huge")

    def test_updates_refine(self, expert: Loader) -> None:
        frames = pair(128, 128)
        one, two = (expert("raft-small", updates=n)(*frames).uv for n in (1, 2))
        assert not torch.allclose(one, two)

    def test_are_checked_before_anything_is_downloaded(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(registry, "check_obtainable", lambda card: None)
        for options in ({"device": "tpu"}, {"dtype": "int8"}, {"max_side": 5}, {"updates": 0}):
            with pytest.raises(InputError, match="expected"):
                load("raft-small", **options)  # type: ignore[arg-type]

    def test_single_precision_by_itself(self, expert: Loader) -> None:
        assert expert("raft-small")._dtype == torch.float32

    @pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 0.02), ("bfloat16", 0.15)])
    def test_half_types_stay_near_and_give_single(
        self, dtype: str, tolerance: float, expert: Loader
    ) -> None:
        frames = pair(128, 136)
        wanted = expert("raft-small", updates=2)(*frames).uv
        uv = expert("raft-small", updates=2, dtype=dtype)(*frames).uv
        assert uv.dtype == torch.float32
        assert 0 < float((uv - wanted).abs().max()) < tolerance * float(wanted.abs().max())


class TestErrors:
    @pytest.mark.parametrize("name", NAMES)
    def test_no_weights_and_no_network(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TORCH_HOME", str(tmp_path))
        monkeypatch.setattr(_weights, "_answers", lambda url: False)
        start = time.perf_counter()
        with pytest.raises(WeightsError) as caught:
            load(name)
        assert time.perf_counter() - start < 5
        text = str(caught.value)
        assert available()[name].card.checkpoint in text and str(tmp_path) in text
        assert "flow is read by 'dis'" in text

    def test_a_file_or_its_folder(self, toys: dict[str, Path]) -> None:
        frames = pair(40, 40)
        file = next(toys["raft-small"].iterdir())
        folder, alone = (
            load("raft-small", weights=place, updates=1, device="cpu")
            for place in (file.parent, file)
        )
        assert torch.equal(folder(*frames).uv, alone(*frames).uv)

    def test_files_that_are_none(self, toys: dict[str, Path], tmp_path: Path) -> None:
        with pytest.raises(
            InputError, match=r"weights: expected a file, or a folder with 'raft_small"
        ):
            load("raft-small", weights=tmp_path)
        (tmp_path / "junk.pth").write_bytes(b"no weights")
        with pytest.raises(WeightsError, match="cannot be loaded"):
            load("raft-small", weights=tmp_path / "junk.pth")
        with pytest.raises(WeightsError, match="cannot be loaded"):
            load("raft-small", weights=next(toys["raft-large"].iterdir()))

    def test_an_output_that_is_no_flow(self, expert: Loader) -> None:
        made = expert("raft-small")
        plant(made, constant(float("nan"), 0))
        with pytest.raises(ToolError, match=r"'raft-small'.*at least one finite vector"):
            made(*pair(64, 64))


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts memory as Linux does")
def test_memory_at_the_default_cap(toys: dict[str, Path]) -> None:
    """Whole raft-large on a 1440×2560 pair: under 8 GB."""
    script = f"""
import resource, numpy, torch
from perception_programs.experts import load
torch.set_num_threads(2)
expert = load("raft-large", weights={str(toys["raft-large"])!r}, updates=1, device="cpu")
first, second = numpy.random.default_rng(0).integers(0, 256, (2, 1440, 2560, 3), dtype=numpy.uint8)
assert expert(first, second).uv.shape == (1440, 2560, 2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(run.stdout) * 1024 < 8e9


class TestChecked:
    def test_raft_runs_both_ways(self, expert: Loader) -> None:
        made = expert("raft-small", check=True)
        seen = plant(made, constant(2, 0)).seen
        first, second = pair(130, 136)
        flow = made(first, second)
        assert len(seen) == 2
        assert torch.equal(seen[0][0], seen[1][1]) and torch.equal(seen[0][1], seen[1][0])
        assert flow.confidence.shape == (130, 136) and flow.confidence.dtype == torch.float32
        assert not flow.confidence.any()  # both ways to the right

    def test_raft_agrees_with_a_way_back(self, expert: Loader) -> None:
        made = expert("raft-small", check=True)
        answers = iter([constant(4, 0), constant(-4, 0)])
        plant(made, lambda height, width: next(answers)(height, width))
        agree = made(*pair(128, 136)).confidence
        assert bool(agree[:, :132].all()) and not bool(agree[:, 132:].any())

    def test_batch_too(self, expert: Loader) -> None:
        made = expert("raft-small", check=True)
        first, second = pair(48, 64)
        (flow,) = made.batch([first], [second])
        assert torch.equal(flow.confidence, made(first, second).confidence)
