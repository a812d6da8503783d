"""Every public name stands in a page of the reference."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "perception_programs",
    *(
        f"perception_programs.{name}"
        for name in (
            "blink",
            "blink.analyses",
            "blink.proxy",
            "chat",
            "experts",
            "fitting",
            "harness",
            "harness.capabilities",
            "harness.specialise",
            "integrations",
            "programs",
            "prompts",
            "results",
            "sandbox",
            "text",
            "tokens",
            "view",
            "visualtoolbench",
        )
    ),
)
"""What users import from."""

_DIRECTIVE = re.compile(r"^::: (\S+)\n((?:    .*\n)*)", re.MULTILINE)


def directives() -> dict[str, str]:
    """What the pages ask mkdocstrings to render, with the options beneath."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return dict(
        found for page in pages for found in _DIRECTIVE.findall(page.read_text(encoding="utf-8"))
    )


def places(package: str, name: str) -> Iterator[str]:
    """The names under which a page may have it: as it is imported, or where it is defined."""
    yield f"{package}.{name}"
    yield f"perception_programs.{name}"
    home = getattr(getattr(importlib.import_module(package), name), "__module__", None)
    if home is not None:
        yield f"{home}.{name}"


def public_names(package: str) -> list[str]:
    names = importlib.import_module(package).__all__
    return [name for name in names if not name.startswith("__")]


def shown_by(module: str, name: str, value: object) -> bool:
    """Whether a page that renders all of a module renders that name."""
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError:  # the directive is of a class or a function
        return False
    return name in getattr(found, "__all__", ()) and getattr(found, name) is value


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_in_the_reference(package: str) -> None:
    """Each by a directive of its own, or by one of a module that leaves nothing out."""
    rendered = directives()
    whole = [place for place, options in rendered.items() if "members:" not in options]
    missing = [
        name
        for name in public_names(package)
        if rendered.keys().isdisjoint(places(package, name))
        and not any(
            shown_by(module, name, getattr(importlib.import_module(package), name))
            for module in whole
        )
    ]
    assert not missing, f"docs/reference lacks {package}: {', '.join(missing)}"


@pytest.mark.slow
def test_the_built_site_has_them(tmp_path: Path) -> None:
    """As above, by what mkdocstrings made of it."""
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir"]
    subprocess.run([*command, str(tmp_path / "site")], cwd=ROOT, check=True, timeout=300)
    inventory = (tmp_path / "site" / "objects.inv").read_bytes().split(b"\n", 4)[4]
    rows = zlib.decompress(inventory).decode().splitlines()
    documented = {row.partition(" ")[0] for row in rows}
    missing = [
        f"{package}.{name}"
        for package in PACKAGES
        for name in public_names(package)
        if documented.isdisjoint(places(package, name))
    ]
    assert not missing
    # Examples that are not between fences would be quotations (docs/_site/fenced_examples.py).
    pages = (tmp_path / "site" / "reference").rglob("index.html")
    assert [page for page in pages if "<blockquote>" in page.read_text(encoding="utf-8")] == []
