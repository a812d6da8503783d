"""Worked examples: a sample, and how somebody reasoned from it to its answer.

A file of them is JSON lines: {"task", "setting", "id", "answer", "rationale", "by"}. No sample is ever
its own example: each task needs two in each setting, so that there is another one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..chat._files import check_file
from ..errors import InputError
from ._collection import Samples
from ._jsonl import read_lines
from .records import is_torn, mend_end

__all__ = ["Examples", "WorkedExample"]


_STARTS = (b'{"task": ',)
"""How the lines of a file begin that `p2 blink icl` writes."""

_KEYS = {"task", "setting", "id", "answer", "rationale"}


@dataclass(frozen=True)
class WorkedExample:
    """How somebody reasoned from a sample to its answer.

    Attributes:
        task: the sample's task.
        setting: what the reasoning could see.
        id: the sample.
        answer: the right letter.
        rationale: the reasoning; its last line is `Answer: (X)` with that letter.
        by: who wrote it.

    Raises:
        InputError: something is missing, or the reasoning ends otherwise.
    """

    task: str
    setting: str
    id: str
    answer: str
    rationale: str
    by: str = ""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, str) or (not value.strip() and name != "by"):
                raise InputError(f"{name}: expected text, got {value!r}")
        last = self.rationale.strip().splitlines()[-1]
        if last != f"Answer: ({self.answer})":
            raise InputError(
                f"rationale: expected the last line 'Answer: ({self.answer})', got {last[-80:]!r}"
            )


class Examples(Sequence[WorkedExample]):
    """Worked examples of some tasks.

    Args:
        examples: them; two of one task and setting must be of different samples.

    Raises:
        InputError: a sample twice.
    """

    def __init__(self, examples: Iterable[WorkedExample]) -> None:
        self._all = tuple(examples)
        seen: set[tuple[str, str, str]] = set()
        for example in self._all:
            key = (example.task, example.setting, example.id)
            if key in seen:
                raise InputError(f"examples: expected each sample once, got {' '.join(key)} twice")
            seen.add(key)

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._all[index]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Examples:
        """The examples of a file.

        Raises:
            InputError: a line that is no example; the message gives its number.
        """
        return cls._of(read_lines(Path(path)))

    @classmethod
    def _of(cls, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> Examples:
        """Of the objects in a file, each with its place."""
        examples = []
        for where, row in rows:
            if row.keys() - {"by"} != _KEYS:
                keys = ", ".join(sorted(_KEYS))
                raise InputError(f"{where}: expected the keys {keys}, got {row!r:.80}")
            try:
                examples.append(WorkedExample(**row))
            except InputError as error:
                raise InputError(f"{where}: {error}") from None
        return cls(examples)

    @classmethod
    def resumed(cls, path: str | os.PathLike[str]) -> Examples:
        """The examples of a file that more are to be appended to; none where there is no file.

        A last line that is torn, as a killed `p2 blink icl` leaves it, is cut off, and one that is
        whole but for its end gets it. A file that is refused stays as it is.

        Raises:
            InputError: a line that is no example; the message gives its number.
            OSError: the file cannot be written.
        """
        path = Path(path)
        check_file(path)
        if not path.exists():
            return cls(())
        whole = path.read_bytes()
        *_, last = whole.splitlines(keepends=True) or [b""]
        if is_torn(last, _STARTS):
            whole = whole[: -len(last)]
        found = cls._of(read_lines(path, whole))
        mend_end(path, _STARTS)
        return found

    @property
    def digest(self) -> str:
        """A digest of all of them, for a run's configuration."""
        rows = [asdict(example) for example in self._all]
        return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:16]

    def check(self, samples: Samples, settings: Iterable[str]) -> None:
        """Refuse samples that cannot be asked about with these examples, before any is.

        Raises:
            InputError: a setting has no example, or one is of a sample that is not among these.
        """
        ids = {sample.id for sample in samples}
        for setting in settings:
            self.pick(samples.task, setting, other_than="")
        for example in self._all:
            if example.task == samples.task and example.id not in ids:
                raise InputError(
                    f"examples: expected samples of {samples.task}, which has no {example.id!r}"
                )

    def pick(self, task: str, setting: str, *, other_than: str) -> WorkedExample:
        """The first example of a task and setting that is not the sample under test.

        Raises:
            InputError: there is none.
        """
        own = [e for e in self._all if (e.task, e.setting) == (task, setting)]
        for example in own:
            if example.id != other_than:
                return example
        have = f"only {other_than!r}, which is under test" if own else "none"
        raise InputError(
            f"examples: expected one for {task} in {setting}, got {have}; "
            "`p2 blink icl` writes two of each"
        )
