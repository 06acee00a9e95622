"""The symbols of the papers: one for every value, numbered where there are several."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.helpers.random_scenarios import scenarios
from tests.helpers.traces import bundled, traced, traced_or_rejected
from tracer.decoder.forward import Trace
from tracer.lesson.texts.symbols import symbols
from tracer.renderers.text import text


def named(ran: Trace) -> dict[str, str]:
    return {address: text(symbol) for address, symbol in symbols(ran.records).items()}


HEAD_2, NORM_1 = "layer1.attention.head2", "layer1.attention.norm"

ALEX = {
    "embedding": "X",
    "position": "P",
    "input": "X′",
    "mask": "M",
    "layer1.attention.head1.W_Q": "W_Q¹",
    f"{HEAD_2}.query": "Q²",
    f"{HEAD_2}.key": "K²",
    f"{HEAD_2}.value": "V²",
    f"{HEAD_2}.dot": "Q² · K²ᵀ",
    f"{HEAD_2}.d_k": "d_k",
    f"{HEAD_2}.scale": "√d_k",
    f"{HEAD_2}.scores": "S²",
    f"{HEAD_2}.masked": "S² + M",
    f"{HEAD_2}.exp": "e^(S² + M)",
    f"{HEAD_2}.exp_sum": "Σ²",
    f"{HEAD_2}.weights": "A²",
    f"{HEAD_2}.output": "O²",
    "layer1.attention.concat": "[O¹ O²]",
    "layer1.attention.W_O": "W_O",
    "layer1.attention.output": "Attention(X′)",
    "layer1.attention.residual": "r₁",
    f"{NORM_1}.mean": "μ",
    f"{NORM_1}.deviation": "r₁ - μ",
    f"{NORM_1}.squared": "(r₁ - μ)²",
    f"{NORM_1}.variance": "σ²",
    f"{NORM_1}.std": "σ",
    NORM_1: "x₁",
    "layer1.ffn.W_1": "W₁",
    "layer1.ffn.hidden": "h",
    "layer1.ffn.activation": "a",
    "layer1.ffn.output": "FFN(x₁)",
    "layer1.ffn.residual": "r₂",
    "layer1.ffn.norm.deviation": "r₂ - μ",
    "layer1.ffn.norm": "x₂",
    "output": "y",
}
SCIENCE = {
    "token_ids": "ids",
    "layer1.attention.head1.query": "Q",
    "layer1.attention.head1.W_K": "W_K",
    "layer1.attention.head1.scores": "S",
    "layer1.attention.head1.exp_sum": "Σ",
    "layer1.attention.concat": "O",
    "layer1.attention.output": "Attention(X′)",
    "layer1.attention.residual": "x₁",  # there is no norm behind it
    "layer1.ffn.output": "x₂",  # and here no residual either
    "unembedding.W_U": "W_U",
    "logits": "z",
    "probabilities.exp": "e^z",
    "probabilities": "p",
}


@pytest.mark.parametrize(("name", "expected"), [("alex", ALEX), ("science", SCIENCE)])
def test_symbols(name: str, expected: dict[str, str]) -> None:
    found = named(bundled(name))
    assert {address: found.get(address) for address in expected} == expected


LAYERS = """
title: sub-layers are counted through all layers
tokens: [a]
embeddings: [[1, 2]]
layers:
  - attention: {heads: [HEAD, HEAD], W_O: [[1, 0], [0, 1], [0, 0], [0, 0]]}
    norm: {}
  - ffn: {W_1: [[1], [1]], b_1: [1], W_2: [[1, 2]], residual: false}
    norm: {gain: [1, 1], shift: [0, 0]}
  - attention: {heads: [HEAD]}
    ffn: {W_1: [[1], [1]], W_2: [[1, 2]], norm: {}}
""".replace("HEAD", "{W_Q: [[1], [1]], W_K: [[1], [1]], W_V: [[1, 0], [0, 1]], b_Q: [1]}")


def test_sub_layers_are_counted_through_all_layers() -> None:
    found = named(traced(LAYERS))
    expected = {
        "layer1.attention.head2.query": "Q²",
        "layer1.attention.head2.b_Q": "b_Q²",
        "layer1.attention.residual": "r₁",
        "layer1.attention.norm": "x₁",
        "layer2.ffn.b_1": "b₁",
        "layer2.ffn.output": "FFN(x₁)",
        "layer2.ffn.norm.deviation": "FFN(x₁) - μ",
        "layer2.ffn.norm.gain": "γ",
        "layer2.ffn.norm.shift": "β",
        "layer2.ffn.norm": "x₂",
        "layer3.attention.head1.query": "Q",  # alone in its layer
        "layer3.attention.head1.b_Q": "b_Q",
        "layer3.attention.output": "Attention(x₂)",
        "layer3.attention.residual": "x₃",
        "layer3.ffn.output": "FFN(x₃)",
        "layer3.ffn.residual": "r₄",
        "layer3.ffn.norm": "x₄",
    }
    assert {address: found.get(address) for address in expected} == expected


@settings(max_examples=9, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_every_address_has_a_symbol(spec: dict[str, Any]) -> None:
    ran = traced_or_rejected(spec)
    found = named(ran)
    assert list(found) == [record.output.address for record in ran.records]
    assert all(symbol and symbol.isprintable() for symbol in found.values())
    # Heads have a number just if there are several of them.
    for number, layer in enumerate(spec["layers"], 1):
        heads = len(layer.get("attention", {}).get("heads", []))
        for head in range(1, heads + 1):
            above = "⁰¹²³⁴"[head] if heads > 1 else ""
            place = f"layer{number}.attention.head{head}"
            assert found[f"{place}.query"] == f"Q{above}"
            shares = "shares" in layer["attention"]["heads"][head - 1]
            assert found.get(f"{place}.W_V") == (None if shares else f"W_V{above}")
            has_state = layer["attention"].get("kind", "softmax") != "softmax"
            assert found.get(f"{place}.weights") == (None if has_state else f"A{above}")
    # What each sub-layer hands on is x₁, x₂, …, each once and in this order.
    handed_on = [symbol for symbol in found.values() if re.fullmatch("x[₀-₉]+", symbol)]
    kinds = ("attention", "cross_attention", "ffn")
    sub_layers = sum(kind in layer for layer in spec["layers"] for kind in kinds)
    last = sub_layers + (spec.get("final_norm", "none") != "none")
    assert handed_on == [f"x{'₀₁₂₃₄₅₆₇₈₉'[i]}" for i in range(1, last + 1)]


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(epsilons=("0.1",), encoder=True, encodes=True, max_layers=1))
def test_no_symbol_is_both_the_encoders_and_the_decoders(spec: dict[str, Any]) -> None:
    found = named(traced_or_rejected(spec))
    inside = {symbol for address, symbol in found.items() if address.startswith("encoder.")}
    assert {symbol for symbol in inside if "ᴱ" not in symbol} <= {"E"}
    assert all("ᴱ" not in found[address] for address in found if not address.startswith("encoder."))
