"""What the tools read: pictures and results, out of files, base64 and what the program at hand holds."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .._arrays import describe
from .._plain import unique_keys
from ..errors import InputError
from ..experts import registry
from ..experts.base import Expert
from ..geometry import FRAME, Size, denormalise
from ..images import RGB, is_picture, load_image
from ..results import DepthMap, FlowField, Segmentation
from ..results._files import read_array_file
from ..results._json import result_from
from ..results.depth import DepthKind
from ._arrays_in_files import check_arrays
from ._limits import CELLS, ENTRIES, Limits, RefusedError
from ._pictures import check_header, decode_base64, decode_picture
from ._root import Root, shown

__all__ = ["Inputs", "Picture", "ResultFile", "few", "grid_of", "pixel", "pixels"]

# What is said here of a kind of argument is added to what its docstring says.
Picture: TypeAlias = Annotated[str, "A path, a name you were told, base64 or a data URL."]
ResultFile: TypeAlias = Annotated[str, "A path, or a name you were told."]

Result = TypeVar("Result")

_LONGEST_NAME = 4096
_KEPT_EXPERTS = 4
_ARRAYS = (".npy", ".npz")
_DEPTH = (*_ARRAYS, ".png", ".tif", ".tiff", ".pfm")
_FLOW = (*_ARRAYS, ".flo", ".png")
_CLASSES = (*_ARRAYS, ".png", ".tif", ".tiff")
_HEADED = (".png", ".tif", ".tiff")  # compressed: the header says how large they become


class Inputs:
    """Where the inputs of the tools come from.

    Args:
        root: the folder whose files may be named; None for no files.
        given: pictures and results by name: what a model calls `photo` without having its bytes.
        experts: {"depth": name or expert}: which to use where a call names none.
        limits: how large inputs may be.

    Raises:
        InputError: there is no such folder, or `given` holds something else.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        given: Mapping[str, Any] | None = None,
        experts: Mapping[str, str | Expert] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.root = None if root is None else Root(root)
        self.given = dict(given or {})
        self.experts = dict(experts or {})
        self.limits = limits or Limits()
        self._loaded: dict[Any, Expert] = {}
        if not all(isinstance(name, str) for name in self.given):
            raise InputError(f"given: expected names and what they mean, got {describe(given)}")

    def and_given(self, more: Mapping[str, Any]) -> Inputs:
        """The same with more pictures and results by name; experts that are loaded are shared."""
        other = copy.copy(self)
        other.given = {**self.given, **more}
        return other

    def picture(self, source: str, what: str) -> RGB:
        """A picture: a name that was given, a file, base64 or a data URL.

        Raises:
            RefusedError: it is none of these, too large, or damaged.
        """
        if source in self.given:
            known = self.given[source]
            if not is_picture(known):
                raise RefusedError(f"{what}: expected a picture, {shown(source)} is another result")
            return load_image(known)
        file = self._file(source)
        if file is not None and self.root is not None:
            data = self.root.read(file, self.limits.bytes, what)
            return decode_picture(data, repr(self.root.name(file)), self.limits, what)
        if "://" in source[:_LONGEST_NAME]:
            raise RefusedError(f"{what}: URLs are not opened; expected {self._expected()}")
        decoded = decode_base64(source, self.limits.bytes, what)
        if decoded is None:
            raise RefusedError(f"{what}: expected {self._expected()}, got {shown(source)}")
        return decode_picture(decoded, "the picture in base64", self.limits, what)

    def depth(
        self, source: str, kind: DepthKind | None, scale: float | None, size: Size | None
    ) -> DepthMap:
        """A depth map from a file, or one that was given; `size` is that of its picture, if known."""
        if source in self.given:
            return self._given(source, DepthMap, "depth_map")
        file = self._result_file(source, _DEPTH, "depth_map")
        found = DepthMap.open(file, kind=kind, scale=scale)
        return found if size is None else DepthMap(found.values, found.kind, found.mask, size)

    def flow(self, source: str) -> FlowField:
        """A flow field from a file, or one that was given."""
        if source in self.given:
            return self._given(source, FlowField, "flow_field")
        return FlowField.open(self._result_file(source, _FLOW, "flow_field"))

    def segmentation(self, source: str, names: Sequence[str] | None) -> Segmentation:
        """A segmentation from a file, or one that was given."""
        if source in self.given:
            return self._given(source, Segmentation, "segmentation")
        file = self._result_file(source, _CLASSES, "segmentation")
        return Segmentation.open(file, names or ())

    def array(self, source: str, what: str) -> npt.NDArray[Any]:
        """An array from an NPY or NPZ file, or one that was given."""
        if source in self.given:
            return np.asarray(self.given[source])
        return read_array_file(self._result_file(source, _ARRAYS, what), None, what)

    def record(self, source: str, kind: type[Result], what: str, **known: Any) -> Result:
        """A result from a file of JSON (or one that was given), with `known` fields it may lack."""
        if source in self.given:
            return self._given(source, kind, what)
        file = self._result_file(source, (".json",), what)
        try:
            data = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=unique_keys)
        except (ValueError, RecursionError) as error:
            raise RefusedError(f"{what}: {shown(source)} is no JSON: {error}") from None
        return result_from(kind, data, **known)

    def expert(self, modality: str, name: str | None, **made_with: Any) -> Expert:
        """The expert that a call names, else the one chosen here, else the best; kept once loaded."""
        chosen = self.experts.get(modality) if name is None else name
        if chosen is not None and not isinstance(chosen, str):
            return chosen
        key = (modality, chosen, *made_with.items())
        if key not in self._loaded:
            while len(self._loaded) >= _KEPT_EXPERTS:  # each may hold a model
                self._loaded.pop(next(iter(self._loaded)))
            self._loaded[key] = (
                registry.default(modality, **made_with)
                if chosen is None
                else registry.load(chosen, **made_with)
            )
        return self._loaded[key]

    def _file(self, source: str) -> Path | None:
        if self.root is None or len(source) > _LONGEST_NAME:
            return None
        return self.root.find(source)

    def _result_file(self, source: str, suffixes: Sequence[str], what: str) -> Path:
        """A file in one of the formats of a result, not too large to be opened."""
        file = self._file(source)
        if file is None or self.root is None:
            expected = f"a {', '.join(suffixes)} file under the root"
            raise RefusedError(f"{what}: expected {expected}{self._names()}, got {shown(source)}")
        suffix = file.suffix.lower()
        if suffix not in suffixes:
            raise RefusedError(f"{what}: expected {', '.join(suffixes)}, got {shown(source)}")
        data = self.root.read(file, self.limits.bytes, what)
        name = repr(self.root.name(file))
        if suffix in _ARRAYS:
            check_arrays(data, self.limits.pixels, name, what)
        if suffix in _HEADED:
            check_header(data, name, self.limits, what)
        return file

    def _given(self, name: str, kind: type[Result], what: str) -> Result:
        found = self.given[name]
        if not isinstance(found, kind):
            raise RefusedError(f"{what}: expected {kind.__name__}, got {describe(found)}")
        return found

    def _expected(self) -> str:
        files = "" if self.root is None else "a file under the root, "
        return f"{files}a picture in base64 or a data URL{self._names()}"

    def _names(self) -> str:
        return f", or one of the names {', '.join(self.given)}" if self.given else ""


def grid_of(grid: Sequence[int] | None, otherwise: Any = (10, 10)) -> Any:
    """A grid of [rows, cols], within the limit.

    Raises:
        RefusedError: it is no such pair, or has too many cells.
    """
    if grid is None:
        return otherwise
    if len(grid) != 2 or min(grid) < 1 or grid[0] * grid[1] > CELLS:
        raise RefusedError(f"grid: expected [rows, cols], at most {CELLS} cells, got {list(grid)}")
    return tuple(grid)


def few(entries: Mapping[str, Any] | Sequence[Any] | None, what: str) -> Any:
    """`entries`, if they are not too many.

    Raises:
        RefusedError: they are.
    """
    if entries is not None and len(entries) > ENTRIES:
        raise RefusedError(f"{what}: expected at most {ENTRIES}, got {len(entries)}")
    return entries


def pixel(place: Sequence[float], size: Size, what: str) -> tuple[float, float]:
    """A place of the 0-1000 frame in pixels: the middle of what an integer there stands for.

    Raises:
        RefusedError: it is not [x, y] in that frame.
    """
    if len(place) != 2 or not all(0 <= v <= FRAME for v in place):
        raise RefusedError(f"{what}: expected [x, y] from 0 to {FRAME}, got {list(place)[:4]}")
    x, y = (min(v + 0.5, FRAME) for v in place)
    return denormalise(x, y, size)


def pixels(
    places: Mapping[str, Sequence[float]] | None, size: Size, what: str
) -> dict[str, tuple[float, float]] | None:
    """Each letter's place in pixels.

    Raises:
        RefusedError: one of them is not [x, y] in the 0-1000 frame, or they are too many.
    """
    if places is None:
        return None
    return {
        letter: pixel(place, size, f"{what} {letter!r}")
        for letter, place in few(places, what).items()
    }
