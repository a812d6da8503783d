"""Camera motion: against planted cameras, and against the truth of real pairs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from perception_programs import DepthMap, InputError, Matches, ToolError
from perception_programs.harness import Cameras, Memory, Templates
from perception_programs.harness.capabilities._two_views import Undetermined, angle, step_of
from perception_programs.harness.capabilities.affine_sift import AffineSIFT
from perception_programs.harness.capabilities.camera import CameraTrajectory

SIZE = (640, 480)
FOCAL = 600.0
CAMERA = np.array([[FOCAL, 0, 320], [0, FOCAL, 240], [0, 0, 1.0]])
NAMES = ["input_image_1", "input_image_2", "input_image_3"]


def pose(turn: tuple[float, float, float], place: tuple[float, float, float]) -> np.ndarray:
    """From the first camera's coordinates, of a camera that was turned (degrees about x, y, z) and put there."""
    made = np.eye(4)
    made[:3, :3] = (
        Rotation.from_euler("YXZ", [turn[1], turn[0], turn[2]], degrees=True).as_matrix().T
    )
    made[:3, 3] = -made[:3, :3] @ np.array(place)
    return made


class Scene:
    """Spots in space, as cameras see them; some of the pairs are wrong."""

    def __init__(
        self, poses: list[np.ndarray], *, spots: int = 700, wrong: float = 0.3, flat: bool = False
    ) -> None:
        self.rng = np.random.default_rng(7)
        self.poses, self.wrong = poses, wrong
        x, y = self.rng.uniform(-6, 6, spots), self.rng.uniform(-5, 5, spots)
        z = 6 + 0.3 * x if flat else self.rng.uniform(3, 12, spots)
        self.spots = np.column_stack([x, y, z])

    def seen(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        at = self.spots @ self.poses[n][:3, :3].T + self.poses[n][:3, 3]
        pixels = (at @ CAMERA.T)[:, :2] / at[:, 2:]
        inside = (at[:, 2] > 0.1) & (pixels >= 0).all(1) & (pixels < np.array(SIZE)).all(1)
        return pixels, inside

    def matches(self, n: int, m: int) -> Matches:
        (here, in1), (there, in2) = self.seen(n), self.seen(m)
        both = in1 & in2
        here, there = here[both], there[both]
        there = np.clip(there + self.rng.normal(0, 0.3, there.shape), 0, np.array(SIZE) - 1)
        bad = self.rng.random(len(here)) < self.wrong
        there[bad] = self.rng.uniform(0, SIZE, (int(bad.sum()), 2))
        return Matches(here, there, size1=SIZE)

    def match(self, first: np.ndarray, second: np.ndarray) -> Matches:
        return self.matches(int(first[0, 0, 0]), int(second[0, 0, 0]))

    def depth(self, picture: np.ndarray) -> DepthMap:
        """Metres, by the nearest spot."""
        from scipy.interpolate import griddata

        n = int(picture[0, 0, 0])
        pixels, inside = self.seen(n)
        far = (self.spots @ self.poses[n][:3, :3].T + self.poses[n][:3, 3])[:, 2]
        grid = np.mgrid[0 : SIZE[1] : 1, 0 : SIZE[0] : 1][::-1].reshape(2, -1).T
        values = griddata(pixels[inside], far[inside], grid, "nearest").reshape(SIZE[::-1])
        return DepthMap(values.astype(np.float32), "metric")


def memory_of(folder: Path, count: int) -> Memory:
    memory = Memory(folder)
    for n in range(count):
        memory.add("image", np.full((SIZE[1], SIZE[0], 3), n, np.uint8), made_by="user")
    return memory


def found(folder: Path, scene: Scene, **options: Any) -> Any:
    tool = CameraTrajectory(scene.match, intrinsics=FOCAL, **options)
    names = NAMES[: len(scene.poses)]
    return asyncio.run(tool.call(memory_of(folder, len(names)), names))


def said(finding: Any) -> str:
    return Templates().render("camera_trajectory", finding, {"camera": "camera_1"})


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        ((0, 20, 0), "turned by 20.0°: 20.0° to the right (pan)"),
        ((12, 0, 0), "turned by 12.0°: 12.0° up (tilt)"),
        ((0, 0, -25), "turned by 25.0°: 25.0° anticlockwise (roll)"),
    ],
)
def test_a_turn_in_plain_words(tmp_path: Path, turn, words: str) -> None:
    moved = pose(turn, (0.8, 0, 0.4))
    finding = found(tmp_path, Scene([np.eye(4), moved]))
    camera = finding.new["camera"].value
    assert angle(camera.poses[1][:3, :3] @ moved[:3, :3].T) < 0.15
    number = words.split("°")[0].rpartition(" ")[2]
    text = said(finding)
    measured = float(text.partition("turned by ")[2].partition("°")[0])
    assert measured == pytest.approx(float(number), abs=0.2)
    assert words.rpartition("° ")[2] in text and "How far it moved is not known" in text
    way = float(text.partition("moved 1.00 times the unit: ")[2].partition(" right")[0])
    assert way == pytest.approx(0.894, abs=0.02) and "forward, as the camera of" in text
    assert "as given" in text and not camera.metric
    assert np.linalg.norm(camera.poses[1][:3, 3]) == pytest.approx(1)


def test_metres_by_measured_depth(tmp_path: Path) -> None:
    scene = Scene([np.eye(4), pose((2, 8, 1), (0.6, 0.1, -0.2)), pose((4, 15, 2), (1.1, 0.3, 0.3))])
    finding = found(tmp_path, scene, depth=scene.depth)
    camera = finding.new["camera"].value
    assert camera.metric and "Movements are in metres" in said(finding)
    for measured, true in zip(camera.poses, scene.poses, strict=True):
        assert np.allclose(measured[:3, 3], true[:3, 3], atol=0.05)
        assert angle(measured[:3, :3] @ true[:3, :3].T) < 0.3


def test_lengths_of_a_chain_without_metres_fit_each_other(tmp_path: Path) -> None:
    scene = Scene(
        [np.eye(4), pose((0, 6, 0), (0.5, 0, 0)), pose((0, 8, 0), (1.5, 0, 0.5))], wrong=0.1
    )
    camera = found(tmp_path, scene).new["camera"].value
    true = scene.poses[2][:3, 3] / 0.5
    assert np.allclose(camera.poses[2][:3, 3], true, atol=0.06)


def test_a_chain_goes_on_over_a_turn(tmp_path: Path) -> None:
    first, second = pose((0, 3, 0), (0.5, 0, 0)), pose((0, 14, 0), (0.5, 0, 0))
    scene = Scene([np.eye(4), first, second], wrong=0.1)
    finding = found(tmp_path, scene)
    assert np.allclose(finding.new["camera"].value.poses[2][:3, 3], second[:3, 3] / 0.5, atol=0.05)


def test_a_turn_in_place_has_no_translation(tmp_path: Path) -> None:
    scene = Scene([np.eye(4), pose((5, 18, 3), (0, 0, 0))])
    finding = found(tmp_path, scene)
    assert angle(finding.new["camera"].value.poses[1][:3, :3] @ scene.poses[1][:3, :3].T) < 0.15
    assert "Only rotations are known" in said(finding) and "no movement shows" in said(finding)


def test_an_assumed_focal_length_is_said(tmp_path: Path) -> None:
    scene = Scene([np.eye(4), pose((0, 10, 0), (0.8, 0, 0))])
    tool = CameraTrajectory(scene.match)
    text = said(asyncio.run(tool.call(memory_of(tmp_path, 2), NAMES[:2])))
    assert "Focal length: 554 pixels, assumed: 60° across the longer side" in text


def test_a_camera_that_stands_still(tmp_path: Path) -> None:
    finding = found(tmp_path, Scene([np.eye(4), np.eye(4)], wrong=0.1))
    assert finding.form == "none" and "did not move" in said(finding)


@pytest.mark.parametrize(
    ("scene", "why"),
    [
        (Scene([np.eye(4), pose((0, 5, 0), (1, 0, 0))], spots=40), "distinct spots were matched"),
        (Scene([np.eye(4), pose((0, 5, 0), (1, 0, 0))], wrong=1), "than chance would"),
        (Scene([np.eye(4), pose((0, 5, 0), (1, 0, 0))], flat=True, wrong=0), "in one plane"),
    ],
)
def test_what_cannot_be_told_is_refused(tmp_path: Path, scene: Scene, why: str) -> None:
    finding = found(tmp_path, scene)
    assert finding.form == "unusable"
    assert why in said(finding) and "between input_image_1 and input_image_2: " in said(finding)


def test_depth_without_a_scale_gives_no_metres(tmp_path: Path) -> None:
    scene = Scene([np.eye(4), pose((0, 5, 0), (1, 0, 0))])

    def relative(picture: np.ndarray) -> DepthMap:
        return DepthMap(1 / np.asarray(scene.depth(picture).values), "relative")

    assert not found(tmp_path, scene, depth=relative).new["camera"].value.metric


def test_a_geometry_model_takes_the_place_of_it_all(tmp_path: Path) -> None:
    poses = np.stack([np.eye(4), pose((0, 30, 0), (2, 0, 0))])

    def model(pictures: list[np.ndarray]) -> Cameras:
        assert len(pictures) == 2
        return Cameras((), poses, np.stack([CAMERA] * 2), True, np.array([0.5]))

    tool = CameraTrajectory(geometry=model)
    finding = asyncio.run(tool.call(memory_of(tmp_path, 2), NAMES[:2]))
    assert finding.new["camera"].value.images == tuple(NAMES[:2])
    assert "30.0° to the right (pan); moved 2.00 m: 2.00 right" in said(finding)
    assert "model" in json.dumps(tool.settings())
    for broken in (poses[:1], poses * 2):
        wrong = CameraTrajectory(
            geometry=lambda _, p=broken: Cameras(
                (), p, np.stack([CAMERA] * 2), True, np.array([0.5])
            )
        )
        refused = asyncio.run(wrong.call(memory_of(tmp_path / str(len(broken)), 2), NAMES[:2]))
        assert refused.form == "unusable" and "geometry: expected" in refused.fields["why"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"matcher": "nobody"}, "expected one of"),
        ({"intrinsics": -5}, "focal length above 0"),
        ({"intrinsics": np.eye(4)}, r"\[\[fx, s, cx\]"),
        ({"field_of_view": 200}, "1 to 170 degrees"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CameraTrajectory(**options)


def test_arguments_that_cannot_be_used(tmp_path: Path) -> None:
    tool, memory = CameraTrajectory(), memory_of(tmp_path, 2)
    for images, message in (
        (NAMES[:1], "2 to 32"),
        (NAMES[:1] * 2, "twice"),
        (NAMES[1:], "nothing is called"),
    ):
        with pytest.raises(InputError, match=message):
            asyncio.run(tool.call(memory, images))
    wrong = CameraTrajectory(lambda a, b: None)
    finding = asyncio.run(wrong.call(memory, NAMES[:2]))
    assert finding.form == "unusable" and "expected Matches" in finding.fields["why"]


def test_cameras_come_back_from_the_disk(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, 2)
    scene = Scene([np.eye(4), pose((0, 10, 0), (0.8, 0, 0))])
    tool = CameraTrajectory(scene.match, intrinsics=CAMERA)
    new = asyncio.run(tool.call(memory, NAMES[:2])).new["camera"]
    handle = memory.add(new.kind, new.value, made_by=tool.name, sources=new.sources).handle
    again = Memory(tmp_path, memory.artifacts).value(handle)
    assert again.images == new.value.images and np.array_equal(again.poses, new.value.poses)


@pytest.mark.slow
def test_affine_sift_finds_a_slanted_picture() -> None:
    from skimage.data import astronaut
    from skimage.transform import ProjectiveTransform, warp

    image = astronaut()[:256, :256]
    slant = np.array([[0.5, 0.05, 20], [0.1, 0.9, 10], [0.0, 0.0003, 1]])
    other = (warp(image, ProjectiveTransform(slant).inverse, output_shape=(256, 256)) * 255).astype(
        np.uint8
    )
    matches = AffineSIFT()(image, other)
    wide = np.column_stack([matches.points1, np.ones(len(matches))]) @ slant.T
    off = np.linalg.norm(wide[:, :2] / wide[:, 2:] - matches.points2, axis=1)
    assert (off < 3).sum() > 100 and (off < 3).mean() > 0.7
    assert np.all(np.diff(matches.confidence) <= 0)
    blank = np.zeros((64, 64, 3), np.uint8)
    assert len(AffineSIFT()(blank, image)) == len(AffineSIFT()(image, blank)) == 0
    again = AffineSIFT()(image, other)
    assert np.array_equal(matches.points2, again.points2)


def test_affine_sift_options() -> None:
    for options in ({"max_side": 0}, {"ratio": 1.5}):
        with pytest.raises(InputError):
            AffineSIFT(**options)


@pytest.mark.slow
def test_two_rooms_are_no_scene(shared_data: Path) -> None:
    """What is right of real pairs, test_harness_worked_b.py has beside the truth."""
    folder = shared_data / "scannet_pairs"
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    matcher = AffineSIFT()
    for one, other in ((0, 1), (2, 3), (5, 6)):
        matches = matcher(folder / pairs[one]["image0"], folder / pairs[other]["image1"])
        camera = np.array(pairs[one]["K0"]).reshape(3, 3)
        with pytest.raises(Undetermined):
            step_of(matches, camera, camera, assumed=False)


def test_a_matcher_that_fails_is_unusable(tmp_path: Path) -> None:
    def fail(first: np.ndarray, second: np.ndarray) -> Matches:
        raise ToolError("no memory left")

    finding = asyncio.run(CameraTrajectory(fail).call(memory_of(tmp_path, 2), NAMES[:2]))
    assert finding.fields["why"] == "no memory left"


def test_a_step_whose_length_cannot_be_told_is_refused(tmp_path: Path) -> None:
    """The second pair shares no spot with the first: each is right, but not how long it is beside the other."""
    scenes = [
        Scene([np.eye(4), pose((0, 6, 0), (0.5, 0, 0)), pose((0, 8, 0), (1.5, 0, 0.5))], wrong=0.1)
        for _ in range(2)
    ]
    scenes[1].spots = scenes[1].spots + np.random.default_rng(1).uniform(-0.9, 0.9, (700, 3))

    def match(first: np.ndarray, second: np.ndarray) -> Matches:
        return scenes[int(first[0, 0, 0])].match(first, second)

    tool = CameraTrajectory(match, intrinsics=FOCAL)
    finding = asyncio.run(tool.call(memory_of(tmp_path, 3), NAMES))
    assert finding.form == "unusable" and "ask for two pictures at a time" in said(finding)
