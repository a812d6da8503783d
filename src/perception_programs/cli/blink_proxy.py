"""What `p2 blink proxy` does with its arguments."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys

from ..blink.proxy import MAX_BYTES, Programs, Proxy, Recogniser
from ..errors import InputError
from .blink import chosen_tools
from .blink_sources import chosen_tasks

__all__ = ["proxy"]


def proxy(args: argparse.Namespace) -> int:
    """Serve until it is interrupted or terminated; the address goes to stdout, counts to stderr."""
    made = Proxy(
        args.base_url,
        _recogniser(args),
        Programs(chosen_tools(args), args.style, args.caution),
        host=args.host,
        port=args.port,
        log=args.log,
        max_bytes=MAX_BYTES if args.max_bytes is None else args.max_bytes,
    )
    asyncio.run(_serve(made))
    return 0


def _recogniser(args: argparse.Namespace) -> Recogniser:
    if args.source:
        return Recogniser.by_words(chosen_tasks(args))
    if len(args.task) != 1 or args.task == ["paper"]:
        got = " ".join(args.task) or "none"
        raise InputError(
            "--task: expected one task, or --source with the questions that several are told apart "
            f"by (hub, or a path), got {got}"
        )
    return Recogniser.named(args.task[0].replace(" ", "_"))


async def _serve(proxy: Proxy) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # on Windows; Ctrl-C ends it all the same
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with proxy:
        print(proxy.url, flush=True)
        try:
            await stopped.wait()
        finally:
            print(f"p2: {proxy.journal.summary()}", file=sys.stderr)
