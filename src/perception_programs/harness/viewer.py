"""A trajectory as one page of HTML, beside its pictures."""

from __future__ import annotations

import html
import importlib.resources
import re
from collections.abc import Iterable

from ..errors import InputError
from ..images import to_pil
from ..view._document import SEALED, document, page_style
from ..view._inline import THUMBNAIL_BYTES, data_uri
from ..view._type import visible_lines
from .account import Account, Link, TurnAccount
from .memory import HANDLE, Artifact, Memory
from .trajectory import Trajectory

__all__ = ["trajectory_html"]

_PICTURE = 1200  # pixels of the longer side
_DEEPEST = 12  # steps of indentation
_TITLE = 60  # characters


def trajectory_html(trajectory: Trajectory) -> str:
    """A trajectory as a page that needs nothing but itself: no network, no scripts, no other file.

    Each turn stands beside the pictures that it showed: what the model said and asked for, what it was
    told, what was kept, and what that took. The end says what the answer rests on, back to the pictures
    that were given; handles that were never made are red, and so is an answer that names no evidence.

    Args:
        trajectory: with its end or without. Pictures are read from its folder; one that is not there any
            more, or is another, is named with the reason.
    """
    account, memory = Account.of(trajectory), trajectory.memory()
    body = (
        f"{_header(account)}<main>\n"
        f"{_given(account, memory)}{''.join(_turn(turn, memory) for turn in account.turns)}"
        f"{_end(account)}</main>\n"
    )
    title = " ".join(account.question.split())
    short = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
    style = importlib.resources.files(__package__).joinpath("viewer.css").read_text("utf-8")
    page = document(short, page_style() + style, body, head=SEALED.format(""))
    return page.encode("utf-8", "backslashreplace").decode("utf-8")


def _header(account: Account) -> str:
    links = [(f"turn-{turn.number}", f"Turn {turn.number}") for turn in account.turns]
    links += [("answer", "Answer")]
    listed = "".join(f'<li><a href="#{place}">{name}</a></li>' for place, name in links)
    answer = "" if account.answer is None else f"Answer: <strong>{_e(account.answer)}</strong>"
    warnings = "".join(f"<li>{_e(warning)}</li>" for warning in account.warnings)
    shown = [f"model {account.model}", f"rung {account.rung}", account.spent.words()]
    return (
        f'<header id="top">\n<h1>{_e(account.question.strip())}</h1>\n'
        f'<p class="result">{answer}</p>\n'
        + (f'<ul class="warnings">{warnings}</ul>\n' if warnings else "")
        + f'<p class="facts">{" · ".join(map(_e, shown))}</p>\n'
        f'<nav aria-label="Contents"><ol>{listed}</ol></nav>\n</header>\n'
    )


def _given(account: Account, memory: Memory) -> str:
    if not account.given:
        return ""
    layout = "pictures row-2" if len(account.given) > 1 else "pictures"
    return (
        '<section id="given">\n<h2>Given</h2>\n'
        f'<div class="{layout}">\n{_figures(account.given, memory)}</div>\n</section>\n'
    )


def _turn(turn: TurnAccount, memory: Memory) -> str:
    outcome = f'<span class="outcome {_e(turn.outcome)}">{_e(turn.outcome)}</span>'
    shown = [one for one in turn.made if one.handle in turn.shown]
    rest = [one for one in turn.made if one not in shown]
    took = "" if turn.tool_seconds is None else f" · the tool {turn.tool_seconds:.1f} s"
    words = [_said("The model", turn.words)] if turn.words else []
    words += [_pre(call, "call", "What the model asked for") for call in turn.calls]
    words += [_pre(told, "told", "What the model was told") for told in turn.told]
    if rest:
        rows = "".join(f'<li id="{_e(one.handle)}">{_artifact(one)}</li>' for one in rest)
        words.append(f'<div><p class="who">Kept</p><ul class="made">{rows}</ul></div>\n')
    if turn.environment:
        listed = _pre(turn.environment, "told", "What the model was told there is")
        words.append(
            f"<details><summary>What it was told there is now</summary>{listed}</details>\n"
        )
    figures = f'<div class="pictures">\n{_figures(shown, memory)}</div>\n' if shown else ""
    return (
        f'<section id="turn-{turn.number}">\n<h2>Turn {turn.number}'
        f'{outcome if turn.outcome else ""}</h2>\n<p class="facts">{_e(turn.spent.words() + took)}</p>\n'
        f'<div class="beside{" seen" if shown else ""}">\n<div class="words">\n{"".join(words)}</div>\n'
        f"{figures}</div>\n</section>\n"
    )


def _end(account: Account) -> str:
    if account.answer is None:
        return (
            '<section id="answer">\n<h2>No answer yet</h2>\n'
            '<p class="missing">The run was stopped.</p>\n</section>\n'
        )
    warnings = "".join(f"<li>{_e(warning)}</li>" for warning in account.warnings)
    rows = "".join(map(_link, account.chain))
    rests = f'<h3>What it rests on</h3>\n<ul class="chain">\n{rows}</ul>\n' if rows else ""
    return (
        '<section id="answer">\n<h2>Answer</h2>\n'
        f'<p class="facts">{_e(account.reason)}</p>\n'
        f'<pre class="answer" tabindex="0" role="region" aria-label="The last reply">'
        f"{_with_handles(account)}</pre>\n"
        + (f'<h3>To doubt</h3>\n<ul class="warnings">{warnings}</ul>\n' if warnings else "")
        + f'{rests}<p class="up"><a href="#top">Top</a></p>\n</section>\n'
    )


def _with_handles(account: Account) -> str:
    """The last reply, with a link for each handle that there is, and each that there is not in red."""
    text = _e(account.text.strip())
    made = {link.artifact.handle for link in account.chain}
    for handle in account.unsupported:
        never = re.compile(rf"(?<!\w){re.escape(_e(handle))}(?!\w)")
        text = never.sub(lambda found: f'<mark title="never made">{found[0]}</mark>', text)
    return HANDLE.sub(lambda f: f'<a href="#{f[0]}">{f[0]}</a>' if f[0] in made else f[0], text)


def _link(link: Link) -> str:
    one = link.artifact
    name = f'<a href="#{_e(one.handle)}">{_e(one.handle)}</a>'
    if link.again:
        said = f"{name} <small>as above</small>"
    else:
        how = "<em>given</em>" if link.how == "given" else f"<code>{_e(link.how)}</code>"
        said = f"{name} <small>{_e(f'{one.kind}, {one.about}')}</small>{how}"
    return f'<li style="--depth: {min(link.depth, _DEEPEST)}"><span>{said}</span></li>\n'


def _figures(shown: Iterable[Artifact], memory: Memory) -> str:
    return "".join(_figure(one, memory) for one in shown)


def _figure(one: Artifact, memory: Memory) -> str:
    caption = f"<figcaption>{_artifact(one)}</figcaption></figure>\n"
    begin = f'<figure id="{_e(one.handle)}">'
    try:
        picture = to_pil(memory.image(one.handle))
    except (InputError, OSError, ValueError) as error:
        return f'{begin}<p class="missing">{_e(str(error))}</p>{caption}'
    picture.thumbnail((_PICTURE, _PICTURE))
    width, height = picture.size
    return (
        f'{begin}<img src="{data_uri(picture, 3 * THUMBNAIL_BYTES)}" alt="{_e(one.handle)}" '
        f'width="{width}" height="{height}" loading="lazy">{caption}'
    )


def _artifact(one: Artifact) -> str:
    sources = f" of {', '.join(one.sources)}" if one.sources else ""
    return f"<code>{_e(one.handle)}</code> {_e(f'{one.kind}{sources}; {one.about}')}"


def _said(who: str, text: str) -> str:
    return f'<div><p class="who">{who}</p><p class="said">{_e(text.strip())}</p></div>\n'


def _pre(text: str, kind: str, label: str) -> str:
    return f'<pre class="{kind}" tabindex="0" role="region" aria-label="{label}">{_e(text.strip())}</pre>\n'


def _e(text: str | None) -> str:
    """Text as HTML, with what hides or reorders text as escapes."""
    return html.escape(visible_lines(text or ""))
