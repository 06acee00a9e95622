"""The steps as they are counted, and as they are asked for."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.helpers.command import printed
from tests.helpers.random_scenarios import scenarios
from tests.helpers.traces import bundled, traced, traced_or_rejected
from tracer.decoder.roles import Place, SubLayer
from tracer.errors import TracerError
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.selection import select, steps

HEAD = ["query", "key", "value", "scores", "mask", "softmax", "weighted_sum"]
ALEX = [
    *("embedding", "position", "input"),
    *HEAD,
    *HEAD,
    *("concat", "projection", "residual", "norm"),
    *("hidden", "activation", "ffn_output", "residual", "norm"),
    "output",
]
SCIENCE = [
    *("embedding", "position", "input"),
    *HEAD,
    *("concat", "projection", "residual"),
    *("hidden", "activation", "ffn_output"),  # no residual, no norm
    *("output", "logits", "probabilities", "prediction"),
]


@pytest.mark.parametrize(("name", "kinds"), [("alex", ALEX), ("science", SCIENCE)])
def test_steps_in_their_order(name: str, kinds: list[str]) -> None:
    found = steps(bundled(name).records)
    assert [step.kind.name for step in found] == kinds
    assert [step.number for step in found] == list(range(1, len(kinds) + 1))


def test_a_step_has_its_records_and_no_parameters() -> None:
    by_number = {step.number: step for step in steps(bundled("alex").records)}
    addresses = {
        number: [record.output.address for record in step.records]
        for number, step in by_number.items()
    }
    inner = ("index", "div_term", "angle", "sin", "cos")
    assert addresses[2] == [*(f"position.{name}" for name in inner), "position"]
    place = "layer1.attention.head2"
    assert addresses[14] == [f"{place}.{name}" for name in ("dot", "d_k", "scale", "scores")]
    assert addresses[16] == [f"{place}.{name}" for name in ("exp", "exp_sum", "weights")]
    norm = ("mean", "deviation", "squared", "variance", "std")
    assert addresses[26] == [*(f"layer1.ffn.norm.{name}" for name in norm), "layer1.ffn.norm"]


@pytest.mark.parametrize(
    ("number", "layer", "head", "sub_layer"),
    [
        (1, None, None, None),
        (4, 1, 1, "attention"),
        (16, 1, 2, "attention"),
        (18, 1, None, "attention"),
        (21, 1, None, "attention"),
        (22, 1, None, "ffn"),
        (26, 1, None, "ffn"),
        (27, None, None, None),
    ],
)
def test_where_a_step_stands(
    number: int, layer: int | None, head: int | None, sub_layer: SubLayer | None
) -> None:
    step = steps(bundled("alex").records)[number - 1]
    assert step.place == Place(layer, sub_layer, head)


@settings(max_examples=9, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_every_computed_value_is_in_one_step(spec: dict[str, Any]) -> None:
    ran = traced_or_rejected(spec)
    found = steps(ran.records)
    assert [step.number for step in found] == list(range(1, len(found) + 1))
    told = [record.output.address for step in found for record in step.records]
    outputs = [record.output for record in ran.records]
    # Parameters, the mask and distances are shown in the step that uses them.
    aside = re.compile(r"(^|\.)(mask|position\.distance)$")
    outputs = [o for o in outputs if not (o.role.parameter or aside.search(o.address))]
    # Heads whose norm spans them all are not shown in the order in which they are computed.
    assert sorted(told) == sorted(o.address for o in outputs)


# --- select --------------------------------------------------------------------------------------


def numbers(found: list[Step]) -> list[int]:
    return [step.number for step in found]


@pytest.mark.parametrize(
    ("name", "layer", "head", "expected"),
    [
        (None, None, None, list(range(1, 28))),
        # kinds
        ("query", None, None, [4, 11]),
        ("softmax", None, 2, [16]),
        ("norm", None, None, [21, 26]),
        ("residual", 1, None, [20, 25]),
        ("output", None, None, [27]),
        ("embedding", None, None, [1]),
        # groups
        ("qkv", None, None, [4, 5, 6, 11, 12, 13]),
        ("qkv", None, 1, [4, 5, 6]),
        ("attention", None, None, list(range(4, 20))),
        ("attention", None, 2, list(range(11, 20))),  # concat and projection are of all heads
        ("ffn", None, None, [22, 23, 24]),
        # addresses, whole or a part
        ("layer1.attention.head2.query", None, None, [11]),
        ("layer1.attention.head2", None, None, list(range(11, 18))),
        ("head1.scores", None, None, [7]),
        ("attention.norm", None, None, [21]),
        ("layer1.ffn.output", None, None, [24]),
        ("exp", None, None, [9, 16]),
        ("variance", None, None, [21, 26]),
        ("layer1", None, 2, list(range(11, 27))),
        # parameters, which belong to the step that uses them
        ("layer1.attention.head2.W_K", None, None, [12]),
        ("W_V", None, None, [6, 13]),
        ("W_V", None, 2, [13]),
        ("layer1.attention.W_O", None, None, [19]),
        ("ffn.W_2", None, None, [24]),
        # a layer, a head
        (None, 1, None, list(range(1, 28))),
        (None, None, 1, [*range(1, 11), *range(18, 28)]),
    ],
)
def test_select(name: str | None, layer: int | None, head: int | None, expected: list[int]) -> None:
    assert numbers(select(steps(bundled("alex").records), name, layer, head)) == expected


def test_an_address_selects_its_own_records_of_a_step() -> None:
    (step,) = select(steps(bundled("alex").records), "layer1.ffn.norm.std", None, None)
    assert [record.output.address for record in step.records] == ["layer1.ffn.norm.std"]
    assert (step.number, step.kind.name, step.place.sub_layer) == (26, "norm", "ffn")
    (step,) = select(steps(bundled("alex").records), "layer1.ffn.norm", None, None)
    assert len(step.records) == 6
    (step,) = select(steps(bundled("science").records), "unembedding.W_U", None, None)
    assert [record.output.address for record in step.records] == ["logits"]


ATTENTION = "  - attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}\n"
LAYERS = f"""
title: layers
tokens: [a, b]
embeddings: [[1], [2]]
layers:
{ATTENTION}  - ffn: {{W_1: [[1]], W_2: [[1]]}}
"""


def test_a_layer_selects_what_is_in_it_and_what_is_in_none() -> None:
    every = steps(traced(LAYERS).records)
    kinds = [step.kind.name for step in select(every, None, 2, None)]
    assert kinds == [
        "embedding",
        "input",
        "hidden",
        "activation",
        "ffn_output",
        "residual",
        "output",
    ]
    assert [step.place.layer for step in select(every, "residual", None, None)] == [1, 2]
    assert [step.place.layer for step in select(every, "residual", 2, None)] == [2]


@pytest.mark.parametrize(
    ("name", "layer", "head", "told"),
    [
        ("softmx", None, None, "no step 'softmx'; did you mean 'softmax'"),
        ("layer1.attention.hed1.query", None, None, "did you mean 'layer1.attention.head1.query'"),
        ("xyzzy", None, None, "no step 'xyzzy'"),
        ("", None, None, "no step ''"),
        ("query", 2, None, "the step 'query' is not in this layer or head"),
        ("layer2.ffn.hidden", 1, None, "'layer2.ffn.hidden' is not in this layer or head"),
        ("logits", None, None, "this scenario has no step 'logits'"),
        (None, 3, None, "no layer 3"),
        (None, None, 2, "no head 2"),
        ("query", 0, None, "no layer 0"),
    ],
)
def test_what_is_not_there_is_an_error(
    name: str | None, layer: int | None, head: int | None, told: str
) -> None:
    with pytest.raises(TracerError) as error:
        select(steps(traced(LAYERS).records), name, layer, head)
    assert told in str(error.value)
    if name in ("xyzzy", ""):
        assert "did you mean" not in str(error.value)


def test_how_many_there_are_instead() -> None:
    alex, alone = bundled("alex"), traced(LAYERS.replace(ATTENTION, ""))
    for ran, layer, head, told in (
        (alex, 2, None, r"no layer 2\b.*\b1$"),
        (alex, None, 7, r"no head 7\b.*\b2$"),
        (alone, None, 1, "there is no head$"),
    ):
        with pytest.raises(TracerError, match=told):
            select(steps(ran.records), None, layer, head)


# --- an encoder's --------------------------------------------------------------------------------

AT = "encoder.layer1.attention.head1"


@pytest.mark.parametrize(
    ("name", "layer", "head", "found"),
    [
        ("encoder.softmax", None, None, [f"{AT}.weights"]),
        ("encoder.layer1.softmax", None, None, [f"{AT}.weights"]),
        ("encoder.softmax", 1, 1, [f"{AT}.weights"]),
        ("encoder.layer1.attention.output", None, None, ["encoder.layer1.attention.output"]),
        (f"{AT}.W_Q", None, None, [f"{AT}.query"]),
        (
            *("softmax", None, None),
            [
                f"{AT}.weights",
                "layer1.attention.head1.weights",
                "layer1.cross_attention.head1.weights",
            ],
        ),
        (
            *("softmax", 1, None),
            ["layer1.attention.head1.weights", "layer1.cross_attention.head1.weights"],
        ),
        (
            *("layer1.softmax", None, None),
            ["layer1.attention.head1.weights", "layer1.cross_attention.head1.weights"],
        ),
    ],
)
def test_an_encoders_steps_are_told_from_the_decoders(
    name: str, layer: int | None, head: int | None, found: list[str]
) -> None:
    chosen = select(steps(bundled("picture").records), name, layer, head)
    assert [step.last.output.address for step in chosen] == found


def test_all_of_an_encoder() -> None:
    chosen = select(steps(bundled("picture").records), "encoder", None, None)
    assert [step.number for step in chosen] == list(range(1, 21))
    assert chosen[-1].last.output.address == "encoder.output"


def test_a_layer_is_the_decoders_if_nothing_else_is_said() -> None:
    every = steps(bundled("picture").records)
    in_layer = {step.place.encoder for step in select(every, None, 1, None) if step.place.layer}
    assert in_layer == {False}
    with pytest.raises(TracerError, match=r"no layer 2, the last is 1"):
        select(every, "encoder.softmax", 2, None)


@pytest.mark.parametrize("token", ["upper-right", "2"])
def test_a_token_is_one_of_the_encoders_where_only_that_is_shown(token: str) -> None:
    text = printed("step", "encoder.softmax", "-s", "picture", "--token", token)
    assert "▸ upper-right" in text
    assert "“upper-right” gives" in text
    options = ("-s", "picture", "--token", token, "--format", "json")
    weights = json.loads(printed("step", "encoder.softmax", *options))["values"][-1]
    assert weights["axes"][0] == {"name": "encoder token", "labels": ["upper-right"]}
