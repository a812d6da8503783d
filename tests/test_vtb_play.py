"""VisualToolBench, played: a small benchmark, by hand and by the library."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from isolation import needs_isolation
from perception_programs import InputError
from perception_programs.chat import ChatError, Reply, ScriptedModel, ToolCall
from perception_programs.sandbox import Limits, Sandbox
from perception_programs.visualtoolbench import Judge, Judged, summarise
from perception_programs.visualtoolbench.loading import load_tasks
from perception_programs.visualtoolbench.player import MOST_CALLS, Player
from perception_programs.visualtoolbench.plays import FILE, Play, folder_of
from perception_programs.visualtoolbench.runs import judge_plays, met_of, play_tasks, verdicts_of
from perception_programs.visualtoolbench.toolset import save_pictures
from vtb_tasks import DrawnModel, judged, solved, write

pytestmark = needs_isolation

LIMITS = Limits(cpu_seconds=3, wall_seconds=5)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    return load_tasks(write(tmp_path_factory.mktemp("vtb")))[0]


@pytest.fixture(scope="module")
def box() -> Sandbox:
    return Sandbox(limits=LIMITS)


def results(tasks, out: Path) -> list[Judged]:
    given = verdicts_of(out)
    found = []
    for task in tasks:
        play = Play.read(folder_of(out, task.id))
        met = met_of(task, play, given)
        assert met is not None
        found.append(Judged(task, met, tuple(call["valid"] for call in play.calls)))
    return found


def test_the_small_benchmark_by_hand(tasks, box: Sandbox, tmp_path: Path) -> None:
    played = asyncio.run(play_tasks(Player(DrawnModel(), sandbox=box), tasks, tmp_path))
    assert (played.done, played.new, played.failed) == (25, 25, 0)
    ruled = asyncio.run(judge_plays(Judge(ScriptedModel(judged)), tasks, tmp_path))
    assert (ruled.new, ruled.failed) == (3 * 30, 0)  # five tasks have two turns
    told = summarise(results(tasks, tmp_path))
    # 15 of 25 are solved, each with every criterion; a guess is one sentence: 1 of 8.
    assert told.apr == told.apr_flag == 15 / 25
    assert told.ars == pytest.approx((15 * 1 + 10 * 1 / 8) / 25)
    # The solved ones call once, sums twice; of the guesses five call once, in vain.
    sums = sum(n % 6 == 4 and solved(n) for n in range(25))
    assert told.proactivity == 20 / 25
    assert told.volume == (15 + sums + 5) / 25
    assert told.success == (15 + sums) / (15 + sums + 5)
    assert (told.n, sums) == (25, 3)
    again = asyncio.run(play_tasks(Player(model := DrawnModel(), sandbox=box), tasks, tmp_path))
    assert again.new == 0 and model.asked == 0
    operations = [
        name
        for task in tasks
        for call in Play.read(folder_of(tmp_path, task.id)).calls
        for name, n in call["operations"].items()
        if n
    ]
    assert {"crop", "resize", "rotate", "brightness", "flip"} <= set(operations)


def scripted(*replies: str | Reply):
    return ScriptedModel(list(replies))


def call(name: str, arguments: object, number: int = 0) -> ToolCall:
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(f"c{number}", name, raw)


def played(box: Sandbox, task, model, folder: Path, **options) -> Play:
    return asyncio.run(Player(model, sandbox=box, **options).play(task, folder))


def test_ten_calls_at_once_and_the_twenty_first(tasks, box: Sandbox, tmp_path: Path) -> None:
    code = "from PIL import Image\nImage.new('RGB', ({0}, 5)).save('transformed_image_{0}.png')\nprint({0})"
    ten = [call("python_image_processing", {"code": code.format(n + 1)}, n) for n in range(10)]
    more = [call("calculator", {"expression": f"{n} + 1"}, n) for n in range(11)]
    seen = []

    def model(messages):
        seen.append(list(messages))
        return [Reply("", calls=tuple(ten)), Reply("", calls=tuple(more)), "done"][len(seen) - 1]

    play = played(box, tasks[0], ScriptedModel(model), tmp_path)
    after = seen[1][2:]
    assert [m.role for m in after] == ["assistant", *["tool"] * 10, "user"]
    assert [m.answers for m in after[1:11]] == [one.id for one in ten]
    assert [m.text.split("\n")[0] for m in after[1:11]] == [str(n + 1) for n in range(10)]
    assert [p.name for p in after[-1].pictures] == [
        f"transformed_image_{n + 1}.png" for n in range(10)
    ]
    assert len(play.calls) == MOST_CALLS and play.answers == ("done",)
    assert {m.role for m in seen[2]} == {
        "system",
        "user",
        "assistant",
    }  # no tools are offered any more
    assert "at most 20 tool calls" in seen[2][-1].text
    validated(after, tmp_path)


def validated(messages, folder: Path) -> None:
    """The messages as LiteLLM's adapter sends them are what the official client's types allow."""
    pytest.importorskip("openai")
    pydantic = pytest.importorskip("pydantic")
    from openai.types.chat import ChatCompletionMessageParam

    from perception_programs.chat import LiteLLMModel

    model = LiteLLMModel("gpt-5-mini", api_key="none")
    sent = asyncio.run(model._sent(messages))
    pydantic.TypeAdapter(list[ChatCompletionMessageParam]).validate_python(sent)
    assert sent[-1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("draw", {}, "expected one of the tools"),
        ("calculator", '{"expression": ', "expected its arguments as JSON"),
        ("calculator", {"expression": 3}, "expression: expected a string"),
        ("calculator", {}, "expression: expected it, got nothing"),
        ("web_search", {"query": "x", "num_results": 99}, "expected 1 to 20"),
        ("web_search", {"query": "x"}, "there is no web search here"),
        ("browser_get_page_text", {"url": "http://x/"}, "no web pages can be opened here"),
        ("historical_weather", {"location": "Oslo", "date": "soon"}, "date: expected a day"),
        ("historical_weather", {"location": "Oslo", "date": "2020-01-01"}, "no weather archive"),
        ("python_interpreter", {"code": ""}, "expected 1 to 5000 characters"),
        ("python_interpreter", {"code": "x" * 5001}, "expected 1 to 5000 characters"),
        ("python_interpreter", {"code": "raise SystemExit"}, "asked to exit"),
        ("python_interpreter", {"code": "import os; os._exit(1)"}, "ended on the way"),
        ("python_interpreter", {"code": "open('/escaped', 'w')"}, "OSError"),
        (
            "python_interpreter",
            {"code": "import socket; socket.create_connection(('1.1.1.1', 80), 1)"},
            "OSError",
        ),
        pytest.param(
            "python_interpreter",
            {"code": "import time; time.sleep(10**6)"},
            "ended after 5 s",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "python_interpreter",
            {"code": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"},
            "was ended",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "python_interpreter",
            {"code": "while True: print('x' * 10**6)"},
            "was ended",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_fails_is_one_readable_error(
    tasks, box, tmp_path: Path, name: str, arguments, said: str
) -> None:
    seen = []

    def model(messages):
        seen.append(list(messages))
        return Reply("", calls=(call(name, arguments),)) if len(seen) == 1 else "sorry"

    play = played(box, tasks[0], ScriptedModel(model), tmp_path)
    told = seen[1][-1].text
    errors = [line for line in told.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1 and said in errors[0] and "Traceback" not in told
    assert [one["valid"] for one in play.calls] == [False]
    assert play.answers == ("sorry",)


def test_state_stays_within_a_task(tasks, box: Sandbox, tmp_path: Path) -> None:
    two = next(task for task in tasks if task.multi)
    seen = []

    def model(messages):
        seen.append(list(messages))
        codes = ["import math\ndef f(x): return math.sqrt(x)", "print(f(16))"]
        if len(seen) in (1, 3):
            return Reply("", calls=(call("python_interpreter", {"code": codes[len(seen) // 2]}),))
        return f"answer {len(seen)}"

    play = played(box, two, ScriptedModel(model), tmp_path)
    assert play.answers == ("answer 2", "answer 4")
    assert seen[3][-1].text.startswith("4.0")


class TestKilled:
    def script(self):
        codes = [
            "x = 20",
            "from PIL import Image\nImage.new('RGB', (x, 5)).save('transformed_image_0.png')",
            "print(x + 1)",
        ]
        return [
            Reply("", calls=(call("python_interpreter", {"code": code}, n),))
            for n, code in enumerate(codes)
        ]

    @pytest.mark.parametrize("rounds", range(5))
    def test_in_any_round(self, tasks, box: Sandbox, tmp_path: Path, rounds: int) -> None:
        two = next(task for task in tasks if task.multi)
        replies = [*self.script(), "first", "second"]
        whole = played(box, two, scripted_settings(replies), tmp_path / "whole")
        with pytest.raises(ChatError):
            played(box, two, scripted_settings(replies[:rounds]), tmp_path / "cut")
        with (tmp_path / "cut" / FILE).open("ab") as file:
            file.write(b'{"kind": "rou')
        pictures = tmp_path / "cut" / "pictures"
        import numpy as np

        save_pictures(pictures, [("transformed_image_0.png", np.zeros((2, 2, 3), np.uint8))])
        done = played(box, two, scripted_settings(replies[rounds:]), tmp_path / "cut")
        assert _steady(done.lines) == _steady(whole.lines) and done.answers == ("first", "second")

    def test_another_configuration_is_refused(self, tasks, box: Sandbox, tmp_path: Path) -> None:
        played(box, tasks[0], scripted("x"), tmp_path)
        with pytest.raises(InputError, match="another setting"):
            played(box, tasks[0], scripted("x"), tmp_path, setting="weak")
        with pytest.raises(InputError, match="another task"):
            played(box, tasks[1], scripted("x"), tmp_path)


class _Told(ScriptedModel):
    def settings(self):
        return {"kind": "told"}


def scripted_settings(replies) -> ScriptedModel:
    def none(messages):
        raise ChatError("gone", transient=False)

    return _Told(list(replies)) if replies else _Told(none)


def _steady(lines):
    """The lines without how long each took."""
    data = json.loads(json.dumps(lines))
    for line in data:
        for one in (line, *line.get("calls", ())):
            one.pop("seconds")
    return data


def test_golden_history(tasks, box: Sandbox, tmp_path: Path) -> None:
    two = next(task for task in tasks if task.multi)
    seen = []

    def model(messages):
        seen.append(list(messages))
        return (
            Reply("", calls=(call("calculator", {"expression": "1"}),))
            if len(seen) == 1
            else "mine"
        )

    played(box, two, ScriptedModel(model), tmp_path, golden_history=True)
    assert [m.role for m in seen[-1]] == ["system", "user", "assistant", "user"]
    assert seen[-1][2].text == two.turns[0].golden_answer


def test_settings_have_their_tools(tasks, box: Sandbox) -> None:
    from perception_programs.harness.capabilities import ZoomIn

    names = {
        setting: [
            tool.name
            for tool in Player(
                scripted("x"), sandbox=box, setting=setting, capabilities=[ZoomIn()]
            ).tools
        ]
        for setting in ("strong", "weak", "no-vision-tool", "no-tools", "programs")
    }
    assert names["no-tools"] == [] and len(names["strong"]) == len(names["weak"]) == 6
    assert (
        "python_image_processing" not in names["no-vision-tool"]
        and names["programs"][-1] == "zoom_in"
    )
    with pytest.raises(InputError, match="expected one of strong"):
        Player(scripted("x"), sandbox=box, setting="other")


def test_programs_as_tools(tasks, box: Sandbox, tmp_path: Path) -> None:
    from perception_programs.harness.capabilities import ZoomIn

    seen = []

    def model(messages):
        seen.append(list(messages))
        arguments = {"image": "input_image_1", "box": [500, 400, 700, 600], "scale": 3}
        return Reply("", calls=(call("zoom_in", arguments),)) if len(seen) == 1 else "seen"

    play = played(
        box, tasks[0], ScriptedModel(model), tmp_path, setting="programs", capabilities=[ZoomIn()]
    )
    assert "(input_image_1)" in seen[0][1].text and play.calls[0]["valid"]
    assert [p.name for p in seen[1][-1].pictures] == ["tool_image_1.png"]
