"""The package's shape: what it imports, which way, and which names it offers."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import perception_programs
from conftest import import_or_skip
from raise_sites import parsed

PACKAGE = Path(perception_programs.__file__).parent

# The rooms in the order data flows; a module may import what stands above it. Rooms in one row are
# neighbours that do not know each other, and no room below `view` is known to the one before it.
FLOW = [
    ["errors"],
    ["_arrays"],
    ["_plain"],
    ["_statistics"],
    ["tokens"],
    ["geometry"],
    ["images"],
    ["sandbox"],
    ["results"],
    ["experts", "program"],
    ["text", "programs", "view"],
    ["fitting"],
    ["chat"],
    ["prompts"],
    ["blink", "integrations", "harness"],
    ["visualtoolbench"],
    ["demo"],
    ["cli"],
]
LEVEL = {room: level for level, rooms in enumerate(FLOW) for room in rooms}

# Thin delegates on PerceptionProgram and on results, which import their room when they are called.
DELEGATES = {
    ("program", "text"),
    ("program", "view"),
    ("program", "fitting"),
    ("results", "view"),
}

HEAVY = [
    "torch",
    "cv2",
    "skimage",
    "PIL",
    "yaml",
    "numpy",
    "scipy",
    "socket",
    "ssl",
    "urllib.request",
]


def room_of(module: str) -> str:
    return module.split(".")[1]


def imports_of(path: Path, module: str) -> list[tuple[str, bool]]:
    """The package's own modules that a file imports, and whether at its top level."""
    tree = parsed(path)
    guarded = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    top = {id(node) for node in tree.body}
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = []
    for node in ast.walk(tree):
        if id(node) in guarded or not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        names = [name for name in names if name.startswith("perception_programs.")]
        if names:
            found.append((max(names, key=lambda n: (n.count("."), len(n))), id(node) in top))
    return found


def all_modules() -> list[str]:
    walked = pkgutil.walk_packages([str(PACKAGE)], "perception_programs.")
    return [module.name for module in walked]


def test_arrows_point_one_way() -> None:
    wrong = []
    for module in all_modules():
        path = Path(importlib.util.find_spec(module).origin)
        here = room_of(module)
        for target, _ in imports_of(path, module):
            there = room_of(target)
            if there == "__version__":  # the one name of the package itself that a module may take
                continue
            if there == here or (here, there) in DELEGATES:
                continue
            if LEVEL[there] >= LEVEL[here]:
                wrong.append(f"{module} -> {target}")
    assert wrong == []


@pytest.mark.parametrize("module", ["program", "results._check"])
def test_delegates_import_late(module: str) -> None:
    path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    name = f"perception_programs.{module}"
    late = [
        (room_of(target), top)
        for target, top in imports_of(path, name)
        if (room_of(name), room_of(target)) in DELEGATES
    ]
    assert late and not any(top for _, top in late)


@pytest.mark.parametrize("module", ["perception_programs"])
def test_import_is_light(module: str) -> None:
    code = f"import sys, json; before = set(sys.modules); import {module}; print(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout)
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize("home", ["program", "programs", "results", "geometry", "text"])
def test_core_needs_no_picture_library(home: str) -> None:
    code = (
        f"import sys, perception_programs.{home}; "
        "print([m for m in ('torch', 'cv2', 'skimage', 'PIL') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names() -> None:
    assert sorted(perception_programs.__all__) == [
        "DepthMap",
        "Detections",
        "EdgeScores",
        "FlowField",
        "Grid",
        "InputError",
        "Item",
        "Matches",
        "MissingExtraError",
        "PerceptionProgram",
        "PointScores",
        "Points",
        "Relation",
        "Segmentation",
        "ToolError",
        "WeightsError",
        "__version__",
        "albedo_program",
        "as_program",
        "compare",
        "correspondence_program",
        "depth_program",
        "depth_programs",
        "depth_summary",
        "detection_program",
        "flow_program",
        "flow_programs",
        "flow_summary",
        "jigsaw_program",
        "load_image",
        "points_program",
        "reconcile",
        "scene_program",
        "segmentation_program",
        "semantic_program",
        "similarity_program",
    ]
    for name in perception_programs.__all__:
        assert getattr(perception_programs, name) is not None
    with pytest.raises(AttributeError, match="nothing_like_it"):
        perception_programs.nothing_like_it  # noqa: B018


@pytest.mark.parametrize("module", all_modules())
def test_every_module_says_what_it_offers(module: str) -> None:
    loaded = import_or_skip(module)
    assert loaded.__doc__
    if module.rpartition(".")[2].startswith("__main__") or not vars(loaded).get("__all__"):
        public = [
            name
            for name, value in vars(loaded).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module
        ]
        assert public == [], f"{module} has public names but no __all__"
        return
    for name in loaded.__all__:
        assert hasattr(loaded, name), f"{module}.__all__ names {name}, which it does not have"


def test_version_is_the_metadata_s() -> None:
    from importlib.metadata import version

    assert perception_programs.__version__ == version("perception-programs")
