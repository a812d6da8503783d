"""A trajectory to look at: as a page, as Markdown, as text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from perception_programs import InputError
from perception_programs.chat import ChatError, Reply
from perception_programs.harness import Trajectory
from perception_programs.harness.account import Account
from perception_programs.harness.markdown import trajectory_markdown, trajectory_text
from perception_programs.harness.trajectory import FILE
from perception_programs.harness.viewer import trajectory_html
from test_harness import ANSWER, PART, PICTURE, Watched, calling, run

HOSTILE = '<script>alert(1)</script>\u202e\n```\n# heading\n</pre><img src="http://x/" onerror=a>'
DEEPER = {**PART, "image": "tool_image_1"}


def worked(folder: Path) -> Trajectory:
    """A picture zoomed in twice, a refusal between, and an answer that names one thing too many."""
    replies = (
        calling("zoom_in", PART, "Closer."),
        calling("zoom_in", {**PART, "image": HOSTILE}, HOSTILE, number=2),
        calling("zoom_in", DEEPER, number=3),
        f"{HOSTILE}\nAnswer: blue <b>\nEvidence: tool_image_2, boxes_7",
    )
    return run(folder, Watched(*replies))


class Page(HTMLParser):
    """The tags of a page, what they name, and whether each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.addresses, self.ids, self.open = set(), [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        named = dict(attrs)
        assert not any(name.startswith("on") for name in named)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        self.ids += [named["id"]] if "id" in named else []
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


def test_the_chain_goes_back_to_what_was_given(tmp_path: Path) -> None:
    account = Account.of(worked(tmp_path))
    assert [(link.depth, link.artifact.handle) for link in account.chain] == [
        (0, "tool_image_2"),
        (1, "tool_image_1"),
        (2, "input_image_1"),
    ]
    first, second, given = (link.how for link in account.chain)
    assert first.startswith('zoom_in(image="tool_image_1", box=[0, 0, 500, 500]')
    assert second.startswith('zoom_in(image="input_image_1"') and given == "given"
    assert account.warnings == ("The answer names boxes_7, which was never made.",)
    assert [turn.outcome for turn in account.turns] == ["found", "refused", "found"]
    assert (account.spent.read, account.spent.cost) == (300, pytest.approx(0.03))


def test_a_chain_of_pairs_does_not_double(tmp_path: Path) -> None:
    done = run(tmp_path, Watched("Answer: 1\nEvidence: value_40"))
    one = {"kind": "value", "made_by": "python_coding", "about": "", "turn": 1, "digest": ""}
    made = [
        {**one, "handle": f"value_{n}", "file": f"{n}.json", "sources": [f"value_{n - 1}"] * 2}
        for n in range(1, 41)
    ]
    turn = {"artefacts": made, "messages": [], "usage": [], "seconds": 0, "call": None, "turn": 1}
    end = {**done.end, "cited": ["value_40"], "unsupported": []}
    chain = Account.of(
        Trajectory(done.folder, done.start, (turn | {"messages": [{"parts": []}]},), end)
    ).chain
    assert len(chain) < 100 and max(link.depth for link in chain) == 39


def test_the_page_is_sealed_and_whole(tmp_path: Path) -> None:
    text = trajectory_html(worked(tmp_path))
    page = Page(text)
    assert page.open == [] and "script" not in page.tags
    assert all(re.match("#|data:image/jpeg;base64,", place) for place in page.addresses)
    assert {place[1:] for place in page.addresses if place[0] == "#"} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "default-src 'none'" in text and "http" not in re.sub("http://x/|http-equiv", "", text)
    assert '<mark title="never made">boxes_7</mark>' in text
    assert '<a href="#tool_image_2">tool_image_2</a>' in text
    assert "\u202e" not in text and "\\u202e" in text
    assert text.count("data:image/jpeg") == 3  # given, and shown twice


def test_no_evidence_is_flagged_and_no_tools_is_not(tmp_path: Path) -> None:
    flagged = "The answer names no evidence."
    assert flagged in trajectory_html(run(tmp_path / "a", Watched("Answer: 3\nEvidence: none")))
    without = run(tmp_path / "b", Watched("Answer: 3"), rung="no-tools")
    assert flagged not in trajectory_html(without) and Account.of(without).warnings == ()


def test_an_open_one_and_a_lost_picture(tmp_path: Path) -> None:
    stopped = Watched(calling("zoom_in", PART), ChatError("gone", transient=False))
    with pytest.raises(ChatError):
        run(tmp_path, stopped)
    (tmp_path / "tool_image_1.png").write_bytes(b"torn")
    begun = Trajectory.read(tmp_path)
    text = trajectory_html(begun)
    assert "No answer yet" in text and "is not the file that was written" in text
    assert "no answer yet" in trajectory_text(begun) and "no answer yet" in trajectory_markdown(
        begun
    )


def test_markdown_is_text_and_names_its_pictures(tmp_path: Path) -> None:
    done = worked(tmp_path)
    text = trajectory_markdown(done, pictures={"tool_image_1": "a.jpg"}, heading=3)
    assert "![tool\\_image\\_1](a.jpg)" in text and "### Turn 3" in text
    fences = re.findall(r"^(`{3,})", text, re.MULTILINE)
    outside, inside = [], ""
    for line in text.split("\n"):
        if inside:
            inside = "" if line == inside else inside
        elif match := re.match(r"(`{3,})text$", line):
            inside = match[1]
        else:
            outside.append(line)
    assert fences and not inside
    assert not any("<script" in line or line.startswith("# heading") for line in outside)
    assert (
        "- tool\\_image\\_2: image, 320×240 pixels, " in text and "    - input\\_image\\_1" in text
    )


def test_text_for_a_terminal_has_no_controls(tmp_path: Path) -> None:
    text = trajectory_text(worked(tmp_path))
    assert "turn 2" in text and "  > zoom_in(" in text and "warning: " in text
    assert all(line.isprintable() for line in text.splitlines())


def test_what_a_turn_without_a_call_shows(tmp_path: Path) -> None:
    done = run(tmp_path, Watched(Reply("", finish="stop"), ANSWER))
    assert "it was empty" in trajectory_html(done)
    turn = Account.of(done).turns[0]
    assert (turn.calls, turn.outcome, turn.tool_seconds) == ((), None, None)
    assert np.shape(PICTURE) and json.loads((tmp_path / FILE).read_text().splitlines()[0])


def test_what_no_run_writes_is_refused(tmp_path: Path) -> None:
    done = worked(tmp_path)
    for turn in ({}, {**done.turns[0], "messages": []}, {**done.turns[0], "usage": [3]}):
        with pytest.raises(InputError, match="expected what a run writes"):
            Account.of(Trajectory(done.folder, done.start, (turn,), done.end))
