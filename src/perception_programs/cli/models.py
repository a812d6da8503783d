"""The language model that a command line names: its options, and the model itself."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from ..chat import ChatModel

__all__ = ["check_key", "chosen_model", "device", "opened", "options"]

_KINDS = ("local:", "scripted:")
_SAMPLING = ("temperature", "max_tokens", "long_side")
_SERVER = ("base_url", "reasoning_effort")


def options(parser: argparse.ArgumentParser, also: str = "", *, required: bool = True) -> None:
    """What names a model and says how it is asked.

    Args:
        parser: gets them.
        also: what else `--model` may be.
        required: whether it must be given.
    """
    parser.add_argument(
        "--model",
        required=required,
        metavar="NAME",
        help="a LiteLLM name (openai/gpt-5-mini, gemini/...), local:FOLDER for transformers, "
        "scripted:FILE for answers written beforehand, JSON lines of "
        f'{{"contains": words of the prompt, "answer": text}}{also}',
    )
    parser.add_argument("--base-url", metavar="URL", help="of an OpenAI-compatible server")
    parser.add_argument("--temperature", type=float, metavar="T", help="default: the model's own")
    parser.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help="of an answer at most, hidden reasoning included (default: 8192 for hosted models and "
        "servers, 1024 for local ones)",
    )
    parser.add_argument(
        "--long-side",
        type=int,
        metavar="PX",
        help="pictures whose longer side has more pixels are scaled down to it before they are sent",
    )
    device(parser, "vision tools and local models")
    parser.add_argument(
        "--reasoning-effort", metavar="LEVEL", help="where the provider knows it: low, medium, high"
    )


def device(parser: argparse.ArgumentParser, what: str) -> None:
    """The option that says where models of one's own machine run."""
    parser.add_argument("--device", default="auto", help=f"for {what} (default: auto)")


def chosen_model(args: argparse.Namespace) -> ChatModel:
    """The chat model that the options say.

    Raises:
        InputError: no such model, or an option that its kind lacks.
        MissingExtraError: the library that it needs is not installed.
    """
    from ..chat import open_model

    kind = args.model.partition(":")[0] if args.model.startswith(_KINDS) else ""
    allowed = {"scripted": (), "local": _SAMPLING, "": (*_SAMPLING, *_SERVER)}[kind]
    given = {
        name: getattr(args, name)
        for name in (*_SAMPLING, *_SERVER)
        if getattr(args, name) is not None
    }
    for name in given:
        if name not in allowed:
            raise InputError(
                f"--{name.replace('_', '-')}: has no meaning for the model {args.model!r}"
            )
    effort = given.pop("reasoning_effort", None)
    if effort is not None:
        given["extra"] = {"reasoning_effort": effort}
    if kind == "local":
        given["device"] = args.device
    if not kind and "litellm" not in sys.modules:
        print("p2: loading LiteLLM …", file=sys.stderr)  # which takes seconds
    return open_model(args.model, **given)


def opened(name: str) -> ChatModel:
    """A second model, by its name alone.

    Raises:
        InputError: no such model, or no key for it.
    """
    from ..chat import open_model

    model = open_model(name)
    check_key(model)
    return model


def check_key(model: object) -> None:
    """Refuse a provider's model without a key, before any work is done.

    Raises:
        InputError: none is set.
    """
    from ..chat import LiteLLMModel

    if isinstance(model, LiteLLMModel):
        model.check_key()
