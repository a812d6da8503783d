"""What the commands of `p2 blink` do with their arguments."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ..blink import Coordinates, Examples, Tools
from ..chat import ChatModel
from ..errors import InputError
from .blink_sources import chosen_tasks, samples_of
from .blink_unused import tell_unused
from .models import check_key, chosen_model
from .tables import counted

__all__ = ["analyse", "chosen_tools", "icl", "report", "run", "score"]


def run(args: argparse.Namespace) -> int:
    """Run tasks in settings; 1 when some samples failed."""
    from ..blink.reader_model import READERS, Reader
    from ..blink.recipes import chosen_settings
    from ..blink.run import Run

    _check_named(args.out, "--out", "a folder for the records (or --dry-run)")
    if args.out is None and not args.dry_run:
        raise InputError("--out: expected a folder for the records (or --dry-run), got none")
    settings = chosen_settings(args.setting)
    examples = None if args.examples is None else Examples.read(args.examples)
    tools = chosen_tools(args)
    # What is on this machine is looked through before a model is made, which may take a while.
    tasks = chosen_tasks(args) if args.source else None
    model = Reader(args.model) if args.model in READERS else _model(args)
    if not args.dry_run:
        check_key(model)
    plan = Run(
        model=model,
        tasks=chosen_tasks(args) if tasks is None else tasks,
        settings=settings,
        out=Path(args.out or "."),
        tools=tools,
        limit=args.limit,
        concurrency=args.concurrency,
        attempts=args.attempts,
        cautions=tuple(args.caution),
        examples=examples,
        text_only=args.text_only,
    )
    tell_unused(args, plan.tasks)
    if args.dry_run:
        from .blink_dry_run import describe_run

        print(describe_run(plan))
        return 0
    from .blink_progress import watch

    return watch(plan)


def report(args: argparse.Namespace) -> int:
    """Print or write the report of some runs."""
    from ..blink.report import build_report, write
    from ..blink.report_redrawn import needs_pictures
    from ..blink.report_text import to_markdown

    _check_named(args.out, "--out", "a .md, .csv or .html file")
    for name in args.files:
        _check_named(name, "FILE", "the folder of a run")
    for name in _given_again(args.files):
        print(f"p2: {name!r} is given twice, and counted once", file=sys.stderr)
    coordinates = None if args.coordinates is None else Coordinates.read(args.coordinates)
    made = build_report([Path(name) for name in args.files])
    if args.out is None:
        print(to_markdown(made))
        return 0
    samples = samples_of(made, args.source) if args.out.lower().endswith(".html") else None
    drawn = [run for run in made.runs if needs_pictures(run) and run.task in (samples or {})]
    if drawn:
        count = counted(sum(len(run.records) for run in drawn), "sample")
        print(f"p2: drawing the tool pictures of {count} again", file=sys.stderr)
    write(made, Path(args.out), samples, redraw=True, coordinates=coordinates)
    print(args.out)
    return 0


def _given_again(names: Sequence[str]) -> list[str]:
    """The folders that are named a second time."""
    places = [Path(name).resolve() for name in names]
    return [name for n, name in enumerate(names) if places[n] in places[:n]]


def score(args: argparse.Namespace) -> int:
    """Print the accuracy of each file of predictions."""
    from ..blink.score import read_predictions, render
    from ..blink.score import score as scored

    answers = read_predictions(args.answers)
    for n, name in enumerate(args.files):
        if len(args.files) > 1:
            print(f"{'' if n == 0 else chr(10)}{name}")
        print(render(scored(read_predictions(name), answers)))
    return 0


def icl(args: argparse.Namespace) -> int:
    """Append worked examples to a file."""
    from ..blink.icl import write_examples
    from ..blink.questions import needs_tools
    from ..blink.recipes import check_experts, chosen_settings, recipe_of
    from ..blink.records import held

    _check_named(args.out, "--out", "a file for the examples")
    settings = chosen_settings(args.setting)
    tools = chosen_tools(args)
    tasks = chosen_tasks(args)
    if any(map(needs_tools, settings)):
        check_experts(tools, map(recipe_of, tasks))
    model = _model(args)
    check_key(model)
    tell_unused(args, tasks)
    out = Path(args.out)

    async def write() -> int:
        have = Examples.resumed(out)
        try:
            # Opened before anything is asked, so that no answer is paid for that cannot be kept.
            with out.open("ab") as file:
                for samples in tasks:
                    written = write_examples(model, samples, settings, tools, have=have)
                    async for example in written:
                        file.write(json.dumps(asdict(example)).encode() + b"\n")
                        file.flush()
                        print(f"{example.task} {example.setting}: {example.id}", file=sys.stderr)
        finally:
            await model.close()
        return 0

    if not out.parent.is_dir():
        raise InputError(f"--out: expected a file in a folder that exists, got {str(out)!r}")
    # Held from before it is read, so that two at once do not write one example twice.
    with held(out.parent / f"{out.name}.lock", f"another icl is writing to {str(out)!r}"):
        return asyncio.run(write())


def _check_named(name: str | None, what: str, expected: str) -> None:
    """Refuse an empty name, which would stand for the current folder."""
    if name is not None and not name.strip():
        raise InputError(f"{what}: expected {expected}, got {name!r}")


def _model(args: argparse.Namespace) -> ChatModel:
    """The chat model that the options say; an option that its kind lacks is refused."""
    from ..blink.reader_model import READERS

    if args.model in READERS:
        raise InputError(
            f"--model: expected a language model, got {args.model!r}, which answers by rule and writes "
            "no text: only blink run takes it"
        )
    return chosen_model(args)


def chosen_tools(args: argparse.Namespace) -> Tools:
    """The vision tools that the options say."""
    return Tools(
        expert=args.expert or None,
        weights=args.weights,
        coordinates=None if args.coordinates is None else Coordinates.read(args.coordinates),
        grid=args.grid,
        relations=args.relations,
        matches=args.matches,
        cache=not args.no_cache,
        device=args.device,
    )


def analyse(args: argparse.Namespace) -> int:
    """Run one of the paper's analyses."""
    from . import blink_analyse

    _check_named(args.out, "--out", "a folder")
    model = None if args.model is None else _model(args)
    check_key(model)
    return blink_analyse.analyse(args, model)
