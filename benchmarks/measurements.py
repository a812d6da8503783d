"""Everything that is measured of the styles and readings, in one table each: docs/measurements.md.

    python -m pip install litellm dashscope scikit-image
    python benchmarks/measurements.py [--out docs/measurements.md]
    python benchmarks/measurements.py --hardblink FOLDER [--expert NAME] [--weights PATH]

Tokens by program, style and tokenizer (`tokens_by_style.py`); right answers to point questions at 3, 4 and
5 points against tokens (`depth_readings.py`); the time and memory that printing and parsing take, as
ratios to the style `paper` in the same run. With HardBLINK's folder, its questions too, read by rule from
what a depth expert makes of its pictures. About six minutes without HardBLINK.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
from depth_readings import counter, motorcycle, rows
from token_estimate import real_size, tokenizers
from tokens_by_style import BUDGETS, programs

from perception_programs import DepthMap, PerceptionProgram, depth_program, points_program
from perception_programs.blink import load
from perception_programs.blink.ceiling import point_questions
from perception_programs.blink.readers import relative_depth
from perception_programs.blink.statistics import wilson
from perception_programs.experts import load as load_expert
from perception_programs.text import STYLES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measurements.md"
ROUNDS = 15


def table(head: tuple[str, ...], lines: list[tuple[object, ...]]) -> list[str]:
    """A table in Markdown; numbers to the right."""
    marks = [":--" if name in ("program", "style") else "--:" for name in head]
    cells = [head, tuple(marks), *lines]
    return [f"| {' | '.join(map(str, row))} |" for row in cells]


def percent(right: int, n: int) -> str:
    low, high = wilson(right, n) or (0.0, 1.0)
    return f"{100 * right / n:.1f} ({100 * low:.1f}-{100 * high:.1f})"


def tokens() -> Iterator[str]:
    made = tokenizers()
    yield "## Tokens"
    yield ""
    yield "Of the whole block, tags and note included; the share is that of `paper`, the published style."
    yield ""
    head = ("program", "style", *(part for name in made for part in (name, "share", "budget")))
    lines: list[tuple[object, ...]] = []
    for name, program in programs().items():
        texts = {style: program.to_text(style) for style in STYLES}
        for style, text in texts.items():
            row: list[object] = [name, style]
            for n, (encoding, _) in enumerate(made.values()):
                whole = len(encoding.encode_ordinary(texts["paper"]))
                count = len(encoding.encode_ordinary(text))
                budget = f"{BUDGETS[name][n]:.0%}" if style == "compact" and name in BUDGETS else ""
                row += [f"{count:,}", f"{count / whole:.1%}", budget]
            lines.append(tuple(row))
    yield from table(head, lines)


def answers() -> Iterator[str]:
    name, count = counter()
    depth = DepthMap(motorcycle(), kind="relative")
    yield "## Right answers against tokens"
    yield ""
    yield (
        "1,000 questions (seed 0) about which of some points is nearest, from the true disparity of "
        "scikit-image's stereo motorcycle, read by rule from the printed and parsed program; percent "
        f"right with the Wilson interval at 95%, and the tokens of a program ({name})."
    )
    for style in ("paper", "compact"):
        found: dict[str, list[object]] = {}
        for points in (3, 4, 5):
            questions = point_questions(depth, 1000, 0, points=points)
            for what, cells, share, used in rows(depth, questions, style, count):
                line = found.setdefault(
                    what, [what, "" if what == "points" else cells, f"{used:,}"]
                )
                line.append(percent(round(share * 1000), 1000))
                line[2] = f"{used:,}"
        yield ""
        yield f"**Style `{style}`**"
        yield ""
        head = ("program", "cells", "tokens", "3 points", "4 points", "5 points")
        yield from table(head, [tuple(line) for line in found.values()])


def seconds(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return median(taken)


def peak(call: Callable[[], object]) -> int:
    """Bytes that a call has allocated at most at one time."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def costs() -> Iterator[str]:
    yield "## Time and memory"
    yield ""
    yield "Ratios to the style `paper` of the same program in the same run: medians of 15 rounds, and the peak"
    yield "of what Python allocates."
    yield ""
    lines: list[tuple[object, ...]] = []
    for name, program in real_size().items():
        base: dict[str, float] = {}
        for style in STYLES:
            text = program.to_text(style)
            measured = {
                "print": seconds(lambda s=style, p=program: p.to_text(s)),
                "parse": seconds(lambda t=text: PerceptionProgram.from_text(t)),
                "memory to print": peak(lambda s=style, p=program: p.to_text(s)),
                "memory to parse": peak(lambda t=text: PerceptionProgram.from_text(t)),
            }
            base = base or measured
            lines.append((name, style, *(f"{measured[k] / base[k]:.2f}" for k in measured)))
    yield from table(("program", "style", *base), lines)


def hardblink(folder: Path, expert: str | None, weights: Path | None) -> Iterator[str]:
    """The same readings on HardBLINK's pictures, whose points are found on them."""
    depths = load_expert(expert or "depth-anything-v2-small", weights=weights)
    marks = load_expert("markers")
    _, count = counter()
    kinds: dict[str, dict[str, object]] = {
        "range 10×10": {},
        "range 16×16": {"grid": 16},
        "median 10×10": {"reading": "median"},
        "median adaptive": {"reading": "median", "adaptive": True},
        "points": {"grid": None},
    }
    right = dict.fromkeys(kinds, 0)
    used: dict[str, list[int]] = {kind: [] for kind in kinds}
    samples = load("HardBLINK", folder)
    for sample in samples:
        image = sample.images[0].load()
        depth, points = depths(image), marks(image)
        asked = points_program(points)
        for kind, options in kinds.items():
            options = options | ({"points": points} if kind == "points" else {})
            program = depth_program(depth, relations=False, **options)
            used[kind].append(count(program.to_text("compact")))
            right[kind] += relative_depth(asked, program) == sample.answer
    yield f"## HardBLINK with {expert or 'depth-anything-v2-small'}"
    yield ""
    lines = [
        (kind, f"{np.mean(used[kind]):.0f}", percent(right[kind], len(samples))) for kind in kinds
    ]
    yield from table(("program", "tokens, compact", f"right of {len(samples)}"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=PAGE, help="where to write the page")
    parser.add_argument("--hardblink", type=Path, metavar="FOLDER", help="print HardBLINK's alone")
    parser.add_argument("--expert", help="the depth expert for HardBLINK")
    parser.add_argument("--weights", type=Path, help="a folder with its weights")
    options = parser.parse_args()
    if options.hardblink is not None:
        print("\n".join(hardblink(options.hardblink, options.expert, options.weights)))
        return
    head = [
        "# Measurements",
        "",
        "<!-- Written by benchmarks/measurements.py; do not edit. -->",
        "",
        "Written by `python benchmarks/measurements.py`. What the numbers depend on is said in "
        "[Depth: readings, points, adaptive grids](depth.md) and [the format](format.md).",
    ]
    parts = [list(part()) for part in (tokens, answers, costs)]
    page = "\n\n".join("\n".join(lines) for lines in (head, *parts))
    options.out.write_text(page + "\n", encoding="utf-8")
    print(f"written: {options.out}")


if __name__ == "__main__":
    main()
