"""An agent's view of `p2 mcp`: the tools, and a call of each on a real picture. Kept in docs/mcp.md.

    python examples/mcp_session.py

Needs the extra `mcp`. The picture is the stereo motorcycle that comes with scikit-image. Where a tool
needs a model (depth, detection, likeness, segmentation), it is given a result in a file instead, as
an agent would that runs a model of its own: the true disparity, and what a detector finds.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from skimage.data import stereo_motorcycle

from perception_programs import PerceptionProgram
from perception_programs.errors import install_command

SIZE = (741, 500)
CORNER = (556, 375)  # where the jigsaw piece that is missing begins
BOXES = {
    "boxes": [[90, 60, 685, 450], [40, 105, 285, 310], [520, 180, 620, 255]],
    "scores": [0.98, 0.87, 0.72],
    "labels": ["motorcycle", "bench", "red box"],
    "size": SIZE,
}
SCORES = {
    "candidates": {"A": [610, 390], "B": [160, 130]},
    "scores": {"A": 0.81, "B": 0.34},
    "reference": [600, 370],
    "size1": SIZE,
    "size2": SIZE,
}
PLACES = {"A": [810, 740], "B": [270, 640]}  # on the front wheel and before the bench; 0 to 1000

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("find_points", {"image": "marked.png"}),
    ("depth", {"depth_map": "disparity.npy", "kind": "relative", "points": PLACES}),
    ("flow", {"first": "left.png", "second": "right.png", "grid": [2, 3]}),
    (
        "correspondence",
        {"first": "left.png", "second": "right.png", "around": {"A": PLACES["A"]}, "limit": 2},
    ),
    ("semantic", {"scores": "scores.json"}),
    ("jigsaw", {"image": "corner.png", "candidates": {"A": "piece-a.png", "B": "piece-b.png"}}),
    ("detection", {"detections": "found.json"}),
    ("segmentation", {"segmentation": "classes.npy", "names": ["far", "near"], "grid": [2, 3]}),
    ("albedo", {"albedo": "lightness.npy", "grid": [1, 3]}),
    ("similarity", {"targets": {"right": "alike.npy"}, "grid": [1, 3]}),
    ("scene", {"detections": "found.json", "depth_map": "disparity.npy", "kind": "relative"}),
    ("flow", {"first": "left.png", "second": "right.png", "grid": [1, 2], "overlay": True}),
    ("flow", {"first": "left.png", "second": "../right.png"}),
]


def write_files(folder: Path) -> None:
    """The pictures and results that the calls name."""
    left, right, disparity = stereo_motorcycle()
    known = np.where(np.isfinite(disparity), disparity, np.nan).astype(np.float32)
    grey = left.mean(axis=2).astype(np.float32) / 255
    x, y = CORNER
    pictures = {
        "left": left,
        "right": right,
        "piece-a": left[y:, x:],
        "piece-b": left[: SIZE[1] - y, x:],
    }
    for name, picture in pictures.items():
        Image.fromarray(picture).save(folder / f"{name}.png")
    corner = left.copy()
    corner[y:, x:] = 0
    Image.fromarray(corner).save(folder / "corner.png")
    marked(left).save(folder / "marked.png")
    np.save(folder / "disparity.npy", known)
    np.save(folder / "classes.npy", (known > np.nanmedian(known)).astype(np.uint8))
    np.save(folder / "lightness.npy", grey)
    np.save(folder / "alike.npy", 1 - np.abs(grey - right.mean(axis=2).astype(np.float32) / 255))
    (folder / "found.json").write_text(json.dumps(BOXES), encoding="utf-8")
    (folder / "scores.json").write_text(json.dumps(SCORES), encoding="utf-8")


def marked(picture: Any) -> Image.Image:
    """The picture with two circles on it, as benchmarks draw them."""
    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    for letter, (u, v) in PLACES.items():
        x, y = u * SIZE[0] // 1000, v * SIZE[1] // 1000
        draw.ellipse((x - 10, y - 10, x + 10, y + 10), outline=(255, 0, 0), width=2)
        draw.rectangle((x + 12, y - 8, x + 28, y + 8), fill=(0, 0, 0))
        draw.text((x + 16, y - 6), letter, fill=(255, 255, 255), font_size=12)
    return image


def request(name: str, arguments: dict[str, Any]) -> str:
    """A call as it is written in the transcript."""
    return f"> {name} {json.dumps(arguments)}"


async def talk(folder: Path) -> None:
    """List the tools, then make the calls."""
    from mcp import Client, StdioServerParameters, stdio_client

    serve = ["-m", "perception_programs.cli", "mcp", "--root", str(folder), "--expert", "flow=dis"]
    server = StdioServerParameters(command=sys.executable, args=serve)
    async with Client(stdio_client(server, errlog=sys.__stderr__)) as client:
        print("> tools/list")
        for tool in (await client.list_tools()).tools:
            print(f"{tool.name}({', '.join(tool.input_schema['properties'])})")
            print(f"    {(tool.description or '').splitlines()[0]}")
        for name, arguments in CALLS:
            print(f"\n{request(name, arguments)}")
            result = await client.call_tool(name, arguments)
            text, *drawing = result.content
            print(text.text)
            for part in drawing:
                print(f"[a picture, {part.mime_type}]")
            if not result.is_error:  # what came is a program, twice the same
                program = PerceptionProgram.from_dict(result.structured_content)
                assert PerceptionProgram.from_text(text.text) == program.rounded()


def main() -> None:
    """The session, with a server of its own."""
    if importlib.util.find_spec("mcp") is None:
        print(f"This needs the MCP SDK: {install_command('mcp')}")
        return
    import anyio

    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        anyio.run(talk, Path(folder))


if __name__ == "__main__":
    main()
