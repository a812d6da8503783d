"""What a run would ask, and about what it would cost, without asking."""

from __future__ import annotations

from ..blink.reader_model import Reader
from ..blink.run import Run, text_tokens
from ..chat import Message, estimate_cost
from ..images import load_image
from ..prompts import render
from .tables import counted

__all__ = ["describe_run"]

_PROBED = 3
_PIXELS_A_TOKEN = 750
_WRITTEN = 300


def describe_run(run: Run) -> str:
    """The first prompt of each task in each setting, and estimates for all of its samples."""
    parts, prompt_tokens, requests = [], 0.0, 0
    for samples in run.tasks:
        chosen = run.selected(samples)
        inquirer = run.inquirer(samples)
        probes = [inquirer.ask(sample, run.settings) for sample in chosen[:_PROBED]]
        for n, setting in enumerate(run.settings):
            asked = [probe[n] for probe in probes]
            text = sum(sum(text_tokens(a.messages).values()) for a in asked) / len(asked)
            pictures = sum(_picture_tokens(a.messages) for a in asked) / len(asked)
            parts += [
                f"== {samples.task}, {setting}: {counted(len(chosen), 'sample')}; the prompt of {chosen[0].id}",
                render(asked[0].messages),
                f"-- a sample: about {text:,.0f} tokens of text, {pictures:,.0f} of pictures",
            ]
            prompt_tokens += len(chosen) * (text + pictures)
            requests += len(chosen)
    return "\n\n".join([*parts, _estimate(run, requests, prompt_tokens)])


def _picture_tokens(messages: tuple[Message, ...]) -> float:
    pixels = 0
    for message in messages:
        for picture in message.pictures:
            height, width = load_image(picture.image).shape[:2]
            pixels += height * width
    return pixels / _PIXELS_A_TOKEN


def _estimate(run: Run, requests: int, prompt_tokens: float) -> str:
    written = requests * _WRITTEN
    lines = [
        f"== in all: {counted(requests, 'request')}, about {prompt_tokens:,.0f} tokens read and {written:,} written",
        f"Estimates: text without a tokenizer, a token for {_PIXELS_A_TOKEN} pixels, {_WRITTEN} tokens an "
        "answer; providers count pictures each in their own way. A model that reasons before it "
        "answers writes hidden tokens, which can cost several times more than this.",
    ]
    if isinstance(run.model, Reader):
        return "\n".join([lines[0], "A reader costs nothing."])
    cost = estimate_cost(run.model.name, round(prompt_tokens), written)
    price = f"About ${cost:,.2f}." if cost is not None else "No price is known for this model."
    return "\n".join([*lines, price])
