"""Small letters, read once they are enlarged.

The picture is the stereo motorcycle that comes with scikit-image. The maker's name stands on it twice, in letters
some 15 pixels high, and the reader takes both for something else. The two readings differ, which is a reason not
to believe either; enlarged, the name is read right.

    python examples/harness_worked/zoom_to_read.py
"""

from __future__ import annotations

import os
import sys
import tempfile

from _turns import act, missing_tool, section
from skimage.data import stereo_motorcycle

from perception_programs.chat import ScriptedModel
from perception_programs.harness import Agent, Trajectory
from perception_programs.harness.capabilities import ReadText, ZoomIn

QUESTION = "Which maker's name stands on the motorcycle?"
PICTURES = ("input_image_1", "tool_image_1")
REPLIES = (
    act("There are letters on the tank. I have them read.", "read_text", image="input_image_1"),
    act(
        "Two readings of what looks like one name, and neither is sure. I enlarge the part that has both.",
        "zoom_in",
        image="input_image_1",
        box=[460, 320, 660, 720],
        scale=2,
    ),
    act("Now the letters are twice as large.", "read_text", image="tool_image_1"),
    "Enlarged, one of the two is read with a score of 0.97, as the name of a maker of motorcycles. Both first "
    "readings differ from it in letters that look alike.\n"
    "Answer: YAMAHA\n"
    "Evidence: boxes_2",
)


def missing() -> str | None:
    """What it needs that is not on this machine."""
    return missing_tool("read_text")


def main(folder: str | os.PathLike[str]) -> Trajectory:
    """Run it, with its trajectory in a folder."""
    agent = Agent(ScriptedModel(REPLIES), [ZoomIn(), ReadText()])
    return agent.ask(QUESTION, [stereo_motorcycle()[0]], folder)


if __name__ == "__main__":
    print(section(sys.modules[__name__], main(tempfile.mkdtemp())))
