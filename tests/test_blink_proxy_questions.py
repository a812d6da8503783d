"""Which requests are questions, of which task, and what is added to them; and the command."""

from __future__ import annotations

import base64
import io
import json
import signal
import struct
import subprocess
import sys
import urllib.request
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from blink_pictures import QUESTION, jigsaw_manifest
from blink_questions import lines
from marker_drawings import Style, draw_boxes
from perception_programs import DepthMap, Detections, InputError, PerceptionProgram
from perception_programs.blink import Tools, load
from perception_programs.blink.proxy import Programs, Recogniser
from perception_programs.blink.proxy._request import (
    ChatQuestion,
    PassThrough,
    read_question,
    split_options,
)
from perception_programs.cli import main
from perception_programs.experts.base import Card


def url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def png(pixels: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def body(text: str, *urls: str) -> bytes:
    parts: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": one, "detail": "low"}} for one in urls
    ]
    content = [*parts, {"type": "text", "text": text}]
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()


DOT = url(png(np.zeros((4, 4, 3), np.uint8)))


def question(text: str, pictures: int) -> ChatQuestion:
    return read_question(body(text, *[DOT] * pictures))


class Fixed:
    """An expert that always answers the same."""

    def __init__(self, modality: str, result: Any) -> None:
        self.card = Card(f"fixed-{modality}", modality, "numpy")
        self.result = result
        self.labels: list[str] = []

    def __call__(self, *images: Any, labels: Any = (), **options: Any) -> Any:
        self.labels += labels
        return self.result

    def batch(self, *images: Any, **options: Any) -> list[Any]:
        raise NotImplementedError


@pytest.mark.parametrize(
    "written", ["(A) one x\n(B) two\n(C) the rest", "A. one x\n B. two\nC. the rest\n\nAnswer:",
                "A) one x\nB: two  \n\tC: the rest"]
)  # fmt: skip
def test_options_as_suites_write_them(written: str) -> None:
    before, options = split_options(f"Which?\nSelect from the following choices.\n{written}\n")
    assert options == {"A": "one x", "B": "two", "C": "the rest"}
    assert before == "Which?\nSelect from the following choices.\n"


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("no options", "got none"),
        ("(A) only one", "got A"),
        ("(A) left (B) right", "got A"),
        ("(B) one\n(A) two", "got B, A"),
        ("(A) one\n(C) two", "got A, C"),
        ("(A) one\n(B) two\nAnswer: (B)\nNext?\n(A) x\n(B) y", "got A, B, A, B"),
        ("(A) B is closer\n(B) A is closer", "expected A to be its own, got 'B is closer'"),
        ("A. the third image\nB. the second image", "expected A to be its own"),
        ("A. image 3\nB. image 2", "expected A to be its own"),
    ],
)
def test_options_that_are_not_sure_are_none(written: str, why: str) -> None:
    with pytest.raises(PassThrough, match=why) as caught:
        split_options(f"Which?\n{written}")
    assert caught.value.kind == "options"


@given(
    st.lists(st.sampled_from(["(A) ", "B. ", "C: ", "x\n", "\n", " ", "A) ", "(D)y"]), max_size=12)
)
def test_options_are_never_guessed(pieces: list[str]) -> None:
    try:
        _, options = split_options("".join(pieces))
    except PassThrough:
        return
    assert list(options) == ["A", "B", "C", "D"][: len(options)] and len(options) >= 2
    assert all(text.strip() == text != "" for text in options.values())


@given(st.text(), st.integers(0, 3), st.floats(allow_nan=False, allow_infinity=False))
def test_only_the_text_is_new(words: str, first: int, number: float) -> None:
    content: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": DOT}}] * 2
    content.insert(first % 3, {"type": "text", "text": f"{words}\n?\n(A) x\n(B) y"})
    sent = {
        "n": number,
        "messages": [{"role": "user", "name": words, "content": content}],
        "é": [1],
    }
    try:
        asked = read_question(json.dumps(sent).encode())
    except PassThrough as why:
        assert why.kind == "options"  # the words have some of their own
        return
    edited = json.loads(asked.with_text(words))
    assert edited["messages"][0]["content"].pop(asked.after_pictures) == {
        "type": "text",
        "text": words,
    }
    assert edited == sent


def test_the_number_of_pictures_must_be_the_task_s() -> None:
    jigsaw = Recogniser.named("Jigsaw")
    assert jigsaw.recipe(question("Which?\n(A) x\n(B) y", 3)).task == "Jigsaw"
    with pytest.raises(PassThrough, match="images: expected 3 for Jigsaw, got 2"):
        jigsaw.recipe(question("Which?\n(A) x\n(B) y", 2))


@pytest.mark.parametrize("task", ["Counting", "Jigsw"])
def test_a_task_without_tools_is_refused(task: str) -> None:
    with pytest.raises(InputError, match="task: expected"):
        Recogniser.named(task)


def manifest(path: Path) -> Path:
    """Two tasks, with one question in common, in two forms."""
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "PNG")
    (path / "x.png").write_bytes(file.getvalue())
    common = {"images": ["x.png"], "answer": "A", "question": "Which  point is\ncloser?"}
    return lines(
        path / "questions.jsonl",
        {**common, "id": "1", "task": "Relative_Depth", "choices": ["A is closer", "B is closer"]},
        {**common, "id": "2", "task": "HardBLINK", "choices": ["Point A", "Point B"]},
        {**common, "id": "3", "task": "HardBLINK", "choices": ["A it is", "B it is"]},
        {**common, "id": "4", "task": "Relative_Depth", "choices": ["A it is", "B it is"]},
    )


def test_by_words_is_sure_or_says_no(tmp_path: Path) -> None:
    path = manifest(tmp_path)
    known = Recogniser.by_words([load(task, path) for task in ("Relative_Depth", "HardBLINK")])

    def task(text: str, pictures: int = 1) -> str:
        return known.recipe(question(text, pictures)).task

    closer = "(A) A is closer\n(B) B is closer"
    assert task(f"Hint: look. Which point is closer? Choose.\n{closer}") == "Relative_Depth"
    assert task("Which point is closer?\nA. Point A\nB. Point B") == "HardBLINK"
    for text, why in (
        (f"Which point is nearer?\n{closer}", "none"),
        (f"xWhich point is closer?\n{closer}", "none"),
        ("Which point is closer?\n(A) A\n(B) B", "none"),
        (f"Which point is closer?\n{closer}\n(C) neither", "none"),
        ("Which point is closer?\nA. A it is\nB. B it is", "HardBLINK and Relative_Depth"),
    ):
        with pytest.raises(PassThrough, match=f"words: .*{why}"):
            task(text)
    with pytest.raises(PassThrough, match="images"):
        task(f"Which point is closer?\n{closer}", 2)


def test_questions_and_prompts_of_the_benchmark_are_recognised(shared_data: Path) -> None:
    pytest.importorskip("pyarrow")
    tasks = [load(name, shared_data / "blink") for name in ("Jigsaw", "Relative_Depth")]
    known = Recogniser.by_words([*tasks, load("HardBLINK", shared_data / "hardblink")])
    for samples in tasks:
        sample = samples[0]
        options = "".join(f"\n({k}) {v}" for k, v in sample.options.items())
        for text in (sample.meta["prompt"], f"Question: {sample.question}\nOptions:{options}"):
            pre = "Note: You only need to respond with A, B.\n"
            assert known.recipe(question(pre + text, len(sample.images))).task == samples.task


def test_marks_on_the_pictures_of_the_benchmark_are_found(shared_data: Path) -> None:
    pytest.importorskip("pyarrow")
    samples = load("Relative_Depth", shared_data / "blink")
    ramp = DepthMap(np.tile(np.linspace(0, 1, 50), (50, 1)), kind="normalised")
    programs = Programs(Tools(Fixed("depth", ramp), cache=False))
    recognised = Recogniser.named("Relative_Depth")
    for sample in samples[:3]:
        depth = DepthMap(ramp.values, kind="normalised", size=sample.images[0].load().shape[1::-1])
        programs.tools.chosen["depth"].result = depth
        asked = read_question(body(sample.meta["prompt"], url(sample.images[0].source)))
        added = programs.add(recognised.recipe(asked), asked, "request 1")
        assert added.names == ("points", "depth")
        assert added.experts == ("markers", "fixed-depth")
        points, nearness = PerceptionProgram.all_from_text(added.text)
        assert [item.b for item in points.items] == ["A", "B"] and len(nearness.items) == 100
        assert added.text.endswith("which cell to read.\n\n")


def test_the_object_that_is_asked_for_is_read_from_the_question() -> None:
    rng = np.random.default_rng(3)
    drawn = draw_boxes(np.full((400, 500, 3), 90, np.uint8), 2, rng, Style(), "tag")
    found = Detections([[30, 60, 150, 200]], [0.9], ["motorcycle"], size=(500, 400))
    expert = Fixed("detection", found)
    text = (
        "Note: A or B.\nWhich bounding box more accurately localizes and encloses the motorcycle?\n"
        "Select from the following options.\n(A) Box A\n(B) Box B\n"
    )
    asked = read_question(body(text, url(png(drawn.image))))
    added = Programs(Tools(expert, cache=False), "compact", ["all"]).add(
        Recogniser.named("Object_Localization").recipe(asked), asked, "request 1"
    )
    assert expert.labels == ["motorcycle"]
    assert added.names == ("boxes", "detections") and "\ncompact: object-detection" in added.text


def huge() -> bytes:
    """A PNG whose header says 20,000 × 20,000."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")  # fmt: skip


@pytest.mark.parametrize(
    ("picture", "why"),
    [
        (url(huge()), "evidence: image 2: .*too large"),
        (url(png(np.zeros((40, 40, 3), np.uint8))[:60]), "evidence: image 2"),
        (url(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "evidence: image 2"),
        ("data:image/png;base64,not base64", "images: expected base64"),
    ],
)
def test_pictures_that_cannot_be_read_pass(picture: str, why: str) -> None:
    asked = read_question(body("Which?\n(A) x\n(B) y", DOT, picture, DOT))
    with pytest.raises(PassThrough, match=why):
        Programs(Tools(cache=False)).add(Recogniser.named("Jigsaw").recipe(asked), asked, "r")


@pytest.mark.parametrize(
    "address", ["http://x/y.png", "https://x/y.png", "file:///etc/passwd", "/etc/passwd",
                "data:image/png,abc", "data:text/plain;base64,YQ=="]
)  # fmt: skip
def test_nothing_is_fetched(address: str) -> None:
    with pytest.raises(PassThrough) as caught:
        read_question(body("Which?\n(A) x\n(B) y", address))
    assert caught.value.kind == "urls"


def test_the_style_and_the_cautions_are_checked() -> None:
    with pytest.raises(InputError, match="style: expected one of paper, compact, got 'json'"):
        Programs(Tools(), "json")
    with pytest.raises(InputError, match="cautions"):
        Programs(Tools(), "paper", ["none"])


def p2(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    status = main(["blink", "proxy", *argv])
    return status, capsys.readouterr().err


def test_wrong_arguments_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    server = ("--base-url", "http://localhost:1/v1")
    for argv, why in (
        ((*server,), "--task: expected one task, or --source"),
        ((*server, "--task", "paper"), "got paper"),
        ((*server, "--task", "Jigsaw", "--task", "HardBLINK"), "got Jigsaw HardBLINK"),
        ((*server, "--task", "IQ_Test"), "with tools"),
        ((*server, "--task", "Jigsaw", "--style", "json"), "style: expected"),
        ((*server, "--task", "Jigsaw", "--max-bytes", "0"), "max_bytes: expected"),
        ((*server, "--task", "Jigsaw", "--port", "99999"), "port: expected 0 to 65535"),
        (("--base-url", "localhost", "--task", "Jigsaw"), "base_url: expected"),
        (("--base-url", "http://me:pw@h/v1", "--task", "Jigsaw"), "keys come from the client"),
        ((*server, "--task", "Jigsaw", "--log", "no/such/folder"), "no/such/folder"),
    ):
        status, error = p2(capsys, *argv)
        assert status == 1 and why in error and "pw" not in error, argv


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_the_command_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    from flaky_server import FlakyServer

    manifest = jigsaw_manifest(tmp_path, 1)
    pictures = [url((tmp_path / f"0_{n}.png").read_bytes()) for n in (1, 2, 3)]
    log = tmp_path / "log.jsonl"
    with FlakyServer() as server:
        command = [sys.executable, "-m", "perception_programs.cli", "blink", "proxy"]
        command += ["--base-url", server.url, "--source", str(manifest), "--port", "0"]
        command += ["--log", str(log), "--no-cache", "--style", "compact"]
        with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as process:
            try:
                address = process.stdout.readline().strip()
                assert address.startswith("http://127.0.0.1:")
                text = f"{QUESTION}\n(A) the second image\n(B) the third image"
                for data in (body(text, *pictures), body("Who?", *pictures)):
                    request = urllib.request.Request(f"{address}/chat/completions", data)
                    with urllib.request.urlopen(request, timeout=60) as response:
                        assert json.load(response)["object"] == "chat.completion"
            finally:
                process.send_signal(signal.SIGINT)
                out, error = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert error == (
        "p2: 2 requests; with programs: 1 (Jigsaw 1); passed on as they came: 1 (options 1)\n"
    )
    assert len(log.read_text().splitlines()) == 3
