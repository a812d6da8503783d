"""The experts that need no framework, and the table they are found in."""

from __future__ import annotations

import numpy as np
import pytest

import perception_programs as pp
from perception_programs import InputError, MissingExtraError
from perception_programs.experts import Card, Entry, Expert, available, catalogue, load, registry
from perception_programs.experts.seams import (
    colour_similarity,
    edge_similarity,
    structural_similarity,
)

Stereo = tuple[np.ndarray, np.ndarray, np.ndarray]


class TestRegistry:
    def test_names(self) -> None:
        assert {"dis", "sift", "seams", "markers"} <= set(available())
        assert list(available("jigsaw")) == ["seams"]
        with pytest.raises(InputError, match="modality: expected one of depth"):
            available("smell")

    @pytest.mark.parametrize("name", ["dis", "sift", "seams", "markers"])
    def test_every_name_loads_with_a_card(self, name: str) -> None:
        expert = load(name)
        assert isinstance(expert, Expert)
        assert expert.card.name == name
        assert expert.card.modality == available()[name].modality
        assert expert.card.library and expert.card.licence and expert.card.limits

    def test_unknown_name_lists_the_known_and_the_nearest(self) -> None:
        with pytest.raises(InputError, match=r"dis, sift.*got 'siftt'; did you mean 'sift'\?"):
            load("siftt")
        with pytest.raises(InputError, match="got None"):
            load(None)

    def test_options_that_mean_nothing_are_refused(self) -> None:
        with pytest.raises(InputError, match="device: expected"):
            load("dis", device="cuda")
        with pytest.raises(InputError, match="weights: expert 'sift' has none"):
            load("sift", weights="folder")
        with pytest.raises(InputError, match="dtype: expected"):
            load("sift", dtype="float16")
        with pytest.raises(InputError, match=r"'dis'.*wrong"):
            load("dis", wrong=1)

    def test_a_missing_extra_says_how_to_install_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        card = Card(name="x", modality="depth", library="x", extra="models")
        entry = Entry(card, ".x:X", requires=("no_such_module_at_all",))
        monkeypatch.setattr(catalogue, "_TABLE", {"x": entry})
        for call in (lambda: load("x"), lambda: registry.default("depth")):
            with pytest.raises(
                MissingExtraError, match=r"pip install 'perception-programs\[models\]'"
            ):
                call()


class TestDIS:
    def test_stereo_moves_left(self, motorcycle: Stereo) -> None:
        left, right, disparity = motorcycle
        program = pp.flow_program(left, right, expert="dis")
        assert sum(item.r == "left" for item in program.items) >= 95
        truth = np.dstack([-disparity, np.zeros_like(disparity)])
        assert sum(item.r == "left" for item in pp.flow_program(truth).items) >= 95
        assert program.meta["expert"] == "dis" and program.meta["version"]

    @pytest.mark.parametrize("size", [(120, 120), (128, 132), (480, 854), (64, 256), (17, 16)])
    def test_any_size(self, size: tuple[int, int]) -> None:  # FAULTS 8
        rng = np.random.default_rng(0)
        frames = rng.integers(0, 256, (2, *size, 3), dtype=np.uint8)
        flow = load("dis")(frames[0], frames[1])
        assert flow.uv.shape == (*size, 2) and np.isfinite(flow.uv).all()
        assert flow.uv.dtype == np.float32

    def test_one_frame_in_three_types(self, motorcycle: Stereo) -> None:  # FAULTS 9
        left, right, _ = (image[:100, :120] for image in motorcycle)
        expert = load("dis", preset="fast")
        flows = [expert(f(left), f(right)).uv for f in (np.asarray, np.float32, lambda x: x / 255)]
        assert (flows[0] == flows[1]).all() and (flows[0] == flows[2]).all()

    def test_batch_equals_single_calls(self, motorcycle: Stereo) -> None:
        left, right, _ = (image[:64, :80] for image in motorcycle)
        expert = load("dis")
        batch = expert.batch([left, right], [right, left])
        assert (batch[0].uv == expert(left, right).uv).all()
        assert (batch[1].uv == expert(right, left).uv).all()

    def test_refusals(self) -> None:
        with pytest.raises(InputError, match="preset"):
            load("dis", preset="slow")
        with pytest.raises(InputError, match="at least 16 pixels a side, got 30×8"):
            load("dis")(np.zeros((8, 30, 3), np.uint8), np.zeros((8, 30, 3), np.uint8))


class TestSIFT:
    def test_stereo_matches_agree_with_the_truth(self, motorcycle: Stereo) -> None:
        left, right, disparity = motorcycle
        matches = load("sift")(left, right)
        assert len(matches) > 300
        x, y = matches.points1.round().astype(int).T
        true = disparity[y.clip(0, 499), x.clip(0, 740)]
        known = np.isfinite(true)
        error = np.hypot(
            matches.points1[known, 0] - true[known] - matches.points2[known, 0],
            matches.points1[known, 1] - matches.points2[known, 1],
        )
        assert (error <= 3).mean() >= 0.85
        assert (np.diff(matches.confidence) <= 0).all()
        assert 0 < matches.confidence.min() <= matches.confidence.max() <= 1

    def test_the_same_twice(self, motorcycle: Stereo) -> None:
        left, right, _ = motorcycle
        first, again = (load("sift", max_keypoints=600)(left, right) for _ in range(2))
        assert np.array_equal(first.points1, again.points1)

    @pytest.mark.parametrize("size", [(64, 64), (20, 300)])
    def test_nothing_to_match_is_a_result(self, size: tuple[int, int]) -> None:  # FAULTS 6
        flat = np.full((*size, 3), 127, np.uint8)
        matches = load("sift")(flat, flat)
        assert len(matches) == 0 and matches.size1 == size[::-1]
        assert "none found" in str(pp.correspondence_program(matches))

    def test_an_image_with_itself(self, motorcycle: Stereo) -> None:
        left = motorcycle[0][:200, :200]
        matches = load("sift")(left, left)
        assert len(matches) > 20 and np.abs(matches.points1 - matches.points2).max() < 1

    def test_images_of_two_sizes(self, motorcycle: Stereo) -> None:
        left, right, _ = motorcycle
        matches = load("sift")(left, right[:300, :400])
        assert matches.size1 == (741, 500) and matches.size2 == (400, 300)

    @pytest.mark.parametrize("options", [{"ratio": 0}, {"tolerance": 0}, {"max_keypoints": 0}])
    def test_refusals(self, options: dict[str, float]) -> None:
        with pytest.raises(InputError, match=next(iter(options))):
            load("sift", **options)


class TestSeams:
    def picture(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from skimage.data import astronaut

        image = astronaut()
        piece, other = image[256:, 256:].copy(), image[:256, :256].copy()
        return image, piece, other

    @pytest.mark.parametrize("strip", [1, 2, 4, 8])
    def test_the_right_piece_fits_better(self, strip: int) -> None:  # FAULTS 13: 1-pixel strips
        image, piece, other = self.picture()
        holed = image.copy()
        holed[256:, 256:] = 0
        scores = load("seams", strip=strip)(holed, {"A": other, "B": piece})
        for edge in ("left", "top"):
            assert scores.mean("B", edge) > scores.mean("A", edge)

    def test_float_crops_are_the_same_picture(self) -> None:  # FAULTS 13
        image, piece, other = self.picture()
        scores = load("seams")(image, {"A": other, "B": piece})
        floats = load("seams")(image / 255, {"A": other / 255, "B": piece.astype(float)})
        assert scores == floats

    def test_flat_candidates_tie(self) -> None:  # FAULTS 13
        from perception_programs.blink import readers

        image = np.full((40, 40, 3), 90, np.uint8)
        piece = np.full((20, 20, 3), 90, np.uint8)
        program = pp.jigsaw_program(image, {"A": piece, "B": piece.copy()})
        assert readers.jigsaw(program) is None
        assert {item.r for item in program.items} == {1.0}

    def test_small_differences_are_small(self) -> None:  # FAULTS 13: 10 against 12 is 2, not 254
        ten, twelve = (np.full((4, 30, 3), level, np.uint8) for level in (10, 12))
        far = np.full((4, 30, 3), 254, np.uint8)
        assert structural_similarity(ten, twelve) == structural_similarity(twelve, ten) > 0.9
        assert structural_similarity(ten, far) < 0.2

    def test_parts_lie_in_the_unit_range_and_are_one_for_equals(self) -> None:
        rng = np.random.default_rng(0)
        strips = rng.integers(0, 256, (2, 5, 40, 3), dtype=np.uint8)
        for part in (structural_similarity, colour_similarity, edge_similarity):
            assert part(strips[0], strips[0]) == pytest.approx(1)
            assert 0 <= part(strips[0], strips[1]) < 0.95

    def test_colour_compares_hue(self) -> None:
        red, blue = np.zeros((4, 9, 3), np.uint8), np.zeros((4, 9, 3), np.uint8)
        red[..., 0] = blue[..., 2] = 200
        assert colour_similarity(red, red) == pytest.approx(1)
        assert colour_similarity(red, blue) == pytest.approx(2 / 3)

    def test_batch(self) -> None:
        image, piece, other = self.picture()
        expert = load("seams")
        batch = expert.batch([image, image], [{"A": piece}, {"A": other}])
        assert batch == [expert(image, {"A": piece}), expert(image, {"A": other})]

    def test_refusals(self) -> None:
        image, piece, _ = self.picture()
        with pytest.raises(InputError, match=r"candidate 'A'.*512×512 picture.*got 512×512"):
            load("seams")(image, {"A": image})
        with pytest.raises(InputError, match="at least 300 pixels a side"):
            load("seams", strip=300)(image[:, :], {"A": piece[:100, :100]})
        with pytest.raises(InputError, match="strip: expected"):
            load("seams", strip=0)
