"""A model server to put a proxy in front of: it keeps every byte that came and answers from them."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

ODD_JSON = b'{ "object": "list",\n\t"data": [ {"id": "m", "a": 1.0e2, "a": 2} ]  }'


@dataclass
class Seen:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Upstream:
    """The server; an asynchronous context manager. What it does is said by the model's name."""

    seen: list[Seen] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Upstream:
        app = web.Application(client_max_size=256 * 1024**2)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._server = TestServer(app)
        await self._server.start_server(auto_decompress=False)
        self.url = str(self._server.make_url("/api/v1"))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.close()

    def bodies(self) -> list[bytes]:
        return [one.body for one in self.seen]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        self.seen.append(Seen(request.method, request.raw_path, dict(request.headers), raw))
        if not request.path.endswith("/chat/completions"):
            return web.Response(body=ODD_JSON, content_type="application/json")
        try:
            body = json.loads(raw)
        except ValueError:
            return web.json_response({"error": {"message": "no JSON"}}, status=400)
        kind = body.get("model")
        if kind == "busy":
            return web.Response(
                status=429, body=b'{"error":  {"message": "later"}}', headers={"Retry-After": "7"}
            )
        if kind == "gzip":
            data = gzip.compress(json.dumps(completion(raw)).encode(), mtime=0)
            headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
            return web.Response(body=data, headers=headers)
        if kind == "moved":
            return web.Response(status=307, headers={"Location": "http://example.invalid/"})
        if kind == "drop":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if body.get("stream"):
            return await self._stream(request, raw, kind)
        return web.json_response(completion(raw), headers={"X-Request-Id": "r-1"})

    async def _stream(self, request: web.Request, raw: bytes, kind: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        first, *rest = events(raw)
        try:
            await response.write(first)
            if kind == "gated":
                await self.gate.wait()
            if kind == "drop-stream":
                await asyncio.sleep(0.05)
                assert request.transport is not None
                request.transport.abort()
                return response
            for event in rest:
                await response.write(event)
                await asyncio.sleep(0)
        except (asyncio.CancelledError, ConnectionResetError):
            self.left.set()
            raise
        await response.write_eof()
        return response


def completion(raw: bytes) -> dict[str, Any]:
    """An answer that is another one for every other request."""
    return {
        "id": hashlib.sha256(raw).hexdigest(),
        "object": "chat.completion",
        "created": 1,
        "model": "m-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": f"{len(raw)} bytes. Answer: (A)"},
            }
        ],
        "usage": {
            "prompt_tokens": len(raw),
            "completion_tokens": 5,
            "total_tokens": len(raw) + 5,
            "of_our_own": {"seconds": 1.50},
        },
    }


def events(raw: bytes) -> list[bytes]:
    """The same as a stream: one event a word, then the usage, then the end."""
    whole = completion(raw)
    words = whole["choices"][0]["message"]["content"].split(" ")
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": f"{word} "}, "finish_reason": None}]}
        for word in words
    ]
    chunks.append({"choices": [], "usage": whole["usage"]})
    common = {"id": whole["id"], "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
    lines = [b"data:  " + json.dumps({**common, **chunk}).encode() + b"\n\n" for chunk in chunks]
    return [b": a comment\n\n", *lines, b"data: [DONE]\n\n"]
