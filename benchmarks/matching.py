"""How many of each matcher's pairs are right, where the truth is known.

On the stereo motorcycle of scikit-image: the distance of each match from the true one, in pixels. On
pairs of pictures of rooms with known cameras: the share of matches whose symmetric epipolar error, in
normalised coordinates, is below 5e-4 (the measure of the SuperGlue paper); a matcher that finds nothing
in a pair has a share of 0 there.

    python benchmarks/matching.py --data FOLDER [--experts disk-lightglue sift] [--threads 2]

FOLDER holds `scannet_pairs`; without it only the motorcycle is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from perception_programs import Matches
from perception_programs.experts import load

LIMIT = 5e-4


def motorcycle_errors(matches: Matches, disparity: Any) -> Any:
    """N×2 distance (x, y) of the partner from the true one, for matches whose truth is known."""
    column, row = np.rint(matches.points1).astype(int).T
    # The left picture's point (x, y) is at (x - disparity, y) in the right one.
    shift = np.stack([disparity[row, column], np.zeros(len(row))], axis=1)
    errors = matches.points2 - (matches.points1 - shift)
    return errors[np.isfinite(errors).all(axis=1)]


def epipolar_errors(matches: Matches, pair: dict[str, Any]) -> Any:
    """N squared symmetric epipolar distances, in coordinates normalised by the intrinsics."""
    points = [
        _normalised(points, np.reshape(pair[key], (3, 3)))
        for points, key in ((matches.points1, "K0"), (matches.points2, "K1"))
    ]
    pose = np.reshape(pair["T_0to1"], (4, 4))
    x, y, z = pose[:3, 3]
    essential = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ pose[:3, :3]
    lines1, lines0 = points[0] @ essential.T, points[1] @ essential
    residual = (points[1] * lines1).sum(axis=1) ** 2
    return residual * sum(1 / (line[:, :2] ** 2).sum(axis=1) for line in (lines0, lines1))


def room_pairs(folder: Path) -> Iterator[dict[str, Any]]:
    """What is known of each pair, the pictures' paths among it."""
    for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        yield {**pair, "paths": [folder / pair["image0"], folder / pair["image1"]]}


def share_right(matches: Matches, pair: dict[str, Any]) -> float:
    """Share of the matches with a small epipolar error; 0 when there are none."""
    return float((epipolar_errors(matches, pair) < LIMIT).mean()) if len(matches) else 0.0


def _normalised(points: Any, intrinsics: Any) -> Any:
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    return homogeneous @ np.linalg.inv(intrinsics).T


def _timed(expert: Any, first: Any, second: Any) -> tuple[Matches, float]:
    start = time.perf_counter()
    matches = expert(first, second)
    return matches, time.perf_counter() - start


def _motorcycle(experts: dict[str, Any]) -> None:
    from skimage.data import stereo_motorcycle

    left, right, disparity = stereo_motorcycle()
    print(
        f"{'stereo motorcycle':<22}{'matches':>8}{'< 3 px':>8}{'median':>8}{'x':>7}{'y':>7}{'s':>7}"
    )
    for name, expert in experts.items():
        matches, seconds = _timed(expert, left, right)
        errors = motorcycle_errors(matches, disparity)
        distance = np.hypot(*errors.T)
        right_x, right_y = np.median(errors, axis=0)
        print(
            f"{name:<22}{len(matches):>8}{(distance < 3).mean():>8.1%}{np.median(distance):>8.2f}"
            f"{right_x:>7.2f}{right_y:>7.2f}{seconds:>7.2f}"
        )


def _rooms(experts: dict[str, Any], folder: Path) -> None:
    print(f"\n{'pair':<30}" + "".join(f"{name:>32}" for name in experts))
    print(" " * 30 + f"{'matches   right  inlier      s':>32}" * len(experts))
    rows = []
    for pair in room_pairs(folder):
        row = []
        for expert in experts.values():
            matches, seconds = _timed(expert, *pair["paths"])
            agree = float(matches.inliers.mean()) if len(matches) else 0.0
            row.append((len(matches), share_right(matches, pair), agree, seconds))
        rows.append(row)
        print(f"{pair['image0'][:26]:<30}" + "".join(map(_cell, row)), flush=True)
    means = np.mean(rows, axis=0)
    print(f"{'mean':<30}" + "".join(map(_cell, means)))
    *others, last = experts
    for name, mean in zip(others, means[:-1], strict=True):
        share, seconds = mean[1] / means[-1][1], mean[3] / means[-1][3]
        print(f"{name}: {share:.2f} times the share and {seconds:.1f} times the time of {last}")


def _cell(values: Any) -> str:
    count, right, agree, seconds = values
    return f"{count:>15.0f}{right:>8.1%}{agree:>8.1%} {seconds:>.2f}".rjust(32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=os.environ.get("P2_SHARED_DATA"))
    parser.add_argument("--experts", nargs="+", default=["disk-lightglue", "sift"])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, help="of PyTorch on the CPU")
    arguments = parser.parse_args()
    if arguments.threads:
        import torch

        torch.set_num_threads(arguments.threads)
    experts = {
        name: load(name)
        if name == "sift"
        else load(name, device=arguments.device, verify="epipolar")
        for name in arguments.experts
    }
    _motorcycle(experts)
    if arguments.data is not None:
        _rooms(experts, Path(arguments.data) / "scannet_pairs")


if __name__ == "__main__":
    main()
