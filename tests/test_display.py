"""What shows itself: programs and results as Markdown and HTML, tables of programs, reports of runs."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sample_run
from perception_programs import (
    DepthMap,
    Detections,
    EdgeScores,
    FlowField,
    InputError,
    Item,
    Matches,
    PerceptionProgram,
    Points,
    PointScores,
    Relation,
    Segmentation,
    compare,
    depth_program,
)
from perception_programs.blink.report import build_report
from perception_programs.blink.score import score
from perception_programs.tokens import estimate_tokens
from perception_programs.view import to_markdown
from perception_programs.view._tables import table_text
from perception_programs.view.markdown import fenced, plain
from sample_programs import samples
from test_docs import ROOT, blocks
from test_view import HOSTILE, check_html

BREAKING = [
    *HOSTILE,
    "a | b |\n| --- |",
    "```\n# heading",
    "~~~~",
    "`````` `code`",
    "[x](javascript:alert(1)) ![y](http://e.vil/z.png)",
    "www.e.vil https://e.vil <https://e.vil>",
    "$x$ \\(y\\) **bold** _it_ ~~gone~~ &lt;b&gt; # h",
]
BORDER = {"structural": 0.5, "colour": 0.6, "edge": 0.7, "box": (0, 0, 5, 50)}
LEVELS = np.linspace(0.5, 4, 48 * 64).reshape(48, 64)


def results(label: str = "A") -> dict[str, Any]:
    """A result of each type, and of the ways each may be."""
    size = (64, 48)
    return {
        "depth": DepthMap(np.where(LEVELS > 1, LEVELS, np.nan), "metric", size=(128, 96)),
        "flow": FlowField(np.dstack([LEVELS, -LEVELS]), confidence=LEVELS),
        "matches": Matches([[1, 2]] * 30, [[3, 4]] * 30, [0.5] * 30, size, inliers=[True] * 30),
        "no matches": Matches([], [], size1=size),
        "detections": Detections([[1, 2, 30, 40]], [0.5], [label], size=size, threshold=0.25),
        "nothing": Detections([], [], [], size=size),
        "points": Points.from_dict({label: (1, 2)}, size),
        "boxes": Points.from_dict({label: (1, 2, 30, 40)}, size, image="one.png"),
        "point scores": PointScores({label: (1, 2)}, {label: 0.25}, (3, 4), size),
        "edge scores": EdgeScores({label: {"left": BORDER}}, {label: (50, 50)}),
        "segmentation": Segmentation(np.eye(8, dtype=int), {0: "wall", 1: label}),
    }


def ramp(grid: int = 8, relations: bool = True) -> PerceptionProgram:
    levels = np.tile(np.linspace(0, 1, 64), (64, 1))
    return depth_program(levels, grid=grid, relations=relations)


def parsed(text: str) -> list[Any]:
    """The tokens of a text in Markdown with tables, those within lines too."""
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark", {"html": True})
    tokens = reader.enable(["table", "strikethrough"]).parse(text)
    return [one for token in tokens for one in (token, *(token.children or ()))]


def check_markdown(text: str) -> list[Any]:
    """Nothing in it is a link, a picture, HTML, code within a line, or a heading."""
    tokens = parsed(text)
    kinds = {token.type for token in tokens}
    harmful = {"link_open", "image", "html_inline", "html_block", "code_inline", "heading_open"}
    assert not kinds & {*harmful, "s_open", "em_open", "code_block", "hr"}
    text.encode("utf-8")
    return tokens


class TestMarkdown:
    @pytest.mark.parametrize("name", samples())
    def test_every_program_reads_back_from_it(self, name: str) -> None:
        program = samples()[name]
        text = program._repr_markdown_()
        assert text == to_markdown(program)
        (fence,) = [token for token in check_markdown(text) if token.type == "fence"]
        assert fence.content == f"{program}\n"
        assert PerceptionProgram.from_text(text) == program.rounded()

    @pytest.mark.parametrize("style", ["paper", "compact", "json"])
    def test_what_a_label_says_stays_in_the_fence(self, style: str) -> None:
        items = tuple(Item(n, (n, n), 0.5, label) for n, label in enumerate(BREAKING, 1))
        about = {"expert": BREAKING[-1], "fit": {"given_up": BREAKING}, "matches_cut": 3}
        program = PerceptionProgram(
            BREAKING[0], BREAKING[-2], items, note="```\n```", meta=about, style=style
        )
        tokens = check_markdown(to_markdown(program))
        assert [token.type for token in tokens].count("fence") == 1
        (fence,) = [token for token in tokens if token.type == "fence"]
        cut = len(str(program)) > 40_000  # JSON holds labels of any length
        assert cut == (style == "json") and cut != fence.content.endswith("</perceptionprogram>\n")

    def test_it_is_cut_with_a_mark(self) -> None:
        items = tuple(Item(n, (0, 0), 0.5) for n in range(1, 3000))
        program = PerceptionProgram("points", "point", items)
        text = to_markdown(program)
        assert text.endswith(f"\n\n… {len(str(program)) - 40_000} characters more")
        assert len(text) < 41_000

    @pytest.mark.parametrize("text", ["", "```", "a\n`````\nb", "` ``"])
    def test_no_text_ends_its_fence(self, text: str) -> None:
        (fence,) = [token for token in parsed(f"{fenced(text)}\n\nafter") if token.type == "fence"]
        assert fence.content == f"{text}\n"

    @pytest.mark.parametrize("text", BREAKING)
    def test_a_line_stands_for_itself(self, text: str) -> None:
        line = plain(text)
        assert "\n" not in line and len(line) < 2100
        tokens = check_markdown(f"- {line}\n\n| a |\n| - |\n| {line} |\n")
        said = [token.content for token in tokens if token.type == "text" and token.content.strip()]
        assert len([token for token in tokens if token.type == "td_open"]) == 1
        assert not set("\u202e\u2066\x00\x1b\ud800") & set("".join(said))


class TestResults:
    @pytest.mark.parametrize("name", results())
    def test_each_shows_itself(self, name: str) -> None:
        result = results()[name]
        shown = check_html(result._repr_html_())
        assert type(result).__name__ in shown.text
        assert [tag for tag, _ in shown.seen].count("img") == (name in ("depth", "flow"))
        text = result._repr_markdown_()
        check_markdown(text)
        assert text.startswith(f"**{type(result).__name__}**\n\n- ")

    @pytest.mark.parametrize("label", BREAKING)
    def test_labels_stay_text(self, label: str) -> None:
        for name in ("detections", "points", "point scores", "edge scores", "segmentation"):
            result = results(label)[name]
            check_html(result._repr_html_().replace("http", "ftp"))
            assert not [t for t in check_markdown(result._repr_markdown_()) if t.type == "fence"]

    def test_what_they_say(self) -> None:
        made = {name: result._repr_markdown_() for name, result in results().items()}
        assert "metric: metres from the camera" in made["depth"]
        assert "- image: 128×96 pixels\n- map: 64×48 pixels" in made["depth"]
        assert "- not read: " in made["depth"] and "4 m" in made["depth"]
        assert "… 10 more" in made["matches"] and "- inliers: 30" in made["matches"]
        assert "| A | 0.500 | 1.0 | 2.0 | 30.0 | 40.0 |" in made["detections"]
        assert made["nothing"].endswith("- image: 64×48 pixels")
        assert "| A, left | 0.6000 | 0.5000 | 0.6000 | 0.7000 |" in made["edge scores"]
        assert "| wall | 0 | 87.5% |" in made["segmentation"]


class TestCompare:
    def test_one_program_in_every_style(self) -> None:
        table = compare(ramp())
        assert [row.style for row in table] == ["paper", "compact", "json"]
        assert [row.name for row in table] == ["depth"] * 3
        for row in table:
            assert row.tokens == estimate_tokens(ramp().to_text(row.style))
            assert row.of_paper == row.of_first == row.tokens / table.rows[0].tokens
            assert str(row.program) == ramp().to_text(row.style)

    def test_several_by_name_and_by_modality(self) -> None:
        whole, small = ramp(), ramp(4)
        named = compare({"all": whole, "few": small})
        assert [(row.name, row.items, row.style) for row in named] == [
            ("all", 64, "paper"),
            ("few", 16, "paper"),
        ]
        assert named.rows[1].of_first == named.rows[1].tokens / named.rows[0].tokens
        assert named.rows[1].of_paper == 1
        other = PerceptionProgram("flow", "patch", ())
        assert [r.name for r in compare([whole, small, other])] == ["depth 1", "depth 2", "flow"]
        assert [r.name for r in compare(iter([whole]))] == ["depth"]

    def test_budgets(self) -> None:
        table = compare({"ramp": ramp()}, budgets=(300, 20))
        whole, fitted, refused = table.rows
        assert (whole.budget, fitted.budget, refused.budget) == (None, 300, 20)
        assert fitted.tokens <= 300 and fitted.style == "compact"
        assert fitted.given_up == fitted.program.meta["fit"]["given_up"]
        assert fitted.of_paper == fitted.tokens / whole.tokens
        assert (refused.tokens, refused.style, refused.of_paper) == (None, None, None)
        assert "expected at least" in refused.refused and refused.refused in str(table)
        assert "ramp (≤ 300)" in str(table)

    def test_counting(self) -> None:
        letters = compare(ramp(), count=len)
        assert [row.tokens for row in letters] == [
            len(ramp().to_text(style)) for style in ("paper", "compact", "json")
        ]
        assert "tokens (estimate)" in str(compare(ramp())) and "estimate" not in str(letters)
        assert compare(ramp(), budgets=900, count=len).rows[-1].tokens <= 900

    def test_what_was_left_out_when_it_was_made(self) -> None:
        about = {"below_threshold": 4, "matches_cut": True, "relations_cut": "many"}
        (row,) = compare([PerceptionProgram("a", "b", (), meta=about)]).rows
        assert row.given_up == ("4 detections below the threshold",)

    def test_as_data(self) -> None:
        table = compare({"ramp": ramp()}, budgets=300)
        rows = table.to_dicts()
        assert json.loads(json.dumps(rows)) == rows and "program" not in rows[0]
        read = list(csv.DictReader(io.StringIO(table.to_csv())))
        assert [int(row["tokens"]) for row in read] == [row.tokens for row in table]
        assert read[1]["given_up"] == "; ".join(table.rows[1].given_up)
        assert len(table) == len(rows) == 2

    @pytest.mark.parametrize("label", BREAKING)
    def test_names_stay_text(self, label: str) -> None:
        about = {"fit": {"given_up": [label]}}
        program = PerceptionProgram(
            label if label.strip() else "a", "b", (Item(1),), (Relation(1, "of", 1),), meta=about
        )
        table = compare({label if label.strip() else "c": program, "d": program})
        check_html(table._repr_html_().replace("http", "ftp"))
        check_markdown(table._repr_markdown_())
        assert len(str(table).splitlines()) == 3
        assert not set("\u202e\u2066\x00\x1b") & set(str(table))

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (([],), "programs: expected at least one"),
            (("depth",), "programs: expected a PerceptionProgram, a list of them"),
            ((None,), "got None"),
            (([ramp(), "depth"],), "got str 'depth'"),
            (({"": ramp()},), "programs: expected names"),
            (({1: ramp()},), "programs: expected names"),
        ],
    )
    def test_what_is_no_program(self, given: tuple[Any, ...], message: str) -> None:
        with pytest.raises(InputError, match=message):
            compare(*given)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"styles": "poem"}, "style: expected one of paper, compact, json, got str 'poem'"),
            ({"styles": []}, "styles: expected names of styles"),
            ({"styles": 3}, "styles: expected names of styles"),
            ({"budgets": 0}, "budgets: expected an integer of at least 1"),
            ({"budgets": "300"}, "budgets: expected an integer"),
            ({"budgets": [300, 2.5]}, "budgets: expected an integer"),
            ({"count": 3}, "count: expected a function"),
            ({"count": lambda text: "many"}, "count: expected a function from a text"),
            ({"count": lambda text: -1}, "count: expected a function from a text"),
        ],
    )
    def test_options_that_do_not_fit(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            compare(ramp(), **options)


def test_a_fitted_program_says_so() -> None:
    small = ramp().fit(300)
    assert f"{small.meta['fit']['tokens']} of 300 tokens, style compact" in small._repr_html_()
    assert "- given up: grid: 8x8 to" in small._repr_markdown_()


def test_a_small_map_is_enlarged_and_a_large_one_reduced() -> None:
    for side, width in ((8, 240), (3000, 900)):
        (image,) = [
            attributes
            for tag, attributes in check_html(DepthMap(np.eye(side))._repr_html_()).seen
            if tag == "img"
        ]
        assert f"max-width:{width}px" in image["style"] and len(image["src"]) < 150_000


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "comparing.md"
    names: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for _, code in blocks(page):
            exec(compile(code, str(page), "exec"), names)
    shown = page.read_text(encoding="utf-8").split("```text\n")[1:]
    assert len(shown) == 2
    assert all(text.split("```")[0] in printed.getvalue() for text in shown)


def test_columns_of_text() -> None:
    assert table_text(["a", "n", "b"], [["\u202e", "1", "x\ny"]], words=1) == (
        "a       n  b\n\\u202e  1  x\\ny"
    )


def test_reports(tmp_path: Path) -> None:
    report = build_report([sample_run.write_run(tmp_path / "run")])
    shown = check_html(report._repr_html_())
    text = report._repr_markdown_()
    check_markdown(text)
    for title in ("Accuracy", "Settings compared", "Tokens, cost and time"):
        assert title in shown.text and f"**{title}**" in text
    assert all(note in shown.text for note in report.notes)
    assert repr(report).startswith("Report(runs=[RunTable(") and len(repr(report)) < 1000
    run = report.runs[0]
    assert f"records{len(run.records)}" in check_html(run._repr_html_()).text
    check_markdown(run._repr_markdown_())


def test_scores() -> None:
    found = score({"val_Jigsaw_1": "A"}, {"val_Jigsaw_1": "A", "val_Jigsaw_2": "B"})
    assert "Jigsaw21" in check_html(found._repr_html_()).text
    assert "| Jigsaw | 2 | 1 | 1 | 0 | 50.00 |" in found._repr_markdown_()
