"""The check of a flow by the way back, and DIS with it."""

from __future__ import annotations

import numpy as np

from perception_programs.experts import load
from perception_programs.experts._flow_check import consistency

Stereo = tuple[np.ndarray, np.ndarray, np.ndarray]


class TestConsistency:
    def test_a_shift_agrees_except_where_it_leaves_the_frame(self) -> None:
        forward = np.full((20, 30, 2), [3, -2], np.float32)
        agree = consistency(forward, -forward)
        assert agree.dtype == np.float32 and set(np.unique(agree)) == {0, 1}
        assert agree[2:, :27].all() and not agree[:2].any() and not agree[:, 27:].any()

    def test_half_a_pixel_outside_is_still_the_border_s_pixel(self) -> None:
        forward = np.full((5, 5, 2), [0.4, 0], np.float32)
        assert consistency(forward, -forward).all()
        assert not consistency(np.float32(1.5) * forward, np.float32(-1.5) * forward)[:, 4].any()

    def test_the_threshold_grows_with_the_motion(self) -> None:
        forward, back = np.zeros((2, 1, 300, 2), np.float32)
        for motion, off, wanted in ((0, 0.70, 1), (0, 0.72, 0), (100, 13, 1), (100, 14, 0)):
            forward[0, 0, 0] = motion
            back[0, motion, 0] = -motion + off
            assert consistency(forward, back)[0, 0] == wanted, (motion, off)

    def test_reads_the_way_back_where_the_vector_ends(self) -> None:
        forward = np.zeros((10, 40, 2), np.float32)
        forward[:, :20, 0] = 10
        back = np.zeros_like(forward)
        back[:, 10:30, 0] = -10
        # What stood at 20 to 30 is covered: it says it stays, but there the way back leads left.
        agree = consistency(forward, back)
        assert agree[:, :20].all() and not agree[:, 20:30].any() and agree[:, 30:].all()

    def test_between_pixels(self) -> None:
        forward = np.zeros((1, 4, 2), np.float32)
        forward[0, 0, 0] = 1.5
        back = np.array([[[0, 0], [-1, 0], [-2, 0], [0, 0]]], np.float32)
        assert consistency(forward, back)[0, 0] == 1

    def test_unknown_vectors_do_not_agree(self) -> None:
        forward, back = np.zeros((2, 8, 8, 2), np.float32)
        forward[0, 0, 0], forward[1, 1, 1], forward[2, 2] = np.nan, np.inf, -np.inf
        back[5, 5, 0] = np.nan
        agree = consistency(forward, back)
        assert agree[0, 0] == agree[1, 1] == agree[2, 2] == agree[5, 5] == 0
        assert agree.sum() >= 64 - 4 - 8  # and those beside the unknown one may not

    def test_leaves_its_input_alone(self) -> None:
        forward = np.random.default_rng(0).normal(size=(6, 7, 2)).astype(np.float32)
        forward.flags.writeable = False
        copy = forward.copy()
        consistency(forward, forward)
        assert np.array_equal(forward, copy)
        assert consistency(np.zeros((1, 1, 2), np.float32), np.zeros((1, 1, 2), np.float32)) == 1


class TestChecked:
    def test_dis_on_a_real_pair(self, motorcycle: Stereo) -> None:
        left, right, disparity = motorcycle
        flow = load("dis", check=True)(left, right)
        agree = np.asarray(flow.confidence) > 0
        assert 0.7 < agree.mean() < 0.95
        error = np.hypot(flow.uv[..., 0] + disparity, flow.uv[..., 1])
        assert np.nanmedian(error[agree]) < 0.5 < 3 < np.nanmedian(error[~agree])
        assert np.array_equal(flow.uv, load("dis")(left, right).uv)
        assert load("dis")(left, right).confidence is None

    def test_dis_on_noise_and_on_one_frame_twice(self, motorcycle: Stereo) -> None:
        rng = np.random.default_rng(0)
        dis = load("dis", check=True)
        assert dis(*rng.integers(0, 256, (2, 240, 320, 3), dtype=np.uint8)).confidence.mean() < 0.4
        # Nothing moved, and the way back says so too: agreement alone tells no motion from some.
        assert dis(motorcycle[0], motorcycle[0]).confidence.all()

    def test_batch_too(self) -> None:
        first, second = np.random.default_rng(0).integers(0, 256, (2, 48, 64, 3), dtype=np.uint8)
        made = load("dis", check=True)
        (flow,) = made.batch([first], [second])
        assert np.array_equal(flow.confidence, made(first, second).confidence)
