"""How much a run adds to the time that a model takes.

A thousand questions are put to a server on the loopback that answers each after half a second,
64 at a time: ideally in 1,000 / 64 × 0.5 s. Client and server share the machine. Printed are the
ratio to the ideal, the client's own CPU time a sample, and with --profile what it went into.

    python benchmarks/blink_throughput.py --setting p2 --profile
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from blink_pictures import jigsaw_manifest
from flaky_server import served
from perception_programs.blink import Run, Tools, load
from perception_programs.chat import LiteLLMModel


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--setting", default="standard")
    parser.add_argument("--side", type=int, default=336, help="pixels a side of the pictures")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    with served(latency=args.latency) as url, tempfile.TemporaryDirectory() as folder:
        measure(args, url, Path(folder))


def measure(args: argparse.Namespace, url: str, folder: Path) -> None:
    questions = jigsaw_manifest(folder / "made", args.samples, side=args.side)
    model = LiteLLMModel("toy", base_url=url)
    samples = load("Jigsaw", questions)
    tools = Tools(cache=False)

    def run(out: str, limit: int | None) -> Run:
        return Run(
            model=model,
            tasks=[samples],
            settings=[args.setting],
            out=folder / out,
            tools=tools,
            limit=limit,
            concurrency=args.concurrency,
        )

    async def both() -> tuple[float, float]:
        await run("warm", 4).go()  # imports and connections are a matter of seconds, once
        profile = cProfile.Profile()
        wall, cpu = time.perf_counter(), time.process_time()
        if args.profile:
            profile.enable()
        (tally,) = await run("measured", None).go()
        profile.disable()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert (tally.answered, tally.errors) == (args.samples, 0)
        if args.profile:
            pstats.Stats(profile).sort_stats("cumulative").print_stats(40)
        await model.close()
        return wall, cpu

    wall, cpu = asyncio.run(both())
    ideal = args.samples / args.concurrency * args.latency
    print(f"{args.samples} samples, setting {args.setting}, pictures of {args.side} pixels")
    print(f"  wall time {wall:.1f} s, ideal {ideal:.1f} s, ratio {wall / ideal:.2f}")
    print(f"  the client's own CPU time: {1000 * cpu / args.samples:.1f} ms a sample")


if __name__ == "__main__":
    main()
