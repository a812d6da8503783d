"""Programs of every modality with random contents, for tests and benchmarks of what is said of any."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import perception_programs as pp

LABELS = ("person", "traffic light", "car", "stop sign", 'a "red" chair')


def random_program(rng: np.random.Generator) -> pp.PerceptionProgram:
    """One of any modality."""
    makers = list(MAKERS.values())
    return makers[int(rng.integers(len(makers)))](rng)


def field(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """A map in [0, 1] with slopes and steps, some of it missing at times."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width] / max(size)
    values = rng.uniform(-1, 1) * x + rng.uniform(-1, 1) * y
    for _ in range(int(rng.integers(0, 4))):
        values[(np.hypot(x - rng.uniform(), y - rng.uniform()) < 0.2)] += rng.uniform(-1, 1)
    values = (values - values.min()) / max(np.ptp(values), 1e-6)
    if rng.uniform() < 0.3:
        values[: height // 3, : width // 3] = np.nan
    return values


def _size(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(60, 200)), int(rng.integers(60, 200))


def _grid(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(1, 17)), int(rng.integers(1, 17))


def _classes(rng: np.random.Generator, size: tuple[int, int]) -> pp.Segmentation:
    cuts = np.nan_to_num(field(rng, size))
    return pp.Segmentation((cuts * len(LABELS)).astype(int).clip(0, 4), LABELS)


def _places(rng: np.random.Generator, size: tuple[int, int]) -> dict[str, tuple[float, float]]:
    spots = rng.uniform((0, 0), (size[0] - 1, size[1] - 1), (int(rng.integers(1, 6)), 2))
    return {letter: (float(x), float(y)) for letter, (x, y) in zip("ABCDE", spots, strict=False)}


def _reliability(rng: np.random.Generator) -> str | None:
    return [None, "number", "words"][int(rng.integers(3))]


def depth(rng: np.random.Generator) -> pp.PerceptionProgram:
    size = _size(rng)
    return pp.depth_program(
        field(rng, size),
        grid=_grid(rng),
        reading=["range", "median", "range+median"][int(rng.integers(3))],
        labels=_classes(rng, size) if rng.uniform() < 0.3 else None,
        points=_places(rng, size) if rng.uniform() < 0.5 else None,
        adaptive=bool(rng.uniform() < 0.4),
        relations=bool(rng.uniform() < 0.7),
        reliability=_reliability(rng),
    )


def flow(rng: np.random.Generator) -> pp.PerceptionProgram:
    size = _size(rng)
    uv = np.dstack([20 * field(rng, size) - 10, 4 * field(rng, size) - 2])
    return pp.flow_program(
        uv,
        grid=_grid(rng),
        reading=["direction", "mean"][int(rng.integers(2))],
        points=_places(rng, size) if rng.uniform() < 0.5 else None,
        reliability=_reliability(rng),
    )


def correspondence(rng: np.random.Generator) -> pp.PerceptionProgram:
    first, second = _size(rng), _size(rng)
    count = int(rng.integers(0, 120))
    starts = rng.uniform((0, 0), first, (count, 2))
    ends = starts / first * second
    matches = pp.Matches(starts, ends, rng.uniform(size=count), size1=first, size2=second)
    around = {"REF": (first[0] / 2, first[1] / 3)} if rng.uniform() < 0.5 else None
    return pp.correspondence_program(matches, around=around, reliability=_reliability(rng))


def detection(rng: np.random.Generator) -> pp.PerceptionProgram:
    size = _size(rng)
    count = int(rng.integers(0, 40))
    corners = np.sort(rng.uniform(0, 1, (count, 2, 2)), axis=1) * size
    labels = tuple(LABELS[n] for n in rng.integers(0, len(LABELS), count))
    scores = rng.uniform(0, 1, count)
    return pp.detection_program(pp.Detections(corners.reshape(-1, 4), scores, labels, size=size))


def jigsaw(rng: np.random.Generator) -> pp.PerceptionProgram:
    def strip(box: tuple[int, int, int, int]) -> dict[str, object]:
        return {
            **dict(zip(("structural", "colour", "edge"), rng.uniform(size=3), strict=True)),
            "box": box,
        }

    pieces = {
        name: {"left": strip((0, 0, 4, 30)), "top": strip((0, 0, 40, 4))} for name in ("A", "B")
    }
    return pp.jigsaw_program(pp.EdgeScores(pieces, dict.fromkeys("AB", (40, 30))))


def semantic(rng: np.random.Generator) -> pp.PerceptionProgram:
    size = _size(rng)
    places = _places(rng, size)
    scores = {letter: float(rng.uniform(-1, 1)) for letter in places}
    return pp.semantic_program(pp.PointScores(places, scores, (5, 5), size, size))


def points(rng: np.random.Generator) -> pp.PerceptionProgram:
    size = _size(rng)
    return pp.points_program(_places(rng, size), size=size)


def segmentation(rng: np.random.Generator) -> pp.PerceptionProgram:
    return pp.segmentation_program(_classes(rng, _size(rng)), grid=_grid(rng))


def albedo(rng: np.random.Generator) -> pp.PerceptionProgram:
    return pp.albedo_program(field(rng, _size(rng)), grid=_grid(rng))


def similarity(rng: np.random.Generator) -> pp.PerceptionProgram:
    size = _size(rng)
    return pp.similarity_program(
        {"A": field(rng, size), "B": 1 - field(rng, size)}, grid=_grid(rng)
    )


def scene(rng: np.random.Generator) -> pp.PerceptionProgram:
    size = _size(rng)
    count = int(rng.integers(0, 25))
    corners = np.sort(rng.uniform(0, 1, (count, 2, 2)), axis=1) * size
    labels = tuple(LABELS[n] for n in rng.integers(0, len(LABELS), count))
    return pp.scene_program(
        depth=pp.DepthMap(np.nan_to_num(field(rng, size))),
        detections=pp.Detections(
            corners.reshape(-1, 4), rng.uniform(0, 1, count), labels, size=size
        ),
        flow=np.dstack([20 * field(rng, size) - 10, field(rng, size)]),
    )


MAKERS: dict[str, Callable[[np.random.Generator], pp.PerceptionProgram]] = {
    "depth": depth,
    "flow": flow,
    "correspondence": correspondence,
    "object-detection": detection,
    "jigsaw": jigsaw,
    "semantic": semantic,
    "point-detection": points,
    "segmentation": segmentation,
    "albedo": albedo,
    "similarity": similarity,
    "scene": scene,
}
