"""What the detectors share: their calls, their checks, and the number type they compute in."""

from __future__ import annotations

import contextlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from .._arrays import describe
from ..errors import InputError
from ..images import ImageLike, to_pil
from ..results import Detections
from ._torch import choose_device, choose_dtype
from ._weights import PathLike, hub_source
from .base import Card

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Detector", "check_fraction"]


class Detector(ABC):
    """A model of transformers that finds objects.

    The weights stay in single precision. On a GPU the network computes in half precision (autocast),
    but for the parts that produce coordinates.

    Args:
        card: what it is.
        device: where it runs.
        dtype: number type of the network: `auto`, `float32`, `float16` or `bfloat16`.
        half: what `auto` means on a GPU; None for single precision.
        weights: a folder with the checkpoint, in place of the hub.
        threshold: least score of a box.
        iou: overlap beyond which two boxes of one label are one object.

    Raises:
        InputError: an option out of range, or `weights` is no folder.
        WeightsError: the weights are not on this machine and cannot be had.
    """

    _COORDINATES = r"(?!)"
    """Pattern of the names of modules that produce coordinates."""

    def __init__(
        self,
        *,
        card: Card,
        device: str,
        dtype: str,
        half: str | None,
        weights: PathLike,
        threshold: float,
        iou: float | None,
    ) -> None:
        self.card = card
        self._threshold = check_fraction("threshold", threshold)
        self._iou = None if iou is None else check_fraction("iou", iou)
        # Before torch is imported, so that what is missing is said at once.
        self._source = hub_source(card, weights)
        self._device = choose_device(device)
        self._dtype = choose_dtype(dtype, self._device, half)

    def __call__(
        self,
        image: ImageLike,
        *,
        labels: Sequence[str] | None = None,
        threshold: float | None = None,
    ) -> Detections:
        """The objects in one picture, surest first; none is a result too.

        Args:
            image: what `load_image` takes.
            labels: what to look for. Detectors with a vocabulary of their own look for all of it when
                none are given, the others need some.
            threshold: least score of a box, in place of the expert's own.

        Raises:
            InputError: the labels, the threshold or the picture cannot be used.
            ToolError: the network gave numbers that are not finite.
        """
        least = self._threshold if threshold is None else check_fraction("threshold", threshold)
        return self._detect(to_pil(image), labels, least)

    def batch(
        self,
        images: Iterable[ImageLike],
        *,
        labels: Sequence[str] | None = None,
        threshold: float | None = None,
    ) -> list[Detections]:
        """The objects in each picture, for the same labels."""
        if labels is not None and not isinstance(labels, str):
            labels = list(labels)  # a generator would be used up by the first picture
        return [self(image, labels=labels, threshold=threshold) for image in images]

    @abstractmethod
    def _detect(
        self, picture: Image.Image, labels: Sequence[str] | None, threshold: float
    ) -> Detections: ...

    def _place(self, model: Any) -> Any:
        """The model, ready to run on its device."""
        model = model.to(self._device).eval()
        for name, module in model.named_modules():
            if re.search(self._COORDINATES, name):
                _keep_exact(module, self._device.type)
        return model

    @contextlib.contextmanager
    def _running(self) -> Iterator[None]:
        """Without gradients, in the number type that was chosen."""
        import torch

        half = self._dtype != torch.float32
        number = (
            torch.autocast(self._device.type, self._dtype) if half else contextlib.nullcontext()
        )
        with torch.inference_mode(), number:
            yield


def _keep_exact(module: Any, device: str) -> None:
    """Make a module compute in single precision whatever surrounds it."""
    import torch

    inner = module.forward

    def forward(*inputs: Any, **options: Any) -> Any:
        with torch.autocast(device, enabled=False):
            return inner(*map(_single, inputs), **{k: _single(v) for k, v in options.items()})

    module.forward = forward


def _single(value: Any) -> Any:
    half = getattr(value, "is_floating_point", None)
    return value.float() if half is not None and half() else value


def check_fraction(name: str, value: object) -> float:
    """`value` if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise InputError(f"{name}: expected a number from 0 to 1, got {describe(value)}")
    return float(value)
