"""Depth checkpoints of real architectures at toy size, with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

_IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}


def toy_depth(folder: Path, name: str) -> Path:
    """A folder with a checkpoint like that of the expert `name`."""
    place = folder / name
    with torch.random.fork_rng():
        torch.manual_seed(len(name))
        model, processor = _build(name)
    model.save_pretrained(place)
    processor.save_pretrained(place)
    return place


def _build(name: str) -> tuple[Any, Any]:
    if name == "depth-pro":
        return _depth_pro()
    if name == "zoedepth-nyu-kitti":
        return _zoedepth()
    if name == "dpt-large":
        return _dpt()
    kind = "metric" if "metric" in name else "relative"
    return depth_anything(kind, 80 if "outdoor" in name else 20 if "indoor" in name else 1)


def depth_anything(kind: str, max_depth: int = 1) -> tuple[Any, Any]:
    """A Depth Anything whose configuration says `kind`, and its processor."""
    backbone = transformers.Dinov2Config(
        image_size=98,
        patch_size=14,
        hidden_size=24,
        num_hidden_layers=4,
        num_attention_heads=2,
        mlp_ratio=2,
        out_indices=[1, 2, 3, 4],
        reshape_hidden_states=False,
    )
    config = transformers.DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=24,
        neck_hidden_sizes=[8, 12, 16, 16],
        fusion_hidden_size=16,
        head_hidden_size=8,
        depth_estimation_type=kind,
        max_depth=max_depth,
    )
    model = transformers.DepthAnythingForDepthEstimation(config)
    _enliven(model)
    # The last layer ends in a ReLU, which would else cut most of a random map to 0.
    torch.nn.init.constant_(model.head.conv3.bias, 0.5)
    processor = transformers.DPTImageProcessor(
        size={"height": 98, "width": 98},
        keep_aspect_ratio=True,
        ensure_multiple_of=14,
        resample=3,
        **_IMAGENET,
    )
    return model, processor


def _depth_pro() -> tuple[Any, Any]:
    encoder = {
        "model_type": "dinov2",
        "image_size": 16,
        "patch_size": 4,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "mlp_ratio": 2,
        "use_mask_token": False,
    }
    config = transformers.DepthProConfig(
        fusion_hidden_size=16,
        patch_size=16,
        intermediate_hook_ids=[1, 0],
        intermediate_feature_dims=[8, 8],
        scaled_images_ratios=[0.25, 0.5, 1],
        scaled_images_overlap_ratios=[0.0, 0.5, 0.25],
        scaled_images_feature_dims=[16, 16, 8],
        merge_padding_value=1,
        use_fov_model=True,
        num_fov_head_layers=2,
        image_model_config=dict(encoder),
        patch_model_config=dict(encoder),
        fov_model_config=dict(encoder),
    )
    model = transformers.DepthProForDepthEstimation(config)
    _enliven(model)
    torch.nn.init.constant_(model.head.layers[-2].bias, 0.5)
    torch.nn.init.constant_(model.fov_model.head.layers[-1].bias, 50.0)  # degrees
    processor = transformers.DepthProImageProcessor(
        size={"height": 64, "width": 64}, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
    return model, processor


def _zoedepth() -> tuple[Any, Any]:
    backbone = transformers.BeitConfig(
        image_size=64,
        patch_size=16,
        hidden_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=32,
        use_relative_position_bias=True,
        reshape_hidden_states=False,
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )
    config = transformers.ZoeDepthConfig(
        backbone_config=backbone,
        neck_hidden_sizes=[8, 12, 16, 16],
        fusion_hidden_size=16,
        bottleneck_features=16,
        num_relative_features=8,
        bin_embedding_dim=16,
        num_attractors=[8, 4, 2, 1],
        bin_configurations=[
            {"name": "nyu", "n_bins": 16, "min_depth": 0.001, "max_depth": 10.0},
            {"name": "kitti", "n_bins": 16, "min_depth": 0.001, "max_depth": 80.0},
        ],
        num_patch_transformer_layers=4,
        patch_transformer_hidden_size=128,  # the network assumes it
        patch_transformer_intermediate_size=32,
        patch_transformer_num_attention_heads=2,
    )
    model = transformers.ZoeDepthForDepthEstimation(config)
    _enliven(model)
    processor = transformers.ZoeDepthImageProcessor(
        size={"height": 64, "width": 96}, ensure_multiple_of=32
    )
    return model, processor


def _dpt() -> tuple[Any, Any]:
    config = transformers.DPTConfig(
        hidden_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=64,
        patch_size=16,
        backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 12, 16, 16],
        fusion_hidden_size=16,
    )
    model = transformers.DPTForDepthEstimation(config)
    _enliven(model)
    torch.nn.init.constant_(model.head.head[-2].bias, 0.5)
    processor = transformers.DPTImageProcessor(
        size={"height": 64, "width": 64}, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
    return model, processor


def _enliven(model: torch.nn.Module) -> None:
    """Weights large enough that the output depends on the picture, not on the biases alone."""
    for parameter in model.parameters():
        if parameter.ndim > 1:
            fan_in = parameter[0].numel()
            torch.nn.init.normal_(parameter, std=fan_in**-0.5)
