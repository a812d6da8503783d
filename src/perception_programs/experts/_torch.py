"""Where and in which number type a model runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    import torch

__all__ = ["choose_device", "choose_dtype"]

_DTYPES = ("float32", "float16", "bfloat16")


def choose_device(device: str) -> torch.device:
    """The device that a name means: `auto` is CUDA, else Apple's MPS, else the CPU.

    Raises:
        InputError: no such device, or it is not there.
    """
    import torch

    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError):
        raise InputError(
            f"device: expected auto, cpu, cuda, cuda:N or mps, got {device!r}"
        ) from None
    if chosen.type not in ("cpu", "cuda", "mps"):
        raise InputError(f"device: expected auto, cpu, cuda, cuda:N or mps, got {device!r}")
    missing = (chosen.type == "cuda" and not torch.cuda.is_available()) or (
        chosen.type == "mps" and not torch.backends.mps.is_available()
    )
    if missing or (chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count()):
        raise InputError(f"device: expected one that is there, got {device!r}")
    return chosen


def choose_dtype(dtype: str, device: torch.device, half: str | None = "float16") -> torch.dtype:
    """The number type that a name means.

    Args:
        dtype: `auto`, `float32`, `float16` or `bfloat16`.
        device: where the model runs; `auto` is single precision on a CPU, where half is slow.
        half: the half type that the model bears, or None when it bears neither.

    Raises:
        InputError: another name.
    """
    import torch

    if dtype == "auto":
        dtype = "float32" if half is None or device.type == "cpu" else half
    if dtype not in _DTYPES:
        raise InputError(f"dtype: expected auto, {', '.join(_DTYPES)}, got {dtype!r}")
    chosen: torch.dtype = getattr(torch, dtype)
    return chosen
