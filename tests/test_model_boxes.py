"""Boxes that language models write: read exactly, or refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception_programs import Detections, InputError, detection_program
from perception_programs.results import BoxFrame
from strategies import HOSTILE, QUICK

SIZE = (1000, 500)
PIXELS = BoxFrame("xyxy", *SIZE)
CAT = '{"bbox": [200, 50, 400, 150], "label": "cat"}'


def read(answer: Any, **how: Any) -> Detections:
    return Detections.from_answer(answer, **{"size": SIZE, "frame": PIXELS, "score": 1, **how})


@pytest.mark.parametrize(
    ("answer", "frame"),
    [
        ('{"box_2d": [100, 200, 300, 400], "label": "cat"}', "gemini"),
        ('{"bbox_2d": [200, 100, 400, 300], "label": "cat"}', "qwen3-vl"),
        ('{"bbox_2d": [100, 50, 200, 150], "label": "cat"}', BoxFrame("xyxy", 500, 500)),
        (CAT, PIXELS),
        ('{"bbox": [200, 50, 200, 100], "label": "cat"}', BoxFrame("xywh", *SIZE)),
        ('{"box": [0.2, 0.1, 0.4, 0.3], "name": "cat"}', BoxFrame("xyxy", 1, 1)),
        ('{"box": [19.98, 9.99, 39.96, 29.97], "class": "cat"}', BoxFrame("xyxy", 99.9, 99.9)),
        ('{"x1": 200, "y1": 50, "x2": 400, "y2": 150, "label": "cat"}', PIXELS),
        ('{"label": "cat", "box": {"x": 200, "y": 50, "width": 200, "height": 100}}', PIXELS),
        ('{"label": "cat", "box": {"ymin": 50, "xmin": 200, "ymax": 150, "xmax": 400}}', PIXELS),
        ('{"bbox": [400, 150, 200, 50], "label": "cat"}', PIXELS),  # corners come sorted
    ],
)
def test_one_object_in_many_frames(answer: str, frame: Any) -> None:
    found = read(answer, frame=frame)
    assert found.boxes.round(2).tolist() == [[200, 50, 400, 150]] and found.labels == ("cat",)


@pytest.mark.parametrize(
    "answer",
    [
        CAT,
        f"[{CAT}]",
        f'{{"objects": [{CAT}]}}',
        f"```json\n[{CAT}]\n```",
        f"```\n{CAT}\n```",
        f"```JSON \r\n{CAT}\r\n```\r\nDone.",
        f"```json\n[{CAT}]",  # the fence was not closed, but the value is whole
        f"Sure! [see below] I found one cat [1]:\n\n```json\n{CAT}\n```\nIt sits on a [mat](#m).",
        f"Sure, one cat [1] [see there]: {CAT}. Is that {{all}}?",
        f"```python\nx = [1, 2, 3, 4]\n```\nso\n```json\n{CAT}\n```",
        f"```json [{CAT}] ```",
        json.loads(CAT),
        [json.loads(CAT)],
    ],
)
def test_where_the_data_stands(answer: Any) -> None:
    found = read(answer)
    assert found.boxes.tolist() == [[200, 50, 400, 150]] and found.labels == ("cat",)


def test_several_fences_and_lines_are_read_in_order() -> None:
    dog = CAT.replace("cat", "dog")
    answer = f"Cats:\n```json\n{CAT}\n{CAT}\n```\nDogs:\n```json\n[{dog}]\n```"
    assert read(answer).labels == ("cat", "cat", "dog")
    assert read(f"First {CAT}, then {dog}").labels == ("cat", "dog")


def test_none_found() -> None:
    for answer in ("[]", "```json\n[]\n```", "There are none: []", '{"objects": []}', []):
        assert len(read(answer)) == 0


def test_what_a_box_lacks_is_given_not_made_up() -> None:
    assert read("It is at [200, 50, 400, 150].", label="cat").labels == ("cat",)
    with pytest.raises(InputError, match="object 1: expected a label"):
        read("[200, 50, 400, 150]")
    with pytest.raises(InputError, match="score="):
        read(CAT, score=None)
    scored = CAT.replace("}", ', "confidence": 0.25}')
    assert read(f"[{scored}, {CAT}]", score=0.5).scores.tolist() == [0.25, 0.5]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("", "expected boxes as JSON"),
        ("I see no cat.", "expected boxes as JSON"),
        ("[see below] and [1] and [1, 2, 3]", "expected boxes as JSON"),
        (f"[{CAT},]", "JSON"),
        (f"[{CAT}", "cut short"),
        (f"```json\n[{CAT}, {{'bbox'", "cut short"),
        (CAT.replace('"', "'"), "JSON"),
        (f"```json\nboxes = {CAT}\n```", "JSON"),
        (f"```json\n{CAT} // the cat\n```", "JSON"),
        ('{"bbox": [1, 2, 3, 4], "bbox": [5, 6, 7, 8], "label": "a"}', "'bbox' twice"),
        ('{"label": "cat"}', "expected objects with a box"),
        ('{"boxes": [[1, 2, 3, 4]], "labels": ["a"]}', "expected objects with a box"),
        ('[{"label": "cat"}]', "expected objects with a box"),
        ("[[[1, 2, 3, 4]]]", "expected objects with a box"),
        ('["cat"]', "expected objects with a box"),
        ("[[1, 2, 3]]", "expected objects with a box"),
        ('{"bbox": [1, 2, 3], "label": "a"}', "four numbers"),
        ('{"bbox": [1, 2, 3, "4"], "label": "a"}', "a number"),
        ('{"bbox": [1, 2, 3, true], "label": "a"}', "a number"),
        ('{"bbox": [1, 2, 3, null], "label": "a"}', "a number"),
        ('{"bbox": [1, 2, 3, NaN], "label": "a"}', "finite"),
        ('{"bbox": [1, 2, 3, 1e999], "label": "a"}', "finite"),
        ('{"bbox": null, "label": "a"}', "four numbers"),
        ('{"bbox": {"x": 1, "y": 2}, "label": "a"}', "sides"),
        ('{"bbox": [1, 2, 3, 4], "box": [1, 2, 3, 4], "label": "a"}', "one box, got 2"),
        ('{"bbox": [1, 2, 3, 4], "label": 7}', "a string"),
        ('{"bbox": [1, 2, 3, 4], "label": "a", "score": "high"}', "a number"),
        ('{"bbox": [1, 2, 3, 4], "label": "a", "score": 95}', "[0, 1]"),
        ('{"bbox": [1, 2, 3, 501], "label": "a"}', "frame of 1000×500"),
        ('{"bbox": [-1, 2, 3, 4], "label": "a"}', "frame of 1000×500"),
        ('{"bbox": [0.1, 0.2, 0.3, 0.4], "label": "a"}', "is the frame another"),
        ("[" * 100_000, "JSON"),
        ("[" + "9" * 5000 + ", 1, 2, 3]", "JSON"),
        (b"[]", "expected objects with a box"),
        (None, "expected objects with a box"),
        (3, "expected objects with a box"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_cannot_be_read_is_named(answer: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(answer)
    assert words in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize("frame", ["qwen", "qwen2.5-vl", "openai", "xyxy", None, (1000, 1000)])
def test_the_frame_is_never_guessed(frame: Any) -> None:
    with pytest.raises(InputError, match=r"frame: expected one of gemini, qwen3-vl, or a BoxFrame"):
        read(CAT, frame=frame)


def test_frames_are_checked() -> None:
    for wrong in (("yxxy", 1, 1), ("xyxy", 0, 1), ("xyxy", 1, "a"), ("xyxy", 1, float("inf"))):
        with pytest.raises(InputError):
            BoxFrame(*wrong)


LABELS = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20))
BOXES = st.tuples(*[st.integers(0, 1000)] * 4)


@QUICK
@given(st.lists(st.tuples(BOXES, LABELS), max_size=5), st.sampled_from(["", "json"]), st.booleans())
def test_any_answer_is_read_as_it_was_written(rows: Any, kind: str, indent: bool) -> None:
    data = [{"box_2d": list(box), "label": label} for box, label in rows]
    text = json.dumps(data, indent=2 if indent else None, ensure_ascii=indent)
    for answer in (text, f"Here:\n```{kind}\n{text}\n```\nThat is all."):
        found = read(answer, frame="gemini", size=(1000, 1000))
        assert found.labels == tuple(label for _, label in rows)
        for (y0, x0, y1, x1), box in zip((box for box, _ in rows), found.boxes, strict=True):
            assert box.tolist() == [*map(min, (x0, y0), (x1, y1)), *map(max, (x0, y0), (x1, y1))]
    program = detection_program(found)
    assert str(program).count("</perceptionprogram>") == 1
    assert len(type(program).from_text(str(program)).items) == len(rows)


@QUICK
@given(st.text(alphabet="[]{}\",:0123456789. truefalsn`\\\n'abox", max_size=60))
def test_no_text_does_anything_but_read_or_refuse(text: str) -> None:
    try:
        read(text, label="a")
    except InputError as error:
        assert str(error)
