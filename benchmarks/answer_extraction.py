"""How often `extract` reads from 9,505 real replies the letter that was scored."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

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
