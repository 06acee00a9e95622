"""Settings that a live page offers: what is chosen is what the scenario then says."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.helpers.bundled import TYPED
from tracer.errors import TracerError
from tracer.scenario.controls import Control, controls, with_setting
from tracer.scenario.loading import parse


def read(text: str) -> Any:
    return yaml.load(text, yaml.BaseLoader)


def offered(text: str) -> dict[str, Control]:
    data = read(text)
    found = controls(data, len(data["tokens"]))
    return {control.name: control for control in found}


@pytest.mark.parametrize("name", ["alex", "pizza", "picture", "experts"])
def test_what_is_chosen_is_what_the_scenario_says(name: str) -> None:
    """The text stays one that the program reads; choosing the old value again returns the data."""
    text = TYPED[name].read_text(encoding="utf-8")
    first = offered(text)
    assert first
    for control in first.values():
        few = dict.fromkeys((*control.choices[:2], *control.choices[-2:]))
        for choice in (*few, *(["2.5"] if control.number else [])):
            changed = with_setting(text, control, choice)
            parse(changed, name)
            then = offered(changed)
            assert then[control.name].value == choice
            others = {k: c.value for k, c in then.items() if not k.startswith(control.name)}
            assert others == {k: c.value for k, c in first.items() if k in others}


def test_the_settings_of_a_scenario() -> None:
    found = offered(TYPED["alex"].read_text(encoding="utf-8"))
    assert {name: control.value for name, control in found.items()} == {
        "mask": "causal",
        "layer1.norm": "layer_norm",
        "layer1.norm.placement": "post",
        "layer1.norm.epsilon": "0",
        "layer1.attention.scale": "sqrt",
        "layer1.ffn.activation": "relu",
    }


@pytest.mark.parametrize("value", ["", "reluu", "relu\nmask: none", "[relu]", "1"])
def test_no_other_value_is_written(value: str) -> None:
    text = TYPED["alex"].read_text(encoding="utf-8")
    with pytest.raises(TracerError, match=r"layer1\.ffn\.activation: expected relu or"):
        with_setting(text, offered(text)["layer1.ffn.activation"], value)


def test_a_sink_is_a_number() -> None:
    text = "layers:\n- attention: {heads: [{W_Q: []}, {sink: 0.5}]}\n"
    (sink,) = (each for each in controls(read(text), 1) if each.name.endswith("sink"))
    assert (sink.label, sink.value) == ("layer 1, attention, head 2: attention sink", "0.5")
    assert with_setting(text, sink, "-1.25") == text.replace("0.5", "-1.25")


def test_sizes_alone_have_no_settings() -> None:
    assert list(controls({"dimensions": {}, "tokens": ["a"]}, 1)) == []
