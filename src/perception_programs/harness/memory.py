"""What an agent has gathered: artefacts under handles, each kept once, on disk, without loss."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import describe, to_numpy
from ..errors import InputError
from ..images import RGB
from .kinds import KINDS

__all__ = ["HANDLE", "Artifact", "Memory"]

HANDLE = re.compile(
    r"\b(?:input_image|"
    + "|".join(sorted({kind.prefix for kind in KINDS.values()}, key=len, reverse=True))
    + r")_[1-9]\d{0,5}\b"
)
"""What looks like a handle in a text."""

_INPUT = "input_image"
_HELD = 4  # values kept in memory; others are read again from their files
_OF_VALUE = {"boxes": "boxes", "depth": "values", "camera": "poses"}


@dataclass(frozen=True)
class Artifact:
    """One thing that was given or made.

    Attributes:
        handle: its name, never given twice: `boxes_2`.
        kind: one of `KINDS`.
        made_by: the capability that made it, or `user`.
        about: a few words about it, of this package's own making.
        sources: handles of what it was made from.
        turn: in which it was made; 0 for what was given with the question.
        file: its file's name in the memory's folder.
        digest: `sha256:` and the digest of that file.
    """

    handle: str
    kind: str
    made_by: str
    about: str
    sources: tuple[str, ...]
    turn: int
    file: str
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a record."""
        return {**asdict(self), "sources": list(self.sources)}

    @classmethod
    def from_dict(cls, data: Any) -> Artifact:
        """From what `to_dict` gave.

        Raises:
            InputError: it is something else.
        """
        try:
            made = cls(**{**data, "sources": tuple(data["sources"])})
        except (TypeError, KeyError):
            raise InputError(f"artefact: expected its fields, got {describe(data)}") from None
        texts = (made.handle, made.kind, made.made_by, made.about, made.file, made.digest)
        if not all(isinstance(text, str) for text in (*texts, *made.sources)):
            raise InputError(f"artefact: expected strings in its fields, got {describe(data)}")
        if made.kind not in KINDS or Path(made.file).name != made.file:
            raise InputError(f"artefact: expected a kind and a file's name, got {describe(data)}")
        return made


class Memory:
    """Artefacts of one question.

    Values are written when they are added and read when they are wanted; only the last few stay in
    the process.

    Args:
        folder: where the files lie; it is made when the first is written.
        known: what is there already, as its records say.

    >>> import tempfile
    >>> memory = Memory(tempfile.mkdtemp())
    >>> memory.add("value", {"total": 12}, made_by="python_coding", sources=("boxes_1",)).handle
    'value_1'
    >>> memory.value("value_1")
    {'total': 12}
    """

    def __init__(self, folder: str | os.PathLike[str], known: Iterable[Artifact] = ()) -> None:
        self.folder = Path(folder)
        self._artifacts: dict[str, Artifact] = {}
        self._values: OrderedDict[str, Any] = OrderedDict()
        for artifact in known:
            if artifact.handle in self._artifacts:
                raise InputError(f"memory: the handle {artifact.handle!r} is there twice")
            self._artifacts[artifact.handle] = artifact

    def __len__(self) -> int:
        return len(self._artifacts)

    def __contains__(self, handle: object) -> bool:
        return handle in self._artifacts

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """All of them, in the order in which they came."""
        return tuple(self._artifacts.values())

    def add(
        self,
        kind: str,
        value: Any,
        *,
        made_by: str,
        about: str | None = None,
        sources: Sequence[str] = (),
        turn: int = 0,
    ) -> Artifact:
        """Keep a value under the next handle of its kind.

        Args:
            kind: one of `KINDS`.
            value: what such a kind holds.
            made_by: the capability that made it, or `user`.
            about: a few words about it; by default its size.
            sources: handles of what it was made from.
            turn: in which it was made.

        Raises:
            InputError: no such kind, or a value of another.
        """
        if kind not in KINDS:
            raise InputError(f"kind: expected one of {', '.join(KINDS)}, got {kind!r}")
        form = KINDS[kind]
        prefix = _INPUT if kind == "image" and made_by == "user" else form.prefix
        count = sum(other.handle.rpartition("_")[0] == prefix for other in self.artifacts)
        handle = f"{prefix}_{count + 1}"
        data = form.write(value)
        kept = form.read(data)  # what a later step gets, now as after a restart
        file = f"{handle}{form.suffix}"
        self._write(file, data)
        artifact = Artifact(
            handle,
            kind,
            made_by,
            form.tell(kept) if about is None else about,
            tuple(sources),
            turn,
            file,
            _digest(data),
        )
        self._artifacts[handle] = artifact
        self._hold(handle, kept)
        return artifact

    def get(self, handle: str) -> Artifact:
        """The record of a handle.

        Raises:
            InputError: there is none of that name; the message says which come nearest.
        """
        if handle in self._artifacts:
            return self._artifacts[handle]
        near = difflib.get_close_matches(str(handle)[:80], self._artifacts, n=3, cutoff=0.5)
        near = near or list(self._artifacts)[-5:]
        there = f"there is {', '.join(near)}" if near else "nothing has been made yet"
        raise InputError(f"handle: nothing is called {str(handle)[:80]!r}; {there}")

    def value(self, handle: str, *kinds: str) -> Any:
        """The value of a handle, of one of some kinds if any are named.

        Raises:
            InputError: no such handle, or one of another kind; the message says what it is and which
                handles there are of the kinds wanted.
        """
        artifact = self.get(handle)
        if kinds and artifact.kind not in kinds:
            fitting = [other.handle for other in self.artifacts if other.kind in kinds]
            there = ", ".join(fitting[-5:]) or "none yet"
            raise InputError(
                f"{handle}: expected a handle of kind {' or '.join(kinds)} ({there}), got one of "
                f"{artifact.kind}"
            )
        if handle not in self._values:
            self._hold(handle, KINDS[artifact.kind].read(self.read_bytes(artifact)))
        self._values.move_to_end(handle)
        return self._values[handle]

    def image(self, handle: str) -> RGB:
        """The picture of a handle.

        Raises:
            InputError: no such handle, or one that is no picture.
        """
        picture: RGB = self.value(handle, "image")
        return picture

    def array(self, handle: str) -> npt.NDArray[Any]:
        """A handle as an array: a picture H×W×3, boxes N×4, depth H×W, cameras N×4×4, or the array.

        Raises:
            InputError: no such handle, or one that holds no array.
        """
        value = self.value(handle, "image", "array", *_OF_VALUE)
        return to_numpy(getattr(value, _OF_VALUE.get(self.get(handle).kind, ""), value))

    def url(self, handle: str) -> str:
        """The address of a page or a reference.

        Raises:
            InputError: no such handle, or one without an address.
        """
        address: str = self.value(handle, "reference", "page").url
        return address

    def read_bytes(self, artifact: Artifact) -> bytes:
        """The file of an artefact.

        Raises:
            InputError: it is gone, or not the one that was written.
        """
        try:
            data = (self.folder / artifact.file).read_bytes()
        except OSError as error:
            raise InputError(f"{artifact.handle}: {artifact.file}: {error.strerror}") from None
        if _digest(data) != artifact.digest:
            raise InputError(f"{artifact.handle}: {artifact.file} is not the file that was written")
        return data

    def sources_of(self, handles: Iterable[str]) -> tuple[Artifact, ...]:
        """The artefacts of some handles and all that they were made from, in the order of making."""
        wanted, waiting = set[str](), [handle for handle in handles if handle in self]
        while waiting:
            handle = waiting.pop()
            if handle in self and handle not in wanted:
                wanted.add(handle)
                waiting += self._artifacts[handle].sources
        return tuple(artifact for artifact in self.artifacts if artifact.handle in wanted)

    def _write(self, file: str, data: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".{file}.part"
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(self.folder / file)

    def _hold(self, handle: str, value: Any) -> None:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        self._values[handle] = value
        while len(self._values) > _HELD:
            self._values.popitem(last=False)


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
