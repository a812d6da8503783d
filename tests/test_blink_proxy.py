"""The proxy between OpenAI's own client and a model server: what passes and what is added."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from yarl import URL

from blink_pictures import jigsaw_manifest
from perception_programs.blink import Sample, Tools, load
from perception_programs.blink.proxy import HEADER
from perception_programs.blink.questions import Inquirer
from perception_programs.chat import Text
from proxy_client import (
    KEY,
    OPTIONS,
    added_to,
    asked,
    between,
    client_of,
    openai,
    picture,
    raw_answer,
    run,
    text,
)
from proxy_upstream import ODD_JSON, Upstream, completion, events


@pytest.fixture(scope="module")
def jigsaw(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load("Jigsaw", jigsaw_manifest(tmp_path_factory.mktemp("jigsaw"), 8))


def of_no_task(n: int, sample: Sample) -> dict[str, Any]:
    """The n-th request of a kind that no recipe applies to; every other is to be streamed."""
    pictures = [picture(image) for image in sample.images]
    contents: list[Any] = [
        f"Only words, number {n} – ünïcode \u2028 \U0001f600",
        [*pictures[:2], text(f"{n}? {OPTIONS}")],
        [*pictures, text(f"No options, number {n}?")],
        [*pictures[:2], {"type": "image_url", "image_url": {"url": "http://x/y.png"}}, text("?")],
    ]
    content = contents[n // 2 % len(contents)]
    request = {"model": "m", "messages": [{"role": "user", "content": content}]}
    request |= {"temperature": 0.1, "seed": n}
    return request | ({"stream": True, "stream_options": {"include_usage": True}} if n % 2 else {})


@pytest.mark.slow
def test_two_hundred_at_once_pass_byte_for_byte(jigsaw: Any) -> None:
    async def work() -> None:
        requests = [of_no_task(n, jigsaw[0]) for n in range(200)]
        async with (
            Upstream() as direct,
            client_of(direct.url) as straight,
            between() as (behind, proxy, client),
        ):
            wanted = await asyncio.gather(*(raw_answer(straight, **r) for r in requests))
            got = await asyncio.gather(*(raw_answer(client, **r) for r in requests))
        assert sorted(behind.bodies()) == sorted(direct.bodies())
        assert len(set(behind.bodies())) == 200
        for (_, body), (headers, same) in zip(wanted, got, strict=True):
            assert same == body and len(body) > 100
            assert headers[HEADER.lower()].startswith("none: ")
        assert {one.headers["Authorization"] for one in behind.seen} == {f"Bearer {KEY}"}
        assert proxy.journal.counts == {
            "requests": 200,
            "added": {},
            "passed": {"images": 100, "options": 50, "urls": 50},
            "failed": {},
        }

    run(work())


def number_of(raw: bytes) -> int:
    words = json.loads(raw)["messages"][-1]["content"][-1]["text"]
    return int(words.rpartition(" ")[2])


def test_two_hundred_at_once_get_their_own_programs(jigsaw: Any) -> None:
    async def work() -> None:
        sent = [asked(jigsaw[n % 8], text(f"request {n}")) for n in range(200)]
        async with between() as (upstream, proxy, client):
            answers = await asyncio.gather(
                *(
                    raw_answer(client, model="m", messages=messages, stream=n % 2 == 1)
                    for n, messages in enumerate(sent)
                )
            )
        inquirer = Inquirer(jigsaw, Tools(cache=False))
        prompts = [inquirer.ask(sample, ["p2"])[0].messages[-1].parts for sample in jigsaw]
        for n, raw in enumerate(sorted(upstream.bodies(), key=number_of)):
            # After the opening and three numbers of pictures; before the question and the form.
            evidence = [part.text for part in prompts[n % 8] if isinstance(part, Text)][4:-2]
            assert added_to(sent[n], raw) == "".join(f"{part}\n\n" for part in evidence)
            headers, body = answers[n]
            assert headers[HEADER.lower()] == "added: Jigsaw: seams"
            answer = b"".join(events(raw)) if n % 2 else json.dumps(completion(raw)).encode()
            assert body == answer
        assert proxy.journal.added == {"Jigsaw": 200} and not proxy.journal.passed

    run(work())


def layouts(sample: Sample) -> dict[str, tuple[list[dict[str, Any]], int]]:
    """A question as suites write it, and where its programs belong."""
    a, b, c = (picture(image) for image in sample.images)
    question = sample.question
    note = (
        "Note: You only need to respond with A, B without providing any additional information.\n"
    )
    vlmevalkit = (
        f"Question: {question}\nOptions:\nA. the second image\nB. the third image\n"
        "Please select the correct answer from the options above. \n"
    )
    whole = text(question + OPTIONS)
    options = text("A) the second image\nB) the third image")
    return {
        "lmms-eval": ([a, b, c, text(f"{note}{question}{OPTIONS}")], 3),
        "VLMEvalKit": ([a, b, c, text(vlmevalkit)], 3),
        "interleaved": ([text("Image-1: "), a, text("2"), b, text("3"), c, whole], 6),
        "question first": ([whole, a, b, c], 4),
        "in two parts": ([a, text(question), b, c, options], 4),
    }


def test_the_text_stands_right_after_the_last_picture(jigsaw: Any) -> None:
    async def work() -> None:
        async with between() as (upstream, _, client):
            for name, (content, place) in layouts(jigsaw[0]).items():
                messages = [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Hello"},
                    {"role": "assistant", "content": "Hello"},
                    {"role": "user", "content": content},
                ]
                await raw_answer(client, model="m", messages=messages)
                raw = upstream.bodies()[-1]
                assert "<perceptionprogram>" in added_to(messages, raw), name
                part = json.loads(raw)["messages"][-1]["content"][place]
                assert part["text"].startswith("Vision tools"), name

    run(work())


def test_what_is_streamed_arrives_as_it_is_written(jigsaw: Any) -> None:
    async def work() -> None:
        async with between() as (upstream, _, client):
            call = client.chat.completions.with_streaming_response.create(
                model="gated", messages=asked(jigsaw[0]), stream=True
            )
            async with call as response:
                pieces = response.iter_bytes()
                assert await anext(pieces) == b": a comment\n\n"  # the server waits for us
                upstream.gate.set()
                rest = b"".join([piece async for piece in pieces])
            assert rest == b"".join(events(upstream.bodies()[0])[1:])
            stream = await client.chat.completions.create(
                model="m", messages=asked(jigsaw[1]), stream=True
            )
            chunks = [chunk async for chunk in stream]
        assert "".join(c.choices[0].delta.content for c in chunks[:-1]).endswith("(A) ")
        assert chunks[-1].usage.of_our_own == {"seconds": 1.5}

    run(work())


def test_a_client_that_leaves_is_not_generated_for() -> None:
    async def work() -> None:
        async with between() as (upstream, _, client):
            stream = await client.chat.completions.create(
                model="gated", messages=[{"role": "user", "content": "?"}], stream=True
            )
            await stream.close()
            await client.close()
            await asyncio.wait_for(upstream.left.wait(), 10)

    run(work())


def test_other_paths_pass() -> None:
    async def work() -> None:
        async with between() as (upstream, proxy, _), aiohttp.ClientSession() as session:
            url = URL(f"{proxy.url}/models/a%2Fb?x=%20&y", encoded=True)
            async with session.get(url, headers={"X-Own": "1"}) as response:
                assert await response.read() == ODD_JSON
            async with session.get(proxy.url.replace("/v1", "/counts")) as response:
                counts = await response.json()
            async with session.get(proxy.url.replace("/v1", "/elsewhere")) as response:
                assert response.status == 404
        (seen,) = upstream.seen
        assert (seen.method, seen.path) == ("GET", "/api/v1/models/a%2Fb?x=%20&y")
        assert seen.headers["X-Own"] == "1" and seen.headers["Host"] in upstream.url
        assert counts == {"requests": 1, "added": {}, "passed": {"path": 1}, "failed": {}}

    run(work())


def test_the_log_has_what_was_added_and_no_key(jigsaw: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"

    async def work() -> str:
        async with between(style="compact", log=log) as (upstream, _, client):
            await raw_answer(client, model="m", messages=asked(jigsaw[0]))
            with pytest.raises(openai.RateLimitError):
                await raw_answer(client, model="busy", messages=asked(jigsaw[1]))
            await client.models.list()
            return added_to(asked(jigsaw[0]), upstream.bodies()[0])

    added = run(work())
    header, first, second = map(json.loads, log.read_text().splitlines())
    assert header["header"]["style"] == "compact"
    assert header["header"]["tasks"]["Jigsaw"]["experts"]["jigsaw"]["name"] == "seams"
    assert first["added"] == added and "\ncompact: jigsaw" in added
    assert first["question"] == jigsaw[0].question and first["images"] == 3
    assert (first["programs"], first["experts"], first["status"]) == (["seams"], ["seams"], 200)
    assert second["status"] == 429
    assert KEY not in log.read_text()
