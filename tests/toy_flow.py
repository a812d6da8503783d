"""RAFT in its real architecture, with random weights."""

from __future__ import annotations

from pathlib import Path

import torch
from torchvision.models import optical_flow


def toy_flow(folder: Path, name: str) -> Path:
    """A folder with a weights file like that of the expert `name`, under the name torchvision gives it."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    if name == "raft-large":
        build, known = optical_flow.raft_large, optical_flow.Raft_Large_Weights.C_T_SKHT_V2
    else:
        build, known = optical_flow.raft_small, optical_flow.Raft_Small_Weights.C_T_V2
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = build(weights=None, progress=False)
    torch.save(model.state_dict(), place / known.url.rpartition("/")[2])
    return place
