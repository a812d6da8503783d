"""What a program costs in each style: tokens by modality, style and tokenizer.

    python -m pip install litellm dashscope scikit-image
    python benchmarks/tokens_by_style.py

Both tokenizers' files come inside their wheels, so nothing is fetched. Each style's tokens are counted
for the whole block, tags and note included, and compared with the style `paper` of the same program. The
exit status is 1 if `compact` is over its budget by o200k's count.
"""

from __future__ import annotations

import numpy as np
from token_estimate import real_size, tokenizers

import perception_programs as pp
from perception_programs.text import STYLES

# The share of the style `paper` that `compact` may take, by o200k and by Qwen, which spends a token on
# every digit.
BUDGETS = {
    "depth 10×10": (0.20, 0.20),
    "depth 10×10, relations": (0.20, 0.20),
    "flow 10×10": (0.14, 0.14),
    "300 matches": (0.35, 0.48),
    "20 detections": (0.45, 0.55),
    "jigsaw": (0.80, 0.80),
    "semantic": (0.80, 0.80),
}


def programs() -> dict[str, pp.PerceptionProgram]:
    """Programs of the size that an evaluation asks about."""
    made = real_size()
    depth = made["depth 10×10, relations"] = made["depth 10×10"]
    made["depth 10×10"] = pp.PerceptionProgram(
        depth.modality, depth.granularity, depth.items, grid=depth.grid, note=depth.note
    )
    random = np.random.default_rng(0)
    sides = {"left": (0, 0, 4, 120), "top": (0, 0, 160, 4)}
    borders = {
        letter: {
            side: {
                "structural": random.uniform(),
                "colour": random.uniform(),
                "edge": random.uniform(),
                "box": box,
            }
            for side, box in sides.items()
        }
        for letter in "AB"
    }
    made["jigsaw"] = pp.jigsaw_program(pp.EdgeScores(borders, dict.fromkeys("AB", (160, 120))))
    size = (640, 480)
    points = {letter: random.uniform((0, 0), size) for letter in "ABCD"}
    scores = {letter: random.uniform(-0.2, 1) for letter in points}
    made["semantic"] = pp.semantic_program(pp.PointScores(points, scores, (320, 240), size))
    first = ("depth 10×10", "depth 10×10, relations")
    return {name: made[name] for name in (*first, *(n for n in made if n not in first))}


def main() -> None:
    made = tokenizers()
    print("| program | style | " + " | ".join(f"{name} | share | budget" for name in made) + " |")
    print("|---|---|" + "---:|---:|---:|" * len(made))
    over = []
    for name, program in programs().items():
        texts = {style: program.to_text(style) for style in STYLES}
        for style, text in texts.items():
            cells = [name, style]
            for n, (tokenizer, (encoding, _)) in enumerate(made.items()):
                count = len(encoding.encode_ordinary(text))
                share = count / len(encoding.encode_ordinary(texts["paper"]))
                budget = BUDGETS[name][n] if style == "compact" and name in BUDGETS else None
                cells += [f"{count}", f"{share:.1%}", "" if budget is None else f"{budget:.0%}"]
                if budget is not None and share > budget:
                    over.append((name, tokenizer))
            print(f"| {' | '.join(cells)} |")
    print()
    for name, tokenizer in over:
        print(f"over budget: {name}, {tokenizer}")
    raise SystemExit(any(tokenizer == "o200k" for _, tokenizer in over))


if __name__ == "__main__":
    main()
