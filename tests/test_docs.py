"""The code blocks of the README and of the documentation run as they stand."""

from __future__ import annotations

import importlib.util
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SLOW = ("blink_results.py", "mcp_session.py")  # of the examples: they take seconds
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str]]:
    text = page.read_text(encoding="utf-8")
    return [(text[: m.start(1)].count("\n"), m.group(1)) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(page):
        # Blank lines in front, so that an error names the page's own line.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)


def test_the_tour_has_code() -> None:
    assert len(blocks(ROOT / "README.md")) >= 4


def test_the_program_beside_the_picture_is_real() -> None:
    from skimage.data import astronaut

    from perception_programs import jigsaw_program

    image = astronaut()
    pieces = {"A": image[160:336, 90:266].copy(), "B": image[336:, 336:].copy()}
    image[336:, 336:] = 0
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"```text\n{jigsaw_program(image, pieces)}\n```" in readme


def test_links_to_files_are_good() -> None:
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_the_page_of_one_picture_is_what_is_made(tmp_path: Path) -> None:
    made = runpy.run_path(str(ROOT / "examples" / "one_picture.py"))
    written = (ROOT / "docs" / "one-picture.md").read_text(encoding="utf-8")
    assert made["page"]() == written


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, marks=[pytest.mark.slow] if script.name in SLOW else [])
        for script in sorted((ROOT / "examples").glob("*.py"))
    ],
    ids=lambda p: p.name,
)
def test_examples_run(
    script: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if script.name == "mcp_session.py" and importlib.util.find_spec("torch") is not None:
        pytest.skip("the server is tested where torch is not installed")
    monkeypatch.setattr("sys.argv", [str(script), str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
