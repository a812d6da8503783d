"""Inputs that nobody should pass and somebody will."""

from __future__ import annotations

import copy
import io
import pickle
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import perception_programs as pp
from perception_programs import (
    DepthMap,
    Detections,
    EdgeScores,
    FlowField,
    InputError,
    Item,
    Matches,
    PerceptionProgram,
    Points,
    PointScores,
    Segmentation,
)
from perception_programs.blink import readers
from perception_programs.program import Relation


def test_a_masked_array_s_mask_is_heeded() -> None:
    masked = np.ma.MaskedArray([[0.1, 0.2], [0.3, 0.9]], mask=[[0, 0], [0, 1]])
    program = pp.depth_program(masked, grid=1)
    assert program.items[0].r == (0.1, 0.3) and program.meta["masked_pixels"] == 1
    assert pp.albedo_program(masked, grid=1).meta["masked_pixels"] == 1
    with pytest.raises(InputError, match="masked"):
        pp.load_image(np.ma.MaskedArray(np.zeros((2, 2), np.uint8), mask=np.eye(2)))
    with pytest.raises(InputError, match="masked"):
        Segmentation(np.ma.MaskedArray([[1, 2]], mask=[[0, 1]]))
    with pytest.raises(InputError):
        Item(r=np.ma.masked)


def test_a_small_range_far_from_zero_keeps_its_order() -> None:
    wall = np.full((64, 2), 1000, np.float32)
    step = np.spacing(np.float32(1000))
    wall[::4, 0] += step
    wall[:, 1] += step
    wall[::4, 1] -= step
    ahead = (Relation(2, "in_front_of", 1),)
    assert pp.depth_program(wall, kind="relative", grid=(1, 2)).relations == ahead
    assert pp.depth_program(wall.T, kind="relative", grid=(2, 1)).relations == ahead


def test_sums_that_overflow_single_precision() -> None:
    uv = np.zeros((100, 4, 2), np.float32)
    uv[:50, :, 0], uv[50:, :, 0] = 1e38, -1.5e38
    assert pp.flow_program(uv, grid=1).items[0].r == "left"


def test_a_denormal_distance_does_not_spoil_a_map() -> None:
    program = pp.depth_program(np.float32([[1e-40, 1, 2, 4]]), kind="metric", grid=(1, 4))
    assert program.items[0].r is None and program.items[1].r == (1, 1)
    assert program.meta["masked_pixels"] == 1


def test_nearness_of_a_huge_range() -> None:
    near = DepthMap(np.float32([[3e38, -3e38, 0]]), "relative").nearness()
    assert near.tolist() == [[1, 0, 0.5]]


def test_a_coloured_palette_is_no_depth(tmp_path: Path) -> None:
    image = Image.fromarray(np.uint8([[0, 1]]), "P")
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.save(tmp_path / "p.png")
    with pytest.raises(InputError, match="coloured"):
        DepthMap.open(tmp_path / "p.png", kind="relative")


def test_a_colour_array_one_pixel_high_is_no_depth(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((1, 5, 3)))
    with pytest.raises(InputError, match="single channel"):
        DepthMap.open(tmp_path / "x.npy")


def test_byte_order_does_not_change_a_picture() -> None:
    dark = np.array([[100, 200]])
    assert (pp.load_image(dark.astype(">u2")) == pp.load_image(dark.astype("<u2"))).all()


def test_exact_fractions_of_the_frame_in_every_converter() -> None:
    place = (57.6, 1)  # 900/1000 of 64, though no single-precision number is
    assert pp.points_program({"A": place}, size=(64, 9)).items[0].c[0] == 900
    scores = PointScores({"A": place}, {"A": 0.5}, (1, 1), (64, 9))
    assert pp.semantic_program(scores).items[0].c[0] == 900
    matches = Matches([place], [place], size1=(64, 9))
    assert pp.correspondence_program(matches).items[0].r[0] == 900
    found = Detections([[0, 0, 57.6, 9]], [0.5], ("a",), size=(64, 9))
    assert pp.detection_program(found).items[0].c[2] == 900


def test_levels_of_a_picture_are_no_albedo_and_no_flow() -> None:
    with pytest.raises(InputError, match="divide"):
        pp.albedo_program(np.uint8([[10, 200]]), grid=(1, 2))
    with pytest.raises(InputError, match="floats"):
        pp.flow_program(np.zeros((4, 4, 2), np.uint8), grid=1)


def test_class_numbers_are_not_bent() -> None:
    row = {"boxes": [[1, 2, 3, 4]], "scores": [0.5]}
    for label in (1.7, True, b"1", float("nan"), float("inf")):
        with pytest.raises(InputError, match="class number"):
            Detections.of({**row, "labels": [label]}, size=(9, 9), names=["a", "b", "c"])
    for names in ({1.2: "a"}, {"1": "a", 1: "b"}, {"a"}, {True: "x"}):
        with pytest.raises(InputError, match="names: expected"):
            Segmentation(np.zeros((1, 1), int), names)
    with pytest.raises(InputError, match="63 bits"):
        Segmentation(np.array([[2**64 - 1]], np.uint64))


def test_results_cannot_be_written_to() -> None:
    scores = PointScores({"A": (1, 1)}, {"A": 0.5}, (1, 1), (9, 9))
    for mapping in (scores.scores, scores.candidates, Segmentation([[0]], {0: "a"}).names):
        with pytest.raises(TypeError):
            mapping["A"] = 1
    depth = DepthMap(np.array([[0.1]]))
    for same in (depth, copy.deepcopy(depth), pickle.loads(pickle.dumps(depth))):
        assert not same.values.flags.writeable
    assert not Points.from_dict({"A": (1, 1, 2, 2)}, (9, 9)).boxes.flags.writeable


def test_copies_of_a_program_keep_its_pictures() -> None:
    program = pp.points_program({"A": (1, 1)}, size=(9, 9)).with_images(
        np.zeros((9, 9, 3), np.uint8)
    )
    assert len(copy.copy(program).images) == len(copy.deepcopy(program).images) == 1


def test_readers_do_not_decide_ties() -> None:
    def strips(*parts: float) -> dict[str, object]:
        names = dict(zip(("structural", "colour", "edge"), parts, strict=True))
        return {edge: {**names, "box": (0, 0, 1, 2)} for edge in ("left", "top")}

    pieces = {"A": strips(0.1, 0.2, 0.3), "B": strips(0.3, 0.2, 0.1)}
    program = pp.jigsaw_program(EdgeScores(pieces, {"A": (9, 9), "B": (9, 9)}))
    assert readers.jigsaw(program) is None
    matches = pp.correspondence_program(Matches([[5, 5], [5, 5]], [[1, 1], [8, 8]], size1=(10, 10)))
    options = pp.points_program({"A": (1, 1), "B": (8, 8)}, size=(10, 10))
    reference = pp.points_program({"REF": (5, 5)}, size=(10, 10))
    assert readers.visual_correspondence(reference, matches, options) is None
    with pytest.raises(InputError, match="boxes"):
        readers.localisation(options, pp.detection_program([], size=(9, 9)), "a")


def test_flo_files_cannot_hold_what_marks_the_unknown(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1e9"):
        FlowField([[[2e9, 1], [1, 1]]]).save(tmp_path / "f.flo")


@pytest.mark.parametrize("threshold", [float("nan"), "x", float("inf")])
def test_thresholds_are_numbers(threshold: object) -> None:
    for make in (
        lambda: Matches([], [], size1=(9, 9), threshold=threshold),
        lambda: Detections([], [], (), size=(9, 9), threshold=threshold),
        lambda: pp.detection_program([], size=(9, 9), threshold=threshold),
    ):
        with pytest.raises(InputError, match="threshold: expected"):
            make()


def _bomb() -> bytes:
    buffer = io.BytesIO()
    Image.new("1", (1, 1)).save(buffer, "PNG")
    data = bytearray(buffer.getvalue())
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    data[29:33] = zlib.crc32(bytes(data[12:29])).to_bytes(4, "big")
    return bytes(data)


@pytest.mark.parametrize("open_file", [DepthMap.open, Segmentation.open, pp.load_image])
def test_every_opener_withstands_damaged_files(open_file: object, tmp_path: Path) -> None:
    (tmp_path / "bomb.png").write_bytes(_bomb())
    with pytest.raises(InputError, match=r"bomb\.png.* is too large"):
        open_file(tmp_path / "bomb.png")
    with pytest.raises(InputError):
        open_file("a" * 5000)
    buffer = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 256, (40, 50), dtype=np.uint8)
    rng = np.random.default_rng(1)
    for form in ("PNG", "TIFF", "GIF", "JPEG", "WEBP"):
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, form)
        for n in range(6):
            data = bytearray(buffer.getvalue())
            for place in rng.integers(0, len(data), 8):
                data[place] = rng.integers(0, 256)
            file = tmp_path / f"{n}.png"
            file.write_bytes(data[: int(rng.integers(1, len(data) + 1))])
            try:
                open_file(file)
            except InputError as error:
                assert f"{n}.png" in str(error)


def test_a_picture_that_was_opened_and_breaks_later(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "t.jpg")
    data = (tmp_path / "t.jpg").read_bytes()
    (tmp_path / "t.jpg").write_bytes(data[: len(data) // 2])
    with Image.open(tmp_path / "t.jpg") as image, pytest.raises(InputError, match="decoded"):
        pp.load_image(image)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pp.depth_program(np.zeros((2, 2)), mask=[[True, False]]),
        lambda: pp.depth_program(np.zeros((1, 2)), mask=np.array([[1, np.nan]]), grid=1),
        lambda: Segmentation([[1, 2], [3]]),
        lambda: Segmentation([[1]], 5),
        lambda: pp.points_program({"A": 5}, size=(9, 9)),
        lambda: pp.points_program({"A": "12"}, size=(9, 9)),
        lambda: pp.points_program({"A": (1, 2)}, size=(9, 9), expert="nonsense"),
        lambda: PointScores({1: (1, 1), "A": (1, 1)}, {"B": 1}, (1, 1), (9, 9)),
        lambda: PointScores({"A": (1, 1)}, {"A": "0.5"}, (1, 1), (9, 9)),
        lambda: PointScores(5, 5, (1, 1), (9, 9)),
        lambda: EdgeScores({"A": {"left": 5}}, {"A": (9, 9)}),
        lambda: EdgeScores({"A": 5}, {"A": (9, 9)}),
        lambda: Detections.of({"boxes": None, "scores": [], "labels": []}, size=(9, 9)),
        lambda: Detections.of({"boxes": "ab", "scores": [1], "labels": ["a"]}, size=(9, 9)),
        lambda: Detections.of(
            {"boxes": [[1, 2, 3, 4]], "scores": ["x"], "labels": ["a"]}, size=(9, 9)
        ),
        lambda: Detections.of(
            {"boxes": [[1, 2, 3, 4]], "scores": [1], "labels": None}, size=(9, 9)
        ),
        lambda: Detections([[1, 2, 3, 4]], [1], 5, size=(9, 9)),
        lambda: DepthMap(np.zeros((2, 2)), np.array(["relative"])),
        lambda: DepthMap.from_pipeline({"predicted_depth": [["a"]]}, kind="relative"),
        lambda: pp.depth_program(np.zeros((20, 20)), tau=10**400),
        lambda: FlowField(np.ones((4, 4, 2))).save(5),
        lambda: pp.depth_program("a.png", expert=dict),
        lambda: PerceptionProgram("a", "b", (), images="x.png"),
        lambda: PerceptionProgram.from_dict(
            {"modality": "a", "granularity": "b", "items": [], "relations": 0}
        ),
        lambda: PerceptionProgram("a", "b", (), meta={1: 2, "1": 3}),
        lambda: Item(r=np.datetime64("2020-01-01")),
        lambda: Item(r=bytearray(b"ab")),
    ],
)
def test_malformed_values_are_named(call: object) -> None:
    with pytest.raises(InputError, match=r"expected|no meaning"):
        call()


def test_numpy_scalars_are_welcome_as_options() -> None:
    near = np.tile(np.linspace(0, 1, 20), (20, 1))
    program = pp.depth_program(near, grid=np.array([2, 4]), tau=np.float32(0.1))
    assert program.grid == pp.Grid(np.int64(2), 4)


@pytest.mark.filterwarnings("error")
def test_infinite_and_huge_values_raise_no_warnings() -> None:
    values = np.tile(np.linspace(1, 9, 20), (20, 1))
    values[3, 3], values[4, 4] = np.inf, -np.inf
    pp.depth_program(values, kind="relative", grid=2)
    pp.similarity_program({"A": values}, grid=2)
    DepthMap(np.where(np.isfinite(values), 3.0, values), "relative").nearness()
    values[5, 5] = 1e39
    assert pp.depth_program(values, kind="relative", grid=2).meta["masked_pixels"] == 3


def test_programs_with_huge_numbers_can_be_drawn() -> None:
    picture = np.zeros((20, 20, 3), np.uint8)
    cells = tuple(Item(p=n, c=(500, 500), r=v) for n, v in enumerate((1e308, -1e308), 1))
    PerceptionProgram("odd", "patch", cells, grid=(1, 2)).overlay(picture)
    match = PerceptionProgram(
        "correspondence", "keypoint", (Item(p=1, c=(5, 5), r=(1e308, -1e308)),)
    )
    match.overlay(picture, picture)
