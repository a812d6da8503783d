"""What the commands of `p2 blink` do with their arguments."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ..blink import (
    RECIPES,
    Coordinates,
    Examples,
    Sample,
    Samples,
    Tools,
    load,
)
from ..blink.report_data import Report
from ..chat import ChatModel, open_model
from ..errors import InputError

__all__ = ["analyse", "icl", "report", "run", "score"]

_PAPER = "paper"
_KINDS = ("local:", "scripted:")
_SAMPLING = ("temperature", "max_tokens", "long_side")
_SERVER = ("base_url", "reasoning_effort")


def run(args: argparse.Namespace) -> int:
    """Run tasks in settings; 1 when some samples failed."""
    from ..blink.reader_model import READERS, Reader
    from ..blink.run import Run

    if args.out is None and not args.dry_run:
        raise InputError("--out: expected a folder for the records (or --dry-run), got none")
    model = Reader(args.model) if args.model in READERS else _model(args)
    plan = Run(
        model=model,
        tasks=_tasks(args),
        settings=list(dict.fromkeys(args.setting)),
        out=Path(args.out or "."),
        tools=_tools(args),
        limit=args.limit,
        concurrency=args.concurrency,
        attempts=args.attempts,
        cautions=tuple(args.caution),
        examples=None if args.examples is None else Examples.read(args.examples),
        text_only=args.text_only,
    )
    if args.dry_run:
        from .blink_dry_run import describe_run

        print(describe_run(plan))
        return 0
    from .blink_progress import watch

    return watch(plan)


def report(args: argparse.Namespace) -> int:
    """Print or write the report of some runs."""
    from ..blink.report import build_report, write
    from ..blink.report_text import to_markdown

    made = build_report([Path(name) for name in args.files])
    if args.out is None:
        print(to_markdown(made))
        return 0
    samples = _samples_of(made, _sources(args)) if args.out.lower().endswith(".html") else None
    write(made, Path(args.out), samples)
    print(args.out)
    return 0


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

    model = _model(args)
    out = Path(args.out)

    async def write() -> int:
        try:
            for samples in _tasks(args):
                async for example in write_examples(model, samples, args.setting, _tools(args)):
                    with out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(example)) + "\n")
                    print(f"{example.task} {example.setting}: {example.id}", file=sys.stderr)
        finally:
            await model.close()
        return 0

    return asyncio.run(write())


def _model(args: argparse.Namespace) -> ChatModel:
    """The chat model that the options say; an option that its kind lacks is refused."""
    kind = args.model.partition(":")[0] if args.model.startswith(_KINDS) else ""
    allowed = {"scripted": (), "local": _SAMPLING, "": (*_SAMPLING, *_SERVER)}[kind]
    given = {
        name: getattr(args, name)
        for name in (*_SAMPLING, *_SERVER)
        if getattr(args, name) is not None
    }
    for name in given:
        if name not in allowed:
            raise InputError(
                f"--{name.replace('_', '-')}: has no meaning for the model {args.model!r}"
            )
    effort = given.pop("reasoning_effort", None)
    if effort is not None:
        given["extra"] = {"reasoning_effort": effort}
    if kind == "local":
        given["device"] = args.device
    return open_model(args.model, **given)


def _tools(args: argparse.Namespace) -> Tools:
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


def _sources(args: argparse.Namespace) -> dict[str | None, str]:
    """Where each task's samples are; under None for those that are not named."""
    sources: dict[str | None, str] = {}
    for text in args.source:
        task, mark, place = text.partition("=")
        key, value = (task, place) if mark and task in RECIPES else (None, text)
        if key in sources:
            raise InputError(f"--source: expected one for {key or 'all tasks'}, got a second")
        sources[key] = value
    return sources


def _tasks(args: argparse.Namespace) -> list[Samples]:
    names: list[str] = []
    for name in args.task:
        paper = [task for task, recipe in RECIPES.items() if recipe.paper is not None]
        names += paper if name == _PAPER else [name]
    sources = _sources(args)
    return [
        load(name, sources.get(name, sources.get(None)), split=args.split, revision=args.revision)
        for name in dict.fromkeys(names)
    ]


def _samples_of(report: Report, sources: dict[str | None, str]) -> dict[str, Sequence[Sample]]:
    """The samples of a report's runs; a task whose samples are not to be had goes without pictures."""
    found: dict[str, Sequence[Sample]] = {}
    for run in report.runs:
        task, source = run.task, run.header["source"]
        if task in found:
            continue
        place = sources.get(task, sources.get(None, run.header.get("place")))
        options = {key: source[key] for key in ("split", "revision") if source.get(key)}
        try:
            found[task] = load(task, place, **options)
        except (InputError, ImportError) as error:
            print(f"p2: no pictures of {task}: {error}", file=sys.stderr)
    return found


def analyse(args: argparse.Namespace) -> int:
    """Run one of the paper's analyses."""
    from . import blink_analyse

    return blink_analyse.analyse(args, None if args.model is None else _model(args))
