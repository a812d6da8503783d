"""A manifest: questions of one's own as JSON lines, with pictures in files.

One question a line. Paths are relative to the manifest's folder.

    {"id": "shelf_1", "task": "Jigsaw", "question": "Which piece fits?", "choices": ["B", "C"],
     "images": ["shelf.png", "b.png", "c.png"], "answer": "A"}

`group` (what a report splits the task by), `labels` (names of objects, for a detector) and `meta`
(any plain data) may be left out; `answer` is null where it is not known.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .._arrays import describe
from .._plain import Meta
from ..errors import InputError
from ._collection import TASKS, Samples, answer_letter, encoded, nearest
from ._jsonl import check_keys, read_lines
from .samples import Sample, SampleImage

__all__ = ["manifest_tasks", "read_manifest", "write_manifest"]

_REQUIRED = ("id", "task", "question", "choices", "images", "answer")
_OPTIONAL = ("group", "labels", "meta")


def read_manifest(path: str | os.PathLike[str], task: str | None = None) -> Samples:
    """The questions of one task in a manifest, in order; no picture is opened.

    Args:
        path: the manifest.
        task: which task; it may be left out where the manifest has one task only.

    Raises:
        InputError: a line that is no question (the message names it), a picture that is not there,
            no question of that task, or several tasks and none named.
    """
    path = Path(path)
    samples = _all_samples(path)
    tasks = list(dict.fromkeys(sample.task for sample in samples))
    if task is None and len(tasks) > 1:
        raise InputError(f"task: {path} has several, expected one of {', '.join(tasks)}")
    chosen = task if task is not None else tasks[0]
    if chosen not in tasks:  # as the hub's tasks may be written with spaces
        chosen = chosen.replace(" ", "_")
    if chosen not in tasks:
        raise InputError(
            f"task: expected one of those in {path}, {', '.join(tasks)}, got {task!r}"
            f"{'' if chosen in TASKS else nearest(chosen, tasks)}"
        )
    return Samples(
        (sample for sample in samples if sample.task == chosen),
        task=chosen,
        kind="manifest",
        name=path.name,
        place=str(path.absolute()),
    )


def manifest_tasks(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The tasks of the questions in a manifest, in order.

    Raises:
        InputError: a line that is no question, or a picture that is not there.
    """
    return tuple(dict.fromkeys(sample.task for sample in _all_samples(Path(path))))


def write_manifest(samples: Iterable[Sample], path: str | os.PathLike[str]) -> None:
    """Write questions as a manifest that `read_manifest` reads back as the same questions.

    Pictures that are files in the manifest's folder, or below it, are referred to. All others are
    written, unchanged, to the folder `NAME_images` beside it, `NAME` being the manifest's. The
    questions may be of several tasks. A manifest that is there is overwritten.

    Raises:
        InputError: a picture that cannot be read, or two questions of one task with the same id.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    seen: set[tuple[str, str]] = set()
    lines = []
    for sample in samples:
        if (sample.task, sample.id) in seen:
            raise InputError(f"{path}: expected each id once, got {sample.id!r} twice")
        seen.add((sample.task, sample.id))
        lines.append(json.dumps(_record(sample, path), ensure_ascii=False, allow_nan=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def _all_samples(path: Path) -> list[Sample]:
    samples: list[Sample] = []
    places: dict[tuple[str, str], str] = {}
    for where, record in read_lines(path):
        sample = _sample(record, where, path.parent)
        before = places.setdefault((sample.task, sample.id), where)
        if before is not where:
            raise InputError(
                f"{where}: expected each id once in a task, got {sample.id!r} again; the first is on "
                f"{before.rpartition(', ')[2]}"
            )
        samples.append(sample)
    if not samples:
        raise InputError(f"{path}: expected one question a line, got none")
    return samples


def _sample(record: dict[str, Any], where: str, folder: Path) -> Sample:
    check_keys(record, where, _REQUIRED, _OPTIONAL)
    images = []
    for name in _texts(record["images"], f"{where}: images"):
        if not (folder / name).is_file():
            raise InputError(f"{where}: images: no file {str(folder / name)!r}")
        images.append(SampleImage(folder / name, Path(name).name))
    group, answer = record.get("group"), record["answer"]
    if group is not None and not isinstance(group, str):
        raise InputError(f"{where}: group: expected a string or null, got {describe(group)}")
    try:
        return Sample(
            id=record["id"],
            task=record["task"],
            question=record["question"],
            choices=_texts(record["choices"], "choices"),
            images=tuple(images),
            answer=None if answer is None else answer_letter(answer, "answer"),
            group=group,
            labels=_texts(record.get("labels", []), "labels"),
            meta=Meta(record.get("meta")),
        )
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InputError(f"{name}: expected a list of strings, got {describe(value)}")
    for text in value:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{name}: expected strings with something in them, got {text!r}")
    return tuple(value)


def _record(sample: Sample, manifest: Path) -> dict[str, Any]:
    record = {
        "id": sample.id,
        "task": sample.task,
        "question": sample.question,
        "choices": list(sample.choices),
        "images": [
            _place(image, sample, number, manifest) for number, image in enumerate(sample.images, 1)
        ],
        "answer": sample.answer,
        "group": sample.group,
        "labels": list(sample.labels),
        "meta": Meta(sample.meta).to_dict(),
    }
    return {key: value for key, value in record.items() if key in _REQUIRED or value}


def _place(image: SampleImage, sample: Sample, number: int, manifest: Path) -> str:
    """Where a picture is, relative to the manifest's folder; written there if it is elsewhere."""
    folder = manifest.parent.resolve()
    source = image.source
    if isinstance(source, (str, os.PathLike)):
        file = Path(source).resolve()
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    data = encoded(image)
    # Quoted, an id is a file name and stays different from every other id.
    name = f"{quote(sample.id, safe='')}_{number}{_suffix(data, image.name)}"
    place = Path(f"{manifest.stem}_images", quote(sample.task, safe=""), name)
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_bytes(data)
    return place.as_posix()


def _suffix(data: bytes, name: str) -> str:
    """The usual ending of the format that an image file is in; nothing is decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            kind = (image.format or "").lower()
    except (
        UnidentifiedImageError,
        ModuleNotFoundError,  # as in `images.open_picture`
        Image.DecompressionBombError,
        OSError,
    ) as error:
        raise InputError(f"{name}: expected an image file: {error}") from None
    return ".jpg" if kind == "jpeg" else f".{kind}"
