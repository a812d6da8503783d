"""One small program of every modality, from the same results each time.

`python tests/sample_programs.py` writes the snapshots anew: look at the difference before committing
it, and say in the CHANGELOG what changed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import perception_programs as pp

FOLDER = Path(__file__).parent / "snapshots"
SUFFIXES = {"paper": "txt", "compact": "compact", "json": "json"}


def samples() -> dict[str, pp.PerceptionProgram]:
    y, x = np.mgrid[0:48, 0:64] / np.array([47.0, 63.0])[:, None, None]
    labels = pp.Segmentation((x > 0.5).astype(int), ["wall", 'a "red" chair'])
    hole = y.copy()
    hole[:24, :32] = np.nan
    uv = np.dstack([x - 0.5, y])
    matches = pp.Matches(
        [[0, 0], [63, 47]], [[5, 5], [40.5, 20.25]], size1=(64, 48), size2=(100, 50)
    )
    border = {"structural": 0.5, "colour": 0.75, "edge": 1.0}
    strips = {"left": {**border, "box": (0, 0, 4, 24)}, "top": {**border, "box": (0, 0, 32, 4)}}
    edges = pp.EdgeScores({"A": strips, "B": strips}, {"A": (32, 24), "B": (32, 24)})
    detections = pp.Detections(
        [[6, 4, 20, 40], [1, 2, 3, 4]], [0.987654, 1e-5], ("no", "sign: STOP"), size=(64, 48)
    )
    scores = pp.PointScores(
        {"A": (3, 4), "B": (60, 40)}, {"A": -0.123456, "B": 0.9}, (32, 24), (64, 48)
    )
    marked = [
        pp.Points.from_dict({"REF": (10, 20)}, (64, 48), "first.png"),
        pp.Points.from_dict({"A": (10, 20), "B": (30, 40)}, (64, 48), "second.png"),
    ]
    return {
        "depth": pp.depth_program(x**2, grid=(2, 3), tau=0.25, labels=labels),
        "depth-holes": pp.depth_program(hole, kind="relative", grid=2, relations=1),
        "flow": pp.flow_program(uv, grid=(2, 3)),
        "correspondence": pp.correspondence_program(matches),
        "correspondence-none": pp.correspondence_program(
            pp.Matches([], [], size1=(64, 48), threshold=0.2)
        ),
        "jigsaw": pp.jigsaw_program(edges),
        "object-detection": pp.detection_program(detections),
        "object-detection-none": pp.detection_program(detections, threshold=0.99),
        "semantic": pp.semantic_program(scores),
        "point-detection": pp.points_program(marked[1]),
        "point-detection-two": pp.points_program(*marked),
        "point-detection-boxes": pp.points_program({"A": (1, 2, 30, 40)}, size=(64, 48)),
        "segmentation": pp.segmentation_program(labels, grid=(2, 3)),
        "albedo": pp.albedo_program(x, grid=2),
        "scene": _scene(labels),
        "similarity": pp.similarity_program({"A": x, "B": 1 - y}, grid=2),
    }


def _scene(labels: pp.Segmentation) -> pp.PerceptionProgram:
    """A person with a sign, and a bird whose depth is unknown, as the camera moves to the right."""
    boxes = [[30, 4, 60, 40], [36, 12, 44, 18], [2, 2, 12, 10]]
    near, uv = np.full((48, 64), 0.125), np.tile([-1.0, 0.0], (48, 64, 1))
    for (x0, y0, x1, y1), value, motion in zip(boxes, (0.5, 0.75, 0.25), (2, 2, -1), strict=True):
        near[y0:y1, x0:x1] = value
        uv[y0:y1, x0:x1, 0] = motion
    near[2:10, 2:12] = np.nan
    found = pp.Detections(boxes, [0.9, 0.8, 0.7], ("person", "sign: STOP", "bird"), size=(64, 48))
    return pp.scene_program(
        depth=near, detections=found, segmentation=labels, flow=uv, levels=2, cells=(1, 2)
    )


def snapshot(name: str, style: str) -> Path:
    return FOLDER / f"{name}.{SUFFIXES[style]}"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, program in samples().items():
        for style in SUFFIXES:
            snapshot(name, style).write_text(program.to_text(style) + "\n", encoding="utf-8")
