"""Local language models: pictures and text go in as they should, answers come out and are counted."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perception_programs import InputError, MissingExtraError, WeightsError, depth_program

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from PIL import Image  # noqa: E402

from perception_programs.chat import _checkpoint, local  # noqa: E402
from perception_programs.chat.local import LocalModel  # noqa: E402
from perception_programs.chat.messages import Message, Picture, Text  # noqa: E402
from perception_programs.chat.model import ChatError, ChatModel, Reply  # noqa: E402
from toy_chat import toy_internvl, toy_qwen3_vl, toy_text_model  # noqa: E402

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)
PROGRAM = str(depth_program(np.linspace(0, 1, 64).reshape(8, 8).astype(np.float32), grid=(4, 4)))


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_qwen3_vl(tmp_path_factory.mktemp("chat") / "toy-qwen")


@pytest.fixture(scope="module")
def intern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_internvl(tmp_path_factory.mktemp("chat") / "toy-intern")


@pytest.fixture(scope="module")
def text_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_text_model(tmp_path_factory.mktemp("chat") / "toy-text")


@pytest.fixture(params=["qwen", "intern"])
def folder(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue(request.param)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], Any]]:
    """What each call of `generate` was given, and the ids that it gave."""
    found: list[tuple[dict[str, Any], Any]] = []
    generate = transformers.GenerationMixin.generate

    def spy(self: Any, *args: Any, **options: Any) -> Any:
        ids = generate(self, *args, **options)
        found.append((options, ids))
        return ids

    monkeypatch.setattr(transformers.GenerationMixin, "generate", spy)
    return found


def plain(colour: tuple[int, int, int], width: int, height: int) -> Picture:
    return Picture(np.full((height, width, 3), colour, np.uint8), f"{width}×{height}")


def user(*parts: Any) -> Message:
    return Message("user", tuple(Text(p) if isinstance(p, str) else p for p in parts))


def conversation(first: Picture, second: Picture) -> list[Message]:
    """A worked example, then a question with two pictures and a program between them."""
    return [
        Message("system", (Text("Read the programs."), Text("Be brief."))),
        user("Look at the example.", plain(GREEN, 32, 32)),
        Message("assistant", (Text("The answer is (A)."),)),
        user("First picture:", first, f"Depth:\n{PROGRAM}\nSecond:", second, "Which is closer?"),
    ]


QUESTION = conversation(plain(RED, 64, 32), plain(BLUE, 32, 96))


def ask(model: LocalModel, messages: Sequence[Message]) -> Reply:
    return asyncio.run(model.answer(messages))


def prompt_of(folder: Path, ids: Any) -> str:
    return transformers.AutoTokenizer.from_pretrained(folder).decode(ids)


def test_is_a_chat_model(folder: Path) -> None:
    model = LocalModel(folder)
    assert isinstance(model, ChatModel)
    assert model.name == folder.name


def test_prompt_holds_everything_in_order(folder: Path, calls: list[Any]) -> None:
    ask(LocalModel(folder, max_tokens=1), QUESTION)
    prompt = prompt_of(folder, calls[0][0]["input_ids"][0])
    mark = {"toy-qwen": "<|vision_start|>", "toy-intern": "<img>"}[folder.name]
    pieces = [
        "<|im_start|>system\nRead the programs.\n\nBe brief.<|im_end|>",
        "<|im_start|>user\nLook at the example.",
        mark,
        "<|im_start|>assistant\nThe answer is (A).<|im_end|>",
        "<|im_start|>user\nFirst picture:",
        mark,
        PROGRAM,
        mark,
        "Which is closer?<|im_end|>\n<|im_start|>assistant\n",
    ]
    at = 0
    for piece in pieces:
        found = prompt.find(piece, at)
        assert found >= at, piece
        at = found + len(piece)
    assert at == len(prompt)
    assert prompt.count(mark) == 3


def test_qwen_sees_the_pictures_in_order(qwen: Path, calls: list[Any]) -> None:
    ask(LocalModel(qwen, max_tokens=1), QUESTION)
    given = calls[0][0]
    assert given["image_grid_thw"].tolist() == [[1, 4, 4], [1, 4, 8], [1, 12, 4]]  # of 8 pixels
    tokens = given["input_ids"][0].tolist()
    pad = transformers.AutoTokenizer.from_pretrained(qwen).convert_tokens_to_ids("<|image_pad|>")
    assert tokens.count(pad) == (16 + 32 + 48) // 4
    patches = given["pixel_values"].reshape(-1, 3, 2 * 8 * 8).mean(-1)  # colours of each patch
    brightest = [part.mean(0).argmax().item() for part in patches.split([16, 32, 48])]
    assert brightest == [1, 0, 2]  # green, red, blue


def test_internvl_sees_the_pictures_in_order(intern: Path, calls: list[Any]) -> None:
    ask(LocalModel(intern, max_tokens=1), QUESTION)
    tiles = calls[0][0]["pixel_values"]
    # Of 2×1 and 1×3 tiles, each set followed by the whole picture.
    assert tiles.mean((2, 3)).argmax(1).tolist() == [1, *[0] * 3, *[2] * 4]
    prompt = prompt_of(intern, calls[0][0]["input_ids"][0])
    assert [part.count("<IMG_CONTEXT>") for part in prompt.split("<img>")] == [0, 4, 12, 16]


def test_pictures_of_one_turn_keep_their_places(folder: Path, calls: list[Any]) -> None:
    model = LocalModel(folder, max_tokens=4)
    pictures = [plain(RED, 32, 32), plain(GREEN, 32, 32), plain(BLUE, 32, 32)]
    for order in ([0, 1, 2], [2, 0, 1]):
        ask(model, [user(*(pictures[i] for i in order), "Which?")])
        values = calls[-1][0]["pixel_values"]
        colours = values.reshape(3, -1, 3, values[0].numel() // 3).mean((1, 3)).argmax(1)
        assert colours.tolist() == order


@pytest.mark.parametrize("form", ["file", "bytes", "pil", "array"])
def test_pictures_of_every_form_stand_upright(
    form: str, qwen: Path, tmp_path: Path, calls: list[Any]
) -> None:
    lying = Image.new("RGB", (64, 32))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90°
    buffer = BytesIO()
    lying.save(buffer, "JPEG", exif=exif)
    path = tmp_path / "lying.jpg"
    path.write_bytes(buffer.getvalue())
    forms: dict[str, Callable[[], Any]] = {
        "file": lambda: path,
        "bytes": buffer.getvalue,
        "pil": lambda: Image.open(path),
        "array": lambda: np.zeros((64, 32, 4), np.uint8),
    }
    ask(LocalModel(qwen, max_tokens=1), [user(Picture(forms[form]()), "Which?")])
    assert calls[0][0]["image_grid_thw"].tolist() == [[1, 8, 4]]


@pytest.mark.parametrize(
    ("long_side", "rows", "columns"), [(None, 16, 8), (200, 16, 8), (64, 8, 4), (32, 4, 2)]
)
def test_long_side(
    long_side: int | None, rows: int, columns: int, qwen: Path, calls: list[Any]
) -> None:
    model = LocalModel(qwen, max_tokens=1, long_side=long_side)
    ask(model, [user(plain(RED, 64, 128), "Which?")])
    assert calls[0][0]["image_grid_thw"].tolist() == [[1, rows, columns]]


def test_greedy_is_repeatable(folder: Path) -> None:
    model = LocalModel(folder, max_tokens=16)
    first = ask(model, QUESTION)
    torch.manual_seed(5)
    assert ask(model, QUESTION) == first
    assert ask(LocalModel(folder, max_tokens=16, temperature=0), QUESTION) == first
    assert len(first.text) > 0


def test_answers_depend_on_pictures_and_program(folder: Path) -> None:
    model = LocalModel(folder, max_tokens=16)
    noise = np.random.default_rng(0).integers(0, 256, (3, 96, 96, 3), np.uint8)
    assert len({ask(model, [user(Picture(picture), "Which?")]).text for picture in noise}) > 1
    other = [*QUESTION[:-1], user("Something else?")]
    assert ask(model, QUESTION).text != ask(model, other).text


def test_tokens_are_counted_from_the_ids(folder: Path, calls: list[Any]) -> None:
    reply = ask(LocalModel(folder, max_tokens=7), QUESTION)
    given, ids = calls[0]
    length = given["input_ids"].shape[1]
    assert reply.usage.prompt_tokens == length
    assert reply.usage.completion_tokens == ids.shape[1] - length == 7
    assert reply.usage.cost is None
    assert reply.finish == "length"
    assert reply.text == prompt_of(folder, ids[0, length:])


def test_stops_at_the_end_mark_and_leaves_it_out(
    folder: Path, tmp_path: Path, calls: list[Any]
) -> None:
    ask(LocalModel(folder, max_tokens=8), QUESTION)
    given, ids = calls[0]
    written = ids[0, given["input_ids"].shape[1] :].tolist()
    end = written[3]
    length = written.index(end) + 1
    copied = Path(shutil.copytree(folder, tmp_path / "ending"))
    edit(copied / "generation_config.json", eos_token_id=[end, written[0] + 1000])
    reply = ask(LocalModel(copied, max_tokens=8), QUESTION)
    assert reply.usage.completion_tokens == length
    assert reply.finish == "stop"
    assert calls[1][1][0, -1] == end
    # An end that falls on the last token allowed is still an end.
    assert ask(LocalModel(copied, max_tokens=length), QUESTION).finish == "stop"
    assert ask(LocalModel(copied, max_tokens=max(1, length - 1)), QUESTION).finish == (
        "length" if length > 1 else "stop"
    )


def test_special_tokens_are_left_out_and_thoughts_are_kept(
    text_only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = LocalModel(text_only)
    tokenizer = transformers.AutoTokenizer.from_pretrained(text_only)
    text = " <think>far</think>\n\nThe answer is (A). "
    tail = tokenizer.encode(text + "<|im_end|>", return_tensors="pt")

    def answer(self: Any, input_ids: Any, **_: Any) -> Any:
        return torch.cat([input_ids, tail], 1)

    monkeypatch.setattr(transformers.GenerationMixin, "generate", answer)
    reply = ask(model, [user("Which?")])
    assert reply.text == text
    assert reply.finish == "stop"
    assert reply.usage.completion_tokens == tail.shape[1]


def test_concurrent_answers_equal_serial_ones(folder: Path) -> None:
    model = LocalModel(folder, max_tokens=8, temperature=0.7)
    questions = [
        [user(f"Question {n}", plain(RED, 32 * (n % 3 + 1), 64), PROGRAM)] for n in range(6)
    ]

    async def together() -> list[Reply]:
        return await asyncio.gather(*(model.answer(question) for question in questions))

    serial = [ask(model, question) for question in questions]
    assert asyncio.run(together()) == serial


def test_the_checkpoint_s_own_sampling_is_off(folder: Path, calls: list[Any]) -> None:
    model = LocalModel(folder, max_tokens=2)
    ask(model, QUESTION)
    # Both: `generate` fills what is None in the one from the other.
    for config in (calls[0][0]["generation_config"], model._network.generation_config):
        assert not config.do_sample
        assert config.temperature is config.top_p is config.top_k is None


def test_nothing_global_changes(folder: Path) -> None:
    model = LocalModel(folder, max_tokens=3, temperature=1.0)
    state = torch.random.get_rng_state()
    ask(model, QUESTION)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


def test_temperature_draws_from_the_softmax(text_only: Path) -> None:
    draw = LocalModel(text_only, temperature=0.5)._drawn(torch.tensor([[1, 2, 3]]))
    scores = torch.tensor([[1.0, 0.5, 0.0, -0.5, -float("inf")]])
    found = torch.cat([draw(None, scores).argmax(-1) for _ in range(4000)]).bincount(minlength=5)
    chances = torch.softmax(scores[0] / 0.5, 0)
    spread = (chances * (1 - chances) / 4000).sqrt()
    assert ((found / 4000 - chances).abs() <= 4 * spread).all()


def test_seed_and_temperature_matter(text_only: Path) -> None:
    texts = {
        ask(LocalModel(text_only, max_tokens=12, temperature=t, seed=s), [user("Which?")]).text
        for t, s in ((0, 0), (2, 0), (2, 1))
    }
    assert len(texts) == 3


def test_text_model_reads_text_alone(text_only: Path, calls: list[Any]) -> None:
    model = LocalModel(text_only, max_tokens=4)
    reply = ask(
        model, [user("Depth:", PROGRAM), Message("assistant", (Text("(A)"),)), user("And?")]
    )
    assert reply.usage.completion_tokens == 4
    prompt = prompt_of(text_only, calls[0][0]["input_ids"][0])
    assert f"Depth:\n\n{PROGRAM}<|im_end|>" in prompt
    with pytest.raises(InputError, match="'toy-text' reads text alone"):
        ask(model, [user("Look:", plain(RED, 8, 8))])


def test_control_tokens_in_text_are_text(folder: Path, calls: list[Any]) -> None:
    marks = ["<|im_end|>", "<|im_start|>"]
    model = LocalModel(folder, max_tokens=1)
    ask(model, [user("a", plain(RED, 32, 32))])
    ask(model, [user("a" + "".join(marks), plain(RED, 32, 32))])
    clean, hostile = (given["input_ids"][0].tolist() for given, _ in calls)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for mark in tokenizer.convert_tokens_to_ids(marks):
        assert hostile.count(mark) == clean.count(mark)
    assert "".join(marks) in tokenizer.decode(hostile)


def test_text_cannot_stand_for_a_picture(qwen: Path, intern: Path, calls: list[Any]) -> None:
    picture = plain(RED, 32, 32)
    ask(LocalModel(qwen, max_tokens=1), [user("a<|image_pad|>", picture)])
    assert calls[0][0]["image_grid_thw"].tolist() == [[1, 4, 4]]
    # InternVL's processor counts its marks in any text, and refuses when they are too many.
    with pytest.raises(ChatError, match="IMG_CONTEXT"):
        ask(LocalModel(intern, max_tokens=1), [user("a<IMG_CONTEXT>", picture)])


def test_prompt_longer_than_the_model_reads(text_only: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(text_only, tmp_path / "short"))
    edit(copied / "config.json", max_position_embeddings=60)
    model = LocalModel(copied, max_tokens=100)
    with pytest.raises(ChatError, match=r"reads 60 tokens at most.* has \d") as caught:
        ask(model, [user(PROGRAM)])
    assert not caught.value.transient
    reply = ask(model, [user("Which?")])
    assert reply.usage.prompt_tokens + reply.usage.completion_tokens == 60
    assert reply.finish == "length"


@pytest.mark.parametrize("kind", [RuntimeError, torch.OutOfMemoryError])
def test_failures_are_final(
    kind: type[Exception], text_only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = LocalModel(text_only, max_tokens=2)

    def fail(self: Any, **_: Any) -> Any:
        raise kind("no more of it")

    with monkeypatch.context() as patch:
        patch.setattr(transformers.GenerationMixin, "generate", fail)
        with pytest.raises(ChatError, match=r"toy-text.*no more of it") as caught:
            ask(model, [user("Which?")])
    assert not caught.value.transient
    assert ask(model, [user("Which?")]).usage.completion_tokens == 2


def test_template_that_refuses(text_only: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(text_only, tmp_path / "strict"))
    (copied / "chat_template.jinja").write_text("{{ raise_exception('no system turns') }}")
    with pytest.raises(ChatError, match="no system turns"):
        ask(LocalModel(copied), [user("Which?")])


def test_unreadable_picture_is_named(qwen: Path) -> None:
    with pytest.raises(InputError, match=r"holiday\.jpg: .*no format"):
        ask(LocalModel(qwen), [user(Picture(b"no picture", "holiday.jpg"))])


def test_abandoned_answer_stops(text_only: Path) -> None:
    model = LocalModel(text_only, max_tokens=8000)

    async def impatient() -> Reply:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(model.answer([user("Which?")]), 0.2)
        model._max_tokens = 1
        return await model.answer([user("Which?")])

    start = time.perf_counter()
    assert asyncio.run(impatient()).usage.completion_tokens == 1
    assert time.perf_counter() - start < 5


def test_closed(text_only: Path) -> None:
    model = LocalModel(text_only)
    asyncio.run(model.close())
    asyncio.run(model.close())
    with pytest.raises(ChatError, match="closed"):
        ask(model, [user("Which?")])


def test_settings_tell_what_decides_answers(text_only: Path, tmp_path: Path) -> None:
    settings = LocalModel(text_only, max_tokens=5, long_side=64).settings()
    assert settings == {
        "kind": "local",
        "place": "local:toy-text",
        "digest": settings["digest"],
        "dtype": "float32",
        "max_tokens": 5,
        "temperature": None,
        "seed": None,
        "long_side": 64,
        "transformers": transformers.__version__,
    }
    assert json.loads(json.dumps(settings)) == settings
    moved = Path(shutil.copytree(text_only, tmp_path / "toy-text"))
    assert LocalModel(moved, max_tokens=5, long_side=64).settings() == settings
    sampled = LocalModel(moved, temperature=0.5, seed=3, dtype="bfloat16").settings()
    assert (sampled["temperature"], sampled["seed"], sampled["dtype"]) == (0.5, 3, "bfloat16")


@pytest.mark.parametrize("whole", [True, False])
def test_digest_tells_weights_apart(
    whole: bool, text_only: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not whole:
        monkeypatch.setattr(_checkpoint, "_WHOLE", 0)
        monkeypatch.setattr(_checkpoint, "_SAMPLE", 16)
    before = LocalModel(text_only).settings()["digest"]
    copied = Path(shutil.copytree(text_only, tmp_path / "toy-text"))
    assert LocalModel(copied).settings()["digest"] == before
    (copied / "README.md").write_text("of no concern")
    assert LocalModel(copied).settings()["digest"] == before
    weights = copied / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert LocalModel(copied).settings()["digest"] != before


def test_half_precision_answers(folder: Path, calls: list[Any]) -> None:
    reply = ask(LocalModel(folder, dtype="bfloat16", max_tokens=2), QUESTION)
    assert reply.usage.completion_tokens == 2
    assert calls[0][0]["pixel_values"].dtype == torch.bfloat16
    assert calls[0][0]["input_ids"].dtype == torch.int64


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 0}, "max_tokens: expected an integer of at least 1"),
        ({"long_side": 2.5}, "long_side: expected an integer"),
        ({"temperature": -1}, "temperature: expected 0 or more"),
        ({"temperature": float("nan")}, "temperature: expected a finite number"),
        ({"seed": "x"}, "seed: expected a number"),
        ({"device": "tpu"}, "device: expected auto"),
        ({"dtype": "int8"}, "dtype: expected auto"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str, text_only: Path) -> None:
    with pytest.raises(InputError, match=message):
        LocalModel(text_only, **options)


@pytest.mark.parametrize("place", ["", "no such folder", "./nowhere/at/all", "gpt-5", 7])
def test_bad_places(place: Any) -> None:
    with pytest.raises(InputError, match="model: expected a folder or a name on the hub"):
        LocalModel(place)


def test_model_without_a_chat_template(text_only: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(text_only, tmp_path / "base"))
    (copied / "chat_template.jinja").unlink()
    with pytest.raises(InputError, match="expected one with a chat template, 'base' has none"):
        LocalModel(copied)


@pytest.mark.parametrize("lost", ["config.json", "model.safetensors", "tokenizer.json"])
def test_folder_that_lacks_a_file(lost: str, text_only: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(text_only, tmp_path / "part"))
    (copied / lost).unlink()
    start = time.perf_counter()
    with pytest.raises(WeightsError, match=r"cannot be loaded.*give the folder"):
        LocalModel(copied)
    assert time.perf_counter() - start < 5


def test_weights_that_do_not_fit(text_only: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(text_only, tmp_path / "grown"))
    edit(copied / "config.json", num_hidden_layers=4, layer_types=["full_attention"] * 4)
    with pytest.raises(WeightsError, match="tensors are missing"):
        LocalModel(copied)


def test_hub_out_of_reach(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # where nobody listens
    start = time.perf_counter()
    with pytest.raises(WeightsError, match=r"nobody/nothing.*127\.0\.0\.1:9 cannot be reached"):
        LocalModel("nobody/nothing")
    assert time.perf_counter() - start < 5
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(WeightsError, match="HF_HUB_OFFLINE is set"):
        LocalModel("nobody/nothing")


def test_cached_model_asks_no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    repository = tmp_path / "models--some--model"
    snapshot = repository / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    shards = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (snapshot / "model.safetensors.index.json").write_text(json.dumps(shards))
    (snapshot / "model-1.safetensors").touch()
    with pytest.raises(WeightsError):  # a download that was cut is none
        _checkpoint.locate("some/model")
    (snapshot / "model-2.safetensors").touch()
    source = _checkpoint.locate("some/model")
    assert source.local
    assert _checkpoint.identity(source) == {"place": "some/model", "revision": "abc"}


def test_missing_extra(text_only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'perception-programs\[models\]'"):
        LocalModel(text_only)


def edit(file: Path, **values: Any) -> None:
    data = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**data, **values}), encoding="utf-8")
