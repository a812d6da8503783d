"""An OpenAI-compatible chat server on the loopback that asks for tools, one script a question.

It keeps what it was sent, so that a test can look for what of one conversation stands in another.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import threading
from collections import defaultdict
from typing import Any

import numpy as np
from aiohttp import web
from PIL import Image

STEPS = (
    ("zoom_in", {"image": "input_image_1", "box": [0, 0, 500, 500], "scale": 2}),
    ("depth_estimation", {"image": "tool_image_1"}),
    ("zoom_in", {"image": "input_image_1", "box": [500, 500, 1000, 1000], "scale": 1}),
)
"""What each question asks for, in this order."""


class ToolCallingServer:
    """The server, in a thread of its own; a context manager.

    Args:
        busy_every: every so manieth request is answered with 503 first.

    Attributes:
        url: what an OpenAI client takes as its base URL.
        seen: the mean colour of each picture and all text of the last request, by question.
        most: the most requests that were in work at once.
    """

    def __init__(self, busy_every: int = 9) -> None:
        self.seen: dict[str, dict[str, Any]] = defaultdict(lambda: {"colours": [], "text": ""})
        self.requests = self.most = self._now = 0
        self._busy_every = busy_every
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> ToolCallingServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_post("/v1/chat/completions", self._chat)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1"

    async def _chat(self, request: web.Request) -> web.Response:
        self.requests += 1
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            body = await request.json()
            await asyncio.sleep(0.01 + 0.002 * (self.requests % 7))  # so that runs interleave
            if self.requests % self._busy_every == 0:
                return web.json_response(
                    {"error": {"message": "busy"}}, status=503, headers={"Retry-After": "0.02"}
                )
            return web.json_response(_completion(body, self._message(body["messages"])))
        finally:
            self._now -= 1

    def _message(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        text, colours = _read(messages)
        questions = sorted(set(re.findall(r"Question (\d+):", text)))
        (number,) = questions[:1]
        self.seen[number] = {"colours": colours, "text": text, "questions": questions}
        done = sum(message["role"] == "tool" for message in messages)
        if done == len(STEPS):
            return {
                "role": "assistant",
                "content": f"Answer: {number}\nEvidence: tool_image_1, depth_1, tool_image_3",
            }
        name, arguments = STEPS[done]
        call = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": f"call_{number}_{done}", "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": calls}


def _read(messages: list[dict[str, Any]]) -> tuple[str, list[tuple[float, ...]]]:
    """All text, and the mean colour of each picture."""
    texts, colours = [], []
    for message in messages:
        content = message.get("content") or ""
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                texts.append(part["text"])
            else:
                data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((4, 4)))
                colours.append(tuple(picture.reshape(-1, 3).mean(0).round(1).tolist()))
    return "\n".join(texts), colours


def _completion(body: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
                "message": message,
            }
        ],
        "usage": {"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920},
    }
