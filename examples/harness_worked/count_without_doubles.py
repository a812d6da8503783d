"""Things counted, where the detector found one of them twice.

The picture is the coins that come with scikit-image. The detector stands in for a model: it finds their outlines
by a watershed, and then adds what detectors often give, a second box around a coin that it has already. The boxes
are not merged behind the model's back; a program over them says which two are one, and how sure that is.

    python examples/harness_worked/count_without_doubles.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence

import numpy as np
from _turns import act, missing_tool, section
from skimage.data import coins
from skimage.filters import sobel
from skimage.measure import label, regionprops
from skimage.segmentation import watershed

from perception_programs import Detections
from perception_programs.chat import ScriptedModel
from perception_programs.harness import Agent, Trajectory
from perception_programs.harness.capabilities import PythonCoding, VisualGrounding

QUESTION = "How many coins are there?"
PICTURES = ("input_image_1", "tool_image_1")
TRUTH = 24
DOUBLE = 9  # the coin that is found twice
PROGRAMS = (
    """
left, top, right, bottom = boxes_1.T
area = (right - left) * (bottom - top)
across = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
down = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
common = np.clip(across, 0, None) * np.clip(down, 0, None)
shared = common / (area[:, None] + area - common)  # intersection over union
np.fill_diagonal(shared, 0)
doubles = [(int(a) + 1, int(b) + 1) for a, b in np.argwhere(np.triu(shared > 0.5))]
for a, b in doubles:
    print(f"boxes {a} and {b} share {shared[a - 1, b - 1]:.0%} of their area: one coin")
others = np.sort(np.triu(shared).ravel())[: -len(doubles) or None]
print(f"the next most that two boxes share is {others[-1]:.0%}")
if len({b for _, b in doubles}) != len(doubles):
    raise ValueError("three boxes or more around one coin; merge them in groups")
result = {"boxes": len(boxes_1), "doubles": len(doubles), "coins": len(boxes_1) - len(doubles)}
""",
)
REPLIES = (
    act(
        "Before counting I have them found.",
        "visual_grounding",
        image="input_image_1",
        queries=["coin"],
    ),
    act(
        "25 boxes, but on the drawing one coin has two numbers. I have boxes that cover the same coin counted once.",
        "python_coding",
        objective="Count the distinct coins in boxes_1: two boxes whose intersection over union is above 0.5 are "
        "one coin. Say which boxes those are, and how much the next closest pair shares.",
        bindings=["boxes_1"],
    ),
    "25 boxes were found; two of them are around one coin, and no other two overlap. So there are 24 coins, and "
    "each has its box on the drawing.\n"
    "Answer: 24\n"
    "Evidence: boxes_1, value_1",
)


def detector(image: np.ndarray, *, labels: Sequence[str]) -> Detections:
    """The coins' true boxes, and a second one around one of them."""
    grey = image[..., 0]
    seeds = np.where(grey < 30, 1, np.where(grey > 150, 2, 0))
    regions = regionprops(label(watershed(sobel(grey), seeds) == 2))
    boxes = [(x0, y0, x1, y1) for y0, x0, y1, x1 in (r.bbox for r in regions if r.area > 300)]
    x0, y0, x1, y1 = boxes[DOUBLE]
    boxes.append((x0 - 2, y0 + 1, x1 - 1, y1 + 3))
    scores = [*np.linspace(0.94, 0.71, len(boxes) - 1).round(2), 0.46]
    height, width = grey.shape
    return Detections(boxes, scores, tuple([labels[0]] * len(boxes)), size=(width, height))


def missing() -> str | None:
    """What it needs that is not on this machine."""
    return missing_tool("python_coding")


def main(folder: str | os.PathLike[str]) -> Trajectory:
    """Run it, with its trajectory in a folder."""
    coder = ScriptedModel([f"```python{program}```" for program in PROGRAMS])
    agent = Agent(ScriptedModel(REPLIES), [VisualGrounding(detector), PythonCoding(coder=coder)])
    return agent.ask(QUESTION, [coins()], folder)


if __name__ == "__main__":
    print(section(sys.modules[__name__], main(tempfile.mkdtemp())))
