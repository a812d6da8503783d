"""The notebooks of the examples: made from the scripts, and executed. `python tests/notebooks.py` writes them.

The scripts are the source, in the percent format (`# %%` begins a cell, `# %% [markdown]` one of text).
A cell of a notebook shows its last expression by itself; where a script prints in that place, the line says
in a comment what the notebook has there: `print(table)  # in a notebook: table`.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parent.parent / "examples"
NAMES = (
    "first_program",
    "chat_with_programs",
    "own_detector",
    "styles_and_budgets",
    "blink_results",
)
SHOWN = re.compile(r"^\S.*  # in a notebook: (.+)\Z", re.MULTILINE)
_LONGEST_PLAIN = 300  # characters of what stands in for HTML where there is none
_ABOUT = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def path_of(name: str) -> Path:
    """Where a notebook is."""
    return FOLDER / f"{name}.ipynb"


def made(name: str) -> NotebookNode:
    """The notebook of a script, without outputs; the same each time."""
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    notebook = jupytext.reads(text, fmt="py:percent")
    notebook.metadata = nbformat.from_dict(_ABOUT)
    for number, cell in enumerate(notebook.cells, 1):
        cell.id, cell.metadata = f"cell-{number}", NotebookNode()
        if cell.cell_type == "code":
            cell.source = SHOWN.sub(r"\1", cell.source)
    return notebook


async def _executed(name: str, folder: Path) -> NotebookNode:
    notebook = made(name)
    folder.mkdir()
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=[
            "--log-level=ERROR"
        ],  # kernels say at length that loopback is not encrypted
        resources={"metadata": {"path": str(folder)}},
    )
    await client.async_execute()
    return notebook


async def _all_executed(folder: Path) -> list[NotebookNode]:
    room = asyncio.Semaphore(2)  # kernels at a time

    async def one(name: str) -> NotebookNode:
        async with room:
            return await _executed(name, folder / name)

    return await asyncio.gather(*map(one, NAMES))


def executed(folder: Path) -> dict[str, NotebookNode]:
    """All notebooks, each executed by a kernel of its own in a folder of its own."""
    return dict(zip(NAMES, asyncio.run(_all_executed(folder)), strict=True))


def kept(notebook: NotebookNode) -> NotebookNode:
    """An executed notebook as it is kept: of several forms of an output one, and what is the same again."""
    notebook.metadata = nbformat.from_dict(_ABOUT)
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/html" in data:
                data.pop("text/markdown", None)
                data["text/plain"] = data["text/plain"][:_LONGEST_PLAIN]
    return notebook


def printed(notebook: NotebookNode) -> list[str]:
    """What each cell with code prints."""
    return [
        "".join(o["text"] for o in cell.outputs if o.output_type == "stream")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def main() -> None:
    """Write all notebooks, with their outputs."""
    with tempfile.TemporaryDirectory() as folder:
        for name, notebook in executed(Path(folder)).items():
            nbformat.write(kept(notebook), path_of(name))
            sys.stdout.write(f"{path_of(name).name}: {path_of(name).stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
