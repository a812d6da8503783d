"""A distance in metres, checked in a second view.

The pictures are the stereo motorcycle that comes with scikit-image. Its true disparity, as metres, stands in for a
depth model. A program puts both points into space by the camera's intrinsics and measures between them; then it
looks whether the right picture has each of them where the left camera's depth says it must be, and measures once
more from what it finds there. A depth that is wrong at one of the points would show.

    python examples/harness_worked/distance_in_two_views.py
"""

from __future__ import annotations

import os
import sys
import tempfile

import numpy as np
from _turns import act, section
from skimage.data import stereo_motorcycle

from perception_programs import DepthMap, ToolError
from perception_programs.chat import ScriptedModel
from perception_programs.harness import Agent, Trajectory
from perception_programs.harness.capabilities import DepthEstimation
from perception_programs.harness.capabilities.coding import PythonCoding

FOCAL, CENTRE, OFFSET, BASELINE = 994.978, (311.193, 254.877), 31.086, 0.193001
TAIL, HUB = (106, 211), (580, 377)
QUESTION = (
    f"The pictures are the left and the right one of a stereo camera: focal length {FOCAL} px, principal point of the "
    f"left picture {CENTRE}, of the right one {OFFSET} px further right, and the right camera {BASELINE} m to the "
    f"right of the left one. How many metres is it from the tail light, at pixel {TAIL} of the left picture, to the "
    f"hub of the front wheel, at {HUB}?"
)
PICTURES = ("input_image_1", "input_image_2", "tool_image_1")
TRUTH = 1.232  # by the disparity itself
PROGRAMS = (
    """
import cv2
f, cx, cy, offset, baseline = 994.978, 311.193, 254.877, 31.086, 0.193001
left, right = (cv2.cvtColor(np.array(p), cv2.COLOR_RGB2GRAY) for p in (input_image_1, input_image_2))

def in_space(x, y, z):
    return np.array([(x - cx) * z / f, (y - cy) * z / f, z])

spots, again = [], []
for name, x, y in (("tail light", 106, 211), ("hub", 580, 377)):
    z = depth_1[y, x]
    around = depth_1[y - 2:y + 3, x - 2:x + 3]
    if not np.isfinite(z) or np.nanmax(around) - np.nanmin(around) > 0.1 * z:
        raise ValueError(f"{name}: its depth is unknown, or it lies on an edge; measure beside it")
    spot = in_space(x, y, z)
    expected = f * (spot[0] - baseline) / z + cx + offset
    part = left[y - 8:y + 9, x - 8:x + 9]
    scores = cv2.matchTemplate(right[y - 8:y + 9], part, cv2.TM_CCOEFF_NORMED)[0]
    best = int(scores.argmax())
    found = best + 8
    print(f"{name}: {z:.3f} m away; in the right picture expected at x {expected:.1f}, found at {found}, "
          f"correlation {scores[best]:.2f}")
    if abs(found - expected) > 1.5 or scores[best] < 0.8:
        raise ValueError(f"{name}: the right picture does not have it where its depth says")
    spots.append(spot)
    again.append(in_space(x, y, f * baseline / (x - found + offset)))
result = {
    "metres": round(float(np.linalg.norm(spots[1] - spots[0])), 3),
    "by the two pictures alone": round(float(np.linalg.norm(again[1] - again[0])), 3),
}
""",
)
REPLIES = (
    act(
        "I need metres. I have the depth of the left picture estimated.",
        "depth_estimation",
        image="input_image_1",
    ),
    act(
        "It is in metres. I have both points put into space, and each looked for in the right picture.",
        "python_coding",
        objective="Back-project pixels (106, 211) and (580, 377) of input_image_1 with depth_1 and the intrinsics "
        "f = 994.978, cx = 311.193, cy = 254.877, and give the distance in metres. Check each: the right camera is "
        "0.193001 m to the right, its principal point 31.086 px further right; find the patch around the point in "
        "the same row of input_image_2, and compare with where the depth puts it. Triangulate from what is found, "
        "too, and give that distance beside the first.",
        bindings=["depth_1", "input_image_1", "input_image_2"],
    ),
    "Both points were found in the right picture within a pixel of where their depths put them, and triangulating from "
    "there gives almost the same distance.\n"
    "Answer: 1.23 m\n"
    "Evidence: depth_1, input_image_2, value_1",
)


def metres(image: np.ndarray) -> DepthMap:
    """The left picture's true depth: what its disparity says."""
    left, _, disparity = stereo_motorcycle()
    if not np.array_equal(image, left):
        raise ToolError("only the left picture's depth is known")
    depth = FOCAL * BASELINE / (disparity + OFFSET)
    return DepthMap(np.where(np.isfinite(depth), depth, np.nan).astype(np.float32), "metric")


def main(folder: str | os.PathLike[str]) -> Trajectory:
    """Run it, with its trajectory in a folder."""
    coder = ScriptedModel([f"```python{program}```" for program in PROGRAMS])
    agent = Agent(ScriptedModel(REPLIES), [DepthEstimation(metres), PythonCoding(coder=coder)])
    return agent.ask(QUESTION, stereo_motorcycle()[:2], folder)


if __name__ == "__main__":
    print(section(sys.modules[__name__], main(tempfile.mkdtemp())))
