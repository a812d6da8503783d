# %% [markdown]
# # Styles and budgets
#
# The same evidence can be said at length or in short. What does each way cost, and what is lost? `compare`
# puts programs side by side and counts their tokens by an estimate that needs no tokenizer.

# %%
from skimage.data import stereo_motorcycle

from perception_programs import DepthMap, PerceptionProgram, compare, depth_program, flow_program
from perception_programs.text import compact

left, right, disparity = stereo_motorcycle()
depth = DepthMap(disparity, kind="relative")
program = depth_program(depth).with_images(left)

# %% [markdown]
# ## One program in every style
#
# `paper` is the published block. `compact` says the same in about a fifth of the tokens. `json` is for other
# programs to read, and has every digit.

# %%
styles = compare(program)
print(styles)  # in a notebook: styles

# %% [markdown]
# The first lines of two of them:

# %%
for style in ("paper", "compact"):
    print("\n".join(line[:96] for line in program.to_text(style).splitlines()[:12]), "\n…\n")

# %% [markdown]
# Nothing is lost in `compact` but digits: how many it keeps follows from the readings, and read back it
# is the program at that precision.

# %%
places = compact.places(program)
short = PerceptionProgram.from_text(program.to_text("compact"))
print("decimals kept:", places)
assert short.items == program.rounded(places=places).items

# %% [markdown]
# ## Within a budget
#
# `fit` gives a program that takes no more than so many tokens. It gives up as little as that takes, in an
# order that does not depend on luck: the style, digits, relations, then cells. `compare` does it for
# several budgets. Where nothing honest fits, the row says so.

# %%
budgets = compare({"depth": program}, budgets=(1000, 500, 250, 60))
print(budgets)  # in a notebook: budgets

# %% [markdown]
# The note of a fitted program tells the model what it has before it, and `meta` tells you.

# %%
small = program.fit(250)
print(small)

# %%
print("given up:", *small.meta["fit"]["given_up"], sep="\n- ")  # in a notebook: small

# %% [markdown]
# ## Different questions, different programs
#
# The cheapest way to say something is not to say the rest. A question about two points needs two points;
# an adaptive grid spends its cells where the depth changes; which way things move is a word a cell.

# %%
points = {"A": (600, 370), "B": (160, 130)}
several = {
    "10 × 10 cells": program,
    "adaptive": depth_program(depth, adaptive=True, reading="median", relations=False),
    "two points": depth_program(depth, points=points, grid=None),
    "motion": flow_program(left, right, expert="dis", grid=(4, 6)),
}
table = compare(several, styles="compact")
print(table)  # in a notebook: table

# %% [markdown]
# ## Your own way of counting
#
# `count` is any function from a text to a number: your model's tokenizer, or characters where those are
# what is paid for. The rows are data, for a data frame or a spreadsheet.

# %%
characters = compare(program, styles=["paper", "compact"], count=len)
for row in characters.rows:
    print(row.style, row.tokens, f"{row.of_paper:.0%}")
print(characters.to_csv().splitlines()[0])
