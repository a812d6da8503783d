"""A class for every pixel."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .._arrays import describe, is_array, read_only, to_numpy
from ..errors import InputError
from ..geometry import Size, to_size
from ..images import open_picture
from ._check import UNSET, Frozen, Result, class_names
from ._files import existing_file, read_array_file
from ._pipelines import read_segments, segment_output

__all__ = ["Segmentation"]


@dataclass(frozen=True, eq=False)
class Segmentation(Result):
    """The class of each pixel of an image.

    Attributes:
        classes: H×W integers.
        names: {class: name}; a class without one reads as its number. A list names 0, 1, 2…
        size: `(width, height)` of the source image; the map's own size when not given.

    Raises:
        InputError: wrong dimensions, or numbers that are not integers.
    """

    classes: Any
    names: Mapping[int, str] | Sequence[str] = ()
    size: Size = UNSET

    def __post_init__(self) -> None:
        if not is_array(self.classes) and not isinstance(self.classes, (list, tuple)):
            raise InputError(
                f"segmentation: expected an H×W map of integers, got {describe(self.classes)}"
            )
        try:
            classes = to_numpy(self.classes)
        except InputError as error:
            raise InputError(f"segmentation: {error}") from None
        if classes.ndim != 2 or 0 in classes.shape or classes.dtype.kind not in "iub":
            raise InputError(
                f"segmentation: expected an H×W map of integers, got {describe(classes)}"
            )
        height, width = classes.shape
        set_field = object.__setattr__
        if int(classes.max()) > np.iinfo(np.int64).max:
            raise InputError("segmentation: expected class numbers of at most 63 bits")
        set_field(self, "classes", read_only(classes.astype(np.int64)))
        set_field(self, "names", Frozen(class_names(self.names)))
        set_field(self, "size", (width, height) if self.size is None else to_size(self.size))

    def name(self, number: int) -> str:
        """The name of a class, or its number as text."""
        return dict(cast("Mapping[int, str]", self.names)).get(number, str(number))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        names: Mapping[int, str] | Sequence[str] = (),
        *,
        key: str | None = None,
    ) -> Segmentation:
        """A segmentation from a label PNG (grey or palette: each value is a class), NPY or NPZ.

        Raises:
            InputError: no such file, or it holds colours instead of class numbers.
        """
        file = existing_file(path, "segmentation")
        if file.suffix.lower() in (".npy", ".npz"):
            return cls(read_array_file(file, key, "segmentation"), names)
        with open_picture(file, repr(str(file)), "segmentation") as image:
            labels, mode = np.asarray(image), image.mode
        if labels.ndim != 2:
            raise InputError(
                f"segmentation: expected one class number a pixel (a grey or palette PNG), "
                f"got the colours of mode {mode} in {str(file)!r}"
            )
        return cls(labels, names)

    @classmethod
    def from_pipeline(cls, output: Any, *, size: Size = UNSET) -> Segmentation:
        """From transformers' `image-segmentation`: semantic, panoptic or instance.

        Segments of one label are one class; as objects of their own they are in
        `Detections.from_pipeline`. Labels are numbered from 1 as they come, and 0 is what no mask
        covers, `unlabelled`. Where masks of two labels overlap, the higher score counts.

        Args:
            output: the list of one image.
            size: `(width, height)` of the image; needed only where nothing was found.

        Raises:
            InputError: something else, or masks that overlap and have no score.
        """
        return cls(*read_segments(output, size=size))

    def to_pipeline(self) -> list[dict[str, Any]]:
        """As the list of `image-segmentation`: for each class a 0/255 mask of the image's size, no score."""
        return segment_output(self)
