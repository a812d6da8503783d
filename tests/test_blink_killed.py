"""A run against a server that fails, killed again and again: nothing is lost, nothing is repeated."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from blink_pictures import jigsaw_manifest

if importlib.util.find_spec("litellm") is None:  # importing it is slow
    pytest.skip("litellm is not installed", allow_module_level=True)

from flaky_server import FAULTS, FlakyServer
from perception_programs.cli import main

SAMPLES = 60
KILLS = 5
COMMAND = "import sys; from perception_programs.cli import main; sys.exit(main())"
# A reply without text is an answer, so which try meets it would change what is recorded.
RETRIED = [fault for fault in FAULTS if fault != "null-content"]


def command(url: str, questions: Path, out: Path) -> list[str]:
    options = {
        "--model": "openai/toy",
        "--base-url": url,
        "--task": "Jigsaw",
        "--source": questions,
        "--expert": "seams",
        "--concurrency": 8,
        "--attempts": 8,
        "--out": out,
    }
    line = [str(part) for pair in options.items() for part in pair]
    return ["blink", "run", *line, "--setting", "standard", "--setting", "p2", "--no-cache"]


def start(line: list[str]) -> subprocess.Popen[bytes]:
    env = {**os.environ, "OPENAI_API_KEY": "none"}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *line],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(line: list[str]) -> None:
    process = start(line)
    _, errors = process.communicate()
    assert process.returncode == 0, errors.decode()


def written(out: Path) -> int:
    """Whole lines in the files of records."""
    files = [p for p in out.glob("*.jsonl") if not p.name.endswith(".errors.jsonl")]
    return sum(path.read_bytes().count(b"\n") for path in files)


def comparable(out: Path) -> dict[str, dict[str, object]]:
    """Everything in the records that does not depend on when and how often was asked."""
    rows: dict[str, dict[str, object]] = {}
    for path in sorted(out.glob("*.jsonl")):
        if path.name.endswith(".errors.jsonl"):
            continue
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            row = json.loads(line)
            key = f"{path.name} {row['id']}"
            assert key not in rows, f"two records: {key}"
            rows[key] = {k: v for k, v in row.items() if k not in ("seconds", "attempts", "time")}
    return rows


@pytest.mark.slow
def test_a_run_that_is_killed_five_times(tmp_path) -> None:
    questions = jigsaw_manifest(tmp_path / "made", SAMPLES)
    rng = random.Random(2)
    with FlakyServer(latency=0.05, faults=0.3, kinds=RETRIED, seed=1) as server:
        out = tmp_path / "killed"
        marks = sorted(rng.sample(range(5, 2 * SAMPLES - 5), KILLS))
        for mark in marks:
            process = start(command(server.url, questions, out))
            while process.poll() is None and written(out) < mark:
                time.sleep(0.01)
            time.sleep(rng.random() * 0.05)  # anywhere in the work, in the midst of a write too
            assert process.poll() is None, process.stderr.read().decode()
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stderr.close()
        finish(command(server.url, questions, out))
        asked = server.requests
    with FlakyServer(seed=1) as calm:
        finish(command(calm.url, questions, tmp_path / "calm"))
        assert calm.requests == 2 * SAMPLES
    assert asked > 2 * SAMPLES  # it did fail, and was killed in mid-request
    killed, undisturbed = comparable(out), comparable(tmp_path / "calm")
    assert len(killed) == 2 * SAMPLES
    assert killed == undisturbed
    for folder in (out, tmp_path / "calm"):
        assert main(["blink", "report", str(folder), "--out", str(folder / "report.csv")]) == 0
    assert numbers(out / "report.csv") == numbers(tmp_path / "calm" / "report.csv")


def numbers(report: Path) -> list[dict[str, str]]:
    """The rows of a report in CSV without what pace, place and port decide."""
    with report.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"right", "errors", "unparsed"} <= rows[0].keys()
    return [
        {k: v for k, v in row.items() if k not in ("seconds", "file", "model_settings")}
        for row in rows
    ]
