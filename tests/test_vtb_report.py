"""VisualToolBench: what a run's report says, whatever interrupts the run."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from isolation import needs_isolation
from perception_programs import InputError
from perception_programs.chat import ScriptedModel
from perception_programs.sandbox import Limits, Sandbox
from perception_programs.visualtoolbench import Judge
from perception_programs.visualtoolbench.agreement import agreement, with_people
from perception_programs.visualtoolbench.failures import read_failure, sort_failures
from perception_programs.visualtoolbench.loading import load_tasks
from perception_programs.visualtoolbench.player import Player
from perception_programs.visualtoolbench.report import rows, to_csv, to_markdown
from perception_programs.visualtoolbench.results import read_run
from perception_programs.visualtoolbench.runs import VERDICTS, judge_plays, play_tasks
from vtb_tasks import DrawnModel, judged, solved, write

pytestmark = needs_isolation

RUN = """
import asyncio, sys
from pathlib import Path
from perception_programs.chat import ScriptedModel
from perception_programs.sandbox import Limits, Sandbox
from perception_programs.visualtoolbench import Judge
from perception_programs.visualtoolbench.loading import load_tasks
from perception_programs.visualtoolbench.player import Player
from perception_programs.visualtoolbench.runs import judge_plays, play_tasks
from vtb_tasks import DrawnModel, judged
class SlowModel(DrawnModel):
    async def answer_or_call(self, messages, tools):
        await asyncio.sleep(0.3)
        return await super().answer_or_call(messages, tools)

tasks, out = load_tasks(sys.argv[1])[0], Path(sys.argv[2])
box = Sandbox(limits=Limits(cpu_seconds=20, wall_seconds=30))
asyncio.run(play_tasks(Player(SlowModel(), sandbox=box), tasks, out, concurrency=1))
asyncio.run(judge_plays(Judge(ScriptedModel(judged)), tasks, out, concurrency=1))
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("vtb"))


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory) -> Path:
    """A run that nothing disturbed."""
    out, tasks = tmp_path_factory.mktemp("whole"), load_tasks(data)[0]
    box = Sandbox(limits=Limits(cpu_seconds=20, wall_seconds=30))
    asyncio.run(play_tasks(Player(DrawnModel(), sandbox=box), tasks, out))
    asyncio.run(judge_plays(Judge(ScriptedModel(judged)), tasks, out))
    return out


def test_the_tables(data: Path, whole: Path) -> None:
    run = read_run(load_tasks(data)[0], whole)
    assert (run.unplayed, run.unjudged, run.errors, run.name) == ((), (), 0, "drawn, strong")
    table = rows(run)
    assert [row.value for row in table if row.group == "domain"] == [
        *("STEM", "Medical", "Finance", "Sports", "Generalist")
    ]
    by = {row.value: row.summary.apr for row in table}
    assert by["STEM"] == by["Finance"] == by["Generalist"] == 1 and by["Medical"] == 0
    assert {row.value: row.summary.n for row in table if row.group == "turns"} == {
        "multi": 5,
        "single": 20,
    }
    assert len([row for row in table if row.group == "focus"]) == 5
    low, high = table[0].apr
    assert low < 0.6 < high
    told = to_markdown([run])
    assert (
        "| drawn, strong | 25 | 60.00 (" in told
        and "| GPT-5-think (published) | 1204 | 18.68 |" in told
    )
    assert "0 tasks not played, 0 without a verdict" in told
    read = list(csv.DictReader(io.StringIO(to_csv([run]))))
    assert read[0]["apr"] == "0.6" and len(read) == len(table)


def test_failures_are_sorted(data: Path, whole: Path) -> None:
    tasks = load_tasks(data)[0]
    run = read_run(tasks, whole)
    seen = []

    def model(messages):
        seen.append(messages[0].text)
        kind = "calculation" if "[total" in seen[-1] else "visual perception"
        return (
            json.dumps({"explanation": "so", "failure": kind}) if "[dark" not in seen[-1] else "?"
        )

    dark = sum(n % 6 == 2 and not solved(n) for n in range(25))
    sums = sum(n % 6 == 4 and not solved(n) for n in range(25))
    assert asyncio.run(sort_failures(ScriptedModel(model), run.results, whole)) == 10 - dark
    assert "| Says " in seen[0] and "| I guess 7." in seen[0]
    told = to_markdown([read_run(tasks, whole)])
    assert f"| drawn, strong | 10 | {10 - dark - sums} | 0 | {sums} | 0 | {dark} |" in told
    assert asyncio.run(sort_failures(ScriptedModel(model), run.results, whole)) == 0


@pytest.mark.parametrize(
    "text", ["calculation", "{}", '{"explanation": "x", "failure": "sight"}', "[" * 9999]
)
def test_what_is_no_kind_of_failure(text: str) -> None:
    with pytest.raises(InputError, match=r"^failure"):
        read_failure(text)


class TestAgreement:
    def test_with_a_file(self, data: Path, whole: Path, tmp_path: Path) -> None:
        labels = [
            {"task": "task/0", "turn": 1, "criterion": "a", "met": True},
            {"task": "task/1", "turn": 1, "criterion": "a", "met": True},
            {"task": "task/1", "turn": 1, "criterion": "c", "met": True},
            {"task": "task/3", "turn": 1, "criterion": "a", "met": False},
            {"task": "none", "turn": 1, "criterion": "a", "met": False},
        ]
        file = tmp_path / "labels.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in labels))
        told = with_people(whole, file)
        assert (told.n, told.accuracy) == (4, 0.75)
        file.write_text(file.read_text() + json.dumps(labels[0]) + "\n")
        with pytest.raises(InputError, match=r"line 6: .* is there twice"):
            with_people(whole, file)
        file.write_text('{"task": "x"}\n')
        with pytest.raises(InputError, match="line 1: expected task, turn"):
            with_people(whole, file)

    def test_without_a_defined_number(self) -> None:
        assert agreement([], []).accuracy is None
        assert agreement([False], [False]).f1 is None
        assert agreement([True, True], [True, True]).kappa is None
        with pytest.raises(InputError, match="as many of each"):
            agreement([True], [])


def test_another_judge_is_refused(data: Path, whole: Path) -> None:
    with pytest.raises(InputError, match="another judge"):
        asyncio.run(judge_plays(Judge(ScriptedModel("Met")), load_tasks(data)[0], whole))


def test_nothing_there(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a run of these tasks"):
        read_run(load_tasks(data)[0], tmp_path)


@pytest.mark.slow
def test_killed_at_random_ten_times(data: Path, whole: Path, tmp_path: Path) -> None:
    """Killed and begun again: nothing is judged twice or lost, and the report is the same."""
    drawn = random.Random(1)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    command = [sys.executable, "-c", RUN, str(data), str(tmp_path)]
    kills = 0
    for _ in range(40):
        process = subprocess.Popen(command, env=environment, start_new_session=True)
        try:
            process.wait(timeout=drawn.uniform(1.2, 1.8) if kills < 10 else 300)
            break
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            time.sleep(0.2)
    assert process.returncode == 0
    lines = [json.loads(line) for line in (tmp_path / VERDICTS).read_bytes().splitlines()]
    keys = [(line["task"], line["turn"], line["criterion"]) for line in lines]
    assert len(keys) == len(set(keys)) == 3 * 30
    tasks = load_tasks(data)[0]
    disturbed, quiet = (read_run(tasks, folder) for folder in (tmp_path, whole))
    assert to_csv([disturbed]) == to_csv([quiet])
    failures = "## Failures"  # those of the other test are sorted
    assert to_markdown([disturbed]).split(failures)[0] == to_markdown([quiet]).split(failures)[0]
    assert kills == 10
