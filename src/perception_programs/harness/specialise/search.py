"""A search for better wording: a model edits templates, and only what helps on held-out questions is kept."""

from __future__ import annotations

import importlib.resources
import os
import re
from collections.abc import Callable, Iterable
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
from ..rendering import Templates, Wording, blanks
from ..settings import Settings
from ._bench import Bench, Log, Proposal, lift, right_count

__all__ = ["Search", "search_templates", "write_templates"]

_BLOCK = re.compile(r"^```template[ \t]+(\S+)[ \t]*\n(.*?)^```\s*\Z", re.DOTALL | re.MULTILINE)
_VERSION = re.compile(r"^version:.*$", re.MULTILINE)
_LONGEST = 20_000  # characters of a text
_SYSTEM = "system.txt"


@dataclass(frozen=True)
class Search:
    """What came of a search.

    Attributes:
        templates: the wording with what was kept.
        proposals: all, in order.
        before: held-out questions that were right at the beginning.
        after: those that are at the end.
        n: held-out questions.
    """

    templates: Templates
    proposals: tuple[Proposal, ...]
    before: int
    after: int
    n: int


async def search_templates(
    model: ChatModel,
    proposer: ChatModel,
    capabilities: Iterable[Capability],
    tuning: Iterable[Question],
    held_out: Iterable[Question],
    folder: str | os.PathLike[str],
    *,
    rounds: int = 5,
    settings: Settings | None = None,
    templates: Templates | None = None,
    concurrency: int = 8,
    judge: Judge = is_right,
    tell: Callable[[Result | Failed], None] | None = None,
) -> Search:
    """Have templates edited, and keep what helps.

    In each round the proposer sees some tuning questions that the model got wrong, and the texts, and
    writes one of them anew. It has to be a template with the same arguments, forms and blanks; to recover
    at least one tuning failure; and then to make more held-out questions right than it makes wrong.
    What is kept is where the next round begins. The same call goes on where it was stopped.

    Args:
        model: answers.
        proposer: edits.
        capabilities: the tools.
        tuning: questions, of which the failures are shown.
        held_out: questions that the proposer never sees.
        folder: where runs, the log `proposals.jsonl` and the kept `templates` lie.
        rounds: how many edits are proposed.
        settings: budgets of each question.
        templates: the wording to begin with.
        concurrency: questions at a time.
        judge: whether an answer is right.
        tell: told of each question that is over.

    Raises:
        InputError: a set without questions, or a question in both.
        ToolError: some questions got no answer.
    """
    check_count(rounds, "rounds")
    bench = Bench(folder, tuning, held_out, concurrency=concurrency, judge=judge, tell=tell)
    tools, log = list(capabilities), Log(folder)

    def agent_with(wording: Templates) -> Agent:
        return Agent(model, tools, settings=settings, templates=wording)

    now = templates or Templates()
    agent = agent_with(now)
    failing, held = await bench.run(agent, "tuning"), await bench.run(agent, "held_out")
    before, proposals = right_count(held), list[Proposal]()
    for number in range(1, rounds + 1):
        if all(one.right for one in failing.values()):
            break
        reply = await log.proposal(number, proposer, _prompting(bench, agent, failing, log, number))
        try:
            file, candidate = _edited(reply, now, [one.name for one in tools])
        except InputError as error:
            proposals.append(log.judged(Proposal(number, "", False, str(error))))
            continue
        tried = agent_with(candidate)
        wrong = [key for key, one in failing.items() if not one.right]
        on_failures = await bench.run(tried, "tuning", wrong)
        tuned = lift(failing, on_failures)
        if not tuned.recovered:
            why = f"it recovers none of {tuned.n} failures"
            proposals.append(log.judged(Proposal(number, file, False, why, tuned)))
            continue
        after = await bench.run(tried, "held_out")
        gain = lift(held, after)
        kept = gain.net > 0
        why = f"held out, {len(gain.recovered)} newly right and {len(gain.broken)} newly wrong of {gain.n}"
        proposals.append(log.judged(Proposal(number, file, kept, why, tuned, gain)))
        if kept:
            now, agent, held = candidate, tried, after
            failing = await bench.run(agent, "tuning")
            write_templates(now, Path(folder) / "templates")
    return Search(now, tuple(proposals), before, right_count(held), len(held))


def write_templates(templates: Templates, folder: Path) -> None:
    """Write the texts that differ from what ships, as a folder for `Templates`."""
    shipped = Templates().texts
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in templates.texts.items():
        if text != shipped.get(name):
            (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _prompting(
    bench: Bench, agent: Agent, failing: dict[str, Result], log: Log, number: int
) -> Callable[[], str]:
    def prompt() -> str:
        texts = agent.templates.texts
        names = [_SYSTEM, *(f"{name}.yaml" for name in agent.capabilities)]
        shown = "\n\n".join(f"```template {name}\n{texts[name].rstrip()}\n```" for name in names)
        own = importlib.resources.files(__package__).joinpath("search.txt").read_text("utf-8")
        return Template(own).substitute(
            failures=bench.failures(agent, failing, number - 1), texts=shown, before=log.tried()
        )

    return prompt


def _edited(reply: str, now: Templates, names: list[str]) -> tuple[str, Templates]:
    """The file that a reply writes anew, and the wording with it.

    Raises:
        InputError: the reply has no such block, or its text cannot take the place of the present one.
    """
    blocks = _BLOCK.findall(reply)
    if len(blocks) != 1:
        raise InputError("expected a block ```template NAME at the end, got none")
    ((file, text),) = blocks
    allowed = [_SYSTEM, *(f"{name}.yaml" for name in names)]
    if file not in allowed:
        raise InputError(f"expected one of the files {', '.join(allowed)}, got {file[:80]!r}")
    if len(text) > _LONGEST:
        raise InputError(f"{file}: expected at most {_LONGEST} characters, got {len(text)}")
    before = now.texts[file]
    if file == _SYSTEM:
        if not text.strip() or blanks(text, file):
            raise InputError(f"{file}: expected a text without blanks")
    else:
        text = _with_version(
            text, Wording.read(text, file), now.wording(file[: -len(".yaml")]), file
        )
    if _VERSION.sub("", text).strip() == _VERSION.sub("", before).strip():
        raise InputError(f"{file}: expected another text than there is")
    return file, now.with_text(file, text)


def _with_version(text: str, new: Wording, old: Wording, file: str) -> str:
    """A checked template with the next version in it."""
    for what, there, was in (
        ("arguments", new.arguments, old.arguments),
        ("forms", new.forms, old.forms),
        ("phrases", new.phrases, old.phrases),
    ):
        if there.keys() != was.keys():
            raise InputError(
                f"{file}: {what}: expected {', '.join(was) or 'none'}, got {', '.join(there) or 'none'}"
            )
    if not new.description:
        raise InputError(f"{file}: expected a description")
    for form, said in new.forms.items():
        unknown = sorted(blanks(said, form) - blanks(old.forms[form], form))
        if unknown:
            raise InputError(f"{file}: {form}: nothing fills ${unknown[0]}")
    return _VERSION.sub(f"version: {old.version + 1}", text, count=1)
