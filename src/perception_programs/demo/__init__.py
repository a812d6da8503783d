"""The whole chain on pictures that scikit-image ships: every modality, as one page of HTML."""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image

from ..errors import InputError
from ..view import Section, page
from . import single, stereo

__all__ = ["sections", "write_demo"]

_TITLE = "Perception programs: what vision tools see, as text"


def sections() -> list[Section]:
    """One section a modality; what its caption says is measured now."""
    return [make() for make in (*stereo.CHAPTERS, *single.CHAPTERS)]


def write_demo(folder: str | os.PathLike[str]) -> Path:
    """Write `index.html`, its pictures and each program as text into a folder; the page's path.

    Raises:
        InputError: the folder's place is taken by a file.
        ToolError: the installed scikit-image lacks a picture.
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise InputError(f"demo: expected a folder to write to, got the file {str(target)!r}")
    for part in (target / "pictures", target / "programs"):
        part.mkdir(parents=True, exist_ok=True)

    def store(name: str, picture: Image.Image) -> str:
        address = f"pictures/{name}.jpg"
        # Without subsampling of colour: thin coloured lines and letters stay sharp.
        picture.save(target / address, quality=92, subsampling=0)
        return address

    told = sections()
    for section in told:
        file = target / "programs" / f"{section.program.modality}.txt"
        file.write_text(f"{section.program}\n", encoding="utf-8", newline="\n")
    index = target / "index.html"
    index.write_text(page(told, _TITLE, store), encoding="utf-8", newline="\n")
    return index
