"""From the files and options of a command to its program."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from .. import programs as make
from ..errors import InputError, MissingExtraError
from ..program import PerceptionProgram
from ..results import (
    DepthMap,
    EdgeScores,
    FlowField,
    Matches,
    Points,
    PointScores,
    Segmentation,
)
from .convert_scene import scene
from .detections import read_detections
from .inputs import (
    Binary,
    Given,
    Json,
    picture_size,
    read_input,
    read_names,
    result_of,
    with_pictures,
)
from .output import note
from .rendering import rendering

__all__ = ["convert"]

_DEPTH_SUFFIXES = (".npy", ".npz", ".pfm", ".exr")
_DEPTH_PICTURES = (".png", ".tif", ".tiff")  # depth where they have one channel
_FLOW_SUFFIXES = (".flo", ".png", ".npy", ".npz")
# What says how to make a program, and so means nothing where there is one already.
_CONVERSIONS = (
    *("grid", "relations", "tau", "labels", "names", "expert", "kind", "scale", "key", "size"),
    *(
        "image_id",
        "threshold",
        "reference",
        "candidate",
        "depth",
        "detections",
        "segmentation",
        "flow",
    ),
    *("levels", "cells", "reading", "points", "points_only", "adaptive", "reliability"),
    "still",
)


def convert(command: str, args: argparse.Namespace) -> PerceptionProgram:
    """The program of one command line.

    Raises:
        InputError: a file that cannot be used, or an option that does not fit it.
    """
    inputs = [read_input(name) for name in args.files]
    modality, converter = _COMMANDS[command]
    programs = [given for given in inputs if isinstance(given, PerceptionProgram)]
    if programs:
        program = _as_it_is(command, args, programs, len(inputs))
        if program.modality != modality:
            raise InputError(
                f"{command}: expected a program of {modality}, got one of {program.modality}"
            )
    else:
        program = converter(args, inputs)
    return with_pictures(program, args)


def _as_it_is(
    command: str, args: argparse.Namespace, programs: Sequence[PerceptionProgram], files: int
) -> PerceptionProgram:
    if files > 1:
        raise InputError(
            f"{command}: expected one program, or pictures or results; got {files} files"
        )
    for option in _CONVERSIONS:
        if getattr(args, option, None) is not None:
            raise InputError(
                f"--{option.replace('_', '-')}: has no meaning beside a program, which is made already"
            )
    return programs[0]


def _tool(args: argparse.Namespace) -> Any:
    """The expert that the command line names, loaded here where it names its weights too."""
    if getattr(args, "weights", None) is None:
        return args.expert
    if args.expert is None:
        raise InputError("--weights: expected --expert NAME beside it, whose weights they are")
    from ..experts import load

    both_ways = "check" in args and (args.check or args.reliability is not None)
    made_with: dict[str, Any] = {"check": True} if both_ways else {}
    return load(args.expert, weights=args.weights, **made_with)


def _cells(args: argparse.Namespace) -> dict[str, Any]:
    """The options of a program of cells, where they were given."""
    options = {name: getattr(args, name, None) for name in ("grid", "relations", "tau")}
    chosen = {name: value for name, value in options.items() if value is not None}
    if getattr(args, "labels", None) is not None:
        chosen["labels"] = Segmentation.open(args.labels, read_names(args.names) or ())
    elif "labels" in args and args.names is not None:
        raise InputError(
            "--names: expected --labels SEGMENTATION beside it, whose classes they name"
        )
    return chosen


def _drawable(
    program: PerceptionProgram, result: Any, args: argparse.Namespace
) -> PerceptionProgram:
    """The program of a result whose picture is unknown; if a drawing is wanted, with one made of it."""
    wanted = args.overlay is not None and not args.image
    return program.with_images(rendering(result)) if wanted else program


def _depth(args: argparse.Namespace, inputs: Sequence[Given]) -> PerceptionProgram:
    given = _binary(inputs[0], "a depth map, a picture or a depth program")
    chosen = {"units": args.units, **_cells(args), **_readings(args)}
    if isinstance(given.source, bytes) or not _is_depth_file(given.source, args):
        _refuse(args, ("kind", "scale", "key"), "a picture; the expert knows")
        try:
            return make.depth_program(given.source, expert=_tool(args), **chosen)
        except MissingExtraError as error:
            taken = f"{given.name!r} is taken for a picture, since no option or suffix says depth"
            raise MissingExtraError(f"{taken}, and {error}") from error
    depth = DepthMap.open(given.source, kind=args.kind, scale=args.scale, key=args.key)
    program = _drawable(
        make.depth_program(depth, expert=_tool(args), **chosen),
        depth,
        args,
    )
    if args.kind is None and given.source.lower().endswith(_DEPTH_PICTURES):
        note(f"{given.name!r} is read as normalised depth, white nearest; say --kind if it is not")
    return program


def _readings(args: argparse.Namespace) -> dict[str, Any]:
    """The options of what is read, where and how surely, where they were given."""
    options = {n: getattr(args, n, None) for n in ("reading", "still", "adaptive", "reliability")}
    chosen = {name: value for name, value in options.items() if value is not None}
    if args.points is not None:
        chosen["points"] = _asked(args)
    if args.points_only:
        if args.points is None or args.grid is not None:
            raise InputError("--points-only: expected --point A=X,Y beside it, and no --grid")
        chosen["grid"] = None
    return chosen


def _asked(args: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """The points that are asked about."""
    points: dict[str, tuple[float, float]] = dict(args.points)
    if len(points) < len(args.points):
        raise InputError("--point: expected each letter once")
    return points


def _is_depth_file(file: str, args: argparse.Namespace) -> bool:
    """Whether a file holds depth: said by an option or the suffix, or a PNG or TIFF of one channel."""
    if args.expert is not None:
        return False
    if args.kind or args.scale or args.key or file.lower().endswith(_DEPTH_SUFFIXES):
        return True
    if not file.lower().endswith(_DEPTH_PICTURES):
        return False
    from PIL import Image

    try:
        with Image.open(file) as image:
            return image.mode in ("1", "L", "F") or image.mode.startswith("I")
    except OSError:
        return True  # formats beyond Pillow, and broken files, which DepthMap.open explains


def _flow(args: argparse.Namespace, inputs: Sequence[Given]) -> PerceptionProgram:
    given = [_binary(one, "a flow file, two frames or a flow program") for one in inputs]
    chosen = {"check": args.check, **_cells(args), **_readings(args)}
    if len(given) == 2:
        _refuse(args, ("key",), "two frames")
        return make.flow_program(given[0].source, given[1].source, expert=_tool(args), **chosen)
    source = given[0].source
    if isinstance(source, bytes) or not source.lower().endswith(_FLOW_SUFFIXES):
        raise InputError(
            f"flow: expected two frames, or one .flo, KITTI .png, .npy or .npz file, "
            f"got only {given[0].name!r}"
        )
    try:
        flow = FlowField.open(source, key=args.key)
    except InputError as error:
        raise InputError(
            f"{error}; pictures come in twos, the first frame and the second"
        ) from error
    return _drawable(make.flow_program(flow, expert=_tool(args), **chosen), flow, args)


def _match(args: argparse.Namespace, inputs: Sequence[Given]) -> PerceptionProgram:
    chosen = {
        "limit": args.limit,
        "reliability": args.reliability,
        "around": None if args.points is None else _asked(args),
    }
    if isinstance(inputs[0], Json) and len(inputs) == 1:
        known = {"size1": picture_size(args, 0), "size2": picture_size(args, 1)}
        matches = result_of(Matches, inputs[0], **known)
        return make.correspondence_program(matches, expert=_tool(args), **chosen)
    first, second = _pair("match", inputs)
    return make.correspondence_program(first, second, expert=_tool(args), **chosen)


def _jigsaw(args: argparse.Namespace, inputs: Sequence[Given]) -> PerceptionProgram:
    named = dict(args.candidate or ())
    if len(named) < len(args.candidate or ()):
        raise InputError("--candidate: expected each letter once")
    if isinstance(inputs[0], Json) and len(inputs) == 1:
        _refuse(args, ("candidate",), "a result")
        return make.jigsaw_program(
            result_of(EdgeScores, inputs[0]), expert=_tool(args), reliability=args.reliability
        )
    picture, *pieces = (_binary(one, "pictures, or one file of scores").source for one in inputs)
    if named and pieces:
        raise InputError("jigsaw: expected pieces as files or as --candidate, got both")
    if not named and not pieces:
        raise InputError("jigsaw: expected the candidate pieces after the picture, got none")
    lettered: dict[str, Any] = {chr(ord("A") + n): piece for n, piece in enumerate(pieces)}
    return make.jigsaw_program(
        picture, named or lettered, expert=_tool(args), reliability=args.reliability
    )


def _detect(args: argparse.Namespace, inputs: Sequence[Given]) -> PerceptionProgram:
    given = inputs[0]
    if isinstance(given, Binary):
        _refuse(args, ("names", "size", "image_id"), "a picture")
        if not args.labels:
            raise InputError("--labels: expected what to look for in a picture, such as cat,dog")
        return make.detection_program(
            given.source,
            labels=args.labels,
            threshold=args.threshold,
            expert=_tool(args),
            reliability=args.reliability,
        )
    assert isinstance(given, Json)
    _refuse(args, ("labels", "expert"), "a detector's result")
    found = read_detections(
        given, read_names(args.names), args.size or picture_size(args, 0), args.image_id
    )
    return make.detection_program(found, threshold=args.threshold, reliability=args.reliability)


def _semantic(args: argparse.Namespace, inputs: Sequence[Given]) -> PerceptionProgram:
    if isinstance(inputs[0], Json) and len(inputs) == 1:
        _refuse(args, ("reference", "candidate"), "a result")
        known = {"size1": picture_size(args, 0), "size2": picture_size(args, 1)}
        scores = result_of(PointScores, inputs[0], **known)
        return make.semantic_program(scores, expert=_tool(args), reliability=args.reliability)
    first, second = _pair("semantic", inputs)
    candidates = dict(args.candidate) if args.candidate else None
    return make.semantic_program(
        first,
        second,
        reference=args.reference,
        candidates=candidates,
        expert=_tool(args),
        reliability=args.reliability,
    )


def _points(args: argparse.Namespace, inputs: Sequence[Given]) -> PerceptionProgram:
    if not any(isinstance(given, Json) for given in inputs):
        _refuse(args, ("size",), "pictures")
    sources = [
        given.source
        if isinstance(given, Binary)
        else result_of(Points, given, size=args.size or picture_size(args, number))
        for number, given in enumerate(inputs)
        if not isinstance(given, PerceptionProgram)
    ]
    return make.points_program(*sources, expert=_tool(args))


def _segments(args: argparse.Namespace, inputs: Sequence[Given]) -> PerceptionProgram:
    given = _binary(inputs[0], "a label PNG, NPY or NPZ file, or a segmentation program")
    if isinstance(given.source, bytes):
        raise InputError("segments: expected a file, got a picture on stdin")
    found = Segmentation.open(given.source, read_names(args.names) or (), key=args.key)
    return _drawable(make.segmentation_program(found, **_cells(args)), found, args)


def _binary(given: Given, expected: str) -> Binary:
    if not isinstance(given, Binary):
        name = given.name if isinstance(given, Json) else "a program"
        raise InputError(f"expected {expected}, got the JSON of {name!r}")
    return given


def _pair(command: str, inputs: Sequence[Given]) -> tuple[str | bytes, str | bytes]:
    if len(inputs) != 2:
        raise InputError(f"{command}: expected two pictures, or one JSON file, got one picture")
    first, second = (_binary(given, "two pictures, or one JSON file") for given in inputs)
    return first.source, second.source


def _refuse(args: argparse.Namespace, options: Sequence[str], what: str) -> None:
    for option in options:
        if getattr(args, option, None) is not None:
            raise InputError(f"--{option.replace('_', '-')}: has no meaning beside {what}")


_COMMANDS: dict[str, tuple[str, Callable[..., PerceptionProgram]]] = {
    "depth": ("depth", _depth),
    "flow": ("flow", _flow),
    "match": ("correspondence", _match),
    "jigsaw": ("jigsaw", _jigsaw),
    "detect": ("object-detection", _detect),
    "semantic": ("semantic", _semantic),
    "points": ("point-detection", _points),
    "segments": ("segmentation", _segments),
    "scene": ("scene", scene),
}
