"""The options of `p2 blink`."""

from __future__ import annotations

import argparse

from . import argument_types as types

__all__ = ["analyse", "icl", "report", "run", "score"]


def run(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink run`."""
    _model(parser, "; or reader, or naive: the answer by rule from the programs alone")
    _questions(parser)
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N of each task")
    _tools(parser)
    parser.add_argument(
        "--caution",
        action="append",
        default=[],
        metavar="NAME",
        help="say what a family of models tends to get wrong: all, or names; repeat it",
    )
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


def score(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink score`."""
    parser.add_argument(
        "--answers", required=True, metavar="FILE", help="the right answers, in the same form"
    )


def icl(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink icl`."""
    _model(parser)
    _questions(parser)
    _tools(parser)
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="JSON lines; examples are appended"
    )


def analyse(parser: argparse.ArgumentParser) -> None:
    """The options of `p2 blink analyse`."""
    _model(parser, "; for depth and correspondence", required=False)
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


def _model(parser: argparse.ArgumentParser, also: str = "", *, required: bool = True) -> None:
    parser.add_argument(
        "--model",
        required=required,
        metavar="NAME",
        help="a LiteLLM name (openai/gpt-5-mini, gemini/...), local:FOLDER for transformers, "
        "scripted:FILE for answers written beforehand, JSON lines of "
        f'{{"contains": words of the prompt, "answer": text}}{also}',
    )
    parser.add_argument("--base-url", metavar="URL", help="of an OpenAI-compatible server")
    parser.add_argument("--temperature", type=float, metavar="T", help="default: the model's own")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="written tokens at most")
    parser.add_argument(
        "--long-side", type=int, metavar="PX", help="scale pictures down to at most this before"
    )
    parser.add_argument(
        "--device", default="auto", help="for vision tools and local models (default: auto)"
    )
    parser.add_argument(
        "--reasoning-effort", metavar="LEVEL", help="where the provider knows it: low, medium, high"
    )


def _questions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--task",
        action="append",
        default=[],
        metavar="NAME",
        help="as the hub has it (Multi-view_Reasoning), HardBLINK, paper for the paper's six, or what "
        "your manifest calls its own; repeat it (default: all tasks of the manifest)",
    )
    parser.add_argument(
        "--setting",
        action="append",
        required=True,
        metavar="NAME",
        help="standard, tool or p2; reader and naive take p2 only; repeat it",
    )
    _source(parser, "a folder of the hub's parquet files, a HardBLINK folder or a manifest")
    parser.add_argument("--split", default="val", help="val (the default) or test")
    parser.add_argument("--revision", metavar="SHA", help="of the hub's data set")


def _source(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="[TASK=]PATH",
        help=f"{what}; for one task, or for all (default: the hub); repeat it",
    )


def _tools(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expert",
        action="append",
        default=[],
        metavar="NAME",
        help="another vision tool than the paper's, as p2 experts lists them; repeat it",
    )
    parser.add_argument(
        "--weights", metavar="PATH", help="the vision model's weights on this machine"
    )
    parser.add_argument(
        "--matches", type=int, metavar="N", help="at most so many matches, the surest"
    )
    parser.add_argument(
        "--coordinates", metavar="FILE", help="JSON lines of the points and boxes on the pictures"
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
