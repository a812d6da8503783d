"""How far readings can be relied on, modality by modality; and the readings of a few more."""

from __future__ import annotations

import numpy as np
import pytest

from perception_programs import (
    Detections,
    EdgeScores,
    InputError,
    Matches,
    PerceptionProgram,
    PointScores,
    albedo_program,
    correspondence_program,
    detection_program,
    jigsaw_program,
    semantic_program,
    similarity_program,
)
from perception_programs.cli import main
from perception_programs.programs._reliability import leads, reliability


def qs(program: PerceptionProgram) -> list[object]:
    return [item.q for item in program.items]


def scores(**values: float) -> PointScores:
    places = {letter: (10 * n, 20) for n, letter in enumerate(values)}
    return PointScores(places, values, reference=(5, 5), size1=(100, 100))


def border(value: float, box: tuple[int, ...]) -> dict[str, object]:
    return {"structural": value, "colour": value, "edge": value, "box": box}


def edges(**means: tuple[float, float]) -> EdgeScores:
    return EdgeScores(
        {
            name: {"left": border(left, (0, 0, 4, 40)), "top": border(top, (0, 0, 40, 4))}
            for name, (left, top) in means.items()
        },
        dict.fromkeys(means, (40, 40)),
    )


class TestWords:
    def test_levels(self) -> None:
        assert reliability([0.8, 0.5, 0.49], "words") == ["sure", "fair", "doubtful"]
        assert reliability([0.05, 0.02, 0.01], "words", (0.05, 0.02)) == [
            "sure",
            "fair",
            "doubtful",
        ]
        assert reliability([1.2, -0.5, float("nan")], "number") == [1, 0, None]

    def test_leads(self) -> None:
        assert leads({"A": 1.0, "B": 1.0}) == {"A": 0, "B": 0}
        assert leads({"A": 1.0}) == {"A": None} and leads({}) == {}


class TestSemantic:
    def test_the_lead_over_the_best_other(self) -> None:
        program = semantic_program(scores(A=0.5, B=0.75, C=-0.25), reliability="number")
        assert qs(program) == [0.25, 0.25, 1.0]
        assert "q: how far r is from that of the best other candidate, from 0 to 1." in program.note
        words = semantic_program(scores(A=0.5, B=0.53, C=0.1), reliability="words")
        assert qs(words) == ["fair", "fair", "sure"]
        assert "sure from 0.05, fair from 0.02, else doubtful" in words.note

    def test_a_single_candidate(self) -> None:
        program = semantic_program(scores(A=0.5), reliability="number")
        assert qs(program) == [None] and "q:" not in program.note


class TestJigsaw:
    def test_the_lead_of_the_means(self) -> None:
        program = jigsaw_program(edges(A=(0.5, 0.7), B=(0.8, 0.8)), reliability="number")
        assert qs(program) == pytest.approx([0.2] * 4)
        assert "q: how far the mean of the candidate's r" in program.note

    def test_a_single_candidate(self) -> None:
        program = jigsaw_program(edges(A=(0.5, 0.7)), reliability="words")
        assert qs(program) == [None, None] and "q:" not in program.note


class TestDetection:
    def test_the_lead_over_the_runner_up(self) -> None:
        found = Detections(
            [[0, 0, 5, 5]] * 3,
            [0.9, 0.5, 0.4],
            ("cat", "cat", "dog"),
            size=(9, 9),
            runner_up_labels=("dog", "dog", None),
            runner_up_scores=[0.3, 0.45, 0],
        )
        program = detection_program(found, reliability="number")
        assert qs(program) == [0.6, 0.05, None]
        assert qs(detection_program(found, reliability="words")) == ["sure", "fair", None]
        assert "above the confidence in the label that came second" in program.note

    def test_what_tells_no_runner_up_says_nothing(self) -> None:
        found = Detections([[0, 0, 5, 5]], [0.9], ("cat",), size=(9, 9))
        program = detection_program(found, reliability="number")
        assert program == detection_program(found) and str(program) == str(detection_program(found))


class TestMatches:
    POINTS = ((1, 1), (5, 5), (8, 2))

    def made(self, **options: object) -> Matches:
        return Matches(self.POINTS, self.POINTS, size1=(10, 10), **options)

    def test_confidence_and_outliers(self) -> None:
        matches = self.made(
            confidence=np.float32([0.9, 0.8, 0.6]), inliers=np.array([True, False, True])
        )
        numbers = correspondence_program(matches, reliability="number")
        assert qs(numbers) == [0.9, 0, 0.6]
        assert "matcher's confidence (0: it disagrees with most matches)" in numbers.note
        words = correspondence_program(matches, reliability="words")
        assert qs(words) == ["sure", "outlier", "fair"] and "(outlier: it" in words.note

    def test_checked_without_confidence(self) -> None:
        matches = self.made(inliers=np.array([True, False, True]))
        program = correspondence_program(matches, reliability="number")
        assert (
            qs(program) == [1, 0, 1] and "whether it agrees with most matches (1)" in program.note
        )

    def test_unknown(self) -> None:
        for options in ({}, {"confidence": np.float32([5, 2, 9])}, {"inliers": np.zeros(3, bool)}):
            program = correspondence_program(self.made(**options), reliability="number")
            assert qs(program) == [None] * 3 and "q:" not in program.note

    def test_points(self) -> None:
        matches = self.made(confidence=np.float32([0.9, 0.8, 0.6]))
        program = correspondence_program(matches, around={"A": (4, 4)}, reliability="words")
        assert qs(program) == ["sure", "sure", "fair", "sure"]
        assert "q: of a match, the matcher's confidence; of a point, share of the" in program.note


class TestAlbedo:
    SURFACE = np.tile(np.float32([0.1, 0.2, 0.9, np.nan]), (4, 1))

    def test_readings(self) -> None:
        made = {
            reading: albedo_program(self.SURFACE, grid=1, reading=reading)
            for reading in ("median", "range", "range+median")
        }
        low, median, high = made["range+median"].items[0].r
        assert (low, median, high) == pytest.approx((0.1, 0.2, 0.9))
        assert made["range"].items[0].r == (low, high)
        assert made["median"].items[0].r == median
        assert "[lowest, median, highest] albedo" in made["range+median"].note
        assert made["range"].meta["reading"] == "range" and "reading" not in made["median"].meta

    def test_relations_are_between_medians(self) -> None:
        plain = albedo_program(self.SURFACE, grid=(1, 2))
        ranges = albedo_program(self.SURFACE, grid=(1, 2), reading="range")
        assert ranges.relations == plain.relations != ()
        assert "median albedo is more than 0.1 below" in ranges.note

    def test_an_empty_cell_and_shares(self) -> None:
        program = albedo_program(self.SURFACE, grid=(1, 4), reading="range", reliability="number")
        assert program.items[3].r is None and qs(program) == [1, 1, 1, 0]
        assert qs(albedo_program(self.SURFACE, grid=1, reliability="words")) == ["fair"]

    def test_what_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"reading: expected median, range or range\+median"):
            albedo_program(self.SURFACE, grid=1, reading="mean")


class TestSimilarity:
    VALUES = np.tile(np.float32([0.0, 0.1, 0.8, np.nan]), (2, 1))

    def test_readings(self) -> None:
        mean = similarity_program({"A": self.VALUES}, grid=1)
        median = similarity_program({"A": self.VALUES}, grid=1, reading="median")
        assert mean.items[0].r == pytest.approx(0.3)
        assert median.items[0].r == pytest.approx(0.1)
        assert "median" in median.note and "median" not in mean.note
        with pytest.raises(InputError, match="reading: expected mean or median"):
            similarity_program({"A": self.VALUES}, grid=1, reading="range")

    def test_shares(self) -> None:
        program = similarity_program({"A": self.VALUES}, grid=(1, 2), reliability="number")
        assert qs(program) == [1, 0.5] and "could be read, from 0 to 1" in program.note


PROGRAMS = {
    "semantic": lambda **how: semantic_program(scores(A=0.5, B=0.75), **how),
    "jigsaw": lambda **how: jigsaw_program(edges(A=(0.5, 0.7), B=(0.8, 0.8)), **how),
    "albedo": lambda **how: albedo_program(TestAlbedo.SURFACE, grid=1, **how),
    "similarity": lambda **how: similarity_program({"A": TestSimilarity.VALUES}, grid=1, **how),
    "matches": lambda **how: correspondence_program(
        Matches([(1, 1)], [(2, 2)], np.float32([0.5]), size1=(9, 9)), **how
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_text_is_read_back_and_unchanged_unless_asked(name: str) -> None:
    make = PROGRAMS[name]
    assert str(make(reliability=None)) == str(make()) and "q:" not in str(make())
    for how in ("number", "words"):
        program = make(reliability=how)
        assert all(item.q is not None for item in program.items) and " q: " in program.note
        assert PerceptionProgram.from_text(str(program)) == program.rounded()
        assert len(PerceptionProgram.from_text(program.to_text("compact"))) == len(program)
    with pytest.raises(InputError, match="reliability: expected number, words or None"):
        make(reliability="yes")


def test_on_the_command_line(tmp_path, capsys) -> None:
    import json

    data = {
        "scores": {
            "candidates": {"A": [10, 20], "B": [50, 50]},
            "scores": {"A": 0.8, "B": 0.1},
            "reference": [5, 5],
            "size1": [320, 240],
        },
        "found": {
            "boxes": [[1, 2, 50, 60]],
            "scores": [0.9],
            "labels": ["cat"],
            "size": [320, 240],
        },
        "edges": {
            "candidates": {
                k: {"left": border(v, [0, 0, 4, 40])} for k, v in {"A": 0.5, "B": 1}.items()
            },
            "sizes": {"A": [40, 40], "B": [40, 40]},
        },
    }
    commands = {"scores": "semantic", "found": "detect", "edges": "jigsaw"}
    said = {"scores": 0.7, "found": None, "edges": 0.5}
    for name, content in data.items():
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        assert main([commands[name], str(file), "--reliability", "number"]) == 0
        assert PerceptionProgram.from_text(capsys.readouterr().out).items[0].q == said[name]
