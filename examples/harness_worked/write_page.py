"""The worked trajectories as a page: docs/harness-worked.md.

    python examples/harness_worked/write_page.py [FOLDER]

Every other script of this folder has `main(folder)`, which runs an agent and returns its trajectory, and a
docstring that says what is to be seen. A script that needs what is not on this machine has `missing()`, which says
what, or None.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from _turns import picture_name, section
from PIL import Image

HERE = Path(__file__).resolve().parent
IMAGES = "images/harness-worked"
HEAD = """# Worked trajectories

<!-- Written by examples/harness_worked/write_page.py; do not edit. -->

Each section is one run of an agent, turn by turn, as it came. The model is scripted, so that a run costs nothing
and comes out the same each time; the pictures, the tools, the memory and the programs that are run are real. The
scripts are in `examples/harness_worked/`."""


def scripts() -> list[str]:
    """The names of the scripts."""
    names = (file.stem for file in sorted(HERE.glob("*.py")))
    return [name for name in names if not name.startswith("_") and name != Path(__file__).stem]


def made(script: ModuleType, folder: Path, images: Path | None = None) -> str:
    """A script's section; its pictures are written where `images` says."""
    trajectory = script.main(folder)
    memory = trajectory.memory()
    for handle in getattr(script, "PICTURES", ()) if images is not None else ():
        picture = Image.fromarray(memory.image(handle))
        picture.save(images / picture_name(script, handle), quality=85)
    return section(script, trajectory, IMAGES)


def missing(script: ModuleType) -> str | None:
    """What a script needs that is not here."""
    why: str | None = getattr(script, "missing", lambda: None)()
    return why


def main() -> None:
    docs = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent.parent / "docs"
    (docs / IMAGES).mkdir(parents=True, exist_ok=True)
    parts = [HEAD]
    for name in scripts():
        script = importlib.import_module(name)
        why = missing(script)
        if why is not None:
            raise SystemExit(f"{name}: {why}; the page would lack it")
        with tempfile.TemporaryDirectory() as folder:
            parts.append(made(script, Path(folder), docs / IMAGES))
    (docs / "harness-worked.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"written: {docs / 'harness-worked.md'}")


if __name__ == "__main__":
    main()
