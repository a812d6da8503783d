"""The tools and what they read, behind one call: a name and arguments in, a program out."""

from __future__ import annotations

import inspect
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .._arrays import describe
from ..chat._images import EncodedImage, encode_image
from ..chat.schema import Schema, schema_of
from ..errors import InputError, MissingExtraError, ToolError, WeightsError
from ..experts.base import Expert
from ..program import PerceptionProgram
from . import _tools, _tools_pairs
from ._inputs import Inputs
from ._limits import Limits, RefusedError

__all__ = ["TOOLS", "Limits", "ToolResult", "Toolbox", "caption"]

_LONG_SIDE = 1568  # providers scale down what is longer
_PATH = re.compile(r"(?<![\w:/.<])(?:[A-Za-z]:)?[\\/][^\s'\",;]*[^\s'\",;.)]")
_log = logging.getLogger(__name__)

TOOLS: dict[str, Callable[..., PerceptionProgram]] = {
    tool.__name__: tool
    for tool in (
        _tools.find_points,
        _tools.depth,
        _tools_pairs.flow,
        _tools_pairs.correspondence,
        _tools_pairs.semantic,
        _tools_pairs.jigsaw,
        _tools.detection,
        _tools.segmentation,
        _tools.albedo,
        _tools_pairs.similarity,
        _tools.scene,
    )
}
"""The tools by name: functions of `Inputs` and of what a model says."""


@dataclass(frozen=True)
class ToolResult:
    """What a tool made.

    Attributes:
        text: the program as text.
        data: the same program as plain data (`PerceptionProgram.to_dict`).
        drawing: the program drawn on its picture, an image file, if that was asked for.
    """

    text: str
    data: dict[str, Any] = field(repr=False)
    drawing: EncodedImage | None = field(default=None, repr=False)


def written(
    program: PerceptionProgram,
    style: Literal["paper", "compact", "json"] | None = None,
    max_tokens: int | None = None,
    overlay: bool = False,
) -> ToolResult:
    """A program as it is handed to a model.

    Args:
        program: what a tool made.
        style: how to write it: paper (easy to read), compact (far fewer tokens) or json.
        max_tokens: the most tokens the text may have; the least important is left out.
        overlay: whether to draw it on the picture too, for a model that can look at the result.
    """
    if max_tokens is not None:
        program = program.fit(max_tokens, style=style)
    text = program.to_text(style)
    drawing = encode_image(program.overlay(), long_side=_LONG_SIDE) if overlay else None
    return ToolResult(text, program.to_dict(), drawing)


def caption(name: str, call_id: str | None = None) -> str:
    """What stands before a drawing that a model is shown apart from the tool's text."""
    of = "" if call_id is None else f" (call {call_id})"
    return f"The drawing of what {name}{of} found:"


_HOW = tuple(inspect.signature(written).parameters)[1:]


class Toolbox:
    """The tools, ready to be called by name.

    Args:
        root: the folder whose files a call may name; None for none.
        given: pictures and results by name: {"photo": image, "its depth": DepthMap(...)}. A model says
            the name where it cannot send the bytes.
        experts: {"depth": name or expert}: which vision tools to use where a call names none; by default
            the best that are installed. Once loaded they are kept.
        limits: how large inputs may be.
        only: the names of the tools to offer; all of them without it.

    Raises:
        InputError: no such folder or tool.

    >>> import numpy as np
    >>> from perception_programs import DepthMap
    >>> tools = Toolbox(given={"ramp": DepthMap(np.tile(np.linspace(0, 1, 64), (64, 1)))})
    >>> result = tools.call("depth", {"depth_map": "ramp", "points": {"A": [100, 500], "B": [900, 500]}})
    >>> [(item["p"], item["b"]) for item in result.data["items"]]
    [('A', 'rank 2 of 2'), ('B', 'rank 1 of 2')]
    """

    def __init__(
        self,
        *,
        root: str | os.PathLike[str] | None = None,
        given: Mapping[str, Any] | None = None,
        experts: Mapping[str, str | Expert] | None = None,
        limits: Limits | None = None,
        only: Iterable[str] | None = None,
    ) -> None:
        self._inputs = Inputs(root, given, experts, limits)
        names = list(TOOLS) if only is None else list(only)
        unknown = [name for name in names if name not in TOOLS]
        if unknown:
            raise InputError(f"only: expected names among {', '.join(TOOLS)}, got {unknown[0]!r}")
        self._schemas = {name: schema_of(TOOLS[name], written) for name in names}

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """What a model is told of each tool, by name."""
        return self._schemas

    def call(
        self, name: str, arguments: Mapping[str, Any], given: Mapping[str, Any] | None = None
    ) -> ToolResult:
        """What a tool makes of arguments that a model wrote.

        Args:
            name: which tool.
            arguments: what the model wrote.
            given: more pictures and results by name, for this call alone.

        Raises:
            ToolError: it cannot; the message tells the model what to do about it, and nothing of this
                machine: no traceback, no path but those below the root.
        """
        if name not in self._schemas:
            known = ", ".join(self._schemas)
            raise ToolError(f"expected one of the tools {known}, got {str(name)[:80]!r}")
        try:
            return self._called(name, arguments, given or {})
        except RefusedError as error:
            raise ToolError(f"{name}: {error}") from error
        except (InputError, ToolError) as error:
            raise ToolError(f"{name}: {self._public(error)}") from error
        except (MissingExtraError, WeightsError) as error:
            instead = "or give this tool's result in place of the picture"
            raise ToolError(f"{name}: {self._public(error)} ({instead})") from error
        except Exception as error:
            _log.exception("the tool %s failed", name)
            kind = type(error).__name__
            raise ToolError(f"{name}: failed for a reason of its own ({kind})") from error

    def _called(
        self, name: str, arguments: Mapping[str, Any], given: Mapping[str, Any]
    ) -> ToolResult:
        if not isinstance(arguments, Mapping):
            raise InputError(f"arguments: expected an object, got {describe(arguments)}")
        checked = self._schemas[name].check(arguments)
        how = {key: checked.pop(key) for key in _HOW if key in checked}
        inputs = self._inputs.and_given(given) if given else self._inputs
        program = TOOLS[name](inputs, **checked)
        if how.get("overlay") and not program.images:
            raise InputError("overlay: expected the picture too, to draw on")
        return written(program, **how)

    def _public(self, error: Exception) -> str:
        """What an error says, without the place of the root and without paths elsewhere."""
        text = " ".join(str(error).split())
        root = self._inputs.root
        if root is not None:
            text = text.replace(f"{root.folder}{os.sep}", "")
        return _PATH.sub("<path>", text)
