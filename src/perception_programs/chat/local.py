"""Language models that run here, through transformers: with pictures, or with text alone.

Any model that its auto classes know and that comes with a chat template works; which one it is, its
own configuration says.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import importlib.util
import inspect
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._plain import check_count, plain_number
from ..errors import InputError, MissingExtraError, install_command
from ..images import to_pil
from ._images import shrunk
from .messages import Message, Part, Picture, Text
from .model import ChatError, Reply, Usage, checked_temperature

if TYPE_CHECKING:
    from PIL import Image

    from ..experts._weights import Source

__all__ = ["LocalModel"]


class LocalModel:
    """A model of transformers, loaded once; it answers one conversation at a time.

    Answers are greedy unless a temperature is given. With one, tokens are drawn from the whole
    distribution at that temperature (the checkpoint's own `top_p` and `top_k` are not used), with
    random numbers that follow from `seed` and the prompt: the same question gets the same answer,
    whatever is asked besides it. What a reasoning model writes between `<think>` and `</think>` stays
    in the answer. Text that looks like one of the model's control tokens is read as plain text, from
    the version of transformers on that can do so.

    Args:
        place: a folder with a checkpoint, or a name on the hub (`Qwen/Qwen3-VL-4B-Instruct`).
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        dtype: `auto` (bfloat16, on a CPU float32), `float32`, `float16` or `bfloat16`.
        max_tokens: the longest answer.
        temperature: None or 0 for greedy answers.
        seed: of the random numbers that a temperature needs.
        long_side: pixels; larger pictures are scaled down to it. The model's processor may scale them
            further. None leaves them as they are.

    Raises:
        InputError: an option that does not fit, or a model that takes no conversations.
        MissingExtraError: the extra `models` is not installed.
        WeightsError: the checkpoint cannot be had or read.
    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        device: str = "auto",
        dtype: str = "auto",
        max_tokens: int = 1024,
        temperature: float | None = None,
        seed: int = 0,
        long_side: int | None = None,
    ) -> None:
        self._max_tokens = check_count(max_tokens, "max_tokens")
        self._long_side = None if long_side is None else check_count(long_side, "long_side")
        self._temperature = checked_temperature(temperature) or None
        self._seed = int(plain_number(seed, "seed"))
        for library in ("torch", "transformers"):
            if importlib.util.find_spec(library) is None:
                raise MissingExtraError(
                    f"a local model needs {library}: {install_command('models')}"
                )
        from ..experts._torch import choose_device, choose_dtype
        from ._checkpoint import identity, locate, named

        self._device = choose_device(device)
        self._dtype = choose_dtype(dtype, self._device, "bfloat16")
        source = locate(place)
        folder = Path(source.place)
        self.name = folder.resolve().name if folder.is_dir() else source.place
        self._network: Any = None
        with named(source.place):
            self._load(source)
        self._identity = identity(source)
        # One worker, so that concurrent answers queue without holding threads that others need.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="local-model")

    def settings(self) -> Mapping[str, Any]:
        """Everything that decides its answers, save the kind of machine.

        A checkpoint in a folder is told by a digest of its files, not by where it lies: small files
        whole, large ones by their size and by blocks taken all over them.
        """
        from transformers import __version__

        sampled = self._temperature is not None
        return {
            "kind": "local",
            **self._identity,
            "dtype": str(self._dtype).removeprefix("torch."),
            "max_tokens": self._max_tokens,
            "temperature": self._temperature,
            "seed": self._seed if sampled else None,
            "long_side": self._long_side,
            "transformers": __version__,
        }

    async def answer(self, messages: Sequence[Message]) -> Reply:
        """Its answer to a conversation; `finish` is `length` when it was cut at `max_tokens`.

        Raises:
            InputError: a picture that cannot be read, or one for a model that reads text alone.
            ChatError: the model failed, or the conversation is longer than it can read; never
                transient, since it would fail again.
        """
        if self._network is None:
            raise ChatError(f"{self.name} was closed", transient=False)
        abandoned = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._worker, self._answer, tuple(messages), abandoned
            )
        finally:  # one that nobody waits for any more stops at its next token
            abandoned.set()

    async def close(self) -> None:
        """Give back the memory."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        self._network = None

    def _load(self, source: Source) -> None:
        import transformers

        from ..experts._weights import pretrained

        # Without the last, transformers asks on the terminal whether a folder's code may run.
        common = {"local_files_only": source.local, "trust_remote_code": False}
        config = transformers.AutoConfig.from_pretrained(source.place, **common)
        self._sees = type(config) in transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        if self._sees:
            reader, loader = transformers.AutoProcessor, transformers.AutoModelForImageTextToText
        else:
            reader, loader = transformers.AutoTokenizer, transformers.AutoModelForCausalLM
        self._reader = reader.from_pretrained(source.place, **common)
        self._tokenizer = self._reader.tokenizer if self._sees else self._reader
        if not self._reader.chat_template:
            raise InputError(f"model: expected one with a chat template, {self.name!r} has none")
        model = pretrained(loader, source.place, config=config, dtype=self._dtype, **common)
        self._network = model.to(self._device).eval()
        text = config.get_text_config()
        if 2 * len(self._tokenizer) < text.vocab_size:  # transformers makes up what is not there
            raise ValueError(
                f"its tokenizer has {len(self._tokenizer):,} tokens of {text.vocab_size:,}"
            )
        self._longest: int | None = getattr(text, "max_position_embeddings", None)
        # The model's own too, from which `generate` would take what is None in the one it is given.
        model.generation_config = self._generation = self._generation_config(model)
        template = inspect.signature(self._reader.apply_chat_template).parameters
        # Labels come from other models and from pictures: none shall end a turn or stand for a picture.
        marks = "sanitize_control_tokens"
        self._template_options = {marks: True} if marks in template else {}

    def _generation_config(self, model: Any) -> Any:
        """The checkpoint's own, with everything off that would sample or search."""
        config = copy.deepcopy(model.generation_config)
        config.update(  # at once: it warns of a temperature without sampling
            **{"do_sample": False, "num_beams": 1, "max_length": None},
            **dict.fromkeys(("temperature", "top_p", "top_k", "min_p", "typical_p")),
        )
        ends = config.eos_token_id
        if ends is None:
            ends = config.eos_token_id = self._tokenizer.eos_token_id
        self._ends = frozenset(ends if isinstance(ends, (list, tuple)) else [ends])
        if config.pad_token_id is None:  # never written, since conversations are read one by one
            config.pad_token_id = next(iter(self._ends))
        return config

    def _answer(self, messages: Sequence[Message], abandoned: threading.Event) -> Reply:
        import torch

        network = self._network
        try:
            inputs = self._inputs(messages)
            length = inputs["input_ids"].shape[1]
            room = self._room(length)
            with torch.inference_mode():
                found = self._generate(network, inputs, room, abandoned)
            written = found[0, length:].tolist()
        except (InputError, ChatError):
            raise
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            raise ChatError(
                f"{self.name} ran out of memory; a smaller long_side or max_tokens takes less: {error}",
                transient=False,
            ) from error
        except Exception as error:  # templates, processors and networks raise of every kind
            raise ChatError(
                f"{self.name} gave no answer: {type(error).__name__}: {error}", transient=False
            ) from error
        return Reply(
            text=self._tokenizer.decode(written, skip_special_tokens=True),
            usage=Usage(prompt_tokens=length, completion_tokens=len(written)),
            model=self.name,
            finish="stop" if written and written[-1] in self._ends else "length",
        )

    def _inputs(self, messages: Sequence[Message]) -> Any:
        """What the network is given, on its device."""
        if not self._sees and any(message.pictures for message in messages):
            raise InputError(
                f"messages: {self.name!r} reads text alone, but a message has pictures"
            )
        inputs = self._reader.apply_chat_template(
            [self._turn(message) for message in messages],
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
            **self._template_options,
        )
        if self._sees:
            return inputs.to(self._device, dtype=self._dtype)  # of pixels; ids keep theirs
        return inputs.to(self._device)

    def _turn(self, message: Message) -> dict[str, Any]:
        """A message as chat templates take it.

        Texts that follow each other become one: some templates read only the first of a system turn.
        """
        if not self._sees:
            return {"role": message.role, "content": message.text}
        content: list[dict[str, Any]] = []
        for is_text, parts in groupby(message.parts, lambda part: isinstance(part, Text)):
            if is_text:
                content.append({"type": "text", "text": _joined(parts)})
            else:
                content.extend({"type": "image", "image": self._picture(part)} for part in parts)
        return {"role": message.role, "content": content}

    def _picture(self, part: Part) -> Image.Image:
        assert isinstance(part, Picture)
        try:
            return shrunk(to_pil(part.image), self._long_side)
        except InputError as error:
            raise InputError(f"{part.name}: {error}" if part.name else str(error)) from error

    def _room(self, length: int) -> int:
        """How many tokens may be written after a prompt of so many."""
        if self._longest is None:
            return self._max_tokens
        if length >= self._longest:
            raise ChatError(
                f"{self.name} reads {self._longest:,} tokens at most, but the conversation has "
                f"{length:,}",
                transient=False,
            )
        return min(self._max_tokens, self._longest - length)

    def _generate(self, network: Any, inputs: Any, room: int, abandoned: threading.Event) -> Any:
        """The ids of prompt and answer, 1×N."""
        import torch

        config = copy.deepcopy(self._generation)
        config.max_new_tokens = room

        def stopped(ids: Any, _: Any, **__: Any) -> Any:
            return torch.full((len(ids),), abandoned.is_set(), device=ids.device)

        return network.generate(
            **inputs,
            generation_config=config,
            stopping_criteria=[stopped],
            logits_processor=[self._drawn(inputs["input_ids"])] if self._temperature else [],
        )

    def _drawn(self, ids: Any) -> Any:
        """Noise on the scores whose largest one is a draw from their softmax (the Gumbel-max trick).

        transformers draws with torch's global generator, which every thread shares; this one is the
        answer's own.
        """
        import torch

        state = hashlib.sha256(f"{self._seed} {ids.tolist()}".encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(state[:7], "big"))

        def draw(_: Any, scores: Any) -> Any:
            noise = torch.empty(scores.shape).exponential_(generator=generator).log_()
            return scores / self._temperature - noise.to(scores.device)

        return draw


def _joined(parts: Iterator[Part]) -> str:
    return Message("user", tuple(parts)).text
