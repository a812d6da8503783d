"""The tools about one picture: what a language model may call, in its own words.

Each is a function of `Inputs`, which the caller holds, and of plain values, which the model writes. What
a model is told of a tool, its description and its schema, is made of these docstrings and signatures.
"""

from __future__ import annotations

from typing import Literal

from .. import programs as make
from ..geometry import Size
from ..images import RGB
from ..program import PerceptionProgram
from ..results import Detections
from ..results.depth import DepthKind
from ._inputs import Inputs, Picture, ResultFile, few, grid_of, pixels
from ._limits import RefusedError

__all__ = ["albedo", "depth", "detection", "find_points", "scene", "segmentation"]


def depth(
    inputs: Inputs,
    image: Picture | None = None,
    depth_map: ResultFile | None = None,
    kind: DepthKind | None = None,
    scale: float | None = None,
    points: dict[str, list[float]] | None = None,
    grid: list[int] | None = None,
    reading: Literal["range", "median", "range+median"] = "range",
    units: Literal["nearness", "m"] = "nearness",
    relations: bool = True,
    expert: str | None = None,
) -> PerceptionProgram:
    """How near to the camera each part of an image is, cell by cell or at points, 1 being the nearest.

    Use it to compare distances: which of two places is closer, what is in front of what.

    Args:
        inputs: where files and pictures come from.
        image: the picture. It is put through a depth model unless depth_map is given.
        depth_map: a depth map that was made before: a .npy, .npz, .png, .tif or .pfm file.
        kind: what the numbers of depth_map are: normalised (0 to 1, 1 is nearest), relative (bigger is
            nearer) or metric (bigger is farther).
        scale: how many units of depth_map make one metre, such as 1000 for millimetres.
        points: places to be compared, as {"A": [x, y]}, each coordinate from 0 to 1000.
        grid: [rows, cols] of the cells. Without it there are 10 by 10, or none where points are given.
        reading: what a cell says: its range [lowest, highest], its median, or all three.
        units: nearness from 0 to 1, or m for metres, which a metric depth_map has.
        relations: whether to list what is in front of what.
        expert: the name of the depth model; the best that is installed without it.
    """
    picture = None if image is None else inputs.picture(image, "image")
    made = None
    if depth_map is not None:
        made = inputs.depth(depth_map, kind, scale, _size(picture))
    elif kind is not None or scale is not None:
        raise RefusedError("kind, scale: expected depth_map, whose numbers they are about")
    size = _size(picture) if made is None else made.size
    if size is None:
        raise RefusedError("depth: expected image or depth_map, got neither")
    program = make.depth_program(
        picture if made is None else made,
        points=pixels(points, size, "points"),
        grid=grid_of(grid, None if points else (10, 10)),
        reading=reading,
        units=units,
        relations=relations,
        expert=inputs.expert("depth", expert) if made is None else None,
    )
    return _about(program, picture)


def detection(
    inputs: Inputs,
    image: Picture | None = None,
    labels: list[str] | None = None,
    detections: ResultFile | None = None,
    threshold: float | None = None,
    names: list[str] | None = None,
    expert: str | None = None,
) -> PerceptionProgram:
    """Which objects are in an image, each with its box, its label and how sure it is.

    Use it to find, count and locate things.

    Args:
        inputs: where files and pictures come from.
        image: the picture. It is put through a detector unless detections are given.
        labels: what to look for, as ["cat", "dog"].
        detections: detections that were made before: a .json file of COCO results, or of boxes in
            pixels, {"boxes": [[x0, y0, x1, y1]], "scores": [s], "labels": ["cat"], "size": [w, h]}.
        threshold: leave out what is less sure than this, from 0 to 1.
        names: what the class numbers 0, 1, 2... of the file are called.
        expert: the name of the detector; the best that is installed without it.
    """
    picture = None if image is None else inputs.picture(image, "image")
    if detections is not None:
        if labels is not None or expert is not None:
            raise RefusedError("labels, expert: expected no detections beside them, made already")
        found = inputs.record(
            detections, Detections, "detections", names=names, size=_size(picture)
        )
        return _about(make.detection_program(found, threshold=threshold), picture)
    if picture is None:
        raise RefusedError("detection: expected image or detections, got neither")
    return make.detection_program(
        picture,
        labels=few(labels, "labels"),
        threshold=threshold,
        expert=inputs.expert("detection", expert),
    )


def segmentation(
    inputs: Inputs,
    segmentation: ResultFile,
    image: Picture | None = None,
    names: list[str] | None = None,
    grid: list[int] | None = None,
    relations: bool = True,
) -> PerceptionProgram:
    """What covers each cell of an image, from a segmentation that was made before.

    Args:
        inputs: where files and pictures come from.
        segmentation: the class number of each pixel: a grey or palette .png, a .npy or .npz file.
        image: the picture it is of, to draw on.
        names: what the class numbers 0, 1, 2... are called.
        grid: [rows, cols] of the cells; 10 by 10 without it.
        relations: whether to list neighbouring cells with different things in them.
    """
    found = inputs.segmentation(segmentation, names)
    program = make.segmentation_program(found, grid=grid_of(grid), relations=relations)
    return _about(program, None if image is None else inputs.picture(image, "image"))


def albedo(
    inputs: Inputs,
    albedo: ResultFile,
    image: Picture | None = None,
    grid: list[int] | None = None,
    relations: bool = True,
) -> PerceptionProgram:
    """How light the surface in each cell of an image is, shading taken out, from a map made before.

    Use it to tell a dark surface from a bright one in shadow.

    Args:
        inputs: where files and pictures come from.
        albedo: the lightness of each pixel, 0 black to 1 white: a .npy or .npz file.
        image: the picture it is of, to draw on.
        grid: [rows, cols] of the cells; 10 by 10 without it.
        relations: whether to list which neighbours are darker.
    """
    surface = inputs.array(albedo, "albedo")
    program = make.albedo_program(surface, grid=grid_of(grid), relations=relations)
    return _about(program, None if image is None else inputs.picture(image, "image"))


def find_points(inputs: Inputs, image: Picture, expert: str | None = None) -> PerceptionProgram:
    """Where the lettered circles or boxes are that someone drew on an image, as places from 0 to 1000.

    Use it first where a question is about marked points: the other tools take these places.

    Args:
        inputs: where files and pictures come from.
        image: the picture with the marks on it.
        expert: the name of what finds them; the best that is installed without it.
    """
    picture = inputs.picture(image, "image")
    return make.points_program(picture, expert=inputs.expert("points", expert))


def scene(
    inputs: Inputs,
    image: Picture | None = None,
    second: Picture | None = None,
    detections: ResultFile | None = None,
    segmentation: ResultFile | None = None,
    depth_map: ResultFile | None = None,
    kind: DepthKind | None = None,
    scale: float | None = None,
    flow_field: ResultFile | None = None,
    labels: list[str] | None = None,
    names: list[str] | None = None,
    threshold: float | None = None,
    use_depth: bool = True,
    levels: int = 1,
) -> PerceptionProgram:
    """The objects of an image, how near each is, how it moves, and how they stand to each other.

    Use it for questions about several objects: what is left of, above, inside or in front of what.

    Args:
        inputs: where files and pictures come from.
        image: the picture. Models make of it what is not given below.
        second: the next picture of the same view, for motion.
        detections: objects that were detected before, a .json file as the tool detection takes it.
        segmentation: the class number of each pixel, whose regions are the objects where there are no
            detections: a grey or palette .png, a .npy or .npz file.
        depth_map: a depth map that was made before: a .npy, .npz, .png, .tif or .pfm file.
        kind: what the numbers of depth_map are: normalised (0 to 1, 1 is nearest), relative (bigger is
            nearer) or metric (bigger is farther).
        scale: how many units of depth_map make one metre, such as 1000 for millimetres.
        flow_field: motion that was measured before: a .flo, .npy, .npz or 16-bit .png file.
        labels: what to look for in the picture, as ["cat", "dog"].
        names: what the class numbers 0, 1, 2... of the files are called.
        threshold: leave out objects that are less sure than this, from 0 to 1.
        use_depth: whether a depth model reads the picture where there is no depth_map.
        levels: how many levels of objects to list: from 2 on, what is inside another is its part.
    """
    first = None if image is None else inputs.picture(image, "image")
    size = _size(first)
    if depth_map is None and (kind is not None or scale is not None):
        raise RefusedError("kind, scale: expected depth_map, whose numbers they are about")
    near = None if depth_map is None else inputs.depth(depth_map, kind, scale, size)
    moved = None if flow_field is None else inputs.flow(flow_field)
    classes = None if segmentation is None else inputs.segmentation(segmentation, names)
    if size is None:
        size = next((found.size for found in (near, moved, classes) if found is not None), None)
    objects = None
    if detections is not None:
        objects = inputs.record(detections, Detections, "detections", names=names, size=size)
    deep = first is not None and near is None and use_depth
    experts = {
        "depth": deep,
        "detection": first is not None and objects is None and classes is None,
        "flow": second is not None and moved is None,
    }
    return make.scene_program(
        first,
        None if second is None else inputs.picture(second, "second"),
        depth=near if near is not None or deep else False,
        detections=objects,
        segmentation=classes,
        flow=moved,
        labels=few(labels, "labels"),
        threshold=threshold,
        experts={name: inputs.expert(name, None) for name, runs in experts.items() if runs},
        levels=levels,
    )


def _size(picture: RGB | None) -> Size | None:
    return None if picture is None else (picture.shape[1], picture.shape[0])


def _about(program: PerceptionProgram, picture: RGB | None) -> PerceptionProgram:
    """The program of a result, with its picture where that is known."""
    return program if picture is None else program.with_images(picture)
