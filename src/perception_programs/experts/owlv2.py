"""OWLv2: a detector that compares each place of a picture with each label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._arrays import describe
from ..errors import InputError
from ..results import Detections
from ._candidates import Candidates, detections, settle
from ._detector import Detector
from ._prompts import check_fits, check_labels, check_tokenizer, fold
from ._weights import PathLike, named, pretrained
from .base import Card

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["OWLv2"]


class OWLv2(Detector):
    """Finds what labels in plain words ask for; each label is a text of its own.

    The network sees the picture in the upper left of a grey square; boxes are in pixels of the
    picture, and what it sees in the grey is dropped.

    Args:
        card: which checkpoint.
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        dtype: `auto` (float16 on a GPU), `float32`, `float16` or `bfloat16`.
        weights: a folder with the checkpoint, in place of the hub.
        threshold: least score of a box; a call may say another. The scores are low by nature.
        iou: boxes of one label that overlap more than this are one object.
        template: the text made of a label, with `{}` for the label itself.

    Raises:
        InputError: an option out of range, or `weights` is no folder.
        WeightsError: the weights are not on this machine and cannot be had.
    """

    _COORDINATES = r"^box_head$"

    def __init__(
        self,
        *,
        card: Card,
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        threshold: float = 0.1,
        iou: float = 0.5,
        template: str = "a photo of a {}",
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
        if not isinstance(template, str) or template.count("{}") != 1:
            raise InputError(f"template: expected a text with one {{}}, got {describe(template)}")
        self._template = template
        from transformers import Owlv2ForObjectDetection, Owlv2Processor

        with named(card):
            place, local = self._source.place, self._source.local
            self._processor = Owlv2Processor.from_pretrained(place, local_files_only=local)
            check_tokenizer(self._processor.tokenizer)
            model = pretrained(Owlv2ForObjectDetection, place, local_files_only=local)
        self._model = self._place(model)

    def _detect(
        self, picture: Image.Image, labels: Sequence[str] | None, threshold: float
    ) -> Detections:
        asked = check_labels(labels, fold)
        texts = [self._template.replace("{}", text) for text in asked]
        longest = int(self._model.config.text_config.max_position_embeddings)
        check_fits(texts, self._processor.tokenizer, longest)
        inputs = self._processor(images=picture, text=[texts], return_tensors="pt")
        with self._running():
            outputs = self._model(**inputs.to(self._device))
            # All boxes, in the order of the places; the post-processing undoes the square.
            (found,) = self._processor.post_process_grounded_object_detection(
                outputs, threshold=-1.0, target_sizes=[(picture.height, picture.width)]
            )
            scores = outputs.logits[0].float().sigmoid()
        candidates = Candidates.of([(found["boxes"], scores, range(len(texts)))], len(texts))
        settled = settle(candidates, threshold=threshold, iou=self._iou, size=picture.size)
        return detections(settled, list(asked.values()), size=picture.size, threshold=threshold)
