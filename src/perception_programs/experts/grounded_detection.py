"""Detectors that ground a text in a picture: LLMDet, MM-Grounding-DINO, Grounding DINO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import InputError, ToolError
from ..results import Detections
from ._candidates import Candidates, detections, settle
from ._detector import Detector
from ._prompts import check_labels, check_tokenizer, in_passes, phrase, spans
from ._weights import PathLike, named, pretrained
from .base import Card

if TYPE_CHECKING:
    import torch
    from PIL import Image

__all__ = ["GroundedDetection"]

_SLIMMEST = 40  # beyond this ratio of sides the model has fewer places than queries


class GroundedDetection(Detector):
    """Finds what labels in plain words ask for.

    The labels go into the prompt in small letters and without their dots, in as many prompts as the
    text encoder's length requires. A box's score for a label is the mean probability of the label's
    own tokens, as in these models' published evaluations; so a box has exactly one of the labels
    asked for, never a piece of one or two run together, and the score of the second-best is known.

    Args:
        card: which checkpoint.
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        dtype: `auto` (float16 on a GPU), `float32`, `float16` or `bfloat16`.
        weights: a folder with the checkpoint, in place of the hub.
        threshold: least score of a box; a call may say another.
        iou: boxes of one label that overlap more than this are one object, and so are boxes of
            different labels that stood in different prompts.

    Raises:
        InputError: an option out of range, or `weights` is no folder.
        WeightsError: the weights are not on this machine and cannot be had.
    """

    _COORDINATES = r"bbox_embed(\.\d+)?$"

    def __init__(
        self,
        *,
        card: Card,
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        threshold: float = 0.3,
        iou: float = 0.7,
    ) -> None:
        super().__init__(
            card=card,
            device=device,
            dtype=dtype,
            half="float16",
            weights=weights,
            threshold=threshold,
            iou=iou,
        )
        from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

        with named(card):
            place, local = self._source.place, self._source.local
            self._processor = AutoProcessor.from_pretrained(place, local_files_only=local)
            check_tokenizer(self._processor.tokenizer)
            model = pretrained(AutoModelForZeroShotObjectDetection, place, local_files_only=local)
        self._model = self._place(model)

    def _detect(
        self, picture: Image.Image, labels: Sequence[str] | None, threshold: float
    ) -> Detections:
        asked = check_labels(labels, phrase)
        if max(picture.size) > _SLIMMEST * min(picture.size):
            raise InputError(
                f"image: expected sides of a ratio up to {_SLIMMEST} to 1 for {self.card.name!r}, got "
                f"{picture.width}×{picture.height}; cut it into pieces"
            )
        phrases = list(asked)
        column = {text: number for number, text in enumerate(phrases)}
        parts = []
        for texts in self._passes(phrases):
            boxes, scores = self._scores(picture, texts)
            parts.append((boxes, scores, [column[text] for text in texts]))
        found = Candidates.of(parts, len(phrases))
        settled = settle(found, threshold=threshold, iou=self._iou, size=picture.size)
        return detections(settled, list(asked.values()), size=picture.size, threshold=threshold)

    def _passes(self, phrases: Sequence[str]) -> list[list[str]]:
        """The phrases in parts that the text encoder can take."""
        tokenizer = self._processor.tokenizer
        tokens = tokenizer(list(phrases), add_special_tokens=False)["input_ids"]
        longest = min(int(self._model.config.max_text_len), int(tokenizer.model_max_length))
        budget = longest - tokenizer.num_special_tokens_to_add()
        return in_passes(phrases, [len(ids) for ids in tokens], budget)

    def _scores(
        self, picture: Image.Image, texts: Sequence[str]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The boxes of all queries in source pixels (Q×4), and their score for each text (Q×K)."""
        import torch

        inputs = self._processor(images=picture, text=[list(texts)], return_tensors="pt")
        places = self._places(inputs["input_ids"][0].tolist(), texts)
        with self._running():
            outputs = self._model(**inputs.to(self._device))
            # All boxes, in the order of the queries; the words for them are found here, by place.
            (found,) = self._processor.post_process_grounded_object_detection(
                outputs,
                threshold=-1.0,
                text_threshold=1.0,
                target_sizes=[(picture.height, picture.width)],
            )
            tokens = outputs.logits[0].float().sigmoid()
            scores = torch.stack([tokens[:, place].mean(dim=1) for place in places], dim=1)
        return found["boxes"], scores

    def _places(self, tokens: Sequence[int], texts: Sequence[str]) -> list[list[int]]:
        """Where the tokens of each text stand in the prompt."""
        tokenizer = self._processor.tokenizer
        ends = {*tokenizer.all_special_ids, *_delimiters(tokenizer)} - {tokenizer.unk_token_id}
        places = spans(tokens, ends)
        if len(places) != len(texts):
            raise ToolError(
                f"expert {self.card.name!r}: expected {len(texts)} phrases in the prompt, got "
                f"{len(places)}; its tokenizer does not end a phrase at a dot"
            )
        return places


def _delimiters(tokenizer: Any) -> list[int]:
    """The tokens that end a phrase in these models."""
    return [int(token) for token in tokenizer.convert_tokens_to_ids([".", "?"])]
