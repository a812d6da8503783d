"""Small questions of the benchmark, in each form that they come in."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from perception_programs.blink.samples import SampleImage


def png(level: int) -> bytes:
    """A picture that can be told from others by its one grey."""
    file = io.BytesIO()
    Image.new("RGB", (4, 3), (level, level, level)).save(file, "PNG")
    return file.getvalue()


def grey(image: SampleImage) -> int:
    return int(image.load()[0, 0, 0])


def row(n: int, *, task: str = "Jigsaw", images: int = 3, **changes: Any) -> dict[str, Any]:
    pictures = {
        f"image_{k}": {"bytes": png(10 * n + k), "path": f"{task}_{n}_{k}.png"}
        if k <= images
        else None
        for k in range(1, 5)
    }
    return {
        "idx": f"val_{task}_{n}",
        "sub_task": task.replace("_", " "),
        "question": f"Which, {n}?",
        **pictures,
        "choices": ["the second image", "the third image"],
        "answer": "(B)",
        "prompt": "Which? (A) …",
        "explanation": "",
    } | changes


def parquet(path: Path, rows: list[dict[str, Any]], group: int = 100, drop: str = "") -> Path:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    types = {name: pa.string() for name in rows[0]} | {"choices": pa.list_(pa.string())}
    types |= {f"image_{k}": image for k in range(1, 5)}
    types.pop(drop, None)
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows, schema=pa.schema(list(types.items())))
    pq.write_table(table, path, row_group_size=group)
    return path


def jigsaw(folder: Path) -> Path:
    """Three questions of Jigsaw in the hub's layout, in two groups of rows."""
    parquet(folder / "Jigsaw/val-00000-of-00001.parquet", [row(n) for n in (1, 2, 3)], 2)
    return folder


def hardblink_folder(home: Path) -> Path:
    """HardBLINK's layout: two questions with 3 points, which say nothing of 4 and 5."""
    for name in ("questions", "answers", "images/blink3pointscenter"):
        (home / name).mkdir(parents=True)
    for n in (0, 1):
        (home / f"images/blink3pointscenter/{n}.png").write_bytes(png(n))
    questions = [{"question_id": n, "image": f"{n}.png", "text": "Which?"} for n in (0, 1)]
    answers = [{"question_id": n, "text": "(C)"} for n in (1, 0)]
    for name, lines in (("questions", questions), ("answers", answers)):
        text = "\n".join(json.dumps(line) for line in lines)
        (home / name / f"blink_3pointscenter_{name}.jsonl").write_text(text)
    return home


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path
