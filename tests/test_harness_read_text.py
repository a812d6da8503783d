"""Reading text: the reader that ships its models, the order of lines, and what a reader may not say."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from skimage.data import page

from harness_findings import HEIGHT, HOSTILE, PICTURE, WIDTH, assert_harmless, found_by, told
from perception_programs import InputError, ToolError, WeightsError
from perception_programs.harness.capabilities import ReadText, TextLine, text
from perception_programs.harness.memory import Memory

SQUARE = ((20, 10), (60, 10), (60, 30), (20, 30))


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory(tmp_path)
    made.add("image", PICTURE, made_by="user")
    return made


def line(words: str, *box: float, score: float = 0.9) -> TextLine:
    left, top, right, bottom = box
    return TextLine(words, score, ((left, top), (right, top), (right, bottom), (left, bottom)))


def read(*lines: Any, **options: Any) -> ReadText:
    return ReadText(lambda image: lines, **options)


@pytest.fixture(scope="module")
def rapid() -> ReadText:
    """The shipped reader, made and used where nothing can be connected to."""
    pytest.importorskip("rapidocr")
    return ReadText()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("the network was asked for")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


class TestRapidOCR:
    def test_a_page(self, rapid: ReadText, tmp_path: Path) -> None:
        memory = Memory(tmp_path)
        memory.add("image", page(), made_by="user")
        finding, words = found_by(rapid, memory)
        read = finding.passages["text"].split("\n")
        assert read[:2] == [
            "Region-based segmentation",
            "Let us first determine markers of the coins and the",
        ]
        assert "| Region-based segmentation" in words and "Kept as\nboxes_1" in words
        kept = memory.value("boxes_1")
        assert kept.labels == tuple(read) and (np.diff(kept.boxes[:, 1]) > 0).all()
        assert memory.get("boxes_1").sources == ("input_image_1",)

    def test_nothing_to_read(self, rapid: ReadText, memory: Memory) -> None:
        finding, words = found_by(rapid, memory)
        assert finding.form == "none" and finding.raw == [] and not finding.new
        assert words.startswith('No text was read in "input_image_1".')

    def test_it_is_named_with_its_version(self, rapid: ReadText) -> None:
        from importlib.metadata import version

        facts = {"name": "rapidocr", "version": version("rapidocr")}
        assert rapid.settings() == {"backend": facts, "threshold": 0.5}

    def test_models_that_are_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(WeightsError, match=r"expected one model \*_det_\*\.onnx in .*got 0"):
            text._only(tmp_path, "*_det_*.onnx")


class TestOrder:
    """Reading order: rows from the top down, each from left to right."""

    @pytest.mark.parametrize(
        ("lines", "order"),
        [
            # Two columns are read across.
            ([(0, 0, 50, 10), (60, 2, 110, 12), (0, 20, 50, 30), (60, 22, 110, 32)], "abcd"),
            # A tilted line of three words, each a little lower than the one before it.
            ([(80, 14, 110, 34), (40, 7, 70, 27), (0, 0, 30, 20)], "cba"),
            # Small print: rows that are nearer to each other than a large word's tilt.
            ([(0, 12, 50, 20), (0, 3, 50, 11), (60, 3, 90, 11)], "bca"),
            # What stands below a part of a row begins a row, though it reaches up into it.
            ([(0, 0, 100, 20), (40, 9, 90, 29)], "ab"),
        ],
    )
    def test_rows(self, memory: Memory, lines: Any, order: str) -> None:
        given = [line(chr(ord("a") + n), *box) for n, box in enumerate(lines)]
        finding, _ = found_by(read(*given), memory)
        assert finding.passages["text"].replace("\n", "") == order
        assert "".join(memory.value("boxes_1").labels) == order

    def test_the_order_of_the_backend_does_not_matter(self, memory: Memory) -> None:
        given = [
            line(chr(97 + 4 * row + column), 45 * column, 20 * row, 45 * column + 40, 20 * row + 12)
            for row in range(4)
            for column in range(4)
        ]
        for seed in range(5):
            mixed = [given[n] for n in np.random.default_rng(seed).permutation(16)]
            finding, _ = found_by(read(*mixed), memory)
            assert finding.passages["text"].replace("\n", "") == "abcdefghijklmnop"


class TestLines:
    def test_a_slanted_line_gets_the_box_around_it(self, memory: Memory) -> None:
        corners = ((20, 10), (60, 20), (58, 28), (-4, 18))
        finding, _ = found_by(read(TextLine("EXIT", 0.98, corners)), memory)
        assert memory.value("boxes_1").boxes.tolist() == [[0, 10, 60, 28]], "within the picture"
        assert finding.raw == [{"text": "EXIT", "score": 0.98, "box": corners}]

    def test_the_threshold_and_lines_without_words(self, memory: Memory) -> None:
        given = [TextLine("a", 0.6, SQUARE), TextLine("b", 0.59, SQUARE), TextLine(" ", 1, SQUARE)]
        finding, _ = found_by(read(*given, threshold=0.6), memory)
        assert finding.passages["text"] == "a" and finding.fields["count"] == 1
        assert found_by(read(*given, threshold=0.7), memory)[0].form == "none"

    def test_arrays_as_corners(self, memory: Memory) -> None:
        corners: Any = np.array(SQUARE, np.float32)
        finding, _ = found_by(read(TextLine("a", np.float32(0.75), corners)), memory)
        assert finding.raw == [{"text": "a", "score": 0.75, "box": SQUARE}]

    def test_long_text_is_cut_visibly(self, memory: Memory) -> None:
        _, words = found_by(read(TextLine("long " * 2000, 0.9, SQUARE)), memory)
        assert "[cut here: 6000 more characters]" in words and len(words) < 6000
        assert memory.value("boxes_1").labels == ("long " * 2000,), "kept whole"

    @pytest.mark.parametrize("words", HOSTILE)
    def test_hostile_text(self, tmp_path: Path, words: str) -> None:
        told_of = told(read(TextLine(words, 0.9, SQUARE)), {"image": "input_image_1"}, tmp_path)
        assert_harmless(told_of)
        passages = [one for one in told_of[0].split("\n") if one.startswith("| ")]
        assert len(passages) == len(words.splitlines()), "each of its lines is marked"

    @pytest.mark.parametrize(
        ("answer", "why"),
        [
            (None, "expected TextLines, got None"),
            ("EXIT", "expected TextLines, got str"),
            ([("EXIT", 0.9, SQUARE)], "expected TextLines, got tuple"),
            ([TextLine(None, 0.9, SQUARE)], "a string as a line's text, got None"),  # type: ignore[arg-type]
            ([TextLine("a", 1.5, SQUARE)], "a number from 0 to 1, got float 1.5"),
            ([TextLine("a", float("nan"), SQUARE)], "a number from 0 to 1, got float nan"),
            ([TextLine("a", "0.9", SQUARE)], "a number from 0 to 1, got str"),  # type: ignore[arg-type]
            ([TextLine("a", 0.9, ((1, 2),))], "two corners (x, y) or more"),
            ([TextLine("a", 0.9, ((1, 2), (3,)))], "two corners (x, y) or more"),  # type: ignore[arg-type]
            ([TextLine("a", 0.9, ((1, 2, 3), (4, 5, 6)))], "two corners (x, y) or more"),  # type: ignore[arg-type]
            ([TextLine("a", 0.9, ((1, 2), (3, float("inf"))))], "expected finite corners"),
            ([line("a", WIDTH + 1, 0, WIDTH + 9, 9)], f"within {WIDTH}×{HEIGHT} pixels"),
            ([line("a", 0, -9, 9, -1)], f"within {WIDTH}×{HEIGHT} pixels"),
        ],
    )
    def test_what_a_reader_may_not_say(self, memory: Memory, answer: Any, why: str) -> None:
        finding, words = found_by(ReadText(lambda image: answer), memory)
        assert finding.form == "unusable" and not finding.new
        assert why in words and words.endswith("Do not guess from it.")

    def test_a_reader_that_fails(self, memory: Memory) -> None:
        def broken(image: Any) -> NoReturn:
            raise ToolError("the reader's model is damaged")

        assert "model is damaged" in found_by(ReadText(broken), memory)[1]


def test_backends_that_cannot_be() -> None:
    with pytest.raises(InputError, match="expected 'rapidocr' or a callable, got 'tesseract'"):
        ReadText("tesseract")
    with pytest.raises(InputError, match="threshold: expected a number from 0 to 1"):
        ReadText(threshold=50)
