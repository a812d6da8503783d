"""Results as pictures: the right size, and colours and marks where they must be."""

from __future__ import annotations

import colorsys
import itertools
from typing import Any

import numpy as np
import pytest

from perception_programs import (
    DepthMap,
    Detections,
    FlowField,
    InputError,
    Matches,
    PerceptionProgram,
    PointScores,
)
from perception_programs.program import Item
from perception_programs.view import completed_picture, overlay, tool_caption, tool_picture

GREY = np.full((120, 200, 3), 128, np.uint8)
SIZE = (200, 120)


def luminance(pixel: Any) -> float:
    return float(np.asarray(pixel, float) @ (0.2126, 0.7152, 0.0722))


def changed(picture: Any, ground: Any = GREY) -> Any:
    return (picture != ground).any(axis=-1)


@pytest.mark.parametrize("ground", [0, 128, 255])
def test_the_readings_of_a_jigsaw_are_read_on_any_ground(ground: int) -> None:
    """They stand on plates, whatever is behind: the darkest of one is far from the brightest."""
    strips = tuple(
        Item(i="A", p=name, c=box, r=0.5)
        for name, box in (("left", (0, 0, 40, 1000)), ("top", (0, 0, 1000, 40)))
    )
    whole = np.full((480, 480, 3), ground, np.uint8)
    picture = overlay(PerceptionProgram("jigsaw", "border", strips), whole, whole[240:, 240:])
    drawn = np.asarray(picture, int)[240:480, 240:480]
    for colour in ((240, 150, 20), (86, 180, 233)):
        plate = (abs(drawn - colour) < 3).all(axis=2)
        rows, columns = np.nonzero(plate)
        assert plate.sum() > 400
        inside = drawn[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        assert (inside.max(axis=2) < 50).sum() > 40  # letters


class TestDepth:
    @pytest.mark.parametrize(("kind", "nearest"), [("relative", -1), ("metric", 0)])
    def test_nearer_is_brighter(self, kind: Any, nearest: int) -> None:
        depth = DepthMap(np.tile(np.linspace(1, 9, 64), (32, 1)), kind=kind)
        row = [luminance(pixel) for pixel in tool_picture(depth)[16]]
        rising = row if nearest == -1 else row[::-1]
        assert all(a <= b + 1 for a, b in itertools.pairwise(rising))
        assert rising[-1] - rising[0] > 150
        assert tool_picture(depth)[0, nearest, 2] < 60  # yellow, as the caption says

    def test_at_the_size_of_the_image(self) -> None:
        depth = DepthMap(np.random.default_rng(0).random((30, 40)), size=(400, 300))
        assert tool_picture(depth).shape == (300, 400, 3)

    def test_unknown_is_black_and_said(self) -> None:
        values = np.full((40, 40), 0.2)
        values[0, 0] = 1
        assert "black" not in tool_caption(DepthMap(values))
        values[:, 20:] = np.nan
        picture = tool_picture(DepthMap(values))
        assert (picture[:, 20:] == 0).all() and picture[:, :20].any(axis=-1).all()
        assert "black was not measured" in tool_caption(DepthMap(values))


class TestFlow:
    @pytest.mark.parametrize(
        ("vector", "degrees"),
        [((5, 0), 0), ((0, 5), 90), ((-5, 0), 180), ((0, -5), 270)],
        ids=["right-red", "down-yellow-green", "left-cyan", "up-violet"],
    )
    def test_hue_is_the_direction(self, vector: tuple[int, int], degrees: int) -> None:
        picture = tool_picture(FlowField(np.tile(np.array(vector, np.float32), (20, 30, 1))))
        assert picture.shape == (20, 30, 3)
        hue, saturation, value = colorsys.rgb_to_hsv(*(picture[10, 10] / 255))
        assert abs((hue * 360 - degrees + 180) % 360 - 180) < 2
        assert saturation == pytest.approx(1) and value == pytest.approx(1)

    def test_farther_is_fuller_and_still_is_white(self) -> None:
        uv = np.zeros((40, 40, 2))
        uv[:, :, 0] = np.repeat([0, 1, 2, 3], 10)[None]
        picture = tool_picture(FlowField(uv))
        assert picture[0, 0].tolist() == [255, 255, 255]
        green = picture[0, [0, 10, 20, 30], 1].astype(int)
        assert (np.diff(green) < -60).all()

    def test_one_stray_vector_does_not_pale_the_rest(self) -> None:
        uv = np.full((40, 40, 2), 0.0)
        uv[..., 0] = 2
        uv[3, 3, 0] = 5000
        assert tool_picture(FlowField(uv))[20, 20].tolist() == [255, 0, 0]

    def test_no_motion_and_unknown_vectors(self) -> None:
        uv = np.zeros((20, 20, 2))
        assert (tool_picture(FlowField(uv)) == 255).all()
        uv[5, 5] = np.nan
        picture = tool_picture(FlowField(uv))
        assert picture[5, 5].tolist() == [0, 0, 0]
        assert "black is unknown" in tool_caption(FlowField(uv))


class TestMatches:
    def test_a_line_from_point_to_point(self) -> None:
        matches = Matches([[20, 30]], [[180, 90]], size1=SIZE, size2=SIZE)
        picture = tool_picture(matches, GREY, GREY)
        height, width = picture.shape[:2]
        start = width - 200
        assert height == 120 and 0 < start - 200 < 30
        assert (picture[:, 200:start][:20] == 255).all()
        blank = tool_picture(Matches([], [], size1=SIZE), GREY, GREY)
        rows, columns = np.nonzero(changed(picture, blank))
        assert columns.min() == pytest.approx(20, abs=6)
        assert columns.max() == pytest.approx(start + 180, abs=6)
        on_line = 30 + (columns - 20) * 60 / (start + 160)
        assert np.abs(rows - on_line).max() < 8
        assert "(all 1)" in tool_caption(matches)
        assert "no matching points" in tool_caption(Matches([], [], size1=SIZE))

    def test_a_line_is_bright_with_a_dark_edge(self) -> None:
        matches = Matches([[20, 60]], [[180, 60]], size1=SIZE, size2=SIZE)
        column = tool_picture(matches, GREY, GREY)[50:71, 120].astype(int)
        spread = np.ptp(column, axis=1)
        bright = int(spread.argmax())
        assert 8 <= bright <= 12 and spread[bright] > 100
        for side in (column[bright - 3 : bright], column[bright + 1 : bright + 4]):
            assert side.mean(axis=1).min() < 100

    def test_of_many_the_surest_of_each_part(self) -> None:
        rng = np.random.default_rng(0)
        crowd = rng.uniform((0, 0), (20, 12), (500, 2))  # in one corner, and surest
        others = np.array([[x, y] for x in (90, 150) for y in (50, 100)], float)
        points = np.concatenate([crowd, others])
        confidence = np.concatenate([np.full(500, 0.9), np.full(4, 0.1)])
        matches = Matches(points, points, confidence, size1=SIZE)
        picture = tool_picture(matches, GREY, GREY)
        blank = tool_picture(Matches([], [], size1=SIZE), GREY, GREY)
        for x, y in others.astype(int):
            assert changed(picture, blank)[y, x]
        assert "40 of 504" in tool_caption(matches)

    def test_images_of_two_sizes(self) -> None:
        tall = np.full((240, 100, 3), 128, np.uint8)
        matches = Matches([[199, 119]], [[0, 0]], size1=SIZE, size2=(100, 240))
        picture = tool_picture(matches, GREY, tall)
        assert picture.shape[0] == 240 and picture.shape[1] > 400 + 100


class TestDetections:
    FOUND = Detections([[20, 30, 90, 100]], [0.87], ("cat",), size=SIZE)

    def test_outline_where_the_box_is(self) -> None:
        picture = tool_picture(self.FOUND, GREY)
        assert picture.shape == GREY.shape
        different = changed(picture)
        assert different[60, 20] and different[60, 90] and different[100, 50]
        assert not different[60, 55] and not different[110:, 150:].any()

    def test_tags_differ_by_label_and_score(self) -> None:
        other = Detections([[20, 30, 90, 100]], [0.35], ("cat",), size=SIZE)
        dog = Detections([[20, 30, 90, 100]], [0.87], ("dog",), size=SIZE)
        first = tool_picture(self.FOUND, GREY)
        for result in (other, dog):
            assert changed(tool_picture(result, GREY), first).sum() > 10

    def test_nothing_found(self) -> None:
        none = Detections([], [], (), size=SIZE, threshold=0.3)
        assert not changed(tool_picture(none, GREY)).any()
        assert "no object was detected with a confidence of 0.3" in tool_caption(none)

    def test_hostile_labels(self) -> None:
        names = ("", "a\nb\u202e", "x" * 500, "日本")
        boxes = [[10, 10, 60, 60], [70, 10, 120, 60], [130, 10, 190, 60], [10, 70, 60, 110]]
        found = Detections(boxes, [0.5] * 4, names, size=SIZE)
        assert tool_picture(found, GREY).shape == GREY.shape


PLACES = {"A": (30, 60), "B": (150, 60)}


class TestScores:
    def test_the_more_alike_is_yellower(self) -> None:
        scores = PointScores(PLACES, {"A": 0.1, "B": 0.8}, (1, 1), (50, 50), SIZE)
        picture = tool_picture(scores, GREY)
        a, b = (picture[y, x] for x, y in PLACES.values())
        assert luminance(b) - luminance(a) > 100
        assert picture.shape == GREY.shape

    def test_all_alike(self) -> None:
        scores = PointScores(PLACES, {"A": 0.5, "B": 0.5}, (1, 1), SIZE)
        picture = tool_picture(scores, GREY)
        a, b = (picture[y, x] for x, y in PLACES.values())
        assert a.tolist() == b.tolist()

    def test_no_candidates(self) -> None:
        assert not changed(tool_picture(PointScores({}, {}, (1, 1), SIZE), GREY)).any()


class TestCompleted:
    def test_every_pixel_of_the_piece(self) -> None:
        piece = np.random.default_rng(0).integers(0, 256, (50, 70, 3), np.uint8)
        picture = completed_picture(GREY, piece)
        assert (picture[-50:, -70:] == piece).all()
        assert not changed(picture)[:70].any() and not changed(picture)[:, :130].any()
        assert (GREY == 128).all()

    def test_a_piece_that_does_not_fit(self) -> None:
        with pytest.raises(InputError, match=r"fits into 120×200 pixels .*, got 50×201"):
            completed_picture(GREY, np.zeros((50, 201, 3), np.uint8))


class TestRefused:
    def test_other_results(self) -> None:
        for function in (tool_picture, tool_caption):
            with pytest.raises(InputError, match=r"expected DepthMap, FlowField.*, got int 3"):
                function(3)

    def test_number_of_images(self) -> None:
        matches = Matches([[1, 1]], [[2, 2]], size1=SIZE)
        with pytest.raises(InputError, match="expected 2 images for Matches, got 1"):
            tool_picture(matches, GREY)
        with pytest.raises(InputError, match="expected 0 images for DepthMap, got 1"):
            tool_picture(DepthMap(np.eye(4)), GREY)

    def test_another_image(self) -> None:
        found = Detections([], [], (), size=(10, 10))
        with pytest.raises(InputError, match="image of 10×10 pixels that the Detections is of"):
            tool_picture(found, GREY)


def test_large_images_are_reduced() -> None:
    wide = np.full((500, 4000, 3), 128, np.uint8)
    found = Detections([[2000, 100, 3990, 400]], [0.5], ("wall",), size=(4000, 500))
    picture = tool_picture(found, wide)
    assert picture.shape == (250, 2000, 3)
    assert changed(picture, wide[:250, :2000])[:, 990:].any()
    assert not changed(picture, wide[:250, :2000])[:, :950].any()
