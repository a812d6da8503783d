"""New tools from failures: a model drafts a composed tool, and it is admitted only if it helps and harms none."""

from __future__ import annotations

import importlib.resources
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from ..._plain import check_count
from ...chat import ChatModel
from ...errors import InputError
from ..agent import Agent
from ..capability import Capability
from ..ladder import Failed, Result
from ..questions import Judge, Question, is_right
from ..rendering import Templates, blanks
from ..settings import Settings
from ._bench import Bench, Lift, Log, Proposal, lift, right_count
from .composed import Composed, with_composed
from .definition import Definition

__all__ = ["Drafted", "draft_tools"]

_BLOCK = re.compile(r"^```yaml[ \t]*\n(.*?)^```\s*\Z", re.DOTALL | re.MULTILINE)
_FEWEST = 2  # tuning failures that a tool has to recover


@dataclass(frozen=True)
class Drafted:
    """What came of it.

    Attributes:
        tools: those that were admitted.
        proposals: all, in order.
        before: held-out questions that were right at the beginning.
        after: those that are at the end.
        n: held-out questions.
    """

    tools: tuple[Definition, ...]
    proposals: tuple[Proposal, ...]
    before: int
    after: int
    n: int


async def draft_tools(
    model: ChatModel,
    proposer: ChatModel,
    capabilities: Iterable[Capability],
    tuning: Iterable[Question],
    held_out: Iterable[Question],
    folder: str | os.PathLike[str],
    *,
    rounds: int = 3,
    settings: Settings | None = None,
    templates: Templates | None = None,
    concurrency: int = 8,
    judge: Judge = is_right,
    tell: Callable[[Result | Failed], None] | None = None,
) -> Drafted:
    """Have tools drafted, and admit what helps and harms none.

    A draft is admitted if it recovers at least two tuning failures and at least one held-out failure, each
    with more questions newly right than newly wrong, and if no question that was right is wrong with it.
    Only questions in which the new tool found something count as recovered. The same call goes on where it
    was stopped.

    Args:
        model: answers.
        proposer: drafts.
        capabilities: the tools that there are.
        tuning: questions, of which the failures are shown.
        held_out: questions that the proposer never sees.
        folder: where runs, the log `proposals.jsonl` and the admitted `tools` lie.
        rounds: how many tools are drafted.
        settings: budgets of each question.
        templates: the wording.
        concurrency: questions at a time.
        judge: whether an answer is right.
        tell: told of each question that is over.

    Raises:
        InputError: a set without questions, or a question in both.
        ToolError: some questions got no answer.
    """
    check_count(rounds, "rounds")
    bench = Bench(folder, tuning, held_out, concurrency=concurrency, judge=judge, tell=tell)
    base, log, wording = list(capabilities), Log(folder), templates or Templates()
    admitted, proposals = list[Definition](), list[Proposal]()

    def agent_with(definitions: Sequence[Definition]) -> Agent:
        composed = [Composed(one, base) for one in definitions]
        words = with_composed(wording, definitions)
        return Agent(model, [*base, *composed], settings=settings, templates=words)

    agent = agent_with(())
    tuned, held = await bench.run(agent, "tuning"), await bench.run(agent, "held_out")
    before = right_count(held)
    for number in range(1, rounds + 1):
        if sum(not one.right for one in tuned.values()) < _FEWEST:
            break
        prompt = _prompting(bench, agent, base, tuned, log, number)
        reply = await log.proposal(number, proposer, prompt)
        try:
            made = _drafted(reply, base, agent.templates)
        except InputError as error:
            proposals.append(log.judged(Proposal(number, "", False, str(error))))
            continue
        tried = agent_with([*admitted, made])
        draft, after = await _gates(bench, tried, made, tuned, held, number)
        proposals.append(log.judged(draft))
        if draft.kept:
            admitted.append(made)
            agent, (tuned, held) = tried, after
            _write(made, Path(folder) / "tools")
    return Drafted(tuple(admitted), tuple(proposals), before, right_count(held), len(held))


async def _gates(
    bench: Bench,
    tried: Agent,
    made: Definition,
    tuned: dict[str, Result],
    held: dict[str, Result],
    number: int,
) -> tuple[Proposal, tuple[dict[str, Result], dict[str, Result]]]:
    """Put a draft to its gates, the cheap ones first; with what was answered, if it passes all."""
    failing = [key for key, one in tuned.items() if not one.right]
    first = lift(tuned, await bench.run(tried, "tuning", failing), using=made.name)
    if len(first.recovered) < _FEWEST:
        few = f"it recovers {len(first.recovered)} tuning failures, and {_FEWEST} are needed"
        return Proposal(number, made.name, False, few, first), ({}, {})
    now_tuned = await bench.run(tried, "tuning")
    tuning = lift(tuned, now_tuned, using=made.name)
    why = _refusal(tuning, "tuning")
    if why is not None:
        return Proposal(number, made.name, False, why, tuning), ({}, {})
    now_held = await bench.run(tried, "held_out")
    after = lift(held, now_held, using=made.name)
    refused = _refusal(after, "held-out")
    if not after.recovered:
        refused = "it recovers no held-out failure"
    said = (
        f"it recovers {len(tuning.recovered)} tuning and {len(after.recovered)} held-out failures, and breaks "
        "no question"
    )
    draft = Proposal(number, made.name, refused is None, refused or said, tuning, after)
    return draft, (now_tuned, now_held)


def _refusal(one: Lift, which: str) -> str | None:
    """Why a set of questions refuses a draft that recovers some of it."""
    if one.net <= 0:
        return (
            f"its net lift on the {which} questions is {one.net}: {len(one.recovered)} recovered, "
            f"{len(one.broken)} broken"
        )
    if one.broken:
        return f"it breaks {', '.join(one.broken)} of the {which} questions, which was right"
    return None


def _write(made: Definition, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{made.name}.yaml").write_text(made.to_yaml(), encoding="utf-8", newline="\n")


def _drafted(reply: str, base: Sequence[Capability], templates: Templates) -> Definition:
    block = _BLOCK.search(reply)
    if block is None:
        raise InputError("expected a block ```yaml at the end, got none")
    return Definition.read(block[1], base, templates)


def _prompting(
    bench: Bench,
    agent: Agent,
    base: Sequence[Capability],
    tuned: dict[str, Result],
    log: Log,
    number: int,
) -> Callable[[], str]:
    def prompt() -> str:
        own = importlib.resources.files(__package__).joinpath("tools.txt").read_text("utf-8")
        tools = "\n\n".join(_described(one, agent.templates) for one in base)
        return Template(own).substitute(
            failures=bench.failures(agent, tuned, number - 1), tools=tools, before=log.tried()
        )

    return prompt


def _described(capability: Capability, templates: Templates) -> str:
    spec = templates.tool(capability)
    told = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    names = sorted(blanks(templates.wording(spec.name).forms["found"], spec.name))
    return f"{json.dumps(told, ensure_ascii=False)}\nin its sentence: {', '.join(names)}"
