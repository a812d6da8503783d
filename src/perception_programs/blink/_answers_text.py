"""Preparing a model's raw reply: hidden reasoning and markup go, full-width forms become plain.

Everything here is one pass of a pattern without nested repetition, so that time grows with length,
and what is left of a very long reply is its end.
"""

from __future__ import annotations

import re
import unicodedata

from ._answers_words import TRANSLATIONS

__all__ = ["LONGEST", "clean"]

LONGEST = 16_000
"""Characters of a reply, after its reasoning, that are read: its last ones."""

_READ_ON = "etc. "  # stands for what was cut off, so that nothing is taken for the reply's start

_DECLARED = "\n\u27e6answer\u27e7: "
"""What stands before a boxed or tagged answer once its markup is gone."""

_THINKING = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|analysis|scratchpad|reflection)"
_OPEN_THINKING = re.compile(rf"<{_THINKING}>|\[THINK\]|◁think▷", re.IGNORECASE)
_CLOSE_THINKING = re.compile(rf"</{_THINKING}>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s{0,4}final\s{0,4}<\|message\|>")
_OPEN_CHANNEL = re.compile(r"<\|channel\|>\s{0,4}(?:analysis|commentary)\b")

_ANSWER_TAG = re.compile(r"<(?:final_?)?answer>|<\|begin_of_box\|>", re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,4}\{")
_SPECIAL = re.compile(r"<\|[^<>|\n]{1,40}\|>|</?s>|\[/?INST\]|<(?:eos|bos|pad|unk|end_of_turn)>")
_LATEX = re.compile(r"\\(?:text(?:bf|rm|it)?|math(?:rm|bf|sf|it)?|operatorname)\s{0,4}\{")
_LATEX_SIGN = re.compile(r"\\[()\[\],;:! ]|\\(?:left|right|quad|displaystyle|,)(?![A-Za-z])|\$")
_HTML = re.compile(r"</?(?![A-Z]>)[A-Za-z][A-Za-z0-9]{0,15}(?:\s[^<>\n]{0,200})?/?>")
_BREAK = re.compile(r"<(?:br|/p|/div|/li|p|li)\s{0,2}/?>", re.IGNORECASE)
_RULE = re.compile(r"^[ \t]*(?:[-*_=]{3,}|```\w{0,20})[ \t]*$", re.MULTILINE)
_LINE_START = re.compile(
    r"^[ \t]*(?:#{1,6}(?=[ \t])|>(?![ \t]*[\d=])|[-*•+](?=[ \t]))[ \t]*", re.MULTILINE
)
_CHECKED = re.compile(r"^[ \t]*(?:[-*•+][ \t]+\[[xX]\]|\[x\]|\([x•]\))(?=[ \t]+\S)", re.MULTILINE)
_UNCHECKED = re.compile(r"^[ \t]*(?:[-*•+][ \t]+)?(?:\[ \]|\( \))(?=[ \t]+\S)", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
# A prefix that says the contrary belongs to its word: counter-clockwise is not clockwise.
_CONTRARY = re.compile(r"\b(?:counter|anti|contra)[- ]?(clockwise)\b", re.IGNORECASE)
_PREFIX = re.compile(r"\b(non|counter|anti|un|dis)[-‐‑](?=[a-z])", re.IGNORECASE)
_ARROW = re.compile(r"[-=]{1,2}>")
_VERSUS = re.compile(r"\b(vs|v\.s)\.", re.IGNORECASE)
# A letter alone in emphasis, brackets or quotes of another kind is written as (X) or "X".
_EMPHASISED = re.compile(r"(?<![\w*])(?:\*{1,3}|__?|`)([A-Za-z])(?:\*{1,3}|__?|`)(?![\w*])")
_BRACKETED = re.compile(r"[(\[{【「『〔<] {0,2}([A-Za-z]) {0,2}[)\]}】」』〕>]")
_QUOTED = re.compile(r"(?<!\w)[\"'“‘«„]([A-Za-z])([.,]?)[\"'”’»“](?!\w)")
_EMPHASIS = re.compile(r"\*+|__+|`+|~~+")
_JOINT = re.compile(
    r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=[A-Za-z0-9(])"
    r"|(?<=[A-Za-z0-9)])(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
)


def clean(text: str) -> str:
    """`text` as a person would read it out: no hidden reasoning, no markup, plain characters.

    A boxed answer and one in an answer tag are led by `_DECLARED`; letters set off by emphasis or by
    any bracket become `(X)`.
    """
    text = unicodedata.normalize("NFKC", _end(_without_reasoning(text)))
    text = _end(text)  # again, where characters were replaced by several
    text = _ANSWER_TAG.sub(_DECLARED, text)
    text = _BOX.sub(_DECLARED + "{", text)
    text = _SPECIAL.sub("\n", text)
    text = _LATEX.sub("{", text)
    text = _LATEX_SIGN.sub(" ", text)
    text = _BREAK.sub("\n", text)
    text = _HTML.sub(" ", text)
    text = _ARROW.sub("→", text)
    text = _UNCHECKED.sub("✗", _CHECKED.sub("✓", text))
    text = _STRUCK.sub(" ", text)
    text = _RULE.sub("", text)
    text = _LINE_START.sub("", text)
    text = text.translate({ord(c): " " for c in set(text) if _invisible(c)})
    text = _EMPHASISED.sub(r"(\1)", text)
    text = _EMPHASIS.sub("", text)
    text = _QUOTED.sub(r'"\1"\2', text)
    text = _BRACKETED.sub(r"(\1)", text)
    text = _VERSUS.sub("vs", _PREFIX.sub(r"\1", _CONTRARY.sub(r"counter\1", text)))
    return _end(_JOINT.sub(" ", _translate(text.translate(_SIGNS))))


_SIGNS = {
    **dict.fromkeys(map(ord, "【】「」『』〔〕\ufe0f"), " "),
    **dict.fromkeys(map(ord, "✔✅☑"), "✓"),
    **dict.fromkeys(map(ord, "✘✕✖❌❎☐"), "✗"),
}
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cn", "Zl", "Zp"})


def _invisible(character: str) -> bool:
    return character != "\n" and unicodedata.category(character) in _INVISIBLE


def _end(text: str) -> str:
    """The end of `text`, from the start of a word on, if it is very long."""
    if len(text) <= LONGEST:
        return text
    kept = text[-LONGEST + len(_READ_ON) :]
    return _READ_ON + kept[kept.find(" ", 0, 200) + 1 :]


def _without_reasoning(text: str) -> str:
    """What is said after the reasoning; nothing if the reasoning never ends."""
    final = _last(_FINAL_CHANNEL, text)
    if final is not None:
        return text[final.end() :]
    if _OPEN_CHANNEL.search(text):
        return ""
    closed = _last(_CLOSE_THINKING, text)
    if closed is not None:
        text = text[closed.end() :]
    opened = _OPEN_THINKING.search(text)
    return text[: opened.start()] if opened else text


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007
        pass
    return found


_PHRASES = re.compile("|".join(f"(?P<p{n}>{p})" for n, (p, _) in enumerate(TRANSLATIONS)), re.I)


def _translate(text: str) -> str:
    """Phrases that declare an answer in other languages, in English words."""
    return _PHRASES.sub(
        lambda match: f" {TRANSLATIONS[int((match.lastgroup or 'p0')[1:])][1]} ", text
    )
