"""What a proxy did: counts, and one line of JSON a request."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..records import now

__all__ = ["Journal"]


class Journal:
    """Counts requests and, where it has a file, appends a line about each question.

    Nothing of a request's headers is ever written, and of its body the question alone.

    Args:
        path: the file, or None for counts alone.
        header: what its first line for this proxy says.

    Attributes:
        requests: how many there were.
        added: how many got programs, by task.
        passed: how many were passed on as they came, by why.
        failed: how many got no answer from the model server, by why.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str] | None, header: Mapping[str, Any]) -> None:
        self.requests = 0
        self.added: Counter[str] = Counter()
        self.passed: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._path = None if path is None else Path(path)
        self.write({"header": {**header, "created": now()}})

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a line."""
        if self._path is not None:
            # Opened for each, so that every line is whole whenever the proxy is stopped.
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    @property
    def counts(self) -> dict[str, Any]:
        """All counts as plain data."""
        counters = {"added": self.added, "passed": self.passed, "failed": self.failed}
        return {
            "requests": self.requests,
            **{name: dict(sorted(counter.items())) for name, counter in counters.items()},
        }

    def summary(self) -> str:
        """All counts as a line for a person.

        >>> journal = Journal(None, {})
        >>> journal.requests, journal.added["Jigsaw"], journal.passed["path"] = 3, 2, 1
        >>> journal.summary()
        '3 requests; with programs: 2 (Jigsaw 2); passed on as they came: 1 (path 1)'
        """
        parts = [f"{self.requests} requests"]
        for title, counter in (
            ("with programs", self.added),
            ("passed on as they came", self.passed),
            ("failed", self.failed),
        ):
            if counter:
                each = ", ".join(f"{name} {count}" for name, count in sorted(counter.items()))
                parts.append(f"{title}: {sum(counter.values())} ({each})")
        return "; ".join(parts)
