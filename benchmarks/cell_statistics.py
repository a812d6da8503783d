"""Per-cell statistics against numpy's own whole-array min + max + mean, in the same run.

    python benchmarks/cell_statistics.py

Prints the ratio of the two for three picture sizes and three grids. The bar is 2.5 at 1080p and above.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from perception_programs.geometry import Grid, cell_statistics

SIZES = {"480p": (480, 854), "1080p": (1080, 1920), "4K": (2160, 3840)}
GRIDS = (10, 16, 64)
ROUNDS = 15


def once(run: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


def ratio(field: np.ndarray, grid: Grid, repeats: int) -> tuple[float, float]:
    """Median time of numpy's three reductions, and the median of ours over theirs, round by round."""
    whole, ratios = [], []
    for _ in range(ROUNDS):
        base = once(lambda: (field.min(), field.max(), field.mean()), repeats)
        ours = once(lambda: cell_statistics(field, grid), repeats)
        whole.append(base)
        ratios.append(ours / base)
    return statistics.median(whole), statistics.median(ratios)


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"numpy {np.__version__}; float32 fields; median of {ROUNDS} rounds")
    print(f"{'size':>6} {'grid':>6} {'numpy ms':>9} {'ratio':>6}")
    for name, (height, width) in SIZES.items():
        field = rng.random((height, width), np.float32)
        repeats = max(1, 8_000_000 // field.size)
        for side in GRIDS:
            seconds, times = ratio(field, Grid.of(side), repeats)
            print(f"{name:>6} {side:>3}×{side:<3}{1000 * seconds:>8.2f} {times:>6.2f}")


if __name__ == "__main__":
    main()
