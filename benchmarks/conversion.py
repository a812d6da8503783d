"""What conversion costs beside inference, and what a batch gains, for Depth Anything V2 Small.

    python benchmarks/conversion.py

Random weights: time does not depend on them. On a processor a toy configuration is measured, on a
GPU the full size at 518 pixels, in single and half precision. The bars: image → program minus image →
result is under 10% of the latter on a processor, under 3% on a GPU.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import DepthAnythingConfig, DepthAnythingForDepthEstimation, Dinov2Config
from transformers.models.dpt.image_processing_dpt import DPTImageProcessor

from perception_programs import depth_program
from perception_programs.experts import load

SIDE = 518
BATCHES = (1, 4, 16)
FULL = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6}
TOY = {"hidden_size": 96, "num_hidden_layers": 4, "num_attention_heads": 3}


def checkpoint(folder: Path, size: dict[str, int]) -> Path:
    """A folder like that of the published checkpoint, with random weights."""
    layers = size["num_hidden_layers"]
    backbone = Dinov2Config(
        **size,
        image_size=SIDE,
        patch_size=14,
        out_indices=[layers // 4, layers // 2, 3 * layers // 4, layers],
        reshape_hidden_states=False,
        apply_layernorm=True,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=size["hidden_size"],
        neck_hidden_sizes=[48, 96, 192, 384],
        fusion_hidden_size=64,
    )
    DepthAnythingForDepthEstimation(config).save_pretrained(folder)
    DPTImageProcessor(
        size={"height": SIDE, "width": SIDE},
        ensure_multiple_of=14,
        keep_aspect_ratio=True,
        image_mean=[0.485, 0.456, 0.406],
        image_std=[0.229, 0.224, 0.225],
    ).save_pretrained(folder)
    return folder


def once(run: Callable[[], Any], device: str) -> float:
    start = time.perf_counter()
    run()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def seconds(device: str, rounds: int, *runs: Callable[[], Any]) -> list[float]:
    """The median time of each of `runs`, which take turns, after a round that is not counted."""
    times = [[once(run, device) for run in runs] for _ in range(rounds + 1)][1:]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    full = device == "cuda"
    rounds = 20 if full else 9
    print(
        f"torch {torch.__version__} on {torch.cuda.get_device_name(0) if full else 'the processor'}"
    )
    print(f"{'full size' if full else 'toy size'}, pictures of {SIDE}×{SIDE}, random weights")
    picture = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as name:
        folder = checkpoint(Path(name), FULL if full else TOY)
        for dtype in ("float32", "float16") if full else ("float32",):
            expert = load("depth-anything-v2-small", weights=folder, device=device, dtype=dtype)
            depth = expert(picture)
            result, program, conversion = seconds(
                device,
                rounds,
                lambda e=expert: e(picture),
                lambda e=expert: depth_program(picture, expert=e),
                lambda d=depth: depth_program(d),
            )
            print(
                f"{dtype}: image → result {1000 * result:.1f} ms, image → program "
                f"{1000 * program:.1f} ms: {100 * (program - result) / result:+.1f}%; the conversion "
                f"by itself {1000 * conversion:.1f} ms: {100 * conversion / result:.1f}%"
            )
            for n in BATCHES:
                pictures = [picture] * n
                (took,) = seconds(
                    device, max(2, rounds // 4), lambda e=expert, p=pictures: e.batch(p)
                )
                print(f"  batch of {n:>2}: {n / took:7.1f} pictures/s")


if __name__ == "__main__":
    main()
