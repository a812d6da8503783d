"""The questions of one task, in order, with where they came from."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

from .._arrays import describe
from .._plain import Meta
from ..errors import InputError
from .samples import Sample, SampleImage

__all__ = [
    "TASKS",
    "Kind",
    "Samples",
    "answer_letter",
    "encoded",
    "nearest",
    "nearly",
]

TASKS = (
    "Art_Style",
    "Counting",
    "Forensic_Detection",
    "Functional_Correspondence",
    "IQ_Test",
    "Jigsaw",
    "Multi-view_Reasoning",
    "Object_Localization",
    "Relative_Depth",
    "Relative_Reflectance",
    "Semantic_Correspondence",
    "Spatial_Relation",
    "Visual_Correspondence",
    "Visual_Similarity",
)
"""The 14 subtasks of BLINK, as the hub names them."""

_LETTER = re.compile(r"\(([A-Z])\)|([A-Z])")

Kind: TypeAlias = Literal["hub", "parquet", "hardblink", "manifest"]


class Samples(Sequence[Sample]):
    """The questions of one task; immutable.

    Args:
        samples: the questions, in order; at least one.
        task: the task of all of them.
        kind: where they came from: `hub`, `parquet`, `hardblink` or `manifest`.
        name: what a person calls that: a repository, or the name of a file or folder.
        place: what `load` takes as `source` to load them again: a repository or an absolute path.
        split: `val` or `test`, or None for a source without splits.
        revision: the full commit of the hub, or None.

    Raises:
        InputError: there is none, two have the same id, or one is of another task.
    """

    def __init__(
        self,
        samples: Iterable[Sample],
        *,
        task: str,
        kind: Kind,
        name: str,
        place: str,
        split: str | None = None,
        revision: str | None = None,
    ) -> None:
        self._samples = tuple(samples)
        if not self._samples:
            raise InputError(f"{place}: expected questions of {task}, got none")
        seen: set[str] = set()
        for sample in self._samples:
            if sample.task != task:
                raise InputError(f"{place}: expected {task}, got {sample.id!r} of {sample.task}")
            if sample.id in seen:
                raise InputError(f"{place}: expected each id once, got {sample.id!r} twice")
            seen.add(sample.id)
        self._task = task
        self._place = place
        self._origin = {"kind": kind, "name": name, "split": split, "revision": revision}

    @property
    def task(self) -> str:
        """The task of all of them."""
        return self._task

    @property
    def place(self) -> str:
        """What `load` takes as `source` to load them again; differs between machines."""
        return self._place

    @property
    def source(self) -> dict[str, Any]:
        """Where they came from, as plain data that is the same on every machine.

        `kind`, `name`, `split`, `revision`, `digest` and `n`, the number of questions.
        """
        return {**self._origin, "digest": self.digest, "n": len(self)}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the questions and of the files of their pictures, as 64 hexadecimal digits.

        It does not depend on where they are kept: a manifest made from a hub data set has the
        hub's. All pictures are read for it, once, and none is decoded.

        Raises:
            InputError: a picture cannot be read.
        """
        total = hashlib.sha256()
        for sample in self:
            row = [
                *(sample.id, sample.task, sample.question, sample.choices, sample.answer),
                *(sample.group, sample.labels, Meta(sample.meta).to_dict()),
                [hashlib.sha256(encoded(image)).hexdigest() for image in sample.images],
            ]
            total.update(json.dumps(row, sort_keys=True).encode() + b"\n")
        return total.hexdigest()

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Sample, ...]: ...
    def __getitem__(self, index: int | slice) -> Sample | tuple[Sample, ...]:
        return self._samples[index]

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __repr__(self) -> str:
        return f"<Samples: {len(self)} of {self.task}, {self._origin['kind']} {self.place}>"


def encoded(image: SampleImage) -> bytes:
    """The bytes of the file of a picture.

    Raises:
        InputError: it cannot be read, or is not in a file's form.
    """
    source = image.source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"{image.name}: expected a path or the bytes of an image file")
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise InputError(f"{image.name}: cannot be read: {error}") from error


def answer_letter(answer: object, name: str) -> str:
    """The letter of an answer as data sets write it, with or without brackets.

    Raises:
        InputError: it is nothing of the kind; the message starts with `name`.

    >>> answer_letter("(B)", "val_Jigsaw_1")
    'B'
    """
    match = _LETTER.fullmatch(answer) if isinstance(answer, str) else None
    if match is None:
        raise InputError(f"{name}: expected an answer such as (A), got {describe(answer)}")
    return match[1] or match[2]


def nearest(name: str, known: Iterable[str]) -> str:
    """A question after what may have been meant, for the end of a message.

    Nothing where nothing is near, or where the name is a known one: then it was meant.

    >>> nearest("jigsaw", ["Jigsaw", "Counting"]), nearest("Jigsaw", ["Jigsaw", "jigsaws"])
    ("; did you mean 'Jigsaw'?", '')
    """
    by_lower = {other.lower(): other for other in known}
    if name in by_lower.values():
        return ""
    near = difflib.get_close_matches(name.replace(" ", "_").lower(), by_lower, 1)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""


def nearly(name: str, known: Iterable[str]) -> str | None:
    """The known name that another differs from only in case, in what joins its words, or in one letter.

    >>> nearly("jig saw", ["Jigsaw"]), nearly("Jigsw", ["Jigsaw"]), nearly("Shelves", ["Jigsaw"])
    ('Jigsaw', 'Jigsaw', None)
    """
    return next((other for other in known if other != name and _alike(name, other)), None)


def _alike(one: str, other: str) -> bool:
    short, long = sorted((re.sub(r"[\W_]", "", text.lower()) for text in (one, other)), key=len)
    same = next(
        (n for n, pair in enumerate(zip(short, long, strict=False)) if len({*pair}) > 1), len(short)
    )
    # What follows the first difference is the same, but for one letter in its place or put in.
    return short == long or short[same + (len(short) == len(long)) :] == long[same + 1 :]
