"""Models of anybody's in a run: what does not keep the promise of `ChatModel` is told, not crashed on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from blink_pictures import jigsaw_manifest
from perception_programs import InputError
from perception_programs.blink import Samples, Tools, load
from perception_programs.blink.run import Run, Tally
from perception_programs.chat import ChatError, Reply, Usage, ask

pytest.importorskip("tenacity")


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    return load("Jigsaw", jigsaw_manifest(tmp_path_factory.mktemp("made"), 4))


class Model:
    """Gives what it is given to give, by call; what is an exception is raised."""

    name = "mine"

    def __init__(self, *given: Any, settings: Any = None) -> None:
        self.given = list(given)
        self.calls = 0
        self._settings = {} if settings is None else settings

    def settings(self) -> Any:
        return self._settings

    async def answer(self, messages: Any) -> Any:
        self.calls += 1
        one = self.given[min(self.calls, len(self.given)) - 1]
        if isinstance(one, Exception):
            raise one
        return one

    async def close(self) -> None:
        pass


def go(model: Any, samples: Samples, out: Path) -> Tally:
    run = Run(model, [samples], ["standard"], out, Tools(cache=False), concurrency=1)
    (tally,) = asyncio.run(run.go())
    return tally


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("(A)", r"^answer\(\): expected a Reply, got str '\(A\)'$"),
        (None, r"expected a Reply, got None"),
        (Reply(7), r"a Reply whose text is a string, got int 7"),
        (Reply("A", usage={"cost": 1}), r"whose usage is a Usage, got dict"),
        (Reply("A", finish=b"stop"), r"whose finish is a string or None, got bytes"),
        (KeyError("x"), r"answer\(\) raised KeyError: 'x'"),
    ],
)
def test_what_is_no_reply(given: Any, message: str, samples: Samples, tmp_path: Path) -> None:
    model = Model(given)
    with pytest.raises(ChatError, match=message) as caught:
        go(model, samples, tmp_path / "first")
    assert caught.value.broken and not caught.value.transient
    assert model.calls == 1  # the next would be asked in vain
    # Once it has answered, what it does wrong is that sample's own error.
    tally = go(Model(Reply("(A)", Usage()), given, Reply("(B)")), samples, tmp_path / "later")
    assert (tally.answered, tally.errors) == (3, 1)
    (error,) = (tmp_path / "later" / "Jigsaw.standard.errors.jsonl").read_text().splitlines()
    assert json.loads(error)["stage"] == "model"


def test_an_answer_that_is_not_asynchronous() -> None:
    class Plain(Model):
        def answer(self, messages: Any) -> Any:
            return Reply("(A)")

    with pytest.raises(ChatError, match="expected an async function that returns a Reply, got"):
        asyncio.run(ask(Plain(), ()))


def test_errors_of_the_package_are_passed_on() -> None:
    with pytest.raises(InputError, match="no picture"):
        asyncio.run(ask(Model(InputError("no picture")), ()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"folder": Path("x")}, r"settings\(\): folder: expected plain data, as JSON has it, got "),
        (
            {"t": float("nan")},
            r"settings\(\): t: expected plain data, as JSON has it, got float nan",
        ),
        ({"words": {"a"}}, r"settings\(\): words: expected plain data"),
        ({("a", 1): 2}, r"expected keys of text but 'name', got \('a', 1\)"),
        ({"name": 7}, r"expected keys of text but 'name', got 'name'"),
        ([1], r"expected a mapping from settings\(\), got list"),
    ],
)
def test_settings_that_no_record_can_hold(
    settings: Any, message: str, samples: Samples, tmp_path: Path
) -> None:
    model = Model(Reply("(A)"), settings=settings)
    with pytest.raises(InputError, match=message):
        go(model, samples, tmp_path / "out")
    assert model.calls == 0 and not (tmp_path / "out").exists()


def test_what_is_no_model(samples: Samples, tmp_path: Path) -> None:
    class Nameless(Model):
        name = ""

    class Unset(Model):
        settings = None  # type: ignore[assignment]

    for model, message in (
        (Nameless(), "model: expected a name that is text, got str ''"),
        (Unset(), r"which has no settings\(\)"),
    ):
        with pytest.raises(InputError, match=message):
            go(model, samples, tmp_path)
