"""The proxy where something is wrong: requests that are no question, errors, limits, tools that fail."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from blink_pictures import jigsaw_manifest
from perception_programs import InputError, ToolError, WeightsError
from perception_programs.blink import Recipe, Tools, load
from perception_programs.blink.proxy import HEADER
from perception_programs.experts.base import Card
from proxy_client import asked, between, client_of, openai, proxy_to, raw_answer, run

ASKED = [{"role": "user", "content": "?"}]


@pytest.fixture(scope="module")
def jigsaw(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load("Jigsaw", jigsaw_manifest(tmp_path_factory.mktemp("jigsaw"), 1))


def test_errors_come_through() -> None:
    async def work() -> None:
        async with between() as (_, proxy, client):
            create = client.chat.completions.create
            with pytest.raises(openai.RateLimitError, match="later") as busy:
                await create(model="busy", messages=ASKED)
            assert busy.value.response.headers["Retry-After"] == "7"
            assert busy.value.response.content == b'{"error":  {"message": "later"}}'
            assert HEADER in busy.value.response.headers
            answer = await create(model="gzip", messages=ASKED)
            assert answer.choices[0].message.content.endswith("(A)")
            assert not proxy.journal.failed

    run(work())


def test_a_server_that_breaks_off_is_told_from_one_that_answers() -> None:
    async def work() -> None:
        async with between() as (upstream, proxy, client):
            with pytest.raises(openai.InternalServerError, match="no answer") as dropped:
                await client.chat.completions.create(model="drop", messages=ASKED)
            assert dropped.value.status_code == 502
            with pytest.raises(Exception, match=r"peer|clos|complete|read"):
                await raw_answer(client, model="drop-stream", messages=ASKED, stream=True)
            assert proxy.journal.failed == {"no answer": 1}
            assert len(upstream.seen) == 2  # nothing is sent twice
        async with proxy_to(upstream.url) as proxy, client_of(proxy.url) as client:
            with pytest.raises(openai.InternalServerError, match="no answer"):  # nobody listens now
                await client.models.list()

    run(work())


def test_nothing_is_unpacked_or_followed() -> None:
    async def work() -> None:
        session = aiohttp.ClientSession(auto_decompress=False)
        async with between() as (_, proxy, _), session:
            url = f"{proxy.url}/chat/completions"
            async with session.post(url, json={"model": "gzip", "messages": ASKED}) as packed:
                assert packed.headers["Content-Encoding"] == "gzip"
                assert (await packed.read())[:2] == b"\x1f\x8b"
            body = {"model": "moved", "messages": ASKED}
            async with session.post(url, json=body, allow_redirects=False) as moved:
                assert (moved.status, moved.headers["Location"]) == (307, "http://example.invalid/")

    run(work())


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff not JSON",
        b"[1, 2]",
        b'{"model": "m", "model": "m", "messages": []}',
        b'{"model": "m",\n "temperature": NaN, "messages": [ ]}',
        b'{"model": "m", "temperature": 1e999, "messages": [ ]}',
        b"[" * 100_000,
        b'{"messages": [{"role": "assistant", "content": "?"}]}',
        b'{"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}',
        b'{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": 7}]}]}',
        b'{"messages": [{"role": "user", "content": 5}], "x":    0}',
    ],
    ids=range(11),
)
def test_bodies_that_are_no_question_pass_byte_for_byte(raw: bytes) -> None:
    async def work() -> None:
        async with between() as (upstream, proxy, _), aiohttp.ClientSession() as session:
            url = f"{proxy.url}/chat/completions"
            for headers in ({}, {"Content-Encoding": "gzip"}):
                async with session.post(url, data=raw, headers=headers) as response:
                    assert response.headers[HEADER].startswith("none: body: ")
            assert upstream.bodies() == [raw, raw]
            assert upstream.seen[1].headers["Content-Encoding"] == "gzip"
            assert proxy.journal.passed == {"body": 2}

    run(work())


async def pieces() -> AsyncIterator[bytes]:
    for _ in range(40):
        yield b" " * 100_000


def test_a_body_beyond_the_limit_is_refused_and_the_next_is_not() -> None:
    async def work() -> None:
        session = aiohttp.ClientSession()
        async with between(max_bytes=10**6) as (upstream, proxy, _), session:
            url = f"{proxy.url}/chat/completions"
            for data in (b" " * 1_000_001, pieces()):
                async with session.post(url, data=data) as response:
                    assert response.status == 413
                    error = (await response.json())["error"]
                    assert "at most 1000000 bytes" in error["message"]
            async with session.post(url, data=b" " * 10**6) as response:
                assert response.status == 400  # the model server's own
            assert len(upstream.seen) == 1 and proxy.journal.failed == {"too large": 2}

    run(work())


class Broken:
    """An expert that raises."""

    card = Card("broken", "jigsaw", "numpy")

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __call__(self, *images: Any, **options: Any) -> Any:
        raise self.error

    def batch(self, *images: Any, **options: Any) -> list[Any]:
        raise self.error


def test_what_an_expert_cannot_do_passes_and_is_told(jigsaw: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"

    async def work() -> None:
        tools = Tools(Broken(ToolError("nöthing\nfound; ask me again")), cache=False)
        async with between(tools=tools, log=log) as (upstream, proxy, client):
            headers, _ = await raw_answer(client, model="m", messages=asked(jigsaw[0]))
            assert headers[HEADER.lower()] == "none: evidence: n\\xf6thing found"
            assert json.loads(upstream.bodies()[0])["messages"] == asked(jigsaw[0])
            assert proxy.journal.passed == {"evidence": 1}

    run(work())
    (_, line) = map(json.loads, log.read_text().splitlines())
    assert line["passed"] == "evidence: nöthing\nfound" and "added" not in line


@pytest.mark.parametrize("error", [WeightsError("no weights"), ZeroDivisionError("a defect")])
def test_what_no_question_is_to_blame_for_is_an_error(
    jigsaw: Any, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        tools = Tools(Broken(error), cache=False)
        async with between(tools=tools) as (upstream, proxy, client):
            with pytest.raises(openai.InternalServerError, match=str(error)):
                await client.chat.completions.create(model="m", messages=asked(jigsaw[0]))
            assert upstream.seen == [] and proxy.journal.failed == {"tools": 1}

    run(work())
    assert type(error).__name__ in caplog.text


class Unready(Tools):
    """Tools whose expert has no weights."""

    def check(self, recipe: Recipe) -> None:
        raise WeightsError(f"no weights for {recipe.task}")


def test_experts_are_checked_before_anything_is_served() -> None:
    with pytest.raises(WeightsError, match="Jigsaw"):
        proxy_to("http://localhost:1/v1", tools=Unready(cache=False))
    with pytest.raises(InputError, match="'dis' is for flow"):
        proxy_to("http://localhost:1/v1", tools=Tools("dis", cache=False))
