"""The decorator that makes a program of what a function returns."""

from __future__ import annotations

import asyncio
import functools
import inspect
import typing
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from perception_programs import (
    DepthMap,
    Detections,
    EdgeScores,
    FlowField,
    InputError,
    Matches,
    PerceptionProgram,
    Points,
    PointScores,
    Segmentation,
    albedo_program,
    as_program,
    correspondence_program,
    depth_program,
    detection_program,
    flow_program,
    points_program,
    segmentation_program,
    semantic_program,
    similarity_program,
)

SIZE = (120, 80)
PICTURE = np.random.default_rng(0).integers(0, 255, (80, 120, 3), np.uint8)
RAMP = np.tile(np.linspace(0, 1, 120, dtype=np.float32), (80, 1))
CLASSES = np.repeat([[0, 1]], 60, axis=1).repeat(80, axis=0)
STRIP = {"structural": 0.5, "colour": 0.5, "edge": 0.5, "box": (0, 0, 9, 80)}

SUPERVISION = SimpleNamespace(
    xyxy=np.array([[10.0, 10.0, 50.0, 60.0]]),
    confidence=np.array([0.9]),
    class_id=np.array([0]),
    mask=None,
    data={"class_name": np.array(["cat"])},
)
TRANSFORMERS = {"boxes": [[10, 10, 50, 60]], "scores": [0.9], "text_labels": ["cat"]}
BOX = {"xmin": 10, "ymin": 10, "xmax": 50, "ymax": 60}
PIPELINE = [{"label": "cat", "score": 0.9, "box": BOX}]
COCO = [{"bbox": [10, 10, 40, 50], "score": 0.9, "category": "cat", "category_id": 1}]
FIFTYONE = {
    "detections": [{"label": "cat", "bounding_box": [0.1, 0.1, 0.5, 0.5], "confidence": 0.9}]
}
MASKS = [{"label": "sky", "score": 0.9, "mask": Image.fromarray(np.uint8(255 * (RAMP > 0.5)))}]
PAIR = {"keypoint_image_0": {"x": 50, "y": 20}, "keypoint_image_1": {"x": 10, "y": 20}}


def returning(value: Any, *how: Any, **options: Any) -> PerceptionProgram:
    """The program of a function that returns `value`."""

    def tool(image: Any = PICTURE) -> Any:
        return value

    decorated = as_program(tool) if not how and not options else as_program(*how, **options)(tool)
    return decorated()


# What says its modality itself.

TYPED = [
    (DepthMap(RAMP), "depth"),
    (FlowField(np.full((80, 120, 2), -2.0)), "flow"),
    (Matches([[10, 10]], [[20, 10]], size1=SIZE, size2=SIZE), "correspondence"),
    (Detections([[10, 10, 50, 60]], [0.9], ["cat"], size=SIZE), "object-detection"),
    (Segmentation(CLASSES, ("grass", "sky")), "segmentation"),
    (Points([[10, 10]], labels=("A",), size=SIZE), "point-detection"),
    (PointScores({"A": (5, 5)}, {"A": 0.8}, (1, 1), SIZE), "semantic"),
    (EdgeScores({"A": {"left": STRIP, "top": STRIP}}, {"A": SIZE}), "jigsaw"),
    (np.full((80, 120, 2), -2.0), "flow"),
]


@pytest.mark.parametrize(("value", "modality"), TYPED, ids=lambda v: type(v).__name__)
def test_the_type_says_the_modality(value: Any, modality: str) -> None:
    program = returning(value)
    assert program.modality == modality and program.meta["tool"] == "tool"
    assert PerceptionProgram.from_text(str(program)) == program.rounded()


@pytest.mark.parametrize("value", [SUPERVISION, TRANSFORMERS, PIPELINE, COCO, FIFTYONE])
def test_a_detector_s_result_says_it_too(value: Any) -> None:
    program = returning(value, of="image")
    assert program == returning(value, "detection", of="image")
    assert program == returning(value, "detection", size=SIZE)
    assert program == detection_program(value, size=SIZE)
    with pytest.raises(InputError, match="size"):
        returning(value)


def test_a_program_is_left_as_it_is() -> None:
    program = depth_program(RAMP)
    assert returning(program) is program
    assert returning(program, "depth") is program


# What does not.

SAID: list[tuple[Any, str, dict[str, Any], Any]] = [
    (RAMP, "depth", {}, depth_program),
    (RAMP * 9, "depth", {"kind": "metric", "relations": False, "grid": (2, 3)}, depth_program),
    (RAMP, "albedo", {"grid": 4}, albedo_program),
    (CLASSES, "segmentation", {"names": ["grass", "sky"]}, segmentation_program),
    ({"A": (10, 10)}, "points", {"size": SIZE}, points_program),
    ({"A": RAMP}, "similarity", {"reading": "median"}, similarity_program),
    (np.full((80, 120, 2), 1.0), "flow", {"reading": "mean", "grid": 2}, flow_program),
    (TYPED[2][0], "correspondence", {"limit": 1}, correspondence_program),
    (TYPED[6][0], "semantic", {}, semantic_program),
]


@pytest.mark.parametrize(("value", "modality", "options", "converter"), SAID)
def test_options_are_the_converter_s(
    value: Any, modality: str, options: dict[str, Any], converter: Any
) -> None:
    assert returning(value, modality, **options) == converter(value, **options)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (RAMP, r'may be depth or albedo; say which, such as @as_program\("depth"\), or return'),
        (CLASSES, r'may be segmentation or depth; say which, such as @as_program\("segment'),
        (MASKS, "may be segmentation, or detection"),
        ({"A": (1, 2)}, r'may be points or similarity; .*@as_program\("points"\)'),
        ([], "does not say what was measured"),
        (None, "tool: None does not say what was measured"),
        (7, "does not say"),
        (iter([RAMP]), "does not say"),
    ],
)
def test_the_ambiguous_is_refused_with_the_ways_to_say_it(value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        returning(value)
    assert "DepthMap, FlowField, Matches, Detections, Segmentation" in str(caught.value)


@pytest.mark.parametrize("modality", ["depth", "detection", "points", "flow", "segmentation"])
def test_no_picture_is_put_through_an_expert(modality: str) -> None:
    for picture in (PICTURE, Image.fromarray(PICTURE), "street.jpg", RAMP[..., None]):
        with pytest.raises(
            InputError, match=r"expected what was measured, got .*, (a|which) .*pick"
        ):
            returning(picture, modality)
    with pytest.raises(InputError, match=r"a tuple of PIL\S+ and an array of shape 80×120 .*pick="):
        returning((Image.fromarray(PICTURE), RAMP), modality)
    with pytest.raises(InputError, match="got a tuple of nothing"):
        returning(())


def test_what_is_no_result_of_the_modality_is_refused_by_its_converter() -> None:
    with pytest.raises(InputError, match="values from 0 to 9"):
        returning(RAMP * 9, "depth")
    with pytest.raises(InputError, match="depth: expected"):
        returning(7, "depth")


def test_pick_takes_what_is_measured_out_of_more() -> None:
    def boxes(returned: Any) -> Detections:
        picture, rows = returned
        return Detections.from_boxes(
            rows, [1] * len(rows), ["cat"] * len(rows), size=picture.size, form="xywh"
        )

    drawn = Image.fromarray(PICTURE)
    program = returning((drawn, [[10, 10, 40, 50]]), pick=boxes)
    assert program.items[0].c == (83, 125, 416, 750)
    assert returning({"map": RAMP}, "depth", pick=lambda r: r["map"]) == depth_program(RAMP)


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    assert returning(torch.from_numpy(RAMP), "depth") == depth_program(RAMP)
    assert returning(torch.full((80, 120, 2), -2.0)) == flow_program(np.full((80, 120, 2), -2.0))
    boxes = {key: value for key, value in TRANSFORMERS.items() if key != "text_labels"}
    found = {key: torch.tensor(value) for key, value in boxes.items()} | {"text_labels": ["cat"]}
    assert returning(found, of="image") == returning(TRANSFORMERS, of="image")
    with pytest.raises(InputError, match="has the shape of a picture"):
        returning(torch.from_numpy(RAMP)[None], "depth")


# Pictures that it is of.


def test_of_says_which_parameter_is_the_picture() -> None:
    @as_program("depth", of="image", grid=2)
    def halved(scale: int, image: Any = PICTURE) -> Any:
        return RAMP[::scale, ::scale]

    program = halved(2)
    assert program.meta["size"] == SIZE
    assert program.overlay().width > 120
    other = halved(2, image=Image.fromarray(PICTURE[:, :100]))
    assert other.meta["size"] == (100, 80) and len(other.images) == 1


def test_of_both_pictures() -> None:
    @as_program(of=("first", "second"))
    def moved(first: Any, second: Any) -> Any:
        return np.full((80, 120, 2), 3.0)

    assert len(moved(PICTURE, PICTURE).images) == 2

    @as_program("correspondence", of=("first", "second"), pick=lambda r: r)
    def matched(first: Any, second: Any) -> Any:
        return Matches.from_pipeline([{**PAIR, "score": 1.0}], size1=SIZE, swapped=False)

    assert matched(PICTURE, PICTURE).overlay().size[0] > 240


def test_pipelines() -> None:
    estimated = {"predicted_depth": RAMP, "depth": Image.fromarray(PICTURE)}
    program = returning(estimated, "depth", kind="relative", of="image")
    assert program == depth_program(RAMP, kind="relative")
    for how in ((), ("depth",)):
        with pytest.raises(InputError, match="kind: expected relative or metric"):
            returning(estimated, *how)
    segmented = returning(MASKS, "segmentation", grid=2)
    assert [item.b for item in segmented.items] == ["unlabelled", "sky"] * 2
    assert [item.b for item in returning(MASKS, "detection").items] == ["sky"]


# What stays as it is.


def test_the_function_looks_as_it_did() -> None:
    def measure(image: str, *, scale: float = 1.0) -> np.ndarray:
        """How near things are."""
        return RAMP

    decorated = as_program("depth")(measure)
    assert decorated.__name__ == "measure" and decorated.__doc__ == "How near things are."
    signature = inspect.signature(decorated)
    assert list(signature.parameters.values()) == list(
        inspect.signature(measure).parameters.values()
    )
    assert signature.return_annotation is PerceptionProgram
    assert typing.get_type_hints(decorated)["return"] is PerceptionProgram
    assert typing.get_type_hints(decorated)["image"] is str
    with pytest.raises(TypeError, match="image"):
        decorated()
    assert measure("x") is RAMP  # itself it is left alone


def test_async_functions() -> None:
    @as_program("depth")
    async def later(image: str) -> Any:
        await asyncio.sleep(0)
        return RAMP

    assert inspect.iscoroutinefunction(later)
    assert asyncio.run(later("a")) == depth_program(RAMP)


def test_methods_and_objects() -> None:
    class Tools:
        scale = 2.0

        @as_program("depth", kind="relative", of="image")
        def depth(self, image: Any) -> Any:
            return RAMP * self.scale

        @as_program
        @staticmethod
        def fixed() -> Any:
            return DepthMap(RAMP)

        @as_program("albedo")
        @classmethod
        def light(cls) -> Any:
            return RAMP / cls.scale

    assert Tools().depth(PICTURE).meta["tool"] == "depth"
    assert Tools.fixed() == Tools().fixed() == depth_program(RAMP)
    assert Tools().light() == albedo_program(RAMP / 2)

    class Pipeline:
        """Depth, estimated."""

        def __init__(self) -> None:
            self.model = "large"

        def __call__(self, image: Any) -> Any:
            return {"predicted_depth": RAMP[None]}

    pipe = as_program("depth", kind="relative")(Pipeline())
    assert pipe(PICTURE) == depth_program(RAMP, kind="relative")
    assert pipe.__doc__ == "Depth, estimated." and not hasattr(pipe, "model")
    assert pipe(PICTURE).meta["tool"] == "Pipeline"
    half = as_program("depth")(functools.partial(np.full, (20, 20)))
    assert half(0.5) == depth_program(np.full((20, 20), 0.5))


@pytest.mark.parametrize(
    ("modality", "options", "message"),
    [
        ("dept", {}, "modality: expected one of depth, flow, .*, got str 'dept'"),
        (
            "depth",
            {"knid": "metric"},
            "knid: no such option of depth_program .*expected kind, mask",
        ),
        ("depth", {"expert": "dis"}, "expert: no such option"),
        ("flow", {"second": 1}, "second: no such option of flow_program"),
        ("detection", {"labels": ["cat"]}, "labels: no such option"),
        (None, {"kind": "metric"}, r"@as_program\(\"depth\", kind='metric'\)"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_is_written(
    modality: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        as_program(modality, **options)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(InputError, match="expected a function, or one of depth"):
        as_program(RAMP)
    with pytest.raises(InputError, match="expected a function"):
        as_program("depth")(RAMP)
    with pytest.raises(
        InputError, match=r"of: expected a parameter of tool \(image\), got 'photo'"
    ):
        returning(RAMP, "depth", of="photo")
