"""How often `extract` reads from 9,505 real replies to BLINK the letter that was scored.

    python benchmarks/answer_extraction.py [--data DIR]

Prints the agreement in total and by model, subtask and rule, and every disagreement with the verdict
on it in `answer_disagreements.csv`. It fails when a disagreement is not in that file or the other
way round, when the table in `docs/answers.md` is not the file's, or below the bars: 97% agreement,
less than 1% where the extractor is the one that is wrong.

The replies come without their choices. All subtasks but one have the same choices in every question;
those of Counting are what most replies wrote beside each letter, and unknown where none did: 194 of
480. A scored letter that is no option of its question, and (Z), count as none, as the extractor has it.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from perception_programs.blink.answers import extract

ROOT = Path(__file__).resolve().parent.parent
JUDGED = ROOT / "benchmarks" / "answer_disagreements.csv"
PAGE = ROOT / "docs" / "answers.md"
VERDICTS = ("the key was wrong", "ambiguous", "ours is wrong")

CHOICES = {
    "Art_Style": ("the second image", "the third image"),
    "Forensic_Detection": (
        "the first image", "the second image", "the third image", "the fourth image",
    ),
    "Functional_Correspondence": ("Point A", "Point B", "Point C", "Point D"),
    "IQ_Test": ("picture A", "picture B", "picture C", "picture D"),
    "Jigsaw": ("the second image", "the third image"),
    "Multi-view_Reasoning": ("left", "right"),
    "Object_Localization": ("Box A", "Box B"),
    "Relative_Depth": ("A is closer", "B is closer"),
    "Relative_Reflectance": ("A is darker", "B is darker", "About the same"),
    "Semantic_Correspondence": ("Point A", "Point B", "Point C", "Point D"),
    "Spatial_Relation": ("yes", "no"),
    "Visual_Correspondence": ("Point A", "Point B", "Point C", "Point D"),
    "Visual_Similarity": ("the second image", "the third image"),
}  # fmt: skip


def subtask(name: str) -> str:
    return "_".join(name.split("_")[1:-1])


def options_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The options of each question. The numbers of Counting are what most models wrote beside them."""
    written: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for row in rows:
        if subtask(row["idx"]) == "Counting":
            text = unicodedata.normalize("NFKC", row["full_prediction"])
            for letter, number in re.findall(r"\(([A-D])\)\s?(\d+)\b", text):
                written[row["idx"]][letter][number] += 1
    options = {}
    for row in rows:
        name = row["idx"]
        if subtask(name) == "Counting":
            found = written[name]
            options[name] = {
                letter: found[letter].most_common(1)[0][0] if found[letter] else f"unknown {letter}"
                for letter in "ABCD"
            }
        else:
            options[name] = dict(zip("ABCD", CHOICES[subtask(name)], strict=False))
    return options


class Read(NamedTuple):
    model: str
    idx: str
    scored: str
    ours: str
    how: str
    text: str


def read_all(rows: Sequence[Mapping[str, Any]]) -> list[Read]:
    options = options_of(rows)
    read = []
    for row in rows:
        answer = extract(row["full_prediction"], options[row["idx"]])
        scored = row["prediction"][1]
        read.append(
            Read(
                row["model"],
                row["idx"],
                scored if scored != "Z" else "",
                answer.letter or "",
                answer.how,
                row["full_prediction"],
            )
        )
    return read


def agrees(row: Read) -> bool:
    letters = "ABCD"[: len(CHOICES.get(subtask(row.idx), "ABCD"))]
    return row.ours == (row.scored if row.scored in letters else "")


def by(name: str, read: Sequence[Read], key: Callable[[Read], str]) -> None:
    print(f"\n{name:<26} {'n':>5} {'agree':>6} {'%':>7}")
    groups: dict[str, list[bool]] = defaultdict(list)
    for row in read:
        groups[key(row)].append(agrees(row))
    for group, good in sorted(groups.items()):
        print(f"{group:<26} {len(good):>5} {sum(good):>6} {100 * sum(good) / len(good):>7.2f}")


def table(judged: Iterable[Mapping[str, str]], models: Sequence[str], total: int) -> str:
    """The verdicts by model, as in the documentation."""
    counts = Counter((row["verdict"], row["model"]) for row in judged)
    lines = [
        "| verdict | " + " | ".join(models) + " | all | share |",
        "|---" * (len(models) + 3) + "|",
    ]
    for verdict in VERDICTS:
        cells = [counts[verdict, model] for model in models]
        share = f"{100 * sum(cells) / total:.2f}%"
        lines.append(
            f"| {verdict} | " + " | ".join(map(str, [*cells, sum(cells)])) + f" | {share} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = ROOT.parent / "shared" / "data" / "blink_answers"
    parser.add_argument("--data", type=Path, default=default, help="the folder of the replies")
    folder = parser.parse_args().data
    with gzip.open(folder / "model_outputs.jsonl.gz", "rt", encoding="utf-8") as lines:
        read = read_all([json.loads(line) for line in lines])
    by("model", read, lambda row: row.model)
    by("subtask", read, lambda row: subtask(row.idx))
    by("rule", read, lambda row: row.how)
    by("all", read, lambda row: "")

    with JUDGED.open(encoding="utf-8", newline="") as file:
        judged = {(r["model"], r["idx"], r["scored"], r["ours"]): r for r in csv.DictReader(file)}
    found = {row[:4]: row for row in read if not agrees(row)}
    for key, row in sorted(found.items()):
        verdict = judged.get(key, {"verdict": "NOT JUDGED", "why": ""})
        print(
            f"\n{row.model} {row.idx}: scored {row.scored or '-'}, ours {row.ours or '-'}", end=""
        )
        print(f" ({row.how}) · {verdict['verdict']}: {verdict['why']}\n    {row.text[-300:]!r}")

    shown = table(judged.values(), sorted({row.model for row in read}), len(read))
    print(f"\n{shown}\n")
    wrong = sum(row["verdict"] == "ours is wrong" for row in judged.values())
    problems = {
        "not judged": sorted(found.keys() - judged.keys()),
        "judged, but agreeing now": sorted(judged.keys() - found.keys()),
        "another table in docs/answers.md": shown not in PAGE.read_text(encoding="utf-8"),
        "agreement below 97%": len(found) > 0.03 * len(read),
        "1% wrong or more": wrong >= 0.01 * len(read),
    }
    for problem, there in problems.items():
        if there:
            print(f"FAILED · {problem}: {there}")
    return int(any(problems.values()))


if __name__ == "__main__":
    sys.exit(main())
