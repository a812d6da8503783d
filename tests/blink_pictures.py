"""A small benchmark made in code: jigsaw questions whose pieces really fit, as a manifest."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

QUESTION = "Which of the second and the third image is the missing lower right corner of the first?"


def jigsaw_manifest(folder: Path, count: int, *, side: int = 48, seed: int = 0) -> Path:
    """Write `count` jigsaw questions with their pictures; the right piece is A or B by turns."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    half, lines = side // 2, []
    for n in range(count):
        coarse = Image.fromarray(rng.integers(0, 256, (5, 5, 3), np.uint8))
        whole = np.asarray(coarse.resize((side, side), Image.Resampling.BICUBIC)).copy()
        right, wrong = whole[half:, half:].copy(), 255 - np.rot90(whole[half:, half:], 2)
        whole[half:, half:] = 0
        answer = "AB"[n % 2]
        pieces = (right, wrong) if answer == "A" else (wrong, right)
        names = [f"{n}_{k}.png" for k in (1, 2, 3)]
        for name, pixels in zip(names, (whole, *pieces), strict=True):
            Image.fromarray(pixels).save(folder / name)
        lines.append(
            json.dumps(
                {
                    "id": f"made_Jigsaw_{n}",
                    "task": "Jigsaw",
                    "question": QUESTION,
                    "choices": ["the second image", "the third image"],
                    "images": names,
                    "answer": answer,
                }
            )
        )
    path = folder / "questions.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
