"""What a scene is made of: the results of one picture, given or read by experts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .._arrays import describe, is_array, is_floating
from ..errors import InputError
from ..geometry import Size
from ..images import ImageLike, is_picture, load_image
from ..results import DepthMap, Detections, FlowField, Segmentation
from ._experts import ExpertLike, run_expert

__all__ = ["Results", "results_of"]

Kind = TypeVar("Kind")

_MODALITIES = ("depth", "detection", "flow")


@dataclass
class Results:
    """The results of one picture, and by which experts they were made.

    Attributes:
        depth, detections, segmentation, flow: a result each, or None.
        size: `(width, height)` of the picture.
        experts: what `meta` shall say of each expert that was run, by modality.
        images: the pictures, where they were given.
    """

    depth: DepthMap | None
    detections: Detections | None
    segmentation: Segmentation | None
    flow: FlowField | None
    size: Size = (0, 0)
    experts: dict[str, Any] = field(default_factory=dict)
    images: tuple[Any, ...] = ()


def results_of(
    image: ImageLike,
    second: ImageLike,
    given: Mapping[str, Any],
    labels: Sequence[str] | None,
    threshold: float | None,
    experts: Mapping[str, ExpertLike] | None,
) -> Results:
    """The results that are given, and of the pictures those that are not.

    Raises:
        InputError: something that is no result of its kind, results of pictures of different sizes, or
            an option without a picture that it is for.
    """
    found = Results(
        depth=_depth(None if given["depth"] is False else given["depth"]),
        detections=None,
        segmentation=_segmentation(given["segmentation"]),
        flow=_flow(given["flow"]),
    )
    sizes = _sizes(found)
    if image is not None:
        sizes["image"] = _size(image, "image")
    found.detections = _detections(given["detections"], next(iter(sizes.values()), None))
    _run_experts(found, image, second, given["depth"] is not False, labels, threshold, experts)
    found.images = tuple(picture for picture in (image, second) if picture is not None)
    found.size = _common(sizes | _sizes(found))
    return found


def _run_experts(
    found: Results,
    image: ImageLike,
    second: ImageLike,
    deep: bool,
    labels: Sequence[str] | None,
    threshold: float | None,
    experts: Mapping[str, ExpertLike] | None,
) -> None:
    """Lets experts make of the pictures what is missing."""
    chosen = _chosen(experts)
    detect = image is not None and found.detections is None and found.segmentation is None
    runs = {
        "depth": image is not None and deep and found.depth is None,
        "detection": detect,
        "flow": second is not None and found.flow is None,
    }
    unused = [name for name in chosen if not runs[name]]
    if unused:
        raise InputError(
            f"experts: expected only those that are run, got one for {unused[0]}, which is given or not "
            "asked for"
        )
    if labels is not None and not detect:
        raise InputError("labels: expected a picture in which to detect them, and no other objects")
    if second is not None and (image is None or not runs["flow"]):
        raise InputError("second: expected a first image beside it, and no flow")

    def made(modality: str, kind: type[Kind], *pictures: ImageLike, **options: Any) -> Kind:
        result, about = run_expert(modality, chosen.get(modality), kind, *pictures, **options)
        found.experts[modality] = about
        return result

    if detect:
        asked: dict[str, Any] = {"labels": _asked(labels)}
        if threshold is not None:
            asked["threshold"] = threshold
        found.detections = made("detection", Detections, image, **asked)
    if runs["depth"]:
        found.depth = made("depth", DepthMap, image)
    if runs["flow"]:
        found.flow = made("flow", FlowField, image, second)


def _chosen(experts: Mapping[str, ExpertLike] | None) -> dict[str, ExpertLike]:
    chosen = {} if experts is None else experts
    if not isinstance(chosen, Mapping) or not set(chosen) <= set(_MODALITIES):
        raise InputError(
            f'experts: expected {{"depth": name}}, with keys among {", ".join(_MODALITIES)}, '
            f"got {describe(experts) if not isinstance(chosen, Mapping) else sorted(chosen)}"
        )
    return dict(chosen)


def _asked(labels: Sequence[str] | None) -> list[str] | None:
    if isinstance(labels, str) or (labels is not None and not labels):
        raise InputError(
            f'labels: expected what to look for, such as ["cat", "dog"], got {describe(labels)}'
        )
    return None if labels is None else list(labels)


def _depth(given: Any) -> DepthMap | None:
    if given is None or isinstance(given, DepthMap):
        return given
    if not is_array(given) or len(given.shape) != 2 or not is_floating(given):
        raise InputError(
            "depth: expected a DepthMap or an H×W array of floats in [0, 1], 1 nearest, got "
            f"{describe(given)}"
        )
    return _made(DepthMap, given, "DepthMap(values, kind)")


def _flow(given: Any) -> FlowField | None:
    if given is None or isinstance(given, FlowField):
        return given
    if not is_array(given) or len(given.shape) != 3 or not is_floating(given):
        raise InputError(
            f"flow: expected a FlowField or an H×W×2 array of floats, got {describe(given)}"
        )
    return _made(FlowField, given, "FlowField(uv)")


def _segmentation(given: Any) -> Segmentation | None:
    if given is None or isinstance(given, Segmentation):
        return given
    return _made(Segmentation, given, "Segmentation(classes, names)")


def _detections(given: Any, size: Size | None) -> Detections | None:
    if given is None or isinstance(given, Detections):
        return given

    def read(found: Any) -> Detections:
        # Results of ultralytics know their size; those of others are of the picture that the rest is of.
        if size is None or hasattr(found, "orig_shape"):
            return Detections.of(found)
        return Detections.of(found, size=size)

    return _made(read, given, "Detections.of(found, size=..., names=...)")


def _made(make: Callable[[Any], Kind], given: Any, how: str) -> Kind:
    """A result from something else; the error names what takes the options that this does not."""
    try:
        return make(given)
    except InputError as error:
        raise InputError(f"{error}; {how} takes more") from error


def _sizes(found: Results) -> dict[str, Size]:
    """The size of the picture that each result says it is of."""
    results = {
        "depth": found.depth,
        "detections": found.detections,
        "segmentation": found.segmentation,
        "flow": found.flow,
    }
    return {name: result.size for name, result in results.items() if result is not None}


def _size(image: ImageLike, name: str) -> Size:
    if not is_picture(image):
        raise InputError(
            f"{name}: expected a picture, got {describe(image)}; results are given by name: depth=, "
            "detections=, segmentation=, flow="
        )
    height, width = load_image(image).shape[:2]
    return width, height


def _common(sizes: Mapping[str, Size]) -> Size:
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"{name} {w}×{h}" for name, (w, h) in sizes.items())
        raise InputError(f"scene: expected results of one picture, of one size, got {said}")
    return next(iter(sizes.values()), (0, 0))
