# %% [markdown]
# # Reading BLINK results
#
# Does a program help *your* model? `p2 blink run` asks the questions of the BLINK benchmark with programs and
# without, and keeps what was asked and what came. Here is how to read that.
#
# So that it runs in seconds without a key, the questions are six of our own, in the manner of BLINK's Jigsaw,
# and the model is a script. The commands are the same for a real one.

# %%
import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from skimage import data

from perception_programs import PerceptionProgram
from perception_programs.blink.report import build_report, to_csv, write

folder = Path("blink-results")
folder.mkdir(exist_ok=True)

# %% [markdown]
# ## Questions of our own
#
# Each: a picture whose lower right corner is missing, the missing piece, and another piece. A line of
# a *manifest* has the question, the pictures, and the right answer.


# %%
def write_question(number, picture, shift):
    """One question: the pictures as files, and its line. Odd ones have the right piece second."""
    whole = picture.copy()
    height, width = (side // 2 for side in whole.shape[:2])
    pieces = [whole[height:, width:].copy(), np.roll(whole, shift, (0, 1))[height:, width:].copy()]
    whole[height:, width:] = 0
    names = []
    shown = [whole, *(pieces if number % 2 == 0 else reversed(pieces))]
    for part, array in zip("abc", shown, strict=True):
        names.append(f"{number}{part}.png")
        Image.fromarray(array).save(folder / names[-1])
    return {
        "id": f"own_Jigsaw_{number}",
        "task": "Jigsaw",
        "question": "Which piece is the missing lower right corner of the first image?",
        "choices": ["the second image", "the third image"],
        "images": names,
        "answer": "B" if number % 2 else "A",
    }


pictures = [
    data.astronaut()[:320, 60:380],
    data.coffee()[80:380, 100:500],
    data.chelsea(),
    data.rocket()[100:400, 150:450],
    data.stereo_motorcycle()[0],
    data.retina()[300:900, 300:900],
]
questions = [write_question(n, p, (-40, -70)) for n, p in enumerate(pictures)]
manifest = folder / "questions.jsonl"
manifest.write_text("".join(f"{json.dumps(question)}\n" for question in questions))
print(len(questions), "questions; the right answers:", *(q["answer"] for q in questions))

# %% [markdown]
# ## The ceiling of the evidence
#
# `reader` is no model: it answers by rule from the programs alone. What it gets wrong, the evidence does not
# say. It costs nothing, so it comes first.


# %%
def p2(*arguments):
    """The command `p2`, as in a terminal; in a notebook `!p2 …` is the same."""
    command = [sys.executable, "-m", "perception_programs.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    print(done.stdout)


asked = ["--source", manifest, "--task", "Jigsaw"]
p2("blink", "run", "--model", "reader", *asked, "--setting", "p2", "--out", folder / "reader")

# %% [markdown]
# ## A model with programs and without
#
# The script stands for a model that guesses (A) when it has only the pictures, and reads the program when
# there is one, but for the last question, where it is misled. A record has everything that was
# asked; the script is written from those of the reader.

# %%
header, *written = (folder / "reader" / "Jigsaw.p2.jsonl").read_text().splitlines()
records = [json.loads(line) for line in written]
lines = []
for record in records:
    program = PerceptionProgram.from_dict(record["programs"][0]["program"])
    answer = f"The mean of r is higher for one of them.\n\nAnswer: ({record['parsed']})"
    if record is records[-1]:
        answer = "Piece A has the nicer colours.\n\nAnswer: (A)"
    lines.append({"contains": str(program), "answer": answer})
lines.append({"contains": "", "answer": "They look alike to me.\n\nAnswer: (A)"})
script = folder / "model.jsonl"
script.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
settings = ["--setting", "standard", "--setting", "p2"]
p2("blink", "run", "--model", f"scripted:{script}", *asked, *settings, "--out", folder / "scripted")

# %% [markdown]
# ## The report
#
# `build_report` counts. Brackets are 95% intervals: with six questions they are as wide as they should be. *Settings
# compared* is about the same questions in both settings, so it says more than two accuracies side by side.

# %%
report = build_report([folder / "reader", folder / "scripted"])
print(len(report.runs), "runs")  # in a notebook: report

# %% [markdown]
# Its numbers are data too.

# %%
for line in report.lines:
    print(f"{line.model:24} {line.setting:9} {line.score.right} of {line.score.n} right")
pair = report.pairs[0]
print(
    f"{pair.second} less {pair.first}: {pair.comparison.difference:+.0%}, p = {pair.comparison.p:.3f}"
)
print("CSV:", len(next(csv.reader(io.StringIO(to_csv(report))))), "columns")

# %% [markdown]
# ## What went wrong
#
# A number says how many, a record says why. Take the answers that are wrong although the program was there, and
# look at program and answer together.

# %%
run = next(run for run in report.runs if run.setting == "p2" and run.model.startswith("scripted"))
wrong = [record for record in run.records if record["parsed"] != record["answer"]]
for record in wrong:
    print(record["id"], "· right:", record["answer"], "· read from the answer:", record["parsed"])
    print(record["raw"])

# %% [markdown]
# The program of that question. Its higher readings are those of the piece that fits: the evidence was
# there, the model did not use it.

# %%
evidence = PerceptionProgram.from_dict(wrong[0]["programs"][0]["program"])
number = int(wrong[0]["id"].rpartition("_")[2])
evidence.with_images(*(folder / name for name in questions[number]["images"]))

# %% [markdown]
# ## A page to look at and to pass on
#
# One file with the tables and every question, its pictures, programs, prompt and answer, which opens from disk.
# The command is `p2 blink report`; from Python it is `write`.

# %%
write(report, folder / "report.md")
p2("blink", "report", folder / "reader", folder / "scripted", "--out", folder / "report.html")
print(sorted(path.name for path in folder.glob("report.*")))
