"""Language models of real architectures at toy size, with random weights and tokenizers of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import ByteLevelBPETokenizer
from tokenizers.pre_tokenizers import ByteLevel

_DIM = 32
_PATCH = 8
_TILE = 32

_WORDS = """
<perceptionprogram> modality: depth granularity: patch grid: rows: cols: note: items:
  - {p: 11, c: [450, 150], r: 0.1234} </perceptionprogram>
Which of the points is closer to the camera? (A) A is closer (B) B is closer The answer is (A).
Look at the picture. First, second, third. user assistant system
"""

_TEMPLATE = """\
{% for turn in messages %}<|im_start|>{{ turn['role'] }}
{% if turn['content'] is string %}{{ turn['content'] }}{% else %}{% for part in turn['content'] %}\
{% if part['type'] == 'image' %}PICTURE{% else %}{{ part['text'] }}{% endif %}\
{% endfor %}{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

_TURNS = ["<|im_start|>", "<|im_end|>"]


def toy_qwen3_vl(folder: Path) -> Path:
    """A folder with a checkpoint like that of a Qwen3-VL; patches of 8 pixels, 2×2 of them a token."""
    marks = {
        "vision_start_token": "<|vision_start|>",
        "vision_end_token": "<|vision_end|>",
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
    }
    tokenizer = _tokenizer(marks)
    picture = "<|vision_start|><|image_pad|><|vision_end|>"
    patches = {"patch_size": _PATCH, "temporal_patch_size": 2, "merge_size": 2}
    size = {"shortest_edge": (2 * _PATCH) ** 2, "longest_edge": 128 * 128}
    processor = transformers.Qwen3VLProcessor(
        transformers.Qwen2VLImageProcessor(size=size, **patches),
        tokenizer,
        transformers.Qwen3VLVideoProcessor(size=size, **patches),
        chat_template=_TEMPLATE.replace("PICTURE", picture),
    )
    rope = {"rope_type": "default", "rope_theta": 10000.0}
    config = transformers.Qwen3VLConfig(
        text_config={
            **_text_config(tokenizer),
            "head_dim": 16,
            "rope_parameters": {**rope, "mrope_section": [4, 2, 2], "mrope_interleaved": True},
        },
        vision_config={
            "depth": 2,
            "hidden_size": _DIM,
            "intermediate_size": _DIM,
            "num_heads": 2,
            "patch_size": _PATCH,
            "out_hidden_size": _DIM,
            "num_position_embeddings": 16,
            "deepstack_visual_indexes": [0],
        },
        **{f"{name}_id": tokenizer.convert_tokens_to_ids(token) for name, token in marks.items()},
    )
    return _saved(folder, transformers.Qwen3VLForConditionalGeneration, config, processor)


def toy_internvl(folder: Path) -> Path:
    """A folder with a checkpoint like that of an InternVL3; tiles of 32 pixels, 4 tokens each."""
    marks = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    tokenizer = _tokenizer(marks)
    size = {"height": _TILE, "width": _TILE}
    processor = transformers.InternVLProcessor(
        transformers.GotOcr2ImageProcessor(size=size, max_patches=4),
        tokenizer,
        transformers.InternVLVideoProcessor(size=size),
        image_seq_length=4,
        chat_template=_TEMPLATE.replace("PICTURE", "<IMG_CONTEXT>\n"),
    )
    config = transformers.InternVLConfig(
        text_config={"model_type": "qwen2", **_text_config(tokenizer)},
        vision_config={
            "hidden_size": _DIM,
            "intermediate_size": _DIM,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": _TILE,
            "patch_size": _PATCH,
        },
        image_token_id=tokenizer.context_image_token_id,
        image_seq_length=4,
    )
    return _saved(folder, transformers.InternVLForConditionalGeneration, config, processor)


def toy_text_model(folder: Path) -> Path:
    """A folder with a checkpoint like that of a Qwen3, which reads text alone."""
    tokenizer = _tokenizer({})
    tokenizer.chat_template = _TEMPLATE
    config = transformers.Qwen3Config(head_dim=16, **_text_config(tokenizer))
    return _saved(folder, transformers.Qwen3ForCausalLM, config, tokenizer)


def _text_config(tokenizer: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": _DIM,
        "intermediate_size": 2 * _DIM,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "max_position_embeddings": 8192,
        "tie_word_embeddings": False,
    }


def _tokenizer(marks: dict[str, str]) -> Any:
    """Byte-level pairs learnt from a few lines, and the marks that a processor asks for."""
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        _WORDS.splitlines(), vocab_size=len(ByteLevel.alphabet()) + 150, show_progress=False
    )
    model = json.loads(trained.to_str())["model"]
    return transformers.Qwen2Tokenizer(
        vocab=model["vocab"],
        merges=[tuple(pair) for pair in model["merges"]],
        eos_token="<|im_end|>",
        additional_special_tokens=_TURNS,
        extra_special_tokens=marks,
    )


def _saved(folder: Path, model_class: Any, config: Any, processor: Any) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(10)
        model = model_class(config)
        for parameter in model.parameters():
            if parameter.ndim > 1:  # the default weights let prompt and picture fade
                torch.nn.init.normal_(parameter, std=parameter[0].numel() ** -0.5)
    tokenizer = getattr(processor, "tokenizer", processor)
    # As published checkpoints have them: sampling by default, which is to be overruled.
    model.generation_config = transformers.GenerationConfig(
        do_sample=True,
        temperature=0.7,
        top_k=20,
        top_p=0.8,
        eos_token_id=[tokenizer.eos_token_id],
        pad_token_id=tokenizer.pad_token_id,
    )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
