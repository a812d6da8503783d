"""A trajectory as Markdown, for documents, and as plain text, for terminals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..view._type import visible, visible_lines
from ..view.markdown import fenced, plain
from .account import Account, Link, TurnAccount
from .memory import Artifact
from .trajectory import Trajectory

__all__ = ["chain_text", "trajectory_markdown", "trajectory_text"]

_DEEPEST = 12  # steps of indentation


def trajectory_markdown(
    trajectory: Trajectory,
    *,
    pictures: Mapping[str, str] | None = None,
    heading: int = 2,
    environment: bool = False,
) -> str:
    r"""A trajectory as Markdown.

    Whatever a model, a tool or a picture says reads as text: it stands in fences that it cannot close, or
    with its marks escaped.

    Args:
        trajectory: with its end or without.
        pictures: the address of a picture by handle; those without one are named.
        heading: the level of the headings, from 1.
        environment: whether to repeat what the model is told there is after each turn.

    >>> import tempfile
    >>> from perception_programs.chat import ScriptedModel
    >>> from perception_programs.harness import Agent
    >>> model = ScriptedModel("Answer: 3\\nEvidence: boxes_1")
    >>> done = Agent(model).ask("How many?", [], tempfile.mkdtemp())
    >>> print(trajectory_markdown(done).splitlines()[0])
    **Question:** How many?
    """
    account, marks = Account.of(trajectory), "#" * heading
    places = pictures or {}
    parts = [f"**Question:** {plain(account.question)}", *_pictures(account.given, places)]
    for turn in account.turns:
        parts.append(f"{marks} Turn {turn.number}")
        parts += _turn(turn, places, environment)
    if account.answer is not None:
        parts += [f"{marks} Answer", _block(account.text)]
    if account.chain:
        parts.append("It rests on:")
        parts.append("\n".join(_bullet(link) for link in account.chain))
    parts += [f"**Warning:** {plain(warning)}" for warning in account.warnings]
    counted = f"{len(account.turns)} turn{'' if len(account.turns) == 1 else 's'}"
    parts.append(plain(f"{counted} · {account.spent.words()}"))
    return "\n\n".join(parts) + "\n"


def trajectory_text(trajectory: Trajectory) -> str:
    """A trajectory as lines for a terminal; nothing in it moves the cursor or hides text."""
    account = Account.of(trajectory)
    lines = [f"question: {account.question}"]
    lines += [f"given: {one.handle}, {one.about}" for one in account.given]
    for turn in account.turns:
        lines += ["", f"turn {turn.number} ({turn.spent.words()})"]
        lines += [f"  {line}" for line in turn.words.splitlines()]
        lines += [f"  > {call}" for call in turn.calls]
        lines += [f"    {line}" for told in turn.told for line in told.splitlines()]
        lines += [f"  + {_artifact(one)}" for one in turn.made]
    lines += ["", *account.text.strip().splitlines()] if account.text else []
    lines += ["", *chain_text(account)] if account.chain else []
    lines += [f"warning: {warning}" for warning in account.warnings]
    return "\n".join(map(visible, lines)) + "\n"


def chain_text(account: Account) -> list[str]:
    """What an answer rests on, a line each."""
    return [f"{'  ' * min(link.depth, _DEEPEST)}{_said(link)}" for link in account.chain]


def _block(text: str) -> str:
    return fenced(visible_lines(text.strip()))


def _said(link: Link) -> str:
    if link.again:
        return f"{link.artifact.handle} (as above)"
    return f"{link.artifact.handle}: {link.artifact.kind}, {link.artifact.about}; {link.how}"


def _bullet(link: Link) -> str:
    return f"{'  ' * min(link.depth, _DEEPEST)}- {plain(_said(link))}"


def _artifact(one: Artifact) -> str:
    sources = f" of {', '.join(one.sources)}" if one.sources else ""
    return f"{one.handle}: {one.kind}{sources}; {one.about}"


def _turn(turn: TurnAccount, places: Mapping[str, str], environment: bool) -> Iterator[str]:
    if turn.words:
        lines = turn.words.strip().splitlines()
        yield f"The model: {plain(lines[0])}" if len(lines) == 1 else "The model:"
        if len(lines) > 1:
            yield _block(turn.words)
    for call in turn.calls:
        yield _block(call)
    for told in turn.told:
        yield "It is told:"
        yield _block(told)
    shown = [one for one in turn.made if one.handle in turn.shown]
    yield from _pictures(shown, places)
    kept = [one for one in turn.made if one not in shown]
    if kept:
        yield "\n".join(f"- kept: {plain(_artifact(one))}" for one in kept)
    if environment and turn.environment:
        yield _block(turn.environment)


def _pictures(shown: list[Artifact] | tuple[Artifact, ...], places: Mapping[str, str]) -> list[str]:
    """The pictures where they have an address, else their names."""
    drawn = [
        f"![{plain(one.handle)}]({places[one.handle]})" for one in shown if one.handle in places
    ]
    named = [f"- {plain(_artifact(one))}" for one in shown if one.handle not in places]
    return [*drawn, "\n".join(named)] if named else drawn
