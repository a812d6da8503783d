"""Detection checkpoints of real architectures at toy size, with random weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel

CLASSES = ("cat", "dog", "traffic light")
"""What the toy detectors with a vocabulary of their own can find."""

_WORDS = [
    "a",
    "of",
    "photo",
    "car",
    "taxi",
    "van",
    "cat",
    "dog",
    "person",
    "traffic",
    "light",
    "bicycle",
    "st",
    "bernard",
    "red",
    "panda",
]
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_DIM = 32


def toy_detection(folder: Path, name: str) -> Path:
    """A folder with a checkpoint like that of the expert `name`; names of one architecture share it."""
    kind, build = next((kind, build) for kind, build in _BUILDERS if name.startswith(kind))
    place = folder / kind
    if not place.exists():
        with torch.random.fork_rng():
            torch.manual_seed(10)
            model, processor = build()
        model.save_pretrained(place)
        processor.save_pretrained(place)
    return place


def _mm_grounding_dino() -> tuple[Any, Any]:
    return _grounded(
        transformers.MMGroundingDinoConfig, transformers.MMGroundingDinoForObjectDetection
    )


def _grounding_dino() -> tuple[Any, Any]:
    return _grounded(transformers.GroundingDinoConfig, transformers.GroundingDinoForObjectDetection)


def _grounded(config_class: Any, model_class: Any) -> tuple[Any, Any]:
    config = config_class(
        backbone_config=transformers.SwinConfig(
            image_size=64,
            patch_size=4,
            embed_dim=16,
            depths=[1, 1, 1, 1],
            num_heads=[1, 2, 2, 4],
            window_size=4,
            out_indices=[2, 3, 4],
        ),
        text_config=transformers.BertConfig(
            vocab_size=1200,
            hidden_size=_DIM,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=_DIM,
        ),
        d_model=_DIM,
        num_queries=20,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=_DIM,
        decoder_ffn_dim=_DIM,
    )
    model = model_class(config)
    _enliven(model)
    images = transformers.GroundingDinoImageProcessor(
        size={"shortest_edge": 96, "longest_edge": 160}
    )
    return model, transformers.GroundingDinoProcessor(images, _bert_tokenizer())


def _owlv2() -> tuple[Any, Any]:
    tokenizer = _clip_tokenizer(16)
    config = transformers.Owlv2Config(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": _DIM,
            "intermediate_size": _DIM,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
        },
        vision_config={
            "hidden_size": _DIM,
            "intermediate_size": _DIM,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 64,
            "patch_size": 16,
        },
        projection_dim=_DIM,
    )
    model = transformers.Owlv2ForObjectDetection(config)
    _enliven(model)
    for layer in (model.class_head.logit_shift, model.class_head.logit_scale):
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    images = transformers.Owlv2ImageProcessor(size={"height": 64, "width": 64})
    return model, transformers.Owlv2Processor(images, tokenizer)


def _sam3() -> tuple[Any, Any]:
    tokenizer = _clip_tokenizer(32)
    small = {"hidden_size": _DIM, "num_attention_heads": 2}
    layered = {**small, "num_layers": 1, "intermediate_size": _DIM}
    config = transformers.Sam3Config(
        vision_config={
            "backbone_config": {
                "model_type": "sam3_vit_model",
                **small,
                "intermediate_size": _DIM,
                "num_hidden_layers": 2,
                "image_size": 112,
                "pretrain_image_size": 56,
                "window_size": 4,
                "global_attn_indexes": [1],
            },
            "fpn_hidden_size": _DIM,
            "backbone_feature_sizes": [[32, 32], [16, 16], [8, 8]],
        },
        text_config={
            "model_type": "clip_text_model",
            "vocab_size": len(tokenizer),
            "hidden_size": _DIM,
            "intermediate_size": _DIM,
            "projection_dim": _DIM,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "max_position_embeddings": 32,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
        },
        geometry_encoder_config=layered,
        detr_encoder_config=layered,
        detr_decoder_config={**layered, "num_queries": 20},
        mask_decoder_config=small,
    )
    model = transformers.Sam3Model(config)
    _enliven(model)
    images = transformers.Sam3ImageProcessor(size={"height": 112, "width": 112})
    return model, transformers.Sam3Processor(images, tokenizer)


def _closed() -> dict[str, Any]:
    """What the configurations of both closed detectors share."""
    return {
        "id2label": dict(enumerate(CLASSES)),
        "label2id": {name: number for number, name in enumerate(CLASSES)},
        "encoder_hidden_dim": _DIM,
        "encoder_ffn_dim": _DIM,
        "encoder_attention_heads": 2,
        "d_model": _DIM,
        "num_queries": 20,
        "decoder_in_channels": [_DIM] * 3,
        "decoder_ffn_dim": _DIM,
        "decoder_layers": 2,
        "decoder_attention_heads": 2,
        "initializer_bias_prior_prob": 0.5,
    }


def _rt_detr() -> tuple[Any, Any]:
    config = transformers.RTDetrV2Config(
        backbone_config=transformers.RTDetrResNetConfig(
            embedding_size=8,
            hidden_sizes=[8, 16, 16, 16],
            depths=[1, 1, 1, 1],
            layer_type="basic",
            out_indices=[2, 3, 4],
        ),
        encoder_in_channels=[16, 16, 16],
        **_closed(),
    )
    model = transformers.RTDetrV2ForObjectDetection(config)
    _enliven(model)
    return model, transformers.RTDetrImageProcessor(size={"height": 64, "width": 64})


def _d_fine() -> tuple[Any, Any]:
    config = transformers.DFineConfig(
        backbone_config=transformers.HGNetV2Config(
            depths=[1, 1, 1, 1],
            hidden_sizes=[8, 16, 16, 16],
            stem_channels=[3, 8, 8],
            stage_in_channels=[8, 8, 16, 16],
            stage_mid_channels=[8, 8, 8, 8],
            stage_out_channels=[8, 16, 16, 16],
            stage_num_blocks=[1, 1, 1, 1],
            stage_numb_of_layers=[1, 1, 1, 1],
            out_indices=[2, 3, 4],
        ),
        encoder_in_channels=[16, 16, 16],
        lqe_hidden_dim=8,
        depth_mult=0.34,
        **_closed(),
    )
    model = transformers.DFineForObjectDetection(config)
    _enliven(model)
    return model, transformers.RTDetrImageProcessor(size={"height": 64, "width": 64})


def _enliven(model: Any) -> None:
    """Weights that carry the picture to the heads; the default ones let it fade in a small network."""
    for name, weight in model.named_parameters():
        if "token_embedding" in name or "word_embedding" in name:
            torch.nn.init.normal_(weight)
        elif weight.ndim > 1 and "sampling_offsets" not in name:
            torch.nn.init.normal_(weight, std=weight[0].numel() ** -0.5)
        elif "bbox_embed" in name or "class_embed" in name:
            torch.nn.init.zeros_(weight)


def _bert_tokenizer() -> Any:
    """The marks stand where BERT has them: the models know these numbers by heart."""
    tokens = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
    tokens |= {".": 1012, "?": 1029, ",": 1010}
    words = [*_WORDS, *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
    free = iter(sorted(set(range(1200)) - set(tokens.values()), reverse=True))
    tokens |= {word: next(free) for word in dict.fromkeys(words)}
    tokens |= {f"[unused{number}]": number for number in free}
    return transformers.BertTokenizer(vocab=tokens, model_max_length=512)


def _clip_tokenizer(length: int) -> Any:
    """Bytes, each also as the end of a word, and merges that make one token of each common word."""
    letters = sorted(ByteLevel.alphabet())
    tokens = ["!", *letters, *(f"{letter}</w>" for letter in letters)]
    merges = []
    for word in _WORDS:
        start, *rest = [*word[:-1], f"{word[-1]}</w>"]
        for letter in rest:
            merges.append((start, letter))
            start += letter
            tokens.append(start)
    tokens = [*dict.fromkeys(tokens), "<|startoftext|>", "<|endoftext|>"]
    return transformers.CLIPTokenizer(
        vocab={token: number for number, token in enumerate(tokens)},
        merges=list(dict.fromkeys(merges)),
        model_max_length=length,
    )


_BUILDERS: tuple[tuple[str, Callable[[], tuple[Any, Any]]], ...] = (
    ("llmdet", _mm_grounding_dino),
    ("mm-grounding-dino", _mm_grounding_dino),
    ("grounding-dino", _grounding_dino),
    ("owlv2", _owlv2),
    ("sam3", _sam3),
    ("rt-detr-v2", _rt_detr),
    ("d-fine", _d_fine),
)
"""How the names of each architecture start."""
