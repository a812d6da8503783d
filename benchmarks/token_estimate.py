"""How far the estimate of tokens is from o200k's and Qwen's counts.

    python -m pip install litellm dashscope
    python benchmarks/token_estimate.py

Both tokenizers' files come inside those wheels, so nothing is fetched. Measured: the sample programs of
the tests and programs of real size in every style, the sample prompts, tables of integers, and prose.
`--counts` prints the counts of the sample programs that `tests/test_tokens.py` has written down.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

import perception_programs as pp
from perception_programs.text import STYLES
from perception_programs.tokens import estimate_tokens

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from sample_programs import samples  # noqa: E402
from sample_prompts import prompts  # noqa: E402

BAR = 0.10
SHORT = 24  # tokens below which a text is too short for a share to mean much


def package_folder(name: str) -> Path:
    """The folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"this benchmark needs {name}: python -m pip install {name}")
    return Path(spec.origin).parent


def tokenizers() -> dict[str, tuple[object, int]]:
    """Each tokenizer with the digits that one of its tokens holds."""
    folder = package_folder("litellm") / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    ranks = {}
    with (package_folder("dashscope") / "resources" / "qwen.tiktoken").open("rb") as file:
        for line in filter(None, map(bytes.strip, file)):
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    qwen = tiktoken.Encoding("qwen", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return {"o200k": (tiktoken.get_encoding("o200k_base"), 3), "Qwen": (qwen, 1)}


def real_size() -> dict[str, pp.PerceptionProgram]:
    """Programs as large as an evaluation's, from the true disparity of the stereo motorcycle."""
    from skimage.data import stereo_motorcycle

    disparity = stereo_motorcycle()[2]
    depth = pp.DepthMap(np.where(np.isfinite(disparity), disparity, np.nan), kind="relative")
    height, width = disparity.shape
    known = np.nan_to_num(disparity, posinf=0)
    random = np.random.default_rng(0)
    size = (width, height)
    starts = random.uniform((60, 0), size, (300, 2))
    ends = starts - [[known[int(y), int(x)], 0] for x, y in starts]
    corners = random.uniform(0, (width / 2, height / 2), (20, 2))
    boxes = np.hstack([corners, corners + random.uniform(20, 200, (20, 2))])
    names = ("person", "traffic light", "car", "stop sign", "potted plant")
    classes = pp.Segmentation((known > 40).astype(int), ["wall", "motor bike"])
    return {
        "depth 10×10": pp.depth_program(depth),
        "depth 10×10, labels, relations": pp.depth_program(depth, labels=classes, relations=True),
        "depth 32×32": pp.depth_program(depth, grid=32),
        "flow 10×10": pp.flow_program(np.dstack([-known, 0 * known])),
        "300 matches": pp.correspondence_program(pp.Matches(starts, ends, size1=size, size2=size)),
        "20 detections": pp.detection_program(
            pp.Detections(boxes, random.uniform(0.3, 1, 20), names * 4, size=size)
        ),
        "segmentation 10×10": pp.segmentation_program(classes, grid=10),
        "albedo 10×10": pp.albedo_program(known / known.max(), grid=10),
    }


def tables() -> dict[str, str]:
    """Integers in thousandths and rows of letters, in the layouts a denser style may take."""
    made = {}
    for side in (10, 32):
        values = np.random.default_rng(side).integers(0, 1001, (side, side))
        for name, separator in {"spaces": " ", "commas": ",", "tabs": "\t", "bars": " | "}.items():
            made[f"{side}×{side} integers, {name}"] = "\n".join(
                separator.join(map(str, row)) for row in values
            )
        made[f"{side}×{side} integers, aligned"] = "\n".join(
            " ".join(f"{value:4d}" for value in row) for row in values
        )
        made[f"{side}×{side} integers, JSON"] = json.dumps(values.tolist())
        made[f"{side}×{side} pairs"] = "\n".join(
            " ".join(f"{value}-{value + 20}" for value in row) for row in values
        )
        for name, separator in {"spaced letters": " ", "letters": ""}.items():
            made[f"{side}×{side} {name}"] = "\n".join(
                separator.join("LR"[int(value > 400)] for value in row) for row in values
            )
    return made


def texts() -> dict[str, dict[str, str]]:
    """Everything measured, by group."""
    groups: dict[str, dict[str, str]] = {}
    for group, programs in (("sample programs", samples()), ("real-size programs", real_size())):
        groups[group] = {
            f"{name}, {style}": program.to_text(style)
            for name, program in programs.items()
            for style in STYLES
        }
    groups["prompts"] = {
        name: "\n\n".join(message.text for message in messages)
        for name, messages in prompts().items()
    }
    groups["tables"] = tables()
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs/experts").glob("*.md"),
    ]
    groups["prose"] = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in pages}
    return groups


def counts() -> None:
    """The counts of the sample programs, as JSON."""
    made = tokenizers()
    found = {
        name: {
            style: [len(t.encode_ordinary(program.to_text(style))) for t, _ in made.values()]
            for style in STYLES
        }
        for name, program in samples().items()
    }
    print("{" + ",\n".join(f'"{name}": {json.dumps(row)}' for name, row in found.items()) + "}")


def main() -> None:
    made = tokenizers()
    worst_of_all = 0.0
    print("| texts | n | tokenizer | mean error | worst | where |\n|---|---|---|---|---|---|")
    for group, members in texts().items():
        for tokenizer, (encoding, digits) in made.items():
            errors = {}
            for name, text in members.items():
                count = len(encoding.encode_ordinary(text))
                if count >= SHORT:
                    errors[name] = estimate_tokens(text, digits=digits) / count - 1
            worst = max(errors, key=lambda name: abs(errors[name]))
            worst_of_all = max(worst_of_all, abs(errors[worst]))
            mean = np.mean([abs(e) for e in errors.values()])
            print(
                f"| {group} | {len(errors)} | {tokenizer} | {mean:.1%} | {errors[worst]:+.1%} "
                f"| {worst} |"
            )
    text = (real_size()["depth 32×32"].to_text() * 2)[:100_000]
    start = time.perf_counter()
    estimate_tokens(text)
    print(f"\n100 kB in {1000 * (time.perf_counter() - start):.0f} ms")
    print(f"worst of all {worst_of_all:.1%}, the bar is {BAR:.0%}")
    raise SystemExit(worst_of_all > BAR)


if __name__ == "__main__":
    counts() if sys.argv[1:] == ["--counts"] else main()
