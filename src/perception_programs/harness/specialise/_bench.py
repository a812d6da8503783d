"""What both kinds of specialisation share: questions that are asked with one thing changed, and a log."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._plain import check_count, unique_keys
from ...chat import ChatModel, Message, Text, ask
from ...errors import InputError, ToolError
from ..account import Account
from ..agent import Agent
from ..journal import append_line, cut_torn
from ..ladder import Failed, Result, ask_all, folder_name
from ..questions import Judge, Question, is_right
from ..rendering import passage
from ..trajectory import Trajectory

__all__ = ["Bench", "Lift", "Log", "Proposal", "lift", "propose", "right_count"]

_SHOWN = 6  # failures in one prompt
_WORDS, _TOLD = 400, 900  # characters of what is said and told in one turn of a failure
_LOG = "proposals.jsonl"


@dataclass(frozen=True)
class Lift:
    """What a change did to some questions, each against itself.

    Attributes:
        recovered: ids that were wrong and are right.
        broken: ids that were right and are wrong.
        n: how many were compared.
    """

    recovered: tuple[str, ...]
    broken: tuple[str, ...]
    n: int

    @property
    def net(self) -> int:
        """How many more are right.

        >>> Lift(("a", "b"), ("c",), 9).net
        1
        """
        return len(self.recovered) - len(self.broken)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"recovered": list(self.recovered), "broken": list(self.broken), "n": self.n}


@dataclass(frozen=True)
class Proposal:
    """What was proposed in a round, and what came of it.

    Attributes:
        round: from 1.
        what: the file that was edited, or the tool that was drafted; empty where the reply held none.
        kept: whether it was.
        why: the gate that it failed, or what it did.
        tuning: what it did to tuning questions; None where it was refused before.
        held_out: the same of the held-out questions.
    """

    round: int
    what: str
    kept: bool
    why: str
    tuning: Lift | None = None
    held_out: Lift | None = None


def right_count(results: Mapping[str, Result]) -> int:
    """How many are right."""
    return sum(one.right for one in results.values())


def lift(
    before: Mapping[str, Result], after: Mapping[str, Result], *, using: str | None = None
) -> Lift:
    """Compare two ways of answering, on the questions that both have.

    Args:
        before: results by id.
        after: the same, changed.
        using: a tool: then a question counts as recovered only where this one found something.
    """
    common = [key for key in before if key in after]
    better = [key for key in common if after[key].right and not before[key].right]
    worse = [key for key in common if before[key].right and not after[key].right]
    if using is not None:
        better = [key for key in better if (using, "found") in after[key].calls]
    return Lift(tuple(better), tuple(worse), len(common))


class Bench:
    """Two sets of questions, and all that was ever asked of them.

    Args:
        folder: where the runs are kept, one for each configuration of an agent.
        tuning: questions whose failures are shown.
        held_out: others, which are only counted.
        concurrency: questions at a time.
        judge: whether an answer is right.
        tell: told of each question that is over.

    Raises:
        InputError: a set without questions, or a question that is in both.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        tuning: Iterable[Question],
        held_out: Iterable[Question],
        *,
        concurrency: int = 8,
        judge: Judge = is_right,
        tell: Callable[[Result | Failed], None] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.tuning, self.held_out = tuple(tuning), tuple(held_out)
        self.concurrency, self.judge, self.tell = (
            check_count(concurrency, "concurrency"),
            judge,
            tell,
        )
        if not self.tuning or not self.held_out:
            raise InputError("questions: expected some to tune on, and others held out")
        asked = {(one.question, one.images): one.id for one in self.tuning}
        for one in self.held_out:
            same = asked.get((one.question, one.images))
            if same is not None:
                raise InputError(f"held-out: {one.id!r} is the tuning question {same!r}")

    async def run(
        self, agent: Agent, which: str, ids: Iterable[str] | None = None
    ) -> dict[str, Result]:
        """Results of `tuning` or `held_out` by id; what was asked before is not asked again.

        Raises:
            ToolError: some got no answer, so that nothing can be decided; they are tried again the next time.
        """
        questions: Sequence[Question] = getattr(self, which)
        wanted = None if ids is None else set(ids)
        chosen = [one for one in questions if wanted is None or one.id in wanted]
        place = self.place(agent, which)
        jobs = [(agent, one, place) for one in chosen]
        done = await ask_all(
            jobs, concurrency=self.concurrency, judge=self.judge, on_done=self.tell
        )
        failed = [one for one in done if isinstance(one, Failed)]
        if failed:
            raise ToolError(
                f"{len(failed)} of {len(jobs)} questions got no answer, so nothing can be decided; the same "
                f"command tries them again ({failed[0].id}: {failed[0].error})"
            )
        return {one.id: one for one in done if isinstance(one, Result)}

    def place(self, agent: Agent, which: str) -> Path:
        """The folder of an agent's runs."""
        data = json.dumps(agent.configuration(), sort_keys=True).encode("utf-8", "backslashreplace")
        return self.folder / "runs" / hashlib.sha256(data).hexdigest()[:12] / which

    def failures(self, agent: Agent, results: Mapping[str, Result], round_: int) -> str:
        """What is shown of the questions that an agent got wrong: some, others in each round."""
        wrong = [one for one in self.tuning if one.id in results and not results[one.id].right]
        start = (round_ * _SHOWN) % len(wrong) if len(wrong) > _SHOWN else 0
        shown = (wrong[start:] + wrong[:start])[:_SHOWN]
        place = self.place(agent, "tuning")
        return "\n\n".join(_failure(one, place, number) for number, one in enumerate(shown, 1))


def _failure(question: Question, place: Path, number: int) -> str:
    account = Account.of(Trajectory.read(place / folder_name(question.id)))
    lines = [question.prompt]
    for turn in account.turns:
        lines += [turn.words[:_WORDS]] if turn.words else []
        lines += [f"> {call[:_WORDS]}" for call in turn.calls[:1]]
        lines += [told[:_TOLD] for told in turn.told[:1]]
    lines.append(account.text[:_TOLD])
    told = passage("\n".join(lines))
    return f"Failure {number}:\n{told}\nThe right answer:\n{passage(str(question.answer))}"


async def propose(proposer: ChatModel, prompt: str) -> tuple[str, dict[str, Any]]:
    """What a model proposes, and what that took."""
    reply, _ = await ask(proposer, [Message("user", (Text(prompt, kind="instructions"),))])
    usage = reply.usage
    return reply.text, {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": usage.cost,
    }


class Log:
    """All proposals, as JSON lines: what was proposed, and then what came of it.

    A proposal that stands there is not asked for again; one that was judged is not judged again.

    Args:
        folder: where it lies.

    Raises:
        InputError: a line of it is none.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.file = Path(folder) / _LOG
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._lines: dict[tuple[str, int], dict[str, Any]] = {}
        if self.file.exists():
            cut_torn(self.file)
            for number, line in enumerate(self.file.read_text("utf-8").split("\n")[:-1], 1):
                self._take(line, number)

    def _take(self, line: str, number: int) -> None:
        try:
            data = json.loads(line, object_pairs_hook=unique_keys)
            self._lines[data["kind"], data["round"]] = data
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise InputError(f"{self.file}, line {number}: expected a proposal: {error}") from None

    def find(self, kind: str, round_: int) -> dict[str, Any] | None:
        """The line of a round: `proposed` or `judged`."""
        return self._lines.get((kind, round_))

    def add(self, kind: str, round_: int, data: Mapping[str, Any]) -> dict[str, Any]:
        """Write a line."""
        line = {"kind": kind, "round": round_, **data}
        append_line(self.file, line)
        self._lines[kind, round_] = line
        return line

    async def proposal(self, round_: int, proposer: ChatModel, prompt: Callable[[], str]) -> str:
        """What was proposed in a round: as it stands here, or asked for now."""
        there = self.find("proposed", round_)
        if there is None:
            text, usage = await propose(proposer, prompt())
            there = self.add("proposed", round_, {"reply": text, "usage": usage})
        return str(there["reply"])

    def judged(self, proposal: Proposal) -> Proposal:
        """Write what came of a proposal, unless it stands there."""
        if self.find("judged", proposal.round) is None:
            tuning, held_out = proposal.tuning, proposal.held_out
            self.add(
                "judged",
                proposal.round,
                {
                    "what": proposal.what or "nothing",
                    "kept": proposal.kept,
                    "why": proposal.why,
                    "tuning": None if tuning is None else tuning.to_dict(),
                    "held_out": None if held_out is None else held_out.to_dict(),
                },
            )
        return proposal

    def tried(self) -> str:
        """What was proposed before and not kept, in lines for the next prompt."""
        lines = [
            f"- {line['what']}: {line['why']}"
            for (kind, _), line in sorted(self._lines.items(), key=lambda entry: entry[0][1])
            if kind == "judged" and not line["kept"]
        ]
        return "\n".join(["Proposed before and not kept:", *lines, ""]) if lines else ""
