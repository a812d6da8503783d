"""Rendered programs, to the byte: text is what users of the library depend on."""

from __future__ import annotations

import pytest

from perception_programs import PerceptionProgram
from perception_programs.text import STYLES
from sample_programs import FOLDER, SUFFIXES, samples, snapshot

NAMES = sorted(samples())


@pytest.mark.parametrize("style", sorted(SUFFIXES))
@pytest.mark.parametrize("name", NAMES)
def test_text_is_the_snapshot(
    name: str, style: str, snapshot_programs: dict[str, PerceptionProgram]
) -> None:
    expected = snapshot(name, style).read_bytes()
    assert (snapshot_programs[name].to_text(style) + "\n").encode() == expected


def test_every_style_and_modality_has_snapshots(
    snapshot_programs: dict[str, PerceptionProgram],
) -> None:
    assert set(STYLES) == set(SUFFIXES)
    assert {program.modality for program in snapshot_programs.values()} == {
        "depth",
        "flow",
        "correspondence",
        "jigsaw",
        "object-detection",
        "semantic",
        "point-detection",
        "segmentation",
        "albedo",
        "scene",
        "similarity",
    }
    files = {path.name for path in FOLDER.iterdir() if path.is_file()}
    assert files == {snapshot(name, style).name for name in NAMES for style in SUFFIXES}
