"""What an answer says it rests on, and whether that was ever made."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .memory import HANDLE, Memory

__all__ = ["Evidence", "answer_of", "evidence_of"]

_ANSWER = re.compile(r"^[\s*_#>]*answer[\s*_]*:[\s*_]*(.*\S)", re.IGNORECASE | re.MULTILINE)
_EVIDENCE = re.compile(r"^[\s*_#>]*evidence[\s*_]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_NAME = re.compile(
    r"\b[A-Za-z]\w*_\d+\b"
)  # on that line, anything of a handle's form is meant as one
_TAIL = " *_"


@dataclass(frozen=True)
class Evidence:
    """What an answer rests on.

    Attributes:
        cited: handles that it names and that were made, in its order.
        unsupported: handles that it names and that never were.
        rests_on: the cited artefacts and all that they were made from, in the order of making.
    """

    cited: tuple[str, ...]
    unsupported: tuple[str, ...]
    rests_on: tuple[str, ...]


def answer_of(text: str) -> str:
    r"""What stands after the last `Answer:`; all of the text where there is none.

    >>> answer_of("Two cups, but one box is double.\nAnswer: **2**\nEvidence: boxes_1")
    '2'
    """
    found = _ANSWER.findall(text)
    return found[-1].strip(_TAIL) if found else text.strip()


def evidence_of(text: str, memory: Memory) -> Evidence:
    """What a final text names, looked up.

    >>> evidence_of("Evidence: depth_7", Memory("nowhere")).unsupported
    ('depth_7',)
    """
    listed = [name for line in _EVIDENCE.findall(text) for name in _NAME.findall(line)]
    named = tuple(dict.fromkeys([*HANDLE.findall(text), *listed]))
    cited = tuple(handle for handle in named if handle in memory)
    rests_on = tuple(artifact.handle for artifact in memory.sources_of(cited))
    return Evidence(cited, tuple(handle for handle in named if handle not in memory), rests_on)
