"""What a FILE on the command line holds: a program, JSON, or a picture or result in a file of its own."""

from __future__ import annotations

import argparse
import codecs
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from .._plain import unique_keys
from ..errors import InputError
from ..images import load_image
from ..program import PerceptionProgram
from ..results._json import result_from

__all__ = [
    "Binary",
    "Given",
    "Json",
    "picture_size",
    "pictures_of",
    "read_input",
    "read_names",
    "read_programs",
    "result_of",
    "with_pictures",
]

_PROBE = 4096
# Formats whose beginning, or all of it, may be plain letters and digits.
_BINARY_SUFFIXES = {".pfm", ".ppm", ".pgm", ".pbm", ".pnm", ".xpm", ".xbm", ".svg"}
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",  # what older PowerShells write with `>`
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class Json:
    """The data of a JSON file that is not a program."""

    name: str
    data: Any


@dataclass(frozen=True)
class Binary:
    """A picture, or a result in a format of its own: its path, or the bytes that stdin gave."""

    name: str
    source: str | bytes


Given: TypeAlias = PerceptionProgram | Json | Binary


def read_input(name: str) -> Given:
    """What a file holds, `-` being stdin.

    Raises:
        InputError: there is no such file, or it is text but neither a program nor JSON.
    """
    file = _regular_file(name)
    if file is None:
        data = _stream(name)
        return _from_text(name, _decoded(name, data)) if _is_text(data) else Binary(name, data)
    if file.suffix.lower() in _BINARY_SUFFIXES:
        return Binary(name, name)
    with file.open("rb") as opened:
        if not _is_text(opened.read(_PROBE)):
            return Binary(name, name)
    return _from_text(name, read_text(name))


def read_programs(name: str) -> list[PerceptionProgram]:
    """Every program in a text file, `-` being stdin; at least one.

    Raises:
        InputError: there is no such file, no program in it, or a broken one.
    """
    text = read_text(name)
    try:
        programs = PerceptionProgram.all_from_text(text)
    except InputError as error:
        raise InputError(f"{_shown(name)}: {error}") from error
    if not programs:
        raise InputError(f"{_shown(name)}: expected a perception program, found none in it")
    return programs


def read_text(name: str) -> str:
    """The text of a file, `-` being stdin.

    Raises:
        InputError: there is no such file, or it is not text.
    """
    file = _regular_file(name)
    data = _stream(name) if file is None else file.read_bytes()
    if not _is_text(data):
        raise InputError(f"{_shown(name)}: expected text, got a binary file")
    return _decoded(name, data)


def _regular_file(name: str) -> Path | None:
    """The file, or None for stdin and for pipes, which can be read only once and from the start."""
    if name == "-":
        return None
    file = Path(name)
    if file.is_dir():
        raise InputError(f"expected a file, got the folder {name!r}")
    if not file.exists():
        raise InputError(f"no file {name!r}")
    if not file.is_file():
        return None
    if file.stat().st_size == 0:
        raise InputError(f"expected a file with something in it, got the empty {name!r}")
    return file


def _stream(name: str) -> bytes:
    if name != "-":
        return Path(name).read_bytes()
    if sys.stdin is None:
        raise InputError("stdin: expected a program, JSON or a picture, got no stdin")
    return sys.stdin.buffer.read()


def _is_text(data: bytes) -> bool:
    if data.startswith(tuple(_BYTE_ORDER_MARKS)):
        return True
    if b"\0" in data:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()  # a probe may end within a character
    try:
        decoder.decode(data, final=False)
    except UnicodeDecodeError:
        return False
    return True


def _decoded(name: str, data: bytes) -> str:
    encoding = next((e for m, e in _BYTE_ORDER_MARKS.items() if data.startswith(m)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(f"{_shown(name)}: expected text in {encoding}: {error}") from error


def _from_text(name: str, text: str) -> Given:
    try:
        data = json.loads(text, object_pairs_hook=unique_keys)
    except InputError as error:
        raise InputError(f"{_shown(name)}: {error}") from error
    except (ValueError, RecursionError) as error:
        programs = PerceptionProgram.all_from_text(text)
        if not programs:
            raise InputError(
                f"{_shown(name)}: expected a perception program, JSON, a picture or a result file, "
                f"got text without a program that is not JSON either: {error}"
            ) from error
    else:
        if not (isinstance(data, dict) and "modality" in data):
            return Json(name, data)
        programs = [PerceptionProgram.from_dict(data)]
    if len(programs) > 1:
        raise InputError(
            f"{_shown(name)}: expected one perception program, got {len(programs)}; "
            "`p2 show` reads several"
        )
    return programs[0]


def pictures_of(args: argparse.Namespace) -> list[str]:
    """The pictures that a command line names beside its files, in order.

    Raises:
        InputError: it names the second and not the first.
    """
    second = getattr(args, "second", None)
    if second is not None and not args.image:
        raise InputError("--second: expected --image beside it, the first picture")
    return [*(args.image or ()), *([] if second is None else [second])]


def with_pictures(program: PerceptionProgram, args: argparse.Namespace) -> PerceptionProgram:
    """The program with the pictures that the command line names in place of its first ones."""
    pictures = pictures_of(args)
    return program.with_images(*pictures, *program.images[len(pictures) :])


def picture_size(args: argparse.Namespace, number: int) -> tuple[int, int] | None:
    """The size of the first (0) or a later picture that the command line names, if it does."""
    pictures = pictures_of(args)
    if number >= len(pictures):
        return None
    height, width = load_image(pictures[number]).shape[:2]
    return width, height


def result_of(kind: type[Any], given: Given, **known: Any) -> Any:
    """A result from a file of JSON, whose name errors begin with; `known` fields it may lack."""
    assert isinstance(given, Json)
    try:
        return result_from(kind, given.data, **known)
    except InputError as error:
        raise InputError(f"{given.name!r}: {error}") from error


def read_names(text: str | None) -> dict[int, str] | None:
    """Class names: `cat,dog`, `1=cat,17=dog`, or a file of them.

    Raises:
        InputError: neither, or a file that holds something else.
    """
    if text is None:
        return None
    if Path(text).is_file():
        return _names_of(text, read_text(text))
    if not re.search("[,=]", text) and re.search(r"[/\\]|\.(txt|json|names|csv)$", text):
        raise InputError(f"names: no file {text!r}")
    parts = [part.strip() for part in text.split(",")]
    numbered = [re.fullmatch(r"(\d+)\s*=\s*(.+)", part) for part in parts]
    if not any(numbered):
        return dict(enumerate(parts))
    if not all(numbered):
        raise InputError(f"names: expected a number before every name or before none, got {text!r}")
    return {int(match[1]): match[2] for match in numbered if match}


def _names_of(name: str, text: str) -> dict[int, str]:
    try:
        data = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        if text.lstrip().startswith(("{", "[")):
            raise InputError(f"names: {name!r} begins like JSON but isn't") from None
        return dict(enumerate(line.strip() for line in text.splitlines() if line.strip()))
    try:
        if isinstance(data, dict) and "categories" in data:
            data = data["categories"]
        if isinstance(data, dict):
            return {int(number): str(word) for number, word in data.items()}
        if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
            return {int(row["id"]): str(row["name"]) for row in data}
        if isinstance(data, list):
            return {number: str(word) for number, word in enumerate(data)}
    except (TypeError, ValueError, KeyError):
        pass
    raise InputError(
        f"names: expected a list of names, an object of numbers and names, or COCO's categories "
        f"in {name!r}, got other JSON"
    )


def _shown(name: str) -> str:
    return "stdin" if name == "-" else repr(name)
