"""The one table of capabilities: where each is, what it needs, and how a configuration opens it."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._arrays import describe
from ...errors import InputError, MissingExtraError, WeightsError, install_command
from ...experts import registry
from ..capability import Capability

__all__ = ["available", "open_capabilities"]

Options = Mapping[str, Any]


@dataclass(frozen=True)
class _Entry:
    """Where a capability is and what it needs.

    Attributes:
        target: `module:Class`, relative to this package.
        asks: options without which it cannot be made, and what each is.
        check: raises MissingExtraError or WeightsError where what its options name is not there.
        unasked: why it is open only where a configuration names it; None if it need not be named.
    """

    target: str
    asks: Mapping[str, str]
    check: Callable[[Options], None]
    unasked: str | None = None

    def load(self) -> type[Capability]:
        module, _, attribute = self.target.partition(":")
        kind: type[Capability] = getattr(importlib.import_module(module, __package__), attribute)
        return kind


def available() -> dict[str, str | None]:
    """The capabilities by name, and why each would be left out where none are named; None if it would not.

    Nothing is loaded to find out.

    >>> available()["zoom_in"] is None
    True
    """
    return {name: _why_not(entry) for name, entry in _TABLE.items()}


def open_capabilities(config: Mapping[str, Options | None] | None = None) -> list[Capability]:
    """The capabilities that a configuration names, or all that can be used as they are.

    Args:
        config: by name of the capability, the options of its class, such as
            `{"visual_grounding": {"expert": "owlv2-base"}, "read_text": {}}`. Empty: those of `available()`
            that are not left out.

    Raises:
        InputError: no such capability, an option that it does not take, or one that it needs.
        MissingExtraError: what it needs is not installed; the message gives the command.
        WeightsError: its weights are not on this machine and cannot be had.

    >>> [one.name for one in open_capabilities({"zoom_in": {}, "depth_estimation": {"expert": dict}})]
    ['zoom_in', 'depth_estimation']
    """
    if config is not None and not isinstance(config, Mapping):
        raise InputError(f"config: expected options by capability, got {describe(config)}")
    if not config:
        return [_opened(name, {}) for name, why in available().items() if why is None]
    return [_opened(name, {} if options is None else options) for name, options in config.items()]


def _opened(name: str, options: Options) -> Capability:
    if name not in _TABLE:
        near = difflib.get_close_matches(str(name), _TABLE, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"config: expected one of {', '.join(_TABLE)}, got {name!r}{hint}")
    if not isinstance(options, Mapping):
        raise InputError(f"config: {name}: expected its options by name, got {describe(options)}")
    entry = _TABLE[name]
    missing = _unanswered(entry, options)
    if missing is not None:
        raise InputError(f"config: {name}: {missing}")
    entry.check(options)
    kind = entry.load()
    try:
        inspect.signature(kind).bind(**options)
    except TypeError as error:
        raise InputError(f"config: {name}: {error}") from None
    return kind(**options)


def _why_not(entry: _Entry) -> str | None:
    if (why := _unanswered(entry, {}) or entry.unasked) is not None:
        return why
    try:
        entry.check({})
    except (MissingExtraError, WeightsError) as error:
        return str(error)
    return None


def _unanswered(entry: _Entry, options: Options) -> str | None:
    return next(
        (f"needs {key}=, {what}" for key, what in entry.asks.items() if key not in options), None
    )


def _expert(modality: str, default: str | None, key: str = "expert") -> Callable[[Options], None]:
    """The check of a capability that runs an expert: the named one, `default`, or the preferred."""

    def check(options: Options) -> None:
        name = options.get(key, default)
        if name == "default" and modality == "depth":
            from .depth import preferred_expert

            name = preferred_expert()
        if isinstance(name, str):
            registry.check(name, weights=options.get("weights"))

    return check


def _cameras(options: Options) -> None:
    """The check of the camera's trajectory: of a named matcher but its own, and of a named depth expert."""
    for key, own in (("matcher", "affine-sift"), ("depth", None)):
        name = options.get(key, own)
        if isinstance(name, str) and name != own:
            registry.check(name)


def _modules(*names: str, unless: str | None = None) -> Callable[[Options], None]:
    """The check of a capability that needs modules of the extra `harness`, unless an option brings its own."""

    def check(options: Options) -> None:
        if unless is not None and callable(options.get(unless)):
            return
        missing = [name for name in names if importlib.util.find_spec(name) is None]
        if missing:
            raise MissingExtraError(f"{missing[0]} is not installed: {install_command('harness')}")

    return check


_NETWORK = "it reaches the network, so a configuration has to name it"
_PROVIDER = {"provider": "who searches"}

_TABLE: dict[str, _Entry] = {
    "zoom_in": _Entry(".zoom:ZoomIn", {}, _modules()),
    "visual_grounding": _Entry(
        ".grounding:VisualGrounding", {}, _expert("detection", "llmdet-tiny")
    ),
    "read_text": _Entry(
        ".text:ReadText", {}, _modules("rapidocr", "onnxruntime", unless="backend")
    ),
    "depth_estimation": _Entry(".depth:DepthEstimation", {}, _expert("depth", "default")),
    "camera_trajectory": _Entry(".camera:CameraTrajectory", {}, _cameras),
    "python_coding": _Entry(
        ".coding:PythonCoding", {"coder": "the model that writes the programs"}, _modules()
    ),
    "text_search": _Entry(".search:TextSearch", _PROVIDER, _modules(), _NETWORK),
    "image_search": _Entry(".search:ImageSearch", _PROVIDER, _modules(), _NETWORK),
    "webpage_visit": _Entry(".page:WebpageVisit", {}, _modules("trafilatura"), _NETWORK),
}
