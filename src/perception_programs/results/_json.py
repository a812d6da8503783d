"""Results as JSON: an object whose keys are the fields of the result's type.

Lists stand for arrays and pairs, objects for mappings:

- `Matches`: `{"points1": [[x, y], …], "points2": [[x, y], …], "size1": [w, h], "size2": [w, h]}`
- `Detections`: `{"boxes": [[x0, y0, x1, y1], …], "scores": [s, …], "labels": ["cat", …], "size": [w, h]}`
  or COCO results, `[{"bbox": [x, y, w, h], "score": s, "category_id": n}, …]`, with `size` known
- `PointScores`: `{"candidates": {"A": [x, y]}, "scores": {"A": s}, "reference": [x, y], "size1": [w, h]}`
- `EdgeScores`: `{"candidates": {"A": {"left": {"structural": s, "colour": s, "edge": s,
  "box": [x0, y0, x1, y1]}, "top": …}}, "sizes": {"A": [w, h]}}`
- `Points`: `{"points": {"A": [x, y]}, "size": [w, h]}`, with `boxes` in place of `points` for boxes
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from .._arrays import describe
from ..errors import InputError
from ._check import UNSET
from .detections import Detections, Names
from .points import Points
from .scores import EdgeScores, PointScores

__all__ = ["result_from"]

Result = TypeVar("Result")

_MAPPINGS: dict[type, tuple[str, ...]] = {
    PointScores: ("candidates", "scores"),
    EdgeScores: ("candidates", "sizes"),
}


def result_from(kind: type[Result], data: Any, *, names: Names = None, **known: Any) -> Result:
    """A result from the plain data of its fields, as JSON has them.

    Args:
        kind: `Matches`, `Detections`, `PointScores`, `EdgeScores` or `Points`.
        data: the object; for `Detections` also a list of COCO results.
        names: what class numbers are called, for `Detections` whose labels are numbers.
        known: fields that the data may lack, such as `size`; what the data says itself stays.

    Raises:
        InputError: a field is missing, unknown or of the wrong kind.

    >>> result_from(Points, {"points": {"A": [10, 20]}}, size=(100, 100)).labels
    ('A',)
    """
    name = kind.__name__
    extra: dict[str, Any] = {} if names is None else {"names": names}
    known = {key: value for key, value in known.items() if value is not None}
    try:
        if kind is Detections and isinstance(data, list):
            return cast(Result, Detections.of(data, **known, **extra))
        if not isinstance(data, Mapping):
            raise InputError(f"{name}: expected an object with its fields, got {describe(data)}")
        data = known | _fields(kind, data)
        return cast(Result, _SPECIAL.get(kind, kind)(**data, **extra))
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        # JSON may hold anything anywhere; what no check has a sentence for ends here.
        raise InputError(f"{name}: {_missing(kind, data) or error}") from error


def _fields(kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data, if its keys are fields of the type and mappings stand where they belong."""
    names = [field.name for field in dataclasses.fields(kind)]
    unknown = [key for key in data if key not in names]
    if unknown:
        raise InputError(
            f"{kind.__name__}: expected keys among {', '.join(names)}, got {unknown[0]!r}"
        )
    for key in _MAPPINGS.get(kind, ()):
        if not isinstance(data.get(key, {}), Mapping):
            raise InputError(f"{key}: expected an object, got {describe(data[key])}")
    return dict(data)


def _missing(kind: type, data: Any) -> str | None:
    if not isinstance(data, Mapping):
        return None
    needed = [
        field.name
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING and field.name not in data
    ]
    return f"expected the key {needed[0]!r}, got {', '.join(data) or 'none'}" if needed else None


def _detections(*, names: Names = None, threshold: float | None = None, **data: Any) -> Detections:
    if threshold is not None:
        threshold = float(threshold)
    found = Detections.of(
        {"boxes": data.pop("boxes"), **data}, size=data.get("size", UNSET), names=names
    )
    return dataclasses.replace(found, threshold=threshold)


def _points(
    *,
    points: Any = None,
    boxes: Any = None,
    labels: Any = None,
    size: Any = None,
    image: Any = None,
) -> Points:
    places = points if boxes is None else boxes
    if isinstance(places, Mapping):
        if points is not None and boxes is not None:
            raise InputError("Points: expected either points or boxes, got both")
        if labels is not None:
            raise InputError(
                "labels: expected none beside an object of points, whose keys they are"
            )
        found = Points.from_dict(places, size, image)
        wrong = found.boxes is not None if boxes is None else found.boxes is None
        if len(found) and wrong:
            form = "(x, y)" if boxes is None else "(x0, y0, x1, y1)"
            raise InputError(f"Points: expected {form} for each, got {dict(places)!r}")
        return found
    return Points(points, boxes, () if labels is None else labels, image, size)


_SPECIAL: dict[type, Callable[..., Any]] = {Detections: _detections, Points: _points}
