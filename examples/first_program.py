"""A first program: which of three marked points is nearest, asked with the evidence written down.

    python examples/first_program.py

Prints the prompt that a language model would get, and the answer that the evidence itself gives.
"""

from skimage.data import stereo_motorcycle

from perception_programs import depth_program, points_program
from perception_programs.blink import readers


def main() -> None:
    _, _, disparity = stereo_motorcycle()  # the tool: a stereo rig; bigger is nearer
    height, width = disparity.shape
    points = points_program({"A": (95, 90), "B": (330, 260), "C": (690, 180)}, size=(width, height))
    depth = depth_program(disparity, kind="relative", relations=False)
    print(f"{points}\n\n{depth}\n\nWhich of the points A, B and C is closest to the camera?")
    print(f"\nRead by rule: {readers.relative_depth(points, depth)}")


if __name__ == "__main__":
    main()
