"""Which questions a command of `p2 blink` is about, and where they are."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from ..blink import RECIPES, Sample, Samples, load
from ..blink._collection import nearly
from ..blink.data import tasks_in
from ..blink.manifest import manifest_tasks
from ..blink.report_data import Report
from ..errors import InputError

__all__ = ["chosen_tasks", "samples_of"]

_PAPER = "paper"


def chosen_tasks(args: argparse.Namespace) -> list[Samples]:
    """The samples of each task that the options name; without `--task`, of those in the manifests."""
    paper = [task for task, recipe in RECIPES.items() if recipe.paper is not None]
    asked = [name for one in args.task for name in (paper if one == _PAPER else [one])]
    sources = _sources(args.source, asked)
    if not asked:
        asked = _tasks_of(sources, args.split)
    unused = [task for task in sources if task is not None and task not in map(_key, asked)]
    if unused:
        raise InputError(
            f"--source: expected one of the tasks {', '.join(dict.fromkeys(asked))}, "
            f"got {', '.join(unused)}"
        )
    found: dict[str, Samples] = {}
    lacking: dict[str, InputError] = {}
    for name in dict.fromkeys(asked):
        place = sources.get(_key(name), sources.get(None))
        try:
            samples = load(name, place, split=args.split, revision=args.revision)
        except InputError as error:
            if place is None or not Path(place).exists():
                raise  # of the hub, or of no place at all: the next task would fare alike
            lacking[name] = error
        else:
            found[samples.task] = samples  # once, however often and in however many spellings
    if lacking:
        names, first = ", ".join(lacking), next(iter(lacking.values()))
        raise first if len(lacking) == 1 else InputError(f"cannot load {names}; the first: {first}")
    for samples in found.values():
        _warn_of_a_name(samples)
    return list(found.values())


def _warn_of_a_name(samples: Samples) -> None:
    """Say that a task of a manifest is nearly called what a task with a recipe is."""
    near = None if samples.task in RECIPES else nearly(samples.task, RECIPES)
    if near is not None:
        print(
            f"p2: the task {samples.task!r} of {samples.source['name']} has no recipe; if {near!r} is "
            "meant, write it so in the manifest",
            file=sys.stderr,
        )


def samples_of(report: Report, given: Sequence[str]) -> dict[str, Sequence[Sample]]:
    """The samples of a report's runs; a task whose samples are not to be had goes without pictures."""
    sources = _sources(given, [run.task for run in report.runs])
    found: dict[str, Sequence[Sample]] = {}
    for run in report.runs:
        task, source = run.task, run.header["source"]
        if task in found:
            continue
        place = sources.get(_key(task), sources.get(None, run.header.get("place")))
        options = {key: source[key] for key in ("split", "revision") if source.get(key)}
        try:
            found[task] = load(task, place, **options)
        except (InputError, ImportError) as error:
            print(f"p2: no pictures of {task}: {error}", file=sys.stderr)
    return found


def _sources(given: Sequence[str], tasks: Collection[str]) -> dict[str | None, str]:
    """Where each task's samples are; under None for those that are not named.

    What stands before the first `=` names a task, unless it is none and the whole is a path.
    """
    known = {*map(_key, tasks), *RECIPES}
    sources: dict[str | None, str] = {}
    for text in given:
        name, mark, place = text.partition("=")
        named = bool(mark) and (_key(name) in known or not Path(text).exists())
        key, value = (_key(name), place) if named else (None, text)
        if key in sources:
            raise InputError(f"--source: expected one for {key or 'all tasks'}, got a second")
        sources[key] = value
    return sources


def _tasks_of(sources: dict[str | None, str], split: str) -> list[str]:
    """The tasks that sources name, and those in the manifest that is for all, or the one in its folder."""
    named = [task for task in sources if task is not None]
    place = sources.get(None)
    if place is not None and Path(place).suffix.lower() == ".jsonl":
        named += manifest_tasks(place)
    elif place is not None or not named:
        there = tasks_in(place, split) if place is not None and Path(place).is_dir() else ()
        if len(there) != 1:
            has = f"; {place!r} has {', '.join(there)}" if there else ""
            raise InputError(
                "--task: expected the name of a task, or --source with a manifest, whose tasks are then "
                f"run, or with a folder of one task{has}"
            )
        named += there
    return named


def _key(task: str) -> str:
    """A task's name as the hub writes it; with spaces it is the same task."""
    return task.replace(" ", "_")
