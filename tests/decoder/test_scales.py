"""The factor of what a sub-layer adds and the divisor of the logits: by hand, refusals, texts."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed, run
from tests.helpers.small_scenario import END, changed, problems
from tests.helpers.strict_json import document
from tests.helpers.traces import traced
from tracer.scenario.loading import parse
from tracer.scenario.writer import written

SCALED = """\
title: scaled
tokens: [a, b]
embeddings: {a: [0.5, -1], b: [1, 2]}
layers:
  - attention:
      residual_scale: 0.5
      heads: [{W_Q: [[1, 0.2], [0.3, 1]], W_K: [[0.5, -0.2], [0.1, 1]], W_V: identity}]
  - ffn: {W_1: [[1], [1]], b_1: [10], W_2: [[1, 2]], residual_scale: 0.25}
vocabulary: [x, y]
unembedding: {W_U: [[1, 0], [0, 1]], b_U: [4, 0], scale: 8}
rounding: {decimals: 2, carry: never, trailing_zeros: trim}
"""


def test_the_scales_are_written_as_they_were_typed() -> None:
    scenario = parse(SCALED, "f.yaml")
    assert parse(written(scenario), "f.yaml") == scenario
    assert "residual_scale: 0.25" in written(scenario)


@pytest.mark.parametrize("scale", ["residual_scale: 0.5", "scale: 8"])
@pytest.mark.parametrize(("number", "message"), [
    ("0", "expected more than 0, got '0'"),
    ("-3", "expected more than 0, got '-3'"),
    ("high", "expected a number, such as "),
])  # fmt: skip
def test_a_scale_is_a_positive_number(scale: str, number: str, message: str) -> None:
    key = scale.partition(":")[0]
    ran = run("run", "-", stdin=SCALED.replace(scale, f"{key}: {number}"))
    assert ran.exit_code == 2
    assert f"{key}: {message}" in ran.stderr


def test_a_factor_of_nothing_that_is_added_is_refused() -> None:
    found = problems((END, f"{END}      residual: false\n      residual_scale: 2\n"))
    assert [each.partition("layer1.")[2] for each in found] == [
        "ffn.residual_scale: a factor of what is added, but residual is false"
    ]
    head = "{Q: [[1]], K: [[1]], V: [[1]]}"
    typed = f"layers: [{{attention: {{heads: [{head}], residual_scale: 2}}}}]\n"
    ran = run("run", "-", stdin=typed)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "residual_scale: typed queries, keys and values are computed from no vectors" in (
        ran.stderr
    )


def test_the_lines_of_a_scaled_sum_and_of_a_divided_logit() -> None:
    text = printed("step", "residual", "--layer", "2", "-s", "-", stdin=SCALED)
    assert "The sub-layer's output is multiplied by 0.25, a constant of the model; then" in text
    assert "s₂ (2 × 2) = 0.25×FFN(x₁)" in text
    assert "x₂ (2 × 2) = x₁ + s₂" in text
    text = printed("step", "logits", "-s", "-", stdin=SCALED)
    assert "All logits are divided by 8, a constant of the model." in text
    assert "z (2 × 2) = z_raw / 8" in text
    assert "x₁ = X′ + 0.5×Attention(X′)" in printed("tutorial", "-", stdin=SCALED)


def test_a_factor_of_1_or_more_is_not_said_to_make_anything_smaller() -> None:
    below = "A factor below 1 makes each change smaller"
    for factor, said in (("0.99", True), ("1", False), ("2", False)):
        text = SCALED.replace("residual_scale: 0.5", f"residual_scale: {factor}")
        found = printed("step", "residual", "--layer", "1", "-s", "-", stdin=text)
        assert (below in " ".join(found.split())) == said


def test_parts_of_a_logit_are_multiplied_and_divided_like_it() -> None:
    found = document("attribute", "logits[b,x]", "-s", "-", stdin=SCALED)
    parts = {part["address"]: float(part["value"]) for part in found["parts"]}
    ran = traced(SCALED)
    embedding, head = (ran[a].numbers.astype(float)[1] for a in ("embedding", HEAD))
    hidden = ran["layer2.ffn.activation"].numbers.astype(float)[1]
    assert_allclose(
        [parts[each] for each in ("embedding", HEAD, "layer2.ffn.activation", B_U)],
        [embedding[0] / 8, 0.5 * head[0] / 8, 0.25 * hidden[0] / 8, 0.5],
        rtol=1e-12,
    )
    both = document("attribute", "logits[b,x]", "--instead-of", "y", "-s", "-", stdin=SCALED)
    parts = {part["address"]: float(part["value"]) for part in both["parts"]}
    assert_allclose(parts["layer2.ffn.activation"], -0.25 * hidden[0] / 8, rtol=1e-12)
    assert_allclose(parts[B_U], 0.5, rtol=1e-12)
    given = document(
        "attribute",
        *("logits[b,x]", "-s", "-", "--given", "layer2.ffn.residual.scaled=[[1,2],[3,4]]"),
        stdin=SCALED,
    )
    parts = {part["address"]: float(part["value"]) for part in given["parts"]}
    assert_allclose(parts["layer2.ffn.residual.scaled"], 3 / 8, rtol=1e-12)


HEAD, B_U = "layer1.attention.head1.output", "unembedding.b_U"


def test_a_given_product_has_no_parts() -> None:
    given = ("--given", "logits.unscaled=[[1,2],[3,4]]")
    ran = run("attribute", "logits[b,x]", "-s", "-", *given, stdin=SCALED)
    assert (ran.exit_code, ran.stderr) == (2, "logits: given, so it has no parts\n")


def test_a_parallel_layer_multiplies_both_changes() -> None:
    parallel = changed(
        ("layers:\n  -", "layers:\n  - parallel: true\n   "),
        (END, f"{END}      residual_scale: 2\n"),
    )
    text = printed("step", "residual", "-s", "-", stdin=parallel)
    assert "multiplied by 2, a constant of the model; then x₁ is added." in " ".join(text.split())


@pytest.mark.parametrize("factor", ["0.9", "0.90"])
def test_equal_factors_are_printed_with_the_digits_of_their_own_scenario(factor: str) -> None:
    head = "{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}"
    layer = f"{{attention: {{residual_scale: {factor}, heads: [{head}]}}}}"
    yaml = f"title: T\ntokens: [a]\nembeddings: {{a: [3]}}\nlayers: [{layer}]\n"
    assert f"{factor}×3.000 = " in printed("step", "residual", "-s", "-", stdin=yaml)
