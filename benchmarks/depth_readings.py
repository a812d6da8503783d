"""What each way to say depth is worth: right answers to point questions, and the tokens it takes.

Questions about random points of a map whose depth is known, the nearest at least 0.02 of the range before
the second. No expert and no language model is involved: each program is made from the true map, printed,
parsed, and read by rule (`blink.readers.relative_depth`). Compared are ranges and medians on plain grids;
adaptive grids of as many cells as print in no more tokens than the plain 10×10 of the same reading and
style; and the asked points alone, a program a question. Relations are left out.

    python benchmarks/depth_readings.py [--n 1000] [--seed 0] [--points 5] [--map motorcycle]

Maps: the stereo motorcycle of scikit-image, and two that are made here, `objects` (flat things before a
ground plane) and `corridor` (walls that run to the horizon, with posts). Tokens are o200k's where litellm is
installed (benchmarks/token_estimate.py), else the estimate. On the motorcycle the exit status says whether
points reach 99 %, medians beat ranges at no more tokens, and adaptive grids beat plain ones by 5 points.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from token_estimate import tokenizers

from perception_programs import DepthMap, PerceptionProgram, depth_program, points_program
from perception_programs.blink.ceiling import PointQuestion, point_questions
from perception_programs.blink.readers import relative_depth
from perception_programs.blink.statistics import wilson
from perception_programs.tokens import estimate_tokens

Count = Callable[[str], int]
STYLES = ("paper", "compact")


def motorcycle() -> np.ndarray:
    """The true disparity of scikit-image's stereo motorcycle, NaN where it was not measured."""
    from skimage.data import stereo_motorcycle

    disparity = stereo_motorcycle()[2]
    return np.where(np.isfinite(disparity), disparity, np.nan)


def objects() -> np.ndarray:
    """Boxes and discs at random depths before a ground that rises to the horizon."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[:480, :640]
    near = 0.1 + 0.5 * y / 480
    for _ in range(12):
        cx, cy = random.uniform(0, 640), random.uniform(96, 480)
        size, depth = random.uniform(15, 110), random.uniform(0.2, 1)
        box = (abs(x - cx) < 0.6 * size) & (abs(y - cy) < size)
        shape = box if random.random() < 0.5 else (x - cx) ** 2 + (y - cy) ** 2 < size**2
        near = np.where(shape & (depth > near), depth + 0.02 * np.sin(x / 20), near)
    return near


def corridor() -> np.ndarray:
    """Inverse depth of four walls that run to the horizon, and posts."""
    y, x = np.mgrid[:360, :640]
    across, down = abs(x - 320) / 320, abs(y - 180) / 180
    near = np.maximum(np.maximum(across, down), 0.03)
    for n in range(6):
        left = 60 + 100 * n
        near[120:, left : left + 14] = np.maximum(near[120:, left : left + 14], 0.3 + 0.1 * n)
    return near


MAPS = {"motorcycle": motorcycle, "objects": objects, "corridor": corridor}


def counter() -> tuple[str, Count]:
    """The name of the tokenizer, and what counts."""
    try:
        encoding = tokenizers()["o200k"][0]
    except (SystemExit, ImportError):
        return "estimated", estimate_tokens
    return "o200k", lambda text: len(encoding.encode_ordinary(text))  # type: ignore[attr-defined]


def grids() -> Iterator[tuple[int, int]]:
    """(rows, columns) of as many cells as each number from 100 down that has a shape, the squarest."""
    for cells in range(100, 8, -1):
        shapes = [(n, cells // n) for n in range(1, 11) if cells % n == 0 and n * n <= cells]
        yield from [shape for shape in shapes[-1:] if shape[1] <= 3 * shape[0]]


def right(
    questions: Sequence[PointQuestion], depths: Sequence[PerceptionProgram], depth: DepthMap
) -> list[bool]:
    """Whether each question is answered right, from its own program or from the one there is."""
    if len(depths) == 1:
        depths = list(depths) * len(questions)
    return [
        relative_depth(points_program(question.points, size=depth.size), program) == question.answer
        for question, program in zip(questions, depths, strict=True)
    ]


@cache
def grown(depth: DepthMap, reading: str, grid: tuple[int, int]) -> PerceptionProgram:
    """The adaptive program of at most as many cells as `grid` has."""
    return depth_program(depth, grid=grid, reading=reading, adaptive=True, relations=False)


def adaptive(
    depth: DepthMap, reading: str, style: str, most: int, count: Count
) -> PerceptionProgram:
    """The one with the largest budget that prints in at most `most` tokens."""
    found = (grown(depth, reading, grid) for grid in grids())
    return next(program for program in found if count(program.to_text(style)) <= most)


def rows(
    depth: DepthMap, questions: Sequence[PointQuestion], style: str, count: Count
) -> Iterator[tuple[str, int, float, int]]:
    """(what, cells, share right, tokens) of each way to say depth."""

    def measured(name: str, *programs: PerceptionProgram) -> tuple[str, int, float, int]:
        texts = [program.to_text(style) for program in programs]
        read = [PerceptionProgram.from_text(text) for text in texts]
        share = float(np.mean(right(questions, read, depth)))
        return name, len(read[0]), share, round(float(np.mean([count(text) for text in texts])))

    for reading in ("range", "median"):
        for side in (10, 16):
            plain = depth_program(depth, grid=side, reading=reading, relations=False)
            yield measured(f"{reading} {side}×{side}", plain)
            if side == 10:
                most = count(plain.to_text(style))
                found = adaptive(depth, reading, style, most, count)
                yield measured(f"{reading} adaptive", found)
    yield measured(
        "points",
        *(
            depth_program(depth, grid=None, points=question.points, relations=False)
            for question in questions
        ),
    )


def holds(share: dict[str, float], tokens: dict[str, int]) -> bool:
    """What must be so on the motorcycle."""
    medians = all(
        share[f"median {side}"] > share[f"range {side}"]
        and tokens[f"median {side}"] <= tokens[f"range {side}"]
        for side in ("10×10", "16×16")
    )
    cut = all(
        share[f"{reading} adaptive"] >= share[f"{reading} 10×10"] + 0.05
        and tokens[f"{reading} adaptive"] <= tokens[f"{reading} 10×10"]
        for reading in ("range", "median")
    )
    return share["points"] >= 0.99 and medians and cut


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=1000, help="number of questions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--points", type=int, default=5, help="points a question")
    parser.add_argument("--map", choices=MAPS, default="motorcycle")
    options = parser.parse_args()
    depth = DepthMap(MAPS[options.map](), kind="relative")
    questions = point_questions(depth, options.n, options.seed, points=options.points)
    tokenizer, count = counter()
    print(
        f"{options.map}, n = {options.n} questions of {options.points} points, seed {options.seed}; "
        "percent right with the Wilson interval at 95 %"
    )
    kept = True
    start = time.perf_counter()
    for style in STYLES:
        print(f"\n{style:<20}{'cells':>6}  {'right':<20}tokens ({tokenizer})")
        found = list(rows(depth, questions, style, count))
        for name, cells, share, tokens in found:
            low, high = wilson(round(share * options.n), options.n) or (0.0, 1.0)
            shown = f"{100 * share:5.1f} ({100 * low:.1f}-{100 * high:.1f})"
            print(f"{name:<20}{cells:>6}  {shown:<20}{tokens}")
        kept &= holds({row[0]: row[2] for row in found}, {row[0]: row[3] for row in found})
    print(f"\nin {time.perf_counter() - start:.0f} s")
    if options.map == "motorcycle":
        print("holds" if kept else "does not hold")
        raise SystemExit(not kept)


if __name__ == "__main__":
    main()
