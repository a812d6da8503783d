"""Labels on their way into a detector and out of it; nothing here needs a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception_programs import Detections, InputError
from perception_programs.experts._prompts import check_labels, fold, in_passes, phrase, spans
from perception_programs.results._answers import Answer, resolve_label
from perception_programs.results._json import result_from

ASKED = ["car", "taxi", "van"]


class TestAnswers:
    @pytest.mark.parametrize(
        ("answer", "means", "text"),
        [
            ("car taxi", Answer(("car", "taxi"), exact=False), "car | taxi (ambiguous)"),
            ("", Answer((), exact=False), "unknown"),
            ("##van", Answer(("van",), exact=False), "van (inexact)"),
            ("Car", Answer(("car",), exact=True), "car"),
        ],
    )
    def test_what_detectors_answer(self, answer: str, means: Answer, text: str) -> None:  # FAULTS 7
        assert resolve_label(answer, ASKED) == means
        assert str(resolve_label(answer, ASKED)) == text

    @pytest.mark.parametrize(
        ("answer", "labels", "text"),
        [
            ("  TAXI ", ASKED, "taxi"),
            ("car car", ASKED, "car (inexact)"),
            ("tax ##i", ASKED, "taxi (inexact)"),
            ("bus", ASKED, "unknown"),
            ("##", ASKED, "unknown"),
            ("a", ASKED, "car | taxi | van (ambiguous)"),
            ("st bernard", ["St. Bernard", "dog"], "St. Bernard"),
            ("bernard", ["St. Bernard", "dog"], "St. Bernard (inexact)"),
            ("red car", ["car", "red car"], "red car"),
            ("big red car", ["car", "red car"], "red car (inexact)"),
            ("light", ["traffic light", "light"], "light"),
            ("cart", ["car", "van"], "unknown"),
            ("car", [], "unknown"),
            ("x", ["", "x"], "x"),
        ],
    )
    def test_other_answers(self, answer: str, labels: list[str], text: str) -> None:
        assert str(resolve_label(answer, labels)) == text

    def test_a_whole_result(self) -> None:  # FAULTS 7
        found = Detections(
            np.tile([0, 0, 5, 5], (4, 1)), [0.5] * 4, ("car taxi", "", "##van", "Car"), size=(9, 9)
        )
        labels = ("car | taxi (ambiguous)", "unknown", "van (inexact)", "car")
        assert found.resolved(ASKED).labels == labels
        assert found.labels == ("car taxi", "", "##van", "Car")
        with pytest.raises(InputError, match="list of strings"):
            found.resolved("car")
        with pytest.raises(InputError, match="string"):
            found.resolved([3])  # type: ignore[list-item]


class TestLabels:
    def test_duplicates_keep_the_first_spelling(self) -> None:
        asked = check_labels(["Car", "car ", " CAR", "St. Bernard", "st bernard"], phrase)
        assert asked == {"car": "Car", "st bernard": "St. Bernard"}

    @pytest.mark.parametrize("labels", ["cat", b"cat", None, 3, [], ["cat", ""], [" \t\n"], [3]])
    def test_refusals(self, labels: object) -> None:
        with pytest.raises(InputError, match=r"labels: expected (words|what to look for)"):
            check_labels(labels, fold)

    @pytest.mark.parametrize("label", ["...", "?", "[", ". ?"])
    def test_marks_alone_are_no_label(self, label: str) -> None:
        assert fold(label)
        with pytest.raises(InputError, match="words"):
            check_labels([label], phrase)

    def test_a_phrase_holds_nothing_that_ends_it(self) -> None:  # FAULTS 16
        assert phrase("St. Bernard") == "st bernard"
        assert phrase("dog [SEP] cat? yes.") == "dog sep cat yes"


class TestPasses:
    @given(st.lists(st.integers(1, 9), max_size=60), st.integers(10, 40))
    def test_each_phrase_once_in_order_and_none_too_long(
        self, lengths: list[int], budget: int
    ) -> None:
        phrases = [str(number) for number in range(len(lengths))]
        passes = in_passes(phrases, lengths, budget)
        assert [text for one in passes for text in one] == phrases
        sizes = [sum(lengths[int(text)] + 1 for text in one) for one in passes]
        assert all(0 < size <= budget for size in sizes)
        # No part could have taken the first phrase of the next.
        for size, following in zip(sizes, passes[1:], strict=False):
            assert size + lengths[int(following[0])] + 1 > budget

    @pytest.mark.parametrize("length", [0, 10, 11])
    def test_refusals(self, length: int) -> None:
        with pytest.raises(InputError, match="1 to 9 tokens"):
            in_passes(["cat"], [length], 10)

    def test_spans(self) -> None:
        assert spans([], {0}) == [] and spans([0, 0], {0}) == []
        assert spans([5, 0, 0, 6, 7], {0}) == [[0], [3, 4]]


class TestRunnerUps:
    FOUND = Detections(
        [[0, 0, 5, 5], [1, 1, 6, 6]],
        [0.9, 0.5],
        ("car", "van"),
        size=(9, 9),
        runner_up_labels=("taxi", None),
        runner_up_scores=[0.4, 0],
    )

    def test_fields(self) -> None:
        assert self.FOUND.runner_up_labels == ("taxi", None)
        assert self.FOUND.runner_up_scores.dtype == np.float32
        bare = Detections([[0, 0, 5, 5]], [0.9], ("car",), size=(9, 9))
        assert bare.runner_up_labels is None and bare.runner_up_scores is None

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"runner_up_labels": None}, "runner_up_labels: expected them beside"),
            ({"runner_up_scores": None}, "runner_up_scores: expected them beside"),
            ({"runner_up_labels": ("taxi",)}, "expected 2"),
            ({"runner_up_labels": "ab"}, "single string"),
            ({"runner_up_labels": (3, None)}, "string"),
            ({"runner_up_scores": [0.4, 0.2]}, "0 where there is no second label"),
            ({"runner_up_scores": [1.4, 0]}, r"in \[0, 1\]"),
            ({"runner_up_scores": [np.nan, 0]}, "finite"),
        ],
    )
    def test_refusals(self, change: dict[str, object], words: str) -> None:
        with pytest.raises(InputError, match=words):
            replace(self.FOUND, **change)

    def test_json(self) -> None:
        data = {
            "boxes": self.FOUND.boxes.tolist(),
            "scores": self.FOUND.scores.tolist(),
            "labels": list(self.FOUND.labels),
            "runner_up_labels": ["taxi", None],
            "runner_up_scores": self.FOUND.runner_up_scores.tolist(),
            "size": [9, 9],
        }
        back = result_from(Detections, data)
        assert back.runner_up_labels == ("taxi", None)
        assert np.array_equal(back.runner_up_scores, self.FOUND.runner_up_scores)
