"""Toy checkpoints of the semantic experts: the real architectures, tiny, with random weights."""

from __future__ import annotations

import string
from pathlib import Path

__all__ = ["NAMES", "toy_semantic"]

_TIMM = {
    f"{family}-{size}": f"vit_{size}_{rest}"
    for family, rest in (("dinov2", "patch14_dinov2"), ("dinov3", "patch16_dinov3"))
    for size in ("small", "base", "large")
}
NAMES = (*_TIMM, "dift-sd21")


def toy_semantic(folder: Path, name: str) -> Path:
    """A folder that `load(name, weights=folder)` takes."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        if name in _TIMM:
            _timm(folder, _TIMM[name])
        elif name == "dift-sd21":
            _stable_diffusion(folder)
        else:
            raise KeyError(name)
    return folder


def _timm(folder: Path, architecture: str) -> None:
    """As timm itself saves a model for the hub."""
    import timm
    from timm.models import save_for_hf

    size = {"embed_dim": 32, "depth": 2, "num_heads": 2, "init_values": 1.0}
    model = timm.create_model(architecture, img_size=112, **size)
    save_for_hf(model, str(folder), safe_serialization=True)


def _stable_diffusion(folder: Path) -> None:
    """As diffusers itself saves a pipeline; 768 pixels are 24×24 latents, not 96×96."""
    from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel

    down, up = "CrossAttnDownBlock2D", "CrossAttnUpBlock2D"
    unet = UNet2DConditionModel(
        sample_size=24,
        block_out_channels=(8, 8, 16),
        down_block_types=(down, down, "DownBlock2D"),
        up_block_types=("UpBlock2D", up, up),
        layers_per_block=1,
        attention_head_dim=(1, 1, 2),
        cross_attention_dim=16,
        norm_num_groups=4,
        use_linear_projection=True,
        upcast_attention=True,
    )
    vae = AutoencoderKL(
        block_out_channels=(4,) * 6,
        down_block_types=("DownEncoderBlock2D",) * 6,
        up_block_types=("UpDecoderBlock2D",) * 6,
        norm_num_groups=2,
        scaling_factor=7.0,  # which gives its latents a spread of about 1, as trained ones have
    )
    scheduler = DDIMScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        prediction_type="v_prediction",
        clip_sample=False,
        set_alpha_to_one=False,
    )
    tokenizer = _tokenizer()
    encoder = CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    parts = {"unet": unet, "vae": vae, "scheduler": scheduler}
    for part, module in {**parts, "tokenizer": tokenizer, "text_encoder": encoder}.items():
        module.save_pretrained(folder / part)


def _tokenizer() -> object:
    """CLIP's tokenizer with one token a character; padded with `!`, as Stable Diffusion 2's is."""
    from transformers import CLIPTokenizer

    characters = string.ascii_lowercase + string.digits + "!"
    words = [*characters, *(f"{c}</w>" for c in characters), "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: index for index, word in enumerate(words)}
    return CLIPTokenizer(vocab=vocabulary, merges=[], pad_token="!", model_max_length=77)
