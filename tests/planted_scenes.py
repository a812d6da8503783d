"""Random scenes as several tools would read them, with or without a contradiction planted in one.

A scene is a tilted background with objects before it, each with a depth, a motion, a class and an
albedo of its own. A view of it is what one tool makes of it: borders a pixel or two off, noise, a scale
of its own. Programs are made from views by the converters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from perception_programs import (
    DepthMap,
    Detections,
    EdgeScores,
    FlowField,
    Item,
    Matches,
    PerceptionProgram,
    PointScores,
    Relation,
    albedo_program,
    correspondence_program,
    depth_program,
    detection_program,
    flow_program,
    jigsaw_program,
    scene_program,
    segmentation_program,
    semantic_program,
    similarity_program,
)

SIZE = (320, 240)
NAMES = ["ground", "cat", "dog", "chair", "ball", "lamp"]
CANDIDATES = {"A": (60, 60), "B": (240, 60), "C": (60, 180), "D": (240, 180)}


@dataclass(frozen=True)
class Thing:
    """An object of a scene: its box in pixels and what is true of it."""

    kind: int
    box: tuple[int, int, int, int]
    near: float
    motion: tuple[float, float]
    albedo: float

    def holds(self, c: Any) -> bool:
        """Whether a place of the 0-1000 frame lies in its box."""
        x, y = ((c[n] + c[n + 2]) / 2 if len(c) == 4 else c[n] for n in (0, 1))
        x0, y0, x1, y1 = self.box
        return x0 <= x * SIZE[0] / 1000 <= x1 and y0 <= y * SIZE[1] / 1000 <= y1


@dataclass(frozen=True)
class Scene:
    """Objects from the farthest to the nearest, and how the camera moves."""

    things: tuple[Thing, ...]
    pan: tuple[float, float]
    scores: dict[str, float] = field(default_factory=dict)

    def paint(self, background: Any, of: Any, dtype: type = float) -> Any:
        """A map of the picture: the background, and each object's own value over it."""
        field_ = np.array(background, dtype)
        for thing in self.things:
            x0, y0, x1, y1 = thing.box
            field_[y0:y1, x0:x1] = of(thing)
        return field_

    def near(self) -> Any:
        """Nearness of each pixel: the ground comes nearer towards the lower edge."""
        slope = np.linspace(0.05, 0.3, SIZE[1])[:, None] * np.ones(SIZE[0])
        return self.paint(slope, lambda thing: thing.near)

    def flow(self) -> Any:
        """H×W×2: the motion of each pixel."""
        still = np.broadcast_to(np.array(self.pan), (SIZE[1], SIZE[0], 2))
        return self.paint(still, lambda thing: thing.motion)

    def with_thing(self, index: int, **changes: Any) -> Scene:
        """The scene with one object changed."""
        things = list(self.things)
        things[index] = replace(things[index], **changes)
        return replace(self, things=tuple(things))


def random_scene(rng: np.random.Generator) -> Scene:
    """Three or four objects that stand apart from each other, the nearest last."""
    spots = rng.permutation(4)[: rng.integers(3, 5)]
    nears = np.sort(rng.permutation([0.45, 0.62, 0.8, 0.97])[: len(spots)])
    kinds = rng.permutation(np.arange(1, len(NAMES)))
    pan = float(rng.choice([-1, 1]) * rng.uniform(2, 10))
    things = []
    for spot, near, kind in zip(spots, nears, kinds, strict=False):
        width, height = rng.integers(80, 130), rng.integers(64, 100)
        x0 = int(160 * (spot % 2) + rng.integers(0, 160 - width + 20))
        y0 = int(120 * (spot // 2) + rng.integers(0, 120 - height + 10))
        box = (x0, y0, min(x0 + int(width), SIZE[0]), min(y0 + int(height), SIZE[1]))
        motion = (float(rng.choice([-1, 1]) * rng.uniform(4, 16)), float(rng.uniform(-3, 3)))
        things.append(Thing(int(kind), box, float(near), motion, float(rng.uniform(0.3, 0.95))))
    order = rng.permutation(list(CANDIDATES))
    scores = dict(zip(order.tolist(), [0.8, 0.6, 0.4, 0.3], strict=True))
    return Scene(tuple(things), (pan, float(rng.uniform(-1, 1))), scores)


def shifted(field_: Any, rng: np.random.Generator) -> Any:
    """A map whose borders are off by up to two pixels."""
    return np.roll(field_, tuple(rng.integers(-2, 3, 2).tolist()), axis=(0, 1))


def inner_point(thing: Thing, rng: np.random.Generator) -> tuple[float, float]:
    """A point well inside an object: on its very border, one pixel decides."""
    x0, y0, x1, y1 = thing.box
    return float(rng.uniform(x0 + 8, x1 - 8)), float(rng.uniform(y0 + 8, y1 - 8))


def depths(scene: Scene, kind: str, rng: np.random.Generator, **options: Any) -> PerceptionProgram:
    """A tool's depth: nearness with noise; relative, on a scale of its own; metric, in metres."""
    near = np.clip(shifted(scene.near(), rng) + rng.normal(0, 0.01, SIZE[::-1]), 0, 1)
    if kind == "relative":
        near = rng.uniform(0.5, 40) * near ** rng.uniform(0.8, 1.25) + rng.uniform(-5, 5)
        near[0, 0] += rng.uniform(0, 0.5) * np.ptp(near)  # one wrong pixel stretches the scale
    if kind == "metric":
        near, options = 1 / (0.05 + near), {"units": "m", **options}
    return depth_program(DepthMap(near.astype(np.float32), kind), **options)


def flows(scene: Scene, rng: np.random.Generator, **options: Any) -> PerceptionProgram:
    """A tool's flow, with noise of a third of a pixel."""
    uv = shifted(scene.flow(), rng) + rng.normal(0, 0.3, (SIZE[1], SIZE[0], 2))
    return flow_program(FlowField(uv), **options)


def matches(scene: Scene, starts: Any, rng: np.random.Generator) -> PerceptionProgram:
    """A tool's matches, half a pixel off at both ends."""
    uv = scene.flow()
    moves = np.array([uv[int(y), int(x)] for x, y in starts])
    starts = starts + rng.normal(0, 0.4, starts.shape)
    ends = starts + moves + rng.normal(0, 0.4, starts.shape)
    inside = np.ones(len(starts), bool)
    for points in (starts, ends):
        inside &= ((points >= 0) & (points < np.array(SIZE))).all(axis=1)
    return correspondence_program(Matches(starts[inside], ends[inside], size1=SIZE, size2=SIZE))


def corners(rng: np.random.Generator, count: int = 250) -> Any:
    """N×2 places that matchers find: the same ones, mostly."""
    return rng.uniform((2, 2), (SIZE[0] - 3, SIZE[1] - 3), (count, 2))


def detections(scene: Scene, rng: np.random.Generator) -> PerceptionProgram:
    """A tool's boxes: each side a few pixels off, one in twenty objects missed."""
    kept = [thing for thing in scene.things if rng.uniform() > 0.05] or scene.things[:1]
    boxes = np.array([thing.box for thing in kept]) + rng.normal(0, 2.5, (len(kept), 4))
    words = [NAMES[thing.kind] for thing in kept]
    words = [word.title() if rng.uniform() < 0.2 else word for word in words]
    scores = rng.uniform(0.4, 0.95, len(kept))
    limits = np.array([*SIZE, *SIZE])
    return detection_program(Detections(np.clip(boxes, 0, limits), scores, words, size=SIZE))


def segments(scene: Scene, rng: np.random.Generator, **options: Any) -> PerceptionProgram:
    """A tool's classes, one pixel in fifty wrong."""
    classes = shifted(scene.paint(np.zeros(SIZE[::-1]), lambda thing: thing.kind, int), rng)
    wrong = rng.uniform(size=classes.shape) < 0.02
    classes = np.where(wrong, rng.integers(0, len(NAMES), classes.shape), classes)
    return segmentation_program(classes, NAMES, **options)


def albedos(scene: Scene, rng: np.random.Generator, **options: Any) -> PerceptionProgram:
    """A tool's albedo, with noise."""
    light = scene.paint(np.full(SIZE[::-1], 0.2), lambda thing: thing.albedo)
    return albedo_program(shifted(light, rng) + rng.normal(0, 0.03, light.shape), **options)


def semantics(scene: Scene, rng: np.random.Generator) -> PerceptionProgram:
    """A tool's likeness of candidates to a reference."""
    scores = {name: value + rng.normal(0, 0.02) for name, value in scene.scores.items()}
    return semantic_program(
        PointScores(CANDIDATES, scores, reference=(30, 30), size1=SIZE, size2=SIZE)
    )


def jigsaws(scene: Scene, rng: np.random.Generator) -> PerceptionProgram:
    """A tool's scores of the borders of two pieces."""

    def border(mean: float, box: tuple[int, int, int, int]) -> dict[str, Any]:
        parts = {part: mean + rng.normal(0, 0.02) for part in ("structural", "colour", "edge")}
        return {**parts, "box": box}

    pieces = {
        name: {
            "left": border(scene.scores[name], (0, 0, 4, 100)),
            "top": border(scene.scores[name], (0, 0, 100, 4)),
        }
        for name in ("A", "B")
    }
    return jigsaw_program(EdgeScores(pieces, sizes=dict.fromkeys(pieces, (100, 100))))


def similarities(scene: Scene, rng: np.random.Generator) -> PerceptionProgram:
    """A tool's likeness of each cell of targets."""
    targets = {name: value + rng.normal(0, 0.05, (24, 32)) for name, value in scene.scores.items()}
    return similarity_program(targets, grid=4)


def layout(scene: Scene, rng: np.random.Generator) -> PerceptionProgram:
    """The objects as a scene: boxes, nearness as given, and which are in front of which."""
    items = []
    for n, thing in enumerate(scene.things, 1):
        box = [v * 1000 // SIZE[k % 2] for k, v in enumerate(thing.box)]
        near = float(np.clip(thing.near + rng.normal(0, 0.01), 0, 1))
        items.append(Item(n, box, (near,), NAMES[thing.kind], q=0.9))
    relations = [
        Relation(a.p, "in_front_of", b.p)
        for a in items
        for b in items
        if a.r[0] - b.r[0] > 0.15  # type: ignore[index, operator]
    ]
    return PerceptionProgram(
        "scene",
        "object",
        tuple(items),
        tuple(relations),
        meta={"kind": "normalised", "units": "nearness", "size": SIZE},
    )


def seen(scene: Scene, rng: np.random.Generator) -> PerceptionProgram:
    """What `scene_program` makes of a depth map and boxes."""
    near = np.clip(shifted(scene.near(), rng) + rng.normal(0, 0.01, SIZE[::-1]), 0, 1)
    boxes = np.array([thing.box for thing in scene.things], float)
    words = [NAMES[thing.kind] for thing in scene.things]
    found = Detections(boxes, np.full(len(words), 0.9), words, size=SIZE)
    return scene_program(depth=DepthMap(near.astype(np.float32)), detections=found)


def consistent(seed: int) -> list[PerceptionProgram]:
    """What some twenty tools say of one scene."""
    rng = np.random.default_rng(seed)
    scene = random_scene(rng)
    points = {letter: inner_point(t, rng) for letter, t in zip("ABCD", scene.things, strict=False)}
    spots = corners(rng)
    made = [depths(scene, kind, rng) for kind in ("normalised", "relative", "metric") * 2]
    made += [depths(scene, "normalised", rng, grid=(6, 8)), depths(scene, "relative", rng, grid=16)]
    made += [depths(scene, "normalised", rng, points=points), layout(scene, rng)]
    made += [depths(scene, kind, rng, reading="median") for kind in ("normalised", "relative") * 2]
    made += [depths(scene, "normalised", rng, reading="range+median") for _ in (1, 2)]
    made += [depths(scene, "relative", rng, adaptive=True, points=points) for _ in (1, 2)]
    made += [seen(scene, rng)]
    made += [flows(scene, rng, reading="mean", grid=grid) for grid in (10, 10, 20)]
    made += [flows(scene, rng), flows(scene, rng), flows(scene, rng, grid=20)]
    made += [
        matches(scene, spots, rng),
        matches(scene, np.vstack([spots[:150], corners(rng)]), rng),
    ]
    made += [detections(scene, rng), detections(scene, rng)]
    made += [segments(scene, rng), segments(scene, rng), segments(scene, rng, grid=(6, 13))]
    made += [albedos(scene, rng), albedos(scene, rng)]
    made += [make(scene, rng) for make in (semantics, jigsaws, similarities) for _ in (1, 2)]
    return made


def _middle(thing: Thing) -> tuple[float, float]:
    x0, y0, x1, y1 = thing.box
    return (x0 + x1) / 2, (y0 + y1) / 2


@dataclass(frozen=True)
class Planted:
    """Programs one of which has been made to contradict another, and in which object."""

    programs: list[PerceptionProgram]
    thing: Thing | None


def planted(kind: str, seed: int) -> Planted:
    """One contradiction of a kind, planted in the truth that one tool reads."""
    rng = np.random.default_rng(seed)
    scene = random_scene(rng)
    index = int(rng.integers(len(scene.things)))
    thing = scene.things[index]
    if kind == "depth values":
        other = _turned(scene, index)
        programs = [depths(scene, "normalised", rng), depths(other, "normalised", rng)]
    elif kind == "depth grids":
        other = _turned(scene, index)
        programs = [depths(scene, "normalised", rng, grid=(7, 9)), depths(other, "normalised", rng)]
    elif kind == "depth metres":
        other = _turned(scene, index)
        programs = [depths(scene, "metric", rng), depths(other, "metric", rng)]
    elif kind == "depth orders":
        other, thing = _exchanged(scene), None
        programs = [depths(scene, "relative", rng), depths(other, "relative", rng)]
    elif kind == "point in cell":
        program = depths(scene, "normalised", rng, points={"A": _middle(thing)})
        *cells, point = program.items
        wrong = replace(point, r=0.1 if thing.near > 0.5 else 0.9)
        programs = [replace(program, items=(*cells, wrong))]
    elif kind == "scene order":
        programs = [_swapped(layout(scene, rng)), depths(scene, "relative", rng)]
        thing = None
    elif kind == "scene nearness":
        programs = [layout(_turned(scene, index), rng), depths(scene, "normalised", rng)]
        programs[0] = replace(programs[0], relations=())
    elif kind == "flow":
        turned = tuple(-v for v in thing.motion)
        programs = [flows(scene, rng), flows(scene.with_thing(index, motion=turned), rng)]
    elif kind == "matches":
        spots = np.vstack([corners(rng), [inner_point(thing, rng)]])
        moved = scene.with_thing(index, motion=(thing.motion[0] * -1, thing.motion[1] + 12))
        programs = [matches(scene, spots, rng), matches(moved, spots, rng)]
    elif kind == "match and flow":
        spots = np.vstack([corners(rng), [_middle(thing)]])
        turned = scene.with_thing(index, motion=tuple(-v for v in thing.motion))
        programs = [matches(turned, spots, rng), flows(scene, rng, grid=14)]
    elif kind == "match astray":
        astray = replace(scene, things=(), pan=(-30.0 * np.sign(thing.motion[0]), 0.0))
        spot = np.array([_middle(thing)])
        one, stray = matches(scene, corners(rng), rng), matches(astray, spot, rng)
        extra = tuple(replace(item, p=len(one) + 1) for item in stray.items)
        programs = [replace(one, items=(*one.items, *extra)), flows(scene, rng)]
        if not extra:  # it left the picture
            programs = planted("match and flow", seed).programs
    elif kind == "labels":
        other = scene.with_thing(index, kind=_another(scene, rng))
        programs = [detections(scene, rng), detections(other, rng)]
        while min(map(len, programs)) < len(scene.things):
            programs = [detections(scene, rng), detections(other, rng)]
    elif kind == "classes":
        other = scene.with_thing(index, kind=_another(scene, rng))
        programs = [segments(scene, rng), segments(other, rng)]
    elif kind == "albedo":
        light = thing.albedo + (0.4 if thing.albedo < 0.5 else -0.4)
        programs = [albedos(scene, rng), albedos(scene.with_thing(index, albedo=light), rng)]
    else:
        make = {"semantic": semantics, "jigsaw": jigsaws, "similarity": similarities}[kind]
        other = replace(
            scene, scores=dict(zip("ABCD", [scene.scores[n] for n in "BADC"], strict=True))
        )
        programs, thing = [make(scene, rng), make(other, rng)], None
    return Planted(programs, thing)


KINDS = (
    "depth values",
    "depth grids",
    "depth metres",
    "depth orders",
    "point in cell",
    "scene order",
    "scene nearness",
    "flow",
    "matches",
    "match and flow",
    "match astray",
    "labels",
    "classes",
    "albedo",
    "semantic",
    "jigsaw",
    "similarity",
)


def is_found(case: Planted, found: PerceptionProgram) -> bool:
    """Whether a disagreement is stated, at the object it was planted in, and only there."""
    if not found.relations:
        return False
    if case.thing is None:
        return True
    grown = [a + b for a, b in zip(case.thing.box, (-20, -20, 20, 20), strict=True)]
    around = replace(case.thing, box=tuple(grown))
    told = {item.p: around.holds(item.c) for item in found.items}
    return all(told[r.subject] or told[r.object] for r in found.relations)


def _turned(scene: Scene, index: int) -> Scene:
    """One object taken from the foreground to the back, or brought to the front."""
    near = scene.things[index].near
    return scene.with_thing(index, near=0.02 if near > 0.5 else 0.97)


def _exchanged(scene: Scene) -> Scene:
    """The farthest object as near as the nearest, and the other way round."""
    first, last = scene.things[0], scene.things[-1]
    turned = scene.with_thing(0, near=last.near)
    return turned.with_thing(len(scene.things) - 1, near=first.near)


def _swapped(program: PerceptionProgram) -> PerceptionProgram:
    """The program with its last object, the nearest, said to be behind the first, the farthest."""
    ends = {program.items[0].p, program.items[-1].p}
    rest = [r for r in program.relations if {r.subject, r.object} != ends]
    (first,) = set(program.relations) - set(rest)
    turned = Relation(first.object, first.predicate, first.subject)
    return replace(program, relations=(turned, *rest))


def _another(scene: Scene, rng: np.random.Generator) -> int:
    taken = {thing.kind for thing in scene.things}
    return int(rng.choice([n for n in range(1, len(NAMES)) if n not in taken]))
