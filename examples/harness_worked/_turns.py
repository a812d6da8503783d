"""What the worked trajectories share: how a script asks for tools, and how a trajectory is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from perception_programs import ToolError
from perception_programs.chat import Reply, ToolCall
from perception_programs.harness import Trajectory
from perception_programs.harness.capabilities import available
from perception_programs.sandbox import Sandbox

_WIDEST = 100  # characters of a line of Python; longer calls have a line an argument


def act(why: str, tool: str, **arguments: Any) -> Reply:
    """A model's reply that asks for a tool."""
    call = ToolCall(f"call-{tool}", tool, json.dumps(arguments))
    return Reply(why, finish="tool_calls", calls=(call,))


def missing_tool(name: str) -> str | None:
    """Why a tool of a script cannot be used on this machine; None if it can."""
    if name != "python_coding":
        return available()[name]
    try:
        Sandbox()
    except ToolError as error:
        return str(error)
    return None


def section(script: ModuleType, trajectory: Trajectory, images: str = "images") -> str:
    """A trajectory in Markdown.

    Args:
        script: whose it is: its docstring has the title and what is to be seen; `PROGRAMS` the Python that its
            coder wrote, one for each time; `PICTURES` the handles whose pictures are shown; `VARIES`, by a regular
            expression, what stands on the page for what differs from run to run.
        trajectory: what its `main` returned.
        images: the folder of the pictures, as the page names it.
    """
    title, _, about = (script.__doc__ or "").strip().partition("\n")
    programs = iter(getattr(script, "PROGRAMS", ()))
    shown = {
        handle: f"![{handle}]({images}/{picture_name(script, handle)})"
        for handle in getattr(script, "PICTURES", ())
    }
    given = [shown[one.handle] for one in trajectory.artifacts if _is_shown_at_first(one, shown)]
    parts = [f"## {title.rstrip('.')}", about.strip(), *given, f"**Asked:** {trajectory.question}"]
    for turn in trajectory.turns:
        parts += [f"### Turn {turn['turn']}", *_turn(turn, programs, shown)]
    end = trajectory.end or {}
    rests = ", ".join(end.get("rests_on", ())) or "nothing"
    parts += ["### Answer", _block(str(end.get("text", ""))), f"It rests on {rests}."]
    text = "\n\n".join(part for part in parts if part)
    for pattern, steady in getattr(script, "VARIES", {}).items():
        text = re.sub(pattern, steady, text)
    return text


def picture_name(script: ModuleType, handle: str) -> str:
    """The file of a picture that the page shows."""
    return f"{Path(str(script.__file__)).stem}-{handle}.jpg"


def _is_shown_at_first(artifact: Any, shown: Mapping[str, str]) -> bool:
    return artifact.turn == 0 and artifact.handle in shown


def _turn(
    turn: Mapping[str, Any], programs: Iterator[str], shown: Mapping[str, str]
) -> Iterator[str]:
    """What the model said and asked for, what came, and what it was told there is."""
    for message in turn["messages"]:
        for part in message["parts"]:
            if "picture" in part:
                yield shown.get(part["picture"], f"(It is shown {part['picture']}.)")
            elif part["kind"] == "environment":
                yield _folded("What it is told there is now", part["text"])
            elif part["kind"] == "reply":
                yield f"**Model:** {part['text']}"
            elif part["kind"] == "tool":
                yield _block(part["text"])
        for call in message.get("calls", ()):
            yield _block(_asked(call), "py")
            if call["name"] == "python_coding" and (program := next(programs, None)):
                yield f"The coder writes:\n\n{_block(program, 'py')}\n\nand what came of it is:"


def _asked(call: Mapping[str, Any]) -> str:
    arguments = json.loads(call["arguments"])
    said = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()]
    line = f"{call['name']}({', '.join(said)})"
    if len(line) <= _WIDEST:
        return line
    return "\n".join([f"{call['name']}(", *(f"    {one}," for one in said), ")"])


def _block(text: str, kind: str = "text") -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}{kind}\n{text.strip()}\n{fence}"


def _folded(summary: str, text: str) -> str:
    return f'<details markdown="1">\n<summary>{summary}</summary>\n\n{_block(text)}\n\n</details>'
