"""The agent that a command line describes: its options, its tools, its budgets, its wording."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from . import models

if TYPE_CHECKING:
    from ..chat import ChatModel
    from ..harness import Agent, Capability, Settings, Templates

__all__ = [
    "budgets",
    "chosen_agent",
    "chosen_capabilities",
    "chosen_settings",
    "chosen_templates",
    "chosen_tools",
    "options",
    "tools",
]

_CODER = "python_coding"
_MODELS = ("coder", "summariser")
"""Options of capabilities that are language models: in a configuration they are named as --model is."""


def options(parser: argparse.ArgumentParser) -> None:
    """The model, the tools and the budgets of an agent."""
    models.options(parser)
    tools(parser)
    budgets(parser)


def tools(parser: argparse.ArgumentParser) -> None:
    """Which tools there are, and how they are told of."""
    group = parser.add_argument_group("tools")
    chosen = group.add_mutually_exclusive_group()
    chosen.add_argument(
        "--tool",
        action="append",
        default=[],
        metavar="NAME",
        help="this one and no other, such as zoom_in; repeat it (default: all that can be used here)",
    )
    chosen.add_argument("--no-tool", action="store_true", help="none at all")
    group.add_argument(
        "--config",
        metavar="FILE",
        help="YAML: the options of each tool by its name, such as visual_grounding: {expert: owlv2-base}; "
        "the tools that it names are those that there are",
    )
    group.add_argument(
        "--coder",
        metavar="NAME",
        help="the model that writes the programs of python_coding, as --model (default: the model itself)",
    )
    group.add_argument(
        "--compose",
        action="append",
        default=[],
        metavar="FILE",
        help="a composed tool too, as p2 harness tools writes them; repeat it",
    )
    group.add_argument(
        "--templates", metavar="DIR", help="wording in place of what ships, file by file"
    )


def budgets(parser: argparse.ArgumentParser) -> None:
    """How much of the harness there is, and how much may be spent."""
    group = parser.add_argument_group("how it is run")
    group.add_argument(
        "--rung",
        metavar="NAME",
        help="how much of the harness there is: no-tools, raw, rendered, memory or full (the default)",
    )
    group.add_argument(
        "--turns", type=int, metavar="N", help="the most turns with a tool (default: 15)"
    )
    group.add_argument(
        "--total-tokens",
        type=int,
        metavar="N",
        help="of all prompts and replies of a question together; then it is asked for the answer",
    )
    group.add_argument("--max-cost", type=float, metavar="USD", help="the same in US dollars")
    group.add_argument("--max-seconds", type=float, metavar="S", help="the same in seconds")


def chosen_agent(args: argparse.Namespace, model: ChatModel) -> Agent:
    """The agent that the options say.

    Raises:
        InputError: an option that means nothing, a tool or a file that is not there.
    """
    from ..harness import Agent

    settings = chosen_settings(args)
    capabilities, templates = chosen_tools(args, model)
    return Agent(model, capabilities, settings=settings, templates=templates)


def chosen_tools(
    args: argparse.Namespace, model: ChatModel | None
) -> tuple[list[Capability], Templates]:
    """The tools that the options say, the composed ones among them, and the wording of all."""
    from ..harness.specialise import Composed, Definition, with_composed

    tools, templates = chosen_capabilities(args, model), chosen_templates(args)
    composed = []
    for name in args.compose:
        if not Path(name).is_file():
            raise InputError(f"--compose: no file {name!r}")
        text = Path(name).read_text(encoding="utf-8")
        definition = Definition.read(text, tools, templates)
        templates = with_composed(templates, [definition])
        composed.append(Composed(definition, tools))
    return [*tools, *composed], templates


def chosen_settings(args: argparse.Namespace) -> Settings:
    """The budgets that the options say."""
    from ..harness import Settings

    given = {
        "rung": args.rung,
        "turns": args.turns,
        "max_tokens": args.total_tokens,
        "max_cost": args.max_cost,
        "max_seconds": args.max_seconds,
    }
    return Settings(**{name: value for name, value in given.items() if value is not None})


def chosen_templates(args: argparse.Namespace) -> Templates:
    """The wording that the options say."""
    from ..harness import Templates

    return Templates(args.templates)


def chosen_capabilities(args: argparse.Namespace, model: ChatModel | None) -> list[Capability]:
    """The tools that the options say.

    Args:
        args: with what `tools` adds.
        model: writes the programs of python_coding where no other is named; None for no such one.
    """
    from ..harness.capabilities import available, open_capabilities

    if args.no_tool or args.rung == "no-tools":
        return []
    coder = model if args.coder is None else models.opened(args.coder)
    config = {} if args.config is None else _read(Path(args.config))
    if args.tool:
        wanted = {name: config.get(name) for name in args.tool}
    elif config:
        wanted = config
    else:
        left_out = available()
        wanted = {name: None for name, why in left_out.items() if why is None}
        if coder is not None and _CODER in left_out:
            wanted[_CODER] = None
    opened = {name: _opened_models(name, chosen) for name, chosen in wanted.items()}
    if _CODER in opened and coder is not None:
        opened[_CODER] = {"coder": coder, **opened[_CODER]}
    made = open_capabilities(opened)
    _tell(made)
    return made


def _tell(made: list[Capability]) -> None:
    print(f"p2: tools: {', '.join(one.name for one in made)}", file=sys.stderr)


def _read(file: Path) -> dict[str, Any]:
    """The options by tool that a file holds."""
    import yaml

    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        raise InputError(f"--config: {str(file)!r}: expected YAML: {said}") from None
    if not isinstance(data, dict) or not data:
        raise InputError(
            f"--config: {str(file)!r}: expected the options of each tool by its name, such as "
            "zoom_in: {}"
        )
    return data


def _opened_models(name: str, chosen: Any) -> dict[str, Any]:
    """The options of a tool, the models among them opened."""
    if chosen is None:
        return {}
    if not isinstance(chosen, Mapping):
        raise InputError(f"--config: {name}: expected its options by name, got {chosen!r}")
    return {
        key: models.opened(value) if key in _MODELS and isinstance(value, str) else value
        for key, value in chosen.items()
    }
