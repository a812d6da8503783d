"""Prompts: to the byte, the same layout in every setting, and text of others never read as ours."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception_programs import InputError, PerceptionProgram
from perception_programs.chat import Message, Picture, Text
from perception_programs.prompts import (
    CAUTIONS,
    GUIDANCE,
    SETTINGS,
    Example,
    Question,
    Setting,
    build,
    digest,
    layout,
    rationale_request,
    render,
    wording,
)
from perception_programs.text.compact import places
from sample_prompts import FOLDER, TASKS, example, prompts, question, snapshot

PROMPTS = prompts()
NAMES = sorted(PROMPTS)
OPTIONS = {"A": "the cup", "B": "the wall"}


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [part.text for message in messages for part in message.parts if isinstance(part, Text)]


def kinds(messages: tuple[Message, ...]) -> set[str]:
    return {p.kind for m in messages for p in m.parts if isinstance(p, Text)}


def asked(**changes: Any) -> Question:
    return Question(**{"text": "Which is nearer?", "options": OPTIONS, **changes})


# --- to the byte ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_prompt_is_the_snapshot(name: str) -> None:
    assert (render(PROMPTS[name]) + "\n").encode() == snapshot(name).read_bytes()


def test_every_task_and_setting_has_snapshots() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {snapshot(name).name for name in NAMES}
    assert set(TASKS) == set(GUIDANCE)
    for task in TASKS:
        for setting in SETTINGS:
            assert {f"{task}.{setting}", f"{task}.{setting}.one-shot"} <= set(NAMES)


# --- layout --------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("task", TASKS)
def test_settings_differ_in_the_evidence_alone(task: str, setting: str) -> None:
    """Without its evidence every prompt is the standard one, part by part."""
    (standard,) = build(question(task), "standard")
    (message,) = build(question(task), setting)
    plain = [_shown(part) for part in standard.parts]
    shown = [_shown(part) for part in message.parts]
    count = len(shown) - len(plain)
    images = 1 + 2 * len(question(task).images)
    assert shown[:images] + shown[images + count :] == plain
    assert (count == 0) == (setting == "standard")


def _shown(part: Text | Picture) -> object:
    return part if isinstance(part, Text) else part.name


def test_each_picture_follows_its_line() -> None:
    made = question("jigsaw")
    (message,) = build(made, "tool")
    before = {}
    for line, part in zip(message.parts, message.parts[1:], strict=False):
        if isinstance(part, Picture):
            before[part.name] = line.text
    assert before == {
        "image-1.png": "Image 1:",
        "image-2.png": "Image 2:",
        "image-3.png": "Image 3:",
        "tool-1.png": "Tool picture 1: Image 1 completed with candidate A",
        "tool-2.png": "Tool picture 2: Image 1 completed with candidate B",
    }


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("setting", ["p2", "p2-compact"])
def test_programs_can_be_read_back(task: str, setting: str) -> None:
    made = question(task)
    (message,) = build(made, setting)
    read = PerceptionProgram.all_from_text(message.text)
    kept = {"p2": lambda _: None, "p2-compact": places}[setting]
    assert read == [program.rounded(places=kept(program)) for _, program in made.programs]
    blocks = [p.text for p in message.parts if isinstance(p, Text) and p.kind == "program"]
    assert [text.splitlines()[0] for text in blocks] == [title for title, _ in made.programs]


@pytest.mark.parametrize("task", TASKS)
def test_only_a_prompt_with_programs_says_how_to_read_them(task: str) -> None:
    guidance = wording.fill(f"guidance-{task}")
    assert guidance in texts(build(question(task), "p2"))
    assert guidance in texts(build(question(task), "p2-compact"))
    for setting in ("standard", "tool"):
        made = build(question(task), setting)
        assert guidance not in texts(made)
        assert "program" not in kinds(made)
        assert "<perceptionprogram>" not in render(made)


def test_the_question_comes_last_and_says_how_to_answer() -> None:
    for setting in SETTINGS:
        *_, asks, how = texts(
            build(
                asked(
                    programs=question("depth").programs,
                    tool_pictures=question("depth").tool_pictures,
                ),
                setting,
            )
        )
        assert asks == "Question: Which is nearer?\n(A) the cup\n(B) the wall"
        assert how.endswith("\nAnswer: (X)")
        assert "letters A, B:" in how


def test_text_only() -> None:
    made = build(question("depth", seen=False), "p2")
    assert not any(message.pictures for message in made)
    assert "not shown" in made[0].text
    assert "Image 1:" not in made[0].text


def test_a_style_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {**SETTINGS, "p2-json": Setting(style="json")}
    monkeypatch.setattr(layout, "SETTINGS", more)
    made = build(question("depth"), "p2-json")
    assert '"modality": "depth"' in made[0].text
    assert PerceptionProgram.all_from_text(made[0].text)


# --- examples and cautions -----------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
def test_example_is_two_turns_before(setting: str) -> None:
    plain = build(question("semantic"), setting)
    made = build(question("semantic"), setting, example=example("semantic"))
    assert [message.role for message in made] == ["user", "assistant", "user"]
    assert kinds(made[:2]) == {"example"}
    assert made[1].text == "The evidence is for B.\nAnswer: (B)"
    assert [p.name for p in made[0].pictures][:1] == ["example-image-1.png"]
    # The example has the layout of the question; the question is as it is without an example.
    names = [
        re.sub("^example-", "", p.name) if isinstance(p, Picture) else p.text for p in made[0].parts
    ]
    assert names == [p.name if isinstance(p, Picture) else p.text for p in plain[0].parts]
    assert texts(made[2:])[1:] == texts(plain)


@pytest.mark.parametrize(
    "rationale",
    [
        "B",
        "Answer: B",
        "Answer: (B).",
        "Answer: (B)\nI am sure.",
        "So the Answer: (B)",
        "Answer: (C)",
    ],
)
def test_example_ends_with_its_answer(rationale: str) -> None:
    with pytest.raises(InputError, match="rationale: expected"):
        Example(asked(), rationale)


def test_rationale_is_trimmed() -> None:
    assert Example(asked(), "\nReason.\r\nAnswer: (B)\n ").rationale == "Reason.\nAnswer: (B)"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("shot", [False, True])
def test_only_cautions_that_apply(task: str, setting: str, shot: bool) -> None:
    expected = {"example"} if shot else set()
    expected |= {"direction"} if task == "multi-view" else set()
    if SETTINGS[setting].style and task in ("depth", "semantic", "correspondence"):
        expected.add(task)
    last = build(
        question(task), setting, cautions=("all",), example=example(task) if shot else None
    )[-1].text
    assert {name for name in CAUTIONS if wording.fill(f"caution-{name}") in last} == expected
    assert ("Take care:" in last) == bool(expected)


def test_named_cautions() -> None:
    made = build(question("depth"), "p2", cautions=["depth", "semantic", "depth"])
    assert made[0].text.count(wording.fill("caution-depth")) == 1
    assert wording.fill("caution-semantic") not in made[0].text
    assert "Take care:" not in build(question("depth"), "p2")[0].text


@pytest.mark.parametrize("cautions", [["dept"], ["all", "nothing"], "depth", None, [["depth"]]])
def test_unknown_cautions(cautions: Any) -> None:
    with pytest.raises(
        InputError, match="example, direction, depth, semantic, correspondence, all"
    ):
        build(question("depth"), "p2", cautions=cautions)


def test_rationale_request() -> None:
    made = rationale_request(question("jigsaw"), "p2", "B")
    (plain,) = build(question("jigsaw"), "p2")
    assert made[0].parts[-1].text.endswith("\nAnswer: (B)")
    assert texts(made)[:-1] == texts((plain,))[:-1]
    assert "(X)" not in made[0].text
    with pytest.raises(InputError, match="answer: expected one of A, B, got"):
        rationale_request(question("jigsaw"), "p2", "C")


# --- what is not ours ----------------------------------------------------------------------------


def test_text_of_others_is_data() -> None:
    hostile = asked(
        text="Cost: $price ${answer} $$?\nSecond line",
        options={"A": "one\n(B) two", "B": "$letters\t\u2028x"},
        programs=[("$title\nline", question("depth").programs[1][1])],
        tool_pictures=[("a $caption\nline", Picture(b"", "new\nline.png"))],
    )
    text = render(build(hostile, "p2"))
    assert (
        "Question: Cost: $price ${answer} $$?\nSecond line\n(A) one (B) two\n(B) $letters x\n"
        in text
    )
    assert "\n$title line\n<perceptionprogram>" in text
    tool = render(build(hostile, "tool"))
    assert "Tool picture 1: a $caption line\n\n[image: new line.png]" in tool


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_any_text_passes(text: str, option: str) -> None:
    made = build(asked(text=text, options={"A": option, "B": "other"}), "standard")
    *_, asks, _ = texts(made)
    assert asks.startswith(f"Question: {text.strip()}\n(A) ")
    assert asks.endswith("\n(B) other")
    assert asks.removeprefix(f"Question: {text.strip()}").count("\n(") == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": " "}, "text: expected text"),
        ({"text": None}, "text: expected text"),
        ({"options": {"A": "one"}}, "options: expected two or more"),
        ({"options": ["one", "two"]}, "options: expected two or more"),
        ({"options": {"a": "one", "b": "two"}}, "options: expected letters A to Z"),
        ({"options": {"A": "one", "B": ""}}, "option B: expected text"),
        ({"images": "a.png"}, "images: expected a series"),
        ({"images": ["a.png"]}, "images: expected Picture"),
        ({"programs": ["text"]}, "programs: expected pairs"),
        ({"programs": [("title", "text")]}, "programs: expected PerceptionProgram"),
        ({"tool_pictures": [("", Picture(b""))]}, "tool_pictures: expected text"),
        ({"guidance": "depht"}, "guidance: expected one of .*depth.*, got str 'depht'"),
    ],
)
def test_bad_questions(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        asked(**changes)


def test_bad_calls() -> None:
    with pytest.raises(
        InputError, match="setting: expected one of standard, tool, p2, p2-compact, got str 'p3'"
    ):
        build(asked(), "p3")
    with pytest.raises(InputError, match="tool_pictures: the setting tool needs at least one"):
        build(asked(), "tool")
    with pytest.raises(InputError, match="programs: the setting p2 needs at least one"):
        build(asked(), "p2")
    with pytest.raises(InputError, match="programs: the setting p2 needs at least one"):
        build(question("depth"), "p2", example=Example(asked(), "Answer: (A)"))
    with pytest.raises(InputError, match="question: expected Question, got"):
        build("Which is nearer?", "p2")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="example: expected Example, got"):
        build(asked(), "standard", example="Answer: (A)")  # type: ignore[arg-type]


# --- templates -----------------------------------------------------------------------------------


def test_cautions_and_guidance_have_templates() -> None:
    assert set(wording.names("caution-")) == set(CAUTIONS)
    for caution in CAUTIONS.values():
        assert caution.guidance is None or caution.guidance <= set(GUIDANCE)


def test_digest_is_of_names_and_bytes() -> None:
    folder = resources.files("perception_programs.prompts") / "templates"
    files = sorted(folder.iterdir(), key=lambda f: f.name.removesuffix(".txt"))
    assert len(files) > 20 and all(f.name.endswith(".txt") for f in files)
    total = hashlib.sha256()
    for file in files:
        data = file.read_bytes()
        total.update(f"{file.name.removesuffix('.txt')}\n{len(data)}\n".encode() + data)
    assert digest() == total.hexdigest()


def test_a_record_holds_the_prompt() -> None:
    (message,) = build(question("depth"), "tool")
    parts = message.to_dict()["parts"]
    assert {"picture": "image-1.png"} in parts
    assert {"text": "Image 1:", "kind": "question"} in parts


def test_the_prompt_on_the_page_is_real(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parent.parent / "docs" / "prompts.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert code is not None
    exec(code[1], {})
    assert f"```text\n{capsys.readouterr().out}```" in page
