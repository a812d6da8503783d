"""Text read, one line of it again, and a computation over the words.

The picture is the scanned page that comes with scikit-image. One line is read badly, and its score says so. The
model has it enlarged and read again, and a program puts it in its place before it counts.

    python examples/harness_worked/read_and_compute.py
"""

from __future__ import annotations

import os
import sys
import tempfile

from _turns import act, missing_tool, section
from skimage.data import page

from perception_programs.chat import ScriptedModel
from perception_programs.harness import Agent, Trajectory
from perception_programs.harness.capabilities import PythonCoding, ReadText, ZoomIn

QUESTION = "How many words does the paragraph between the heading and the line of code have?"
PICTURES = ("input_image_1", "tool_image_1")
TRUTH = 41
PROGRAMS = (
    """
unsure = [n for n, score in enumerate(boxes_1_scores) if score < 0.9]
if len(unsure) != 1:
    raise ValueError(f"expected one line to replace, got {len(unsure)}")
# boxes_2 is in pixels of the strip, twice as large, whose top is at 48 % of the page's 191 pixels
middle = (boxes_2[:, 1] + boxes_2[:, 3]) / 2 / 2 + int(0.48 * 191)
line = (boxes_1[unsure[0], 1] + boxes_1[unsure[0], 3]) / 2
again = int(np.argmin(np.abs(middle - line)))
print(f"line {unsure[0] + 1} is at {line:.0f}, the nearest of boxes_2 at {middle[again]:.0f}")
lines = list(boxes_1_labels)
lines[unsure[0]] = boxes_2_labels[again]
paragraph = lines[1:-1]  # without the heading and the indented line of code
for text in paragraph:
    print(len(text.split()), text)
result = sum(len(text.split()) for text in paragraph)
""",
)
REPLIES = (
    act("I have the page read.", "read_text", image="input_image_1"),
    act(
        "Six lines are sure, the fifth is not: 0.577, and its words make no sense. I enlarge that strip.",
        "zoom_in",
        image="input_image_1",
        box=[0, 480, 1000, 660],
        scale=2,
    ),
    act("I have the strip read.", "read_text", image="tool_image_1"),
    act(
        "Now that line is sure, between parts of its neighbours that the cut went through. I have it put in its "
        "place and the words counted.",
        "python_coding",
        objective="In boxes_1 the one line with a score below 0.9 was misread. tool_image_1 is [0, 480, 1000, 660] "
        "of input_image_1 (0-1000), twice as large; boxes_2 has its lines in its pixels, and the line that lies "
        "nearest in height is the right reading. Put it in, leave out the first line (heading) and the last "
        "(code), and count the words of the others. Print each line with its count.",
        bindings=["boxes_1", "boxes_2"],
    ),
    "The paragraph's five lines have 10, 9, 7, 11 and 4 words.\n"
    "Answer: 41\n"
    "Evidence: boxes_1, boxes_2, value_1",
)


def missing() -> str | None:
    """What it needs that is not on this machine."""
    return missing_tool("read_text") or missing_tool("python_coding")


def main(folder: str | os.PathLike[str]) -> Trajectory:
    """Run it, with its trajectory in a folder."""
    coder = ScriptedModel([f"```python{program}```" for program in PROGRAMS])
    tools = [ZoomIn(), ReadText(), PythonCoding(coder=coder)]
    return Agent(ScriptedModel(REPLIES), tools).ask(QUESTION, [page()], folder)


if __name__ == "__main__":
    print(section(sys.modules[__name__], main(tempfile.mkdtemp())))
