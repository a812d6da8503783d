"""Depth from one picture, with any of the depth estimators that transformers has."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, cast

import numpy as np

from ..errors import InputError, ToolError
from ..images import RGB, ImageLike, load_image
from ..results import DepthMap
from ._torch import choose_device, choose_dtype
from ._weights import PathLike, hub_source, named, pretrained
from .base import Card
from .catalogue.depth import POLARITY

__all__ = ["DepthEstimator"]

Kind = Literal["relative", "metric"]

_METRES = ("depth_pro", "zoedepth")
"""Architectures that always give metres; their configurations have no field to say so."""

_SINGLE_ONLY = ("zoedepth",)
"""Architectures too fine for half types: ZoeDepth weighs its bins by log-binomials, which it gets as small
differences of numbers in the hundreds."""


class DepthEstimator:
    """A depth estimator of transformers, with its own processor and post-processing.

    The map has the size of the picture and stays on the device the model runs on. `kind` and the
    card's polarity are those of the checkpoint that was loaded.

    Args:
        card: what is loaded, and by what name.
        kind: what the numbers mean where the checkpoint's configuration does not say: `relative`
            (bigger is nearer) or `metric` (metres). Depth Anything's configuration says.
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        dtype: `auto`, `float32`, `float16` or `bfloat16`: what the network computes in. Its output is
            resized, and turned into metres, in single precision.
        weights: a folder with the checkpoint's files, in place of the hub.
        batch_size: pictures that go through the network at once in `batch`.

    Raises:
        InputError: an option that does not fit.
        WeightsError: the checkpoint cannot be had or read.
    """

    def __init__(
        self,
        *,
        card: Card,
        kind: Kind,
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        batch_size: int = 8,
    ) -> None:
        if kind not in POLARITY:
            raise InputError(f"kind: expected one of {', '.join(POLARITY)}, got {kind!r}")
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
            raise InputError(f"batch_size: expected at least 1 picture, got {batch_size!r}")
        self._device = choose_device(device)
        config = self._load(card, dtype, weights)
        self.kind: Kind = _kind_of(config, kind)
        self.card = replace(card, polarity=POLARITY[self.kind])
        # With several ranges to choose from, ZoeDepth lets a whole batch vote on one.
        votes = len(getattr(config, "bin_configurations", None) or ()) > 1
        self._batch_size = 1 if votes else batch_size

    def __call__(self, image: ImageLike) -> DepthMap:
        """The depth of every pixel of a picture.

        Raises:
            InputError: it is no picture, or too small or thin for the model's processor.
            ToolError: the network gave nothing that can be read as depth.
        """
        return self._estimate([load_image(image)])[0]

    def batch(self, images: Iterable[ImageLike]) -> list[DepthMap]:
        """The depth of each picture, in order; pictures of any sizes."""
        return [
            depth
            for some in _chunks(images, self._batch_size)
            for depth in self._estimate([load_image(image) for image in some])
        ]

    def _load(self, card: Card, dtype: str, weights: PathLike) -> Any:
        """Load the network and its processor; the checkpoint's configuration."""
        from transformers import AutoConfig, AutoImageProcessor, AutoModelForDepthEstimation

        choose_dtype(dtype, self._device)  # a wrong name shall not wait for a download
        source = hub_source(card, weights)
        with named(card):
            local = {"local_files_only": source.local}
            config = AutoConfig.from_pretrained(source.place, **local)
            half = None if config.model_type in _SINGLE_ONLY else "float16"
            self._dtype = choose_dtype(dtype, self._device, half)
            self._processor = AutoImageProcessor.from_pretrained(source.place, **local)
            model = pretrained(
                AutoModelForDepthEstimation, source.place, config=config, dtype=self._dtype, **local
            )
        self._model = model.to(self._device).eval()
        return config

    def _estimate(self, pictures: Sequence[RGB]) -> list[DepthMap]:
        import torch

        inputs = [self._prepare(picture) for picture in pictures]
        groups: dict[tuple[int, ...], list[int]] = {}
        for index, pixels in enumerate(inputs):
            groups.setdefault(tuple(pixels.shape), []).append(index)
        fields: dict[int, Any] = {}
        for indices in groups.values():
            with torch.inference_mode():
                outputs = self._model(pixel_values=torch.cat([inputs[i] for i in indices]))
                found = self._finish(outputs, [pictures[i].shape[:2] for i in indices])
            # Copied outside, since autograd refuses tensors that were made in inference mode.
            fields.update(zip(indices, (field.clone() for field in found), strict=True))
        return [self._depth_map(fields[index]) for index in range(len(pictures))]

    def _prepare(self, picture: RGB) -> Any:
        """The network's input for one picture, 1×3×H×W."""
        # Only CUDA has every filter that the processors resize with.
        where = {"device": self._device} if self._device.type == "cuda" else {}
        try:
            inputs = self._processor(
                images=[np.array(picture)],  # a copy: torch warns of arrays that are read-only
                input_data_format="channels_last",  # else a picture 3 pixels high is ambiguous
                return_tensors="pt",
                **where,
            )
        except (RuntimeError, ValueError) as error:
            height, width = picture.shape[:2]
            raise InputError(
                f"depth: expected a picture that {self.card.name!r} can take ({self.card.limits}), "
                f"got one of {width}×{height} pixels"
            ) from error
        return inputs["pixel_values"].to(self._device, self._dtype)

    def _finish(self, outputs: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
        """The maps at the sizes of their pictures, each (height, width)."""
        for key in ("predicted_depth", "field_of_view"):
            if outputs.get(key) is not None:
                outputs[key] = outputs[key].float()
        finish = self._processor.post_process_depth_estimation
        # ZoeDepth pads pictures by an amount that follows from their size, and takes it off again.
        padded = "source_sizes" in inspect.signature(finish).parameters
        found = finish(outputs, **{"source_sizes" if padded else "target_sizes": list(shapes)})
        # Reshaped, since some processors drop a side of 1 pixel.
        return [
            item["predicted_depth"].reshape(shape)
            for item, shape in zip(found, shapes, strict=True)
        ]

    def _depth_map(self, field: Any) -> DepthMap:
        try:
            return DepthMap(field, self.kind)
        except InputError as error:
            raise ToolError(f"expert {self.card.name!r}: {error}") from error


def _kind_of(config: Any, kind: Kind) -> Kind:
    """What the configuration says the numbers are, else `kind`."""
    said = getattr(config, "depth_estimation_type", None)
    if said is None:
        return "metric" if config.model_type in _METRES else kind
    if said not in POLARITY:
        raise InputError(
            f"weights: expected a depth_estimation_type of {' or '.join(POLARITY)} in the "
            f"configuration, got {said!r}"
        )
    return cast(Kind, said)


def _chunks(images: Iterable[ImageLike], length: int) -> Iterator[list[ImageLike]]:
    """Lists of at most `length`, so that not all pictures need to be in memory at once."""
    iterator = iter(images)
    while some := list(islice(iterator, length)):
        yield some
