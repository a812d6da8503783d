"""Experts that compare points by learned features, on toy checkpoints and planted maps."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("timm")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

import perception_programs as pp  # noqa: E402
from perception_programs import InputError, PointScores, ToolError, WeightsError  # noqa: E402
from perception_programs.experts import Expert, available, load  # noqa: E402
from perception_programs.experts._similarity import PointSimilarity  # noqa: E402
from perception_programs.experts.catalogue import card  # noqa: E402
from toy_semantic import NAMES, toy_semantic  # noqa: E402

TIMM = [name for name in NAMES if name != "dift-sd21"]
SIZES = [(120, 120), (128, 132), (480, 854), (64, 256), (256, 64), (37, 53)]  # height, width
POINTS = {"A": (5, 6), "B": (30, 20), "C": (37, 30)}
SMALL: dict[str, Any] = {"size": 128, "ensemble": 2}  # of dift-sd21, so that it takes no time

Toy = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def _few_threads() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The toy checkpoint of a name, made once."""
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            made[name] = toy_semantic(tmp_path_factory.mktemp(name), name)
        return made[name]

    return make


@pytest.fixture(scope="module")
def toy(folder: Callable[[str], Path]) -> Toy:
    """An expert by name and options, on its toy checkpoint."""

    def make(name: str, **options: Any) -> Any:
        small = SMALL if name == "dift-sd21" else {"side": 112}
        return load(name, weights=folder(name), device="cpu", **{**small, **options})

    return make


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Smooth blobs of colour, different everywhere."""
    import cv2

    blobs = np.random.default_rng(seed).integers(0, 256, (6, 6, 3)).astype(np.uint8)
    return cv2.resize(blobs, (width, height), interpolation=cv2.INTER_CUBIC)


class Planted(PointSimilarity):
    """Feature maps that are given, in place of a model's."""

    def __init__(self, first: Any, second: Any) -> None:
        self.card = card("dinov2-base")
        self.maps = first, second
        self.runs = 0

    def _features(self, picture: np.ndarray, role: Any) -> Any:
        self.runs += 1
        return self.maps[role]


def one_cell(row: int, col: int, shape: tuple[int, int] = (32, 32)) -> Any:
    """Features that are (1, 0) in one cell and (0, 1) in the others."""
    features = torch.zeros(2, *shape)
    features[1] = 1
    features[:, row, col] = torch.tensor([1.0, 0.0])
    return features


class TestReading:
    """What is made of feature maps, whichever model they are of."""

    def test_the_peak_is_at_the_centre_of_its_cell(self) -> None:  # FAULTS 14
        expert = Planted(one_cell(20, 9), one_cell(3, 5))
        black = np.zeros((512, 512, 3), np.uint8)
        reference = (9.5 * 16, 20.5 * 16)
        across = {f"x{x}": (x, 56) for x in range(0, 513, 2)}
        scores = expert(black, black, reference=reference, candidates=across).scores
        best = max(scores, key=lambda name: scores[name])
        assert best == "x88" and scores["x88"] == pytest.approx(1)
        assert all(scores[f"x{x}"] == pytest.approx(0.5**0.5) for x in (80, 96))  # its borders
        assert all(scores[f"x{x}"] < 0.5 for x in (76, 100))
        down = {f"y{y}": (88, y) for y in range(0, 513, 2)}
        scores = expert(black, black, reference=reference, candidates=down).scores
        assert max(scores, key=lambda name: scores[name]) == "y56"
        similarity = expert.similarity(black, black, reference)
        assert similarity.shape == (32, 32) and similarity.dtype == np.float32
        assert np.unravel_index(similarity.argmax(), similarity.shape) == (3, 5)
        read = PointScores.from_similarity(
            similarity, {"in": (88, 56), "out": (120, 56)}, reference=reference, size1=(512, 512)
        )
        assert read.scores == {"in": pytest.approx(1), "out": pytest.approx(0)}

    def test_each_axis_and_each_picture_has_its_own_factor(self) -> None:
        expert = Planted(one_cell(1, 2, (4, 8)), one_cell(6, 0, (8, 3)))
        first, second = np.zeros((40, 800, 3), np.uint8), np.zeros((160, 30, 3), np.uint8)
        candidates = {"A": (5, 130), "B": (5, 110), "C": (25, 130)}
        result = expert(first, second, reference=(250, 15), candidates=candidates)
        assert result.scores == {"A": pytest.approx(1), "B": pytest.approx(0), "C": 0}
        assert (result.size1, result.size2) == ((800, 40), (30, 160))
        assert result.candidates == candidates and result.reference == (250, 15)

    def test_border_points_have_the_border_cells_feature(self) -> None:
        expert = Planted(one_cell(0, 0), one_cell(31, 31))
        black = np.zeros((64, 64, 3), np.uint8)
        corners = {"A": (64, 64), "B": (63, 63), "C": (0, 0)}
        scores = expert(black, black, reference=(0, 0), candidates=corners).scores
        assert scores == {"A": pytest.approx(1), "B": pytest.approx(1), "C": pytest.approx(0)}

    def test_a_flat_map_has_no_margin(self) -> None:  # FAULTS 14
        flat = torch.ones(3, 8, 8)
        black = np.zeros((64, 64, 3), np.uint8)
        ask = {"reference": (5, 5), "candidates": POINTS}
        program = pp.semantic_program(black, black, expert=Planted(flat, flat), **ask)
        assert program.meta["margin"] == pytest.approx(0, abs=1e-6)
        empty = Planted(torch.zeros(3, 8, 8), flat)(black, black, **ask)
        assert set(empty.scores.values()) == {0.0}

    def test_the_margin_is_in_meta_and_not_in_the_text(self) -> None:
        scores = PointScores(
            {"A": (1, 1), "B": (2, 2), "C": (3, 3)}, {"A": 0.2, "B": 0.9, "C": 0.6}, (1, 1), (9, 9)
        )
        program = pp.semantic_program(scores)
        assert program.meta["margin"] == pytest.approx(0.3)
        assert "margin" not in str(program)
        alone = pp.semantic_program(PointScores({"A": (1, 1)}, {"A": 0.2}, (1, 1), (9, 9)))
        assert "margin" not in alone.meta

    def test_half_precision_features_and_far_points(self) -> None:  # FAULTS 18
        features = torch.randn(4, 300, 300, generator=torch.Generator().manual_seed(0))
        black = np.zeros((3000, 3000, 3), np.uint8)
        ask = {"reference": (2901, 2903), "candidates": {"A": (2901, 2903), "B": (2907, 2903)}}
        full = Planted(features, features)(black, black, **ask)
        half = Planted(features.half(), features.half())(black, black, **ask)
        assert full.scores["A"] == pytest.approx(1) and full.scores["B"] < 0.999
        assert half.scores["B"] == pytest.approx(full.scores["B"], abs=1e-2)
        assert half.candidates["A"] == (2901, 2903)

    def test_features_that_are_not_finite(self) -> None:
        black = np.zeros((8, 8, 3), np.uint8)
        bad = torch.full((2, 4, 4), float("nan"))
        with pytest.raises(ToolError, match="dtype='float32'"):
            Planted(bad, bad).similarity(black, black, (1, 1))

    @pytest.mark.parametrize(
        ("reference", "candidates", "message"),
        [
            ((1, 1), {}, "at least one"),
            ((1, 1), None, "candidates: expected a mapping"),
            ((1, 1), [(1, 1)], "candidates: expected a mapping"),
            ((1, 1), {"A": (9, 1)}, "'A': expected a point within 8×8"),
            ((9, 1), {"A": (1, 1)}, "reference: expected a point within 8×8"),
            (None, {"A": (1, 1)}, "reference: expected"),
            ((1, 1), {"A": (float("nan"), 1)}, "finite"),
        ],
    )
    def test_points_are_checked_before_a_model_runs(
        self, reference: Any, candidates: Any, message: str
    ) -> None:
        expert = Planted(one_cell(0, 0), one_cell(0, 0))
        black = np.zeros((8, 8, 3), np.uint8)
        with pytest.raises(InputError, match=message):
            expert(black, black, reference=reference, candidates=candidates)
        with pytest.raises(InputError, match="reference"):
            expert.similarity(black, black, (0, 100))
        assert expert.runs == 0


class TestEveryName:
    def test_the_catalogue(self) -> None:
        entries = available("semantic")
        assert set(entries) == set(NAMES) and next(iter(entries)) == "dinov2-base"
        for entry in entries.values():
            about = entry.card
            assert about.licence and about.limits and about.checkpoint and about.megabytes
            assert about.extra == "models" and "bigger is more alike" in about.polarity

    @pytest.mark.parametrize("name", NAMES)
    def test_a_point_is_most_like_itself(self, toy: Toy, name: str) -> None:
        expert = toy(name)
        assert isinstance(expert, Expert) and expert.card.name == name
        image = picture(200, 300)
        # The noise of dift-sd21 differs between the two pictures; without it, this is exact.
        if name == "dift-sd21":
            expert = toy(name, step=0)
        points = {"A": (40, 40), "B": (250, 50), "C": (150, 170)}
        for letter, place in points.items():
            scores = expert(image, image, reference=place, candidates=points).scores
            assert max(scores, key=lambda k: scores[k]) == letter
            assert scores[letter] == pytest.approx(1, abs=0.1 if name == "dift-sd21" else 1e-5)

    @pytest.mark.parametrize("name", ["dinov2-small", "dinov3-small", "dift-sd21"])
    def test_any_size_and_batch_equals_single_calls(self, toy: Toy, name: str) -> None:
        expert = toy(name)
        firsts = [picture(*size) for size in SIZES]
        seconds = [picture(*size, seed=1) for size in reversed(SIZES)]
        references = [(w - 1, h) for h, w in SIZES]
        batch = expert.batch(firsts, seconds, references, [POINTS] * len(SIZES))
        for (h, w), result in zip(SIZES, batch, strict=True):
            assert result.size1 == (w, h) and isinstance(result, PointScores)
            assert all(-1 <= score <= 1 for score in result.scores.values())
        single = expert(firsts[3], seconds[3], reference=references[3], candidates=POINTS)
        assert single.scores == pytest.approx(batch[3].scores, abs=1e-4)

    @pytest.mark.parametrize("name", ["dinov2-small", "dift-sd21"])
    def test_one_picture_in_many_types(self, toy: Toy, name: str, tmp_path: Path) -> None:
        from PIL import Image

        expert, image = toy(name), picture(60, 90)  # FAULTS 9
        Image.fromarray(image).save(tmp_path / "a.png")
        forms = [
            image.astype(np.float32),
            image / 255,
            torch.from_numpy(image).permute(2, 0, 1),
            np.dstack([image, np.full((60, 90), 255, np.uint8)]),
            Image.fromarray(image),
            tmp_path / "a.png",
        ]
        ask = {"reference": (50, 30), "candidates": POINTS}
        expected = expert(image, image, **ask).scores
        assert all(expert(form, form, **ask).scores == expected for form in forms)
        grey = image[..., 0]
        assert expert(grey, grey, **ask).scores == expert(np.dstack([grey] * 3), grey, **ask).scores

    @pytest.mark.parametrize("name", ["dinov2-small", "dinov3-small", "dift-sd21"])
    def test_half_precision_is_near(self, toy: Toy, name: str) -> None:
        image, other = picture(60, 90), picture(60, 90, seed=1)
        maps = [
            toy(name, dtype=dtype).similarity(image, other, (50, 30))
            for dtype in ("auto", "bfloat16")
        ]
        assert maps[1].dtype == np.float32
        assert np.abs(maps[0] - maps[1]).max() < 0.1

    @pytest.mark.parametrize("name", ["dinov2-small", "dift-sd21"])
    def test_nothing_global_changes(self, toy: Toy, name: str) -> None:
        expert = toy(name)
        torch.manual_seed(7)
        expected = torch.rand(1)
        torch.manual_seed(7)
        expert(picture(50, 50), picture(50, 50), reference=(5, 5), candidates=POINTS)
        assert torch.rand(1) == expected and torch.is_grad_enabled()
        assert torch.get_default_dtype() == torch.float32

    @pytest.mark.parametrize("name", ["dinov2-small", "dift-sd21"])
    def test_a_program(self, toy: Toy, name: str) -> None:
        image = picture(60, 90)
        program = pp.semantic_program(
            image, image, reference=(50, 30), candidates=POINTS, expert=toy(name)
        )
        assert [item.p for item in program.items] == list(POINTS)
        assert program.meta["expert"] == name and program.meta["margin"] >= 0
        assert program.meta["checkpoint"].startswith("local:")

    @pytest.mark.parametrize("offline", [True, False])
    @pytest.mark.parametrize("name", ["dinov2-base", "dift-sd21"])
    def test_without_weights(
        self, name: str, offline: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hub = _no_hub(tmp_path, monkeypatch)
        monkeypatch.setattr(hub, "HF_HUB_OFFLINE", offline)
        start = time.monotonic()
        with pytest.raises(WeightsError) as caught:
            load(name)
        assert time.monotonic() - start < 5
        message = str(caught.value)
        about = card(name)
        assert about.checkpoint in message and f"{about.megabytes:,} MB" in message
        assert str(tmp_path) in message and "semantic_program" in message

    @pytest.mark.parametrize("name", ["dinov2-small", "dift-sd21"])
    def test_from_the_hubs_cache(
        self,
        name: str,
        folder: Callable[[str], Path],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        _no_hub(tmp_path, monkeypatch)
        repository = tmp_path / f"models--{card(name).checkpoint.replace('/', '--')}"
        shutil.copytree(folder(name), repository / "snapshots" / ("0" * 40))
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text("0" * 40)
        assert load(name, device="cpu").card.name == name

    @pytest.mark.parametrize("name", ["dinov2-small", "dinov3-small", "dift-sd21"])
    def test_weights_that_are_not_there(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="weights: expected a folder"):
            load(name, weights=tmp_path / "nowhere")
        with pytest.raises(WeightsError, match=f"{name}.*cannot be loaded"):
            load(name, weights=tmp_path)

    def test_weights_of_another_model(self, folder: Callable[[str], Path]) -> None:
        with pytest.raises(WeightsError, match="cannot be loaded"):
            load("dift-sd21", weights=folder("dinov2-small"))
        with pytest.raises(WeightsError, match="cannot be loaded"):
            load("dinov2-small", weights=folder("dift-sd21"))


def _no_hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty cache, and a hub that does not answer."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    return constants


class TestTimm:
    @pytest.mark.parametrize("name", TIMM)
    def test_whole_patches_and_timms_own_features(self, toy: Toy, name: str) -> None:
        expert = toy(name)
        model, patch = expert._model, expert._patch[0]
        image = picture(100, 150)
        pixels = expert._pixels(image)
        across = 112 // patch
        assert tuple(pixels.shape) == (3, round(across / 1.5) * patch, 112)
        with torch.inference_mode():
            tokens = model.forward_features(pixels[None])[0, model.num_prefix_tokens :]
            features = expert._features(image, 0)
        assert tuple(features.shape) == (32, round(across / 1.5), across)
        assert torch.allclose(features.flatten(1).T, tokens, atol=1e-5)

    def test_normalisation_is_the_models_own(self, toy: Toy) -> None:
        expert = toy("dinov2-small")
        red = np.zeros((50, 50, 3), np.uint8)
        red[..., 0] = 255
        mean, std = (torch.tensor(expert._config[key]) for key in ("mean", "std"))
        expected = (torch.tensor([1.0, 0.0, 0.0]) - mean) / std
        assert torch.allclose(expert._pixels(red)[:, 5, 5], expected)

    @pytest.mark.parametrize(
        ("size", "seen"),
        [
            ((37, 53), (84, 112)),
            ((256, 64), (112, 28)),
            ((2, 900), (14, 112)),
            ((1, 1), (112, 112)),
        ],
    )
    def test_what_the_network_sees(
        self, toy: Toy, size: tuple[int, int], seen: tuple[int, int]
    ) -> None:
        assert tuple(toy("dinov2-small")._pixels(np.zeros((*size, 3), np.uint8)).shape[1:]) == seen

    @pytest.mark.parametrize("name", ["dinov2-small", "dinov3-small"])
    def test_the_default_side(self, folder: Callable[[str], Path], name: str) -> None:
        expert = load(name, weights=folder(name), device="cpu")
        shape = expert.similarity(picture(60, 90), picture(60, 90), (5, 5)).shape
        assert shape == ((25, 37) if name == "dinov2-small" else (32, 48))

    @pytest.mark.parametrize("side", [0, 13, 500, 112.0, True, "112"])
    def test_a_side_must_fit(self, toy: Toy, side: Any) -> None:
        with pytest.raises(InputError, match="side: expected a multiple of 14"):
            toy("dinov2-small", side=side)

    @pytest.mark.parametrize("suffix", ["safetensors", "bin"])
    def test_a_folder_as_timm_saves_it(self, tmp_path: Path, suffix: str) -> None:
        import timm
        from timm.models import save_for_hf

        small = {"embed_dim": 32, "depth": 1, "num_heads": 2}
        model = timm.create_model("vit_small_patch14_reg4_dinov2", img_size=56, **small)
        save_for_hf(model, str(tmp_path), safe_serialization=suffix == "safetensors")
        assert list(tmp_path.glob(f"*.{suffix}"))
        expert = load("dinov2-small", weights=tmp_path, device="cpu", side=56)
        image = picture(56, 56)
        with torch.inference_mode():
            pixels = expert._pixels(image)[None]
            expected = model.eval().forward_features(pixels)[0, 5:]
            assert torch.allclose(
                expert._features(image, 0).flatten(1).T, expected, rtol=1e-4, atol=1e-4
            )

    def test_one_file_of_weights(self, tmp_path: Path) -> None:
        import timm

        model = timm.create_model("vit_small_patch14_dinov2.lvd142m")
        with torch.no_grad():
            model.norm.bias.fill_(0.25)
        torch.save(model.state_dict(), tmp_path / "weights.pth")
        expert = load("dinov2-small", weights=tmp_path / "weights.pth", device="cpu", side=56)
        assert (expert._model.norm.bias == 0.25).all() and expert._config["input_size"][1] == 518
        torch.save({"other": torch.zeros(1)}, tmp_path / "other.pth")
        with pytest.raises(WeightsError, match="cannot be loaded"):
            load("dinov2-small", weights=tmp_path / "other.pth")


class TestDIFT:
    def test_the_published_settings(self, folder: Callable[[str], Path]) -> None:
        expert = load("dift-sd21", weights=folder("dift-sd21"), device="cpu")
        settings = (expert._size, expert._step, expert._block, expert._ensemble)
        assert settings == (768, 261, 1, 8)

    def test_it_is_what_the_whole_unet_computes_there(self, toy: Toy) -> None:
        expert = toy("dift-sd21", ensemble=3, seed=5)
        image = picture(90, 60)
        with torch.inference_mode():
            latents = expert._latents(image)
            assert tuple(latents.shape) == (1, 4, 4, 4)
            assert 0.2 < latents.std() < 5  # as a trained encoder's, whose spread is about 1
            noise = torch.randn((2, 3, 4, 4, 4), generator=torch.Generator().manual_seed(5))
            seen: list[Any] = []
            handle = expert._unet.up_blocks[1].register_forward_hook(
                lambda module, inputs, output: seen.append(output)
            )
            for role in (0, 1):
                noisy = expert._scheduler.add_noise(
                    latents.repeat(3, 1, 1, 1), noise[role], torch.full((3,), 261)
                )
                expert._unet(noisy, 261, encoder_hidden_states=expert._prompt.repeat(3, 1, 1))
            handle.remove()
            for role in (0, 1):
                features = expert._features(image, role)
                assert torch.allclose(features, seen[role].mean(dim=0), atol=1e-5)

    def test_the_picture_fills_the_square_from_minus_one_to_one(self, toy: Toy) -> None:
        expert = toy("dift-sd21")
        seen: list[Any] = []
        encode = expert._vae.encode
        expert._vae.encode = lambda pixels: seen.append(pixels) or encode(pixels)
        wide = np.zeros((20, 200, 3), np.uint8)
        wide[:, 100:, 0] = 255
        with torch.inference_mode():
            expert._latents(wide)
        del expert._vae.encode
        (pixels,) = seen
        assert tuple(pixels.shape) == (1, 3, 128, 128)
        assert (pixels[0, :, 64, 10] == -1).all()
        assert pixels[0, :, 64, 120].tolist() == [1, -1, -1]

    def test_the_unet_stops_and_forgets_the_hook(
        self, toy: Toy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expert, image = toy("dift-sd21", ensemble=1), picture(50, 50)
        later: list[Any] = []
        handle = expert._unet.up_blocks[2].register_forward_hook(lambda *call: later.append(call))
        expert.similarity(image, image, (5, 5))
        handle.remove()
        assert not later and not expert._unet.up_blocks[1]._forward_hooks
        monkeypatch.setattr(expert._unet, "conv_in", None)
        with pytest.raises(TypeError):
            expert.similarity(image, image, (5, 5))
        assert not expert._unet.up_blocks[1]._forward_hooks and not expert._hooked.locked()

    def test_noise_comes_from_the_seed(self, toy: Toy) -> None:
        image, other = picture(50, 50), picture(50, 50, seed=1)

        def run(**options: Any) -> Any:
            return toy("dift-sd21", **options).similarity(image, other, (5, 5))

        once = run()
        torch.rand(3)
        assert (run() == once).all() and (run(seed=1) != once).any()

    def test_two_threads_at_once(self, toy: Toy) -> None:
        from concurrent.futures import ThreadPoolExecutor

        expert = toy("dift-sd21", ensemble=1)
        images = [picture(50, 50, seed=seed) for seed in range(4)]
        alone = [expert.similarity(image, image, (5, 5)) for image in images]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda image: expert.similarity(image, image, (5, 5)), images))
        assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(alone, together, strict=True))

    def test_the_prompt_counts(self, toy: Toy) -> None:
        image = picture(50, 50)
        maps = [
            toy("dift-sd21", prompt=prompt).similarity(image, image, (5, 5))
            for prompt in ("", "a photo of a cat")
        ]
        assert (maps[0] != maps[1]).any()
        with pytest.raises(InputError, match="prompt: expected at most 77 tokens, got 102"):
            toy("dift-sd21", prompt="x" * 100)
        with pytest.raises(InputError, match="prompt: expected a string"):
            toy("dift-sd21", prompt=None)

    @pytest.mark.parametrize("block", [0, 2])
    def test_other_blocks(self, toy: Toy, block: int) -> None:
        expert = toy("dift-sd21", block=block, size=256)
        # Latents of 8×8; the coarsest block gives half of that.
        shape = expert.similarity(picture(30, 40), picture(30, 40), (5, 5)).shape
        assert shape == ((4, 4) if block == 0 else (8, 8))

    @pytest.mark.parametrize(
        "option",
        [
            {"size": 100},
            {"size": 0},
            {"size": 128.0},
            {"step": 1000},
            {"step": -1},
            {"block": 3},
            {"ensemble": 0},
            {"ensemble": True},
            {"seed": -1},
            {"seed": 0.5},
        ],
    )
    def test_refusals(self, toy: Toy, option: dict[str, Any]) -> None:
        (name,) = option
        with pytest.raises(InputError, match=f"{name}: expected"):
            toy("dift-sd21", **option)

    def test_half_precision_files_only(
        self, toy: Toy, folder: Callable[[str], Path], tmp_path: Path
    ) -> None:
        parts = ("unet", "vae", "text_encoder")
        shutil.copytree(folder("dift-sd21"), tmp_path / "half")
        for part in parts:
            (weights,) = (tmp_path / "half" / part).glob("*.safetensors")
            weights.rename(weights.with_suffix(".fp16.safetensors"))
        expert = load("dift-sd21", weights=tmp_path / "half", device="cpu", **SMALL)
        image = picture(50, 50)
        expected = toy("dift-sd21").similarity(image, image, (5, 5))
        assert np.allclose(expert.similarity(image, image, (5, 5)), expected)

    def test_a_part_that_is_missing_is_named(
        self, folder: Callable[[str], Path], tmp_path: Path
    ) -> None:
        shutil.copytree(folder("dift-sd21"), tmp_path / "most")
        shutil.rmtree(tmp_path / "most" / "vae")
        with pytest.raises(WeightsError, match=r"sd2-community.* has no vae"):
            load("dift-sd21", weights=tmp_path / "most")
