"""Attention and the FFN in parallel: both read the layer's input, and both are added to it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.helpers.small_scenario import END, problems
from tests.helpers.traces import numbers, records, traced, values
from tracer.decoder.training import TrainingOptions, train
from tracer.errors import TracerError
from tracer.scenario.loading import parse
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.writer import written

LAYER = """
title: parallel
tokens: [a]
embeddings: {a: [3, 1]}
layers:
  - parallel: true
    LAYER
    attention:
      heads: [{W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[2, 0], [0, 1]]}]
      ATTENTION
    ffn:
      W_1: [[1], [0]]
      W_2: [[5, 7]]
      FFN
rounding: {carry: never}
"""
BEFORE = "norm: {placement: pre, SETTINGS}"
SHIFTED = BEFORE.replace("SETTINGS", "shift: [1, 1]")
PLAIN = BEFORE.replace(", SETTINGS", "")


def layer(of_layer: str = "", attention: str = "", ffn: str = "") -> str:
    found = LAYER.replace("LAYER", of_layer).replace("ATTENTION", attention)
    return found.replace("FFN", ffn)


@pytest.mark.parametrize(
    ("norms", "read", "output"),
    [
        # (3, 1) + (6, 1) + (15, 21)
        ((), "input", [24, 23]),
        # The norm of (3, 1) is (1, -1), and with β (2, 0): (3, 1) + (4, 0) + (10, 14).
        ((SHIFTED,), "layer1.attention.norm", [17, 15]),
        (("", SHIFTED), "layer1.attention.norm", [17, 15]),
        # One norm each: (3, 1) + (4, 0) + (5, 7).
        (("", SHIFTED, PLAIN), "layer1.ffn.norm", [12, 8]),
        ((PLAIN, SHIFTED), "layer1.ffn.norm", [12, 8]),
        # Only the FFN reads the input itself: (3, 1) + (4, 0) + (15, 21).
        (("", SHIFTED, "norm: none"), "input", [22, 22]),
        ((SHIFTED, "", "norm: none"), "input", [22, 22]),
    ],
)
def test_what_the_ffn_reads(norms: tuple[str, ...], read: str, output: list[int]) -> None:
    ran = traced(layer(*norms))
    assert records(ran)["layer1.ffn.hidden"].inputs[0] is values(ran)[read]
    assert [float(x) for x in numbers(ran, "output")[0]] == output
    with_attention = values(ran)["layer1.attention.residual"]
    assert records(ran)["layer1.ffn.residual"].inputs[0] is with_attention


def test_a_shared_norm_is_learned_once() -> None:
    yaml = layer("norm: {placement: pre, gain: [1, 2]}") + "vocabulary: [a, b]\ntargets: [b]\n"
    yaml = yaml.replace("rounding", "unembedding: {W_U: [[1, 0.5], [2, -1]]}\nrounding")
    scenario = parse(yaml.replace("carry: never", "decimals: 6"), "f.yaml")
    trained = train("f", scenario, TrainingOptions(Optimizer()), tuple).trained
    saved = parse(written(trained), "f.yaml")
    assert traced_output(written(saved)) == traced_output(written(trained))
    [found] = saved.layers
    assert found.attention and found.attention.norm and found.ffn and found.shares_norm
    assert found.attention.norm.gain != (Decimal(1), Decimal(2)) and found.ffn.norm is None
    assert "layer1.ffn.norm" not in values(traced(written(saved)))


def traced_output(yaml: str) -> list[list[str]]:
    return [[str(x) for x in row] for row in numbers(traced(yaml), "output")]


PARALLEL = ("  - attention:\n", "  - parallel: true\n    attention:\n")
NORM_AFTER_THE_SUM = "a norm after the residual connection in a parallel layer, expected placement"
HEADS = "{heads: [{W_Q: [[1], [1]], W_K: [[1]], W_V: [[1, 1]]}]}"
EXPERTS = "top: 1\n      router: [[1], [2]]\n      experts: [{W_1: [[1], [2]], W_2: [[1, 2]]}]"
ENCODER = "encoder: {tokens: [c], vectors: [[1]]}\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            (f"    ffn:\n      W_1: [[1], [2]]\n{END}", ""),
            "parallel: no ffn, expected attention and ffn in a parallel layer",
        ),
        ((END, f"{END}      norm: {{epsilon: 1}}\n"), f"ffn.norm: {NORM_AFTER_THE_SUM}"),
        ((END, f"{END}    norm: {{epsilon: 1}}\n"), f"norm: {NORM_AFTER_THE_SUM}"),
        ((END, f"{END}      residual: no\n"), "ffn.residual: false in a parallel layer, expected"),
        (
            (f"      W_1: [[1], [2]]\n{END}", f"      {EXPERTS}\n"),
            "ffn: experts in a parallel layer, expected an ffn with W_1 and W_2",
        ),
        (
            (END, f"{END}    cross_attention: {HEADS}\n{ENCODER}"),
            "cross_attention: cross-attention in a parallel layer, expected only attention and ffn",
        ),
    ],
)
def test_what_does_not_fit_is_refused(change: tuple[str, str], told: str) -> None:
    [problem] = problems(PARALLEL, change)
    assert f": layer1.{told}" in problem


def test_typed_heads_have_no_input_to_add_to() -> None:
    head = "{Q: [[1]], K: [[1]], V: [[1, 2]]}"
    yaml = f"""
    tokens: [a]
    layers:
      - parallel: true
        attention: {{heads: [{head}]}}
        ffn: {{W_1: [[1], [1]], W_2: [[1, 1]]}}
    """
    with pytest.raises(TracerError, match="parallel: a layer of typed queries"):
        parse(yaml, "f.yaml")
