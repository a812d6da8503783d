"""`p2 ask`: a question about pictures, put to an agent."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from . import agents, models
from .command import Command

if TYPE_CHECKING:
    from ..chat import ChatModel
    from ..harness import Agent, Trajectory

__all__ = ["ASK", "print_answer", "write_page"]

_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif")


def _options(parser: argparse.ArgumentParser) -> None:
    agents.options(parser)
    group = parser.add_argument_group("what is kept")
    group.add_argument(
        "--out",
        metavar="DIR",
        help="the trajectory and all that tools made; the same command goes on there (default: a new "
        "temporary folder)",
    )
    page_option(group)


def page_option(group: argparse._ActionsContainer) -> None:
    """The option that writes a trajectory as a page."""
    group.add_argument(
        "--html", metavar="FILE", help="also write it as a page, beside its pictures"
    )


def _run(args: argparse.Namespace) -> int:
    import tempfile

    *images, question = args.files
    if Path(question).suffix.lower() in _SUFFIXES or Path(question).exists():
        raise InputError(
            f"expected the question last, after the pictures, got the file {question!r}"
        )
    check_page(args.html)
    missing = [image for image in images if not Path(image).is_file()]
    if missing:
        raise InputError(f"no file {missing[0]!r}")
    model = models.chosen_model(args)
    models.check_key(model)
    agent = agents.chosen_agent(args, model)
    folder = Path(tempfile.mkdtemp(prefix="p2-ask-") if args.out is None else args.out)
    try:
        done = asyncio.run(_answered(agent, model, question, images, folder))
    finally:
        print(f"p2: kept in {folder}", file=sys.stderr)
    if args.html is not None:
        write_page(done, args.html)
    print_answer(done)
    return 0


async def _answered(
    agent: Agent, model: ChatModel, question: str, images: list[str], folder: Path
) -> Trajectory:
    try:
        return await agent.run(question, images, folder, on_turn=_tell)
    finally:
        await model.close()


def _tell(trajectory: Trajectory) -> None:
    """A line for the turn that is over."""
    from ..harness.account import Account
    from ..view._type import visible

    if trajectory.end is not None:
        return
    turn = Account.of(trajectory).turns[-1]
    asked = turn.calls[0] if turn.calls else "asked for nothing"
    outcome = f" → {turn.outcome}" if turn.outcome else ""
    short = asked if len(asked) <= 120 else f"{asked[:119]}…"
    line = f"p2: turn {turn.number}: {short}{outcome} ({turn.spent.words()})"
    print(visible(line), file=sys.stderr)


def check_page(name: str | None) -> None:
    """Refuse a place for a page that cannot be written, before any work is done."""
    if name is None:
        return
    if not Path(name).parent.is_dir():
        raise InputError(f"--html: no folder {str(Path(name).parent)!r} to write to")
    if Path(name).is_dir():
        raise InputError(f"--html: expected a file, got the folder {name!r}")


def write_page(trajectory: Trajectory, name: str) -> None:
    """Write a trajectory as a page."""
    from ..harness.viewer import trajectory_html

    Path(name).write_text(trajectory_html(trajectory), encoding="utf-8", newline="\n")


def print_answer(trajectory: Trajectory) -> None:
    """Print an answer, what it rests on, and what is to be doubted of it."""
    from ..harness.account import Account
    from ..harness.markdown import chain_text
    from ..view._type import visible, visible_lines

    account = Account.of(trajectory)
    print(visible_lines(account.answer or "(no answer)"))
    if account.chain:
        print("evidence:")
        print("\n".join(f"  {visible(line)}" for line in chain_text(account)))
    for warning in account.warnings:
        print(f"warning: {visible(warning)}")


ASK = Command(
    "ask",
    "a question about pictures, answered with the help of tools",
    'p2 ask street.jpg "How many cars are there?" --model openai/gpt-5-mini --html answer.html',
    "FILE is a picture, and the last FILE the question itself. The model looks, asks for one tool at a time, "
    "and answers; printed are the answer, what it rests on back to the pictures, and what is to be doubted: "
    "handles that it names and that never were. Keys of providers are read from their environment variables.",
    (1, None),
    _options,
    _run,
)
"""The command."""
