# %% [markdown]
# # A first program
#
# A vision tool measures something in a picture: how near each part is, which way it moves, what stands
# where. Language models read such results badly when they are shown them as a picture, and well when
# they are written down. A *perception program* is the result written down.
#
# The tool here is a pair of cameras. Seen from both, near things are shifted more than far ones, and the
# shift of each pixel, its *disparity*, is in the array. The picture and its disparity come with
# scikit-image, so nothing is downloaded.

# %%
from skimage.data import stereo_motorcycle

from perception_programs import DepthMap, PerceptionProgram, depth_program, points_program
from perception_programs.blink import readers

left, right, disparity = stereo_motorcycle()
print("disparity:", disparity.shape, disparity.dtype)

# %% [markdown]
# ## What the tool found
#
# An array says nothing about itself: do larger numbers mean nearer or farther? A `DepthMap` says it.
# `relative` means that bigger is nearer, on a scale that is not known. In a notebook it shows itself.

# %%
depth = DepthMap(disparity, kind="relative")
print(depth.kind, depth.size)  # in a notebook: depth

# %% [markdown]
# ## The program
#
# `depth_program` lays a grid over the picture and reads each cell: its lowest and its highest nearness,
# from 0 (farthest) to 1 (nearest). Printed, it is the block that goes into a prompt. The `note` tells
# the model how to read the rest.

# %%
program = depth_program(depth, grid=(2, 3), relations=False)
print(program)

# %% [markdown]
# The usual grid has 10 × 10 cells. A program that is told its picture can be checked by eye: here each cell
# is coloured by its nearness.

# %%
fine = depth_program(depth, relations=False)
fine.with_images(left)

# %% [markdown]
# ## Points that are asked about
#
# A question is often about a few places. Give them letters, in pixels: each is read where it is, and
# `b` says which rank it has, 1 being the nearest.

# %%
places = {"A": (95, 90), "B": (330, 260), "C": (690, 180)}
asked = depth_program(depth, points=places, grid=None)
print(asked)

# %% [markdown]
# ## A prompt
#
# A program is text, so a prompt is made as you make any text.

# %%
question = "Which of the points A, B and C is closest to the camera?"
prompt = f"{asked}\n\n{question}"

# %% [markdown]
# ## And back
#
# The text can be read back, also out of the middle of a longer one. Nothing is lost but digits
# beyond the fourth, and JSON keeps those too.

# %%
assert PerceptionProgram.from_text(prompt) == asked.rounded()
assert PerceptionProgram.from_json(asked.to_json()) == asked
print("nearest:", *(item.p for item in asked.items if item.b == "rank 1 of 3"))

# %% [markdown]
# What can be answered from the evidence alone can be answered by rule. The rule that the paper states
# for this kind of question takes a program of where the points are, and one of how near each cell is:

# %%
height, width = disparity.shape
where = points_program(places, size=(width, height))
print("by rule:", readers.relative_depth(where, fine))
