"""Writing worked examples for small models, by a stronger one that is told the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

from ..chat import ChatModel, ask
from ..errors import InputError, ToolError
from ..prompts import rationale_request
from .answers import extract
from .data import Samples
from .examples import WorkedExample
from .questions import Inquirer
from .recipes import chosen_settings
from .tools import Tools

__all__ = ["PER_TASK", "write_examples"]

PER_TASK = 2
"""Examples a task and setting: one more than is shown, so that none is shown to itself."""

_TRIES = 10


async def write_examples(
    model: ChatModel,
    samples: Samples,
    settings: Sequence[str],
    tools: Tools,
    *,
    have: Iterable[WorkedExample] = (),
    attempts: int = 6,
) -> AsyncIterator[WorkedExample]:
    """Have `model` explain the answers of the first samples of a task, `PER_TASK` in each setting.

    An explanation that comes to another answer is dropped, and the next sample tried. Where the last
    line says the right answer in other words, the line that examples end with is added.

    Args:
        model: who explains.
        samples: of the task.
        settings: what the explanations can see.
        tools: what makes the programs.
        have: examples that are there already: they count, and their samples are not asked again.
        attempts: how often a request is tried that may succeed later.

    Raises:
        InputError: an unknown setting, or no sample has a published answer.
        ToolError: too few good ones came of the first ten samples.
        ChatError: the model gave no answer.
    """
    inquirer = Inquirer(samples, tools)
    have = list(have)
    for setting in chosen_settings(settings):
        known = [sample for sample in samples if sample.answer is not None][:_TRIES]
        if not known:
            raise InputError(f"{samples.task}: expected samples with answers, got none")
        kept = {e.id for e in have if (e.task, e.setting) == (samples.task, setting)}
        kept &= {sample.id for sample in samples}
        written, other = len(kept), 0
        for sample in known:
            if written >= PER_TASK:
                break
            if sample.id in kept:
                continue
            question = inquirer.question(sample, [setting])
            answer = str(sample.answer)
            reply, _ = await ask(
                model, rationale_request(question, setting, answer), attempts=attempts
            )
            if extract(reply.text, sample.options).letter == answer:
                rationale, last = reply.text.strip(), f"Answer: ({answer})"
                if rationale.splitlines()[-1] != last:
                    rationale += f"\n\n{last}"
                yield WorkedExample(samples.task, setting, sample.id, answer, rationale, model.name)
                written += 1
            else:
                other += 1
        if written < PER_TASK:
            raise ToolError(
                f"{samples.task}, {setting}: expected {PER_TASK} explanations that end with the right "
                f"answer, got {written}: {model.name} came to another one, or to none, on {other} of the "
                f"samples, of which the first {_TRIES} with an answer are tried and here are {len(known)}; "
                "ask a stronger model"
            )
