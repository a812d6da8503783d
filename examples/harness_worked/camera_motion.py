"""How far a camera turned, told for one pair of pictures and refused for another.

The pictures are two pairs of ScanNet's indoor scenes, from a folder that is not part of the package; they are not
shown here. The capability is asked twice. The first pair it can tell. Of the second the spots that agree would lie
behind a camera, so it refuses, and the model does not guess. The true turn of the first pair is 50.9°.

With each pair's own intrinsics, the whole folder comes out so, beside the true poses:

| pair | true turn | error of the rotation |
|---|---|---|
| scene0711 | 38.5° | 7.7° |
| scene0713 | 66.3° | 2.4° |
| scene0721 | 64.3° | refused |
| scene0722 | 50.9° | 0.4° |
| scene0726 | 52.5° | 0.7° |
| scene0737 | 31.7° | refused |
| scene0738 | 50.3° | 1.5° |
| scene0743 | 172.3° | 5.2° |

    P2_SHARED_DATA=../shared/data python examples/harness_worked/camera_motion.py
    P2_SHARED_DATA=../shared/data python examples/harness_worked/camera_motion.py errors

The second line prints the table.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _turns import act, section

from perception_programs.chat import Message, ScriptedModel
from perception_programs.harness import Agent, Memory, Trajectory
from perception_programs.harness.capabilities.camera import CameraTrajectory

TOLD, REFUSED = 3, 5  # pairs of the folder
QUESTION = (
    "Pictures 1 and 2 are of one room, 3 and 4 of another, all by one camera with a focal length of 1170 px. By how "
    "many degrees did it turn between 1 and 2, and between 3 and 4?"
)


def data() -> Path:
    """The folder of the pairs."""
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("P2_SHARED_DATA", default)) / "scannet_pairs"


def missing() -> str | None:
    """What is not here, or None."""
    return None if (data() / "pairs.jsonl").is_file() else f"there is no {data().name} folder"


def pairs() -> list[dict[str, Any]]:
    """The pairs, with their intrinsics and poses."""
    return [json.loads(line) for line in (data() / "pairs.jsonl").read_text().splitlines()]


def pictures(pair: dict[str, Any]) -> list[Path]:
    """The two pictures of a pair."""
    return [data() / pair["image0"], data() / pair["image1"]]


def turn(rotation: np.ndarray) -> float:
    """Degrees that a rotation turns by."""
    return float(np.degrees(np.arccos(np.clip((np.trace(rotation) - 1) / 2, -1, 1))))


def truth(pair: dict[str, Any]) -> np.ndarray:
    """The true rotation of a pair."""
    return np.reshape(pair["T_0to1"], (4, 4))[:3, :3]


def model(messages: Sequence[Message]) -> Any:
    """Asks for both pairs, and says of each what came."""
    said = [message.text for message in messages if message.role == "tool"]
    if len(said) < 2:
        first = 2 * len(said) + 1
        why = (
            "I have the first pair measured."
            if first == 1
            else "That is told. Now the second pair."
        )
        return act(
            why, "camera_trajectory", images=[f"input_image_{first}", f"input_image_{first + 1}"]
        )
    found = re.search(r"turned by (\d+)\.(\d)°", said[0])
    degrees = f"{float(f'{found[1]}.{found[2]}'):.0f}°" if found else "unknown"
    second = "cannot be told from these pictures" if "can be told" in said[1] else "was told, too"
    return (
        f"Between 1 and 2 it was measured. Between 3 and 4 it {second}, and I do not guess.\n"
        f"Answer: {degrees} between 1 and 2; not known between 3 and 4\n"
        "Evidence: camera_1"
    )


def main(folder: str | os.PathLike[str]) -> Trajectory:
    """Run it, with its trajectory in a folder."""
    known = pairs()
    images = [*pictures(known[TOLD]), *pictures(known[REFUSED])]
    agent = Agent(ScriptedModel(model), [CameraTrajectory(intrinsics=1170)])
    return agent.ask(QUESTION, images, folder)


def errors() -> Iterator[tuple[str, float, float | str]]:
    """Of each pair its name, the true turn, and the measured rotation's error or why there is none; degrees."""
    for pair in pairs():
        camera = np.reshape(pair["K0"], (3, 3))
        with tempfile.TemporaryDirectory() as folder:
            memory = Memory(folder)
            names = [memory.add("image", one, made_by="user").handle for one in pictures(pair)]
            found = asyncio.run(CameraTrajectory(intrinsics=camera).call(memory, names))
        true = truth(pair)
        name = pair["image0"].partition("_")[0]
        if found.form == "found":
            measured = found.new["camera"].value.poses[1][:3, :3]
            yield name, turn(true), turn(measured @ true.T)
        else:
            yield name, turn(true), str(found.fields["why"])


if __name__ == "__main__":
    if "errors" in sys.argv[1:]:
        for name, true, error in errors():
            off = "refused" if isinstance(error, str) else f"{error:.1f}°"
            print(f"| {name} | {true:.1f}° | {off} |")
    else:
        print(section(sys.modules[__name__], main(tempfile.mkdtemp())))
