"""Where a model's weights are: given, cached, or to be downloaded; and what to say when nowhere.

Nothing here touches the network when the weights are on this machine.
"""

from __future__ import annotations

import os
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._arrays import describe
from ..errors import InputError, WeightsError
from . import catalogue
from .base import Card

__all__ = [
    "WEIGHT_FILES",
    "Source",
    "cached_revision",
    "check_obtainable",
    "hub_file",
    "hub_source",
    "is_cached",
    "is_present",
    "named",
    "pretrained",
    "reachable",
    "url_file",
]

WEIGHT_FILES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
"""Names that a transformers checkpoint may have; one of them is there."""

_UNUSED = 0.05  # share of tensors that a good checkpoint may lack
_PATIENCE = 3.0  # seconds to find out whether a host answers at all

PathLike = str | os.PathLike[str] | None


@dataclass(frozen=True)
class Source:
    """What to pass to `from_pretrained`.

    Attributes:
        place: a local folder, or a repository of the hub.
        local: whether everything is on this machine, so that the network must not be asked.
    """

    place: str
    local: bool


def hub_source(card: Card, weights: PathLike, files: Sequence[str] = WEIGHT_FILES) -> Source:
    """Where a checkpoint of the hub is to be loaded from.

    Args:
        card: whose `checkpoint` names the repository.
        weights: a folder that takes its place, or None.
        files: any one of these in the cache means that the weights are there.

    Raises:
        InputError: `weights` is no folder.
        WeightsError: they are not on this machine and the hub cannot be reached.
    """
    if weights is not None:
        if not isinstance(weights, (str, os.PathLike)) or not os.fspath(weights):
            raise InputError(f"weights: expected a folder, got {describe(weights)}")
        folder = Path(weights)
        if not folder.is_dir():
            raise InputError(f"weights: expected a folder, got {os.fspath(weights)!r}")
        return Source(str(folder), local=True)
    repository = str(card.checkpoint)
    if is_cached(repository, files):
        return Source(repository, local=True)
    _check_hub(card)
    return Source(repository, local=False)


def hub_file(card: Card, name: str, weights: PathLike) -> Path:
    """One file of the hub repository that `card.checkpoint` names, downloaded if need be.

    `weights` is the file itself, or a folder with a file of that name.
    """
    if weights is not None:
        return _given(weights, name)
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    repository = str(card.checkpoint)
    cached = try_to_load_from_cache(repository, name)
    if isinstance(cached, str):
        return Path(cached)
    _check_hub(card)
    with named(card):
        return Path(hf_hub_download(repository, name))


def url_file(card: Card, url: str, weights: PathLike) -> Path:
    """A file that PyTorch's hub keeps, downloaded if need be; `weights` as in `hub_file`."""
    name = url.rpartition("/")[2]
    if weights is not None:
        return _given(weights, name)
    import torch

    folder = _torch_folder()
    if not (folder / name).is_file():
        _check_reachable(card, url, str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        with named(card):
            # PyTorch's names end in the beginning of the file's digest, which it then checks.
            digest = name.rpartition(".")[0].rpartition("-")[2]
            torch.hub.download_url_to_file(url, str(folder / name), hash_prefix=digest)
    return folder / name


def is_cached(repository: str, files: Sequence[str] = WEIGHT_FILES) -> bool:
    """Whether the hub's cache on this machine has one of `files` of the repository."""
    from huggingface_hub import try_to_load_from_cache

    return any(isinstance(try_to_load_from_cache(repository, file), str) for file in files)


def check_obtainable(card: Card) -> None:
    """Make sure, without importing a model library, that an expert's weights are here or can be had.

    Raises:
        WeightsError: they are not on this machine, and where they come from cannot be reached.
    """
    if is_present(card):
        return
    if "://" in str(card.checkpoint):
        _check_reachable(card, str(card.checkpoint), str(_torch_folder()))
    else:
        _check_hub(card)


def is_present(card: Card) -> bool:
    """Whether some weights of an expert are in the caches of this machine."""
    from huggingface_hub import constants

    place = str(card.checkpoint)
    if "://" in place:
        return (_torch_folder() / place.rpartition("/")[2]).is_file()
    snapshots = Path(constants.HF_HUB_CACHE) / f"models--{place.replace('/', '--')}" / "snapshots"
    suffixes = {".safetensors", ".bin", ".pth", ".ckpt", ".pt"}
    return any(path.suffix in suffixes for path in snapshots.rglob("*"))


def cached_revision(repository: str | None) -> str | None:
    """The commit of a hub repository that the cache on this machine has as its main one, or None."""
    if repository is None:
        return None
    from huggingface_hub import constants

    name = f"models--{repository.replace('/', '--')}"
    reference = Path(constants.HF_HUB_CACHE) / name / "refs" / "main"
    return reference.read_text(encoding="utf-8").strip() if reference.is_file() else None


def pretrained(loader: Any, place: str, **options: Any) -> Any:
    """A model of transformers or diffusers, refused when much of it was not in the checkpoint.

    Those libraries fill what is missing with random numbers and go on. A few tensors may be absent
    from published checkpoints because the network never uses them; a twentieth of all may not.

    Raises:
        ValueError: more than that is missing, or has another shape.
    """
    model, info = loader.from_pretrained(place, output_loading_info=True, **options)
    missing, mismatched = (
        [str(key) for key in info[name]] for name in ("missing_keys", "mismatched_keys")
    )
    total = len(model.state_dict())
    if mismatched or len(missing) > _UNUSED * total:
        example = sorted(mismatched or missing)[0]
        raise ValueError(
            f"{len(missing) + len(mismatched)} of its {total} tensors are missing or of another shape, "
            f"{example} among them"
        )
    return model


@contextmanager
def named(card: Card) -> Iterator[None]:
    """Turn what loading may raise into a `WeightsError` that says which weights and what to do.

    Libraries raise many kinds for a folder that lacks a file, a download that stops, a repository
    behind a licence.
    """
    try:
        yield
    except (InputError, WeightsError, ImportError, MemoryError):
        raise
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise _error(card, f"cannot be loaded: {reason}") from error


def _torch_folder() -> Path:
    """Where PyTorch's hub keeps files; as `torch.hub.get_dir` has it, which may not be imported yet."""
    if "torch" in sys.modules:
        return Path(sys.modules["torch"].hub.get_dir()) / "checkpoints"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = os.environ.get("TORCH_HOME") or Path(cache) / "torch"
    return Path(home) / "hub" / "checkpoints"


def _given(weights: str | os.PathLike[str], name: str) -> Path:
    path = Path(weights)
    if path.is_dir():
        path = path / name
    if not path.is_file():
        raise InputError(
            f"weights: expected a file, or a folder with {name!r}, got {describe(os.fspath(weights))}"
        )
    return path


def _check_hub(card: Card) -> None:
    from huggingface_hub import constants

    cache = str(constants.HF_HUB_CACHE)
    if constants.HF_HUB_OFFLINE:
        raise _error(card, "are not on this machine, and HF_HUB_OFFLINE is set", cache)
    _check_reachable(card, constants.ENDPOINT, cache)


def _check_reachable(card: Card, url: str, cache: str) -> None:
    if not reachable(url):
        host = url.split("/")[2]
        raise _error(card, f"are not on this machine, and {host} cannot be reached", cache)


def reachable(url: str) -> bool:
    """Whether a host answers, within seconds: the libraries' own retries take the better part of a minute."""
    answers: list[bool] = []
    # In a thread, because looking up a name has no time limit of its own.
    asking = threading.Thread(target=lambda: answers.append(_answers(url)), daemon=True)
    asking.start()
    asking.join(_PATIENCE + 0.5)
    return any(answers)


def _answers(url: str) -> bool:
    try:
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=_PATIENCE):
            return True
    except urllib.error.HTTPError:
        return True  # an answer, if not a friendly one
    except (OSError, ValueError):
        return False


def _error(card: Card, what: str, cache: str | None = None) -> WeightsError:
    size = ", size unknown" if card.megabytes is None else f", {card.megabytes:,} MB"
    kept = "" if cache is None else f", or put it into the cache at {cache}"
    return WeightsError(
        f"expert {card.name!r}: its weights ({card.checkpoint}{size}) {what}. "
        f"Download {card.checkpoint} where there is a connection and pass weights=FOLDER{kept}. "
        f"{_instead(card)}"
    )


def _instead(card: Card) -> str:
    names = [
        name
        for name, entry in catalogue.entries(card.modality).items()
        if entry.installed and not entry.needs_download
    ]
    if names:
        return f"Without a download, {card.modality} is read by {', '.join(map(repr, names))}."
    return (
        f"No expert reads {card.modality} without a download; a result of your own tool can be "
        f"passed to {card.modality}_program."
    )
