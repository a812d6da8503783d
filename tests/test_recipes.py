"""Recipes: from a question to its evidence, and from the evidence's text to an answer."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marker_drawings import Style, draw_boxes
from perception_programs import (
    DepthMap,
    Detections,
    FlowField,
    InputError,
    PerceptionProgram,
    Points,
    PointScores,
    ToolError,
    WeightsError,
)
from perception_programs.blink import recipes, tools
from perception_programs.blink.coordinates import Coordinates
from perception_programs.blink.data import TASKS, load
from perception_programs.blink.recipes import RECIPES, Evidence, NamedProgram, Recipe, recipe
from perception_programs.blink.samples import Sample, SampleImage
from perception_programs.blink.tools import Tools
from perception_programs.experts import available
from perception_programs.experts import load as load_expert
from perception_programs.experts.base import Card, Expert

PAPER = (
    "HardBLINK",
    "Multi-view_Reasoning",
    "Visual_Correspondence",
    "Jigsaw",
    "Object_Localization",
    "Semantic_Correspondence",
)
ASKS_WHERE = (
    "Given the two bounding boxes on the image, labeled by A and B, which bounding box more "
    "accurately localizes and encloses the motorcycle?"
)


class Fixed:
    """An expert that always answers the same, and remembers what it was asked."""

    def __init__(self, modality: str, result: Any) -> None:
        self.card = Card(f"fixed-{modality}", modality, "numpy")
        self.result = result
        self.asked: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, *images: Any, **options: Any) -> Any:
        self.asked.append((images, options))
        return self.result

    def batch(self, *images: Any, **options: Any) -> list[Any]:
        raise NotImplementedError


class Planted:
    """A depth expert that knows the answers: nearness falls with the distance from the right point."""

    card = Card("planted", "depth", "numpy")

    def __init__(self, samples: Any, finder: Expert) -> None:
        self._answers = {_digest(s.images[0].load()): s.answer for s in samples}
        self._finder = finder

    def __call__(self, image: Any, **options: Any) -> DepthMap:
        found = self._finder(image)
        x, y = found.points[found.labels.index(self._answers[_digest(image)])]
        rows, columns = np.indices(image.shape[:2])
        return DepthMap(-np.hypot(columns - x, rows - y), kind="relative")

    def batch(self, *images: Any, **options: Any) -> list[Any]:
        raise NotImplementedError


def _digest(image: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()


def sample(task: str, *images: Any, choices: tuple[str, ...] = ("A", "B"), **rest: Any) -> Sample:
    pictures = tuple(SampleImage(image, f"{n}.png") for n, image in enumerate(images, 1))
    rest = {"question": "Which one?", **rest}
    return Sample(f"val_{task}_1", task, choices=choices, images=pictures, **rest)


def answer(task: str, evidence: Evidence, asked: Sample, *, naive: bool = False) -> str | None:
    """What the rule reads from the text of the programs."""
    read = recipe(task).naive if naive else recipe(task).read
    assert read is not None
    return read(through_text(evidence), asked)


def through_text(evidence: Evidence) -> dict[str, PerceptionProgram]:
    return {n.name: PerceptionProgram.from_text(str(n.program)) for n in evidence.programs}


GREY = np.full((100, 200, 3), 128, np.uint8)


class TestTable:
    def test_all_subtasks_and_hardblink(self) -> None:
        assert set(RECIPES) == {*TASKS, "HardBLINK"}
        assert all(entry.task == task for task, entry in RECIPES.items())

    def test_the_tasks_with_tools_are_the_paper_s(self) -> None:
        with_tools = {task for task, entry in RECIPES.items() if entry.evidence is not None}
        assert with_tools == {*PAPER, "Relative_Depth"}
        assert {task for task, entry in RECIPES.items() if entry.paper} == set(PAPER)
        assert {task for task, entry in RECIPES.items() if entry.naive} == {"Visual_Correspondence"}
        for task in with_tools:
            assert recipe(task).read is not None and recipe(task).guidance is not None

    @pytest.mark.parametrize("entry", RECIPES.values(), ids=list(RECIPES))
    def test_experts_are_there_by_name(self, entry: Recipe) -> None:
        assert bool(entry.experts) == (entry.evidence is not None)
        for modality, name in entry.experts.items():
            assert name in available(modality)

    def test_the_paper_s_pairing(self) -> None:
        pairing = {task: list(recipe(task).experts.values())[-1] for task in PAPER}
        for task, name in zip(
            PAPER, ("depth-anything", "raft", "loftr", "seams", "llmdet", "dift"), strict=True
        ):
            assert pairing[task].startswith(name)

    def test_unknown_task(self) -> None:
        with pytest.raises(InputError, match="did you mean 'Jigsaw'"):
            recipe("Jigsow")

    def test_a_task_without_tools(self) -> None:
        with pytest.raises(InputError, match=r"val_Counting_1: Counting has no tools.*Jigsaw"):
            recipe("Counting").gather(sample("Counting", GREY), Tools())

    def test_number_of_images(self) -> None:
        with pytest.raises(InputError, match="expected 3 images for Jigsaw, got 1"):
            recipe("Jigsaw").gather(sample("Jigsaw", GREY), Tools())

    def test_a_new_task_is_a_new_entry(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(recipes, "_TABLE", {})
        monkeypatch.setattr(recipes, "RECIPES", recipes._TABLE)

        def shades(asked: Sample, tools: Tools, experts: Mapping[str, str]) -> Evidence:
            points = tools.points(asked, 1, asked.letters)
            return Evidence((NamedProgram("points", "The points", points.program),), ())

        recipes.register(
            Recipe("Shades", "Shades", 1, {"points": "markers"}, shades, read=lambda p, s: "B")
        )
        asked = sample("Shades", GREY)
        given = Coordinates({(asked.id, 1): {"A": (10, 10), "B": (20, 30)}})
        evidence = recipe("Shades").gather(asked, Tools(coordinates=given))
        assert [item.b for item in through_text(evidence)["points"].items] == ["A", "B"]
        assert answer("Shades", evidence, asked) == "B"
        with pytest.raises(InputError, match="'Shades' has a recipe already"):
            recipes.register(recipe("Shades"))


class TestJigsaw:
    def test_every_local_question_is_read_right(self, shared_data: Path) -> None:
        pytest.importorskip("pyarrow")
        questions = load("Jigsaw", shared_data / "blink" / "Jigsaw")
        vision = Tools(cache=False)
        right = 0
        for asked in questions:
            evidence = recipe("Jigsaw").gather(asked, vision)
            right += answer("Jigsaw", evidence, asked) == asked.answer
        assert (right, len(questions)) == (75, 75)

    def test_pictures_are_the_image_completed(self) -> None:
        image, red, blue = GREY.copy(), GREY[:50, :100].copy(), GREY[:50, :100].copy()
        red[...], blue[...] = (255, 0, 0), (0, 0, 255)
        asked = sample("Jigsaw", image, red, blue)
        evidence = recipe("Jigsaw").gather(asked, Tools(cache=False))
        first, second = evidence.pictures
        assert first.image[-1, -1].tolist() == [255, 0, 0]
        assert second.image[-1, -1].tolist() == [0, 0, 255]
        assert first.image[0, 0].tolist() == [128] * 3
        assert "candidate A" in first.caption and "candidate B" in second.caption
        assert first.image is first.image  # drawn once
        assert (image == 128).all()

    def test_more_options_than_pieces(self) -> None:
        asked = sample("Jigsaw", GREY, GREY, GREY, choices=("1", "2", "3"))
        with pytest.raises(InputError, match="one option for each of 2 pieces, got A, B, C"):
            recipe("Jigsaw").gather(asked, Tools())


class TestRelativeDepth:
    def _read(self, questions: Any, tmp_path: Path, grid: int) -> dict[str, str | None]:
        """The answers read with planted depth, by question; markers are looked for once."""
        finder = load_expert("markers", shape="rings", cache=tmp_path)
        vision = Tools(Planted(questions, finder), cache=tmp_path, grid=grid)
        entry = recipe("HardBLINK")
        return {q.id: answer("HardBLINK", entry.gather(q, vision), q) for q in questions}

    def test_planted_depth_is_read_right(self, shared_data: Path, tmp_path: Path) -> None:
        questions = load("HardBLINK", shared_data / "hardblink")
        some = [questions[n] for n in (0, 70, 185)]
        assert {q.group for q in some} == {"3 points", "4 points", "5 points"}
        assert self._read(some, tmp_path, grid=10) == {q.id: q.answer for q in some}

    @pytest.mark.slow
    def test_planted_depth_is_read_right_everywhere(
        self, shared_data: Path, tmp_path: Path
    ) -> None:
        questions = load("HardBLINK", shared_data / "hardblink")
        truth = {q.id: q.answer for q in questions}
        assert len(truth) == 186
        assert self._read(questions, tmp_path, grid=16) == truth
        # At 10×10 another point of these lies in the cell of the right one: no depth tells them apart.
        found = self._read(questions, tmp_path, grid=10)
        crowded = {"3_61", "4_55", "5_26", "5_32", "5_40"}
        undecided = {f"hardblink_{name}": None for name in crowded}
        assert found == truth | undecided

    def test_no_relations_and_a_grid_of_ten_unless_asked(self) -> None:
        asked = sample("Relative_Depth", GREY)
        given = Coordinates({(asked.id, 1): {"B": (190, 50), "A": (10, 50)}})
        ramp = DepthMap(np.tile(np.linspace(0, 1, 200), (100, 1)))
        for options, grid, some in (({}, 10, False), ({"grid": 4, "relations": True}, 4, True)):
            vision = Tools(Fixed("depth", ramp), coordinates=given, **options)
            evidence = recipe("Relative_Depth").gather(asked, vision)
            depth = evidence.programs[1].program
            assert depth.grid is not None and depth.grid.rows == depth.grid.cols == grid
            assert bool(depth.relations) == some
            assert answer("Relative_Depth", evidence, asked) == "B"

    def test_programs_know_their_pictures_and_makers(self) -> None:
        asked = sample("Relative_Depth", GREY)
        given = Coordinates({(asked.id, 1): {"B": (190, 50), "A": (10, 50)}})
        expert = Fixed("depth", DepthMap(np.tile(np.linspace(0, 1, 200), (100, 1))))
        evidence = recipe("Relative_Depth").gather(asked, Tools(expert, coordinates=given))
        points, depth = (named.program for named in evidence.programs)
        assert [item.b for item in points.items] == ["A", "B"]  # as the options, not as the file
        assert points.meta["coordinates"] == given.digest
        assert depth.meta["expert"] == "fixed-depth" and depth.meta["library"] == "numpy"
        assert all(program.overlay().size for program in (points, depth))
        assert len(expert.asked) == 1  # for the program and the picture
        assert evidence.pictures[0].image.shape == GREY.shape


class TestMarks:
    def test_other_letters_than_expected(self) -> None:
        vision = Tools(Fixed("points", Points.from_dict({"A": (1, 1), "C": (2, 2)}, (200, 100))))
        with pytest.raises(ToolError) as error:
            vision.points(sample("Relative_Depth", GREY), 1, ["A", "B"])
        said = str(error.value)
        assert "val_Relative_Depth_1, image 1 (1.png): expected points A, B" in said
        assert "found A, C" in said
        assert '{"id": "val_Relative_Depth_1", "image": 1, "points": {"A": [x, y], …}}' in said

    def test_a_letter_twice(self) -> None:
        twice = Points(points=[[1, 1], [2, 2]], labels=("A", "A"), size=(200, 100))
        with pytest.raises(ToolError, match=r"expected points A, .* found A, A"):
            Tools(Fixed("points", twice)).points(sample("T", GREY), 1, ["A"])

    def test_nothing_drawn(self) -> None:
        with pytest.raises(ToolError, match="expected points A, B, 'markers' found none"):
            Tools(cache=False).points(sample("T", GREY), 1, ["A", "B"])

    def test_boxes_are_no_points(self) -> None:
        boxes = Points.from_dict({"A": (1, 1, 9, 9), "B": (2, 2, 8, 8)}, (200, 100))
        with pytest.raises(ToolError, match="expected points A, B, 'fixed-points' found none"):
            Tools(Fixed("points", boxes)).points(sample("T", GREY), 1, ["A", "B"])
        marks = Tools(Fixed("points", boxes)).boxes(sample("T", GREY), 1, ["B", "A"])
        assert marks.places == {"B": (2, 2, 8, 8), "A": (1, 1, 9, 9)}

    def test_coordinates_of_this_picture_only(self) -> None:
        asked = sample("T", GREY, GREY)
        finder = Fixed("points", Points.from_dict({"A": (7, 7)}, (200, 100)))
        given = Coordinates({(asked.id, 2): {"A": (3, 4)}})
        vision = Tools(finder, coordinates=given)
        assert vision.points(asked, 2, ["A"]).places == {"A": (3, 4)}
        assert finder.asked == []
        assert vision.points(asked, 1, ["A"]).places == {"A": (7, 7)}

    @pytest.mark.parametrize(
        ("points", "boxes", "said"),
        [
            ({"A": (3, 4)}, None, "expected points A, B, got A"),
            ({"A": (3, 4), "B": (500, 4)}, None, "image 1: points: expected 'B' within 200×100"),
            (None, {"A": (3, 4, 5, 6)}, "expected points, got boxes"),
        ],
    )
    def test_wrong_coordinates(self, points: Any, boxes: Any, said: str) -> None:
        place = ("val_T_1", 1)
        given = Coordinates(points and {place: points}, boxes and {place: boxes})
        with pytest.raises(InputError, match=f"coordinates: val_T_1.*{said}"):
            Tools(coordinates=given).points(sample("T", GREY), 1, ["A", "B"])


class TestMultiView:
    @pytest.mark.parametrize(
        ("choices", "right"),
        [(("left", "right"), "A"), (("Right.", "to the LEFT"), "B")],
    )
    def test_directions_are_options_by_their_text(
        self, choices: tuple[str, ...], right: str
    ) -> None:
        uv = np.full((100, 200, 2), -3.0)
        asked = sample("Multi-view_Reasoning", GREY, GREY, choices=choices)
        evidence = recipe(asked.task).gather(asked, Tools(Fixed("flow", FlowField(uv))))
        assert answer(asked.task, evidence, asked) == right

    def test_options_that_say_neither(self) -> None:
        asked = sample("Multi-view_Reasoning", GREY, GREY, choices=("clockwise", "left"))
        evidence = recipe(asked.task).gather(
            asked, Tools(Fixed("flow", FlowField(np.ones((100, 200, 2)))))
        )
        with pytest.raises(InputError, match=r"val_Multi-view_Reasoning_1: .*says 'right'"):
            answer(asked.task, evidence, asked)


@pytest.fixture(scope="module")
def pair(motorcycle: Any) -> Sample:
    left, right, _ = motorcycle
    letters = tuple("ABCD")
    return sample("Visual_Correspondence", left, right, choices=letters)


@pytest.fixture(scope="module")
def pair_evidence(pair: Sample, motorcycle: Any) -> Evidence:
    disparity = motorcycle[2]
    x, y = 531, 158  # the headlight, nearer than most
    place = (x - float(disparity[y, x]), y)
    others = {"A": (x, y), "B": (300, 222), "D": (470, 240)}
    given = Coordinates({(pair.id, 1): {"REF": (x, y)}, (pair.id, 2): {**others, "C": place}})
    vision = Tools("sift", coordinates=given, cache=False)
    return recipe(pair.task).gather(pair, vision)


class TestVisualCorrespondence:
    def test_where_the_match_lands(self, pair_evidence: Evidence, pair: Sample) -> None:
        assert answer(pair.task, pair_evidence, pair) == "C"
        assert answer(pair.task, pair_evidence, pair, naive=True) == "A"

    def test_order_of_the_programs(self, pair_evidence: Evidence) -> None:
        assert [named.name for named in pair_evidence.programs] == [
            "reference",
            "candidates",
            "matches",
        ]
        letters = [item.b for item in pair_evidence.programs[1].program.items]
        assert letters == ["A", "B", "C", "D"]

    def test_picture(self, pair_evidence: Evidence) -> None:
        (picture,) = pair_evidence.pictures
        assert "40 of " in picture.caption and picture.image.shape[1] > 2 * 741

    def test_a_limit(self, pair: Sample) -> None:
        given = Coordinates(
            {(pair.id, 1): {"REF": (5, 5)}, (pair.id, 2): dict.fromkeys("ABCD", (5, 5))}
        )
        vision = Tools("sift", coordinates=given, cache=False, matches=7)
        assert len(recipe(pair.task).gather(pair, vision).programs[2].program) == 7


class TestLocalisation:
    FOUND = Detections(
        boxes=[[20, 20, 80, 80], [100, 0, 200, 100]],
        scores=[0.8, 0.9],
        labels=("motorcycle", "shelf"),
        size=(200, 100),
    )

    def _gathered(self, asked: Sample, expert: Expert) -> Evidence:
        boxes = {"A": (100, 0, 190, 90), "B": (22, 20, 80, 78)}
        given = Coordinates(boxes={(asked.id, 1): boxes})
        return recipe(asked.task).gather(asked, Tools(expert, coordinates=given))

    def test_the_asked_object_decides(self) -> None:
        asked = sample("Object_Localization", GREY, question=ASKS_WHERE)
        expert = Fixed("detection", self.FOUND)
        evidence = self._gathered(asked, expert)
        assert expert.asked[0][1] == {"labels": ["motorcycle"]}
        assert answer(asked.task, evidence, asked) == "B"
        assert [named.name for named in evidence.programs] == ["boxes", "detections"]

    def test_labels_come_before_the_question(self) -> None:
        asked = sample("Object_Localization", GREY, question=ASKS_WHERE, labels=("shelf",))
        expert = Fixed("detection", self.FOUND)
        assert answer(asked.task, self._gathered(asked, expert), asked) == "A"
        assert expert.asked[0][1] == {"labels": ["shelf"]}

    @pytest.mark.parametrize(
        ("question", "labels", "got"),
        [
            ("Where is it?", (), "got 'Where is it\\?'"),
            (ASKS_WHERE, ("a", "b"), "got the labels a, b"),
        ],
    )
    def test_nothing_to_look_for(self, question: str, labels: tuple[str, ...], got: str) -> None:
        asked = sample("Object_Localization", GREY, question=question, labels=labels)
        with pytest.raises(InputError, match=f"val_Object_Localization_1: .*{got}"):
            self._gathered(asked, Fixed("detection", self.FOUND))

    def test_boxes_that_are_drawn_are_found(self) -> None:
        rng = np.random.default_rng(3)
        drawn = draw_boxes(np.full((400, 500, 3), 90, np.uint8), 2, rng, Style(), "tag")
        marks = Tools(cache=False).boxes(sample("T", drawn.image), 1, ["A", "B"])
        for letter, box in drawn.places.items():
            assert np.abs(np.array(marks.places[letter]) - box).max() < 3


class TestSemantic:
    def test_the_most_alike(self) -> None:
        places = {"A": (5, 5), "B": (50, 60)}
        result = PointScores(places, {"A": 0.2, "B": 0.7}, (9, 8), (200, 100))
        expert = Fixed("semantic", result)
        asked = sample("Semantic_Correspondence", GREY, GREY)
        given = Coordinates({(asked.id, 1): {"REF": (9, 8)}, (asked.id, 2): places})
        evidence = recipe(asked.task).gather(asked, Tools(expert, coordinates=given))
        assert expert.asked[0][1] == {"reference": (9, 8), "candidates": places}
        assert answer(asked.task, evidence, asked) == "B"
        assert evidence.pictures[0].image.shape == GREY.shape


class TestTools:
    def test_another_expert_only_when_chosen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loaded: list[tuple[str, dict[str, Any]]] = []

        def no_weights(name: str, **options: Any) -> Expert:
            loaded.append((name, options))
            raise WeightsError("none to be had")

        monkeypatch.setattr(tools, "load", no_weights)
        vision = Tools("dis", device="cpu", weights="folder", cache=False)
        with pytest.raises(WeightsError, match="none to be had"):
            vision.ask("depth", "depth-anything-v2-small", GREY)
        options = {"cache": False, "device": "cpu", "weights": "folder"}
        assert loaded == [("depth-anything-v2-small", options)]
        with pytest.raises(WeightsError):
            vision.ask("flow", "raft-large", GREY, GREY)
        assert loaded[1] == ("dis", {"cache": False})  # it has no model

    def test_loaded_once_by_many_threads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loads = []

        def slowly(name: str, **options: Any) -> Expert:
            loads.append(name)
            started.wait(5)
            return load_expert(name, **options)

        started = threading.Event()
        monkeypatch.setattr(tools, "load", slowly)
        vision = Tools(cache=False)
        frames = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), np.uint8)
        threads = [
            threading.Thread(target=vision.ask, args=("flow", "dis", *frames)) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        started.set()
        for thread in threads:
            thread.join()
        assert loads == ["dis"]

    def test_named_experts_are_cached(self, tmp_path: Path) -> None:
        pieces = {"A": GREY[:50, :100], "B": GREY[:50, :100]}
        for _ in range(2):
            Tools(cache=tmp_path).ask("jigsaw", "seams", GREY, pieces)
        assert len(list(tmp_path.iterdir())) == 1

    def test_settings(self, tmp_path: Path) -> None:
        (tmp_path / "b").mkdir()
        given = Coordinates({("x", 1): {"A": (1, 1)}})
        settings = Tools("dis", coordinates=given, grid=(4, 6), weights=tmp_path / "b").settings
        assert settings(recipe("Multi-view_Reasoning")) == {
            "experts": {"flow": _about("dis")},
            "grid": [4, 6],
            "relations": False,
            "matches": None,
            "coordinates": given.digest,
        }
        experts = settings(recipe("HardBLINK"))["experts"]
        assert list(experts) == ["points", "depth"]
        assert experts["depth"]["checkpoint"] == "local:b"
        assert experts["points"]["checkpoint"] is None

    def test_settings_tell_weights_of_one_name_apart(self, tmp_path: Path) -> None:
        def about(weights: Path) -> Any:
            return Tools(weights=weights).settings(recipe("HardBLINK"))["experts"]["depth"]

        first, second = (tmp_path / name / "weights" for name in "ab")
        for folder in (first, second):
            (folder / "unet").mkdir(parents=True)
            (folder / "unet" / "model.safetensors").write_bytes(b"same")
        assert about(first) == about(second) and about(first)["checkpoint"] == "local:weights"
        (second / "README.md").write_text("of no concern")
        (second / ".cache").mkdir()
        (second / ".cache" / "x.json").write_text("nor this")
        assert about(first) == about(second)
        (second / "unet" / "model.safetensors").write_bytes(b"diff")
        assert about(first) != about(second)
        file = first / "unet" / "model.safetensors"
        assert about(file)["digest"] != about(second / "unet" / "model.safetensors")["digest"]
        with pytest.raises(InputError, match="weights: no file or folder"):
            about(tmp_path / "none")

    @pytest.mark.parametrize(
        ("expert", "said"),
        [
            ("diss", "did you mean 'dis'"),
            (["dis", "raft-small"], "one for flow, got 'dis' and 'raft-small'"),
            (Fixed, "expected a name or an expert"),
            (7, "expected a name or an expert"),
        ],
    )
    def test_experts_that_cannot_be(self, expert: Any, said: str) -> None:
        with pytest.raises(InputError, match=said):
            Tools(expert)

    @pytest.mark.parametrize("matches", [0, -1, True])
    def test_matches(self, matches: Any) -> None:
        with pytest.raises(InputError, match="matches: expected 1 or more"):
            Tools(matches=matches)

    def test_an_expert_with_another_result(self) -> None:
        asked = sample("Multi-view_Reasoning", GREY, GREY)
        vision = Tools(Fixed("flow", DepthMap(np.eye(4))))
        with pytest.raises(ToolError, match="expected FlowField"):
            recipe(asked.task).gather(asked, vision)


def _about(name: str) -> dict[str, Any]:
    from importlib.metadata import version

    card = next(entry.card for entry in available().values() if entry.card.name == name)
    library = {"name": name, "library": card.library, "version": version(card.library)}
    return {**library, "checkpoint": card.checkpoint}
