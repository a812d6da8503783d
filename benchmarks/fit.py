"""Programs of every modality within random budgets: is any ever over, and what had to go?

    python benchmarks/fit.py [--n 2000] [--seed 0]

Each case is a random program and a random budget between the fewest tokens that its error names and
what it takes in the style compact, at times in full, counted by a tokenizer that is drawn too: o200k and Qwen where `litellm` and
`dashscope` are installed, else the estimate, words and characters. What is left is read back from its
text, and what was given up is counted.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from perception_programs import InputError, PerceptionProgram
from perception_programs.tokens import estimate_tokens

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT.parent / "tests")]

from random_programs import random_program  # noqa: E402


def counters() -> dict[str, Callable[[str], int]]:
    """What counts: real tokenizers where they are installed."""
    found: dict[str, Callable[[str], int]] = {
        "estimate": estimate_tokens,
        "words": lambda text: len(text.split()),
        "characters": len,
    }
    try:
        from token_estimate import tokenizers

        made = tokenizers()
    except (ImportError, SystemExit) as error:
        print(f"without real tokenizers: {error}")
        return found
    return found | {
        name: lambda text, encoding=encoding: len(encoding.encode_ordinary(text))
        for name, (encoding, _) in made.items()
    }


def fewest(program: PerceptionProgram, count: Callable[[str], int]) -> int:
    try:
        return int(program.fit(1, count=count).meta["fit"]["tokens"])
    except InputError as error:
        return int(re.search(r"at least (\d+)", str(error))[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=2000, help="number of cases")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    made = counters()
    names = list(made)
    cases, over, broken, used = Counter(), 0, 0, []
    given_up: dict[str, Counter[str]] = {}
    for _ in range(options.n):
        program = random_program(rng)
        name = names[int(rng.integers(len(names)))]
        count = made[name]
        low, high = fewest(program, count), count(program.to_text("compact"))
        if rng.uniform() < 0.2:  # mostly budgets for which more than the style must go
            high = count(str(program))
        budget = int(rng.integers(low, max(low, high) + 1))
        small = program.fit(budget, count=count)
        cases[program.modality] += 1
        over += count(str(small)) > budget
        broken += len(PerceptionProgram.from_text(str(small))) != len(small)
        used.append(count(str(small)) / budget)
        steps = given_up.setdefault(program.modality, Counter())
        steps.update(
            {step.partition(":")[0] for step in small.meta["fit"]["given_up"]} or {"nothing"}
        )
    print(f"{options.n} cases, seed {options.seed}, counted by {', '.join(names)}")
    print(f"over the budget: {over}; not read back: {broken}")
    print(
        f"share of the budget used: median {np.median(used):.0%}, 10th percentile "
        f"{np.percentile(used, 10):.0%}"
    )
    print("\n| modality | cases | given up, in how many |\n|---|---|---|")
    for modality, number in sorted(cases.items()):
        steps = ", ".join(f"{step} {n}" for step, n in given_up[modality].most_common())
        print(f"| {modality} | {number} | {steps} |")
    raise SystemExit(bool(over or broken))


if __name__ == "__main__":
    main()
