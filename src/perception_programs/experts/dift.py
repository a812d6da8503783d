"""Diffusion features (DIFT): what a text-to-image model sees in a picture with noise added."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any, Literal

import torch
from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel
from diffusers.image_processor import VaeImageProcessor
from PIL import Image
from transformers import CLIPTextModel, CLIPTokenizer

from ..errors import InputError
from ..images import RGB
from ._similarity import PointSimilarity
from ._torch import choose_device, choose_dtype
from ._weights import PathLike, Source, hub_source, is_cached, named, pretrained
from .base import Card

__all__ = ["DIFT"]

_UNET = (
    "unet/diffusion_pytorch_model.safetensors",
    "unet/diffusion_pytorch_model.bin",
    "unet/diffusion_pytorch_model.fp16.safetensors",
)
_PARTS = ("unet", "vae", "text_encoder", "tokenizer", "scheduler")


class DIFT(PointSimilarity):
    """Features of a Stable Diffusion UNet (Tang et al., 2023), with the published settings as defaults.

    The picture is squeezed to `size`×`size`, encoded, mixed with noise as at time `step` of the
    diffusion, and put through the UNet once; the output of one upsampling block, averaged over
    `ensemble` draws of noise, is its feature map. The rest of the UNet is not run.

    The noise depends on `seed` alone: it is drawn on the host in float32, so it is the same on every
    device. The two pictures of a pair get different draws, because a common one would make equal
    places in them alike; a picture compared with itself therefore scores a little under 1. The mean of
    the encoder's distribution stands for a draw from it, whose spread is far below the noise added.

    Args:
        card: which checkpoint.
        device: where the model runs.
        dtype: what it computes in; `auto` is float32 on a CPU, else float16, in which Stable Diffusion
            is commonly run. The noise is added, and the draws averaged, in float32 always.
        weights: a folder with `unet`, `vae`, `text_encoder`, `tokenizer` and `scheduler`.
        prompt: what the picture shows; published for known categories: "a photo of a cat".
        size: pixels a side that the model sees.
        step: time step of the diffusion; later ones show more noise and coarser meaning.
        block: index of the upsampling block, 0 being the coarsest.
        ensemble: how many draws of noise are averaged.
        seed: of the noise.

    Raises:
        InputError: an option outside its range, or weights that are not there.
        WeightsError: the weights cannot be had, or do not fit.
    """

    def __init__(
        self,
        *,
        card: Card,
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        prompt: str = "",
        size: int = 768,
        step: int = 261,
        block: int = 1,
        ensemble: int = 8,
        seed: int = 0,
    ) -> None:
        self.card = card
        self._device = choose_device(device)
        self._dtype = choose_dtype(dtype, self._device)
        self._seed = _whole("seed", seed, 0, 2**63 - 1)
        self._ensemble = _whole("ensemble", ensemble, 1, 1024)
        with named(card), warnings.catch_warnings():
            # diffusers passes the hub an argument that the hub warns about; no user can change that.
            warnings.filterwarnings("ignore", ".*local_dir_use_symlinks", UserWarning)
            self._load(hub_source(card, weights, _UNET), prompt)
        steps = self._scheduler.config.num_train_timesteps
        self._step = _whole("step", step, 0, steps - 1)
        self._block = _whole("block", block, 0, len(self._unet.up_blocks) - 1)
        factor = 2 ** (len(self._vae.config.block_out_channels) - 1)
        self._size = _checked_size(size, factor * 2**self._unet.num_upsamplers)
        self._process = VaeImageProcessor(vae_scale_factor=factor, resample="bicubic")
        self._hooked = threading.Lock()

    def _load(self, source: Source, prompt: str) -> None:
        place = source.place
        _check_parts(Path(place))
        where: dict[str, Any] = {"local_files_only": source.local, "variant": _variant(source)}
        options = {**where, "torch_dtype": self._dtype}
        unet = pretrained(UNet2DConditionModel, place, subfolder="unet", **options)
        vae = pretrained(AutoencoderKL, place, subfolder="vae", **options)
        self._unet, self._vae = unet.to(self._device).eval(), vae.to(self._device).eval()
        local = {"local_files_only": source.local}
        self._scheduler = DDIMScheduler.from_pretrained(place, subfolder="scheduler", **local)
        tokenizer = CLIPTokenizer.from_pretrained(place, subfolder="tokenizer", **local)
        # The prompt is read once, so its encoder need not stay.
        encoder = pretrained(CLIPTextModel, place, subfolder="text_encoder", **where)
        with torch.inference_mode():
            embedding = encoder.eval()(_tokens(tokenizer, prompt))[0]
        self._prompt = embedding.to(self._device, self._dtype)

    def _features(self, picture: RGB, role: Literal[0, 1]) -> Any:
        latents = self._latents(picture)
        generator = torch.Generator().manual_seed(self._seed)
        shape = (2, self._ensemble, *latents.shape[1:])
        noise = torch.randn(shape, generator=generator)[role].to(self._device)
        steps = torch.full((self._ensemble,), self._step, device=self._device)
        noisy = self._scheduler.add_noise(latents.expand_as(noise), noise, steps)
        # A CPU gains nothing from many at once and would need memory for all of them.
        at_once = 1 if self._device.type == "cpu" else self._ensemble
        parts = [self._block_output(part).sum(dim=0) for part in noisy.split(at_once)]
        return torch.stack(parts).sum(dim=0) / self._ensemble

    def _latents(self, picture: RGB) -> torch.Tensor:
        """The 1×C×h×w latents of a picture in float32, scaled as the UNet expects them."""
        pixels = self._process.preprocess(Image.fromarray(picture), self._size, self._size)
        encoded = self._vae.encode(pixels.to(self._device, self._dtype)).latent_dist.mode()
        latents: torch.Tensor = encoded.float() * self._vae.config.scaling_factor
        return latents

    def _block_output(self, noisy: torch.Tensor) -> torch.Tensor:
        """The N×C×h×w output of the upsampling block in float32; the UNet stops there."""

        def stop(module: Any, inputs: Any, output: torch.Tensor) -> None:
            raise _Reached(output)

        prompt = self._prompt.expand(len(noisy), -1, -1)
        # One at a time, because a hook would also fire in another thread's pass.
        with self._hooked:
            handle = self._unet.up_blocks[self._block].register_forward_hook(stop)
            try:
                self._unet(noisy.to(self._dtype), self._step, encoder_hidden_states=prompt)
            except _Reached as reached:
                return reached.output.float()
            finally:
                handle.remove()
        raise AssertionError("the UNet ran without its upsampling block")


class _Reached(Exception):  # noqa: N818  (a way out of the UNet, not an error)
    """Carries a block's output out of the network."""

    def __init__(self, output: torch.Tensor) -> None:
        super().__init__()
        self.output = output


def _check_parts(folder: Path) -> None:
    """Name the parts that a folder lacks; what the libraries say of them does not."""
    if folder.is_dir():
        missing = [part for part in _PARTS if not (folder / part).is_dir()]
        if missing:
            raise FileNotFoundError(f"the folder has no {', '.join(missing)}")


def _variant(source: Source) -> str | None:
    """`fp16` where only the half-precision files are on this machine."""
    *full, half = _UNET
    if not source.local:
        return None
    folder = Path(source.place)
    if folder.is_dir():
        has_full, has_half = any((folder / f).is_file() for f in full), (folder / half).is_file()
    else:
        has_full, has_half = is_cached(source.place, full), is_cached(source.place, (half,))
    return "fp16" if has_half and not has_full else None


def _tokens(tokenizer: Any, prompt: str) -> torch.Tensor:
    """The 1×L token ids of a prompt, padded as Stable Diffusion was trained."""
    if not isinstance(prompt, str):
        raise InputError(f"prompt: expected a string, got {prompt!r}")
    length = tokenizer.model_max_length
    ids: torch.Tensor = tokenizer(
        prompt, padding="max_length", max_length=length, return_tensors="pt"
    ).input_ids
    if ids.shape[1] > length:
        raise InputError(f"prompt: expected at most {length} tokens, got {ids.shape[1]}")
    return ids


def _whole(name: str, value: int, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InputError(f"{name}: expected a whole number from {low} to {high}, got {value!r}")
    return value


def _checked_size(size: int, multiple: int) -> int:
    if not isinstance(size, int) or isinstance(size, bool) or size < multiple or size % multiple:
        raise InputError(f"size: expected a multiple of {multiple} pixels, got {size!r}")
    return size
