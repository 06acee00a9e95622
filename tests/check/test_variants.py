"""A variant is found by its name, where another decoder computes the figures with that change."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.figures import checked
from tests.helpers.reference import losses, reduced, reference
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tracer.check.variants import VARIANTS
from tracer.scenario.loading import parse

NORM = {"epsilon": Decimal("0.05"), "gain": [Decimal(n) for n in ("1.5", "0.5", "2", "-1")]}
SPEC: Scenario = {
    "tokens": ["a", "b", "c"],
    "embeddings": [
        [Decimal(number) for number in row.split()]
        for row in ("0.3 -0.8 0.5 0.1", "-0.6 0.2 0.9 -0.4", "0.7 0.4 -0.1 0.6")
    ],
    "positions": {"sinusoidal": {"start": 1}},
    "layers": [
        {
            "attention": {
                "heads": [
                    {
                        name: [
                            [Decimal(f"{(3 * i + 5 * j + k) % 7 - 3}") / 4 for j in range(6)]
                            for i in range(4)
                        ]
                        for k, name in enumerate(("W_Q", "W_K", "W_V"))
                    }
                ],
                "W_O": [[Decimal((i * j) % 5 - 2) / 4 for j in range(4)] for i in range(6)],
                "norm": dict(NORM),
            },
            "ffn": {
                "W_1": [[Decimal((i + 2 * j) % 5 - 2) / 2 for j in range(3)] for i in range(4)],
                "W_2": [[Decimal((2 * i + j) % 5 - 2) / 2 for j in range(4)] for i in range(3)],
                "activation": "gelu",
            },
            "norm": dict(NORM),
        }
    ],
    "final_norm": dict(NORM),
    "rounding": {"decimals": 5, "carry": "never"},
}

CASES: dict[str, dict[str, Any]] = {
    "with the sample standard deviation, divided by n − 1": {"deviation": "sample"},
    "with ε = 0": {"epsilon": Decimal(0)},
    "with ε = 0.00001": {"epsilon": Decimal("0.00001")},
    "with ε outside the square root": {"epsilon_outside": True},
    "with a factor of 1 + γ": {"unit_offset": True},
    "with the tanh approximation of GELU": {"activation": "gelu_tanh"},
    "with √d_k rounded to 1 decimal": {"scale": Decimal("2.4")},
    "with √d_k rounded to 2 decimals": {"scale": Decimal("2.45")},
    "without dividing by √d_k": {"scale": "none"},
    "with embeddings multiplied by √d_model": {"embedding_scale": "sqrt"},
    "with positions counted from 0": {"start": 0},
    "without the mask": {"mask": "none"},
}
ROTARY: dict[str, dict[str, Any]] = {
    "with rotary positions counted from 1": {"start": 1},
    "with rotary pairs across the two halves": {"layout": "halves"},
}


def changed(setting: dict[str, Any]) -> Scenario:
    """The scenario with one setting wherever it can be said."""
    spec = deepcopy(SPEC)
    layer = spec["layers"][0]
    [(key, value)] = setting.items()
    if key in ("deviation", "epsilon", "epsilon_outside", "unit_offset"):
        for norm in (layer["norm"], layer["attention"]["norm"], spec["final_norm"]):
            norm[key] = value
    elif key == "activation":
        layer["ffn"][key] = value
    elif key == "scale":
        layer["attention"][key] = value
    elif key == "start":
        spec["positions"]["sinusoidal"][key] = value
    else:
        spec[key] = value
    return spec


def row(spec: Scenario) -> list[str]:
    """What the reference has for b at the end of all."""
    return [f"{number:.5f}" for number in reference(spec)["output"][1]]


def last_row(spec: Scenario) -> list[str]:
    return [f"{number:.5f}" for number in reference(spec)["output"][2]]


@pytest.mark.parametrize("name", CASES)
def test_a_variant_is_found_by_its_name(name: str, tmp_path: Path) -> None:
    figure = {"address": "output", "row": 2, "printed": row(changed(CASES[name]))}
    assert figure["printed"] != row(SPEC)
    found = checked(tmp_path, to_yaml(SPEC), figure).findings
    held = {(str(finding.verdict), finding.by) for finding in found} - {("agrees", "")}
    assert held == {("variant", name)}


def test_the_norms_of_queries_and_keys_vary(tmp_path: Path) -> None:
    with_norms, theirs = deepcopy(SPEC), reference(SPEC)["output"][1]
    of_heads = {"kind": "rms_norm", "epsilon": Decimal("0.01")}
    with_norms["layers"][0]["attention"] |= {"query_norm": of_heads, "key_norm": of_heads}
    figure = {"address": "output", "row": 2, "printed": [f"{number:.5f}" for number in theirs]}
    found = checked(tmp_path, to_yaml(with_norms), figure).findings
    name = "without norms of queries and keys"
    assert {(str(f.verdict), f.by) for f in found} - {("agrees", "")} == {("variant", name)}


@pytest.mark.parametrize("of_layer", [True, False])
def test_the_norms_after_vary(of_layer: bool, tmp_path: Path) -> None:
    plain = deepcopy(SPEC)
    (layer,) = plain["layers"]
    for part in (layer, layer["attention"]):
        part["norm"]["placement"] = "pre"
    with_norms, theirs = deepcopy(plain), reference(plain)["output"][1]
    (layer,) = with_norms["layers"]
    (layer if of_layer else layer["ffn"])["norm_after"] = {"kind": "rms_norm"}
    figure = {"address": "output", "row": 2, "printed": [f"{number:.5f}" for number in theirs]}
    found = checked(tmp_path, to_yaml(with_norms), figure).findings
    name = "without norms after the sub-layers"
    assert {(str(f.verdict), f.by) for f in found} - {("agrees", "")} == {("variant", name)}


def test_texts_compute_the_ffn_after_attention(tmp_path: Path) -> None:
    plain = deepcopy(SPEC)
    (layer,) = plain["layers"]
    for part in (layer, layer["attention"]):
        part["norm"]["placement"] = "pre"
    theirs = reference(plain)["output"][1]
    layer["parallel"] = True
    figure = {"address": "output", "row": 2, "printed": [f"{number:.5f}" for number in theirs]}
    found = checked(tmp_path, to_yaml(plain), figure).findings
    name = "with attention and the FFN one after the other"
    assert {(str(f.verdict), f.by) for f in found} - {("agrees", "")} == {("variant", name)}


@pytest.mark.parametrize("name", ROTARY)
def test_turns_vary_too(name: str, tmp_path: Path) -> None:
    def turned(**said: Any) -> Scenario:
        return {**SPEC, "positions": {"rotary": {"base": 10, "layout": "pairs", "start": 0} | said}}

    address = "layer1.attention.head1.rotated_query"
    theirs = reference(turned(**ROTARY[name]))[address][1]
    figure = {"address": address, "row": 2, "printed": [f"{number:.5f}" for number in theirs]}
    found = checked(tmp_path, to_yaml(turned()), figure).findings
    assert {(str(f.verdict), f.by) for f in found} - {("agrees", "")} == {("variant", name)}


def test_texts_leave_out_the_soft_cap(tmp_path: Path) -> None:
    capped = deepcopy(SPEC)
    capped["layers"][0]["attention"]["softcap"] = Decimal("0.2")
    figure = {"address": "output", "row": 2, "printed": row(SPEC)}
    found = checked(tmp_path, to_yaml(capped), figure).findings
    held = {(str(finding.verdict), finding.by) for finding in found} - {("agrees", "")}
    assert held == {("variant", "without the soft cap of scores")}


def test_texts_leave_out_the_factors_of_sub_layers(tmp_path: Path) -> None:
    scaled = deepcopy(SPEC)
    for part in (scaled["layers"][0][name] for name in ("attention", "ffn")):
        part["residual_scale"] = Decimal("0.22")
    figure = {"address": "output", "row": 2, "printed": row(SPEC)}
    found = checked(tmp_path, to_yaml(scaled), figure).findings
    held = {(str(finding.verdict), finding.by) for finding in found} - {("agrees", "")}
    assert held == {("variant", "without factors of what sub-layers add")}


def test_texts_leave_out_the_divisor_of_the_logits(tmp_path: Path) -> None:
    w_u = [[Decimal((i + 2 * j) % 5 - 2) / 2 for j in range(3)] for i in range(4)]
    plain = {**SPEC, "vocabulary": ["x", "y", "z"], "unembedding": {"W_U": w_u}}
    divided = {**plain, "unembedding": {"W_U": w_u, "scale": 8}}
    printed = [f"{number:.5f}" for number in reference(plain)["logits"][1]]
    found = checked(
        tmp_path, to_yaml(divided), {"address": "logits", "row": 2, "printed": printed}
    ).findings
    held = {(str(finding.verdict), finding.by) for finding in found} - {("agrees", "")}
    assert held == {("variant", "without dividing the logits")}


@pytest.mark.parametrize(("name", "common", "own"), [
    ("with the same mask in every layer", {}, {"mask": {"window": 1}}),
    (
        "with the same rotary positions in every layer",
        {"positions": {"rotary": {"base": 10}}},
        {"rotary": {"base": 100}},
    ),
])  # fmt: skip
def test_texts_leave_out_what_a_layer_has_of_its_own(
    name: str, common: Scenario, own: Scenario, tmp_path: Path
) -> None:
    ours = deepcopy({**SPEC, **common})
    figure = {"address": "output", "row": 2, "printed": row(ours)}
    ours["layers"][0]["attention"] |= own
    found = checked(tmp_path, to_yaml(ours), figure).findings
    held = {(str(finding.verdict), finding.by) for finding in found} - {("agrees", "")}
    assert held == {("variant", name)}


def test_texts_leave_out_alibi(tmp_path: Path) -> None:
    ours = {**SPEC, "positions": {"alibi": True}}
    theirs = {**SPEC, "positions": "none"}
    figure = {"address": "output", "row": 3, "printed": last_row(theirs)}
    found = checked(tmp_path, to_yaml(ours), figure).findings
    held = {(str(finding.verdict), finding.by) for finding in found} - {("agrees", "")}
    assert held == {("variant", "without ALiBi")}


def test_texts_leave_out_the_factor_of_lora(tmp_path: Path) -> None:
    def with_lora(alpha: int) -> Scenario:
        spec = deepcopy(SPEC)
        head = spec["layers"][0]["attention"]["heads"][0]
        quarter = Decimal("0.25")
        a, b = [[quarter, -quarter]] * 4, [[quarter, 0] * 3, [1, quarter] * 3]
        head["W_V"] = {"frozen": head["W_V"], "A": a, "B": b, "alpha": alpha}
        return spec

    figure = {"address": "output", "row": 3, "printed": last_row(with_lora(2))}
    found = checked(tmp_path, to_yaml(with_lora(6)), figure).findings
    held = {(str(finding.verdict), finding.by) for finding in found} - {("agrees", "")}
    assert held == {("variant", "without the factor α / r of LoRA")}


ROUTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # ours, and what the text has
    "with weights of experts that add up to 1": ({"normalize": False}, {"normalize": True}),
    "with experts weighted by a softmax over all": ({"normalize": True}, {"normalize": False}),
    "with one expert for each token": ({"top": 2}, {"top": 1}),
    "with two experts for each token": ({"top": 1}, {"top": 2}),
}


@pytest.mark.parametrize("name", ROUTED)
def test_experts_vary_too(name: str, tmp_path: Path) -> None:
    def routed(choice: dict[str, Any]) -> Scenario:
        spec = deepcopy(SPEC)
        ffn = spec["layers"][0]["ffn"]
        experts = [ffn | {"activation": activation} for activation in ("relu", "silu", "none")]
        router = [[Decimal(n) / 4 for n in (i, -i, 1)] for i in range(len(ffn["W_1"]))]
        spec["layers"][0]["ffn"] = {"router": router, "experts": experts, **choice}
        return spec

    ours, theirs = map(routed, ROUTED[name])
    figure = {"address": "output", "row": 2, "printed": row(theirs)}
    found = checked(tmp_path, to_yaml(ours), figure).findings
    held = {(str(finding.verdict), finding.by) for finding in found} - {("agrees", "")}
    assert held == {("variant", name)}


@pytest.mark.parametrize("other", ["mean", "sum"])
def test_a_loss_varies_too(other: str, tmp_path: Path) -> None:
    def asked(reduction: str) -> Scenario:
        squared = {"kind": "squared", "reduction": reduction, "target": [[1, 0, 2, 1]] * 3}
        return {**SPEC, "loss": squared}

    theirs = asked(other)
    found = [loss for loss in losses(theirs) if loss is not None]
    figure = {"address": "loss", "printed": f"{reduced(theirs, found):.5f}"}
    ours = asked({"mean": "sum", "sum": "mean"}[other])
    said = {"mean": "with the losses averaged", "sum": "with the losses added up"}[other]
    found_by = checked(tmp_path, to_yaml(ours), figure).findings
    assert {(str(f.verdict), f.by) for f in found_by} == {("variant", said)}


def test_one_change_explains_all_that_stands_together_or_nothing(tmp_path: Path) -> None:
    printed = row(changed(CASES["with ε = 0"]))
    printed[0] = row(changed(CASES["without the mask"]))[0]
    figure = {"address": "output", "row": 2, "printed": printed}
    found = checked(tmp_path, to_yaml(SPEC), figure).findings
    assert {str(finding.verdict) for finding in found} == {"wrong"}


def test_what_changes_nothing_is_no_variant() -> None:
    spec = changed({"mask": "none"})
    spec["positions"] = "none"
    spec["layers"][0]["ffn"]["activation"] = "relu"
    scenario = parse(to_yaml(spec), "f.yaml")
    names = [name for name, change in VARIANTS if change(scenario) is not scenario]
    assert names and not any(
        word in name for name in names for word in ("GELU", "positions", "turn", "mask", "inside")
    )


@pytest.mark.parametrize(
    ("positions", "name"),
    [
        ({"sinusoidal": {"start": 1}}, "with positions counted from 0"),
        ({"alibi": True}, "without ALiBi"),
    ],
)
def test_the_positions_of_both_towers_vary(positions: Any, name: str) -> None:
    tower = {key: SPEC[key] for key in ("tokens", "embeddings", "layers")} | {
        "positions": positions
    }
    scenario = parse(to_yaml({**tower, "encoder": tower}), "f.yaml")
    other = dict(VARIANTS)[name](scenario)
    assert other.encoder and other.encoder.positions == other.positions != scenario.positions
