"""The paper's analyses, with models whose answers are known beforehand.

`python tests/test_analyses.py` writes the prompts' snapshots anew: look at the difference before
committing it.
"""

from __future__ import annotations

import asyncio
import csv
import json
import math
import random
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("tenacity")

from perception_programs import (
    DepthMap,
    InputError,
    Item,
    Matches,
    MissingExtraError,
    PerceptionProgram,
    correspondence_program,
    depth_program,
)
from perception_programs.blink.analyses import (
    CorrespondenceReconstruction,
    DepthReconstruction,
    correspondence_reconstruction,
    depth_reconstruction,
    displacement,
    grid_accuracy,
)
from perception_programs.blink.analyses._redact import MARK, filled, redacted
from perception_programs.chat.messages import Message
from perception_programs.chat.model import ChatError, Reply, Usage

SNAPSHOTS = Path(__file__).parent / "snapshots" / "analyses"
OPENING = "<perceptionprogram>"

Answer = Callable[[Sequence[PerceptionProgram], PerceptionProgram, str], str]


class Fake:
    """A model whose answer is a function of the solved programs, the one to fill in and the name of
    the last picture."""

    name = "fake"

    def __init__(self, answer: Answer) -> None:
        self.write = answer
        self.asked: list[Message] = []
        self.flying = self.most = 0

    def settings(self) -> Mapping[str, Any]:
        return {"kind": "fake"}

    async def answer(self, messages: Sequence[Message]) -> Reply:
        self.asked += messages
        self.flying += 1
        self.most = max(self.most, self.flying)
        await asyncio.sleep(0)
        self.flying -= 1
        *solved, query = PerceptionProgram.all_from_text(messages[-1].text)
        name = messages[-1].pictures[-1].name or ""
        return Reply(self.write(solved, query, name), Usage(100, 10, None, 0.5), finish="stop")

    async def close(self) -> None: ...


def scene(seed: int, size: tuple[int, int] = (40, 48)) -> DepthMap:
    """A slope with noise, so that no two cells read alike."""
    generator = np.random.default_rng(seed)
    y, x = np.mgrid[0 : size[0], 0 : size[1]] / max(size)
    slope = generator.uniform(-1, 1, 2)
    noise = generator.normal(0, 0.05, size)
    return DepthMap(slope[0] * x + slope[1] * y + noise, kind="relative")


def scenes(n: int = 6) -> list[tuple[str, DepthMap]]:
    return [(f"scene{k}.png", scene(k)) for k in range(n)]


def depth(answer: Answer, **options: Any) -> tuple[DepthReconstruction, Fake]:
    model = Fake(answer)
    options = {"grids": (4,), **options}
    images = options.pop("images", None) or scenes()
    return asyncio.run(depth_reconstruction(model, images, **options)), model


def nothing(solved: Sequence[PerceptionProgram], query: PerceptionProgram, name: str) -> str:
    return "I cannot see that."


def perfect_depth(solved: object, query: PerceptionProgram, name: str) -> str:
    (known,) = (depth for image, depth in scenes() if image == name)
    return f"I see it.\n{depth_program(known, grid=query.grid, relations=False)}"


def perfect_matches(solved: object, query: PerceptionProgram, name: str) -> str:
    (known,) = (program for _, second, program in matching() if second == name)
    return f"```yaml\n{known}\n```\nThat is all."


def fill(query: PerceptionProgram, reading: Callable[[Item], Any]) -> str:
    items = tuple(
        replace(item, r=reading(item)) if item.r == MARK else item for item in query.items
    )
    return str(replace(query, items=items))


def matching(n: int = 6, count: int = 7) -> list[tuple[str, str, PerceptionProgram]]:
    pairs = []
    for k in range(n):
        generator = np.random.default_rng(k)
        here = generator.uniform(0, 400, (count, 2))
        there = generator.uniform(500, 1000, (count, 2))
        matches = Matches(here, there, size1=(1000, 1000), size2=(1000, 1000))
        pairs.append((f"{k}a.png", f"{k}b.png", correspondence_program(matches)))
    return pairs


def correspondence(answer: Answer, **options: Any) -> tuple[CorrespondenceReconstruction, Fake]:
    model = Fake(answer)
    pairs = options.pop("pairs", None) or matching()
    return asyncio.run(correspondence_reconstruction(model, pairs, **options)), model


# What is asked


def numbers_in(text: str) -> set[str]:
    return set(re.findall(r"[0-9.]+", text))


def test_nothing_of_the_readings_is_left() -> None:
    program = depth_program(scene(0), grid=5, relations=True, tau=0.05)
    assert program.relations and program.meta
    hidden = redacted(program)
    assert [item.r for item in hidden.items] == [MARK] * 25
    assert hidden.relations == () and dict(hidden.meta) == {}
    readings = {text for item in program.rounded().items for text in map(str, item.r)}
    assert len(readings) > 25 and not readings & numbers_in(str(hidden))
    assert PerceptionProgram.from_text(str(hidden)) == hidden

    pairs = matching()[0][2]
    told = numbers_in(str(pairs).split("items:")[1])
    away = {str(number) for item in pairs.items for number in item.r}
    assert away <= told
    assert not away & numbers_in(str(redacted(pairs)).split("items:")[1])


def test_what_was_never_measured_is_not_asked_for() -> None:
    values = np.linspace(0, 1, 64).reshape(8, 8)
    values[:4, :4] = np.nan
    hidden = redacted(depth_program(DepthMap(values), grid=2))
    assert [item.r for item in hidden.items] == [None, MARK, MARK, MARK]


@pytest.mark.parametrize("grid", [2, 5])
def test_the_query_is_not_among_its_examples(grid: int) -> None:
    images = scenes(8)
    result, model = depth(nothing, images=images, grids=(grid,))
    programs = [depth_program(d, grid=grid, relations=False).rounded() for _, d in images]
    assert len(model.asked) == 8
    for n, message in enumerate(model.asked):
        *solved, query = PerceptionProgram.all_from_text(message.text)
        numbers = [programs.index(program) for program in solved]
        assert len(set(numbers)) == 5 and n not in numbers
        assert result.records[n]["examples"] == [k + 1 for k in numbers]
        names = [picture.name for picture in message.pictures]
        assert names == [images[k][0] for k in (*numbers, n)]
        true = {text for item in programs[n].items for text in map(str, item.r)}
        assert not true & numbers_in(message.text.split(OPENING)[-1])
        assert {item.r for item in query.items} == {MARK}


def test_grids_of_an_image_have_the_same_examples_and_a_seed_other_ones() -> None:
    def chosen(seed: int) -> list[tuple[Any, ...]]:
        result, _ = depth(nothing, images=scenes(9), grids=(2, 4), shots=3, seed=seed)
        return [(r["grid"], r["image"], *r["examples"]) for r in result.records]

    first = chosen(0)
    assert [row[1:] for row in first if row[0] == 2] == [row[1:] for row in first if row[0] == 4]
    assert first == chosen(0) != chosen(1)


def test_no_more_at_once_than_allowed() -> None:
    _, model = depth(nothing, grids=(2, 4), concurrency=3)
    assert model.most == 3 and len(model.asked) == 12


def transcript(message: Message) -> str:
    parts = message.to_dict()["parts"]
    return "".join(
        f"[picture {part['picture']}]\n"
        if "picture" in part
        else f"[{part['kind']}]\n{part['text']}\n"
        for part in parts
    )


def small_prompts() -> dict[str, str]:
    ramps = [(f"{k}.png", DepthMap(np.array([[0, 1 / (k + 1)], [0.25, 1.0]]))) for k in range(3)]
    asked = {
        "depth": depth(nothing, images=ramps, grids=(2,), shots=2)[1].asked,
        "correspondence": correspondence(nothing, pairs=matching(3, 2), shots=2)[1].asked,
    }
    return {name: transcript(messages[0]) for name, messages in asked.items()}


@pytest.mark.parametrize("analysis", ["depth", "correspondence"])
def test_prompt_is_the_snapshot(analysis: str) -> None:
    expected = (SNAPSHOTS / f"{analysis}.txt").read_bytes()
    assert small_prompts()[analysis].encode() == expected


# What comes of it: depth


def test_a_perfect_model_has_every_order_right() -> None:
    result, _ = depth(perfect_depth, grids=(2, 4, 8))
    assert len(result.rows) == 18
    assert {row["outcome"] for row in result.rows} == {"scored"}
    assert all(row["tau"] == pytest.approx(1, abs=1e-12) for row in result.rows)
    assert [row["cells"] for row in result.rows] == [4] * 6 + [16] * 6 + [64] * 6
    assert [row["mean_tau"] for row in result.by_grid()] == pytest.approx([1, 1, 1])
    assert "8x8: tau +1.000" in result.summary()


def reversed_depth(solved: object, query: PerceptionProgram, name: str) -> str:
    known = PerceptionProgram.from_text(perfect_depth(solved, query, name))
    ranges = {item.p: (round(1 - item.r[1], 6), round(1 - item.r[0], 6)) for item in known.items}
    return fill(query, lambda item: ranges[item.p])


def test_the_opposite_order_is_minus_one() -> None:
    result, _ = depth(reversed_depth)
    assert [row["tau"] for row in result.rows] == pytest.approx([-1] * 6, abs=0.02)


def test_random_ranges_have_no_order() -> None:
    generator = random.Random(0)

    def guess(solved: object, query: PerceptionProgram, name: str) -> str:
        return fill(query, lambda item: sorted((generator.random(), generator.random())))

    result, _ = depth(guess, images=scenes(12), grids=(6,))
    taus = [row["tau"] for row in result.rows]
    assert abs(np.mean(taus)) < 0.1 and max(map(abs, taus)) < 0.4 and len(set(taus)) > 6


def test_copying_the_examples_is_the_baseline() -> None:
    def copy(solved: Sequence[PerceptionProgram], query: PerceptionProgram, name: str) -> str:
        middles = {
            item.p: round(np.mean([sum(program.items[n].r) / 2 for program in solved]), 9)
            for n, item in enumerate(query.items)
        }
        return fill(query, lambda item: (middles[item.p], middles[item.p]))

    result, _ = depth(copy, grids=(3,))
    taus = [row["tau"] for row in result.rows]
    # Readings are printed at four digits, so a near tie may fall the other way.
    assert taus == pytest.approx([row["baseline_tau"] for row in result.rows], abs=0.06)
    assert len(set(taus)) > 1 and -0.9 < np.mean(taus) < 0.9


def test_ties_are_tau_b() -> None:
    truth = DepthMap(np.array([[0.1, 0.2], [0.2, 0.4]]))
    others = [(f"{k}.png", scene(k)) for k in range(5)]

    def tie(solved: object, query: PerceptionProgram, name: str) -> str:
        values = {1: 0.1, 2: 0.3, 3: 0.2, 4: 0.3}
        return fill(query, lambda item: (values[item.p], values[item.p]))

    result, _ = depth(tie, images=[("t.png", truth), *others], grids=(2,))
    # Of six pairs one is tied on each side and four agree: 4 / sqrt(5 * 5).
    assert result.rows[0]["tau"] == pytest.approx(0.8)


@pytest.mark.parametrize("reading", [(0.25, 0.75), (0.2, 0.2), (0.0, 0.0)])
def test_one_range_for_all_is_no_order_and_not_zero(reading: Any) -> None:
    result, _ = depth(lambda solved, query, name: fill(query, lambda item: reading))
    assert {(row["outcome"], row["tau"]) for row in result.rows} == {("flat", None)}
    (grid,) = result.by_grid()
    assert (grid["scored"], grid["flat"], grid["failed"], grid["mean_tau"]) == (0, 6, 0, None)
    assert "tau none" in result.summary() and "6 flat" in result.summary()


# Answers that cannot be scored


def only(n: int) -> Answer:
    """The first `n` items of a perfect answer."""

    def answer(solved: object, query: PerceptionProgram, name: str) -> str:
        whole = PerceptionProgram.from_text(perfect_depth(solved, query, name))
        return str(replace(whole, items=whole.items[:n]))

    return answer


def cut_off(solved: object, query: PerceptionProgram, name: str) -> str:
    return perfect_depth(solved, query, name)[:-40]


@pytest.mark.parametrize(
    ("answer", "outcome", "counts"),
    [
        (nothing, "no program", (None, None, None)),
        (lambda *_: "", "no program", (None, None, None)),
        (cut_off, "broken program", (None, None, None)),
        (
            lambda s, q, n: fill(q, lambda _: 0.5).replace("0.5", ".nan"),
            "broken program",
            (None,) * 3,
        ),
        (only(15), "not as asked", (1, 0, 0)),
        (only(0), "not as asked", (16, 0, 0)),
        (lambda s, q, n: str(q), "not as asked", (0, 0, 16)),
        (lambda s, q, n: fill(q, lambda _: (0.7, 0.2)), "not as asked", (0, 0, 16)),
        (lambda s, q, n: fill(q, lambda _: (0.7, 1.2)), "not as asked", (0, 0, 16)),
        (lambda s, q, n: fill(q, lambda _: (-0.1, 0.2)), "not as asked", (0, 0, 16)),
        (lambda s, q, n: fill(q, lambda i: i.p / 16), "not as asked", (0, 0, 16)),
        (
            lambda s, q, n: fill(q, lambda i: None if i.p == 3 else (0.1, 0.2)),
            "not as asked",
            (0, 0, 1),
        ),
    ],
)
def test_a_failed_answer_is_counted_and_has_no_score(
    answer: Answer, outcome: str, counts: tuple[int | None, ...]
) -> None:
    result, _ = depth(answer)
    for row in result.rows:
        assert (row["outcome"], row["tau"]) == (outcome, None)
        assert (row["missing"], row["extra"], row["invalid"]) == counts
        assert (row["problem"] is not None) == (outcome == "broken program")
    (grid,) = result.by_grid()
    assert (grid["scored"], grid["failed"], grid["errors"]) == (0, 6, 0)
    assert grid["mean_tau"] is None and grid["baseline_mean_tau"] is None


def test_items_nobody_asked_for() -> None:
    asked = redacted(depth_program(scene(0), grid=2, relations=False))
    good = [replace(item, r=(0.1, 0.2)) for item in asked.items]

    def counts(*items: Item) -> tuple[Any, ...]:
        text = str(replace(asked, items=items, grid=None))
        found = filled(text, asked, lambda reading: reading == (0.1, 0.2))
        return found.outcome, found.missing, found.extra, found.invalid, len(found.readings)

    assert counts(*good) == ("scored", 0, 0, 0, 4)
    assert counts(*good, Item(5, (1, 1), (0.1, 0.2))) == ("not as asked", 0, 1, 0, 4)
    assert counts(*good, replace(good[0], i="A")) == ("not as asked", 0, 1, 0, 4)
    assert counts(*good[1:], replace(good[0], c=(1, 1))) == ("not as asked", 0, 0, 1, 3)
    assert counts(*good[1:], replace(good[0], c=None)) == ("scored", 0, 0, 0, 4)
    assert counts(*good[1:], replace(good[0], p="1")) == ("not as asked", 1, 1, 0, 3)


def test_the_last_program_counts() -> None:
    result, _ = depth(lambda s, q, n: f"Draft:\n{q}\nFinal:\n{perfect_depth(s, q, n)}")
    assert {row["outcome"] for row in result.rows} == {"scored"}
    result, _ = depth(lambda s, q, n: f"{perfect_depth(s, q, n)}\nas asked:\n{q}")
    assert {row["outcome"] for row in result.rows} == {"not as asked"}


def test_cells_that_were_never_measured_are_left_out() -> None:
    values = scene(9, (8, 8)).values.copy()
    values[:4, :4] = np.nan
    images = [("hole.png", DepthMap(values, kind="relative")), *scenes(5)]
    result, _ = depth(
        lambda s, q, n: fill(q, lambda item: (0.1 * item.p, 0.1 * item.p)),
        images=images,
        grids=(2,),
    )
    assert [row["cells"] for row in result.rows] == [3, 4, 4, 4, 4, 4]
    assert {row["outcome"] for row in result.rows} == {"scored"}


class Broken(Fake):
    async def answer(self, messages: Sequence[Message]) -> Reply:
        if messages[-1].pictures[-1].name in ("scene2.png", "2b.png"):
            raise ChatError("no such model", transient=False, status=404)
        return await super().answer(messages)


def test_errors_are_apart_and_the_rest_goes_on() -> None:
    result = asyncio.run(depth_reconstruction(Broken(perfect_depth), scenes(), grids=(4,)))
    assert [row["outcome"] for row in result.rows].count("error") == 1
    assert (result.rows[2]["outcome"], result.rows[2]["tau"]) == ("error", None)
    assert result.rows[2]["problem"] == "no such model" and result.records[2]["reply"] is None
    (grid,) = result.by_grid()
    assert (grid["scored"], grid["failed"], grid["errors"]) == (5, 0, 1)
    assert grid["mean_tau"] == pytest.approx(1)

    pairs = asyncio.run(correspondence_reconstruction(Broken(perfect_matches), matching()))
    assert (pairs.totals()["scored"], pairs.totals()["errors"]) == (5, 1)
    assert {row["pair"] for row in pairs.rows} == {1, 2, 4, 5, 6}


def test_any_other_exception_is_not_swallowed() -> None:
    def fail(*_: object) -> str:
        raise ZeroDivisionError

    with pytest.raises(ChatError, match=r"answer\(\) raised ZeroDivisionError") as caught:
        depth(fail)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shots": 6}, "fewer than there are"),
        ({"shots": 0}, "shots: expected an integer of at least 1"),
        ({"grids": ()}, "grids: expected different numbers"),
        ({"grids": (4, 4)}, "grids: expected different numbers"),
        ({"grids": (0,)}, "grids: expected an integer"),
        ({"grids": (100,)}, "at most one cell a pixel"),
        ({"grids": (1,)}, "differs between cells, got one and the same in all of image 1"),
        ({"concurrency": 0}, "concurrency: expected"),
        ({"images": [("a", np.zeros((4, 4)))] * 6}, "expected a DepthMap"),
    ],
)
def test_bad_requests_for_depth_cost_nothing(options: dict[str, Any], message: str) -> None:
    model = Fake(nothing)
    options = {"images": scenes(), "grids": (4,), **options}
    with pytest.raises(InputError, match=message):
        asyncio.run(depth_reconstruction(model, options.pop("images"), **options))
    assert model.asked == []


# What comes of it: correspondence


def test_a_perfect_model_has_no_error() -> None:
    result, _ = correspondence(perfect_matches)
    assert len(result.rows) == 42 and {row["error"] for row in result.rows} == {0}
    totals = result.totals()
    assert (totals["copied"], totals["nearer_than_copy"], totals["median_error"]) == (0, 1, 0)


def test_a_copying_model_lies_on_the_diagonal() -> None:
    result, _ = correspondence(lambda s, q, n: fill(q, lambda item: item.c))
    assert len(result.rows) == 42
    assert all(row["error"] == row["displacement"] > 0 and row["copied"] for row in result.rows)
    totals = result.totals()
    assert (totals["copied"], totals["nearer_than_copy"]) == (1, 0)
    assert totals["median_error"] == totals["median_displacement"]
    assert "100.0 % are copies of c" in result.summary()


def test_where_nothing_moved_a_copy_is_right_and_no_evidence() -> None:
    still = PerceptionProgram("correspondence", "keypoint", (Item(1, (5, 5), (5, 5)),))
    pairs = [("a", "b", still) for _ in range(6)]
    result, _ = correspondence(lambda s, q, n: fill(q, lambda item: item.c), pairs=pairs)
    assert result.totals()["moved"] == 0 and result.totals()["copied"] is None
    assert "copies" not in result.summary()


def test_rows_hold_the_points() -> None:
    program = PerceptionProgram("correspondence", "keypoint", (Item(1, (10, 20), (13, 24)),))
    pairs = [("a", "b", program) for _ in range(2)]
    result, _ = correspondence(
        lambda s, q, n: fill(q, lambda item: (13.5, 12)), pairs=pairs, shots=1
    )
    row = dict(result.rows[1])
    assert row.pop("error") == pytest.approx(math.hypot(0.5, 12))
    expected = dict(zip(("c_x", "c_y", "r_x", "r_y"), (10, 20, 13, 24), strict=True))
    expected |= {"pair": 2, "p": 1, "answer_x": 13.5, "answer_y": 12, "displacement": 5}
    assert row == {**expected, "copied": False}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (nothing, "no program"),
        (lambda s, q, n: str(q), "not as asked"),
        (lambda s, q, n: fill(q, lambda i: (1001, 5) if i.p == 7 else i.c), "not as asked"),
        (lambda s, q, n: fill(q, lambda i: (*i.c, *i.c)), "not as asked"),
        (lambda s, q, n: str(replace(q, items=q.items[:-1])), "not as asked"),
        (lambda s, q, n: str(q)[:-20], "broken program"),
    ],
)
def test_failed_pairs_have_no_rows(answer: Answer, outcome: str) -> None:
    result, _ = correspondence(answer)
    assert {row["outcome"] for row in result.pairs} == {outcome} and result.rows == []
    totals = result.totals()
    assert (totals["scored"], totals["failed"], totals["median_error"]) == (0, 6, None)
    assert "6 failed" in result.summary()


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (depth_program(scene(0), grid=2), "pair 1: program: expected a correspondence program"),
        (
            PerceptionProgram("correspondence", "keypoint", ()),
            "pair 1: expected at least one match",
        ),
        (
            PerceptionProgram("correspondence", "keypoint", (Item(1, (1, 1), "left"),)),
            "pair 1: items: expected p, and points",
        ),
    ],
)
def test_bad_pairs_are_refused(program: PerceptionProgram, message: str) -> None:
    with pytest.raises(InputError, match=message):
        correspondence(nothing, pairs=[("a", "b", program)] * 6)


# Without a model


def test_displacements() -> None:
    items = tuple(Item(n, (0, 0), (n, 0)) for n in range(1, 102))
    still = PerceptionProgram("correspondence", "keypoint", (Item(1, (7, 7), (7, 7)),))
    far = PerceptionProgram("correspondence", "keypoint", (Item(1, (0, 0), (1000, 1000)),))
    none = PerceptionProgram("correspondence", "keypoint", ())
    moving = PerceptionProgram("correspondence", "keypoint", items)
    result = displacement({"moving": moving, "still": still, "none": none, "far": far})
    rows = {row["program"]: row for row in result.rows}
    assert list(rows) == ["moving", "still", "none", "far", "all"]
    assert (rows["moving"]["q05"], rows["moving"]["q50"], rows["moving"]["q95"]) == (6, 51, 96)
    assert rows["moving"]["below_25"] == pytest.approx(24 / 101)
    assert rows["still"]["max"] == 0 and rows["still"]["below_25"] == 1
    assert rows["none"]["matches"] == 0 and rows["none"]["q50"] is None
    assert rows["all"]["matches"] == 103 and rows["all"]["max"] == pytest.approx(math.sqrt(2e6))
    for name, row in rows.items():
        counted = sum(r["matches"] for r in result.histogram if r["program"] == name)
        assert counted == row["matches"]
    assert "none" in result.summary() and "103 matches: median 51," in result.summary()


def test_displacement_wants_correspondence() -> None:
    with pytest.raises(
        InputError, match="a: program: expected a correspondence program, got depth"
    ):
        displacement({"a": depth_program(scene(0))})
    with pytest.raises(InputError, match="programs by name"):
        displacement({})
    with pytest.raises(InputError, match="other than 'all'"):
        displacement({"all": matching()[0][2]})


def test_finer_grids_hold_more() -> None:
    result = grid_accuracy({"a": scene(0), "b": scene(1)}, grids=(16, 2, 4), n=60)
    assert [row["grid"] for row in result.rows if row["rule"] == "middle"] == [2, 4, 16] * 3
    rows = {(r["map"], r["grid"], r["rule"]): r for r in result.rows}
    for side in (2, 4, 16):
        pooled = rows["all", side, "middle"]
        assert pooled["n"] == 120
        assert pooled["right"] == sum(rows[name, side, "middle"]["right"] for name in "ab")
        assert pooled["low"] < pooled["accuracy"] < pooled["high"]
    assert rows["all", 16, "middle"]["right"] > rows["all", 2, "middle"]["right"] + 20
    alone = grid_accuracy({"a": scene(0)}, grids=(2,), n=60)
    assert {row["map"] for row in alone.rows} == {"a"}
    with pytest.raises(InputError, match="depth maps by name"):
        grid_accuracy({})


# Files


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def results() -> dict[str, Any]:
    return {
        "depth": depth(perfect_depth, grids=(2, 4))[0],
        "correspondence": correspondence(perfect_matches)[0],
        "displacement": displacement({"a": matching()[0][2]}),
        "grid": grid_accuracy({"a": scene(0)}, grids=(2, 4), n=20),
    }


def failures() -> dict[str, Any]:
    empty = PerceptionProgram("correspondence", "keypoint", ())
    return {
        "depth": depth(nothing)[0],
        "correspondence": correspondence(nothing)[0],
        "displacement": displacement({"a": empty}),
    }


@pytest.mark.parametrize("make", [results, failures])
def test_what_is_written(make: Callable[[], dict[str, Any]], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from PIL import Image

    for name, result in make().items():
        paths = result.write(tmp_path / name)
        assert {path.parent for path in paths} == {tmp_path / name}
        assert {path.name for path in paths} == {path.name for path in (tmp_path / name).iterdir()}
        rows = read_csv(tmp_path / name / f"{name}.csv")
        assert rows == [
            {key: "" if value is None else str(value) for key, value in row.items()}
            for row in result.rows
        ]
        with Image.open(tmp_path / name / f"{name}.png") as picture:
            picture.load()
            assert picture.width > 600 and len(np.unique(np.asarray(picture.convert("L")))) > 20
        for path in tmp_path.rglob("*.jsonl"):
            header, *records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            assert header["header"]["model"] == {"kind": "fake", "name": "fake"}
            assert header["header"]["shots"] == 5 and len(records) >= 6
            assert all(isinstance(record["reply"], str) for record in records)
    assert "matplotlib.pyplot" not in sys.modules


def test_without_matplotlib_the_data_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    for name, result in results().items():
        with pytest.raises(MissingExtraError, match=r"perception-programs\[eval\]"):
            result.write(tmp_path)
        assert len(read_csv(tmp_path / f"{name}.csv")) == len(result.rows)


def test_a_file_in_the_folder_s_place(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    for result in results().values():
        with pytest.raises(InputError, match="expected a folder"):
            result.write(tmp_path / "taken")


# Real inputs


def test_a_stereo_pair_moves_by_its_disparity(
    motorcycle: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    _, _, disparity = motorcycle
    height, width = disparity.shape
    generator = np.random.default_rng(0)
    x, y = generator.integers(80, width, 300), generator.integers(0, height, 300)
    move = disparity[y, x]
    known = np.isfinite(move)
    here = np.stack([x, y], 1)[known]
    there = here - np.stack([move, 0 * move], 1)[known]
    matches = Matches(here, there, size1=(width, height), size2=(width, height))
    result = displacement({"motorcycle": correspondence_program(matches)})
    # Both ends are cut to integers of the frame.
    assert result.rows[0]["q50"] == pytest.approx(1000 * np.median(move[known]) / width, abs=1)


if __name__ == "__main__":
    SNAPSHOTS.mkdir(exist_ok=True)
    for snapshot, prompt in small_prompts().items():
        (SNAPSHOTS / f"{snapshot}.txt").write_text(prompt, encoding="utf-8", newline="\n")
