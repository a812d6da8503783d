"""BLINK's own score from BLINK's own files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perception_programs import InputError
from perception_programs.blink.score import (
    SubtaskScore,
    read_predictions,
    render,
    score,
    subtask_of,
)

PUBLISHED = {
    "llava-v1.6-34b": ("LLaVA-1.6-34B", 46.8),
    "GPT4o": ("GPT-4o", 60.0),
    "cogvlm-chat": ("CogVLM", 41.5),
    "flamingov2": ("OpenFlamingo2-9B", 39.2),
}


def written(folder: Path, rows: object) -> Path:
    path = folder / "rows.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


class TestPublished:
    @pytest.mark.parametrize("name", PUBLISHED)
    def test_the_published_macro_mean(self, shared_data: Path, name: str) -> None:
        folder = shared_data / "blink_answers"
        key, macro = PUBLISHED[name]
        answers = read_predictions(folder / "val_answers.json")
        result = score(read_predictions(folder / "saved_val_predictions" / f"{name}.json"), answers)
        table = json.loads((folder / "published_val_macro.json").read_text(encoding="utf-8"))
        assert round(100 * result.macro, 1) == macro == table[key]
        assert len(result.subtasks) == 14
        assert sum(part.n for part in result.subtasks.values()) == 1901

    def test_the_one_rounded_up_when_published(self, shared_data: Path) -> None:
        folder = shared_data / "blink_answers"
        answers = read_predictions(folder / "val_answers.json")
        given = read_predictions(folder / "saved_val_predictions" / "OPUS.json")
        result = score(given, answers)
        assert 100 * result.macro == pytest.approx(44.05, abs=0.005)  # published as 44.1
        assert sum(part.unparsed for part in result.subtasks.values()) == 82 + 12


class TestReading:
    def test_letters(self, tmp_path: Path) -> None:
        rows = {
            "val_Jigsaw_1": "(A)",
            "val_Jigsaw_2": "(Z)",
            "val_Relative_Reflectance_3": "(C) About the same",
            "val_Semantic_Correspondence_4": "(E)",
        }
        assert list(read_predictions(written(tmp_path, rows)).values()) == ["A", None, None, "E"]

    @pytest.mark.parametrize(
        "value",
        ["A", "(a)", "(AB)", "(A)B", " (A)", "the answer is (A)", "", "hidden", None, 1, []],
    )
    def test_what_is_no_letter_is_refused_by_id(self, tmp_path: Path, value: object) -> None:
        path = written(tmp_path, {"val_Jigsaw_1": "(A)", "val_Jigsaw_2": value})
        with pytest.raises(InputError, match="val_Jigsaw_2: expected"):
            read_predictions(path)

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", '"(A)"', "[" * 100_000, '{"a": ' + "9" * 5_000 + "}"],
        ids=lambda text: text[:8],
    )
    def test_what_is_no_object_is_refused(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "rows.json"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"rows\.json"):
            read_predictions(path)

    def test_an_id_twice_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.json"
        path.write_text('{"val_Jigsaw_1": "(A)", "val_Jigsaw_1": "(B)"}', encoding="utf-8")
        with pytest.raises(InputError, match="val_Jigsaw_1' twice"):
            read_predictions(path)

    def test_a_mark_of_the_encoding_is_passed_over(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.json"
        path.write_bytes(b'\xef\xbb\xbf{"val_Jigsaw_1": "(A)"}')
        assert read_predictions(path) == {"val_Jigsaw_1": "A"}

    @pytest.mark.parametrize("data", [b"\xff\xfe\x00", None])
    def test_an_unreadable_file_is_refused(self, tmp_path: Path, data: bytes | None) -> None:
        path = tmp_path / "rows.json"
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(InputError, match=r"rows\.json") as caught:
            read_predictions(path)
        assert "Errno" not in str(caught.value)


class TestScore:
    ANSWERS = {  # noqa: RUF012
        "val_Jigsaw_1": "A",
        "val_Jigsaw_2": "B",
        "val_Jigsaw_3": "B",
        "val_Jigsaw_4": "A",
        "val_Multi-view_Reasoning_1": "A",
    }

    def test_counts(self) -> None:
        given = {"val_Jigsaw_1": "A", "val_Jigsaw_2": "A", "val_Jigsaw_3": None}
        result = score(given, self.ANSWERS)
        assert result.subtasks == {
            "Jigsaw": SubtaskScore(n=4, correct=1, missing=1, unparsed=1),
            "Multi-view_Reasoning": SubtaskScore(n=1, correct=0, missing=1, unparsed=0),
        }
        assert result.macro == (1 / 4 + 0) / 2

    def test_the_mean_is_over_subtasks_not_questions(self) -> None:
        given = dict.fromkeys(self.ANSWERS, "A")
        assert score(given, self.ANSWERS).macro == (2 / 4 + 1) / 2

    def test_unknown_ids_are_refused(self) -> None:
        with pytest.raises(InputError, match="'val_Jigsaw_9'"):
            score({"val_Jigsaw_9": "A"}, self.ANSWERS)

    def test_answers_must_have_letters(self) -> None:
        with pytest.raises(InputError, match="val_Jigsaw_1"):
            score({}, {"val_Jigsaw_1": None})
        with pytest.raises(InputError, match="at least one"):
            score({}, {})

    @pytest.mark.parametrize(
        "name",
        [
            *("", "Jigsaw", "val_1", "val__1", "val_Jigsaw_x", "val_Jigsaw_1a", "val_Jigsaw_"),
            *("val_Relative Depth_1", " val_Jigsaw_1", "val_Jigsaw_1\n", "val_Jigsaw_²"),
        ],
    )
    def test_ids_name_their_subtask(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(
            InputError, match="expected <split>_<subtask>_<number>, with underscores"
        ):
            subtask_of(name)
        path = written(tmp_path, {"val_Jigsaw_1": "(A)", name: "(B)"})
        with pytest.raises(InputError, match=r"json: id: expected <split>"):
            read_predictions(path)

    def test_the_table(self) -> None:
        assert render(score({"val_Jigsaw_1": "A"}, self.ANSWERS)) == (
            "subtask               n  correct  missing  unparsed  accuracy\n"
            "Jigsaw                4        1        3         0     25.00\n"
            "Multi-view_Reasoning  1        0        1         0      0.00\n"
            "macro                 5        1        4         0     12.50"
        )
