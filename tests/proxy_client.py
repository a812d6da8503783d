"""A proxy between OpenAI's own client and a model server, and questions to send through it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perception_programs.blink import Sample, Tools
from perception_programs.blink.proxy import Programs, Proxy, Recogniser
from proxy_upstream import Upstream

openai = pytest.importorskip("openai")

OPTIONS = "\n(A) the second image\n(B) the third image\n"
KEY = "sk-secret-1"


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 120))


def proxy_to(url: str, *, style: str = "paper", tools: Tools | None = None, **more: Any) -> Proxy:
    programs = Programs(tools or Tools(cache=False), style)
    return Proxy(url, Recogniser.named("Jigsaw"), programs, **more)


def client_of(url: str) -> Any:
    return openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0)


@asynccontextmanager
async def between(**options: Any) -> AsyncIterator[tuple[Upstream, Proxy, Any]]:
    """A model server, a proxy before it, and a client of that."""
    async with (
        Upstream() as upstream,
        proxy_to(upstream.url, **options) as proxy,
        client_of(proxy.url) as client,
    ):
        yield upstream, proxy, client


def picture(image: Any) -> dict[str, Any]:
    data = base64.b64encode(Path(image.source).read_bytes()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def asked(sample: Sample, *more: Any) -> list[dict[str, Any]]:
    content = [*map(picture, sample.images), text(sample.question + OPTIONS), *more]
    return [{"role": "user", "content": content}]


async def raw_answer(client: Any, **request: Any) -> tuple[dict[str, str], bytes]:
    """The headers and every byte of the body of a response."""
    call = client.chat.completions.with_streaming_response.create(**request)
    async with call as response:
        body = b"".join([chunk async for chunk in response.iter_bytes()])
        return {k.lower(): v for k, v in response.headers.items()}, body


def added_to(sent: list[dict[str, Any]], raw: bytes) -> str:
    """The text that a body has and the messages that were sent have not; nothing else differs."""
    messages = json.loads(raw)["messages"]
    parts = messages[-1]["content"]
    new = [part for part in parts if part not in sent[-1]["content"]]
    assert len(new) == 1 and new[0]["type"] == "text"
    parts.remove(new[0])
    assert messages == sent
    return str(new[0]["text"])
