"""Dense optical flow with RAFT, as torchvision has it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from ..errors import InputError, ToolError
from ..geometry import Size
from ..images import RGB, ImageLike, load_image
from ..results import FlowField
from ._flow_check import consistency
from ._torch import choose_device, choose_dtype
from ._weights import PathLike, named, url_file
from .base import Card

__all__ = ["RAFT"]

_STRIDE = 8  # the network's sides are multiples of it
_SMALLEST = 128  # below it the coarsest of the network's levels has no two pixels a side


class RAFT:
    """Recurrent all-pairs field transforms (Teed and Deng, 2020), as torchvision has them.

    The field has the size of the frames and stays on the device the model runs on. Its vectors are
    kept in single precision throughout, whatever the network computes in.

    Args:
        card: what is loaded, and by what name.
        network: `large` or `small`.
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        dtype: `auto` (single precision), `float32`, `float16` or `bfloat16`.
        weights: the file of the weights, or the folder it is in, in place of a download.
        max_side: pixels of the longest side that the network is given; longer frames are scaled
            down. Memory grows with the square of the area: `large` on a CPU takes 2.6 GB at
            1280×720 and 6.3 GB at 1280×1280.
        updates: how often the field is refined. The weights were trained with 12.
        check: whether to run the flow both ways, which takes twice the time, and to give each
            vector a confidence: 1 where the way back confirms it, else 0.

    Raises:
        InputError: an option that does not fit.
        WeightsError: the weights cannot be had or read.
    """

    def __init__(
        self,
        *,
        card: Card,
        network: Literal["large", "small"],
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        max_side: int = 1280,
        updates: int = 12,
        check: bool = False,
    ) -> None:
        if network not in ("large", "small"):
            raise InputError(f"network: expected 'large' or 'small', got {network!r}")
        self._max_side = _whole(max_side, _SMALLEST, "max_side", "pixels")
        self._updates = _whole(updates, 1, "updates", "refinements")
        self._check = bool(check)
        self._device = choose_device(device)
        self._dtype = choose_dtype(dtype, self._device, half=None)
        self.card = card
        self._load(network, weights)

    def __call__(self, first: ImageLike, second: ImageLike) -> FlowField:
        """The motion of each pixel of the first frame.

        Raises:
            InputError: frames of different sizes.
            ToolError: the network gave no vector that is finite.
        """
        frames = load_image(first), load_image(second)
        sizes = [(frame.shape[1], frame.shape[0]) for frame in frames]
        if sizes[0] != sizes[1]:
            raise InputError(
                "flow: expected two frames of one size, "
                f"got {sizes[0][0]}×{sizes[0][1]} and {sizes[1][0]}×{sizes[1][1]}"
            )
        size = network_size(sizes[0], self._max_side)
        here, there = (self._prepare(frame, size) for frame in frames)
        uv = self._run(here, there, size, sizes[0])
        confidence = None
        if self._check:
            # One way after the other: side by side they would take twice the memory.
            back = self._run(there, here, size, sizes[0])
            agree = consistency(uv.cpu().numpy(), back.cpu().numpy())
            confidence = uv.new_tensor(agree)
        try:
            return FlowField(uv, confidence)
        except InputError as error:
            raise ToolError(f"expert {self.card.name!r}: {error}") from error

    def batch(self, firsts: Iterable[ImageLike], seconds: Iterable[ImageLike]) -> list[FlowField]:
        """The motion of each pair of frames; pairs of any sizes."""
        return [self(a, b) for a, b in zip(firsts, seconds, strict=True)]

    def _load(self, network: str, weights: PathLike) -> None:
        import torch
        from torchvision.models import optical_flow

        if network == "large":
            build, known = optical_flow.raft_large, optical_flow.Raft_Large_Weights.C_T_SKHT_V2
        else:
            build, known = optical_flow.raft_small, optical_flow.Raft_Small_Weights.C_T_V2
        file = url_file(self.card, known.url, weights)
        with named(self.card):
            state = torch.load(file, map_location="cpu", weights_only=True)
            # Without memory of its own, so that no random numbers are drawn to fill it first.
            with torch.device("meta"):
                model = build(weights=None, progress=False)
            model.load_state_dict(state, assign=True)
            self._model = model.float().to(self._device).eval()
        self._transforms = known.transforms()

    def _prepare(self, frame: RGB, size: Size) -> Any:
        """The network's input, 1×3×H×W in [-1, 1], sides a multiple of 8."""
        import torch
        from torchvision.transforms.v2 import functional

        levels = torch.from_numpy(np.array(frame)).permute(2, 0, 1)[None]
        width, height = size
        levels = functional.resize(levels, [height, width], antialias=True)
        pixels, _ = self._transforms(levels, levels)
        padded = torch.nn.functional.pad(pixels, _padding(size), mode="replicate")
        return padded.to(self._device)

    def _run(self, here: Any, there: Any, size: Size, source: Size) -> Any:
        """The field in pixels of the source, H×W×2."""
        import torch

        half = self._dtype != torch.float32
        with (
            torch.inference_mode(),
            torch.autocast(self._device.type, dtype=self._dtype, enabled=half),
        ):
            try:
                flow = self._model(here, there, num_flow_updates=self._updates)[-1].float()
            finally:
                self._model.corr_block.corr_pyramid = []  # gigabytes, which it would keep
            (width, height), (left, _, top, _) = size, _padding(size)
            flow = flow[..., top : top + height, left : left + width]
            if size != source:
                flow = torch.nn.functional.interpolate(
                    flow, source[::-1], mode="bilinear", align_corners=False
                )
            scale = flow.new_tensor([source[0] / width, source[1] / height])
            uv = flow[0].permute(1, 2, 0) * scale
        # Copied outside, since autograd refuses tensors that were made in inference mode.
        return uv.clone(memory_format=torch.contiguous_format)


def network_size(size: Size, max_side: int) -> Size:
    """The size a frame is read at, before padding: sides from 128 to `max_side`.

    The shape is kept where it can be; a long strip is made wider than it is.

    >>> network_size((2560, 1440), 1280), network_size((53, 37), 1280), network_size((854, 480), 1280)
    ((1280, 720), (183, 128), (854, 480))
    """
    scale = max(1.0, _SMALLEST / min(size))
    scale = min(scale, max_side / max(size))
    width, height = (min(max(round(side * scale), _SMALLEST), max_side) for side in size)
    return width, height


def _padding(size: Size) -> tuple[int, int, int, int]:
    """Pixels to add left, right, above and below."""
    across, down = (-side % _STRIDE for side in size)
    return across // 2, across - across // 2, down // 2, down - down // 2


def _whole(value: int, least: int, name: str, unit: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: expected at least {least} {unit}, got {value!r}")
    return value
