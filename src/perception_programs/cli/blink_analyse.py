"""The paper's analyses on files: which of them, what they read, and where the results go."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from ..blink import analyses
from ..chat import ChatModel
from ..errors import InputError
from ..experts import load
from ..experts.registry import default
from ..program import PerceptionProgram
from ..programs import correspondence_program
from ..results import DepthMap

__all__ = ["analyse"]

_KINDS = ("depth", "correspondence", "displacement", "grid")
_GRIDS = (4, 8, 10, 16)
_SHOTS = 5


def analyse(args: argparse.Namespace, model: ChatModel | None) -> int:
    """Run the analysis that the first file names, print its summary, and write it to `--out`."""
    kind, *files = args.files
    if kind not in _KINDS:
        raise InputError(f"analyse: expected {', '.join(_KINDS)}, got {kind!r}")
    if not files:
        raise InputError(f"analyse {kind}: expected files, got none")
    if args.seed < 0:
        raise InputError(f"--seed: expected 0 or more, got {args.seed}")
    if kind in ("depth", "correspondence") and model is None:
        raise InputError(f"analyse {kind}: expected --model NAME, got none")
    if model is not None and args.out is None:
        raise InputError(f"--out: expected a folder for the answers of {model.name}, got none")
    _check_enough(kind, files)
    result: Any
    if kind == "grid":
        maps = {name: DepthMap.open(name, kind=args.kind) for name in files}
        result = analyses.grid_accuracy(maps, grids=_grids(args, (*_GRIDS, 32)), seed=args.seed)
    elif kind == "displacement":
        programs = {f"{a} {b}": program for a, b, program in _pairs(args, files)}
        result = analyses.displacement(programs)
    else:
        assert model is not None
        result = asyncio.run(_asked(kind, args, files, model))
    print(result.summary())
    if args.out is not None:
        for path in result.write(Path(args.out)):
            print(path)
    return 0


def _check_enough(kind: str, files: Sequence[str]) -> None:
    """Refuse too few pictures before any is read: each is asked about with five others as examples."""
    each = {"depth": 1, "correspondence": 2}.get(kind, 0)  # pictures that are asked about at a time
    if len(files) < each * (_SHOTS + 1):
        what = "pictures" if each == 1 else "pairs of pictures"
        raise InputError(
            f"analyse {kind}: expected at least {_SHOTS + 1} {what}, one to ask about and {_SHOTS} as "
            f"its examples, got {len(files)} files"
        )


async def _asked(
    kind: str, args: argparse.Namespace, files: Sequence[str], model: ChatModel
) -> Any:
    work: Coroutine[Any, Any, Any]
    if kind == "depth":
        expert = _expert(args, "depth")
        images = [(name, expert(name)) for name in files]
        work = analyses.depth_reconstruction(
            model, images, grids=_grids(args, _GRIDS), seed=args.seed
        )
    else:
        work = analyses.correspondence_reconstruction(model, _pairs(args, files), seed=args.seed)
    try:
        return await work
    finally:
        await model.close()


def _grids(args: argparse.Namespace, otherwise: Sequence[int]) -> Sequence[int]:
    chosen = args.grid or [(n, n) for n in otherwise]
    for rows, cols in chosen:
        if rows != cols:
            raise InputError(f"--grid: expected as many rows as columns, got {rows}x{cols}")
    return [rows for rows, _ in chosen]


def _pairs(
    args: argparse.Namespace, files: Sequence[str]
) -> list[tuple[str, str, PerceptionProgram]]:
    if len(files) % 2:
        raise InputError(f"files: expected pairs of pictures, got {len(files)} files")
    expert = _expert(args, "correspondence")
    return [
        (first, second, correspondence_program(first, second, expert=expert, limit=args.matches))
        for first, second in zip(files[::2], files[1::2], strict=True)
    ]


def _expert(args: argparse.Namespace, modality: str) -> Any:
    options = {} if args.weights is None else {"weights": args.weights}
    if args.expert is None:
        return default(modality, **options)
    return load(args.expert, **options)
