"""Detectors with a vocabulary of their own: RT-DETRv2 and D-FINE."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

from ..errors import InputError
from ..results import Detections
from ._candidates import Candidates, detections, settle
from ._detector import Detector
from ._prompts import check_labels, fold
from ._weights import PathLike, named, pretrained
from .base import Card

if TYPE_CHECKING:
    import torch
    from PIL import Image

__all__ = ["ClosedDetection"]

_NEAREST = 3


class ClosedDetection(Detector):
    """Finds the classes that its checkpoint was trained on, in real time on a GPU.

    Each query of the network is at most one box, so no suppression of overlapping boxes is needed.
    The runner-up is the second-best of all classes, asked for or not.

    Args:
        card: which checkpoint.
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        dtype: `auto` (float32: these networks are small), `float32`, `float16` or `bfloat16`.
        weights: a folder with the checkpoint, in place of the hub.
        threshold: least score of a box; a call may say another.

    Attributes:
        names: what its classes are called, in order; what it can find.

    Raises:
        InputError: an option out of range, or `weights` is no folder.
        WeightsError: the weights are not on this machine and cannot be had.
    """

    _COORDINATES = r"^model\.(decoder|enc_\w+|decoder_input_proj\.\d+)$"

    def __init__(
        self,
        *,
        card: Card,
        device: str = "auto",
        dtype: str = "auto",
        weights: PathLike = None,
        threshold: float = 0.5,
    ) -> None:
        super().__init__(
            card=card,
            device=device,
            dtype=dtype,
            half=None,
            weights=weights,
            threshold=threshold,
            iou=None,
        )
        from transformers import AutoImageProcessor, AutoModelForObjectDetection

        with named(card):
            place, local = self._source.place, self._source.local
            self._processor = AutoImageProcessor.from_pretrained(place, local_files_only=local)
            model = pretrained(AutoModelForObjectDetection, place, local_files_only=local)
        self._model = self._place(model)
        numbered = model.config.id2label
        self.names = tuple(str(numbered[number]) for number in range(len(numbered)))

    def _detect(
        self, picture: Image.Image, labels: Sequence[str] | None, threshold: float
    ) -> Detections:
        names, wanted = list(self.names), None
        if labels is not None:
            asked = self._asked(labels)
            names = [asked.get(number, name) for number, name in enumerate(names)]
            wanted = list(asked)
        boxes, scores = self._scores(picture)
        found = Candidates.of([(boxes, scores, range(len(names)))], len(names))
        settled = settle(found, threshold=threshold, iou=None, size=picture.size, wanted=wanted)
        return detections(settled, names, size=picture.size, threshold=threshold)

    def _scores(self, picture: Image.Image) -> tuple[torch.Tensor, torch.Tensor]:
        """The boxes of all queries in source pixels (Q×4), and their score for each class (Q×C)."""
        import torch

        inputs = self._processor(images=picture, return_tensors="pt")
        with self._running():
            outputs = self._model(**inputs.to(self._device))
            logits, places = outputs.logits[0].float().cpu(), outputs.pred_boxes[0].cpu()
            # Each query as if it were a picture's only one, which keeps it with its scores: the
            # post-processing gives pairs of box and class, sorted, and loses the second-best class.
            found = self._processor.post_process_object_detection(
                SimpleNamespace(logits=logits[:, None], pred_boxes=places[:, None]),
                threshold=-1.0,
                target_sizes=[(picture.height, picture.width)] * len(logits),
            )
        return torch.cat([one["boxes"] for one in found]), logits.sigmoid()

    def _asked(self, labels: Sequence[str]) -> dict[int, str]:
        """Which classes the labels are, with the spelling that was asked for.

        Raises:
            InputError: a label that is none of them; the nearest are named.
        """
        numbers = {fold(name): number for number, name in enumerate(self.names)}
        asked = {}
        for key, label in check_labels(labels, fold).items():
            if key not in numbers:
                near = difflib.get_close_matches(key, numbers, n=_NEAREST, cutoff=0.0)
                names = ", ".join(repr(self.names[numbers[one]]) for one in near)
                raise InputError(
                    f"labels: expected classes of {self.card.name!r}, got {label!r}; the nearest of its "
                    f"{len(self.names)} are {names}. An open-vocabulary detector takes any words"
                )
            asked[numbers[key]] = label
        return asked
