"""A multiple-choice question about pictures, as it stands in a request for a chat completion."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ..._arrays import describe
from ..._plain import unique_keys
from ...errors import InputError
from ..samples import LETTERS, Sample, SampleImage

__all__ = ["ChatQuestion", "PassThrough", "read_question", "split_options"]

_OPTION = re.compile(r"^[ \t]*(?:\(([A-Z])\)|([A-Z])[.):])[ \t]*(\S.*)$", re.MULTILINE)
_DATA_URL = re.compile(r"data:image/[\w.+-]+(?:;[\w.+-]+=[^;,]*)*;base64,", re.IGNORECASE)


class PassThrough(Exception):  # noqa: N818 - nothing is wrong with such a request
    """A request gets no program and is passed on as it came.

    Args:
        kind: what it is counted under: `body`, `images`, `urls`, `options`, `words`, `evidence`.
        reason: what was expected and what came.
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"{kind}: {reason}")
        self.kind = kind


@dataclass(frozen=True, eq=False)
class ChatQuestion:
    """What the last message of a request asks.

    Attributes:
        text: the words before the options, up to their last question mark.
        words: all words of the message.
        options: the text of each option by its letter, from A without a gap.
        urls: the data URLs of the pictures, in order.
        body: the whole request, parsed.
        after_pictures: the place in the message's content right after the last picture.
    """

    text: str
    words: str
    options: Mapping[str, str]
    urls: tuple[str, ...]
    body: Mapping[str, Any]
    after_pictures: int

    def sample(self, task: str, name: str) -> Sample:
        """It as a question of a task; errors call it `name`.

        Raises:
            PassThrough: a picture is not in base64, or there are more options than letters.
        """
        pictures = enumerate(map(_decoded, self.urls), 1)
        images = tuple(SampleImage(data, f"image {n}") for n, data in pictures)
        return Sample(name, task, self.text, tuple(self.options.values()), images)

    def with_text(self, text: str) -> bytes:
        """The request with one more text part, between its pictures and what follows them."""
        *before, last = self.body["messages"]
        content = list(last["content"])
        content.insert(self.after_pictures, {"type": "text", "text": text})
        messages = [*before, {**last, "content": content}]
        return json.dumps({**self.body, "messages": messages}).encode()


def read_question(raw: bytes) -> ChatQuestion:
    """The question in the body of a request.

    It is the last message, a user's, whose pictures are data URLs and whose text has lettered
    options, each on a line of its own: `(A) …`, `A. …`, `A) …` or `A: …`. Earlier messages, such as
    worked examples, are not looked at.

    Raises:
        PassThrough: it is anything else.
    """
    body = _parsed(raw)
    content = _last_content(body)
    urls, texts, after = [], [], 0
    for place, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "image_url":
            urls.append(_data_url(part.get("image_url")))
            after = place + 1
        elif kind == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            raise PassThrough("body", f"expected text and pictures, got {describe(kind)}")
    if not urls:
        raise PassThrough("images", "expected pictures in the last message, got none")
    words = "\n".join(texts)
    before, options = split_options(words)
    text = before[: before.rfind("?") + 1].strip() or before.strip()
    if not text:
        raise PassThrough("options", "expected a question before them, got none")
    return ChatQuestion(text, words, options, tuple(urls), body, after)


def split_options(text: str) -> tuple[str, dict[str, str]]:
    r"""What stands before the options of a question, and the options by letter.

    Raises:
        PassThrough: the letters are not A, B and so on, once each, or an option names another's
            letter or picture, as where they were shuffled.

    >>> split_options("Which is nearer?\n(A) the cup\n(B) the wall\n")
    ('Which is nearer?\n', {'A': 'the cup', 'B': 'the wall'})
    """
    found = list(_OPTION.finditer(text))
    letters = [match[1] or match[2] for match in found]
    if len(letters) < 2 or letters != list(LETTERS[: len(letters)]):
        got = ", ".join(letters[:30]) or "none"
        raise PassThrough("options", f"expected lines A, B, …, once each, got {got}")
    options = {letter: match[3].strip() for letter, match in zip(letters, found, strict=True)}
    for place, (letter, option) in enumerate(options.items()):
        _check_own_name(place, letter, option, letters)
    return text[: found[0].start()], options


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def _check_own_name(place: int, letter: str, option: str, letters: list[str]) -> None:
    """Refuse an option that is not about its own mark or picture.

    Programs call marks and candidates by the letters of the options: a mark bears the letter of its
    option, and where options are pictures, A is the second.
    """
    words = re.findall(r"\w+", option)
    marks = {word for word in words if word in letters}
    pictures = {_ORDINALS.index(word.lower()) for word in words if word.lower() in _ORDINALS}
    pictures |= {int(word) - 1 for word in words if word.isdecimal() and word.isascii()}
    if (marks and letter not in marks) or (pictures and place + 1 not in pictures):
        raise PassThrough("options", f"expected {letter} to be its own, got {option[:60]!r}")


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(
            raw, object_pairs_hook=unique_keys, parse_float=_finite, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:  # InputError is a ValueError
        raise PassThrough("body", f"expected one JSON object: {error}") from None
    if not isinstance(body, dict):
        raise PassThrough("body", f"expected one JSON object, got {describe(body)}")
    return body


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(number: str) -> NoReturn:
    raise InputError(f"{number[:60]} cannot be passed on as it is")


def _last_content(body: Mapping[str, Any]) -> list[Any]:
    """The parts of the last message; one that is only text has no pictures."""
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    if not isinstance(last, dict) or last.get("role") != "user":
        raise PassThrough("body", "expected messages, the last of them the user's")
    content = last.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise PassThrough("body", f"expected content, got {describe(content)}")
    return content


def _data_url(image: Any) -> str:
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        raise PassThrough("body", f"expected the URL of a picture, got {describe(url)}")
    if not _DATA_URL.match(url):
        raise PassThrough("urls", "expected data URLs with base64; others are not fetched")
    return url


def _decoded(url: str) -> bytes:
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error as error:
        raise PassThrough("images", f"expected base64: {error}") from None
