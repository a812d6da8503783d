"""An OpenAI-compatible chat server on the loopback that fails on purpose, for tests and benchmarks.

    python tests/flaky_server.py --latency 0.5 --faults 0.2 --seed 1

prints its address; `GET /requests` beside it says what it has done. The answer and the faults of
a request depend on the seed, on what is asked and on how often it was asked before, and on nothing
else, so a run that is killed and restarted gets the answers of one that was not.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from aiohttp import web

FAULTS = (
    "429",
    "429-date",
    "500",
    "503",
    "drop",
    "drop-body",
    "malformed",
    "no-choices",
    "no-message",
    "null-content",
    "slow-body",
)
"""Every fault by chance. The last two are answers that a client must take as they are."""

_PLANNED = {"400", "401", "404", "parts"}
"""Faults that only a plan has: they are no passing ones."""

_WAIT = 0.05  # seconds of Retry-After
_IN_A_ROW = 3  # the most faults that one and the same request meets


def answer_to(messages: Sequence[dict[str, Any]]) -> str:
    """Prose that chooses one of the options `(A)`, `(B)` … of the last user turn, by its hash."""
    text = _text_of(messages[-1]["content"])
    letters = sorted(set(re.findall(r"\(([A-Z])\)", text))) or ["A"]
    chosen = letters[hashlib.sha256(text.encode()).digest()[0] % len(letters)]
    return f"I compared the options.\n\nAnswer: ({chosen})"


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


class FlakyServer:
    """The server, in a thread of its own.

    Args:
        latency: seconds before anything is sent.
        faults: the share of requests that meet a fault, 0 to 1.
        kinds: the faults that occur.
        seed: of the faults.
        plan: faults of the next requests, in order (None: answer), before any by chance.
        port: 0 for a free one.

    Attributes:
        url: what an OpenAI client takes as its base URL.
        requests: how many came.
        answered: how many of those were answered.
        met: how often each fault was given.
        most: the most requests that were in work at once.
        last: the latest request: `body` (parsed) and `headers`.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        faults: float = 0.0,
        kinds: Sequence[str] = FAULTS,
        seed: int = 0,
        plan: Sequence[str | None] = (),
        port: int = 0,
    ) -> None:
        unknown = {*kinds, *(fault for fault in plan if fault)} - {*FAULTS, *_PLANNED}
        if unknown:
            raise ValueError(f"faults: expected {', '.join(FAULTS)}, got {sorted(unknown)}")
        self.latency, self.faults, self.kinds, self.seed = latency, faults, tuple(kinds), seed
        self.plan = list(plan)
        self.requests = self.answered = self.most = self._now = 0
        self.met: Counter[str] = Counter()
        self.last: dict[str, Any] = {}
        self._tries: Counter[bytes] = Counter()
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> FlakyServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=256 * 1024**2)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/requests", self._report)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"

    async def _report(self, _: web.Request) -> web.Response:
        return web.json_response(
            {"requests": self.requests, "answered": self.answered, "faults": dict(self.met)}
        )

    def _fault(self, body: bytes) -> str | None:
        """The fault that this request meets, if any."""
        digest = hashlib.sha256(body).digest()
        nth = self._tries[digest]
        self._tries[digest] += 1
        if self.plan:
            return self.plan.pop(0)
        draw = hashlib.sha256(b"%d %d " % (self.seed, nth) + digest).digest()
        if nth >= _IN_A_ROW or int.from_bytes(draw[:4], "big") >= self.faults * 2**32:
            return None
        return self.kinds[int.from_bytes(draw[4:8], "big") % len(self.kinds)]

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            raw = await request.read()
            body = json.loads(raw)
            self.last = {"body": body, "headers": dict(request.headers)}
            fault = self._fault(raw)
            await asyncio.sleep(self.latency)
            if fault is None:
                self.answered += 1
                return web.json_response(_completion(body, answer_to(body["messages"])))
            self.met[fault] += 1
            return await self._fail(fault, request, body)
        finally:
            self._now -= 1

    async def _fail(
        self, fault: str, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        good = _completion(body, answer_to(body["messages"]))
        if fault[:3].isdigit():
            return _refusal(fault)
        if fault == "drop":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if fault in ("drop-body", "slow-body"):
            return await _in_pieces(request, json.dumps(good).encode(), fault == "drop-body")
        if fault == "malformed":
            return web.Response(
                text=json.dumps(good)[:-20] + "<html>", content_type="application/json"
            )
        if fault == "no-choices":
            good["choices"] = []
        elif fault == "no-message":
            del good["choices"][0]["message"]
        elif fault == "parts":
            message = good["choices"][0]["message"]
            message["content"] = [{"type": "text", "text": message["content"]}]
        else:
            good["choices"][0]["message"]["content"] = None
        return web.json_response(good)


def _completion(body: dict[str, Any], text: str) -> dict[str, Any]:
    read = len(json.dumps(body["messages"])) // 4
    written = len(text) // 4
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": f"{body['model']}-2026-01-01",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written + 7,
            "total_tokens": read + written + 7,
            "completion_tokens_details": {"reasoning_tokens": 7},
        },
    }


def _refusal(fault: str) -> web.Response:
    status = int(fault[:3])
    headers = {}
    if fault == "429-date":
        soon = datetime.now(timezone.utc) + timedelta(seconds=1)
        headers["Retry-After"] = format_datetime(soon, usegmt=True)
    elif status in (429, 503):
        headers["Retry-After"] = str(_WAIT)
    error = {"message": f"this is fault {fault}", "type": "fault", "code": None}
    return web.json_response({"error": error}, status=status, headers=headers)


async def _in_pieces(request: web.Request, data: bytes, drop: bool) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(data)
    await response.prepare(request)
    half = len(data) // 2
    await response.write(data[:half])
    await asyncio.sleep(0.05)
    if drop:
        assert request.transport is not None
        request.transport.abort()
        return response
    await response.write(data[half:])
    await response.write_eof()
    return response


@contextmanager
def served(*, latency: float = 0.0, faults: float = 0.0, seed: int = 0) -> Iterator[str]:
    """The same server in a process of its own; gives its base URL."""
    command = [sys.executable, str(Path(__file__).resolve())]
    for name, value in (("latency", latency), ("faults", faults), ("seed", seed)):
        command += [f"--{name}", str(value)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before an answer")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests that fail")
    parser.add_argument("--kinds", nargs="+", default=FAULTS, choices=FAULTS)
    parser.add_argument("--seed", type=int, default=0)
    options = vars(parser.parse_args())
    with FlakyServer(**options) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
