"""The options of `p2 blink`."""

from __future__ import annotations

import argparse

from . import argument_types as types
from . import models

__all__ = ["analyse", "icl", "proxy", "report", "run", "score"]


def run(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink run`."""
    models.options(parser, "; or reader, or naive: the answer by rule from the programs alone")
    _questions(parser)
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N of each task")
    _tools(parser)
    _coordinates(parser)
    _cautions(parser)
    parser.add_argument(
        "--examples", metavar="FILE", help="show one worked example, from a file of blink icl"
    )
    parser.add_argument(
        "--text-only", action="store_true", help="leave the pictures out, for a model without eyes"
    )
    parser.add_argument(
        "--concurrency", type=int, default=8, metavar="N", help="requests at a time (default: 8)"
    )
    parser.add_argument(
        "--attempts",
        type=int,
        default=6,
        metavar="N",
        help="tries of a request that may succeed later (default: 6)",
    )
    parser.add_argument("--out", metavar="DIR", help="where the records go; needed to run")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the first prompt of each task and an estimate of tokens and cost; ask nothing",
    )


def report(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink report`."""
    parser.add_argument("--out", metavar="FILE", help="a .md, .csv or .html file; else stdout")
    _source(parser, "where the pictures of the page are, if not where the run had them")
    _coordinates(parser, "; those that the run had, to draw its tool pictures again")


def score(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink score`."""
    parser.add_argument(
        "--answers", required=True, metavar="FILE", help="the right answers, in the same form"
    )


def icl(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink icl`."""
    models.options(parser)
    _questions(parser)
    _tools(parser)
    _coordinates(parser)
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="JSON lines; examples are appended"
    )


def proxy(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink proxy`."""
    parser.add_argument(
        "--base-url", required=True, metavar="URL", help="of the model server: http://.../v1"
    )
    _tasks(parser, "none: every request may be of the one --task")
    parser.add_argument(
        "--style", default="paper", help="of the programs: paper (the default) or compact"
    )
    _tools(parser)
    parser.set_defaults(coordinates=None)  # a request has no id to look them up by
    _cautions(parser)
    models.device(parser, "vision tools")
    parser.add_argument("--log", metavar="FILE", help="append a line of JSON a chat completion")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="listen there (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=int, default=8100, metavar="N", help="0 for any (default: 8100)"
    )
    parser.add_argument(
        "--max-bytes", type=int, metavar="N", help="of a request's body (default: 64 MiB)"
    )


def analyse(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink analyse`."""
    models.options(parser, "; for depth and correspondence", required=False)
    parser.add_argument(
        "--grid",
        action="append",
        type=types.grid,
        metavar="N",
        help="cells a side; repeat it (default: 4, 8, 10, 16; for grid also 32)",
    )
    parser.add_argument(
        "--matches", type=int, metavar="N", help="at most so many matches a pair, the surest"
    )
    parser.add_argument("--expert", metavar="NAME", help="what reads the pictures")
    parser.add_argument("--weights", metavar="PATH", help="the expert's weights on this machine")
    parser.add_argument(
        "--kind",
        choices=("normalised", "relative", "metric"),
        help="what the numbers of depth maps are",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="chooses examples and points (default: 0)"
    )
    parser.add_argument("--out", metavar="DIR", help="write tables (CSV) and plots (PNG) there")


def _questions(parser: argparse.ArgumentParser) -> None:
    _tasks(parser)
    parser.add_argument(
        "--setting",
        action="append",
        required=True,
        metavar="NAME",
        help="standard, tool, p2 or p2-compact; reader and naive take only p2 and p2-compact; repeat it",
    )


def _tasks(parser: argparse.ArgumentParser, source: str = "the hub") -> None:
    parser.add_argument(
        "--task",
        action="append",
        default=[],
        metavar="NAME",
        help="as the hub has it (Multi-view_Reasoning), HardBLINK, paper for the paper's six, or what "
        "your manifest calls its own; repeat it (default: all tasks of the manifest, or the one task "
        "of the folder)",
    )
    _source(parser, "a folder of the hub's parquet files, a HardBLINK folder or a manifest", source)
    parser.add_argument("--split", default="val", help="val (the default) or test")
    parser.add_argument("--revision", metavar="SHA", help="of the hub's data set")


def _source(parser: argparse.ArgumentParser, what: str, default: str = "the hub") -> None:
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="[TASK=]PATH",
        help=f"{what}; for one task, or for all (default: {default}); repeat it",
    )


def _tools(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expert",
        action="append",
        default=[],
        metavar="NAME",
        help="another vision tool than the paper's, of those that p2 experts lists; repeat it",
    )
    parser.add_argument(
        "--weights", metavar="PATH", help="the vision model's weights on this machine"
    )
    parser.add_argument(
        "--matches", type=int, metavar="N", help="at most so many matches, the surest"
    )
    parser.add_argument(
        "--grid", type=types.grid, default=10, metavar="N", help="cells a side (default: 10)"
    )
    parser.add_argument(
        "--relations", action="store_true", help="print relations between cells (default: none)"
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="put every picture through its tool again"
    )


def _coordinates(parser: argparse.ArgumentParser, also: str = "") -> None:
    parser.add_argument(
        "--coordinates",
        metavar="FILE",
        help=f"JSON lines of the points and boxes on the pictures{also}",
    )


def _cautions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--caution",
        action="append",
        default=[],
        metavar="NAME",
        help="say what a family of models tends to get wrong: all, or names; repeat it",
    )
