"""Which capabilities are open, and how a configuration exchanges what works behind them."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from perception_programs import DepthMap, InputError, MissingExtraError, WeightsError
from perception_programs.harness import Agent
from perception_programs.harness.capabilities import (
    DepthEstimation,
    ReadText,
    VisualGrounding,
    available,
    catalogue,
    open_capabilities,
)
from perception_programs.harness.rendering import Templates
from test_harness import Watched

RAMP = np.tile(np.linspace(1, 5, 20, dtype=np.float32), (10, 1))


def reader(image: Any) -> list[Any]:
    return []


def detector(image: Any, *, labels: Any) -> Any: ...


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every library were installed and all weights were here."""
    find = importlib.util.find_spec
    monkeypatch.setattr(catalogue.registry, "check", lambda name, weights=None: None)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, package=None: find(name, package) or name
    )


def test_each_has_a_template() -> None:
    assert set(available()) == set(Templates().versions)


@pytest.mark.parametrize("name", list(catalogue._TABLE))
def test_each_is_where_the_table_says(name: str) -> None:
    entry = catalogue._TABLE[name]
    kind = entry.load()
    assert kind.name == name and Templates().tool(kind.__new__(kind)).name == name


def test_what_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    why = available()
    assert why["zoom_in"] is None
    assert why["python_coding"] == "needs coder=, the model that writes the programs"
    assert why["text_search"] == why["image_search"] == "needs provider=, who searches"
    assert "reaches the network" in str(why["webpage_visit"])

    def check(name: str, weights: Any = None) -> None:
        raise (
            MissingExtraError(f"{name} needs an extra")
            if name == "llmdet-tiny"
            else WeightsError(f"no weights of {name}")
        )

    monkeypatch.setattr(catalogue.registry, "check", check)
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    why = available()
    assert why["visual_grounding"] == "llmdet-tiny needs an extra"
    assert "no weights of " in str(why["depth_estimation"])
    assert "rapidocr is not installed: " in str(why["read_text"])
    assert "[harness]" in str(why["read_text"])


def test_without_a_configuration_what_is_available_is_open(
    monkeypatch: pytest.MonkeyPatch, installed: None
) -> None:
    table = {
        name: catalogue._TABLE[name] for name in ("zoom_in", "visual_grounding", "text_search")
    }
    monkeypatch.setattr(catalogue, "_TABLE", table)
    for config in (None, {}):
        assert [one.name for one in open_capabilities(config)] == ["zoom_in", "visual_grounding"]


def test_backends_are_exchanged_by_configuration(installed: None) -> None:
    """The names, arguments and words that a model sees stay the same."""
    configs: list[dict[str, Any]] = [
        {
            "visual_grounding": {"expert": "owlv2-base", "threshold": 0.3},
            "depth_estimation": {"expert": "depth-pro"},
            "read_text": None,
            "zoom_in": {},
        },
        {
            "visual_grounding": {"expert": detector},
            "depth_estimation": {"expert": DepthMap(RAMP, "metric")},
            "read_text": {"backend": reader, "threshold": 0.2},
            "zoom_in": {},
        },
    ]
    one, other = (Agent(Watched(), open_capabilities(config)) for config in configs)
    assert one.tools == other.tools
    assert list(one.capabilities) == list(configs[0])
    used = one.configuration()["tools"], other.configuration()["tools"]
    assert used[0]["visual_grounding"]["expert"]["name"] == "owlv2-base"
    assert used[0]["depth_estimation"]["expert"]["name"] == "depth-pro"
    assert used[1]["visual_grounding"]["expert"] == {"name": "detector"}
    assert used[1]["read_text"] == {"backend": {"name": "reader"}, "threshold": 0.2}
    assert used[1]["depth_estimation"]["expert"]["name"] == "DepthMap"


def test_the_defaults_are_those_of_the_classes(installed: None) -> None:
    names = {"visual_grounding": None, "depth_estimation": None, "read_text": None}
    opened = open_capabilities(names)
    classes = [VisualGrounding, DepthEstimation, ReadText]
    assert [type(one) for one in opened] == classes
    assert [one.settings() for one in opened] == [kind().settings() for kind in classes]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (["zoom_in"], "config: expected options by capability, got list"),
        ({"zoom": {}}, "config: expected one of .*, got 'zoom'; did you mean 'zoom_in'"),
        ({"quite_another": {}}, "got 'quite_another'$"),
        ({"zoom_in": 3}, "config: zoom_in: expected its options by name, got int 3"),
        ({"zoom_in": {"scale": 2}}, "config: zoom_in: got an unexpected keyword argument 'scale'"),
        ({"read_text": {"engine": "x"}}, "read_text: got an unexpected keyword argument 'engine'"),
        ({"read_text": {"backend": "x"}}, "backend: expected 'rapidocr' or a callable"),
        ({"visual_grounding": {"expert": "owl"}}, "expert: expected one of .*, got 'owl'"),
        (
            {"visual_grounding": {"expert": "sift"}},
            "expert: expected one of .*llmdet.*, got 'sift'",
        ),
        ({"depth_estimation": {"expert": "sift"}}, "expert: expected one of .*depth-pro.*'sift'"),
        ({"visual_grounding": {"expert": detector, "treshold": 1}}, "treshold: has no meaning"),
        ({"python_coding": {}}, "config: python_coding: needs coder=, the model that writes"),
        ({"text_search": {}}, "config: text_search: needs provider=, who searches"),
    ],
)
def test_configurations_that_cannot_be(config: Any, said: str, installed: None) -> None:
    with pytest.raises(InputError, match=said):
        open_capabilities(config)


def test_what_is_named_but_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Left out silently, it would be missed in the middle of a run, or never."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(MissingExtraError, match=r"rapidocr is not installed: .*\[harness\]"):
        open_capabilities({"read_text": {}})
    assert open_capabilities({"read_text": {"backend": reader}})[0].name == "read_text"
    with pytest.raises(MissingExtraError, match=r"llmdet-tiny.*\[models\]"):
        open_capabilities({"visual_grounding": {}})
