"""How many planted contradictions `reconcile` finds, and how often it raises one where there is none.

    python benchmarks/reconcile.py [--scenes 100]

The scenes are those of `tests/planted_scenes.py`: random ones, as some thirty tools would read them. The
bars: every planted contradiction is found, and no consistent scene has one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from perception_programs import reconcile
from planted_scenes import KINDS, consistent, is_found, planted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.scenes)
    for kind in KINDS:
        cases = [planted(kind, seed) for seed in seeds]
        found = sum(is_found(case, reconcile(case.programs)) for case in cases)
        print(f"{kind:16} {found:4} of {len(seeds)} planted contradictions found")
    alarms, compared, times = Counter[str](), Counter[str](), []
    scenes = 0
    for seed in seeds:
        programs = consistent(seed)
        start = time.perf_counter()
        result = reconcile(programs)
        times.append(time.perf_counter() - start)
        alarms.update(dict(result.meta["disagreements"]))
        compared.update(dict(result.meta["compared"]))
        scenes += bool(result.relations)
    print(f"false alarms in {scenes} of {len(seeds)} consistent scenes")
    for kind, count in compared.items():
        print(f"  {kind:16} {alarms[kind]:4} of {count} comparisons")
    print(f"{len(programs)} programs a scene, {1000 * sum(times) / len(times):.0f} ms each time")


if __name__ == "__main__":
    main()
