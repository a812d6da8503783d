"""The notebooks of the examples: the same as their scripts, executed, and showing what they show now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("jupytext")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")

import notebooks  # noqa: E402
from notebooks import NAMES, made, path_of, printed  # noqa: E402

MACHINE = re.compile(r"/(?:home|tmp|root|work|usr|Users)/")
REWRITE = "python tests/notebooks.py writes the notebooks"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """All five, each executed by a kernel of its own in a folder of its own."""
    return notebooks.executed(tmp_path_factory.mktemp("notebooks"))


def kept(name: str) -> nbformat.NotebookNode:
    return nbformat.read(path_of(name), as_version=4)


def test_there_is_nothing_else() -> None:
    assert {path_of(name) for name in NAMES} == set(notebooks.FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_is_the_script_s(name: str) -> None:
    bare = kept(name)
    nbformat.validate(bare)
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    assert nbformat.writes(bare) == nbformat.writes(made(name)), REWRITE


@pytest.mark.parametrize("name", NAMES)
def test_it_teaches_between_the_cells(name: str) -> None:
    kinds = [cell.cell_type for cell in made(name).cells]
    assert kinds[0] == "markdown" and kinds.count("markdown") * 2 >= len(kinds) - 3
    assert made(name).cells[0].source.startswith("# ")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_it_runs_and_prints_what_is_kept(name: str, executed: dict[str, object]) -> None:
    assert printed(executed[name]) == printed(kept(name)), REWRITE


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_is_small_and_of_no_machine(name: str) -> None:
    assert path_of(name).stat().st_size < 350_000
    notebook = kept(name)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", ())]
    assert {o.output_type for o in outputs} <= {"stream", "execute_result"}
    assert {o.name for o in outputs if o.output_type == "stream"} <= {"stdout"}
    for output in outputs:
        assert set(output.get("data", {})) <= {"text/html", "text/plain"}
    # Of a picture that stands in the page only letters are left, among which anything may occur.
    text = re.sub(r"base64,[\w+/=]+", "", path_of(name).read_text(encoding="utf-8"))
    assert not MACHINE.search(text)


def test_something_is_shown_richly() -> None:
    for name in set(NAMES) - {"chat_with_programs"}:
        shown = [o for cell in kept(name).cells for o in cell.get("outputs", ()) if "data" in o]
        assert any("text/html" in output.data for output in shown), name


def test_the_last_line_of_a_cell_may_be_another_in_a_notebook() -> None:
    cell = "x = 1\nprint(x)  # in a notebook: x"
    assert notebooks.SHOWN.sub(r"\1", cell) == "x = 1\nx"
    inside = "print(x)  # in a notebook: x\ny = 2"
    assert notebooks.SHOWN.sub(r"\1", inside) == inside
    assert all("in a notebook:" not in c.source for name in NAMES for c in made(name).cells)


def test_no_script_is_without_its_notebook() -> None:
    text = {p.stem: Path(p).read_text(encoding="utf-8") for p in notebooks.FOLDER.glob("*.py")}
    assert {name for name, code in text.items() if "\n# %%" in code} == set(NAMES)
