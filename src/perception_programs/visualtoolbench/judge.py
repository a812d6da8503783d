"""The judge: a model that says of each criterion whether an answer meets it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from .._plain import unique_keys
from ..chat import ChatError, ChatModel, Message, Reply, Text, Usage, ask
from ..errors import InputError
from ..harness.rendering import passage
from .tasks import Criterion, Turn
from .wording import template

__all__ = ["Judge", "Verdict", "read_verdict"]

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_LONGEST = 20_000  # characters of each text that a judge is shown
_RESULTS = {"Met": True, "Not Met": False}


@dataclass(frozen=True)
class Verdict:
    """What a judge says of one criterion.

    Attributes:
        met: whether the answer meets it.
        explanation: why.
        cached: whether it was given before, to the same question.
        usage: what each of the judge's replies took; none if it was cached.
    """

    met: bool
    explanation: str
    cached: bool = False
    usage: tuple[Usage, ...] = field(default=(), compare=False)


def read_verdict(text: str) -> Verdict:
    """A verdict from a judge's reply: one JSON object, in a code fence or not, and nothing else.

    Raises:
        InputError: anything else; never a guess.

    >>> read_verdict('{"explanation": "It says 12.", "judge_result": "Met"}').met
    True
    """
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced[1] if fenced else text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"verdict: expected one JSON object and nothing else: {error}") from None
    if not isinstance(data, dict) or set(data) != {"explanation", "judge_result"}:
        raise InputError('verdict: expected the keys "explanation" and "judge_result"')
    if not isinstance(data["explanation"], str) or data["judge_result"] not in tuple(_RESULTS):
        raise InputError(
            'verdict: expected a text as explanation, and "Met" or "Not Met" as judge_result'
        )
    return Verdict(_RESULTS[data["judge_result"]], data["explanation"])


class Judge:
    """A model that gives verdicts, each question once.

    A reply that is no verdict is asked for once more, with what is wrong about it. If that is none
    either, it is an error, and never a pass.

    Args:
        model: who judges; temperature 0 is best, where its provider has one.
        cache: a folder where verdicts are kept by the content of their question; None for none.
        attempts: how often a model is asked that gives transient errors.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        cache: str | os.PathLike[str] | None = None,
        attempts: int = 6,
    ) -> None:
        self.model = model
        self._cache = None if cache is None else Path(cache)
        self._attempts = attempts
        self._template = template("judge")

    def settings(self) -> Mapping[str, Any]:
        """Plain data of what decides its verdicts."""
        digest = hashlib.sha256(self._template.encode()).hexdigest()
        return {"model": dict(self.model.settings()), "template": f"sha256:{digest}"}

    async def verdict(self, turn: Turn, criterion: Criterion, answer: str) -> Verdict:
        """Whether an answer to a turn meets a criterion.

        Raises:
            ChatError: the model gave no verdict.
        """
        asked = Template(self._template).substitute(
            question=passage(turn.prompt, _LONGEST),
            golden=passage(turn.golden_answer, _LONGEST),
            criterion=passage(criterion.description, _LONGEST),
            answer=passage(answer, _LONGEST),
        )
        kept = self._kept(asked)
        if kept is not None and kept.is_file():
            found = read_verdict(kept.read_text(encoding="utf-8"))
            return Verdict(found.met, found.explanation, cached=True)
        messages = [Message("user", (Text(asked),))]
        reply = await self._reply(messages)
        usage = [reply.usage]
        try:
            verdict = read_verdict(reply.text)
        except InputError as error:
            said = reply.text if reply.text.strip() else "(nothing)"
            repair = Template(template("judge-repair")).substitute(why=error)
            messages += [Message("assistant", (Text(said),)), Message("user", (Text(repair),))]
            reply = await self._reply(messages)
            usage.append(reply.usage)
            try:
                verdict = read_verdict(reply.text)
            except InputError as again:
                raise ChatError(
                    f"the judge gave no verdict twice: {again}", transient=False
                ) from None
        if kept is not None:
            _write(kept, verdict)
        return Verdict(verdict.met, verdict.explanation, usage=tuple(usage))

    async def _reply(self, messages: list[Message]) -> Reply:
        return (await ask(self.model, messages, attempts=self._attempts))[0]

    def _kept(self, asked: str) -> Path | None:
        if self._cache is None:
            return None
        content = json.dumps([self.settings(), asked], sort_keys=True)
        return self._cache / f"{hashlib.sha256(content.encode()).hexdigest()}.json"


def _write(path: Path, verdict: Verdict) -> None:
    result = next(word for word, met in _RESULTS.items() if met == verdict.met)
    data = json.dumps({"explanation": verdict.explanation, "judge_result": result})
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(data, encoding="utf-8")
    part.replace(path)
