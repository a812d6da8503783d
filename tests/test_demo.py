"""The demo: one run, and what it left behind."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from perception_programs import InputError, PerceptionProgram, ToolError
from perception_programs.cli import main
from perception_programs.demo import pictures, sections, write_demo

MODALITIES = {
    "albedo",
    "correspondence",
    "depth",
    "flow",
    "jigsaw",
    "object-detection",
    "point-detection",
    "segmentation",
    "semantic",
    "similarity",
}
VOID = {"meta", "img", "br", "link", "hr", "input"}


class Page(HTMLParser):
    """Checks nesting, and gathers addresses, anchors and the texts of `pre`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.blocks: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href"):
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value or "")
        if tag == "pre":
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] == "pre":
            self.blocks[-1] += data


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demo."""
    folder = tmp_path_factory.mktemp("demo") / "p2-demo"
    assert write_demo(folder) == folder / "index.html"
    return folder


@pytest.fixture(scope="module")
def page(demo: Path) -> Page:
    parsed = Page()
    parsed.feed((demo / "index.html").read_text(encoding="utf-8"))
    parsed.close()
    return parsed


def test_the_page_is_well_formed(page: Page) -> None:
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))


def test_every_modality_is_on_the_page_and_reads_back(page: Page, demo: Path) -> None:
    found = [PerceptionProgram.from_text(block) for block in page.blocks]
    assert {program.modality for program in found} == MODALITIES
    for program in found:
        assert len(program) > 0
        text = (demo / "programs" / f"{program.modality}.txt").read_text(encoding="utf-8")
        assert text == f"{program}\n"


def test_every_address_is_there_and_local(page: Page, demo: Path) -> None:
    assert page.addresses
    for address in page.addresses:
        if address.startswith("#"):
            assert address[1:] in page.ids
        else:
            with Image.open(demo / address) as image:
                image.load()
    text = (demo / "index.html").read_text(encoding="utf-8")
    assert re.search(r"https?:|//[a-z]|<script", text) is None


def test_every_section_has_a_drawing(page: Page, demo: Path) -> None:
    drawings = sorted((demo / "pictures").glob("*-overlay.*"))
    assert len(drawings) == len(MODALITIES)
    used = set(page.addresses)
    assert all(f"pictures/{file.name}" in used for file in (demo / "pictures").iterdir())


def test_the_programs_agree_with_what_is_known(demo: Path) -> None:
    def read(modality: str) -> PerceptionProgram:
        return PerceptionProgram.from_text((demo / "programs" / f"{modality}.txt").read_text())

    assert {item.r for item in read("flow").items} == {"left"}
    assert {item.b for item in read("point-detection").items} == {"A", "B", "C", "D"}
    assert max(read("semantic").items, key=lambda item: item.r).p == "C"
    assert read("object-detection").items[0].r > 0.9
    borders = read("jigsaw").items
    wrong, right = (sum(item.r for item in borders if item.i == name) for name in "AB")
    assert right > wrong


@pytest.mark.slow
def test_a_second_run_tells_the_same(demo: Path, page: Page) -> None:
    for section in sections():
        file = demo / "programs" / f"{section.program.modality}.txt"
        assert file.read_bytes() == f"{section.program}\n".encode()
        assert section.caption in page.text
        assert not re.search("nan|None|inf", section.caption)


def test_the_command(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setattr("perception_programs.demo.sections", list)
    assert main(["demo", "--out", str(tmp_path / "out")]) == 0
    out, err = capsys.readouterr()
    assert (out.strip(), err) == (str(tmp_path / "out" / "index.html"), "")
    assert (tmp_path / "out" / "index.html").is_file()


def test_a_file_in_the_folder_s_place(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="taken"):
        write_demo(tmp_path / "taken")


def test_a_picture_that_is_not_shipped_is_never_fetched() -> None:
    with pytest.raises(ToolError, match=r"nothing\.png"):
        pictures.shipped_path("nothing.png")
