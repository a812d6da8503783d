"""SAM 3 as a detector: every instance of a concept, with its mask."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError
from ..results import Detections
from ._candidates import Candidates, check_finite, detections, settle
from ._detector import Detector, check_fraction
from ._prompts import check_fits, check_labels, check_tokenizer, fold
from ._weights import PathLike, named, pretrained
from .base import Card

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["SAM3"]

_AT_ONCE = 8


class SAM3(Detector):
    """Finds and outlines what labels in plain words ask for.

    The picture is encoded once, and each label is then asked for on its own.

    Args:
        card: which checkpoint.
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        dtype: `auto` (bfloat16 on a GPU), `float32`, `float16` or `bfloat16`.
        weights: a folder with the checkpoint, in place of the hub.
        threshold: least score of a box; a call may say another.
        mask_threshold: least probability of a pixel of a mask.
        iou: boxes that overlap more than this are one object, the surest label's.

    Raises:
        InputError: an option out of range, or `weights` is no folder.
        MissingExtraError: the installed transformers is older than the model.
        WeightsError: the weights are not on this machine and cannot be had.
    """

    _COORDINATES = r"^detr_decoder\.box_head$"

    def __init__(
        self,
        *,
        card: Card,
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        threshold: float = 0.3,
        mask_threshold: float = 0.5,
        iou: float = 0.7,
    ) -> None:
        super().__init__(
            card=card,
            device=device,
            dtype=dtype,
            half="bfloat16",
            weights=weights,
            threshold=threshold,
            iou=iou,
        )
        self._mask_threshold = check_fraction("mask_threshold", mask_threshold)
        try:
            from transformers import Sam3Model, Sam3Processor
        except ImportError as error:
            raise MissingExtraError(
                f"expert {card.name!r} needs transformers 5: python -m pip install -U transformers"
            ) from error
        with named(card):
            place, local = self._source.place, self._source.local
            self._processor = Sam3Processor.from_pretrained(place, local_files_only=local)
            check_tokenizer(self._processor.tokenizer)
            model = pretrained(Sam3Model, place, local_files_only=local)
        self._model = self._place(model)

    def _detect(
        self, picture: Image.Image, labels: Sequence[str] | None, threshold: float
    ) -> Detections:
        import torch

        asked = check_labels(labels, fold)
        longest = int(self._model.config.text_config.max_position_embeddings)
        check_fits(list(asked), self._processor.tokenizer, longest)
        with self._running():
            pixels = self._processor(images=picture, return_tensors="pt")["pixel_values"]
            seen = self._model.get_vision_features(pixel_values=pixels.to(self._device))
            found = [self._ask(seen, text, picture, threshold) for text in asked]
        parts = [
            (one["boxes"], one["scores"][:, None], [column]) for column, one in enumerate(found)
        ]
        candidates = Candidates.of(parts, len(asked))
        settled = settle(candidates, threshold=threshold, iou=self._iou, size=picture.size)
        masks = torch.cat([one["masks"] for one in found])[settled.rows]
        return detections(
            settled, list(asked.values()), size=picture.size, threshold=threshold, masks=masks
        )

    def _ask(self, seen: Any, text: str, picture: Image.Image, threshold: float) -> dict[str, Any]:
        """Boxes (K×4), scores (K) and masks (K×H×W bool) of one label, in source pixels."""
        import torch

        prompt = self._processor(text=text, return_tensors="pt").to(self._device)
        outputs = self._model(
            vision_embeds=seen,
            input_ids=prompt["input_ids"],
            attention_mask=prompt["attention_mask"],
        )
        check_finite(outputs.pred_boxes[0], outputs.pred_logits[0])
        size = (picture.height, picture.width)
        parts = []
        # A few queries at a time: the post-processing keeps 12 bytes a pixel for each mask.
        for start in range(0, outputs.pred_logits.shape[1], _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            (found,) = self._processor.post_process_instance_segmentation(
                SimpleNamespace(
                    pred_logits=outputs.pred_logits[:, part].float(),
                    pred_boxes=outputs.pred_boxes[:, part],
                    pred_masks=outputs.pred_masks[:, part].float(),
                    presence_logits=outputs.presence_logits.float(),
                ),
                threshold=threshold,
                mask_threshold=self._mask_threshold,
                target_sizes=[size],
            )
            if len(found["boxes"]):
                parts.append((found["boxes"], found["scores"], found["masks"].cpu() != 0))
        if not parts:
            return {
                "boxes": torch.zeros(0, 4),
                "scores": torch.zeros(0),
                "masks": torch.zeros(0, *size, dtype=torch.bool),
            }
        columns = map(torch.cat, zip(*parts, strict=True))
        return dict(zip(("boxes", "scores", "masks"), columns, strict=True))
