"""The room of language models without any provider: pictures to send, retries, scripts."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from perception_programs import InputError
from perception_programs.chat import (
    ChatError,
    ChatModel,
    Message,
    Reply,
    ScriptedModel,
    Text,
    ask,
    open_model,
)
from perception_programs.chat._images import encode_image

QUESTION = (Message("user", (Text("Which is nearer? (A) the cup (B) the door"),)),)


def photo(width: int, height: int) -> np.ndarray:
    """Noise: it has many colours and compresses badly."""
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


def drawing(width: int = 200, height: int = 100) -> np.ndarray:
    picture = np.full((height, width, 3), 255, np.uint8)
    picture[20:60, 40:42] = (200, 0, 0)
    return picture


def file_of(picture: np.ndarray, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, kind, **options)
    return file.getvalue()


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


# --- pictures ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "media"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_a_file_that_fits_is_sent_unchanged(tmp_path: Path, kind: str, media: str) -> None:
    data = file_of(photo(60, 40), kind)
    path = tmp_path / "picture.any"
    path.write_bytes(data)
    for source in (data, path, str(path), memoryview(data)):
        sent = encode_image(source)
        assert (sent.data, sent.media_type) == (data, media)
    assert sent.url.startswith(f"data:{media};base64,")


@pytest.mark.parametrize("form", ["bytes", "path"])
def test_a_turned_file_is_sent_upright(tmp_path: Path, form: str) -> None:
    left_red = np.zeros((20, 40, 3), np.uint8)
    left_red[:, :20, 0] = 255
    exif = Image.Exif()
    exif[0x0112] = 6
    data = file_of(left_red, "JPEG", exif=exif, quality=95)
    (tmp_path / "turned.jpg").write_bytes(data)
    sent = opened(encode_image(data if form == "bytes" else tmp_path / "turned.jpg").data)
    assert sent.size == (20, 40)
    assert sent.getexif().get(0x0112, 1) == 1
    assert sent.getpixel((10, 5))[0] > 200 and sent.getpixel((10, 35))[0] < 50


def test_other_files_become_rgb() -> None:
    clear = np.zeros((10, 10, 4), np.uint8)
    clear[..., 0] = 255  # red, and wholly transparent
    animation = io.BytesIO()
    frames = [Image.fromarray(drawing()), Image.fromarray(255 - drawing())]
    frames[0].save(animation, "PNG", save_all=True, append_images=frames[1:])
    deep = Image.fromarray(np.linspace(0, 65535, 256).astype("uint16").reshape(16, 16))
    deep_file = io.BytesIO()
    deep.save(deep_file, "PNG")
    for source in (file_of(clear, "PNG"), animation.getvalue(), deep_file.getvalue()):
        sent = opened(encode_image(source).data)
        assert (sent.mode, getattr(sent, "n_frames", 1)) == ("RGB", 1)
    assert opened(encode_image(file_of(clear, "PNG")).data).getpixel((0, 0)) == (255, 255, 255)


def test_drawings_stay_exact_and_photographs_become_jpegs() -> None:
    sharp = encode_image(drawing())
    assert sharp.media_type == "image/png"
    assert np.array_equal(np.asarray(opened(sharp.data)), drawing())
    soft = encode_image(photo(200, 100))
    assert soft.media_type == "image/jpeg"
    assert opened(soft.data).size == (200, 100)
    assert opened(soft.data).layer[0][1:3] == (1, 1)  # colours at full resolution


def test_the_long_side_only_scales_down() -> None:
    assert opened(encode_image(photo(300, 200), long_side=150).data).size == (150, 100)
    assert opened(encode_image(photo(30, 20), long_side=150).data).size == (30, 20)
    assert opened(encode_image(photo(3000, 2), long_side=100).data).size == (100, 1)
    assert opened(encode_image(file_of(photo(90, 60), "PNG"), long_side=45).data).size == (45, 30)
    data = file_of(photo(90, 60), "PNG")
    assert encode_image(data, long_side=90).data == data


def test_six_megabytes_are_brought_below_the_limit() -> None:
    data = file_of(photo(1250, 1250), "PNG", compress_level=1)
    limit = 5 * 1024**2
    assert 4 * len(data) / 3 > 6_000_000
    sent = encode_image(data)
    assert len(sent.url.partition(",")[2]) <= limit
    assert sent.media_type == "image/jpeg"
    small = encode_image(data, limit=100_000)
    assert 30_000 < len(small.url.partition(",")[2]) <= 100_000  # below it, and not far
    width, height = opened(small.data).size
    assert width == height < 1250


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    data = file_of(photo(200, 200), "JPEG")
    (tmp_path / "cut.jpg").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"cut\.jpg"):
        encode_image(tmp_path / "cut.jpg")
    with pytest.raises(InputError, match="no file"):
        encode_image(tmp_path / "none.png")
    with pytest.raises(InputError, match="no format"):
        encode_image(b"text")


# --- asking again -----------------------------------------------------------------------------


class Failing:
    """Raises the errors it was given, one a call, and then answers."""

    name = "failing"

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def settings(self) -> Mapping[str, Any]:
        return {}

    async def answer(self, messages: Sequence[Message]) -> Reply:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return Reply("(A)")

    async def close(self) -> None:
        pass


def asked(model: ChatModel, **options: Any) -> tuple[Reply, int, list[float]]:
    pytest.importorskip("tenacity")
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    reply, attempts = asyncio.run(ask(model, QUESTION, sleep=sleep, **options))
    return reply, attempts, waits


def busy(retry_after: float | None = None) -> ChatError:
    return ChatError("busy", transient=True, status=429, retry_after=retry_after)


def test_a_first_answer_is_one_attempt() -> None:
    assert asked(Failing()) == (Reply("(A)"), 1, [])


def test_transient_errors_are_waited_out_with_growing_bounds() -> None:
    bounds = [0.5, 1.0, 2.0, 4.0, 4.0]
    runs = [asked(Failing(*[busy() for _ in range(5)]), base=0.5, cap=4.0) for _ in range(200)]
    assert {attempts for _, attempts, _ in runs} == {6}
    waits = np.array([waits for _, _, waits in runs])
    assert (waits >= 0).all() and (waits <= bounds).all()
    assert (waits.max(axis=0) > 0.9 * np.array(bounds)).all()  # the whole range is used …
    assert (waits.min(axis=0) < 0.1 * np.array(bounds)).all()  # … down to nothing


def test_the_server_s_wish_is_heeded_up_to_the_cap() -> None:
    _, attempts, waits = asked(Failing(busy(7.0), busy(0.0), busy(99.0)), base=0.01, cap=30.0)
    assert attempts == 4
    assert waits[0] == 7.0 and waits[1] < 0.03 and waits[2] == 30.0


def test_the_last_error_says_how_often_it_was_asked() -> None:
    pytest.importorskip("tenacity")
    errors = [busy() for _ in range(3)]
    model = Failing(*errors)
    with pytest.raises(ChatError) as caught:
        asked(model, attempts=3)
    assert (caught.value, caught.value.attempts, model.calls) == (errors[-1], 3, 3)


def test_what_cannot_help_is_not_asked_again() -> None:
    pytest.importorskip("tenacity")
    for error in (ChatError("no such model", transient=False), InputError("image: no file")):
        model = Failing(busy(), error, busy())
        with pytest.raises(type(error)) as caught:
            asked(model)
        assert (caught.value, model.calls) == (error, 2)
    assert getattr(error, "attempts", None) is None
    with pytest.raises(InputError, match="attempts"):
        asked(Failing(), attempts=0)


# --- scripts ----------------------------------------------------------------------------------


def said(model: ChatModel, text: str = "?") -> str:
    return asyncio.run(model.answer((Message("user", (Text(text),)),))).text


def _shouts(messages: Sequence[Message]) -> str:
    return messages[-1].text.upper()


def _always(text: str) -> Callable[[Sequence[Message]], str]:
    return lambda _: text


def test_scripts_of_one_answer_of_several_and_of_a_function() -> None:
    one = ScriptedModel("(A)")
    assert isinstance(one, ChatModel)
    assert [said(one), said(one)] == ["(A)", "(A)"]
    several = ScriptedModel(["(A)", "(B)"])
    assert [said(several), said(several)] == ["(A)", "(B)"]
    with pytest.raises(ChatError, match="ends after 2") as caught:
        said(several)
    assert not caught.value.transient
    assert said(ScriptedModel(lambda messages: messages[-1].text.upper()), "a") == "A"
    reply = Reply("(C)", finish="length")
    assert asyncio.run(ScriptedModel(lambda _: reply).answer(QUESTION)) is reply
    assert ScriptedModel("(A)").settings() != ScriptedModel("(B)").settings()
    json.dumps(several.settings())
    late = ScriptedModel(lambda _: text)
    text = "(D)"
    assert said(late) == text
    assert ScriptedModel(_shouts).settings() == ScriptedModel(_shouts).settings()
    functions = (
        lambda _: "(A)",
        lambda _: "(B)",
        lambda _: said(one),
        *map(_always, ("(A)", "(B)")),
    )
    told = [ScriptedModel(function).settings()["script"] for function in functions]
    assert len(set(told)) == len(functions)
    assert told[3:] == [
        ScriptedModel(_always(text)).settings()["script"] for text in ("(A)", "(B)")
    ]
    for bad in ([], [1], 3):
        with pytest.raises((InputError, TypeError)):
            ScriptedModel(bad)  # type: ignore[arg-type]


def test_scripts_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    lines = [{"contains": "cup", "answer": "(A)\u2028so"}, {"contains": "", "answer": "(B)"}]
    path.write_text("\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines), "utf-8")
    model = open_model(f"scripted:{path}")
    assert said(model, "the cup?") == "(A)\u2028so" and said(model, "the door?") == "(B)"
    assert model.name == "scripted:script.jsonl"
    before = model.settings()
    path.write_text(json.dumps(lines[0]), "utf-8")
    assert open_model(f"scripted:{path}").settings() != before
    with pytest.raises(ChatError, match="no answer"):
        said(open_model(f"scripted:{path}"), "the door?")


@pytest.mark.parametrize(
    "line",
    [
        *("{", '{"contains": "a"}', '["a", "b"]', '{"contains":"","answer":1}'),
        *("[" * 100_000, "9" * 5_000, '{"contains": "", "answer": "x", "answer": "y"}'),
    ],
    ids=lambda line: line[:30],
)
def test_a_bad_line_of_a_script_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(f'{{"contains": "", "answer": "x"}}\n{line}\n')
    with pytest.raises(InputError, match=r"script\.jsonl:2"):
        open_model(f"scripted:{path}")
    with pytest.raises(InputError, match="no options"):
        open_model(f"scripted:{path}", temperature=0)
    with pytest.raises(InputError, match=r"^script: no file '.*none'$"):
        open_model(f"scripted:{tmp_path / 'none'}")
    with pytest.raises(InputError, match=r"expected a file, got a folder$"):
        open_model(f"scripted:{tmp_path}")


def test_importing_the_room_imports_no_model_library() -> None:
    code = (
        "import sys, perception_programs.chat; "
        "print([n for n in ('litellm', 'torch', 'transformers', 'tenacity', 'PIL') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
