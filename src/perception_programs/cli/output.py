"""Where a program goes: text to stdout or a file, a drawing to another file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ..program import PerceptionProgram
from .inputs import pictures_of

__all__ = ["check_targets", "note", "write_programs"]


def check_targets(args: argparse.Namespace) -> None:
    """Refuse places that cannot be written, before any work is done.

    Raises:
        InputError: a folder that does not exist, a kind of picture that cannot be written, or a file
            that is being read.
    """
    for option in ("output", "overlay"):
        target = getattr(args, option, None)
        if target is None:
            continue
        file = Path(target)
        if not file.parent.is_dir():
            raise InputError(f"--{option}: no folder {str(file.parent)!r} to write to")
        if file.is_dir():
            raise InputError(f"--{option}: expected a file, got the folder {target!r}")
        if any(_same(file, Path(name)) for name in _read(args)):
            raise InputError(f"--{option}: expected another file than the inputs, got {target!r}")
    targets = [
        Path(t)
        for t in (getattr(args, "output", None), getattr(args, "overlay", None))
        if t is not None
    ]
    if len({target.resolve() for target in targets}) < len(targets):
        raise InputError(f"--overlay: expected another file than --output, got {args.overlay!r}")
    if getattr(args, "overlay", None) is not None:
        _check_picture_format(Path(args.overlay))


def _read(args: argparse.Namespace) -> list[str]:
    """Every file that a command line reads."""
    results = ("labels", "depth", "detections", "segmentation", "flow")
    names = [*args.files, *pictures_of(args), *(getattr(args, name, None) for name in results)]
    names += [value for _, value in getattr(args, "candidate", None) or ()]
    return [name for name in names if isinstance(name, str)]


def _same(first: Path, second: Path) -> bool:
    return first.exists() and second.exists() and first.samefile(second)


def _check_picture_format(file: Path) -> None:
    from PIL import Image

    Image.init()
    if Image.EXTENSION.get(file.suffix.lower()) not in Image.SAVE:
        raise InputError(
            f"--overlay: expected a name that ends in .png, .jpg or the like, got {file.name!r}"
        )


def write_programs(args: argparse.Namespace, programs: Sequence[PerceptionProgram]) -> int:
    """Write the drawing, if one is wanted, and the text; the exit status.

    Raises:
        InputError: a drawing is wanted and no picture is known, or there are several programs.
    """
    if args.overlay is not None:
        if len(programs) != 1:
            raise InputError(f"--overlay: expected one program to draw, got {len(programs)}")
        _draw(programs[0], Path(args.overlay))
    if args.max_tokens is not None:
        programs = [program.fit(args.max_tokens, style=args.style) for program in programs]
    blocks = [program.to_text(args.style, meta=args.meta).rstrip("\n") for program in programs]
    text = ("\n" if args.style == "json" else "\n\n").join(blocks)
    if args.output is not None:
        Path(args.output).write_text(text + "\n", encoding="utf-8", newline="\n")
    elif sys.stdout is None:
        raise InputError("stdout: expected it open, or -o FILE")
    else:
        print(text)
    return 0


def _draw(program: PerceptionProgram, file: Path) -> None:
    if not program.images:
        raise InputError(
            "--overlay: expected the picture that the program is about; say --image PICTURE"
        )
    program.overlay().save(file)


def note(message: str) -> None:
    """Something the user should know that is neither the result nor an error."""
    print(f"p2: note: {message}", file=sys.stderr)
