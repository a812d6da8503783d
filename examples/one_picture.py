"""One picture as programs of several styles and kinds, with what each costs: docs/one-picture.md.

    python examples/one_picture.py [FOLDER]

The picture is the stereo motorcycle that comes with scikit-image. Its depth is the true disparity, its
motion the one from the left eye to the right; the boxes stand for what a detector finds. Tokens are
counted by o200k's tokenizer, whose file comes with `litellm` (extra `eval`).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from skimage.data import stereo_motorcycle

from perception_programs import (
    DepthMap,
    Detections,
    FlowField,
    depth_program,
    scene_program,
)

POINTS = {"A": (600, 370), "B": (160, 130), "C": (560, 60), "D": (200, 320)}
OBJECTS = {
    "motorcycle": (90, 60, 685, 450),
    "bench": (40, 105, 285, 310),
    "shelf": (340, 0, 735, 292),
    "bicycle": (0, 100, 90, 230),
    "red box": (520, 180, 620, 255),
}
SCORES = (0.98, 0.87, 0.91, 0.64, 0.72)
FOLDED = 1500  # characters from which a block is folded


def tokens(text: str) -> int:
    """o200k's count."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        raise SystemExit('tokens: needs litellm: pip install "perception-programs[eval]"')
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    return len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))


def programs() -> dict[str, tuple[str, str]]:
    """Each program's text, with what it is for."""
    left, _, disparity = stereo_motorcycle()
    height, width = disparity.shape
    known = np.isfinite(disparity)
    depth = DepthMap(np.where(known, disparity, np.nan), kind="relative")
    flow = FlowField(np.dstack([np.where(known, -disparity, np.nan), 0 * left[..., 0]]))
    found = Detections(list(OBJECTS.values()), SCORES, tuple(OBJECTS), size=(width, height))
    cells = depth_program(depth, relations=False)
    adaptive = depth_program(depth, adaptive=True, reading="median", relations=False)
    return {
        "Depth, style `paper`": (
            str(cells),
            "The published block: 10×10 cells, the range of nearness in each.",
        ),
        "Depth, style `compact`": (
            cells.to_text("compact"),
            'The same facts: `to_text("compact")`.',
        ),
        "Depth, adaptive": (
            adaptive.to_text("compact"),
            "As many cells, smaller where the picture has depth edges: `adaptive=True`, "
            '`reading="median"`.',
        ),
        "Depth at the points": (
            depth_program(depth, points=POINTS, grid=None).to_text("compact"),
            "Only what a question about four points needs: `points=`, `grid=None`.",
        ),
        "Scene": (
            scene_program(depth=depth, detections=found, flow=flow).to_text("compact"),
            "Objects with their nearness and motion, and how they stand to each other.",
        ),
        "Depth in 300 tokens": (
            str(cells.fit(300, tokens)),
            "`fit(300, tokens)`: the note says what was given up.",
        ),
    }


def page() -> str:
    """The page in Markdown."""
    made = programs()
    paper = tokens(next(iter(made.values()))[0])
    lines = [
        "# One picture, several programs",
        "",
        "<!-- Written by examples/one_picture.py; do not edit. -->",
        "",
        "![The picture with its points and boxes](images/one-picture.jpg)",
        "",
        "This page is written by `examples/one_picture.py`. The picture is the stereo motorcycle that "
        "comes with scikit-image; its depth is the true disparity, its motion the one from the left eye "
        "to the right. The boxes were drawn by hand and stand for a detector's.",
        "",
        "| program | tokens (o200k) | share of the published style |",
        "|---|---|---|",
    ]
    for name, (text, _) in made.items():
        count = tokens(text)
        lines.append(f"| {name} | {count:,} | {count / paper:.1%} |")
    for name, (text, about) in made.items():
        lines += ["", f"## {name}", "", about, ""]
        block = ["```text", text, "```"]
        if len(text) > FOLDED:
            summary = f"<summary>{tokens(text):,} tokens</summary>"
            block = ['<details markdown="1">', summary, "", *block, "", "</details>"]
        lines += block
    return "\n".join(lines) + "\n"


def picture() -> Image.Image:
    """The left picture with the points and boxes drawn on it."""
    image = Image.fromarray(stereo_motorcycle()[0])
    draw = ImageDraw.Draw(image)
    for label, box in OBJECTS.items():
        draw.rectangle(box, outline=(255, 235, 60), width=2)
        _tag(draw, (box[0] + 3, box[1] + 3), label)
    for letter, (x, y) in POINTS.items():
        draw.ellipse((x - 5, y - 5, x + 5, y + 5), fill=(255, 60, 60), outline=(255, 255, 255))
        _tag(draw, (x + 8, y - 8), letter)
    return image


def _tag(draw: ImageDraw.ImageDraw, place: tuple[float, float], text: str) -> None:
    left, top, right, bottom = draw.textbbox(place, text, font_size=16)
    draw.rectangle((left - 2, top - 2, right + 2, bottom + 2), fill=(0, 0, 0))
    draw.text(place, text, fill=(255, 255, 255), font_size=16)


def main() -> None:
    docs = Path(__file__).resolve().parent.parent / "docs"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else docs
    (folder / "images").mkdir(parents=True, exist_ok=True)
    (folder / "one-picture.md").write_text(page(), encoding="utf-8")
    picture().save(folder / "images" / "one-picture.jpg", quality=85)
    print(f"written: {folder / 'one-picture.md'}")


if __name__ == "__main__":
    main()
