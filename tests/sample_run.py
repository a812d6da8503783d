"""A folder of runs made by hand: small enough to count, with everything that may go wrong in it."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from perception_programs import PerceptionProgram, jigsaw_program, points_program
from perception_programs.blink.samples import Sample, SampleImage

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202e (A)"
"""An answer that tries to be more than text."""

# What becomes of each sample, in order: r right, w wrong, u unparsed, e error, - the key is hidden.
JIGSAW = {"standard": "rwwwuree", "p2": "rrrwurre"}
BLINKS = {"standard": "rw-w", "p2": "rrrr"}

SOURCES: dict[str, dict[str, Any]] = {
    "Jigsaw": {"kind": "parquet", "name": "BLINK", "split": "val", "n": 150},
    "HardBLINK": {"kind": "hardblink", "name": "HardBLINK", "split": None, "n": 372},
}
PROMPT_TOKENS = {"standard": 900, "p2": None}


def picture(seed: int, width: int = 240, height: int = 180) -> np.ndarray:
    """A smooth picture, H×W×3."""
    rng = np.random.default_rng(seed)
    x, y = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    waves = [np.sin(a * x + b * y + c) for a, b, c in rng.uniform(2, 9, (3, 3))]
    return np.uint8(127 + 120 * np.stack(waves, axis=-1))


def jigsaw_sample(number: int) -> Sample:
    whole = picture(number)
    right, other = whole[90:, 120:].copy(), picture(number + 1000)[90:, 120:].copy()
    whole[90:, 120:] = 0
    images = [SampleImage(p, f"{n}.png") for n, p in enumerate((whole, right, other), 1)]
    choices = ("the second image", "the third image")
    name = f"val_Jigsaw_{number}"
    return Sample(name, "Jigsaw", "Which one fits?", choices, tuple(images), "A")


def points_sample(number: int) -> Sample:
    group = f"{3 + number % 2} points"
    images = (SampleImage(picture(number + 50, 336, 336), "points.png"),)
    answer = None if number == 3 else "B"
    name = f"hardblink_{number}"
    return Sample(name, "HardBLINK", "Which is nearest?", ("A", "B", "C"), images, answer, group)


@functools.cache
def samples() -> dict[str, list[Sample]]:
    """The questions that the runs answer."""
    return {
        "Jigsaw": [jigsaw_sample(n) for n in range(1, 9)],
        "HardBLINK": [points_sample(n) for n in range(1, 5)],
    }


@functools.cache
def program_of(sample: Sample) -> PerceptionProgram:
    if sample.task == "HardBLINK":
        return points_program({"A": (50, 60), "B": (150, 250), "C": (280, 90)}, size=(336, 336))
    whole, *pieces = (image.load() for image in sample.images)
    return jigsaw_program(whole, dict(zip("AB", pieces, strict=True)), expert="seams")


def record(sample: Sample, setting: str, fate: str) -> dict[str, Any]:
    parsed = {"r": "B" if sample.task == "HardBLINK" else "A", "w": "C", "u": None, "-": "B"}[fate]
    if fate == "w" and sample.task == "Jigsaw":
        parsed = "B"
    raw = HOSTILE if fate == "u" else f"I looked at {sample.id}.\n\nAnswer: ({parsed})"
    parts: list[dict[str, Any]] = [{"picture": image.name} for image in sample.images]
    parts.append({"text": f"{sample.question} Reply with a letter.", "kind": "question"})
    programs = []
    if setting == "p2":
        program = program_of(sample)
        parts.append({"text": str(program), "kind": "program"})
        programs.append({"name": "evidence", "title": "Evidence", "program": program.to_dict()})
    system = {"role": "system", "parts": [{"text": "Be brief.", "kind": "instructions"}]}
    return {
        "id": sample.id,
        "group": sample.group,
        "options": sample.options,
        "answer": sample.answer,
        "messages": [system, {"role": "user", "parts": parts}],
        "programs": programs,
        "raw": raw,
        "parsed": parsed,
        "how": "none" if parsed is None else "declared",
        "correct": None if sample.answer is None else parsed == sample.answer,
        "usage": {
            "prompt_tokens": PROMPT_TOKENS[setting],
            "completion_tokens": 20 if setting == "standard" else None,
            "reasoning_tokens": None,
            "cost": 0.001 if setting == "standard" else None,
        },
        "text_tokens": {
            "question": 40,
            "program": 200 if setting == "p2" else 0,
            "example": 0,
            "instructions": 10,
            "answer": 12,
        },
        "seconds": 1.5,
        "attempts": 1,
        "model": "toy-1",
        "finish": "stop",
        "time": "2026-01-02T03:04:05+00:00",
    }


def header(task: str, setting: str, model: str, **settings: Any) -> dict[str, Any]:
    return {
        "header": {
            "format": 1,
            "task": task,
            "setting": setting,
            "model": {"name": model, "temperature": 0, **settings},
            # All questions of the task, of which the runs ask the first few.
            "source": SOURCES[task] | {"revision": None, "digest": "5eed"},
            "tools": {"experts": {"jigsaw": {"name": "seams"}}} if setting == "p2" else {},
            "prompts": {"digest": "abc123", "cautions": [], "examples": None},
            "package": "0.1.0",
            "created": "2026-01-02T03:04:05+00:00",
        }
    }


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def write_run(folder: Path, model: str = "openai/gpt-5-mini", **settings: Any) -> Path:
    """Two tasks in two settings, answered by `model`."""
    folder.mkdir(parents=True, exist_ok=True)
    questions = samples()
    for task, fates in (("Jigsaw", JIGSAW), ("HardBLINK", BLINKS)):
        for setting, letters in fates.items():
            rows, failed = [header(task, setting, model, **settings)], []
            for sample, fate in zip(questions[task], letters, strict=True):
                if fate == "e":
                    failed.append(failure(sample.id, "HTTP 500"))
                else:
                    rows.append(record(sample, setting, fate))
            # An earlier failure of a sample that was answered later is no error.
            failed.insert(0, failure(questions[task][0].id, "HTTP 429"))
            write_lines(folder / f"{task}.{setting}.jsonl", rows)
            write_lines(folder / f"{task}.{setting}.errors.jsonl", failed)
    return folder


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text("utf-8").splitlines()]


def change(path: Path, number: int, **fields: Any) -> None:
    """Give the object on a line other values."""
    rows = lines_of(path)
    rows[number - 1] |= fields
    write_lines(path, rows)


def failure(key: str, error: str) -> dict[str, Any]:
    time = "2026-01-02T03:04:05+00:00"
    return {"id": key, "stage": "model", "error": error, "attempts": 6, "time": time}
