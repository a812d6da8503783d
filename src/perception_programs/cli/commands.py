"""The commands: what each is called, what it takes, and what runs it."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from .. import __version__
from . import options
from .ask import ASK
from .blink_commands import BLINK
from .command import Command
from .harness import HARNESS
from .replay import REPLAY
from .serve_mcp import MCP
from .vtb import VTB

__all__ = ["COMMANDS", "parse"]

_READS_PROGRAM = (
    "A program of this kind, as printed here in either style, is taken too: it is checked and printed "
    "again. - is stdin."
)


def _converting(name: str) -> Callable[[argparse.Namespace], int]:
    def run(args: argparse.Namespace) -> int:
        from .output import check_targets, write_programs

        check_targets(args)
        from .convert import convert

        return write_programs(args, [convert(name, args)])

    return run


def _show(args: argparse.Namespace) -> int:
    from .output import check_targets, write_programs

    check_targets(args)
    from .inputs import read_programs, with_pictures

    programs = [program for name in args.files for program in read_programs(name)]
    return write_programs(args, [with_pictures(program, args) for program in programs])


def _demo(args: argparse.Namespace) -> int:
    from ..demo import write_demo

    print(write_demo(args.out))
    return 0


def _machine(name: str) -> Callable[[argparse.Namespace], int]:
    def run(args: argparse.Namespace) -> int:
        from . import machine

        status: int = getattr(machine, name)(args)
        return status

    return run


def _command(
    name: str,
    summary: str,
    example: str,
    takes: str,
    files: tuple[int, int | None],
    add: Callable[[argparse.ArgumentParser], None],
) -> Command:
    return Command(
        name, summary, example, f"{takes} {_READS_PROGRAM}", files, add, _converting(name)
    )


_FAMILIES = ("blink", "harness", "vtb")

_GROUPS = {
    "convert a tool's result, or run the tool on pictures": (
        _command(
            "depth",
            "how near each part of an image is",
            "p2 depth depth.png --kind metric --scale 1000 --overlay out.png",
            "FILE is a depth map (8 or 16-bit PNG, TIFF, NPY, NPZ, PFM, EXR), or a picture for a depth "
            "expert. A PNG or TIFF with one channel is taken for depth, any other for a picture, unless "
            "--kind or --expert says otherwise.",
            (1, 1),
            options.depth,
        ),
        _command(
            "flow",
            "which way each part of an image moves",
            "p2 flow frame1.jpg frame2.jpg --grid 6x8",
            "Two FILEs are two frames of one size; one FILE is a flow field (.flo, KITTI 16-bit .png, "
            "NPY or NPZ).",
            (1, 2),
            options.flow,
        ),
        _command(
            "match",
            "which points of two images show the same spot",
            "p2 match left.jpg right.jpg",
            'FILE is one of two pictures; or JSON: {"points1": [[x, y], ...], "points2": [[x, y], ...], '
            '"size1": [w, h], "size2": [w, h], "confidence": [s, ...]}, in pixels.',
            (1, 2),
            options.match,
        ),
        _command(
            "jigsaw",
            "how well each piece continues a picture",
            "p2 jigsaw picture.png a.png b.png",
            "The first FILE is a picture whose lower right corner is missing, the others the pieces that "
            "may fit, lettered A, B and so on; --candidate gives other letters. Or one FILE of JSON: "
            '{"candidates": {"A": {"left": {"structural": s, "colour": s, "edge": s, "box": [x0, y0, '
            'x1, y1]}, "top": ...}}, "sizes": {"A": [w, h]}}.',
            (1, None),
            options.jigsaw,
        ),
        _command(
            "detect",
            "what objects were detected, and where",
            "p2 detect results.json --image street.jpg --names coco.json",
            'FILE is JSON: COCO results, a list of {"image_id", "category_id", "bbox", "score"}, or '
            '{"boxes": [[x0, y0, x1, y1], ...], "scores": [s, ...], "labels": ["cat", ...], "size": '
            "[w, h]}, in pixels. Or a picture, for a detector.",
            (1, 1),
            options.detect,
        ),
        _command(
            "semantic",
            "which candidate point resembles a reference",
            "p2 semantic scores.json --image first.jpg --second second.jpg",
            'FILE is JSON: {"candidates": {"A": [x, y]}, "scores": {"A": s}, "reference": [x, y], '
            '"size1": [w, h], "size2": [w, h]}, in pixels. Or one of two pictures, for an expert, with '
            "--reference and --candidate.",
            (1, 2),
            options.semantic,
        ),
        _command(
            "points",
            "where the lettered rings or boxes on a picture are",
            "p2 points marked.png --json",
            "FILE is a picture with lettered red rings or rectangles drawn on it, which are found; or "
            'JSON: {"points": {"A": [x, y]}, "size": [w, h]}, in pixels, with "boxes" and four numbers '
            "for boxes. Several FILEs make one program.",
            (1, None),
            options.points,
        ),
        _command(
            "segments",
            "what covers each part of an image",
            "p2 segments labels.png --names sky,road,car",
            "FILE is a label PNG (grey or palette), NPY or NPZ of class numbers.",
            (1, 1),
            options.segments,
        ),
        _command(
            "scene",
            "the objects of a picture and how they stand to each other",
            "p2 scene --depth depth.npy --detections found.json --flow flow.flo",
            "Results of one picture are given by options; objects come from --detections, else from "
            "--segmentation. FILE is the picture, and a second one the next picture: what is not given is "
            "then made by experts. --image names the picture without that.",
            (0, 2),
            options.scene,
        ),
    ),
    "read a program back": (
        Command(
            "show",
            "the programs in a text, checked, in either style",
            "p2 depth depth.png --json | p2 show - --style paper",
            "FILE is a program in any style, or a longer text such as a prompt or a transcript with any "
            "number of programs in it. - is stdin.",
            (1, None),
            options.show,
            _show,
        ),
    ),
    "put a question to a model with tools": (ASK, REPLAY, *HARNESS),
    "measure a language model on BLINK": BLINK,
    "measure a model with tools on VisualToolBench": VTB,
    "let agents call the tools": (MCP,),
    "what is on this machine": (
        Command(
            "experts",
            "the tools that read pictures: installed or not, weights, licence",
            "p2 experts --modality depth",
            "Nothing is loaded or downloaded to find out.",
            None,
            options.experts,
            _machine("experts"),
        ),
        Command(
            "doctor",
            "versions, devices, caches, and what to install for what",
            "p2 doctor",
            "Its output belongs into a bug report.",
            None,
            options.doctor,
            _machine("doctor"),
        ),
        Command(
            "cache",
            "the results of experts that are kept on disk",
            "p2 cache --clear",
            "Results are kept where an expert is loaded with cache=True.",
            None,
            options.cache,
            _machine("cache"),
        ),
    ),
    "see all of it": (
        Command(
            "demo",
            "every kind of program on pictures that come with scikit-image",
            "p2 demo --out p2-demo",
            "Writes index.html, with every picture, drawing and program, and prints its path. Nothing is "
            "downloaded.",
            None,
            options.demo,
            _demo,
        ),
    ),
}

COMMANDS: dict[str, Command] = {c.name: c for group in _GROUPS.values() for c in group}
"""The commands by name."""


def parse(argv: Sequence[str]) -> tuple[Command, argparse.Namespace]:
    """The command that `argv` names and its arguments.

    Raises:
        SystemExit: help or the version was asked for (0), or the usage is wrong (2).
    """
    first, *rest = argv or [""]
    if first in ("-h", "--help") or (first == "help" and not rest):
        print(_overview())
        raise SystemExit(0)
    if first in ("-V", "--version"):
        print(f"p2 {__version__}")
        raise SystemExit(0)
    if first == "help":
        first, rest = rest[0], ["--help"]
    if not first:
        _leave(_overview())
    if first in _FAMILIES:
        second, *rest = rest or [""]
        if second in ("", "-h", "--help"):
            text = _overview(first)
            print(text, file=sys.stderr if not second else sys.stdout)
            raise SystemExit(0 if second else 2)
        first = f"{first} {second}"
    if first not in COMMANDS:
        near = difflib.get_close_matches(first, COMMANDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        _leave(f"p2: expected a command ({', '.join(COMMANDS)}), got {first!r}{hint}")
    command = COMMANDS[first]
    return command, command.read(rest)


def _leave(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2)


def _overview(family: str = "") -> str:
    """What there is; of a family of commands, those alone."""
    lines = [
        "usage: p2 COMMAND FILE... [options]",
        "",
        "Turn the output of vision tools into text a language model can read.",
    ]
    for title, group in _GROUPS.items():
        shown = [command for command in group if command.name.startswith(family)]
        lines += ["", f"{title}:"] if shown else []
        for command in shown:
            lines += [f"  {command.name:<15}{command.summary}", f"{'':17}{command.example}"]
    lines += [
        "",
        "p2 COMMAND --help says what a command takes. The text goes to stdout, everything else to stderr.",
        "exit status: 0 done, 1 an input could not be used, 2 wrong usage",
    ]
    return "\n".join(lines)
