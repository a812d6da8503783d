"""How well relative depth can be read from a depth program, by grid: the ceiling of the evidence.

1,000 questions about 5 random points of the stereo motorcycle of scikit-image whose disparity was
measured, the nearest at least 0.02 of the range before the second. No expert and no language model is
involved: the program is made from the true disparity, printed, parsed, and read by the published rule,
the middle of the range of the cell nearest to each point. Beside it what the mean of that cell would
give, which the program does not hold.

    python benchmarks/reading_ceiling.py [--n 1000] [--seed 0] [--grids 8 10 16 24 32]
"""

from __future__ import annotations

import argparse

import numpy as np
from skimage.data import stereo_motorcycle

from perception_programs import DepthMap
from perception_programs.blink.ceiling import accuracy_by_grid
from perception_programs.blink.statistics import wilson


def share(right: int, n: int) -> str:
    """A share in percent with its Wilson interval."""
    low, high = wilson(right, n) or (0.0, 1.0)
    return f"{100 * right / n:5.1f} ({100 * low:.1f}-{100 * high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=1000, help="number of questions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--grids", type=int, nargs="+", default=[8, 10, 16, 24, 32])
    options = parser.parse_args()
    disparity = stereo_motorcycle()[2]
    depth = DepthMap(np.where(np.isfinite(disparity), disparity, np.nan), kind="relative")
    print(
        f"n = {options.n} questions of 5 points, seed {options.seed}; percent right, with the Wilson "
        "interval at 95 %"
    )
    print(f"{'grid':>7}  {'middle of the range':<22}{'mean of the cell':<20}")
    for found in accuracy_by_grid(depth, options.grids, n=options.n, seed=options.seed):
        grid = f"{found.grid.rows}×{found.grid.cols}"
        middles, means = share(found.middles, found.n), share(found.means, found.n)
        print(f"{grid:>7}  {middles:<22}{means:<20}")


if __name__ == "__main__":
    main()
