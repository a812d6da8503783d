"""From the files and options of `p2 scene` to its program."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from .. import programs as make
from ..errors import InputError
from ..program import PerceptionProgram
from ..results import DepthMap, FlowField, Segmentation
from .detections import read_detections
from .inputs import Binary, Given, Json, picture_size, read_input, read_names
from .rendering import rendering

__all__ = ["scene"]


def scene(args: argparse.Namespace, inputs: Sequence[Given]) -> PerceptionProgram:
    """The program of the results that options name, and of the pictures where there are some.

    Raises:
        InputError: a file that cannot be used, or an option that does not fit.
    """
    first, second = [*(_picture(given) for given in inputs), None, None][:2]
    results: Any = _results(args)
    options: dict[str, Any] = {
        name: getattr(args, name) for name in ("relations", "tau", "levels", "cells")
    }
    program = make.scene_program(
        first,
        second,
        labels=args.labels,
        threshold=args.threshold,
        experts=dict(args.expert) if args.expert else None,
        units=args.units,
        **results,
        **{name: value for name, value in options.items() if value is not None},
    )
    maps = [results[name] for name in ("segmentation", "depth", "flow") if name in results]
    drawn = args.overlay is not None and not args.image and not program.images
    return program.with_images(rendering(maps[0])) if drawn and maps else program


def _picture(given: Given) -> str | bytes:
    if not isinstance(given, Binary):
        name = given.name if isinstance(given, Json) else "a program"
        raise InputError(f"scene: expected a picture, got {name!r}; results are given by options")
    return given.source


def _results(args: argparse.Namespace) -> dict[str, Any]:
    """The results in files, by the names that the converter has for them."""
    results: dict[str, Any] = {}
    names = read_names(args.names)
    if args.depth is not None:
        results["depth"] = DepthMap.open(args.depth, kind=args.kind, scale=args.scale)
    elif args.kind is not None or args.scale is not None:
        raise InputError(
            "--kind, --scale: expected --depth FILE beside them, whose numbers they are about"
        )
    if args.flow is not None:
        results["flow"] = FlowField.open(args.flow)
    if args.segmentation is not None:
        results["segmentation"] = Segmentation.open(args.segmentation, names or ())
    if args.detections is not None:
        given = read_input(args.detections)
        if not isinstance(given, Json):
            raise InputError(f"--detections: expected JSON of detections, got {args.detections!r}")
        sizes = (result.size for result in results.values())
        size = args.size or picture_size(args, 0) or next(sizes, None)
        results["detections"] = read_detections(given, names, size, args.image_id)
    return results
