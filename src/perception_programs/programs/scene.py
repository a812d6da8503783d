"""Scenes: the objects of a picture, how near each is, how it moves, and how they stand to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .._arrays import to_numpy
from .._plain import check_count, decimals, plain_number
from ..errors import InputError
from ..geometry import Grid, normalise_box
from ..images import ImageLike
from ..program import DEEPEST, PerceptionProgram
from ..results import DepthMap
from ._cells import cap_relations, check_tau
from ._experts import ExpertLike
from ._scene_inputs import Results, results_of
from ._scene_items import Composition, Measured
from ._scene_objects import EXTENTS, Objects, of_detections, of_regions
from ._scene_parts import cells_of, tree_of
from ._scene_relations import Layout, holders

__all__ = ["scene_program"]


def scene_program(
    image: ImageLike = None,
    second: ImageLike = None,
    *,
    depth: Any = None,
    detections: Any = None,
    segmentation: Any = None,
    flow: Any = None,
    labels: Sequence[str] | None = None,
    threshold: float | None = None,
    experts: Mapping[str, ExpertLike] | None = None,
    units: Literal["nearness", "m"] = "nearness",
    relations: bool | int = True,
    tau: float = 0.15,
    levels: int = 1,
    cells: Any = None,
) -> PerceptionProgram:
    """A program of the objects of a picture and of how they stand to each other (`scene`, `object`).

    It composes the results of several tools. Each item is an object with its box, its label, how sure
    it is (`q`), and `r`, what was given of `[nearness, u, v]`: medians over the pixels of its mask, else
    over those of its class in the segmentation that lie in its box, else over the middle half of its
    box's width and height, less other boxes. Relations are `in_front_of`, `left_of`, `above`, `inside`, `overlaps`, and
    `moving_left` and the like, whose object is the item `background`.

    Args:
        image: the picture. What is not given of it is made: detections by a detector (unless there is a
            segmentation), depth by a depth expert.
        second: the next picture, for motion.
        depth: a `DepthMap`, or an H×W array of floats in [0, 1], 1 nearest; False for none.
        detections: `Detections`, or what supervision, transformers, ultralytics or torchvision return
            for one image, or COCO result dicts.
        segmentation: a `Segmentation`, or an H×W map of class numbers. Without detections the connected
            regions of its classes are the objects, the largest first; those of less than a thousandth
            of the picture, and a class named `background`, are left out.
        flow: a `FlowField` or an H×W×2 array, in pixels to the next picture.
        labels: what to detect in the picture; detectors with a vocabulary of their own do without.
        threshold: keep only detections of at least this confidence.
        experts: which experts to run, as {"depth": name, "detection": name, "flow": name}; by default
            the best that are installed.
        units: `nearness`, or `m` for metres, for metric maps only. Relations are of nearness all the
            same.
        relations: whether objects are related; a number keeps at most so many, the strongest.
        tau: how much nearer an object must be to be in front.
        levels: how many levels of objects there are. From 2 on, what is inside another object is among
            its `parts`, under the same number.
        cells: cells a side, or (rows, cols), of depth in the box of each object without such parts.

    Raises:
        InputError: no objects are given, something is not a result of its kind, or results are of
            pictures of different sizes.
        MissingExtraError: a picture came and no expert for it is installed.

    >>> import numpy as np
    >>> found = {"boxes": [[0, 0, 40, 50], [60, 0, 100, 50]], "scores": [0.9, 0.8], "labels": ["cat", "dog"]}
    >>> program = scene_program(depth=np.tile(np.linspace(0, 1, 100), (50, 1)), detections=found)
    >>> program.rounded().items[1].r, program.relations[0]
    ((0.803,), Relation(subject=2, predicate='in_front_of', object=1))
    """
    limit = check_tau(tau)
    cap_relations((), relations)
    grid = _check_levels(levels, cells)
    given = {"depth": depth, "detections": detections, "segmentation": segmentation, "flow": flow}
    found = results_of(image, second, given, labels, threshold, experts)
    _check_units(units, found.depth)
    if grid is not None and found.depth is None:
        raise InputError("cells: expected depth= beside them, whose cells they are; got none")
    objects, about = _objects(found, threshold)
    measured = _measured(found, objects, units)
    layout = _layout(objects, measured, limit)
    tree = tree_of(holders(layout.corners), levels)
    related = {
        under: cap_relations(layout.among(rows, moving=under is None), relations)
        for under, rows in tree.items()
    }
    cut = sum(lost for _, lost in related.values())
    about |= {"relations_cut": cut} if cut else {}
    small = _cells(measured, objects, tree, grid)
    about |= {"boxes_without_cells": lost} if (lost := list(small.values()).count(None)) else {}
    composed = Composition(objects, measured, layout.corners, tree, related, small)
    return PerceptionProgram(
        modality="scene",
        granularity="object",
        items=composed.items(),
        relations=related[None][0],
        note=composed.note(limit, about.get("threshold")),
        meta={"size": found.size, **_meta(found, objects, units), **about},
        images=found.images,
    )


def _check_levels(levels: int, cells: Any) -> Grid | None:
    """The grid of cells, if there are to be some."""
    grid = None if cells is None else Grid.of(cells)
    if check_count(levels, "levels") > DEEPEST - (grid is not None):
        most = f"{DEEPEST - 1} beside cells" if grid else str(DEEPEST)
        raise InputError(f"levels: expected at most {most}, got {levels}")
    return grid


def _check_units(units: str, depth: DepthMap | None) -> None:
    if units not in ("nearness", "m"):
        raise InputError(f"units: expected nearness or m, got {units!r}")
    if units == "m" and (depth is None or depth.kind != "metric"):
        came = "none" if depth is None else f"a {depth.kind} one"
        raise InputError(f"units: expected a metric map for readings in metres, got {came}")


def _objects(found: Results, threshold: float | None) -> tuple[Objects, dict[str, Any]]:
    """The objects of the results, and what `meta` shall say of those that are left out."""
    about: dict[str, Any] = {}
    if found.detections is None:
        if threshold is not None:
            raise InputError("threshold: has no meaning without detections")
        if found.segmentation is None:
            raise InputError(
                "scene: expected detections= or segmentation=, whose objects are listed, or a picture "
                "to detect them in; got neither"
            )
        objects, small = of_regions(found.segmentation)
        return objects, {"small_regions": small} if small else {}
    detections = found.detections
    least = -1 if threshold is None else plain_number(threshold, "threshold")
    rows = np.flatnonzero(detections.scores >= np.float32(least)).tolist()
    limits = [t for t in (threshold, detections.threshold) if t is not None]
    about |= {"threshold": max(limits)} if limits else {}
    below = len(detections) - len(rows)
    about |= {"below_threshold": below} if below else {}
    return of_detections(detections, rows, found.segmentation), about


def _measured(found: Results, objects: Objects, units: str) -> Measured:
    fields, names, near, cells = [], [], None, None
    if found.depth is not None:
        nearness = to_numpy(found.depth.nearness())
        near = np.array(decimals(objects.medians(nearness)))
        cells = nearness
        if units == "m":
            cells = np.where(
                np.isfinite(nearness), to_numpy(found.depth.values), np.float32(np.nan)
            )
        fields.append(cells)
        names.append("metres" if units == "m" else "nearness")
    if found.flow is not None:
        uv, valid = to_numpy(found.flow.uv), to_numpy(found.flow.valid())
        fields += [np.where(valid, uv[..., axis], np.float32(np.nan)) for axis in (0, 1)]
        names += ["u", "v"]
    columns = [objects.medians(field) for field in fields]
    readings = np.stack(columns, axis=1) if columns else np.empty((len(objects), 0), np.float32)
    ground = None
    if found.flow is not None:
        ground = np.array([objects.around(field) for field in fields], np.float32)
    return Measured(tuple(names), readings, ground, near, cells)


def _cells(
    measured: Measured,
    objects: Objects,
    tree: Mapping[int | None, Sequence[int]],
    grid: Grid | None,
) -> dict[int, PerceptionProgram | None]:
    """The cells of depth in each object that holds no others, where cells are asked for."""
    if grid is None or measured.map is None:
        return {}
    return {
        n: cells_of(measured.map, objects, n, grid) for n in range(len(objects)) if n not in tree
    }


def _layout(objects: Objects, measured: Measured, tau: float) -> Layout:
    boxes = [normalise_box(box, objects.size) for box in decimals(objects.boxes)]
    motion = None
    if measured.ground is not None:
        u_v = np.array(decimals(measured.readings[:, -2:])).reshape(-1, 2)
        motion = u_v - np.array(decimals(measured.ground[-2:]))
    corners = np.array(boxes, np.int64).reshape(-1, 4)
    return Layout(corners, measured.near, motion, tau)


def _meta(found: Results, objects: Objects, units: str) -> dict[str, Any]:
    """Where a scene comes from: experts, units, and what tells which pixels show an object."""
    meta: dict[str, Any] = {"experts": found.experts} if found.experts else {}
    if found.depth is not None:
        masked = int(to_numpy(~found.depth.valid()).sum())
        meta |= {"kind": found.depth.kind, "units": units}
        meta |= {"masked_pixels": masked} if masked else {}
    if found.flow is not None:
        unknown = int(to_numpy(~found.flow.valid()).sum())
        meta |= {"unknown_vectors": unknown} if unknown else {}
    used = Counter(extent.how for extent in objects.extents)
    return meta | (
        {"measured_in": {how: used[how] for how in EXTENTS if used[how]}} if used else {}
    )
