"""Questions become messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from .._arrays import describe
from ..chat import Message, Part, Text
from ..errors import InputError
from .cautions import CAUTIONS, chosen_cautions
from .question import Example, Question, check_kind
from .wording import fill

__all__ = ["SETTINGS", "Setting", "build", "rationale_request"]


@dataclass(frozen=True)
class Setting:
    """Which evidence a prompt shows beside the question and its images.

    Attributes:
        tool: whether the tool's pictures are shown.
        style: the style that programs are printed in, or None for no programs.
    """

    tool: bool = False
    style: str | None = None


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "standard": Setting(),
        "tool": Setting(tool=True),
        "p2": Setting(style="paper"),
        "p2-compact": Setting(style="compact"),
    }
)
"""The settings by name: images and question; with the tool's pictures; with the programs; with the
programs in fewer tokens."""


def build(
    question: Question,
    setting: str,
    *,
    cautions: Collection[str] = (),
    example: Example | None = None,
) -> tuple[Message, ...]:
    """The conversation that asks `question`: one user turn, after the example's two if there is one.

    All settings have the same layout: what it is about, the images, the evidence, the question with
    its options, how to answer. They differ in the evidence alone.

    Args:
        question: what is asked.
        setting: one of `SETTINGS`.
        cautions: names of `CAUTIONS`, or `all`; those that do not apply here are left out.
        example: a worked example, shown in the same setting.

    Raises:
        InputError: there is no such setting or caution, or the question or the example lacks what
            the setting shows.

    >>> question = Question("Which is nearer?", {"A": "the cup", "B": "the wall"})
    >>> [part.kind for part in build(question, "standard")[-1].parts]
    ['instructions', 'question', 'instructions']
    """
    shown = _setting(setting)
    names = chosen_cautions(cautions)
    check_kind(question, Question, "question")
    asked = (
        *_evidence(question, shown, setting),
        *_cautions(names, question, shown, example=example is not None),
        *_question(question),
    )
    if example is None:
        return (Message("user", asked),)
    check_kind(example, Example, "example")
    shown_first = (*_evidence(example.question, shown, setting), *_question(example.question))
    return (
        Message("user", _of_kind("example", shown_first)),
        Message("assistant", (Text(example.rationale, "example"),)),
        Message("user", (Text(fill("next"), "instructions"), *asked)),
    )


def rationale_request(question: Question, setting: str, answer: str) -> tuple[Message, ...]:
    """The conversation that asks a stronger model to write the rationale of an example.

    Args:
        question: the example's question; its layout is that of `build`.
        setting: one of `SETTINGS`.
        answer: the letter of the right option.

    Raises:
        InputError: there is no such setting or option, or the question lacks what the setting shows.
    """
    shown = _setting(setting)
    check_kind(question, Question, "question")
    if answer not in question.letters:
        raise InputError(
            f"answer: expected one of {', '.join(question.letters)}, got {describe(answer)}"
        )
    told = Text(fill("rationale", answer=answer), "instructions")
    return (Message("user", (*_evidence(question, shown, setting), _options(question), told)),)


def _setting(name: str) -> Setting:
    if not isinstance(name, str) or name not in SETTINGS:
        raise InputError(f"setting: expected one of {', '.join(SETTINGS)}, got {describe(name)}")
    return SETTINGS[name]


def _evidence(question: Question, setting: Setting, name: str) -> Iterator[Part]:
    """What it is about, the images, and what the setting shows beside them."""
    opening = "opening" if question.images else "opening-unseen"
    yield Text(fill(opening), "instructions")
    for number, image in enumerate(question.images, 1):
        yield Text(fill("image", number=number), "question")
        yield image
    if setting.tool:
        yield from _tool_pictures(question, name)
    if setting.style is not None:
        yield from _programs(question, setting.style, name)


def _tool_pictures(question: Question, setting: str) -> Iterator[Part]:
    if not question.tool_pictures:
        raise InputError(f"tool_pictures: the setting {setting} needs at least one, got none")
    yield Text(fill("tools"), "instructions")
    for number, (caption, picture) in enumerate(question.tool_pictures, 1):
        line = fill("tool-picture", number=number, caption=_one_line(caption))
        yield Text(line, "instructions")
        yield picture


def _programs(question: Question, style: str, setting: str) -> Iterator[Part]:
    if not question.programs:
        raise InputError(f"programs: the setting {setting} needs at least one, got none")
    yield Text(fill("programs"), "instructions")
    for title, program in question.programs:
        block = fill("program", title=_one_line(title), program=program.to_text(style))
        yield Text(block, "program")
    if question.guidance is not None:
        yield Text(fill(f"guidance-{question.guidance}"), "instructions")


def _cautions(
    names: Collection[str], question: Question, setting: Setting, *, example: bool
) -> Iterator[Part]:
    programs = setting.style is not None
    lines = [
        fill(f"caution-{name}")
        for name in names
        if CAUTIONS[name].applies(question.guidance, programs=programs, example=example)
    ]
    if lines:
        yield Text(fill("cautions", cautions="\n".join(lines)), "instructions")


def _question(question: Question) -> Iterator[Part]:
    yield _options(question)
    letters = ", ".join(question.letters)
    yield Text(fill("answer", letters=letters), "instructions")


def _options(question: Question) -> Text:
    options = (f"({letter}) {_one_line(text)}" for letter, text in question.options.items())
    return Text(fill("question", question=question.text.strip(), options="\n".join(options)))


def _one_line(text: str) -> str:
    """`text` with every run of white space, line breaks too, as one space."""
    return " ".join(text.split())


def _of_kind(kind: str, parts: Collection[Part]) -> tuple[Part, ...]:
    return tuple(replace(part, kind=kind) if isinstance(part, Text) else part for part in parts)
