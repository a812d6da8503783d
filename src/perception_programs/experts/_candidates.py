"""From what a detector scores to one label, one score and a runner-up for each box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ToolError
from ..geometry import Size
from ..results import Detections

if TYPE_CHECKING:
    import torch

__all__ = ["Candidates", "Settled", "check_finite", "detections", "settle"]

_LEAST_SIDE = 1e-3  # pixels; what is thinner lies outside the image, or in its padding


@dataclass(frozen=True)
class Candidates:
    """Boxes before one is chosen over another.

    Attributes:
        boxes: M×4 float32, xyxy in pixels of the source image.
        scores: M×L float32 in [0, 1], for each of L labels; 0 where a label was not asked of a box.
        passes: M integers: which run of the network a box is from.
    """

    boxes: torch.Tensor
    scores: torch.Tensor
    passes: torch.Tensor

    @classmethod
    def of(
        cls, parts: Sequence[tuple[torch.Tensor, torch.Tensor, Sequence[int]]], labels: int
    ) -> Candidates:
        """The candidates of several runs.

        Args:
            parts: boxes (Q×4), scores (Q×K), and which of all labels the K columns are, of each run.
            labels: how many labels there are in all.

        Raises:
            ToolError: the network gave numbers that are not finite.
        """
        import torch

        wide = []
        for boxes, scores, columns in parts:
            check_finite(boxes, scores)
            row = torch.zeros(len(boxes), labels)
            row[:, list(columns)] = scores.detach().float().cpu()
            wide.append(row)
        boxes = torch.cat([part[0].detach().float().cpu() for part in parts])
        counts = torch.tensor([len(row) for row in wide])
        passes = torch.arange(len(parts)).repeat_interleave(counts)
        return cls(boxes, torch.cat(wide), passes)


@dataclass(frozen=True)
class Settled:
    """The boxes that stay, surest first.

    Attributes:
        rows: K integers, which candidates they are.
        boxes: K×4 float32, within the image.
        labels: K integers, the label of each.
        scores: K float32, its score.
        others: K integers, the label that comes second.
        other_scores: K float32, its score; 0 where there is none.
    """

    rows: torch.Tensor
    boxes: torch.Tensor
    labels: torch.Tensor
    scores: torch.Tensor
    others: torch.Tensor
    other_scores: torch.Tensor


def check_finite(boxes: torch.Tensor, scores: torch.Tensor) -> None:
    """Refuse what is no number, which the post-processing of the libraries takes for no object.

    Args:
        boxes: Q×4.
        scores: one row for each box; where there are fewer boxes, the others' scores were no numbers.

    Raises:
        ToolError: there is one.
    """
    good = bool(boxes.isfinite().all() and scores.isfinite().all())
    if not good or len(boxes) != len(scores):
        raise ToolError('detector: expected finite numbers, got NaN; try dtype="float32"')


def settle(
    found: Candidates,
    *,
    threshold: float,
    iou: float | None,
    size: Size,
    wanted: Sequence[int] | None = None,
) -> Settled:
    """Give each box its best label and drop what is unsure, outside the image, or said twice.

    Args:
        found: what the network said.
        threshold: least score of a box.
        iou: boxes of one label that overlap more than this are one object (non-maximum suppression),
            and so are boxes from different runs; None where the detector needs none.
        size: `(width, height)` of the source image.
        wanted: the labels to report. A box whose best label is another is not reported at all: it is
            surely something else.
    """
    import torch
    from torchvision.ops import batched_nms, clip_boxes_to_image, remove_small_boxes

    boxes = clip_boxes_to_image(found.boxes, (size[1], size[0]))
    best, labels = found.scores.max(dim=1)
    rows = remove_small_boxes(boxes, _LEAST_SIDE)
    rows = rows[best[rows] >= threshold]
    if wanted is not None:
        rows = rows[torch.isin(labels[rows], torch.tensor(wanted))]
    rows = rows[best[rows].argsort(descending=True, stable=True)]
    scores = found.scores[rows]
    if iou is not None:
        kept = batched_nms(boxes[rows], best[rows], labels[rows], iou)
        rows, scores = rows[kept], scores[kept]
        kept, scores = _across_passes(boxes[rows], scores, found.passes[rows], iou)
        rows = rows[kept]
    rest = scores.scatter(1, labels[rows][:, None], 0.0)
    other_scores, others = rest.max(dim=1)
    return Settled(rows, boxes[rows], labels[rows], best[rows], others, other_scores)


def _across_passes(
    boxes: torch.Tensor, scores: torch.Tensor, passes: torch.Tensor, iou: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which boxes stay, given that each run of the network saw a part of the labels only.

    Within a run the network itself lets one box stand for an object. Across runs the surest one does,
    and takes over the scores that the others gave to their labels.
    """
    import torch
    from torchvision.ops import box_iou

    if len(passes.unique()) < 2:
        return torch.arange(len(boxes)), scores
    merged, kept = scores.clone(), list[int]()
    for row in range(len(boxes)):
        near = box_iou(boxes[row : row + 1], boxes[kept])[0] > iou
        near &= passes[kept] != passes[row]
        if near.any():
            host = kept[int(near.nonzero()[0])]
            merged[host] = torch.maximum(merged[host], scores[row])
        else:
            kept.append(row)
    return torch.tensor(kept), merged[kept]


def detections(
    settled: Settled,
    names: Sequence[str],
    *,
    size: Size,
    threshold: float,
    masks: torch.Tensor | None = None,
) -> Detections:
    """The result: labels by name, arrays on the host.

    Args:
        settled: the boxes that stay.
        names: what the labels are called.
        size: `(width, height)` of the source image.
        threshold: least score that a box had to have.
        masks: K×H×W bool, of the boxes that stay.
    """
    second = zip(settled.others.tolist(), settled.other_scores.tolist(), strict=True)
    return Detections(
        boxes=settled.boxes.numpy(),
        scores=settled.scores.numpy(),
        labels=tuple(names[label] for label in settled.labels.tolist()),
        masks=None if masks is None else masks.cpu().numpy(),
        size=size,
        threshold=threshold,
        runner_up_labels=tuple(names[label] if score > 0 else None for label, score in second),
        runner_up_scores=settled.other_scores.numpy(),
    )
