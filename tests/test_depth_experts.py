"""Depth estimators of transformers: real architectures at toy size, loaded the way a checkpoint is."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import perception_programs as pp
from perception_programs import DepthMap, InputError, ToolError, WeightsError
from perception_programs.experts import Expert, available, load, registry
from perception_programs.experts.catalogue.depth import POLARITY

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("torchvision")

from toy_depth import depth_anything, toy_depth  # noqa: E402

NAMES = list(available("depth"))
# One of each architecture, and one of Depth Anything's two heads.
KINDS = [
    "depth-anything-v2-small",
    "depth-anything-v2-metric-indoor-small",
    "depth-pro",
    "zoedepth-nyu-kitti",
    "dpt-large",
]
SIZES = [(120, 120), (128, 132), (480, 854), (64, 256), (256, 64), (37, 53)]

Loader = Callable[..., Any]


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The toy checkpoint of an expert, built when it is first asked for."""
    folder = tmp_path_factory.mktemp("depth")
    return lambda name: folder / name if (folder / name).is_dir() else toy_depth(folder, name)


@pytest.fixture(scope="module")
def expert(toys: Callable[[str], Path]) -> Loader:
    """An expert by name, made once when it is made without options."""
    made: dict[str, Expert] = {}

    def get(name: str, **options: Any) -> Any:
        if options:
            return load(name, weights=toys(name), device="cpu", **options)
        if name not in made:
            made[name] = load(name, weights=toys(name), device="cpu")
        return made[name]

    return get


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Smooth colour with some noise: toy networks see little in noise alone."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (9 + 5 * c) + c) + np.cos(y / (7 + 3 * c)) for c in range(3)]
    levels = 128 + 40 * np.stack(waves, axis=-1) + rng.normal(0, 8, (height, width, 3))
    return np.clip(levels, 0, 255).astype(np.uint8)


def worst(first: DepthMap, second: DepthMap) -> float:
    scale = max(1.0, float(first.values.abs().max()))
    return float((first.values - second.values).abs().max()) / scale


class TestEveryName:
    def test_the_table(self) -> None:
        assert NAMES[0] == "depth-anything-v2-small"
        assert set(NAMES) >= {
            *(f"depth-anything-{s}" for s in ("small", "base", "large")),
            *(f"depth-anything-v2-{s}" for s in ("small", "base", "large")),
            *(
                f"depth-anything-v2-metric-{p}-{s}"
                for p in ("indoor", "outdoor")
                for s in ("small", "base", "large")
            ),
            *("depth-pro", "zoedepth-nyu-kitti", "dpt-large"),
        }

    @pytest.mark.parametrize("name", NAMES)
    def test_loads_and_says_what_it_is(self, name: str, expert: Loader) -> None:
        made = expert(name)
        card, entry = made.card, available()[name]
        assert isinstance(made, Expert)
        assert (card.name, card.modality, card.library) == (name, "depth", "transformers")
        assert card.licence and card.limits and card.checkpoint.startswith("local:")
        # A toy says what it is in its configuration, so the card and it were read independently.
        assert made.kind == entry.options["kind"]
        assert card.polarity == POLARITY[made.kind] == entry.card.polarity
        depth = made(picture(37, 53))
        assert depth.kind == made.kind and depth.size == (53, 37)

    def test_the_default_is_the_small_free_one(
        self, toys: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = []
        monkeypatch.setattr(registry, "load", asked.append)
        registry.default("depth")
        assert asked == ["depth-anything-v2-small"]
        assert available()[asked[0]].card.licence == "Apache-2.0"


@pytest.mark.parametrize("name", KINDS)
class TestContract:
    @pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
    def test_any_size(self, name: str, size: tuple[int, int], expert: Loader) -> None:
        depth = expert(name)(picture(*size))
        assert depth.values.shape == size and depth.size == size[::-1]
        assert depth.values.dtype == torch.float32 and depth.mask is None
        assert bool(depth.values.isfinite().all())
        assert float(depth.values.std()) > 1e-3  # it has something to get wrong
        assert not depth.values.is_inference() and not depth.values.requires_grad

    def test_grey_alpha_files_and_tensors(self, name: str, expert: Loader, tmp_path: Path) -> None:
        grey = picture(48, 40)[..., 0]
        same = np.repeat(grey[..., None], 3, axis=2)
        wanted = expert(name)(same).values
        opaque = np.dstack([same, np.full_like(grey, 255)])
        Image.fromarray(same).save(tmp_path / "same.png")
        tensor = torch.from_numpy(same).permute(2, 0, 1)
        for source in (
            *(grey, grey[..., None], opaque, tensor),
            *(Image.fromarray(grey), Image.fromarray(opaque), tmp_path / "same.png"),
            (tmp_path / "same.png").read_bytes(),
        ):
            assert torch.equal(expert(name)(source).values, wanted)

    def test_one_picture_in_three_types(self, name: str, expert: Loader) -> None:  # FAULTS 9
        image = picture(60, 80)
        image[0, 0] = 255
        wanted = expert(name)(image).values
        for other in (image.astype(np.float32), image / 255):
            assert torch.equal(expert(name)(other).values, wanted)

    def test_a_batch_of_mixed_sizes_equals_single_calls(self, name: str, expert: Loader) -> None:
        images = [picture(*size, seed) for seed, size in enumerate([*SIZES, *SIZES[:3]])]
        found = expert(name).batch(iter(images))
        assert [depth.size for depth in found] == [i.shape[1::-1] for i in images]
        assert max(worst(d, expert(name)(i)) for d, i in zip(found, images, strict=True)) < 1e-4
        assert expert(name).batch([]) == []

    def test_half_types_stay_near_and_give_single(self, name: str, expert: Loader) -> None:
        image = picture(64, 80)
        for dtype, tolerance in (("float16", 0.02), ("bfloat16", 0.1)):
            depth = expert(name, dtype=dtype)(image)
            assert depth.values.dtype == torch.float32
            assert worst(expert(name)(image), depth) < tolerance

    def test_red_comes_first(self, name: str, expert: Loader) -> None:
        seen = []
        made = expert(name)
        hook = made._model.register_forward_pre_hook(
            lambda module, args, kwargs: seen.append(kwargs["pixel_values"]), with_kwargs=True
        )
        # As high as it has colours, where the model takes so few pixels.
        side = 5 if name == "zoedepth-nyu-kitti" else 3
        made(np.full((side, side, 3), [255, 0, 0], np.uint8))
        hook.remove()
        assert seen[0].shape[:2] == (1, 3)
        means = seen[0].mean(dim=(0, 2, 3)).tolist()
        assert means[0] > 0.9 and max(means[1:]) < -0.9

    def test_nothing_global_changes(self, name: str, toys: Callable[[str], Path]) -> None:
        before = torch.random.get_rng_state(), torch.get_default_dtype(), torch.is_grad_enabled()
        load(name, weights=toys(name), device="cpu")(picture(20, 30))
        after = torch.random.get_rng_state(), torch.get_default_dtype(), torch.is_grad_enabled()
        assert torch.equal(before[0], after[0]) and before[1:] == after[1:]


@pytest.fixture
def ramp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every head answers 1 at the left edge of what the network sees, 9 at the right."""

    def field(batch: int, height: int, width: int) -> Any:
        return torch.linspace(1, 9, width).expand(batch, height, width)

    def depth_anything_head(self: Any, hidden: Any, height: int, width: int) -> Any:
        return field(len(hidden[-1]), height * 14, width * 14)

    def dpt_head(self: Any, hidden: Any) -> Any:
        return field(len(hidden[-1]), *hidden[-1].shape[-2:])

    def zoedepth_head(self: Any, outconv_activation: Any, **_: Any) -> Any:
        return field(len(outconv_activation), *outconv_activation.shape[-2:])[:, None], None

    def depth_pro_head(self: Any, hidden: Any) -> Any:
        return field(len(hidden), *hidden.shape[-2:])

    models = transformers.models
    for owner, head in (
        (
            models.depth_anything.modeling_depth_anything.DepthAnythingDepthEstimationHead,
            depth_anything_head,
        ),
        (models.dpt.modeling_dpt.DPTDepthEstimationHead, dpt_head),
        (
            models.zoedepth.modeling_zoedepth.ZoeDepthMultipleMetricDepthEstimationHeads,
            zoedepth_head,
        ),
        (models.depth_pro.modeling_depth_pro.DepthProDepthEstimationHead, depth_pro_head),
    ):
        monkeypatch.setattr(owner, "forward", head)


@pytest.mark.usefixtures("ramp")
class TestPolarity:
    @pytest.mark.parametrize("name", NAMES)
    def test_planted_output(self, name: str, expert: Loader) -> None:  # FAULTS 1
        made = expert(name)
        image = picture(90, 120)
        values = made(image).values
        left, right = pp.depth_program(image, grid=(1, 2), expert=made).items
        if name == "depth-pro":  # its network gives inverse depth, and its processor metres
            assert float(values[0, 0]) > float(values[0, -1])
            assert right.r > left.r
            return
        assert float(values[0, 0]) < float(values[0, -1])
        assert (right.r > left.r) == (made.kind == "relative")
        assert (left.r > right.r) == (made.kind == "metric")

    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("depth-anything-v2-small", "metric"),
            ("depth-anything-v2-metric-indoor-small", "relative"),
            ("dpt-large", "metric"),
        ],
    )
    def test_the_configuration_overrules_the_card(
        self, name: str, kind: str, tmp_path: Path
    ) -> None:
        with torch.random.fork_rng():
            model, processor = depth_anything(kind, 20)
        model.save_pretrained(tmp_path)
        processor.save_pretrained(tmp_path)
        made: Any = load(name, weights=tmp_path, device="cpu")
        assert available()[name].options["kind"] != kind == made.kind
        assert made.card.polarity == POLARITY[kind]
        assert available()[name].card.polarity != POLARITY[kind]
        left, right = pp.depth_program(picture(90, 120), grid=(1, 2), expert=made).items
        assert (right.r > left.r) == (kind == "relative")
        assert load(name, weights=tmp_path, kind="relative", device="cpu").kind == kind

    def test_an_architecture_of_metres_overrules_the_card(
        self, toys: Callable[[str], Path]
    ) -> None:
        for name in ("depth-pro", "zoedepth-nyu-kitti"):
            assert load("dpt-large", weights=toys(name), device="cpu").kind == "metric"

    def test_the_user_says_where_the_configuration_does_not(self, expert: Loader) -> None:
        made = expert("dpt-large", kind="metric")
        assert made.kind == "metric" and made.card.polarity == POLARITY["metric"]
        with pytest.raises(InputError, match="kind: expected one of relative, metric, got 'normal"):
            expert("dpt-large", kind="normalised")

    def test_zoedepth_takes_its_padding_off(self, expert: Loader) -> None:
        height, width = 90, 120
        values = expert("zoedepth-nyu-kitti")(picture(height, width)).values
        pad = int((width / 2) ** 0.5 * 3)
        at = (np.arange(width) + pad + 0.5) / (width + 2 * pad)  # of the padded width
        # The planted ramp runs over a grid that is coarser than the picture.
        assert np.abs(values[height // 2].numpy() - (1 + 8 * at)).max() < 0.2
        assert float(values[0, 0]) > 1.8 and float(values[0, -1]) < 8.2

    def test_depth_pro_scales_by_its_field_of_view(
        self, expert: Loader, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = transformers.models.depth_pro.modeling_depth_pro
        monkeypatch.setattr(
            module.DepthProFovHead, "forward", lambda self, features: torch.full((1, 1), 90.0)
        )
        values = expert("depth-pro")(picture(90, 120)).values
        # 90° wide: the focal length is half the width, so metres are 1 / (2 × what was planted).
        assert float(values[45, 0]) == pytest.approx(1 / 2, rel=0.05)
        assert float(values[45, -1]) == pytest.approx(1 / 18, rel=0.05)

    def test_metres_stay_metres(self, expert: Loader) -> None:
        depth = expert("depth-anything-v2-metric-outdoor-large")(picture(90, 120))
        assert depth.kind == "metric"
        assert float(depth.values.min()) == pytest.approx(1, abs=0.05)
        assert float(depth.values.max()) == pytest.approx(9, abs=0.05)


class TestZoeDepth:
    def test_a_batch_does_not_vote(self, expert: Loader) -> None:
        """Its network picks indoors or outdoors for a whole batch, from the sum of the votes."""
        made = expert("zoedepth-nyu-kitti", batch_size=8)
        sizes = []
        hook = made._model.register_forward_pre_hook(
            lambda module, args, kwargs: sizes.append(len(kwargs["pixel_values"])), with_kwargs=True
        )
        made.batch([picture(40, 40, seed) for seed in range(3)])
        hook.remove()
        assert sizes == [1, 1, 1]

    def test_single_precision_by_itself(
        self, toys: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from perception_programs.experts import transformers_depth

        asked = []
        real = transformers_depth.choose_dtype

        def spy(dtype: str, device: Any, half: str | None = "float16") -> Any:
            asked.append(half)
            return real(dtype, device, half)

        monkeypatch.setattr(transformers_depth, "choose_dtype", spy)
        load("zoedepth-nyu-kitti", weights=toys("zoedepth-nyu-kitti"), device="cpu")
        assert asked[-1] is None
        load("dpt-large", weights=toys("dpt-large"), device="cpu")
        assert asked[-1] == "float16"


class TestBatch:
    def test_pictures_of_one_shape_go_together_up_to_the_limit(self, expert: Loader) -> None:
        made = expert("depth-anything-small", batch_size=3)
        sizes = []
        hook = made._model.register_forward_pre_hook(
            lambda module, args, kwargs: sizes.append(len(kwargs["pixel_values"])), with_kwargs=True
        )
        made.batch([picture(40, 40)] * 5)
        made.batch([picture(40, 40), picture(40, 90), picture(80, 80)])
        hook.remove()
        assert sizes == [3, 2, 2, 1]

    @pytest.mark.parametrize("size", [0, -1, 1.5, True, None])
    def test_its_size(self, size: Any, expert: Loader) -> None:
        with pytest.raises(InputError, match="batch_size: expected at least 1"):
            expert("depth-anything-small", batch_size=size)


class TestErrors:
    @pytest.mark.parametrize("offline", [False, True])
    @pytest.mark.parametrize("name", ["depth-anything-v2-small", "depth-pro"])
    def test_no_weights_and_no_network(
        self, name: str, offline: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from huggingface_hub import constants

        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # where nobody listens
        start = time.perf_counter()
        with pytest.raises(WeightsError) as caught:
            load(name)
        assert time.perf_counter() - start < 5
        text = str(caught.value)
        assert available()[name].card.checkpoint in text and str(tmp_path) in text
        assert "weights=FOLDER" in text and ("HF_HUB_OFFLINE" in text) == offline

    def test_a_folder_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="weights: expected a folder"):
            load("dpt-large", weights=tmp_path / "none")

    @pytest.mark.parametrize(
        "missing", ["config.json", "model.safetensors", "preprocessor_config.json"]
    )
    def test_a_folder_that_lacks_a_file(self, missing: str, tmp_path: Path) -> None:
        place = toy_depth(tmp_path, "dpt-large")
        (place / missing).unlink()
        with pytest.raises(WeightsError, match=r"'dpt-large'.*Intel/dpt-large.*cannot be loaded"):
            load("dpt-large", weights=place)

    def test_a_checkpoint_of_something_else(self, tmp_path: Path) -> None:
        place = toy_depth(tmp_path, "dpt-large")
        (place / "config.json").write_text(json.dumps({"model_type": "bert"}), encoding="utf-8")
        with pytest.raises(WeightsError, match="cannot be loaded"):
            load("dpt-large", weights=place)

    @pytest.mark.parametrize(
        ("name", "size"),
        [("depth-anything-small", (3000, 10)), ("zoedepth-nyu-kitti", (4, 4))],
    )
    def test_too_thin_or_too_small(self, name: str, size: tuple[int, int], expert: Loader) -> None:
        with pytest.raises(InputError, match=rf"{name}.*got one of {size[0]}×{size[1]} pixels"):
            expert(name)(np.zeros((size[1], size[0], 3), np.uint8))

    @pytest.mark.parametrize("name", ["depth-anything-small", "depth-pro", "dpt-large"])
    @pytest.mark.parametrize("size", [(1, 1), (1, 3), (3, 1), (40, 3)])
    def test_tiny_is_fine_where_the_processor_takes_it(
        self, name: str, size: tuple[int, int], expert: Loader
    ) -> None:
        assert expert(name)(picture(*size)).values.shape == size

    def test_an_output_that_is_no_depth(
        self, expert: Loader, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = expert("dpt-large")
        monkeypatch.setattr(
            transformers.models.dpt.modeling_dpt.DPTDepthEstimationHead,
            "forward",
            lambda self, hidden: torch.full((1, 8, 8), float("nan")),
        )
        with pytest.raises(ToolError, match=r"'dpt-large'.*at least one valid"):
            made(picture(20, 30))

    def test_no_picture(self, expert: Loader) -> None:
        with pytest.raises(InputError, match="no file"):
            expert("dpt-large")("nowhere.jpg")

    def test_options_are_checked_before_anything_is_downloaded(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(registry, "check_obtainable", lambda card: None)
        with pytest.raises(InputError, match="dtype: expected"):
            load("dpt-large", dtype="int8")
        with pytest.raises(InputError, match="device: expected"):
            load("dpt-large", device="tpu")
        with pytest.raises(InputError, match=r"'dpt-large'.*wrong"):
            load("dpt-large", wrong=1)


def test_a_program_says_where_it_came_from(expert: Loader) -> None:
    program = pp.depth_program(picture(60, 80), expert=expert("depth-anything-v2-small"))
    assert program.meta["expert"] == "depth-anything-v2-small"
    assert program.meta["version"] == transformers.__version__
    assert program.meta["kind"] == "relative" and len(program.items) == 100
