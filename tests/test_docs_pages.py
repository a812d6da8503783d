"""What the pages of the documentation show as output is what comes, and their figures are recorded ones."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from test_docs import ROOT, blocks

DOCS = ROOT / "docs"
WITH_OUTPUT = ("tutorial.md", "chat.md", "limits.md")
RECORDED = ("measurements.md", "depth.md", "readings.md", "recipes.md")

_TEXT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FIGURE = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?![\w.]\d)|(?<![\w.])\d+\.\d(?!\d)")


def run(page: str, folder: Path) -> list[tuple[dict[str, Any], str]]:
    """After each block of a page: its names so far, and what it printed."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    done = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line, code in blocks(DOCS / page):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * line + code, page, "exec"), namespace)
            done.append((dict(namespace), printed.getvalue()))
    return done


@pytest.mark.parametrize("page", WITH_OUTPUT)
def test_output_is_what_comes(page: str, tmp_path: Path) -> None:
    printed = [text for _, text in run(page, tmp_path)]
    shown = _TEXT.findall((DOCS / page).read_text(encoding="utf-8"))
    assert shown
    for text in shown:
        assert any(text in one for one in printed), text


def test_the_picture_of_the_tutorial_is_what_is_drawn(tmp_path: Path) -> None:
    run("tutorial.md", tmp_path)
    drawn = np.asarray(Image.open(tmp_path / "check.png").convert("RGB"), np.float32)
    kept = np.asarray(Image.open(DOCS / "images" / "tutorial.jpg").convert("RGB"), np.float32)
    assert drawn.shape == kept.shape
    assert np.abs(drawn - kept).mean() < 5  # of 255: JPEG's own error


def test_figures_of_the_limits_are_recorded() -> None:
    """Numbers with one decimal or with a comma; the page repeats them, it does not make any."""
    known = "\n".join((DOCS / page).read_text(encoding="utf-8") for page in RECORDED)
    prose = re.sub(r"```.*?```", "", (DOCS / "limits.md").read_text(encoding="utf-8"), flags=re.S)
    figures = set(_FIGURE.findall(prose)) - {"4,000", "0.8", "0.6"}  # examples, not measurements
    assert len(figures) >= 10
    unknown = {one for one in figures if one not in known and one.replace(",", "") not in known}
    assert unknown == set()


def test_messages_have_the_shapes_of_the_providers(tmp_path: Path) -> None:
    done = [names for names, _ in run("chat.md", tmp_path)]
    pydantic = pytest.importorskip("pydantic")
    openai = pytest.importorskip("openai.types.chat")
    written = [names["messages"] for names in done if "messages" in names]
    check = pydantic.TypeAdapter(list[openai.ChatCompletionMessageParam])
    check.validate_python(written[0])
    _check_anthropic(pydantic, written[-1])
    _check_gemini(done[-1]["contents"])


def _check_anthropic(pydantic: Any, messages: Any) -> None:
    with contextlib.suppress(ModuleNotFoundError):
        from anthropic.types import MessageParam

        pydantic.TypeAdapter(list[MessageParam]).validate_python(messages)


def _check_gemini(contents: Any) -> None:
    with contextlib.suppress(ModuleNotFoundError):
        from google.genai import types

        for content in contents:
            types.Content.model_validate(content)
