"""A small benchmark in VisualToolBench's schema, and a model that solves part of it with real tool calls.

Twenty-five tasks, five a domain, over all foci; every fifth has two turns. The pictures are drawn: a number that is
too small until it is cut out, turned, dark or mirrored; prices to be added up; two pictures that differ in one
place. The model knows a program for each kind; in the tasks `n % 5 in (1, 3)` it guesses without a tool, so it
solves three fifths.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from perception_programs.chat import Message, Reply, ToolCall, Usage

__all__ = ["KINDS", "DrawnModel", "judged", "rows", "write"]

KINDS = ("small", "turned", "dark", "mirrored", "total", "change")
_CATEGORIES = ("physics", "Medical", "Finance", "Sports", "Generalist")
_FOCI = ("region_switch", "hybrid_tool", "follow_up", "temporal", "progressive")

_LOOK = {
    "small": "im.crop((160, 100, 200, 130)).resize((400, 300))",
    "turned": "im.rotate(180)",
    "dark": "ImageEnhance.Brightness(im).enhance(30)",
    "mirrored": "ImageOps.mirror(im)",
}


def number(n: int) -> int:
    """What the picture of a task shows."""
    return 100 + 37 * n % 900


def kind_of(n: int) -> str:
    return KINDS[n % len(KINDS)]


def _drawn(text: str, size: int = 40) -> Image.Image:
    image = Image.new("RGB", (320, 240), "white")
    font = ImageFont.load_default(size)
    ImageDraw.Draw(image).text((165, 105), text, fill="black", font=font)
    return image


def pictures(n: int) -> list[Image.Image]:
    kind, text = kind_of(n), str(number(n))
    if kind == "small":
        return [_drawn(text, 9)]
    if kind == "turned":
        return [_drawn(text).rotate(180)]
    if kind == "dark":
        return [_drawn(text).point(lambda value: value // 30)]
    if kind == "mirrored":
        return [_drawn(text).transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    if kind == "total":
        return [_drawn(f"{number(n) - 40} + 40", 20)]
    changed = _drawn(text, 30)
    ImageDraw.Draw(changed).rectangle((number(n) % 200, 20, number(n) % 200 + 30, 50), fill="red")
    return [_drawn(text, 30), changed]


def golden(n: int) -> str:
    return str(number(n) % 200 if kind_of(n) == "change" else number(n))


def _rubric(n: int) -> str:
    return json.dumps(
        {
            "a": {
                "description": f"Says {golden(n)}.",
                "weight": 5,
                "critical": "yes",
                "final_answer": "yes",
                "category": ["perception"],
            },
            "b": {
                "description": "Says how it was found.",
                "weight": 2,
                "critical": "no",
                "final_answer": "no",
                "category": ["presentation"],
            },
            "c": {
                "description": "Is one sentence.",
                "weight": 1,
                "critical": "no",
                "final_answer": "no",
            },
        }
    )


def rows() -> list[dict[str, Any]]:
    """The tasks as the data set has them."""
    found = []
    for n in range(25):
        files = []
        for number_of, picture in enumerate(pictures(n)):
            file = io.BytesIO()
            picture.save(file, "PNG")
            files.append({"bytes": file.getvalue(), "path": f"{n}-{number_of}.png"})
        turns = 2 if n % 5 == 4 else 1
        asked = f"[{kind_of(n)} {n}] What does it come to?"
        found.append(
            {
                "id": f"task/{n}",
                "turncase": "multi-turn" if turns > 1 else "single-turn",
                "num_turns": turns,
                "prompt_category": _CATEGORIES[n % 5],
                "eval_focus": _FOCI[(n // 5) % 5],
                "turn_prompts": [asked, "And once more?"][:turns],
                "turn_golden_answers": [golden(n)] * turns,
                "turn_tool_trajectories": ["[]"] * turns,
                "rubrics_by_turn": [_rubric(n)] * turns,
                "images": files,
                "images_by_turn": [files, []][:turns],
                "num_images": len(files),
            }
        )
    return found


def write(folder: Path) -> Path:
    """The tasks as a parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(
        pa.Table.from_pylist(rows()), folder / "test-00000-of-00001.parquet", row_group_size=4
    )
    return folder


def solved(n: int) -> bool:
    """Whether the model works on a task in place of guessing."""
    return n % 5 not in (1, 3)


class DrawnModel:
    """Works on three fifths of the tasks with tools, and guesses at the others.

    It measures in code: where the mark of a change is, or how many dark pixels the number has, which it checks
    against drawings of its own: what it answers comes out of what the code prints.
    """

    name = "drawn"

    def __init__(self) -> None:
        self.asked = 0

    def settings(self) -> dict[str, Any]:
        return {"kind": "drawn"}

    async def answer(self, messages: Sequence[Message]) -> Reply:
        return await self.answer_or_call(messages, ())

    async def answer_or_call(self, messages: Sequence[Message], tools: Sequence[Any]) -> Reply:
        self.asked += 1
        said = next(m.text for m in messages if m.role == "user")
        kind, n = said.split("[")[1].split("]")[0].split()
        last = messages[-1]
        outputs = [m.text for m in messages if m.role == "tool"]
        if not solved(int(n)):
            if not outputs and int(n) % 5 == 3:  # one call that fails, and then a guess
                return self._call("calculator", {"expression": "1 / 0"}, outputs)
            return Reply("I guess 7.", Usage(100, 5, cost=0.001), finish="stop")
        if last.role == "user" and "once more" in last.text:
            return Reply(self._found(outputs), Usage(100, 5, cost=0.001), finish="stop")
        if not outputs:
            return self._call("python_image_processing", {"code": _code(kind, int(n))}, outputs)
        if kind == "total" and len(outputs) == 1:
            first = outputs[0].split()[0]
            return self._call("calculator", {"expression": f"{first} + 40"}, outputs)
        return Reply(self._found(outputs), Usage(100, 5, cost=0.001), finish="stop")

    def _found(self, outputs: Sequence[str]) -> str:
        return f"It comes to {outputs[-1].split()[0]}, as the code found."

    def _call(self, name: str, arguments: dict[str, Any], outputs: Sequence[str]) -> Reply:
        call = ToolCall(f"call-{len(outputs)}", name, json.dumps(arguments))
        return Reply("", Usage(100, 20, cost=0.002), finish="tool_calls", calls=(call,))

    async def close(self) -> None: ...


def _code(kind: str, n: int) -> str:
    """A program that reads the picture of a kind: it compares it with drawings of all numbers that there are."""
    if kind == "change":
        return (
            "from PIL import Image\n"
            "a, b = (np.asarray(Image.open(f'image_{n}.png')).astype(int) for n in (0, 1))\n"
            "columns = np.nonzero((abs(a - b).sum(2) > 0).any(0))[0]\n"
            "Image.fromarray((abs(a - b) > 0).astype(np.uint8)[:, :, 0] * 255).save('transformed_image_0.png')\n"
            "print(columns.min())"
        )
    look = _LOOK.get(kind, "im.crop((0, 0, 320, 240))")
    size = {"small": 9, "total": 20}.get(kind, 40)
    text = "f'{v - 40} + 40'" if kind == "total" else "str(v)"
    shown = "v - 40" if kind == "total" else "v"
    return (
        "from PIL import Image, ImageDraw, ImageEnhance, ImageFont, ImageOps\n"
        "im = Image.open('image_0.png')\n"
        f"seen = {look}\n"
        "seen.save('transformed_image_0.png')\n"
        "def drawn(v):\n"
        "    im = Image.new('RGB', (320, 240), 'white')\n"
        f"    ImageDraw.Draw(im).text((165, 105), {text}, fill='black', font=ImageFont.load_default({size}))\n"
        + (f"    return {look}\n" if kind == "small" else "    return im\n")
        + "target = np.asarray(seen.convert('L')).astype(int)\n"
        "numbers = [100 + 37 * n % 900 for n in range(25)]\n"
        "best = min(numbers, key=lambda v: abs(np.asarray(drawn(v).convert('L')).astype(int) - target).sum())\n"
        "v = best\n"
        f"print({shown})"
    )


def judged(messages: Sequence[Message]) -> str:
    """A judge that goes by what the criterion asks for."""
    text = messages[0].text
    criterion = text.split("The criterion:\n| ")[1].split("\n")[0]
    answer = text.split("The answer to check:\n| ")[1].split("\n")[0]
    if criterion.startswith("Says how"):
        met = "code" in answer
    elif criterion.startswith("Says "):
        met = criterion.removeprefix("Says ").rstrip(".") in answer.replace(",", " ").split()
    else:
        met = answer.count(".") == 1
    return json.dumps({"explanation": "by rule", "judge_result": "Met" if met else "Not Met"})
