"""Fifty questions at once, through LiteLLM and a server: nothing of one run stands in another."""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import threading
from pathlib import Path

import numpy as np
import pytest

from perception_programs import DepthMap
from perception_programs.chat import LiteLLMModel
from perception_programs.harness import Agent, Settings, Trajectory
from perception_programs.harness.capabilities import DepthEstimation, ZoomIn
from perception_programs.harness.trajectory import FILE
from tool_calling_server import STEPS, ToolCallingServer

MANY = 50
SIZE = (480, 640)
AT_ONCE = 260 * 1024**2
"""Bytes that the process may grow by while all run, the server's copies among them: 5 MB a question, of which its
four pictures and its depth take 4."""
LEFT = 40 * 1024**2
"""Bytes that it may have grown by once half as many more are answered: nothing of a run stays."""


def colour(number: int) -> tuple[int, int, int]:
    return (5 * number, 250 - 5 * number, 3 * number + 40)


def picture(number: int) -> np.ndarray:
    return np.full((*SIZE, 3), colour(number), np.uint8)


def planted(image) -> DepthMap:
    """A depth that tells the picture by its values: its red, in metres, and some more to the right."""
    height, width = image.shape[:2]
    across = np.linspace(1, 2, width, dtype=np.float32)
    return DepthMap(np.tile(across + float(image[0, 0, 0]), (height, 1)), "metric")


class Growth:
    """By how much this process grows, watched while a block runs.

    Attributes:
        most: bytes, while it ran.
        left: bytes, when it was over.
    """

    def __init__(self) -> None:
        self.most = self.left = 0

    def __enter__(self) -> Growth:
        gc.collect()
        self._before, self._over = _resident(), threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        gc.collect()
        self.left = _resident() - self._before

    def _watch(self) -> None:
        while not self._over.wait(0.02):
            self.most = max(self.most, _resident() - self._before)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_fifty_at_once(tmp_path: Path) -> None:
    with ToolCallingServer() as server:
        model = LiteLLMModel("toy", base_url=server.url, api_key="k")
        agent = Agent(
            model,
            [ZoomIn(), DepthEstimation(planted)],
            settings=Settings(attempts=10),
        )

        async def ask(number: int, place: str = "first") -> Trajectory:
            question = f"Question {number}: what number is it?"
            folder = tmp_path / place / str(number)
            return await agent.run(question, [picture(number)], folder)

        async def all_of_them() -> list[Trajectory]:
            try:
                await ask(MANY)  # what a first request loads is not counted
                with Growth() as first:
                    done = await asyncio.gather(*map(ask, range(MANY)))
                with Growth() as second:
                    await asyncio.gather(*(ask(number, "again") for number in range(MANY // 2)))
                assert first.most < AT_ONCE and second.left < LEFT
                return done
            finally:
                await model.close()

        trajectories = asyncio.run(all_of_them())
    assert server.most > 10
    for number, done in enumerate(trajectories):
        check(number, done, server.seen[str(number)])


def check(number: int, done: Trajectory, seen: dict) -> None:
    """One run has its own, and nothing else."""
    done.check()
    assert done.answer == str(number) and done.end["unsupported"] == []
    assert [call["outcome"] for call in done.calls] == ["found"] * len(STEPS)
    handles = [artifact.handle for artifact in done.artifacts]
    assert handles == ["input_image_1", "tool_image_1", "depth_1", "tool_image_2", "tool_image_3"]
    files = {path.name for path in done.folder.iterdir() if not path.name.startswith(".")}
    assert files == {FILE, *(artifact.file for artifact in done.artifacts)}
    memory = done.memory()
    for handle in ("input_image_1", "tool_image_1", "tool_image_3"):
        assert np.unique(memory.image(handle).reshape(-1, 3), axis=0).tolist() == [
            list(colour(number))
        ]
    red = colour(number)[0]
    depth = memory.value("depth_1").values
    assert (depth.min(), depth.max()) == (red + 1, red + 2)
    # What the server was sent: this question alone, and pictures of this colour, but for the map.
    assert seen["questions"] == [str(number)]
    given, first, _map, last = seen["colours"]
    for mean in (given, first, last):
        assert np.abs(np.subtract(mean, colour(number))).max() <= 3
    others = [f"Question {other}:" for other in range(MANY) if other != number]
    record = (done.folder / FILE).read_text(encoding="utf-8")
    assert not any(other in record for other in others)
    assert all(json.loads(line) for line in record.splitlines())
