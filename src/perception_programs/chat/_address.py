"""The address of a server that a model is reached at."""

from __future__ import annotations

import hashlib
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from .._arrays import describe
from ..errors import InputError

__all__ = ["checked_address", "without_secrets"]


def checked_address(url: str | None) -> str | None:
    """The address of a server.

    Raises:
        InputError: it is none.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except (
        ValueError,
        TypeError,
        AttributeError,
    ):  # brackets or a port that are none, or no string
        good = False
    if not good:
        shown = url.rpartition("@")[2].partition("?")[0] if isinstance(url, str) else url
        raise InputError(
            f"base_url: expected an address such as http://localhost:8000/v1, got {describe(shown)}"
        )
    return url


def without_secrets(url: str | None) -> str | None:
    """An address without user and password, and of its query the names and a digest.

    >>> without_secrets("https://me:secret@example.org/v1?version=2")
    'https://example.org/v1?version&sha256:8f0ba73c3ff55ba7'
    """
    if url is None:
        return None
    parts = urlsplit(url)
    query = ""
    if parts.query:
        names = "&".join(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
        query = f"{names}&sha256:{hashlib.sha256(parts.query.encode()).hexdigest()[:16]}"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))
