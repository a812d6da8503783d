"""The hub's data set, by way of huggingface_hub and a cache on disk."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from blink_questions import grey, jigsaw, parquet, row
from perception_programs.blink.data import load
from perception_programs.errors import InputError, MissingExtraError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = "76543210fedcba9876543210fedcba9876543210"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, and no network: huggingface_hub's own code over it."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub/datasets--BLINK-Benchmark--BLINK"


def put(hub: Path, rows: list[dict[str, Any]], commit: str = COMMIT, main: bool = True) -> None:
    parquet(hub / f"snapshots/{commit}/Jigsaw/val-00000-of-00001.parquet", rows)
    if main:
        (hub / "refs").mkdir(exist_ok=True)
        (hub / "refs/main").write_text(commit)


@pytest.mark.parametrize("source", [None, "hub", "BLINK-Benchmark/BLINK"])
def test_what_the_cache_has_needs_no_network(hub: Path, tmp_path: Path, source: str | None) -> None:
    put(hub, [row(n) for n in (1, 2, 3)])
    found = load("Jigsaw", source)
    assert found.source == {
        "kind": "hub",
        "name": "BLINK-Benchmark/BLINK",
        "split": "val",
        "revision": COMMIT,
        "digest": load(
            "Jigsaw", jigsaw(tmp_path / "mine")
        ).digest,  # the same questions, whatever holds them
        "n": 3,
    }
    assert grey(found[1].images[2]) == 23
    again = load("Jigsaw", found.place, revision=found.source["revision"])
    assert again.source == found.source


def test_a_revision_pins(hub: Path) -> None:
    put(hub, [row(1)])
    put(hub, [row(1), row(2)], OTHER, main=False)
    assert len(load("Jigsaw")) == 1
    pinned = load("Jigsaw", revision=OTHER)
    assert (len(pinned), pinned.source["revision"]) == (2, OTHER)


@pytest.mark.parametrize("options", [{}, {"revision": COMMIT}, {"split": "test"}])
def test_without_network_and_cache_the_error_says_what_works(
    hub: Path, options: dict[str, Any]
) -> None:
    put(hub, [row(1)], OTHER)
    shutil.rmtree(hub / "snapshots" / OTHER / "Jigsaw")
    with pytest.raises(InputError, match=r"hub's data set BLINK-Benchmark/BLINK.*source=FOLDER"):
        load("Jigsaw", **options)


def test_a_name_that_is_neither_folder_nor_known_to_the_hub(hub: Path) -> None:
    with pytest.raises(InputError, match=re.escape("mine/BLINK (and no folder of that name is")):
        load("Jigsaw", "mine/BLINK")


def test_what_is_not_in_the_cache_is_downloaded_once(
    hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    real, asked = huggingface_hub.snapshot_download, []

    def download(repository: str, **options: Any) -> str:
        if options["local_files_only"]:
            return str(real(repository, **options))
        asked.append(
            (repository, options["repo_type"], options["revision"], options["allow_patterns"])
        )
        put(hub, [row(1)])
        return str(hub / "snapshots" / COMMIT)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    expected = ("BLINK-Benchmark/BLINK", "dataset", None, ["Jigsaw/val-*.parquet"])
    assert load("Jigsaw").source["revision"] == COMMIT
    assert load("Jigsaw").source["revision"] == COMMIT
    assert asked == [expected]
    load("Jigsaw", revision="main")  # a branch moves: it is asked for
    assert len(asked) == 2


def test_half_a_split_in_the_cache_is_not_the_split(hub: Path) -> None:
    put(hub, [row(1)])
    parts = hub / "snapshots" / COMMIT / "Jigsaw"
    (parts / "val-00000-of-00001.parquet").rename(parts / "val-00000-of-00002.parquet")
    with pytest.raises(InputError, match="source=FOLDER"):
        load("Jigsaw")


def test_without_the_hubs_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"perception-programs\[eval\].*source=FOLDER"):
        load("Jigsaw")
