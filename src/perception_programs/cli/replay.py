"""`p2 replay`: a trajectory once more, or to read."""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import InputError
from . import agents
from .ask import check_page, page_option, write_page
from .command import Command
from .tables import counted

if TYPE_CHECKING:
    from ..harness.replay import Difference

__all__ = ["REPLAY"]

_LINES = 12  # of a difference


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", help="the new trajectory (default: a new temporary folder)"
    )
    parser.add_argument(
        "--show",
        action="store_true",
        help="print the trajectory that is there, turn by turn, and run nothing",
    )
    page_option(parser)
    agents.tools(parser)
    parser.set_defaults(rung=None)


def _run(args: argparse.Namespace) -> int:
    from ..harness import Trajectory

    check_page(args.html)
    (folder,) = args.files
    if args.show:
        from ..harness.markdown import trajectory_text

        if args.out is not None or args.config is not None or args.tool or args.no_tool:
            raise InputError("--show: runs nothing, so that no tools and no --out mean anything")
        found = Trajectory.read(folder)
        print(trajectory_text(found), end="")
        if args.html is not None:
            write_page(found, args.html)
        return 0
    return _replayed(args, folder)


def _replayed(args: argparse.Namespace, folder: str) -> int:
    from ..harness.replay import replay

    if args.no_tool:
        raise InputError("--no-tool: a trajectory has the tools that it has")
    given = bool(args.config or args.tool or args.coder or args.compose)
    if args.coder and not (args.config or args.tool):
        args.tool = ["python_coding"]
    capabilities, templates = agents.chosen_tools(args, None) if given else (None, None)
    out = tempfile.mkdtemp(prefix="p2-replay-") if args.out is None else args.out
    done = replay(
        folder,
        out,
        capabilities=capabilities,
        templates=templates or agents.chosen_templates(args),
    )
    for name, why in done.played.items():
        print(f"p2: {name} was not run anew but taken from the record: {why}", file=sys.stderr)
    for difference in done.differences:
        print("\n".join(_told(difference)))
    count = len(done.differences)
    turns = counted(len(done.trajectory.turns), "turn")
    print(f"{turns} replayed, {counted(count, 'difference') if count else 'no difference'}")
    print(f"p2: kept in {out}", file=sys.stderr)
    if args.html is not None:
        write_page(done.trajectory, args.html)
    return 1 if count else 0


def _told(difference: Difference) -> Iterator[str]:
    """A difference as lines that were and lines that are."""
    from ..view._type import visible

    yield f"{f'turn {difference.turn}' if difference.turn else 'start'}: {difference.what}"
    lines = list(
        difflib.unified_diff(
            difference.recorded.splitlines(), difference.replayed.splitlines(), n=0, lineterm=""
        )
    )[2:]
    changed = [line for line in lines if not line.startswith("@@")]
    yield from (f"  {visible(line)}" for line in changed[:_LINES])
    if len(changed) > _LINES:
        yield f"  … {len(changed) - _LINES} more lines"


REPLAY = Command(
    "replay",
    "the tools of a trajectory run again and compared, without the model",
    "p2 replay runs/cars --show",
    "FILE is a folder of `p2 ask`. Its replies play the model, so nothing is asked and nothing is paid; the tools run "
    "anew, opened as the trajectory has them, or those that the options name as they say. What cannot be opened here, "
    "asks a model or reaches the network is taken from the record and named, unless an option names it. The exit status is 1 where something came out otherwise.",
    (1, 1),
    _options,
    _run,
)
"""The command."""
