"""Models through LiteLLM, against a server that fails in every way it can."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
import os
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import pytest
from PIL import Image

# Else it asks the network for prices, and says that it cannot while some other test listens.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
pytest.importorskip("litellm")
pytest.importorskip("aiohttp")
pytest.importorskip("tenacity")

from flaky_server import FAULTS, FlakyServer, answer_to, served
from perception_programs import InputError, MissingExtraError
from perception_programs.chat import (
    ChatError,
    ChatModel,
    LiteLLMModel,
    Message,
    Picture,
    Reply,
    Text,
    ask,
    estimate_cost,
    litellm_model,
    open_model,
)

Result = TypeVar("Result")

# As LiteLLMModel has them, where pytest has its own list of filters.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Items? .* on TypedDict class:UserWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]

TEXT = "Which is nearer?\n(A) the cup\n(B) the door"
QUESTION = (Message("system", (Text("Be brief."),)), Message("user", (Text(TEXT),)))
EXPECTED = answer_to([{"role": "user", "content": TEXT}])


@pytest.fixture(scope="module")
def server() -> Iterator[FlakyServer]:
    with FlakyServer() as running:
        yield running


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def run(model: ChatModel, work: Callable[[], Awaitable[Result]]) -> Result:
    async def main() -> Result:
        try:
            return await work()
        finally:
            await model.close()
            await model.close()

    return asyncio.run(main())


def answered(model: ChatModel, messages: tuple[Message, ...] = QUESTION) -> Reply:
    return run(model, lambda: model.answer(messages))


def error_of(server: FlakyServer, fault: str, name: str = "toy", **options: Any) -> ChatError:
    server.plan = [fault]
    with pytest.raises(ChatError) as caught:
        answered(LiteLLMModel(name, base_url=server.url, **options))
    assert server.plan == []
    return caught.value


@pytest.mark.parametrize("name", ["toy", "openai/toy"])
def test_a_reply_of_another_form_is_told_in_our_words(server: FlakyServer, name: str) -> None:
    error = error_of(server, "parts", name)
    assert str(error) == (
        "the server's reply is not as OpenAI's protocol has it: content: expected a valid string, got list"
    )
    assert error.broken and not error.transient  # it would be the same for every question


# --- answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["toy", "openai/toy", "hosted_vllm/toy"])
def test_an_answer_and_what_it_took(server: FlakyServer, name: str) -> None:
    model = LiteLLMModel(name, base_url=server.url)
    assert isinstance(model, ChatModel) and model.name == name
    reply = answered(model)
    assert (reply.text, reply.model, reply.finish) == (EXPECTED, "toy-2026-01-01", "stop")
    usage = reply.usage
    assert usage.prompt_tokens and usage.completion_tokens
    assert (usage.reasoning_tokens, usage.cost) == (7, None)
    body = server.last["body"]
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": TEXT},
    ]
    assert (body["model"], body["max_tokens"]) == ("toy", 8192)
    assert not {"temperature", "seed", "stream"} & {k for k, v in body.items() if v}


def test_options_reach_the_server(server: FlakyServer) -> None:
    options = {"temperature": 0.5, "seed": 3, "max_tokens": 11, "extra": {"top_p": 0.9}}
    answered(LiteLLMModel("toy", base_url=server.url, api_key="sk-1", **options))
    body = server.last["body"]
    assert [body[name] for name in ("temperature", "seed", "max_tokens", "top_p")] == [
        0.5,
        3,
        11,
        0.9,
    ]
    assert server.last["headers"]["Authorization"] == "Bearer sk-1"


def test_a_model_with_a_price_has_a_cost(server: FlakyServer) -> None:
    reply = answered(LiteLLMModel("gpt-4o-mini", base_url=server.url, api_key="sk-1"))
    usage = reply.usage
    assert usage.prompt_tokens and usage.completion_tokens and usage.cost
    assert usage.cost == pytest.approx(
        estimate_cost("gpt-4o-mini", usage.prompt_tokens, usage.completion_tokens)
    )
    assert estimate_cost("toy", 1, 1) is None
    assert estimate_cost("hosted_vllm/toy", 1, 1) is None


def test_settings_hold_what_decides_the_answers_and_no_secret() -> None:
    model = LiteLLMModel(
        "toy",
        base_url="http://user:pa55@127.0.0.1:1/v1?key=qu3ry",
        api_key="sk-secret",
        temperature=0.0,
        extra={"reasoning_effort": "low", "extra_headers": {"X-Key": "h3ader"}},
    )
    text = json.dumps(model.settings())
    for secret in ("sk-secret", "pa55", "qu3ry", "h3ader"):
        assert secret not in text
    settings = model.settings()
    assert settings["model"] == "toy"
    assert settings["base_url"].startswith("http://127.0.0.1:1/v1?key&sha256:")
    urls = [f"http://127.0.0.1:1/v1{query}" for query in ("", "?key=a", "?key=b", "?kez=a")]
    found = [LiteLLMModel("toy", base_url=url).settings()["base_url"] for url in urls]
    assert len(set(found)) == 4 and found[0] == urls[0]
    assert settings["extra"] == {"reasoning_effort": "low", "extra_headers": ["X-Key"]}
    assert settings["temperature"] == 0.0 and settings["max_tokens"] == 8192


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": float("nan")}, "temperature: expected a finite number, got nan"),
        ({"temperature": float("inf")}, "temperature: expected a finite number, got inf"),
        ({"temperature": -0.5}, "temperature: expected 0 or more, got -0.5"),
        (
            {"base_url": "http://[bad"},
            "base_url: expected an address such as http://localhost:8000/v1",
        ),
        ({"base_url": "localhost:8000"}, "base_url: expected an address"),
        ({"base_url": "http://a:99999/v1"}, "base_url: expected an address"),
        ({"base_url": "http://"}, "base_url: expected an address"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        LiteLLMModel("toy", **{"base_url": "http://127.0.0.1:1/v1", **options})


def test_an_address_that_is_none_keeps_its_secrets() -> None:
    with pytest.raises(InputError) as caught:
        LiteLLMModel("toy", base_url="http://me:pa55@[bad?key=qu3ry")
    assert not any(secret in str(caught.value) for secret in ("pa55", "qu3ry"))


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch, server: FlakyServer) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(
        InputError, match="variable OPENAI_API_KEY, which is not set; see docs/models"
    ):
        LiteLLMModel("openai/gpt-5-mini").check_key()
    with pytest.raises(InputError, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
        LiteLLMModel("gemini/gemini-2.5-flash").check_key()
    LiteLLMModel("openai/gpt-5-mini", api_key="sk").check_key()
    LiteLLMModel("openai/toy", base_url=server.url).check_key()
    LiteLLMModel("ollama/toy").check_key()  # needs none, whatever LiteLLM lacks
    with pytest.raises(ChatError, match="OPENAI_API_KEY, which is not set") as caught:
        asyncio.run(LiteLLMModel("openai/gpt-5-mini").answer(QUESTION))
    assert caught.value.status == 401 and not caught.value.transient
    monkeypatch.setenv("OPENAI_API_KEY", "sk")
    LiteLLMModel("openai/gpt-5-mini").check_key()


# --- pictures ---------------------------------------------------------------------------------


def sent_pictures(server: FlakyServer) -> list[Image.Image]:
    content = server.last["body"]["messages"][-1]["content"]
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    heads, tails = zip(*(url.split(",") for url in urls), strict=True)
    assert set(heads) <= {"data:image/png;base64", "data:image/jpeg;base64"}
    return [Image.open(io.BytesIO(base64.b64decode(tail, validate=True))) for tail in tails]


def test_pictures_are_data_urls_between_the_texts(server: FlakyServer) -> None:
    first, second = (
        Picture(np.zeros((20, 40, 3), np.uint8)),
        Picture(np.full((8, 8), 255, np.uint8)),
    )
    parts = (Text("one"), Text("two", "program"), first, second, Text(TEXT))
    reply = answered(LiteLLMModel("toy", base_url=server.url), (Message("user", parts),))
    content = server.last["body"]["messages"][-1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "image_url", "text"]
    assert (content[0]["text"], content[3]["text"]) == ("one\n\ntwo", TEXT)
    assert [picture.size for picture in sent_pictures(server)] == [(40, 20), (8, 8)]
    assert reply.text == answer_to([{"content": f"one\n\ntwo\n{TEXT}"}])


def test_large_pictures_are_sent_within_the_limits(server: FlakyServer) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (1250, 1250, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "PNG", compress_level=1)
    message = (Message("user", (Picture(file.getvalue()), Text(TEXT))),)
    answered(LiteLLMModel("toy", base_url=server.url, image_bytes=300_000), message)
    url = server.last["body"]["messages"][-1]["content"][0]["image_url"]["url"]
    assert len(url.partition(",")[2]) <= 300_000
    answered(LiteLLMModel("toy", base_url=server.url, long_side=336), message)
    assert sent_pictures(server)[0].size == (336, 336)


def test_a_picture_is_encoded_once(server: FlakyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []
    original = litellm_model.encode_image
    monkeypatch.setattr(
        litellm_model, "encode_image", lambda *a, **k: encoded.append(a) or original(*a, **k)
    )
    model = LiteLLMModel("toy", base_url=server.url)
    picture = Picture(np.zeros((20, 40, 3), np.uint8))
    message = (Message("user", (picture, picture, Text(TEXT))),)

    async def twice() -> None:
        await model.answer(message)
        await model.answer(message)

    run(model, twice)
    assert len(encoded) == 1 and len(sent_pictures(server)) == 2
    assert len(model._urls) == 1
    picture = message = None  # type: ignore[assignment]
    assert len(model._urls) == 0  # nothing is kept of a picture that is gone


def test_an_unreadable_picture_is_the_caller_s_error(server: FlakyServer) -> None:
    with pytest.raises(InputError, match="no file"):
        answered(
            LiteLLMModel("toy", base_url=server.url),
            (Message("user", (Picture("none.png"), Text(TEXT))),),
        )


# --- faults -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["toy", "openai/toy"])
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("429", 429),
        ("429-date", 429),
        ("500", 500),
        ("503", 503),
        ("drop", None),
        ("drop-body", None),
        ("malformed", None),
        ("no-choices", None),
        ("no-message", None),
    ],
)
def test_faults_that_pass(server: FlakyServer, name: str, fault: str, status: int | None) -> None:
    error = error_of(server, fault, name)
    assert error.transient
    assert status is None or error.status == status
    if fault in ("429", "503"):
        assert error.retry_after == 0.05
    elif fault == "429-date":
        assert error.retry_after is not None and 0 <= error.retry_after <= 1
    else:
        assert error.retry_after is None


@pytest.mark.parametrize("name", ["toy", "openai/toy"])
@pytest.mark.parametrize("fault", ["400", "401", "404"])
def test_faults_that_stay(server: FlakyServer, name: str, fault: str) -> None:
    error = error_of(server, fault, name)
    assert (error.transient, error.status) == (False, int(fault))
    assert f"fault {fault}" in str(error)


@pytest.mark.parametrize("name", ["toy", "openai/toy"])
def test_odd_answers_that_are_answers(server: FlakyServer, name: str) -> None:
    server.plan = ["null-content", "slow-body"]
    assert answered(LiteLLMModel(name, base_url=server.url)).text == ""
    assert answered(LiteLLMModel(name, base_url=server.url)).text == EXPECTED


def test_content_in_pieces_and_answers_cut_short_and_silence_about_usage() -> None:
    from litellm import ModelResponse

    model = LiteLLMModel("toy", base_url="http://127.0.0.1:1/v1")
    choice = {"finish_reason": "length", "message": {"role": "assistant", "content": "half an"}}
    response = ModelResponse(choices=[choice], model="m")
    assert model._reply(response) == Reply("half an", model="m", finish="length")
    pieces = [{"type": "thinking", "text": "x"}, {"type": "text", "text": "(A)"}]
    assert litellm_model._visible(pieces) == "(A)"


def test_a_server_that_is_not_there_and_one_that_is_slow() -> None:
    with pytest.raises(ChatError) as caught:
        answered(LiteLLMModel("toy", base_url="http://127.0.0.1:9/v1"))
    assert caught.value.transient and caught.value.unreachable
    assert str(caught.value).startswith("nobody answers at http://127.0.0.1:9/v1: is the server up")
    with FlakyServer(latency=5) as slow, pytest.raises(ChatError) as caught:
        answered(LiteLLMModel("toy", base_url=slow.url, timeout=0.2))
    assert caught.value.transient and not caught.value.unreachable


def test_errors_hold_no_key_and_hopeless_ones_are_final() -> None:
    model = LiteLLMModel("toy", base_url="http://127.0.0.1:1/v1", api_key="sk-secret")
    error = model._chat_error(RuntimeError("Incorrect key: sk-secret\n\nsee the page"))
    assert str(error) == "Incorrect key: … see the page" and error.transient
    assert not model._chat_error(RuntimeError("You exceeded: insufficient_quota")).transient
    with pytest.raises(ChatError, match="Missing credentials") as caught:
        answered(LiteLLMModel("gpt-4o-mini"))
    assert not caught.value.transient


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("3", 3.0), ("0.5", 0.5), ("-1", 0.0), ("soon", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)],
)
def test_retry_after_is_read(value: str, seconds: float | None) -> None:
    error = RuntimeError()
    error.litellm_response_headers = {"Retry-After": value}  # type: ignore[attr-defined]
    assert litellm_model._retry_after(error) == seconds
    assert litellm_model._retry_after(RuntimeError()) is None


# --- the chain --------------------------------------------------------------------------------


def test_asking_again_gets_through_every_fault(server: FlakyServer) -> None:
    model = LiteLLMModel("toy", base_url=server.url)
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    passing = [fault for fault in FAULTS if fault not in ("null-content", "slow-body")]
    server.plan = list(passing)
    before = server.requests
    work = ask(model, QUESTION, attempts=len(passing) + 1, base=0.0, sleep=sleep)
    reply, attempts = run(model, lambda: work)
    assert (reply.text, attempts) == (EXPECTED, len(passing) + 1)
    assert server.requests - before == attempts  # nobody below asked again on its own
    assert waits[0] == 0.05 and waits[3] == 0.05 and waits[2] == 0  # 429, 503 and 500


def test_many_at_once_with_faults() -> None:
    with FlakyServer(latency=0.05, faults=0.3, seed=1) as server:
        model = LiteLLMModel("toy", base_url=server.url)
        questions = [
            (Message("user", (Text(f"Question {n}: (A) yes (B) no (C) neither"),)),)
            for n in range(60)
        ]

        async def work() -> list[tuple[Reply, int]]:
            return await asyncio.gather(*(ask(model, q, base=0.01, cap=0.1) for q in questions))

        replies = run(model, work)
        assert server.most > 20
        assert server.requests == sum(attempts for _, attempts in replies) > len(questions)
    expected = [answer_to([{"content": q[0].text}]) for q in questions]
    assert {reply.text for reply, _ in replies} > {""}  # null content: an answer without text
    assert all(r.text in (want, "") for (r, _), want in zip(replies, expected, strict=True))


def test_nothing_is_printed(
    server: FlakyServer, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    for fault in ("500", "malformed", "404"):
        error_of(server, fault)
    answered(LiteLLMModel("toy", base_url=server.url))
    assert capfd.readouterr() == ("", "")
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []


def test_a_model_outlives_an_event_loop_and_another_model(server: FlakyServer) -> None:
    model, other = (LiteLLMModel("toy", base_url=server.url) for _ in range(2))

    async def work() -> Reply:
        await asyncio.gather(model.answer(QUESTION), other.answer(QUESTION))
        await other.close()
        return await model.answer(QUESTION)

    assert run(model, work).text == EXPECTED
    assert run(model, work).text == EXPECTED


def test_callbacks_of_the_user_are_called(
    server: FlakyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm

    seen: list[str] = []

    async def note(kwargs: Any, response: Any, start: Any, end: Any) -> None:
        seen.append(response.choices[0].message.content)

    monkeypatch.setattr(litellm, "success_callback", [note])
    model = LiteLLMModel("toy", base_url=server.url)

    async def work() -> None:
        await model.answer(QUESTION)
        for _ in range(200):
            if seen:
                return
            await asyncio.sleep(0.01)

    run(model, work)
    assert seen == [EXPECTED]
    litellm._async_success_callback.clear()


def test_options_are_checked() -> None:
    for options, what in (
        ({"max_tokens": 0}, "max_tokens"),
        ({"long_side": 0}, "long_side"),
        ({"image_bytes": 100}, "image_bytes"),
        ({"timeout": float("nan")}, "timeout"),
        ({"extra": {"model": "other"}}, "extra"),
    ):
        with pytest.raises(InputError, match=what):
            LiteLLMModel("toy", base_url="http://127.0.0.1:1/v1", **options)
    with pytest.raises(InputError, match="base_url"):
        LiteLLMModel("no-such-model")
    assert isinstance(open_model("gpt-4o-mini", api_key="k"), LiteLLMModel)


def test_without_litellm_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm_model._litellm.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "litellm", None)
    with pytest.raises(MissingExtraError, match=r"perception-programs\[eval\]"):
        LiteLLMModel("gpt-4o-mini")


def test_the_server_gives_the_same_answers_again_whatever_the_order() -> None:
    """What a run that is killed and restarted relies on."""

    async def collect(url: str, order: list[int]) -> dict[int, list[tuple[int, str]]]:
        import aiohttp

        got: dict[int, list[tuple[int, str]]] = {}
        async with aiohttp.ClientSession() as session:
            for n in order:
                body = {"model": "m", "messages": [{"role": "user", "content": f"{n} (A) (B)"}]}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    text = await response.text()
                    got.setdefault(n, []).append((response.status, text))
        return got

    kinds = ("500", "malformed", "null-content")
    with FlakyServer(faults=0.9, kinds=kinds, seed=2) as one:
        first = asyncio.run(collect(one.url, [0, 1, 2, 3] * 4))
    with FlakyServer(faults=0.9, kinds=kinds, seed=2) as two:
        second = asyncio.run(collect(two.url, [3, 2, 1, 0] * 4))
    assert first == second
    assert all("Answer: (" in tries[-1][1] for tries in first.values())  # in the end it answers
    assert any(status == 500 for tries in first.values() for status, _ in tries)


def test_the_server_in_a_process_of_its_own() -> None:
    with served(faults=0.0) as url:
        assert answered(LiteLLMModel("toy", base_url=url)).text == EXPECTED


def test_an_address_of_the_environment_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", "http://localhost:1/v1")
    first = LiteLLMModel("openai/toy").settings()
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:secret@localhost:2/v1")
    second = LiteLLMModel("openai/toy").settings()
    assert first["base_url"] == "http://localhost:1/v1"
    assert second["base_url"] == "http://localhost:2/v1"
