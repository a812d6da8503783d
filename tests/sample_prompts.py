"""One small prompt of every task in every setting, the same each time.

`python tests/sample_prompts.py` writes the snapshots anew: look at the difference before committing it,
and say in the CHANGELOG what changed.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from perception_programs import PerceptionProgram
from perception_programs.chat import Message, Picture
from perception_programs.prompts import (
    SETTINGS,
    Example,
    Question,
    build,
    rationale_request,
    render,
)
from sample_programs import samples

FOLDER = Path(__file__).parent / "snapshots" / "prompts"

# By guidance: the question, the options, how many images, title and sample of each program, captions.
TASKS = {
    "depth": (
        "Which of the marked points is closest to the camera?",
        {"A": "A is closest", "B": "B is closest"},
        1,
        {"Marked points": "point-detection", "Depth": "depth"},
        ("Depth map of image 1; brighter is nearer",),
    ),
    "multi-view": (
        "Does the camera move left (clockwise) or right between the two frames?",
        {"A": "left", "B": "right"},
        2,
        {"Motion from image 1 to image 2": "flow"},
        ("Motion from image 1 to image 2, drawn as colours",),
    ),
    "correspondence": (
        "Which point of image 2 is the spot that is marked REF in image 1?",
        {"A": "Point A", "B": "Point B"},
        2,
        {"Marked points": "point-detection-two", "Matches": "correspondence"},
        ("Matches between image 1 and image 2, joined by lines",),
    ),
    "jigsaw": (
        "Which piece is missing in the lower right corner of the first image?",
        {"A": "the second image", "B": "the third image"},
        3,
        {"Borders of the candidates": "jigsaw"},
        ("Image 1 completed with candidate A", "Image 1 completed with candidate B"),
    ),
    "localisation": (
        "Which box fits the dog better?",
        {"A": "Box A", "B": "Box B"},
        1,
        {"Candidate boxes": "point-detection-boxes", "Detected objects": "object-detection"},
        ("Detected objects drawn on image 1",),
    ),
    "semantic": (
        "Which point of image 2 is the same part as the one marked REF in image 1?",
        {"A": "Point A", "B": "Point B"},
        2,
        {"Similarity to REF": "semantic"},
        ("Similarity drawn at the points of image 2; larger discs are more alike",),
    ),
}


@cache
def _samples() -> dict[str, PerceptionProgram]:
    return samples()


def question(guidance: str, prefix: str = "", *, seen: bool = True) -> Question:
    text, options, images, programs, captions = TASKS[guidance]
    return Question(
        text,
        options,
        images=[Picture(b"", f"{prefix}image-{n}.png") for n in range(1, images + 1)]
        if seen
        else (),
        programs=[(title, _samples()[name]) for title, name in programs.items()],
        tool_pictures=[
            (caption, Picture(b"", f"{prefix}tool-{n}.png"))
            for n, caption in enumerate(captions, 1)
        ],
        guidance=guidance,
    )


def example(guidance: str) -> Example:
    return Example(question(guidance, "example-"), "The evidence is for B.\nAnswer: (B)")


def prompts() -> dict[str, tuple[Message, ...]]:
    """The conversations by the name of their snapshot."""
    made = {}
    for guidance in TASKS:
        for setting in SETTINGS:
            asked = question(guidance)
            made[f"{guidance}.{setting}"] = build(asked, setting)
            made[f"{guidance}.{setting}.one-shot"] = build(
                asked, setting, cautions=["all"], example=example(guidance)
            )
    made["depth.p2.cautions"] = build(question("depth"), "p2", cautions=["all"])
    made["depth.p2.text-only"] = build(question("depth", seen=False), "p2")
    made["jigsaw.p2.rationale"] = rationale_request(question("jigsaw"), "p2", "B")
    return made


def snapshot(name: str) -> Path:
    return FOLDER / f"{name}.txt"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, messages in prompts().items():
        snapshot(name).write_text(render(messages) + "\n", encoding="utf-8", newline="\n")
