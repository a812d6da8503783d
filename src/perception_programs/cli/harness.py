"""`p2 harness`: what is measured and made with an agent."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from . import agents, models
from .command import Command
from .tables import counted, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..chat import ChatModel
    from ..harness.ladder import Failed, Result

__all__ = ["HARNESS"]


def _ladder_options(parser: argparse.ArgumentParser) -> None:
    agents.options(parser)
    group = parser.add_argument_group("the ladder")
    group.add_argument(
        "--only",
        action="append",
        metavar="RUNG",
        help="climb this rung and no other; repeat it (default: all five)",
    )
    concurrency(group)
    group.add_argument(
        "--out",
        required=True,
        metavar="DIR",
        help="a folder for each question on each rung, and the report",
    )


def concurrency(group: argparse._ActionsContainer) -> None:
    """How many questions are asked at a time."""
    group.add_argument(
        "--concurrency", type=int, default=8, metavar="N", help="questions at a time (default: 8)"
    )


def _ladder(args: argparse.Namespace) -> int:
    from ..harness.ladder import run_ladder
    from ..harness.ladder_report import ladder_report
    from ..harness.questions import read_questions
    from ..harness.settings import RUNGS

    if args.rung is not None:
        raise InputError("--rung: the ladder climbs them all; --only RUNG chooses")
    (file,) = args.files
    questions = read_questions(file)
    model = models.chosen_model(args)
    models.check_key(model)
    capabilities, templates = agents.chosen_tools(args, model)
    settings = agents.chosen_settings(args)

    async def climbed() -> Any:
        return await run_ladder(
            model,
            questions,
            capabilities,
            args.out,
            rungs=tuple(args.only or RUNGS),
            concurrency=args.concurrency,
            settings=settings,
            templates=templates,
            on_done=tell,
        )

    report = ladder_report(closing(climbed(), model))
    report.write(Path(args.out))
    print(report.to_markdown(), end="")
    failed = len(report.ladder.failed)
    if failed:
        print(
            f"p2: {counted(failed, 'question')} failed; the same command tries again",
            file=sys.stderr,
        )
    return 1 if failed else 0


def closing(work: Awaitable[Any], *used: ChatModel) -> Any:
    """Do some work in an event loop of its own, and close the models there."""

    async def done() -> Any:
        try:
            return await work
        finally:
            for model in used:
                await model.close()

    return asyncio.run(done())


def tell(came: Result | Failed) -> None:
    """A line for a question that is over."""
    from ..view._type import visible

    if hasattr(came, "error"):
        line = f"{came.rung} {came.id}: failed: {came.error}"
    else:
        calls = counted(len(came.calls), "call")
        line = f"{came.rung} {came.id}: {'right' if came.right else 'wrong'} ({calls}, {came.seconds:.1f} s)"
    print(visible(f"p2: {line}"), file=sys.stderr)


def _tools(args: argparse.Namespace) -> int:
    from ..harness.capabilities import available

    rows = [("CAPABILITY", "USED WHERE NONE ARE NAMED")]
    rows += [(name, "yes" if why is None else f"no: {why}") for name, why in available().items()]
    print(table(rows))
    return 0


def _specialise_options(rounds: int) -> Callable[[argparse.ArgumentParser], None]:
    def add(parser: argparse.ArgumentParser) -> None:
        agents.options(parser)
        group = parser.add_argument_group("what is proposed, and how it is judged")
        group.add_argument(
            "--held-out",
            required=True,
            metavar="FILE",
            help="other questions, in the same form, which the proposer never sees",
        )
        group.add_argument(
            "--proposer",
            metavar="NAME",
            help="who proposes, as --model (default: the model itself)",
        )
        group.add_argument(
            "--rounds", type=int, default=rounds, metavar="N", help=f"proposals (default: {rounds})"
        )
        concurrency(group)
        group.add_argument(
            "--out",
            required=True,
            metavar="DIR",
            help="runs, the log of all proposals, what is kept",
        )

    return add


def _specialising(which: str) -> Callable[[argparse.Namespace], int]:
    def run(args: argparse.Namespace) -> int:
        from ..harness import specialise
        from ..harness.questions import read_questions

        (file,) = args.files
        tuning, held_out = read_questions(file), read_questions(args.held_out)
        model = models.chosen_model(args)
        models.check_key(model)
        proposer = model if args.proposer is None else models.opened(args.proposer)
        capabilities, templates = agents.chosen_tools(args, model)
        work = getattr(specialise, which)(
            model,
            proposer,
            capabilities,
            tuning,
            held_out,
            args.out,
            rounds=args.rounds,
            settings=agents.chosen_settings(args),
            templates=templates,
            concurrency=args.concurrency,
            tell=tell,
        )
        done = closing(work, model, proposer)
        _print_proposals(done, args.out)
        return 0

    return run


def _print_proposals(done: Any, out: str) -> None:
    """A line for each proposal, and what all of it came to."""
    from ..view._type import visible

    for one in done.proposals:
        what = one.what or "nothing"
        print(visible(f"round {one.round}: {what}: {'kept' if one.kept else 'refused'}: {one.why}"))
    kept = sum(one.kept for one in done.proposals)
    print(
        f"{counted(kept, 'proposal')} kept of {len(done.proposals)}; held out, {done.before} of {done.n} were right "
        f"and {done.after} are"
    )
    print(f"p2: kept in {out}", file=sys.stderr)


HARNESS: tuple[Command, ...] = (
    Command(
        "harness list",
        "the tools that an agent can have, and what each still needs",
        "p2 harness list",
        "Nothing is loaded to find out.",
        None,
        lambda parser: None,
        _tools,
    ),
    Command(
        "harness ladder",
        "a question set without tools, and with more and more of the harness",
        "p2 harness ladder questions.jsonl --model openai/gpt-5-mini --out runs/ladder",
        'FILE is JSON lines: {"id": "q1", "question": "How many cups?", "images": ["a.jpg"], "answer": 3}, with '
        '"choices" and "tolerance" where there are some. Each question is kept as it is answered; the same command '
        "goes on, and tries again what failed. The report is printed, and written to --out as Markdown, JSON and CSV.",
        (1, 1),
        _ladder_options,
        _ladder,
    ),
    Command(
        "harness search",
        "better wording for the tools, from questions that went wrong",
        "p2 harness search tuning.jsonl --held-out held.jsonl --model openai/gpt-5-mini --out runs/search",
        "FILE is questions as of `p2 harness ladder`. A model is shown those that went wrong and edits a template; the "
        "edit is kept only if more held-out questions are right with it than without. What is kept is in --out under "
        "templates, for --templates.",
        (1, 1),
        _specialise_options(5),
        _specialising("search_templates"),
    ),
    Command(
        "harness tools",
        "new tools made of those that there are, from questions that went wrong",
        "p2 harness tools tuning.jsonl --held-out held.jsonl --model openai/gpt-5-mini --out runs/tools",
        "FILE is questions as of `p2 harness ladder`. A model drafts a sequence of tools as one; it is admitted only if "
        "it recovers at least two of these and one held-out question that went wrong, and breaks none that was right. "
        "What is admitted is in --out under tools, for --compose.",
        (1, 1),
        _specialise_options(3),
        _specialising("draft_tools"),
    ),
)
"""The commands."""
