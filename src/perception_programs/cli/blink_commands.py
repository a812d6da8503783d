"""The commands of `p2 blink`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from . import blink_options as options
from .command import Command

__all__ = ["BLINK"]


def _proxy(args: argparse.Namespace) -> int:
    from . import blink_proxy

    return blink_proxy.proxy(args)


def _late(name: str) -> Callable[[argparse.Namespace], int]:
    def run(args: argparse.Namespace) -> int:
        from . import blink

        status: int = getattr(blink, name)(args)
        return status

    return run


BLINK = (
    Command(
        "blink run",
        "put the questions of a task to a model, with programs and without",
        "p2 blink run --model reader --task Jigsaw --source blink-data --setting p2 --out runs/reader",
        "Each answer is written to --out as it arrives. Stop it at any moment and give the same "
        "command again: no answer that was kept is asked for again, and what failed is tried again. Keys of providers are "
        "read from their environment variables.",
        None,
        options.run,
        _late("run"),
    ),
    Command(
        "blink report",
        "what came of some runs: a table, or a page to look through",
        "p2 blink report runs/reader --out report.html",
        "FILE is a folder of `p2 blink run`. Without --out the tables are printed as Markdown; its "
        "ending chooses between .md, .csv and .html.",
        (1, None),
        options.report,
        _late("report"),
    ),
    Command(
        "blink proxy",
        "an endpoint that adds programs to the questions of other evaluation suites",
        "p2 blink proxy --base-url http://localhost:8000/v1 --task Jigsaw",
        "Give its address to an OpenAI client in place of the model server's. With one --task, requests "
        "with that task's number of pictures are its questions; with --source, those that have the words "
        "of a question there. All else is passed on as it came, and counted. It listens on this machine "
        "alone and keeps no key.",
        None,
        options.proxy,
        _proxy,
    ),
    Command(
        "blink score",
        "the accuracy of predictions in BLINK's own JSON",
        "p2 blink score predictions.json --answers val_answers.json",
        'FILE is {"val_Jigsaw_1": "(A)", ...}; (Z) is no answer.',
        (1, None),
        options.score,
        _late("score"),
    ),
    Command(
        "blink icl",
        "worked examples for small models, written by a stronger one",
        "p2 blink icl --model openai/gpt-5 --task Jigsaw --setting p2 --out examples.jsonl",
        "Two are written for each task and setting, so that no sample is ever its own example. Read "
        "them before you use them: blink run --examples FILE.",
        None,
        options.icl,
        _late("icl"),
    ),
    Command(
        "blink analyse",
        "the paper's analyses: depth, correspondence, displacement or grid",
        "p2 blink analyse displacement left.jpg right.jpg --expert sift --out displacement",
        "The first FILE says which: depth (what a model rebuilds of a depth program whose readings are "
        "withheld; pictures follow), correspondence (the same of matches; pairs of pictures follow), "
        "displacement (how far matched points are apart; pairs of pictures follow), grid (how often "
        "the published reading answers point questions right; depth maps follow).",
        (1, None),
        options.analyse,
        _late("analyse"),
    ),
)
"""In the order that `p2 --help` lists them."""
