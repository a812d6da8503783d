"""Toy checkpoints of the learned matchers: the real architectures, few channels, random weights.

Each finds matches in a textured picture and itself, so that what comes after the network has work.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import torch

NAMES = ("disk-lightglue", "efficientloftr", "loftr-outdoor", "loftr-indoor")


def toy_matching(folder: Path, name: str) -> Path:
    """A folder with a small random checkpoint of the expert `name`."""
    folder.mkdir(parents=True, exist_ok=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if name == "disk-lightglue":
            _disk_lightglue(folder)
        elif name == "efficientloftr":
            _efficient_loftr(folder)
        else:
            _loftr(folder, name.removeprefix("loftr-"))
    return folder


def _disk_lightglue(folder: Path) -> None:
    from kornia.feature import DISK, LightGlue
    from kornia.feature.disk.disk import Unet

    from perception_programs.experts.disk_lightglue import DISK_FILE, LIGHTGLUE_FILE

    unet = Unet(in_features=3, size=3, down=[4, 4, 4, 4, 4], up=[4, 4, 8, 17])
    torch.save({"extractor": DISK(desc_dim=16, unet=unet).state_dict()}, folder / DISK_FILE)
    matcher = LightGlue(features=None, input_dim=16, descriptor_dim=32, num_heads=4, n_layers=2)
    with torch.no_grad():
        for head in matcher.log_assignment:  # sharp, and sure that most points have a partner
            head.final_proj.weight *= 40
            head.matchability.bias += 4
    names = {}
    for key, value in matcher.state_dict().items():  # the names of the published file
        part, _, rest = key.removeprefix("transformers.").partition(".")
        block, _, rest = rest.partition(".")
        names[f"{block}.{part}.{rest}" if key.startswith("transformers.") else key] = value
    del names["confidence_thresholds"]
    torch.save(names, folder / LIGHTGLUE_FILE)


def _loftr(folder: Path, variant: str) -> None:
    from kornia.feature import LoFTR
    from kornia.feature.loftr.loftr import default_cfg

    from perception_programs.experts.loftr import FILES

    config: dict[str, Any] = copy.deepcopy(default_cfg)
    config["resnetfpn"] = {"initial_dim": 16, "block_dims": [16, 16, 32]}
    config["coarse"] |= {"d_model": 32, "d_ffn": 32, "nhead": 4, "layer_names": ["self", "cross"]}
    config["coarse"]["temp_bug_fix"] = variant == "indoor"
    config["fine"] |= {"d_model": 16, "d_ffn": 16, "nhead": 4}
    config["match_coarse"]["dsmax_temperature"] = 0.01
    network = LoFTR(pretrained=None, config=config)
    state = {f"matcher.{key}": value for key, value in network.state_dict().items()}
    torch.save({"state_dict": state, "config": config}, folder / FILES[variant])


def _efficient_loftr(folder: Path) -> None:
    from transformers import (
        EfficientLoFTRConfig,
        EfficientLoFTRForKeypointMatching,
        EfficientLoFTRImageProcessor,
    )

    config = EfficientLoFTRConfig(
        stage_num_blocks=[1, 1, 1, 1],
        out_features=[16, 16, 16, 32],
        hidden_size=32,
        num_attention_layers=1,
        num_attention_heads=8,
        coarse_matching_temperature=0.001,
    )
    network = EfficientLoFTRForKeypointMatching(config)
    for module in network.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = None  # keep the statistics of what it sees next
    with torch.no_grad():  # features of unlike cells are alike until they are centred
        network.train().efficientloftr(torch.rand(1, 2, 3, 96, 128))
    network.eval().save_pretrained(folder)
    EfficientLoFTRImageProcessor(size={"height": 96, "width": 128}).save_pretrained(folder)
