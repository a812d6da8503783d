"""What vision tools return, as a notebook shows it: facts, the first rows, a picture where it is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image

from .._arrays import to_numpy
from ..results import (
    DepthMap,
    Detections,
    EdgeScores,
    FlowField,
    Matches,
    Points,
    PointScores,
    Segmentation,
)
from ..results.scores import PARTS
from ._inline import FAINT, THUMBNAIL, beside, escape, fact_rows, picture_html
from ._tables import table_html, table_markdown
from .markdown import fact_list, plain
from .tool_pictures import tool_caption, tool_picture

__all__ = ["result_to_html", "result_to_markdown"]

_ROWS = 20
_SMALLEST = 240  # pixels that the longer side of a picture has at least
_KINDS = {
    "normalised": "normalised: from 0, farthest, to 1, nearest",
    "relative": "relative: bigger is nearer, scale unknown",
    "metric": "metric: metres from the camera",
}


@dataclass(frozen=True)
class _Shown:
    """What is shown of a result: facts by name, and a table of its first entries."""

    facts: dict[str, str]
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = field(default=())
    total: int = 0


def result_to_html(result: Any) -> str:
    """A result as a notebook shows it: its facts, its first entries, and depth and flow as pictures."""
    shown = _shown(result)
    words = fact_rows({"result": type(result).__name__, **shown.facts})
    if shown.rows:
        words += f'<div style="margin-top:8px">{table_html(shown.head, shown.rows)}</div>'
        words += f'<p style="margin:4px 0;{FAINT}">{more}</p>' if (more := _more(shown)) else ""
    return beside(_picture(result), words)


def result_to_markdown(result: Any) -> str:
    """A result as Markdown: its facts and its first entries."""
    shown = _shown(result)
    parts = [f"**{type(result).__name__}**", fact_list(shown.facts)]
    if shown.rows:
        parts += [table_markdown(shown.head, shown.rows), plain(_more(shown))]
    return "\n\n".join(filter(None, parts))


def _more(shown: _Shown) -> str:
    more = shown.total - len(shown.rows)
    return f"… {more} more" if more else ""


def _picture(result: Any) -> str:
    """The picture of a result that needs no other; what can be read of it stands beneath."""
    if not isinstance(result, (DepthMap, FlowField)):
        return ""
    picture = Image.fromarray(tool_picture(result))
    picture.thumbnail((THUMBNAIL, THUMBNAIL))
    larger = max(1, _SMALLEST // max(picture.size))
    picture = picture.resize([side * larger for side in picture.size], Image.Resampling.NEAREST)
    caption = escape(tool_caption(result))
    return (
        '<div style="flex:0 1 620px;min-width:0">'
        f"{picture_html(picture, f'{type(result).__name__} as a picture')}"
        f'<p style="margin:2px 0;{FAINT}">{caption}</p></div>'
    )


def _shown(result: Any) -> _Shown:
    return next(show(result) for kind, show in _SHOWN.items() if isinstance(result, kind))


def _depth(depth: DepthMap) -> _Shown:
    values, valid = to_numpy(depth.values), to_numpy(depth.valid())
    known = values[valid]
    unit = " m" if depth.kind == "metric" else ""
    return _Shown(
        {
            "kind": _KINDS[depth.kind],
            "values": f"{known.min():.4g} to {known.max():.4g}{unit}",
            **_sizes(depth.size, values.shape),
            **_read(valid),
        }
    )


def _flow(flow: FlowField) -> _Shown:
    valid = to_numpy(flow.valid())
    u, v = to_numpy(flow.uv)[valid].T
    speed = np.hypot(u, v)
    return _Shown(
        {
            "frame": _size(flow.size),
            "median motion": f"{np.median(u):.4g} pixels to the right, {np.median(v):.4g} down",
            "speed": f"{speed.min():.4g} to {speed.max():.4g} pixels",
            **_read(valid),
            **({} if flow.confidence is None else {"confidence": "known"}),
        }
    )


def _matches(found: Matches) -> _Shown:
    facts = {"matches": str(len(found)), "images": f"{_size(found.size1)}, {_size(found.size2)}"}
    if found.inliers is not None:
        facts["inliers"] = str(int(found.inliers.sum()))
    facts |= _threshold(found.threshold)
    sure = found.confidence
    head = ["number", "x", "y", "x in the second", "y in the second"]
    places = np.hstack([found.points1, found.points2])[:_ROWS].tolist()
    rows = [[str(n), *map(_number, place)] for n, place in enumerate(places, 1)]
    if sure is not None:
        head.append("confidence")
        rows = [[*row, f"{s:.3f}"] for row, s in zip(rows, sure[:_ROWS].tolist(), strict=True)]
    return _Shown(facts, head, rows, len(found))


def _detections(found: Detections) -> _Shown:
    facts = {"objects": str(len(found)), "image": _size(found.size), **_threshold(found.threshold)}
    facts |= {} if found.masks is None else {"masks": "known"}
    head = ["label", "score", "x0", "y0", "x1", "y1"]
    boxes, scores = found.boxes[:_ROWS].tolist(), found.scores[:_ROWS].tolist()
    rows = [
        [label, f"{score:.3f}", *map(_number, box)]
        for label, score, box in zip(found.labels[:_ROWS], scores, boxes, strict=True)
    ]
    return _Shown(facts, head, rows, len(found))


def _points(points: Points) -> _Shown:
    places = points.points if points.points is not None else points.boxes
    facts = {"points" if points.points is not None else "boxes": str(len(points))}
    facts |= {"image": " ".join(filter(None, (points.image, _size(points.size))))}
    head = ["label", "x", "y"] if points.points is not None else ["label", "x0", "y0", "x1", "y1"]
    rows = [
        [label, *map(_number, place)]
        for label, place in zip(points.labels[:_ROWS], places[:_ROWS].tolist(), strict=True)
    ]
    return _Shown(facts, head, rows, len(points))


def _point_scores(scores: PointScores) -> _Shown:
    facts = {
        "reference": ", ".join(map(_number, scores.reference)),
        "images": f"{_size(scores.size1)}, {_size(scores.size2)}",
    }
    rows = [
        [letter, f"{scores.scores[letter]:.4g}", *map(_number, place)]
        for letter, place in list(scores.candidates.items())[:_ROWS]
    ]
    return _Shown(facts, ["candidate", "similarity", "x", "y"], rows, len(scores.candidates))


def _edge_scores(scores: EdgeScores) -> _Shown:
    borders = [(name, edge) for name, own in scores.candidates.items() for edge in own]
    rows = [
        [
            f"{name}, {edge}",
            f"{scores.mean(name, edge):.4f}",
            *(f"{scores.candidates[name][edge][part]:.4f}" for part in PARTS),
        ]
        for name, edge in borders[:_ROWS]
    ]
    facts = {"candidates": str(len(scores.candidates))}
    return _Shown(facts, ["border", "mean", *PARTS], rows, len(borders))


def _segmentation(found: Segmentation) -> _Shown:
    numbers, counts = np.unique(found.classes, return_counts=True)
    order = np.argsort(-counts, kind="stable").tolist()
    rows = [
        [found.name(int(numbers[n])), str(numbers[n]), f"{counts[n] / found.classes.size:.1%}"]
        for n in order[:_ROWS]
    ]
    facts = {"classes": str(len(numbers)), **_sizes(found.size, found.classes.shape)}
    return _Shown(facts, ["name", "class", "share of the pixels"], rows, len(numbers))


def _size(size: Sequence[int]) -> str:
    return f"{size[0]}×{size[1]} pixels"


def _sizes(size: Sequence[int], shape: Sequence[int]) -> dict[str, str]:
    """The size of the image, and that of the map where it is another."""
    own = (shape[1], shape[0])
    return {"image": _size(size)} | ({} if own == tuple(size) else {"map": _size(own)})


def _read(valid: Any) -> dict[str, str]:
    missing = int(valid.size - valid.sum())
    return {"not read": f"{missing} pixels, {missing / valid.size:.1%}"} if missing else {}


def _threshold(threshold: float | None) -> dict[str, str]:
    return {} if threshold is None else {"threshold": f"{threshold:.4g}"}


def _number(value: float) -> str:
    return f"{value:.1f}"


_SHOWN: dict[type, Callable[[Any], _Shown]] = {
    DepthMap: _depth,
    FlowField: _flow,
    Matches: _matches,
    Detections: _detections,
    Points: _points,
    PointScores: _point_scores,
    EdgeScores: _edge_scores,
    Segmentation: _segmentation,
}
